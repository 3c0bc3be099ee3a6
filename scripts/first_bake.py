# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts README's pictures of the first bake, one a step, and those of docs/maps.md from those that the window test keeps in
out/gui/first_bake_1920/.

    python scripts/first_bake.py
"""

import json
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
SHOTS, IMAGES = ROOT / "out" / "gui" / "first_bake_1920", ROOT / "docs" / "images"
WIDTH, HEIGHT = 480, 258  # pixels of a picture
# Step of README -> picture of the walk, and what of it: "whole", the figure and the tab, "menu" or the part of the tab whose
# top is so many pixels below the tab's.
STEPS = {
    1: ("1_example", "whole"),
    2: ("2_cloth", 0),
    3: ("3_collider", 0),
    4: ("4_fabric", -116),
    5: ("5_painting", "whole"),
    6: ("6_preflight", 0),
    7: ("7_save", "menu"),
    8: ("8_live", "whole"),
    9: ("9_scrubbed", "whole"),
    10: ("10_export", 160),
}
DOCS = {"painting": "5_painting", "overlay": "5_overlay"}  # picture of docs/maps.md -> that of the walk
DOCS_WIDTH = 1000
PART = 720, 387  # pixels of the screen, of a part of the tab or of the menu
MARGIN = 75  # pixels below the figure


def cut(image, result, what):
    """The part of a screen that a step is about."""
    left, top, right, bottom = result["tab_rectangle"]
    width, height = PART
    if what == "menu":
        return image.crop((0, 0, width, height))
    if what == "whole":  # as wide as it takes for the figure and the tab
        width, height = 2 * width, 2 * height
        return image.crop((right - width, bottom - height - 2 * MARGIN, right, bottom - 2 * MARGIN))
    if what == "screen":
        return image
    return image.crop((right - width, top + what, right, top + what + height))


def main():
    """Cut and write them all."""
    result = json.loads((SHOTS / "result.json").read_text())
    for step, (name, what) in STEPS.items():
        with Image.open(SHOTS / f"{name}.png") as screen:
            part = cut(screen.convert("RGB"), result, what)
        part = part.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
        part.save(IMAGES / f"first_bake_{step}.jpg", quality=80, optimize=True)
    for picture, name in DOCS.items():
        with Image.open(SHOTS / f"{name}.png") as screen:
            part = cut(screen.convert("RGB"), result, "screen")
        part = part.resize((DOCS_WIDTH, round(part.height * DOCS_WIDTH / part.width)), Image.Resampling.LANCZOS)
        part.save(IMAGES / f"{picture}.png", optimize=True)


if __name__ == "__main__":
    main()
