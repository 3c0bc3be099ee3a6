# SPDX-License-Identifier: GPL-3.0-or-later
"""Cut the pictures of docs/show.md, docs/fabric.md, docs/drape.md and docs/pins.md from those of the window test: `python scripts/show_pictures.py`.

`make test-gui` leaves them in out/gui/show/, drape/ and features/ (tests/gui/show_story.py, drape_story.py and features_story.py draw them).
"""

import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
SHOTS, PICTURES = ROOT / "out" / "gui", ROOT / "docs" / "images"
# picture: (shot, box in pixels of the screen: left, top, right, bottom)
CUTS = {
    "show_popover.png": ("show/30_popover", (0, 25, 870, 600)),
    "show_lines.png": ("show/34_lines_while_painting", (0, 300, 815, 1000)),
    "show_timeline.png": ("show/29_timeline_baked", (0, 1000, 815, 1078)),
    "show_report.png": ("show/36_report", (510, 185, 1095, 700)),
    "show_vertices.png": ("show/37_shown", (0, 300, 815, 700)),
    "fabric_picker.png": ("show/38_all_fabrics", (90, 225, 1310, 890)),
    "fabric_assets.png": ("show/41_assets", (0, 25, 815, 700)),
    "drape.png": ("drape/51_pull", (0, 25, 815, 1000)),
    "attach.png": ("features/71_trim", (150, 330, 1310, 830)),
}
MARKS = "show/31_pins", "show/31_contacts", "show/31_thickness", "show/31_aura"
MARKS_BOX, LEGEND_BOX = (60, 320, 520, 590), (60, 892, 520, 952)  # what is marked, and what the legend says of it


def main() -> int:
    """Cut and write; returns the exit status."""
    missing = [name for name in (*MARKS, *(shot for shot, _ in CUTS.values())) if not (SHOTS / f"{name}.png").exists()]
    if missing:
        print(f"{SHOTS} lacks {missing[0]}.png: run `make test-gui` first", file=sys.stderr)
        return 1
    for name, (shot, box) in CUTS.items():
        picture = Image.open(SHOTS / f"{shot}.png").convert("RGB").crop(box)
        if not name.startswith("fabric"):  # whose many colours would become few
            picture = picture.quantize(200, dither=Image.Dither.NONE)
        picture.save(PICTURES / name, optimize=True)
    width, high, low = MARKS_BOX[2] - MARKS_BOX[0], MARKS_BOX[3] - MARKS_BOX[1], LEGEND_BOX[3] - LEGEND_BOX[1]
    sheet = Image.new("RGB", (2 * width, 2 * (high + low)))
    for number, shot in enumerate(MARKS):
        whole = Image.open(SHOTS / f"{shot}.png").convert("RGB")
        left, top = number % 2 * width, number // 2 * (high + low)
        sheet.paste(whole.crop(MARKS_BOX), (left, top))
        sheet.paste(whole.crop(LEGEND_BOX), (left, top + high))
    sheet.save(PICTURES / "show_marks.jpg", quality=85, optimize=True)
    print(PICTURES)
    return 0


if __name__ == "__main__":
    sys.exit(main())
