# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts README's pictures of the first bake from those that the window test keeps in out/gui/first_bake_1920/.

    python scripts/first_bake.py

Each shows the 3D view, or the Physics tab, or both, and is 480 pixels wide.
"""

import json
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
SHOTS, IMAGES = ROOT / "out" / "gui" / "first_bake_1920", ROOT / "docs" / "images"
WIDTH = 480  # pixels of a picture
# Step of README -> which picture of the walk, and what of it.
STEPS = {
    1: ("1_example", "both"),
    4: ("4_fabric", "tab"),
    5: ("5_painting", "both"),
    8: ("8_live", "both"),
}
TAB_HEIGHT = 520  # pixels from the tab's top that are shown
MARGIN = 230  # pixels left of the tab, where its popovers reach


def cut(image, result, what):
    """The part of a screen that a step is about."""
    left, top, right, bottom = result["tab_rectangle"]
    if what == "tab":
        return image.crop((left - MARGIN, top, right, min(top + TAB_HEIGHT, bottom)))
    return image.crop((result["view_rectangle"][0], min(top, result["view_rectangle"][1]), right, bottom))


def main():
    """Cut and write them all."""
    result = json.loads((SHOTS / "result.json").read_text())
    for step, (name, what) in STEPS.items():
        with Image.open(SHOTS / f"{name}.png") as screen:
            part = cut(screen.convert("RGB"), result, what)
        part = part.resize((WIDTH, round(part.height * WIDTH / part.width)), Image.Resampling.LANCZOS)
        part.save(IMAGES / f"first_bake_{step}.jpg", quality=80, optimize=True)


if __name__ == "__main__":
    main()
