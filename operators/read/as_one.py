# SPDX-License-Identifier: GPL-3.0-or-later
"""Borders of a garment that are to be taken as one: both sides of a seam that is closed, of a zip, of a tear line that holds."""

import bpy
import numpy as np

from .arrays import first_at_place, sewing_edges
from .tear_lines import marked


def as_one(mesh: bpy.types.Mesh, x: np.ndarray) -> np.ndarray:
    """(n,) of each vertex of a garment's mesh the first that is at its place in x (n, k) and sewn to it or cut from it; itself if it is
    alone. k : three coordinates, or those of several frames, in all of which they have to be at one place
    """
    first = np.arange(len(x), dtype=np.int32)
    ends = np.unique(np.concatenate([marked(mesh)[0].ravel(), sewing_edges(mesh).ravel()])).astype(int)
    if len(ends):
        first[ends] = ends[first_at_place(x[ends])]
    return first


def joined(triangles: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Triangles (t, 3) with the `first` vertex (n,) in the place of each; without those that have one twice."""
    corners = first[triangles]
    whole = (np.diff(np.sort(corners, axis=1), axis=1) > 0).all(axis=1)
    return np.ascontiguousarray(corners[whole])
