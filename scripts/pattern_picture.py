# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/images/pattern.jpg: `python scripts/pattern_picture.py`. The pattern of the sewn shirt, its panels about the
mannequin, and the bake that sews them, at four frames. About a minute.
"""

import sys
import tempfile
from pathlib import Path

import bpy
import contact_sheet
import numpy as np
import taffeta
from PIL import Image, ImageDraw

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "images" / "pattern.jpg"
SIZE = 400, 540  # [pixels] of each picture
FRAMES = 1, 7, 12, 60
MARGIN, PAPER, CLOTH, LINE = 24, (246, 244, 238), (205, 92, 74), (60, 40, 36)


def main():
    """Build, bake, draw."""
    taffeta.register()
    with tempfile.TemporaryDirectory() as folder:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(Path(folder) / "shot.blend"))
        bpy.ops.taffeta.scene_add(name="sewn_shirt")
        scene, shirt = bpy.context.scene, bpy.context.view_layer.objects.active
        scene.frame_end = FRAMES[-1]
        bpy.ops.taffeta.bake()
        contact_sheet.look(scene)
        scene.render.resolution_x, scene.render.resolution_y = SIZE
        scene.render.resolution_percentage = 100
        pictures = [flat(shirt.data)]
        for frame in FRAMES:
            scene.frame_set(frame)
            scene.render.filepath = str(Path(folder) / f"{frame}.png")
            bpy.ops.render.render(write_still=True)
            pictures.append(Image.open(scene.render.filepath).convert("RGB"))
    sheet = Image.new("RGB", (SIZE[0] * len(pictures), SIZE[1]))
    for number, picture in enumerate(pictures):
        sheet.paste(picture, (number * SIZE[0], 0))
    sheet.save(OUT, quality=85, optimize=True)
    print(OUT)
    taffeta.unregister()


def flat(mesh) -> Image.Image:
    """The Pattern UV map on paper, each panel upright: u, along which the warp runs, is up."""
    picture = Image.new("RGB", SIZE, PAPER)
    draw = ImageDraw.Draw(picture)
    uv = np.array([corner.vector for corner in mesh.uv_layers["Pattern"].uv])
    low, span = uv.min(axis=0), np.ptp(uv, axis=0)
    scale = min((SIZE[0] - 2 * MARGIN) / span[1], (SIZE[1] - 2 * MARGIN) / span[0])
    place = np.array(SIZE) / 2.0 + (uv - low - span / 2.0)[:, ::-1] * (scale, -scale)
    sides = {}
    for face in mesh.polygons:
        ring = [tuple(place[corner]) for corner in face.loop_indices]
        draw.polygon(ring, fill=CLOTH, outline=(225, 140, 122))
        for one, other in zip(face.loop_indices, [*face.loop_indices[1:], face.loop_indices[0]], strict=True):
            ends = frozenset(mesh.loops[corner].vertex_index for corner in (one, other))
            sides.setdefault(ends, []).append((tuple(place[one]), tuple(place[other])))
    for found in sides.values():
        if len(found) == 1:
            draw.line(found[0], fill=LINE, width=2)
    return picture


if __name__ == "__main__":
    sys.exit(main())
