# SPDX-License-Identifier: GPL-3.0-or-later
"""Each task's time and share of a frame, as in Bargmann's tables 6.1 and 6.2 and his appendix B (2003): `python benchmarks/shares.py [--write]`.

The scenes of `ldi.py`: a sheet of 441 points on a torus and on a knot, of 3,200 triangles each, with 32, 64 and 128 pixels, a poncho on
the walking mannequin with 64; five substeps. By *Pairs*, the default, and by *Depth Sequences*, which is his way of keeping cloth
off cloth, with an image of the cloth. The body's evaluation by Blender, the reading of its points and the writing of the cloth's
are told apart; then each frame is played and drawn by Workbench at 600 x 600 pixels, as large as his window. Milliseconds of
processor time, so that other work on the machine counts little. --write puts the tables into docs/layers.md. Some minutes.
"""

import argparse
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, contextmanager, redirect_stdout
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
from taffeta.solver.depth_layers import respond
from taffeta.solver.kernel import stopwatch

MARKS = "<!-- made by benchmarks/shares.py -->\n", "<!-- end of shares -->\n"
VIEW = 600  # [pixels] a side
TASKS = (
    "integration", "cuboid collision", "volume collision", "self-collision", "self LDI generation", "LDI generation",
    "model deformation", "volume coordinates transfer", "cloth coordinates transfer", "visualization",
)  # fmt: skip
CUBOID = 1  # its place; ours, the ground, is a body as others are, and in their time
#: his names of them
SHORT = (
    "integr",
    "cub-coll",
    "off-coll",
    "self-coll",
    "self LDI",
    "vol LDI",
    "mv model",
    "vol coord",
    "self coord",
    "visu",
)
#: Frames a second, and milliseconds of these tasks: the means over the rows of his appendix B
PRINTED = {
    ("torus", 32): (28.43, 1.027, 0.053, 0.607, 0.206, 1.891, 10.61, 0.068, 0.064, 0.028, 1.366),
    ("torus", 64): (22.86, 0.952, 0.047, 0.633, 0.711, 3.788, 18.79, 0.065, 0.065, 0.028, 1.388),
    ("torus", 128): (15.43, 0.972, 0.047, 0.684, 2.931, 9.086, 42.82, 0.071, 0.067, 0.032, 1.367),
    ("knot", 32): (27.14, 0.937, 0.048, 0.499, 0.330, 1.975, 13.05, 0.082, 0.073, 0.029, 1.393),
    ("knot", 64): (20.82, 1.029, 0.049, 0.635, 1.280, 3.756, 22.83, 0.080, 0.074, 0.029, 1.399),
    ("knot", 128): (13.49, 1.030, 0.046, 0.756, 5.554, 9.609, 51.70, 0.081, 0.075, 0.031, 1.402),
    ("mannequin", 64): (12.97, 2.002, 0.099, 3.006, 0.646, 4.615, 66.35, 0.234, 0.705, 0.070, 2.015),
}
#: His tables 6.1 and 6.2 as printed [ms], of the scenes that they are of. 6.2 is of the part that repeats, and counts the cuboid without
#: printing it: here that of appendix B
WHOLE = {
    "6.1": (("torus", 32), (1.027, 0.053, 0.607, 0.206, 1.891, 10.60, 0.067, 0.064, 0.027, 1.366)),
    "6.2": (("mannequin", 64), (2.014, 0.099, 3.140, 0.820, 4.612, 66.382, 0.237, 0.707, 0.071, 2.022)),
}
WAYS = {"PAIRS": "Taffeta", "DEPTH_SEQUENCES": "by images"}
#: Whose time is a task of its own: a class or module, a name in it, the task
CLOCKED = (
    (sampling, "_read_bodies", "volume coordinates transfer"),
    (FrameCache, "append", "cloth coordinates transfer"),
    (respond, "render", "self LDI generation"),
)


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


