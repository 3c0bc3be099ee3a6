# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a frame is Python between kernels: `NUMBA_NUM_THREADS=1 python benchmarks/between.py [21 101 poncho dress]`.

Bakes each scene twice through the public operators, from the second frame on. The first bake tells the processor's time of a
frame and that of its tasks; the second is watched by Python's own profiler, which sees each kernel as a function and slows none
down, but all that is Python. So what a frame takes less what its kernels take is Python, numpy, Blender and the disk: nothing of
it runs on a second core. Sheets are named by their vertices along a side, with self-collision if a + follows, as in 101+. A minute or two.
"""

import cProfile
import pstats
import sys
import tempfile
import time
from collections import Counter
from contextlib import redirect_stdout
from io import StringIO

import bpy
import numpy as np
import scenes
import simulate
import taffeta
from numba.core.dispatcher import Dispatcher
from page import grid
from taffeta.operators.bake import job as jobs
from taffeta.operators.bake.order import read_order
from taffeta.operators.bake.run import bake_now
from taffeta.solver.kernel import stopwatch

ASKED = ("21", "21+", "101+", "poncho")
WARM = 4  # frames of a bake before
KERNELS_SHOWN = 4  # that take longest
HEAD = (
    "scene",
    "self-collision",
    "frames",
    "ms a frame",
    "of it kernels",
    "Python and Blender",
    "calls a frame",
    "slowest kernels",
)


def case_of(name: str, frames: int = 0) -> scenes.Case:
    """The scene of that name, with as many frames as the bench gives it if 0."""
    if name in scenes.SCENES:
        return scenes.cases([], frames, (name,))[0]
    sheets = scenes.cases([int(name.rstrip("+"))], frames, ("sheets",))
    return next(case for case in sheets if case.self_collision == name.endswith("+"))


def bake(case: scenes.Case, profile: cProfile.Profile | None = None) -> tuple[float, dict[str, float], int]:
    """Milliseconds of the processor a frame, those of its tasks, and how many frames that is the mean of."""
    scenes.build(case)
    scene, stamps = bpy.context.scene, []

    def tell(job) -> None:
        stamps.append(time.process_time())
        if profile is not None and len(stamps) == 1:
            profile.enable()
        if profile is not None and len(stamps) == case.frames:
            profile.disable()

    before, stopwatch.perf_counter = stopwatch.perf_counter, time.process_time
    try:
        with tempfile.TemporaryDirectory() as folder:
            scene.taffeta.cache_folder, scene.taffeta.body_images = folder, "PROCESSOR"
            job = jobs.Job(read_order(scene))
            bake_now(scene, job, tell)
            bpy.ops.wm.read_factory_settings(use_empty=True)  # before the frames are gone
    finally:
        stopwatch.perf_counter = before
    tasks = {name: 1000 * float(np.mean([r.seconds[name] for r in job.reports])) for name in job.reports[0].seconds}
    count = len(stamps) - 1
    return 1000 * (stamps[-1] - stamps[0]) / count, tasks, count


def kernels(profile: cProfile.Profile) -> tuple[Counter, int]:
    """Seconds of each of the solver's kernels in a profile, and how many calls of whatever it saw."""
    compiled = set()
    for name, module in list(sys.modules.items()):
        if name.startswith("taffeta."):
            values = (getattr(value, "func", value) for value in vars(module).values())  # as `kernel.shared` has it
            found = (value.py_func.__code__ for value in values if isinstance(value, Dispatcher))
            compiled |= {(code.co_filename, code.co_firstlineno, code.co_name) for code in found}
    stats, seconds = pstats.Stats(profile), Counter()
    for function, (_, _, own, _, _) in stats.stats.items():
        if function in compiled:
            seconds[function[2]] += own
    return seconds, stats.total_calls


def measure(case: scenes.Case) -> tuple:
    """A row of the table."""
    whole, _, count = bake(case)
    profile = cProfile.Profile(time.thread_time)
    bake(case, profile)
    seconds, calls = kernels(profile)
    inside = 1000 * sum(seconds.values()) / count
    slowest = ", ".join(f"{name} {1000 * own / count:.2f}" for name, own in seconds.most_common(KERNELS_SHOWN))
    about = case.name, "on" if case.self_collision else "off", case.frames
    return *about, f"{whole:.1f}", f"{inside:.1f}", f"{whole - inside:.1f}", round(calls / count), slowest


def main() -> None:
    """Measure and print."""
    taffeta.register()
    try:
        with redirect_stdout(StringIO()):
            simulate.prepare()
            rows = []
            for case in map(case_of, sys.argv[1:] or ASKED):
                bake(case._replace(frames=WARM))
                rows.append(measure(case))
    finally:
        taffeta.unregister()
    print(grid(HEAD, rows))


if __name__ == "__main__":
    main()
