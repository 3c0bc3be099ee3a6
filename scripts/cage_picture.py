# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/images/cage.jpg: `python scripts/cage_picture.py`. The quilt of the examples, with front, back and rim, on a ball: the cage
that is simulated for it, and the quilt as it follows, baked under out/cage/.
"""

import shutil
import sys
from pathlib import Path

import bpy
import contact_sheet
import demo
import taffeta
from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "images" / "cage.jpg"
SIZE = 700, 520  # [pixels] of each of the two
FRAME = 60


def paint(obj, colour):
    """Give an object a material of one colour."""
    material = bpy.data.materials.new(obj.name)
    material.use_nodes = True
    shader = material.node_tree.nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*colour, 1.0)
    shader.inputs["Roughness"].default_value = 0.8
    obj.data.materials.append(material)


def draw():
    """Bake the example; the pictures, each with its line of text."""
    folder = ROOT / "out" / "cage"
    shutil.rmtree(folder, ignore_errors=True)
    demo.clear("quilt", folder)
    demo.build("quilt", folder, FRAME)
    bpy.ops.taffeta.bake()
    scene, obj = bpy.context.scene, bpy.data.objects["Quilt"]
    cage = obj.taffeta_cage.cage
    contact_sheet.look(scene)
    scene.cycles.samples, scene.camera.data.lens = 24, 80.0
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    scene.frame_set(FRAME)
    follows = f"{obj.name}, {len(obj.data.vertices):,} vertices", contact_sheet.shot()
    cage.modifiers.new("Wireframe", "WIREFRAME").thickness = 0.004
    cage.data.materials.clear()
    paint(cage, (0.75, 0.30, 0.04))
    cage.hide_render, obj.hide_render = False, True
    return (f"Cage, {len(cage.data.vertices):,} vertices", contact_sheet.shot()), follows


def main() -> int:
    """Draw both side by side."""
    taffeta.register()
    try:
        pictures = draw()
    finally:
        taffeta.unregister()
    whole = Image.new("RGB", (len(pictures) * SIZE[0], SIZE[1]))
    pen, font = ImageDraw.Draw(whole), ImageFont.load_default(size=22)
    for k, (label, picture) in enumerate(pictures):
        whole.paste(picture, (k * SIZE[0], 0))
        pen.text((k * SIZE[0] + 12, 10), label, fill=(20, 20, 25), font=font)
    whole.save(OUT, quality=85, optimize=True)
    print(OUT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
