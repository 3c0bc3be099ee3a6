# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the picture of docs/wedges.md by the commands that it tells of: `python scripts/wedge_picture.py`, some minutes.

The walking skirt, three bending stiffnesses and two winds, under out/wedges/; the sheet goes to docs/images/wedges.jpg.
"""

import shutil
import sys
from pathlib import Path

import bpy
import taffeta
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
OUT, PICTURE = ROOT / "out" / "wedges", ROOT / "docs" / "images" / "wedges.jpg"
WEDGES = "scene.wind.x=0,5; Skirt.bending=1e-6,6e-5,1e-3"
FRAMES, SIZE = 40, 320


def main() -> int:
    """Build, bake and draw; returns the exit status."""
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    taffeta.register()
    try:
        from taffeta.operators import command

        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.ops.taffeta.scene_add(name="skirt")
        scene = bpy.context.scene
        scene.frame_end = FRAMES
        scene.render.resolution_x, scene.render.resolution_y = 4, 5
        shot = OUT / "shot.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(shot))
        status = command.run(["bake", str(shot), "--wedge", WEDGES])
        drawn = ["sheet", str(shot), "--wedge", WEDGES, "--size", str(SIZE), "--output", str(OUT / "sheet.png")]
        status = status or command.run(drawn)
    finally:
        taffeta.unregister()
    if not status:
        with Image.open(OUT / "sheet.png") as sheet:
            sheet.convert("RGB").save(PICTURE, quality=85, optimize=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
