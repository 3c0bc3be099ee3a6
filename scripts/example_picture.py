# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/images/NAME.jpg: `python scripts/example_picture.py tearing`. An example, baked, in four frames, or in two."""

import argparse
import sys
from pathlib import Path

import bpy
import contact_sheet
import demo
import taffeta
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
PICTURES = {
    "tearing": ("torn_banner", (20, 34, 44, 66)),
    "free_tearing": ("burst_sheet", (18, 27, 33, 48)),
    "zip": ("zipped_curtain", (30, 60, 72, 146)),
    "hem": ("hemmed_cloth", (16, 48)),
    "creases": ("creases", (2, 40, 60, 105)),
    "blossom": ("blossom", (10, 30, 42, 95)),
}
SIZE = 420, 320  # [pixels] of each


def main() -> int:
    """Bake and draw; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("picture", choices=PICTURES)
    picture = parser.parse_args().picture
    example, frames = PICTURES[picture]
    taffeta.register()
    try:
        folder = ROOT / "out" / picture
        demo.clear(example, folder)
        demo.build(example, folder, frames[-1])
        bpy.ops.taffeta.bake()
        scene = bpy.context.scene
        contact_sheet.look(scene)
        scene.render.resolution_x, scene.render.resolution_y = SIZE
        scene.cycles.samples = 12
        whole = Image.new("RGB", (2 * SIZE[0] + 4, len(frames) // 2 * (SIZE[1] + 4) - 4), "white")
        for k, frame in enumerate(frames):
            scene.frame_set(frame)
            whole.paste(contact_sheet.shot(), (k % 2 * (SIZE[0] + 4), k // 2 * (SIZE[1] + 4)))
        whole.save(ROOT / "docs" / "images" / f"{picture}.jpg", quality=82, optimize=True)
    finally:
        taffeta.unregister()
    return 0


if __name__ == "__main__":
    sys.exit(main())
