# SPDX-License-Identifier: GPL-3.0-or-later
"""Each task's time and share of a frame, as in Bargmann's table 6.1 (2003): `python benchmarks/shares.py [--write]`.

The torus of `ldi.py`, 32 pixels, five substeps: a sheet of 441 points and a body of 3,200 triangles. The body's
evaluation by Blender, the reading of its points and the writing of the cloth's are told apart; then each frame is played
and drawn by Workbench at 600 x 600 pixels, as large as his window. Milliseconds of processor time, so that other
work on the machine counts little. --write puts the table into docs/layers.md. A minute.
"""

import argparse
import tempfile
import time
from collections import Counter
from contextlib import contextmanager, redirect_stdout
from functools import wraps
from io import StringIO

import bpy
import ldi
import simulate
import taffeta
from taffeta.operators.bake import job as jobs
from taffeta.operators.bake.order import read_order
from taffeta.operators.bake.run import bake_now
from taffeta.operators.read import sampling
from taffeta.solver.cache.frames import FrameCache
from taffeta.solver.kernel import stopwatch

MARKS = "<!-- made by benchmarks/shares.py -->\n", "<!-- end of shares -->\n"
VIEW = 600  # [pixels] a side
#: Task: milliseconds of table 6.1; of collision with cuboid and volume the sum, and what Taffeta has no counterpart of
PRINTED = {
    "integration": 1.027, "volume collision": 0.660, "self-collision": 0.206, "self LDI generation": 1.891,
    "LDI generation": 10.60, "model deformation": 0.067, "volume coordinates transfer": 0.064,
    "cloth coordinates transfer": 0.027, "visualization": 1.366,
}  # fmt: skip


@contextmanager
def clocked(owner, name: str, task: str, spent: Counter):
    """Within it what a function of a class or module takes, by the processor, is added to a task."""
    before = getattr(owner, name)

    @wraps(before)
    def run(*arguments, **named):
        began = time.process_time()
        try:
            return before(*arguments, **named)
        finally:
            spent[task] += time.process_time() - began

    setattr(owner, name, run)
    try:
        yield
    finally:
        setattr(owner, name, before)


def measure(frames: int = 72) -> dict[str, float]:
    """Milliseconds of a frame by task, the means over all frames but the first."""
    ldi.build("torus")
    scene, spent, began = bpy.context.scene, Counter(), []
    scene.frame_start, scene.frame_end = 1, frames
    scene.taffeta.substeps, scene.taffeta.ldi_resolution, scene.taffeta.body_images = ldi.SUBSTEPS, 32, "PROCESSOR"

    def start(*_):
        began.append(time.process_time())

    def end(*_):
        spent["model deformation"] += time.process_time() - began.pop()

    before, stopwatch.perf_counter = stopwatch.perf_counter, time.process_time
    bpy.app.handlers.frame_change_pre.append(start)
    bpy.app.handlers.frame_change_post.append(end)
    try:
        with tempfile.TemporaryDirectory() as folder:
            scene.taffeta.cache_folder = folder
            job = jobs.Job(read_order(scene))
            with (
                clocked(sampling, "_read_bodies", "volume coordinates transfer", spent),
                clocked(FrameCache, "append", "cloth coordinates transfer", spent),
            ):
                bake_now(scene, job)
            bpy.app.handlers.frame_change_pre.remove(start)
            bpy.app.handlers.frame_change_post.remove(end)
            spent["visualization"] = play(scene, frames)
            bpy.ops.wm.read_factory_settings(use_empty=True)  # before the frames are gone
    finally:
        stopwatch.perf_counter = before
    tasks = Counter({task: sum(report.seconds[task] for report in job.reports) for task in job.reports[0].seconds})
    return {task: 1000.0 * (tasks + spent)[task] / (frames - 1) for task in PRINTED}


def play(scene, frames: int) -> float:
    """Seconds of the processor that showing and drawing all frames but the first takes."""
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (0.0, -4.0, 1.0), (1.5, 0.0, 0.0)
    scene.collection.objects.link(camera)
    scene.camera, scene.render.engine = camera, "BLENDER_WORKBENCH"
    scene.render.resolution_x = scene.render.resolution_y = VIEW
    scene.display.render_aa = "OFF"
    bpy.ops.render.render()  # shaders are compiled
    began = time.process_time()
    for frame in range(2, frames + 1):
        scene.frame_set(frame)
        bpy.ops.render.render()
    return time.process_time() - began


def table(tasks: dict[str, float]) -> str:
    """Both in Markdown, milliseconds and shares."""
    lines = ["| task | 2003 [ms] | | Taffeta [ms] | |", f"|{' --- |' * 5}"]
    whole = sum(PRINTED.values()), sum(tasks.values())
    for task, printed in PRINTED.items():
        found = tasks[task]
        lines.append(
            f"| {task} | {printed:.3g} | {printed / whole[0]:.1%} | {found:.3g} | {found / whole[1]:.1%} |"
            if found
            else f"| {task} | {printed:.3g} | {printed / whole[0]:.1%} | none | |"
        )
    lines.append(f"| all | {whole[0]:.3g} | | {whole[1]:.3g} | |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=72)
    parser.add_argument("--write", action="store_true", help="put the table into docs/layers.md")
    chosen = parser.parse_args()
    taffeta.register()
    try:
        with redirect_stdout(StringIO()):
            simulate.prepare()
            text = table(measure(chosen.frames))
    finally:
        taffeta.unregister()
    print(text)
    if chosen.write:
        ldi.put(text, MARKS)


if __name__ == "__main__":
    main()