def measure(case=("torus", 32), contact: str = "PAIRS", frames: int = 72) -> tuple[float, ...]:
    """Milliseconds of a frame in each of `TASKS`, the means over all frames but the first."""
    ldi.build(case[0])
    scene, spent, began = bpy.context.scene, Counter(), []
    scene.frame_start, scene.frame_end = 1, frames
    settings = scene.taffeta
    settings.substeps, settings.ldi_resolution, settings.body_images = ldi.SUBSTEPS, case[1], "PROCESSOR"
    settings.cloth_contact = contact

    def start(*_):
        began.append(time.process_time())

    def end(*_):
        spent["model deformation"] += time.process_time() - began.pop()

    before, stopwatch.perf_counter = stopwatch.perf_counter, time.process_time
    bpy.app.handlers.frame_change_pre.append(start)
    bpy.app.handlers.frame_change_post.append(end)
    try:
        with tempfile.TemporaryDirectory() as folder:
            settings.cache_folder = folder
            job = jobs.Job(read_order(scene))
            with ExitStack() as clocks:
                for owner, name, task in CLOCKED:
                    clocks.enter_context(clocked(owner, name, task, spent))
                bake_now(scene, job)
            bpy.app.handlers.frame_change_pre.remove(start)
            bpy.app.handlers.frame_change_post.remove(end)
            spent["visualization"] = play(scene, frames)
            bpy.ops.wm.read_factory_settings(use_empty=True)  # before the frames are gone
    finally:
        stopwatch.perf_counter = before
    spent.update({task: sum(report.seconds[task] for report in job.reports) for task in job.reports[0].seconds})
    spent["self-collision"] -= spent["self LDI generation"]  # which is drawn within it
    return tuple(1000.0 * spent[task] / (frames - 1) for task in TASKS)


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


def shares(number: str, measured) -> str:
    """One of his tables 6.1 and 6.2 with ours beside it, in Markdown: milliseconds and shares of a frame."""
    case, printed = WHOLE[number]
    columns = [printed, *(measured[case, way] for way in WAYS)]
    lines = [
        f"| table {number}: {case[0]}, {case[1]} | 2003 [ms] | | Taffeta [ms] | | by images [ms] | |",
        f"|{' --- |' * 7}",
    ]
    for k, task in enumerate(TASKS):
        cells = [f"{c[k]:.3g} | {c[k] / sum(c):.1%}" if c[k] else "none | " for c in columns]
        if k == CUBOID:
            cells[1:] = ["as a volume | "] * len(WAYS)
        lines.append(f"| {task} | {' | '.join(cells)} |")
    lines.append(f"| all | {' | '.join(f'{sum(c):.3g} | ' for c in columns)} |")
    return "\n".join(lines) + "\n"


def appendix(measured) -> str:
    """His appendix B, the means of each of its tables, with ours beside them, in Markdown: frames a second, then ms and below them
    shares of a frame.
    """
    lines = [f"| scene, pixels | | FPS | {' | '.join(SHORT)} |", f"|{' --- |' * (len(SHORT) + 3)}"]
    for case, (rate, *printed) in PRINTED.items():
        rows = {"2003": (rate, printed)}
        rows |= {words: (1000.0 / sum(measured[case, way]), measured[case, way]) for way, words in WAYS.items()}
        for words, (frames, found) in rows.items():
            times = " | ".join(f"{value:.3g}" if value else "" for value in found)
            lines.append(f"| {case[0]}, {case[1]} | {words} | {frames:.3g} | {times} |")
            parts = " | ".join(f"{value / sum(found):.1%}" if value else "" for value in found)
            lines.append(f"| | | | {parts} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=72)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/layers.md")
    chosen = parser.parse_args()
    taffeta.register()
    try:
        with redirect_stdout(StringIO()):
            simulate.prepare()
            for way in WAYS:  # what is compiled when it is first asked for
                measure(frames=6, contact=way)
            measured = {(case, way): measure(case, way, chosen.frames) for case in PRINTED for way in WAYS}
    finally:
        taffeta.unregister()
    text = "\n".join([*(shares(number, measured) for number in WHOLE), appendix(measured)])
    print(text)
    if chosen.write:
        ldi.put(text, MARKS)


if __name__ == "__main__":
    main()
