# SPDX-License-Identifier: GPL-3.0-or-later
"""DXF files of patterns, as ezdxf writes them, for tests."""

import io

import ezdxf
import numpy as np
from taffeta.patterns import panel

FRONT = [(0, 0), (300, 0), (300, 400), (200, 500), (0, 450)]  # [mm]


def written(fill, version="R12", **header):
    """What a document holds that `fill(document)` filled."""
    document = ezdxf.new(version)
    for name, value in header.items():
        document.header[f"${name}"] = value
    fill(document)
    text = io.StringIO()
    document.write(text)
    return text.getvalue().encode()


def piece(document, name, points, size="", grain=((0, 0), (0, 100)), kind="polyline", layer="1"):
    """A block with an outline, a grain line and texts."""
    block = document.blocks.new(name)
    if kind == "polyline":
        block.add_polyline2d(points, close=True, dxfattribs={"layer": layer})
    else:
        for k in np.random.default_rng(1).permutation(len(points)):
            ends = [points[k], points[(k + 1) % len(points)]]
            block.add_line(*ends[:: 1 if k % 2 else -1], dxfattribs={"layer": layer})
    if grain:
        block.add_line(*grain, dxfattribs={"layer": "7"})
    block.add_text(f"PIECE NAME: {name}", dxfattribs={"layer": "1"})
    if size:
        block.add_text(f"SIZE: {size}", dxfattribs={"layer": "1"})
    document.modelspace().add_blockref(name, (0, 0))
    return block


def told(document, *texts):
    for text in texts:
        document.modelspace().add_text(text, dxfattribs={"layer": "1"})


def shoelace(points):
    return abs(panel.area(np.array(points, float)))


def _bow(start, end, away, count=12):
    """Points (count, 2) of an S from one corner to another, the last left out; `away` [mm] to the right of the way, and to its left."""
    part = np.arange(count) / count
    way = np.subtract(end, start)
    right = np.array([way[1], -way[0]]) / np.hypot(*way)
    return (np.array(start) + part[:, None] * way + away * np.sin(2.0 * np.pi * part)[:, None] * right).tolist()


HEM, ARMPIT, TIP, NECK = (
    (260, 0),
    (255, 390),
    (205, 575),
    (85, 620),
)  # [mm] of a shirt's right half, from the middle of its hem
CAP, BICEP, CUFF = (
    (190, 270),
    (380, 160),
    (345, 0),
)  # of its sleeve, from the left end of the cuff's line: the cap's middle, the armpit, the cuff


def shirt(document, is_turned=False):
    """A T-shirt as AAMA has it: front and back half and on the fold, a sleeve that is cut twice; `is_turned`: of names that tell nothing."""
    names = ("A1", "A2", "A3") if is_turned else ("FRONT", "BACK", "SLEEVE")
    for name, deep in zip(names, (90, 25), strict=False):
        hole = (
            [NECK[0] * np.cos(t) for t in np.linspace(0, np.pi / 2, 9)],
            [NECK[1] - deep * np.sin(t) for t in np.linspace(0, np.pi / 2, 9)],
        )
        armhole = [
            (ARMPIT[0] + (TIP[0] - ARMPIT[0]) * np.sin(t), ARMPIT[1] + (TIP[1] - ARMPIT[1]) * (1 - np.cos(t)))
            for t in np.linspace(0, np.pi / 2, 12)
        ]
        block = piece(document, name, [(0, 0), HEM, *armhole, *zip(*hole, strict=True)], grain=((50, 100), (50, 300)))
        block.add_line((0, 0), (0, NECK[1] - deep), dxfattribs={"layer": "6"})
        for corner in ((0, 0), HEM, ARMPIT, TIP, NECK, (0, NECK[1] - deep)):
            block.add_point(corner, dxfattribs={"layer": "2"})
    low = BICEP[0] - CUFF[0]
    ring = [(low, 0), CUFF, *_bow(BICEP, CAP, 14), *_bow(CAP, (0, BICEP[1]), -14), (0, BICEP[1])]
    block = piece(document, names[2], ring, grain=((190, 20), (190, 200)))
    block.add_text("QUANTITY: 1,1", dxfattribs={"layer": "1"})
    for corner in ((low, 0), CUFF, BICEP, CAP, (0, BICEP[1])):
        block.add_point(corner, dxfattribs={"layer": "2"})
