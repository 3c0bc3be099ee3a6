# SPDX-License-Identifier: GPL-3.0-or-later
"""Pleats and elastic of a garment on the edges of its cage. Marked edges are lines of the garment's sheet, so the cage has edges along
them, and each of these has the values of the marked edge that is nearest to its middle.
"""

import bpy
import numpy as np

from . import arrays, bands, pleats, tear_lines
from .mesh_io import metres_per_unit, rest_positions
from .remesh import Meshed, segments_tree
from .sheet import Sheet

KINDS = {
    "marked pleats": (pleats.read_pleats, pleats.mark),
    "marked elastic": (bands.read_bands, bands.mark),
}  # words -> what reads and what makes these marks
SAME = 0.01  # of an edge's length, within which what is marked is as near as the nearest line
OFF = 0.25  # of an edge's length, that the middle of a cage's edge may be off the garment's line that it is on


def carry(obj: bpy.types.Object, cage: bpy.types.Object, sheet: Sheet, made: Meshed) -> None:
    """Mark the edges of a cage that lie on marked edges of its garment. made : the cage's mesh, placed as `sheet.x`"""
    middle, size = _middles(made.x[made.lines])
    least, _ = _nearest(sheet.x[sheet.lines], middle)
    for read, mark in KINDS.values():
        marks = read(obj.name, obj.data)
        if marks is None:
            continue
        away, which = _nearest(sheet.x[marks.edges], middle)
        own = away <= least + SAME * size
        if own.any():
            mark(cage.data, _numbers(cage.data, made.lines[own]), *(value[which[own]] for value in marks[1:]))


def refuse(obj: bpy.types.Object, cage: bpy.types.Object, sheet: Sheet, scene: bpy.types.Scene) -> None:
    """Raise ValueError where a cage has marks that are not those of its garment, and would be lost with its mesh."""
    x = rest_positions(cage, cage, metres_per_unit(scene)) - sheet.origin
    for word, (read, _) in KINDS.items():
        marks, own = (read(each.name, each.data) for each in (obj, cage))
        if own is None:
            continue
        middle, size = _middles(x[own.edges])
        is_known = np.zeros(len(middle), bool)
        if marks is not None:
            away, which = _nearest(sheet.x[marks.edges], middle)
            is_known = away < OFF * size
            for value, values in zip(own[1:], marks[1:], strict=True):
                is_known &= value == values[which]
        if not is_known.all():
            raise ValueError(
                f"{cage.name} has {word} on {np.count_nonzero(~is_known):,} edges where {obj.name} has none or another; a refined mesh "
                f"takes it from {obj.name}: mark the same there, or clear it on the cage"
            )


def left_out(obj: bpy.types.Object, cage: bpy.types.Object) -> list[str]:
    """A sentence for each thing that is marked on a garment and not on its cage."""
    told = [
        f"{obj.name}: its {word} did not go over to {cage.name}, which only what lies on one side of a shell does; mark it there"
        for word, (read, _) in KINDS.items()
        if read(obj.name, obj.data) is not None and read(cage.name, cage.data) is None
    ]
    if len(tear_lines.marked(obj.data)[0]):
        told.append(f"The tear lines of {obj.name} do not go over to a cage, so it does not tear")
    return told


def _middles(ends):
    """Middles (e, 3) and lengths (e,) [m] of edges between `ends` (e, 2, 3)."""
    return ends.mean(axis=1), np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)


def _nearest(ends, points):
    """How far points (p, 3) are from the nearest of the segments (l, 2, 3), (p,) [m], and which that is, (p,)."""
    tree = segments_tree(ends)
    found = [tree.find_nearest(point) for point in points.tolist()]
    return np.array([hit[3] for hit in found], float), np.array([hit[2] for hit in found], int)


def _numbers(mesh, pairs):
    """Numbers of the mesh's edges between vertices (k, 2)."""
    from ...solver.geometry.topology import edge_keys

    keys = edge_keys(arrays.edges(mesh), len(mesh.vertices))
    order = np.argsort(keys)
    return order[np.searchsorted(keys[order], edge_keys(pairs, len(mesh.vertices)))]
