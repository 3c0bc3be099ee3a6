# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/images/pleats.jpg: `python scripts/rest_shape_picture.py`. The pleated skirt of the examples without its pleats and
with them, in a step of the walk, baked under out/pleats/.
"""

import shutil
from pathlib import Path

import bpy
import contact_sheet
import demo
import taffeta
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
FRAME, SIZE = 30, (560, 620)  # the picture's, and its pixels


def picture(has_pleats):
    """The skirt in frame `FRAME`, as a PIL image."""
    folder = ROOT / "out" / "pleats" / str(has_pleats)
    shutil.rmtree(folder, ignore_errors=True)
    demo.clear("pleated_skirt", folder)
    demo.build("pleated_skirt", folder, FRAME)
    scene = bpy.context.scene
    skirt = next(obj for obj in scene.objects if obj.type == "MESH" and obj.taffeta_cloth.enabled)
    if not has_pleats:
        bpy.context.view_layer.objects.active = skirt
        bpy.ops.taffeta.pleat_clear(every=True)
    bpy.ops.taffeta.bake()
    contact_sheet.look(scene)
    scene.camera.data.lens = 105.0
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    scene.cycles.samples = 32
    scene.frame_set(FRAME)
    return contact_sheet.shot()


def main():
    """Bake both, and write the picture."""
    taffeta.register()
    pictures = [picture(has_pleats) for has_pleats in (False, True)]
    whole = Image.new("RGB", (2 * SIZE[0], SIZE[1]))
    for index, one in enumerate(pictures):
        whole.paste(one, (index * SIZE[0], 0))
    whole.save(ROOT / "docs" / "images" / "pleats.jpg", quality=88)
    taffeta.unregister()


if __name__ == "__main__":
    main()
