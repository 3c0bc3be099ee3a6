# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/images/arrange.jpg: `python scripts/arrange_picture.py`. A shirt's DXF as it is imported, arranged around the mannequin, and
sewn by the bake. The file and its seams are those of the tests. About a minute and a half.
"""

import sys
import tempfile
from pathlib import Path

import bpy
import contact_sheet
import taffeta
from mathutils import Vector
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "images" / "arrange.jpg"
SIZE = 400, 540  # [pixels] of each picture
FRONT, BACK, FAR = (1.6, -3.4, 1.6), (-1.9, 3.2, 2.0), (1.9, -4.8, 2.2)  # [m] where the camera stands
FRAMES = 1, 5, 60
EDGE = 0.016  # [m]

sys.path.insert(0, str(ROOT / "tests" / "blender"))
import pieces  # noqa: E402
import stitched  # noqa: E402


def main():
    """Import, arrange, sew, bake, draw."""
    taffeta.register()
    with tempfile.TemporaryDirectory() as folder:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(Path(folder) / "shot.blend"))
        bpy.ops.taffeta.scene_add(name="sewn_shirt")
        scene, example = bpy.context.scene, bpy.context.view_layer.objects.active
        jersey = example.data.materials[0]
        bpy.data.objects.remove(example)
        path = Path(folder) / "shirt.dxf"
        path.write_bytes(pieces.written(pieces.shirt))
        bpy.ops.taffeta.pattern_import(filepath=str(path), edge_length=EDGE)
        shirt = bpy.context.view_layer.objects.active
        shirt.data.materials.append(jersey)
        contact_sheet.look(scene)
        scene.render.resolution_x, scene.render.resolution_y = SIZE
        scene.render.resolution_percentage = 100
        pictures = [drawn(scene, folder, FAR, 0.75)]
        bpy.ops.taffeta.panels_arrange()
        pictures += [drawn(scene, folder, FRONT), drawn(scene, folder, BACK)]
        stitched.sew(shirt, stitched.shirt_seams())
        scene.frame_end = FRAMES[-1]
        bpy.ops.taffeta.bake()
        for frame in FRAMES[1:]:
            scene.frame_set(frame)
            pictures.append(drawn(scene, folder, FRONT))
    sheet = Image.new("RGB", (SIZE[0] * len(pictures), SIZE[1]))
    for number, picture in enumerate(pictures):
        sheet.paste(picture, (number * SIZE[0], 0))
    sheet.save(OUT, quality=85, optimize=True)
    print(OUT)
    taffeta.unregister()


def drawn(scene, folder: str, where, height: float = 1.12) -> Image.Image:
    """The scene, seen from a place; in the middle is what is at a height [m]."""
    camera = scene.camera
    camera.location = where
    camera.rotation_euler = (Vector((0.0, 0.0, height)) - Vector(where)).to_track_quat("-Z", "Y").to_euler()
    scene.render.filepath = str(Path(folder) / "picture.png")
    bpy.ops.render.render(write_still=True)
    return Image.open(scene.render.filepath).convert("RGB")


if __name__ == "__main__":
    sys.exit(main())
