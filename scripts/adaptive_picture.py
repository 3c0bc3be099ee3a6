# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/images/adaptive.jpg and prints the table of docs/cage.md: `python scripts/adaptive_picture.py`. The example
*Tablecloth*, simulated on an even cage, on one of as many vertices that is fine where that folded, on an even one of four times
as many, and as it is.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import bpy
import contact_sheet
import numpy as np
import taffeta
from cage_picture import paint
from mathutils.bvhtree import BVHTree
from PIL import Image, ImageDraw, ImageFont
from taffeta.solver.geometry.roughness import roughness

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "solver"))

from crossings import count_crossings  # noqa: E402  ipctk counts them, no code of Taffeta

OUT = ROOT / "docs" / "images" / "adaptive.jpg"
SIZE = 700, 520  # [pixels] of each picture
BUDGET, FINE, FRAMES = 1500, 6000, 100
COMPARED = 10, 20, 30, 50, 70, 100  # frames in which shapes are compared, and crossings counted
EVERY = 5  # of the vertices, whose distance is measured


class Run(NamedTuple):
    """A bake of the tablecloth."""

    name: str
    vertices: int  # that are simulated
    seconds: float  # processor time of a frame
    shown: dict  # of each compared frame: where the garment's vertices are, (n, 3) [m]
    rough: tuple[float, float]  # [degrees] of the garment and of what is simulated, mean of the compared frames
    stretch: float  # of the worst edge
    crossings: int  # in all compared frames


def begin(folder):
    """The example, in a file of its own; returns the garment."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(folder) / "adaptive.blend"))
    bpy.ops.taffeta.scene_add(name="tablecloth")
    bpy.context.scene.frame_end = FRAMES
    contact_sheet.look(bpy.context.scene)
    bpy.context.scene.cycles.samples = 24
    bpy.context.scene.render.resolution_x, bpy.context.scene.render.resolution_y = SIZE
    return bpy.data.objects["Tablecloth"]


def world(obj):
    """Vertices (n, 3) [m] as they are shown now."""
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    x = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", x)
    matrix = np.array(obj.matrix_world)
    return x.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3]


def triangles(obj):
    """Triangles (t, 3) of an object's mesh."""
    obj.data.calc_loop_triangles()
    return np.array([t.vertices for t in obj.data.loop_triangles], np.int32)


def bake(name, obj, cage):
    """Bake and look at it."""
    start = time.process_time()
    bpy.ops.taffeta.bake(object=cage.name)
    seconds = (time.process_time() - start) / FRAMES
    bodies = [o for o in bpy.context.scene.objects if o.taffeta_collider.enabled]
    shown, rough, crossings, faces = {}, [], 0, triangles(cage)
    for frame in COMPARED:
        bpy.context.scene.frame_set(frame)
        shown[frame], x = world(obj), world(cage)
        rough.append((roughness(shown[frame], triangles(obj))[0], roughness(x, faces)[0]))
        crossings += sum(count_crossings(x, faces, np.zeros(len(x), int), [(world(b), triangles(b)) for b in bodies]))
    ends = np.unique(np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)), axis=0)
    at_rest = np.array([v.co for v in cage.data.vertices])
    rest, now = (np.linalg.norm(y[ends[:, 0]] - y[ends[:, 1]], axis=1) for y in (at_rest, x))
    return Run(
        name, len(x), seconds, shown, tuple(np.degrees(np.mean(rough, axis=0))), (now / rest).max() - 1.0, crossings
    )


def distance(run, other, faces) -> float:
    """[mm] mean distance of one shape's surface from the other's, both ways, mean of the compared frames."""
    found = []
    for frame in COMPARED:
        for here, there in ((run, other), (other, run)):
            tree = BVHTree.FromPolygons(there.shown[frame].tolist(), faces.tolist(), all_triangles=True)
            found.append(np.mean([tree.find_nearest(p)[3] for p in here.shown[frame][::EVERY].tolist()]))
    return 1000.0 * float(np.mean(found))


def pictures(obj, cage, label):
    """The cage as wire at rest from above, and the garment in the last frame."""
    scene = bpy.context.scene
    scene.frame_set(FRAMES)
    found = [(f"{label}: the garment", contact_sheet.shot())]
    wire = cage.modifiers.new("Wireframe", "WIREFRAME")
    wire.thickness = 0.004
    if not cage.data.materials:
        paint(cage, (0.75, 0.30, 0.04))
    cage.hide_render, obj.hide_render = False, True
    found.insert(0, (f"{label}: the cage, {len(cage.data.vertices):,} vertices", contact_sheet.shot()))
    cage.hide_render, obj.hide_render = True, False
    cage.modifiers.remove(wire)
    return found


def table(runs, faces):
    """Print what docs/cage.md has."""
    print(
        "| simulated | vertices | s a frame | roughness, cage | roughness, garment | mm from the last | stretch | crossings |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for run in runs:
        far = f"{distance(run, runs[-1], faces):.1f}" if run is not runs[-1] else ""
        print(
            f"| {run.name} | {run.vertices:,} | {run.seconds:.2f} | {run.rough[1]:.1f}° | {run.rough[0]:.1f}° | {far} | "
            f"{100 * run.stretch:.1f} % | {run.crossings} |"
        )


def main() -> int:
    """Bake, draw, print."""
    taffeta.register()
    try:
        with tempfile.TemporaryDirectory() as folder:
            obj = begin(folder)
            bpy.ops.taffeta.cage_make(object=obj.name, vertices=BUDGET)
            cage = obj.taffeta_cage.cage
            runs = [bake("an even cage", obj, cage)]
            drawn = pictures(obj, cage, "Even")
            bpy.ops.taffeta.cage_refine(object=obj.name, vertices=BUDGET)
            runs.append(bake("fine where that folded", obj, cage))
            drawn += pictures(obj, cage, "Refined")
            bpy.ops.taffeta.cage_remove(object=obj.name)
            bpy.ops.taffeta.cage_make(object=obj.name, vertices=FINE)
            runs.append(bake("a fine even cage", obj, obj.taffeta_cage.cage))
            bpy.ops.taffeta.cage_remove(object=obj.name)
            runs.append(bake("the garment itself", obj, obj))
            table(runs, triangles(obj))
    finally:
        taffeta.unregister()
    whole = Image.new("RGB", (2 * SIZE[0], 2 * SIZE[1]))
    pen, font = ImageDraw.Draw(whole), ImageFont.load_default(size=22)
    for k, (label, picture) in enumerate(drawn):
        corner = (k % 2 * SIZE[0], k // 2 * SIZE[1])
        whole.paste(picture, corner)
        pen.text((corner[0] + 12, corner[1] + 10), label, fill=(20, 20, 25), font=font)
    whole.save(OUT, quality=85, optimize=True)
    print(OUT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
