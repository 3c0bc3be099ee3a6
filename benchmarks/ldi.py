# SPDX-License-Identifier: GPL-3.0-or-later
"""Bargmann's measurements (2003, appendix B) repeated: the scenes, the resolutions, the tasks, beside the printed ones.

    python benchmarks/ldi.py [--frames 72] [--write]

A sheet of 441 points falls on a leaning torus, and on a knot, of 3,200 triangles each, slides off and comes to lie on
the ground, with images of 32, 64 and 128 pixels a side; a poncho hangs on a walking mannequin, with 64. Five substeps a
frame, as there. Then the images alone: the three of all triangles (3.3), and the one in which each triangle is drawn
once (3.4), on the CPU and on what Blender's graphics context draws with. Two minutes. The tasks' times over the frames
go to out/ldi.png (there figures 6.3, 6.4 and 6.6); --write puts the tables into docs/layers.md and the plot beside it.

Then the conservative image of moving bodies that a bake draws, on both sides, tori of 3,200 to 800,000 triangles at 32 to
512 pixels; the card's with its read-back. --images measures that alone, half a minute, also on a machine without a window.
"""

import argparse
import math
import os
import shutil
import tempfile
import time
from pathlib import Path

import bpy
import images
import numpy as np
import simulate
import taffeta
from page import processor
from scenes import triangles, world
from taffeta.gpu_ldi import drawer
from taffeta.operators.bake import job as jobs
from taffeta.operators.bake.order import read_order
from taffeta.operators.bake.run import bake_now
from taffeta.presets.scenes import materials, sheet, solids, stage
from taffeta.solver.kernel import stopwatch
from taffeta.solver.ldi.centres import THREE_DIRECTIONS, THREE_FULL, render

ROOT = Path(__file__).resolve().parent.parent
PAGE, PLOT, OUT = ROOT / "docs" / "layers.md", ROOT / "docs" / "images" / "stages.png", ROOT / "out" / "ldi.png"
MARKS = "<!-- made by benchmarks/ldi.py -->\n", "<!-- end -->\n"
IMAGE_MARKS = "<!-- images made by benchmarks/ldi.py -->\n", "<!-- end of images -->\n"
CASES = [(body, pixels) for body in ("torus", "knot") for pixels in (32, 64, 128)] + [("mannequin", 64)]
SUBSTEPS = 5
#: Means over the rows of appendix B [frames/s, then ms]: frames a second, integration, collision with cuboid and volume,
#: self-collision and its image, the volume's image, transfer of coordinates and moving the model
PRINTED = {
    ("torus", 32): (28.4, 1.03, 0.66, 2.10, 10.6, 0.16),
    ("torus", 64): (22.9, 0.95, 0.68, 4.50, 18.8, 0.16),
    ("torus", 128): (15.4, 0.97, 0.73, 12.0, 42.8, 0.17),
    ("knot", 32): (27.1, 0.94, 0.55, 2.31, 13.1, 0.18),
    ("knot", 64): (20.8, 1.03, 0.68, 5.04, 22.8, 0.18),
    ("knot", 128): (13.5, 1.03, 0.80, 15.2, 51.7, 0.19),
    ("mannequin", 64): (13.0, 2.00, 3.11, 5.26, 66.3, 1.01),
}
clock = [time.perf_counter]  # what times are read from
REPEATS = 5  # bakes of each scene; of each frame and task the quickest counts: other programs may be busy meanwhile
COLUMNS = "frames/s", "integration", "body collision", "self-collision", "body's image", "coordinates"


def main():
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=72, help="of every scene")
    parser.add_argument("--cpu", action="store_true", help="processor time: where other programs are busy meanwhile")
    parser.add_argument("--images", action="store_true", help="only the images of moving bodies")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/layers.md")
    chosen = parser.parse_args()
    if chosen.cpu:
        stopwatch.perf_counter = clock[0] = time.process_time
    taffeta.register()
    try:
        drawn = images.page(images.measure())
        print(drawn)
        if chosen.write:
            put(drawn, IMAGE_MARKS)
        if chosen.images:
            return
        simulate.prepare()
        measured = {case: [bake(*case, chosen.frames) for _ in range(REPEATS)] for case in CASES}
        text = page(measured, chosen.frames)
    finally:
        taffeta.unregister()
    print(text)
    OUT.parent.mkdir(exist_ok=True)
    plot(measured, OUT)
    if chosen.write:
        shutil.copyfile(OUT, PLOT)
        put(text, MARKS)


def put(text: str, marks: tuple[str, str]) -> None:
    """Replace what stands between two marks of docs/layers.md."""
    before, rest = PAGE.read_text(encoding="utf-8").split(marks[0])
    PAGE.write_text(before + marks[0] + text + marks[1] + rest.split(marks[1])[1], encoding="utf-8")


