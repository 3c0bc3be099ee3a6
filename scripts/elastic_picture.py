# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/images/elastic.jpg: `python scripts/elastic_picture.py`. The skirt of the examples that elastic holds, drawn in, and in two
steps of the walk, baked under out/elastic/.
"""

import shutil
from pathlib import Path

import bpy
import contact_sheet
import demo
import taffeta
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
FRAMES, SIZE = (1, 30, 60), (500, 600)  # the pictures', and the pixels of each


def main():
    """Bake, and write the picture."""
    taffeta.register()
    folder = ROOT / "out" / "elastic"
    shutil.rmtree(folder, ignore_errors=True)
    demo.clear("elastic_skirt", folder)
    demo.build("elastic_skirt", folder, FRAMES[-1])
    scene = bpy.context.scene
    bpy.ops.taffeta.bake()
    contact_sheet.look(scene)
    scene.cycles.samples, scene.camera.data.lens = 24, 100.0
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    whole = Image.new("RGB", (len(FRAMES) * SIZE[0], SIZE[1]))
    for index, frame in enumerate(FRAMES):
        scene.frame_set(frame)
        whole.paste(contact_sheet.shot(), (index * SIZE[0], 0))
    whole.save(ROOT / "docs" / "images" / "elastic.jpg", quality=88)
    taffeta.unregister()


if __name__ == "__main__":
    main()
