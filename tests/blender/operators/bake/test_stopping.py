# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake ends soon when it is told to, in the middle of a frame, too, and a frame that takes long is told of."""

import signal
import time

import bpy
import pytest
from taffeta.operators.bake import job as jobs
from taffeta.operators.bake import run
from taffeta.operators.bake.order import read_order
from taffeta.operators.playback import bake_files
from taffeta.solver import step
from taffeta.solver.cache.frames import cached_frames


@pytest.fixture
def job(saved, make):
    """A job of a sheet, frames 1 to 10, ten substeps each."""
    make.cloth(make.grid(location=(0, 0, 2)))
    return jobs.Job(read_order(saved))


@pytest.fixture
def substeps(monkeypatch):
    """Call `each(number)` before each substep of the bake."""

    def install(each):
        def advance_substep(*about):
            counted.append(None)
            each(len(counted))
            return original(*about)

        monkeypatch.setattr(step, "advance_substep", advance_substep)
        return counted

    original, counted = step.advance_substep, []
    return install


def test_a_bake_is_stopped_in_the_middle_of_a_frame(saved, job, substeps):
    """Three frames are simulated with ten substeps each; in the third substep of the next the worker is told to stop."""
    counted = substeps(lambda number: job.stop.set() if number == 33 else None)
    run.bake_now(saved, job)
    assert len(counted) == 33 and not job.complete and not job.error
    assert cached_frames(job.order.paths[0]) == range(1, 5)
    assert run.outcome(job)[-1] == ("WARNING", "Stopped: frames 1 to 4 are kept; Resume goes on from there")
    assert bpy.ops.taffeta.bake(resume=True) == {"FINISHED"}
    assert cached_frames(job.order.paths[0]) == range(1, 11)


def test_a_worker_is_stopped_in_the_middle_of_a_frame(saved, job, substeps):
    """The same in the thread beside a window."""
    counted = substeps(lambda number: job.stop.set() if number == 33 else None)
    jobs.claim(job)
    sampler = run.sampled(job)
    for _ in sampler:
        pass
    jobs.start(job)
    jobs._worker.join()
    run.finish(job)
    jobs.release()
    assert len(counted) == 33 and not job.error and cached_frames(job.order.paths[0]) == range(1, 5)


def test_ctrl_c_stops_and_keeps_the_frames(saved, job, substeps, capfd):
    before = signal.getsignal(signal.SIGINT)
    substeps(lambda number: signal.raise_signal(signal.SIGINT) if number == 25 else None)
    assert bpy.ops.taffeta.bake() == {"CANCELLED"}
    assert cached_frames(bake_files.cache_file(bpy.data.objects["Cloth"])) == range(1, 4)
    assert "Stopped: frames 1 to 3 are kept; Resume goes on from there" in capfd.readouterr().out
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_ctrl_c_does_what_it_did_before(saved, job, substeps):
    def twice(number):
        if number == 25:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    substeps(twice)
    with pytest.raises(KeyboardInterrupt):
        run.bake_now(saved, job)
    assert not jobs.running() and cached_frames(job.order.paths[0]) == range(1, 4)


def test_a_frame_that_takes_long_is_told_of_while_it_does(saved, job, substeps):
    told = []
    substeps(lambda number: setattr(job, "frame_began", job.frame_began - 75.0 * (number > 50)))
    run.bake_now(saved, job, lambda job: told.append(job.slow()))
    slow = [sentence for sentence in told if sentence]
    assert slow[0].startswith("Frame 7 takes 1 min 15 s so far, those before 0.")
    assert slow[0].endswith("Stop or Ctrl-C ends it")
    assert not job.slow() and job.complete, "nothing is in flight"


def test_frames_like_those_before_are_not_told_of(job):
    job.frame_began = time.perf_counter() - 2 * jobs.LEAST_SLOW
    assert job.slow() == "", "there is none before"
    usual = 2 * jobs.LEAST_SLOW / jobs.SLOW_FRAME
    for seconds, told in ((2.0 * usual, False), (0.5 * usual, True)):
        job.reports = [step.Report(2, {"solve": seconds}, 0.0, 0.0, 0, 0)]
        assert bool(job.slow()) == told


def test_frames_that_get_slow_one_by_one_are_told_of(job):
    """0.1 s a frame, then 1, 3 and 10: the mean of the last ten grows along, what frames usually took does not."""
    job.reports = [step.Report(k, {"solve": t}, 0.0, 0.0, 0, 0) for k, t in enumerate([0.1] * 20 + [1.0, 3.0, 10.0])]
    job.frame_began = time.perf_counter() - 12.0
    assert job.slow().endswith("those before 0.1 s; Stop or Ctrl-C ends it")