def page(measured, frames: int) -> str:
    """Both tables in Markdown; of each case its bakes."""
    lines = [f"| scene, pixels | | {' | '.join(COLUMNS)} |", f"|{' --- |' * (len(COLUMNS) + 2)}"]
    for case in CASES:
        lines.append(f"| {case[0]}, {case[1]} | Taffeta | {_row(figures(measured[case]))} |")
        lines.append(f"| | 2003 | {_row(PRINTED[case])} |")
    words, on_gpu = drawer()
    images = "three full images", "each triangle once", "each triangle once, GPU"
    lines += ["", f"| body, pixels | triangles | 2003 | {' | '.join(images)} |", f"|{' --- |' * 6}"]
    for case in CASES:
        x, triangles = surface(case[0])
        ways = (render, THREE_FULL), (render, THREE_DIRECTIONS), (on_gpu, THREE_DIRECTIONS)
        times = [draw(way, x, triangles, case[1], direction) for way, direction in ways]
        lines.append(f"| {case[0]}, {case[1]} | {len(triangles):,} | {PRINTED[case][4]} | {_row(times)} |")
    machine = f"{processor()}, {os.cpu_count()} cores, Blender {bpy.app.version_string}; the graphics context: {words}."
    kind = " of all processors together" if clock[0] is time.process_time else ""
    return (
        "\n".join(lines)
        + f"\n\n{frames} frames, milliseconds{kind}, the quickest of {REPEATS} bakes and of 30 images each. {machine}\n"
    )


def plot(measured, path) -> None:
    """Draw the tasks' times over the frames, a panel for each case: of each frame and task the quickest of the bakes."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        -(-len(measured) // 3), 3, figsize=(12, 9), sharey=True, layout="constrained", squeeze=False
    )
    for panel, (case, bakes) in zip(axes.flat, measured.items(), strict=False):
        for name, times in zip(COLUMNS[1:], np.min(bakes, axis=0).T, strict=True):
            panel.semilogy(np.arange(2, len(times) + 2), times, label=name)
        panel.set_title(f"{case[0]}, {case[1]} pixels")
        panel.set_xlabel("frame")
        panel.grid(alpha=0.3)
    for panel in axes.flat[len(measured) :]:
        panel.axis("off")
    for panel in axes[:, 0]:
        panel.set_ylabel("ms a frame")
    handles = axes[0, 0].get_legend_handles_labels()
    axes[-1, -1].legend(*handles, loc="center") if len(measured) % 3 else axes[0, 0].legend(*handles)
    figure.savefig(path, dpi=80)
    plt.close(figure)


def _row(values) -> str:
    return " | ".join(f"{value:.3g}" for value in values)


def build(body: str):
    """Make a scene in an empty file; returns (its garment, its body)."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    collection = bpy.context.scene.collection
    if body == "mannequin":
        bpy.ops.taffeta.scene_add(name="poncho")
        objects = list(bpy.context.scene.objects)
        return next(o for o in objects if o.taffeta_cloth.enabled), bpy.data.objects["Mannequin"]
    if body == "torus":
        obj = solids.torus(collection, 0.42, 0.175, 0.8, 40, 40)
    else:
        obj = solids.knot(collection, 0.8, 80, 20)
    obj.rotation_euler = (math.radians(35.0), 0.0, 0.0)
    obj.taffeta_collider.friction = 0.1
    stage.ground(collection)
    cloth = sheet.square(collection, "Sheet", 21, 0.8, 1.35, materials.plain("Cotton", (0.8, 0.8, 0.8)))
    cloth.location.y = -0.2
    return cloth, obj


def bake(body: str, pixels: int, frames: int):
    """Bake a scene; milliseconds (frames - 1, 5) of the tasks in the order of COLUMNS, of each frame but the first."""
    build(body)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames
    scene.taffeta.substeps, scene.taffeta.ldi_resolution = SUBSTEPS, pixels
    scene.taffeta.body_images = "PROCESSOR"  # what these columns have always been
    stamps = []
    with tempfile.TemporaryDirectory() as folder:
        scene.taffeta.cache_folder = folder
        job = jobs.Job(read_order(scene))
        bake_now(scene, job, lambda _: stamps.append(clock[0]()))
        bpy.ops.wm.read_factory_settings(use_empty=True)  # before the frames are gone
    named = "integration", "volume collision", "self-collision", "LDI generation"
    tasks = 1000.0 * np.array([[report.seconds[name] for name in named] for report in job.reports])
    return np.column_stack([tasks, 1000.0 * np.diff(stamps) - tasks.sum(1)])


def figures(bakes):
    """In the order of COLUMNS: frames a second and means over the frames, of each the quickest of some equal bakes."""
    tasks = np.min(bakes, axis=0).mean(0)
    return (1000.0 / tasks.sum(), *tasks)


def surface(body: str):
    """(x, triangles) of a scene's body in world space at its first frame."""
    _, obj = build(body)
    return world(obj), triangles(obj, shown=True)


def draw(way, x, triangles, pixels: int, direction: int, repeats=30) -> float:
    """Least milliseconds that an image takes."""
    low, high, times = x.min(0), x.max(0), []
    for _ in range(repeats):
        started = clock[0]()
        way(x, triangles, low, high, pixels, direction)
        times.append(clock[0]() - started)
    return 1000.0 * min(times)


if __name__ == "__main__":
    main()
