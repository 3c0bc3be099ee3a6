# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/images/correct.jpg and correct_time.png: `python scripts/correct_picture.py`. The example After the Bake as it was
baked, pushed out of the body, and smoothed; and the height of a vertex over time, baked and smoothed."""

import sys
import tempfile
from pathlib import Path

import bpy
import contact_sheet
import numpy as np
import taffeta
from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "images"
SIZE = 480, 420  # [pixels] of each of the three
FRAME, LAST = 50, 72
GRAPH = 1440, 300  # [pixels]
BAKED, SMOOTH = (178, 34, 34), (25, 60, 130)


def shot(scene, label):
    """The scene now, with a label."""
    scene.frame_set(FRAME)
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    picture = contact_sheet.shot()
    ImageDraw.Draw(picture).text((12, 10), label, fill=(20, 20, 25), font=ImageFont.load_default(size=22))
    return picture


def heights(scene, cloth, vertex):
    """Height [m] of a vertex in each frame."""
    found = []
    for frame in range(1, LAST + 1):
        scene.frame_set(frame)
        evaluated = cloth.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append((evaluated.matrix_world @ evaluated.data.vertices[vertex].co).z)
    return np.array(found)


def graph(baked, smooth, first):
    """Both curves from a frame on."""
    fine = 2
    picture = Image.new("RGB", (GRAPH[0] * fine, GRAPH[1] * fine), "white")
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(size=20 * fine)
    both = np.concatenate((baked[first:], smooth[first:]))
    low, high, edge = both.min(), both.max(), 50 * fine
    x = np.linspace(edge, picture.width - edge, len(baked) - first)
    for curve, colour, label, at in ((baked, BAKED, "baked", 0), (smooth, SMOOTH, "smoothed", 160 * fine)):
        y = picture.height - edge - (curve[first:] - low) / (high - low) * (picture.height - 2 * edge)
        pen.line(list(np.stack((x, y), axis=1).ravel()), fill=colour, width=3 * fine, joint="curve")
        pen.text((edge + at, 8 * fine), label, fill=colour, font=font)
    pen.text(
        (picture.width - 330 * fine, 8 * fine),
        f"frames {first + 1} to {LAST}, {1000 * (high - low):.0f} mm",
        fill=(60, 60, 60),
        font=font,
    )
    return picture.resize(GRAPH, Image.Resampling.LANCZOS)


def main() -> int:
    """Build, bake, draw, correct, draw."""
    taffeta.register()
    try:
        with tempfile.TemporaryDirectory() as folder:
            bpy.ops.wm.read_factory_settings(use_empty=True)
            bpy.ops.wm.save_as_mainfile(filepath=str(Path(folder) / "picture.blend"))
            scene = bpy.context.scene
            bpy.ops.taffeta.scene_add(name="after_bake")
            cloth = bpy.context.object
            scene.frame_end = LAST
            contact_sheet.look(scene)
            scene.cycles.samples = 24
            bpy.ops.taffeta.bake()
            pictures = [shot(scene, "baked")]
            bpy.ops.taffeta.push_out(frame_start=10)
            pictures.append(shot(scene, "pushed out"))
            corner = 0
            before = heights(scene, cloth, corner)
            bpy.ops.taffeta.smooth_in_space(frame_start=10, radius=0.05)
            pictures.append(shot(scene, "smoothed in space"))
            bpy.ops.taffeta.correction_remove(index=1)
            bpy.ops.taffeta.smooth_in_time(frame_start=10, width=3.0)
            after = heights(scene, cloth, corner)
    finally:
        taffeta.unregister()
    whole = Image.new("RGB", (3 * SIZE[0], SIZE[1]))
    for k, picture in enumerate(pictures):
        whole.paste(picture, (k * SIZE[0], 0))
    whole.save(OUT / "correct.jpg", quality=88)
    graph(before, after, 30).save(OUT / "correct_time.png", optimize=True)
    print(OUT / "correct.jpg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
