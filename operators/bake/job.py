# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake without Blender: arrays in, files out. Runs in a worker thread beside the window, or straight on.

`steps` does the work and is the same for both. In a window, `start` runs it in a thread that is fed through a queue;
the thread knows the `Job` and nothing else, no operator and no scene, because those die under its hands (undo, file
load). One bake at a time: numba's threads do not like two callers.
"""

import contextlib
import gc
import math
import queue
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from ...solver.cache.about import About
from ...solver.cache.recipe import Recipe
from ...solver.model import FrameInput, Garment, Report, Settings
from ..read.mesh_io import Body
from ..read.sampling import GarmentObject
from . import PACKAGE, on_disk
from .images import Images

QUEUE_BYTES = 1_000_000_000  # bytes of sampled frames that may wait for the solver
# [s] after which a thread in Python hands over to the window: with Python's 5 ms a redraw takes a second while numba compiles
THREAD_HANDOVER = 0.0005
SLOW_FRAME = 10.0  # times the median of the frames before, from which on the one in flight is told of
LEAST_SLOW = 3.0  # [s] that it takes at least
FAILURES = (ValueError, OSError, FloatingPointError)  # what an animator can do something about
UNDER_WAY = "A bake is under way; wait for it or press Stop first"


class Order(NamedTuple):
    """What is to be baked and where to; constant."""

    scene: str
    garments: list[Garment]
    garment_objects: list[GarmentObject]
    bodies: list[Body]
    settings: Settings
    body_images: str  # one of images.CHOICES
    quality: str  # PREVIEW or FINAL
    frames: range  # pre-roll included
    rest_count: int  # of them that lead from the rest pose to the first frame
    first_frame: int  # the first that is written
    fps: float
    paths: list[Path]  # one .pc2 per garment
    sources: list[Path | None]  # the bake whose frames are copied to a garment's path first, to go on from
    strays: list[Path | None]  # the bake in a temporary folder that is brought there before anything else
    corrections: list[list[Path]]  # files of its corrections that lie elsewhere, and go along
    resume: bool
    from_frame: int | None
    fingerprints: list[str]  # what the scene was like, for the panel
    abouts: list[About]  # what is told of each garment's bake in the list
    recipes: list[Recipe]  # what each is made of, to be had again
    owners: list[str]  # the .blend, as seen from the folder of each cache; "" if it was never saved


class Ended(NamedTuple):
    """What a queue of bakes asks of a job when it has ended; the job itself holds every array of the scene."""

    first_frame: int
    frame: int  # the last that is on disk
    complete: bool
    is_stopped: bool
    error: str


class Job:
    """An order and how far it is. The worker writes the plain numbers and texts, the main thread reads them."""

    def __init__(self, order: Order):
        self.order = order
        self.inputs: queue.Queue[FrameInput | None] = queue.Queue()
        self.stop = threading.Event()  # asks the worker to end after the substep in flight
        self.frame_began: float | None = None  # the one in flight
        self.tell = lambda job: None  # called in a frame that is slow, by the thread that simulates
        self.images = Images(order.body_images, bool(order.bodies))  # who draws them
        self.status = "Reading the scene"
        self.frame = order.first_frame - 1  # last frame that is on disk
        self.found_count = 0  # good frames on disk before
        self.reports: list[Report] = []
        self.older: dict[Path, list[Path]] = {}  # by path: where bakes in the way were set aside
        self.corrections: dict[Path, Path] = {}  # where files of corrections were brought, by where they lay
        self.lacking: list[str] = []  # garments without a frame, beside others that had some
        self.is_told = False  # what is told of the bakes in the list is written
        self.started = time.perf_counter()
        self.prepared_at: float | None = None
        self.ended_at: float | None = None
        self.error = ""
        self.doubts: list[tuple[int, str]] = []  # frame, sentence: what is wrong with frames that are on disk
        self.crossed: dict[str, int] = {}  # pairs of triangles in the last frame, by what goes through what
        self.gaping: str | None = None  # garment with the seam that is open farthest in the last frame, if one is
        self.complete = False

    def share(self) -> float:
        """Share of the frames that are done, in [0, 1]."""
        frames = self.order.frames
        done = max(self.frame + 1 - frames.start, len(self.reports))
        return min(1.0, max(0.0, done / len(frames)))

    def set_aside(self) -> list[Path]:
        """Where bakes in the way were set aside."""
        return [older for found in self.older.values() for older in found]

    def kept_count(self) -> int:
        """Frames that were good already and stayed as they were; the first alone, which is given, is none."""
        first = self.order.first_frame
        simulated = next((report.frame for report in self.reports if report.frame >= first), self.frame + 1)
        return min(self.found_count, simulated - first) if simulated != first + 1 else 0

    def seconds_left(self) -> float | None:
        """Estimate from the last frames; None while nothing was simulated."""
        left = self.order.frames.stop - 1 - (self.reports[-1].frame if self.reports else self.frame)
        usual = self._usual_seconds()
        return None if usual is None else left * usual

    def _usual_seconds(self, count=10, usual=fmean) -> float | None:
        recent = [sum(report.seconds.values()) for report in self.reports[-count:]]
        return usual(recent) if recent else None

    def slow(self) -> str:
        """A sentence while the frame in flight takes far longer than those before, else ""."""
        seconds = time.perf_counter() - (self.frame_began or math.inf)
        if seconds < LEAST_SLOW or self.stop.is_set():  # as in nearly all: it is asked in each substep
            return ""
        usual = self._usual_seconds(len(self.reports), median)  # they may get slow one by one
        if usual is None or seconds < SLOW_FRAME * usual:
            return ""
        frame = self.reports[-1].frame + 1
        return f"Frame {frame} takes {_duration(seconds)} so far, those before {usual:.2g} s; Stop or Ctrl-C ends it"

    def end(self) -> None:
        """Note the time at which all was over."""
        self.ended_at = time.perf_counter()


_current: Job | None = None  # between `claim` and `release`
_last: Ended | None = None  # what is left of the job that was released
_handover: float | None = None  # the user's, while ours is set
_worker: threading.Thread | None = None


def running() -> bool:
    """Whether a bake is under way, or one that was told to stop is still finishing its frame."""
    return _current is not None or (_worker is not None and _worker.is_alive())


def refuse_another() -> None:
    """Raise ValueError, with a sentence, while one is under way."""
    if running():
        raise ValueError(UNDER_WAY)


def ask_to_stop() -> bool:
    """Have the bake under way end after the substep in flight; whether there is one."""
    if _current is None:
        return False
    _current.stop.set()
    _current.status = "Stopping"
    return True


def last() -> Ended | None:
    """What is left of the job that ended last, since `forget_last`."""
    return _last


def forget_last() -> None:
    """Let go of the job that ended last, before another one begins."""
    global _last
    _last = None


def claim(job: Job) -> None:
    """Make `job` the one bake of this Blender until `release`; as `refuse_another`."""
    global _current
    refuse_another()
    _current = job


def release() -> None:
    """Let the next bake begin as soon as the worker, if any, has ended."""
    global _current, _last, _handover
    if _handover is not None:
        sys.setswitchinterval(_handover)
        _handover = None
    if _worker is not None and _current is not None and _current.ended_at is not None:
        _worker.join()  # it has nothing left to do, but may not be gone yet
    if _current is not None:
        _current.images.close()
        job = _current
        _last = Ended(job.order.first_frame, job.frame, job.complete, job.stop.is_set(), job.error)
    _current = None


def start(job: Job) -> None:
    """Bake a claimed job in a thread; feed it with `job.inputs`, ended by None."""
    global _worker, _handover
    _handover = sys.getswitchinterval()
    sys.setswitchinterval(THREAD_HANDOVER)
    _worker = threading.Thread(target=_work, args=(job,), name="Taffeta bake")
    _worker.start()


def stop_and_wait() -> None:
    """End the bake under way after its frame in flight; returns when its files are closed."""
    if _current is not None:
        _current.stop.set()
    if _worker is not None:
        _worker.join()
    release()


def _work(job: Job) -> None:
    try:
        for _ in steps(job, _queued(job)):
            if job.stop.is_set():
                break
    except FAILURES as error:
        job.error = sentence(job.order.garments, error)
    finally:
        job.end()
        if _solver_is_loaded():
            _leave_to_the_window(0)


def _leave_to_the_window(processors: int) -> None:
    from ...solver.kernel.threads import spare  # here, because it imports numba

    spare(processors)


def _queued(job: Job) -> Iterator[FrameInput]:
    """Sampled frames as they come; ends early when the job is stopped."""
    _leave_to_the_window(1)
    while not job.stop.is_set():
        try:
            item = job.inputs.get(timeout=0.1)
        except queue.Empty:
            continue
        if item is None:
            return
        yield item


def queue_length(first: FrameInput) -> int:
    """How many frames like this one may wait for the solver."""
    size = first.targets.nbytes + sum(collider.x.nbytes for collider in first.colliders)
    return max(4, QUEUE_BYTES // max(1, size))


def sentence(garments: list[Garment], error: Exception) -> str:
    """What to tell the animator; a number of a garment becomes its name, a bare errno words."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename} cannot be used ({error.strerror}): choose another cache folder"
    for index, garment in enumerate(garments):
        text = text.replace(f"Garment {index + 1} of {len(garments)} ", f"{garment.name} ")
    return text


