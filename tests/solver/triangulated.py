# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets of nothing but triangles, in many ways: what most garments are."""

import naive
import numpy as np
from scipy.spatial import Delaunay

CUTS = "rising", "falling", "alternating", "chance"  # ways to cut a grid
WAYS = *CUTS, "shifted", "irregular", "crooked"
MOVED = {"irregular": 0.25, "crooked": 0.4}  # of a cell, at most


def sheet(columns, rows, width=1.0, height=1.0, way="rising", **changes):
    """As `naive.sheet`, vertex (i, j) at index i * rows + j, but of triangles that know no quads.

    way : one of `WAYS`: a grid cut along diagonals, or Delaunay's triangles of vertices in rows that are shifted by half
    a cell, or moved by chance. The border and the first two and the last two columns keep their places across it.
    """
    flat = naive.sheet(columns, rows, width, height)
    x, quads, rng = flat.x.copy(), flat.quads, np.random.default_rng(5)
    if way in CUTS:
        i, j = np.divmod(np.arange(len(quads)), rows - 1)
        falls = {
            "rising": 0 * i,
            "falling": 1 + 0 * i,
            "alternating": (i + j) % 2,
            "chance": rng.integers(2, size=len(i)),
        }
        cut = np.where(falls[way][:, None] > 0, np.roll(quads, 1, axis=1), quads)
        triangles = np.concatenate([cut[:, [0, 1, 2]], cut[:, [0, 2, 3]]])
    else:
        i, j = np.divmod(np.arange(len(x)), rows)
        cell, may = np.array([width / (columns - 1), height / (rows - 1)]), np.ones((len(x), 2))
        may[(i < 2) | (i > columns - 3), 0] = may[(j == 0) | (j == rows - 1) | (i < 2) | (i == columns - 1), 1] = 0.0
        move = np.stack([0.25 - 0.5 * (j % 2), 0.0 * j], axis=1)
        if way in MOVED:
            move = rng.uniform(-MOVED[way], MOVED[way], move.shape)
        x[:, :2] += may * move * cell
        triangles = Delaunay(x[:, :2] / cell).simplices  # in cells' measure: no slivers of straight borders
        side = x[triangles[:, 1:]] - x[triangles[:, :1]]
        area = 0.5 * np.cross(side[:, 0], side[:, 1])[:, 2]
        triangles = np.where(area[:, None] < 0.0, triangles[:, ::-1], triangles)[np.abs(area) > 1e-6 * cell.prod()]
    return naive.garment(x, triangles, uv=x[triangles][..., :2], **changes)
