# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of shots: frames side by side, and all shots on one sheet."""

import sys
from pathlib import Path

import bpy
import numpy as np
from PIL import Image, ImageDraw, ImageFont

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

import contact_sheet

COUNT = 6  # frames of a shot
SIZE = 170, 200  # [pixels] of each
SAMPLES = 10
GAP = 4  # [pixels] between rows


def frames(last):
    """Which frames are drawn of a shot that ends with frame `last`."""
    return np.unique(np.linspace(1, last, COUNT + 1).round().astype(int)[1:])


def draw():
    """A picture of what is shown now."""
    scene = bpy.context.scene
    contact_sheet.look(scene)
    scene.cycles.samples = SAMPLES
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    return contact_sheet.shot()


def row(pictures):
    """Pictures side by side."""
    whole = Image.new("RGB", (len(pictures) * SIZE[0], SIZE[1]), "white")
    for k, picture in enumerate(pictures):
        whole.paste(picture, (k * SIZE[0], 0))
    return whole


def sheet(rows, path):
    """Write rows of (label, picture) below each other, as JPEG."""
    height = SIZE[1] + GAP
    whole = Image.new("RGB", (max(picture.width for _, picture in rows), len(rows) * height - GAP), "white")
    pen, font = ImageDraw.Draw(whole), ImageFont.load_default(size=14)
    for k, (label, picture) in enumerate(rows):
        whole.paste(picture, (0, k * height))
        pen.text((8, k * height + 5), label, fill=(20, 20, 25), font=font)
    path.parent.mkdir(parents=True, exist_ok=True)
    whole.save(path, quality=80, optimize=True)