def steps(job: Job, inputs: Iterable[FrameInput]) -> Iterator[int]:
    """Bake; yields each frame as soon as it is done. Close the generator to stop: the frames done stay.

    Raises
    ------
    ValueError, OSError, FloatingPointError
        With a sentence; frames before are on disk.
    """
    order, caches, is_gone = job.order, [], False
    first_time = not _solver_is_loaded()
    job.status = "Preparing the solver (once a session)…" if first_time else "Preparing the solver…"
    # The compiler makes millions of small objects; each search for garbage among them halts the window for up to 1 s.
    collecting = gc.isenabled()
    if first_time:
        gc.disable()
    try:
        # Here, because they import numba: a second or two.
        if first_time and not _compile(job):
            return
        from ..read.torn import built

        cloth, state = built(order.garments, order.settings)
        inputs = iter(inputs)
        ready = list(islice(inputs, 1))  # a scene that cannot be read must not take the bake that is there out of play
        on_disk.open_caches(job, caches)
        if job.stop.is_set():
            return
        with contextlib.closing(_simulated(job, cloth, state, chain(ready, inputs), caches)) as simulated:
            for frame in simulated:
                if collecting and job.reports:
                    gc.enable()
                yield frame
        for cache in caches:
            cache.check_place()
        job.complete = job.frame == order.frames.stop - 1
    except FileNotFoundError:
        is_gone = True
        raise
    finally:
        if collecting:
            gc.enable()
        on_disk.close_caches(job, caches, is_gone)


