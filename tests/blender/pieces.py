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