def _simulated(job: Job, cloth, state, inputs: Iterable[FrameInput], caches: list) -> Iterator[int]:
    """Each frame when it is on disk and has been looked at; the last one of them closely, whatever ends the bake."""
    from ...solver import shot  # here, because they import numba
    from ...solver.doubts import Doubts
    from ...solver.filed import as_filed
    from ...solver.refit import cloth_of
    from ...solver.step import Stopped

    order, given, last, zips = job.order, [], None, None  # given for the frame that is simulated; the last that was
    doubts = Doubts([garment.name for garment in order.garments], order.garments)
    doubts.begin(order.frames.start, state.x)
    about = order.frames, order.settings, caches, order.from_frame, partial(_advance, job)
    try:
        with contextlib.suppress(Stopped):
            for frame, report in shot.run(cloth, state, _noted(inputs, given), *about):
                _note(job, frame, report)
                on_disk.tell_about(job, frame, report)
                if report is not None:
                    now = cloth_of(cloth, given[0], order.settings, frame)
                    filed = as_filed(now, state.x, given[0].to_object)
                    last, zips = (now, filed, given[0].colliders), given[0].zip_open
                    job.reports[-1] = doubts.look(*last[:2], report, last[2])
                    job.doubts = doubts.tell()
                yield frame
    finally:
        if last is not None and job.frame >= order.first_frame:
            crossings = doubts.look_closer(*last, job.reports[-1].frame, zips)
            job.reports[-1] = job.reports[-1]._replace(crossings=crossings, seam_gap=doubts.seam_gap())
            job.doubts, job.crossed, job.gaping = doubts.tell(), dict(doubts.crossed), doubts.gaping()


def _advance(job: Job, *about) -> Report:
    """As `step.advance`; ends when the job is told to stop."""

    def go_on() -> bool:
        if job.slow():
            job.tell(job)
        return not job.stop.is_set()

    job.frame_began = time.perf_counter()
    try:
        return job.images.advance(*about, go_on)
    finally:
        job.frame_began = None


def _noted(inputs: Iterable[FrameInput], given: list[FrameInput]) -> Iterator[FrameInput]:
    """The same inputs; `given` holds the one that was taken last."""
    for item in inputs:
        given[:] = [item]
        yield item


def _compile(job: Job) -> bool:
    """Wait for the solver's compiler, which other processes run; whether nobody stopped the bake meanwhile."""
    from ...solver import precompile

    job.status = "Compiling the solver (once after it was installed, a minute or two)…"
    parts = precompile.parts_of(job.order.settings, bool(job.order.bodies))
    done = precompile.compile_kernels(parts, lambda: not job.stop.is_set())
    job.status = "Preparing the solver (once a session)…"
    return done


def _note(job: Job, frame: int, report: Report | None) -> None:
    if job.prepared_at is None:
        job.prepared_at = time.perf_counter()
    if frame >= job.order.first_frame:
        job.frame = frame
    if report is None:
        if frame > job.order.frames.start:
            job.status = f"Frame {frame} is on disk already; preparing the solver…"
        return
    job.reports.append(report)
    left = job.seconds_left()
    status = f"Frame {frame} of {job.order.frames.stop - 1}"
    job.status = f"{status}, {_duration(left)} left" if left else status


def _solver_is_loaded() -> bool:
    return f"{PACKAGE}.solver.step" in sys.modules


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
