# SPDX-License-Identifier: GPL-3.0-or-later
"""A garment at rest as its sewing pattern has it: flat, a unit of the UV map a metre."""

import zlib

import bpy
import numpy as np

from . import arrays, tear_lines

ONE_PLACE = 1e-5  # [m] up to which corners of a vertex are at one place
APART = 1.0  # [m] between pieces, so that none knows of another one that lies over it in the pattern


def positions(obj: bpy.types.Object) -> tuple[np.ndarray | None, str]:
    """Vertices (n, 3) float64 [m] of a garment as its pattern has them, in a plane and no piece over another one; None
    where the mesh tells, and a sentence if that is because the pattern cannot.
    """
    cloth = obj.taffeta_cloth
    if not cloth.pattern_size or obj.mode == "EDIT":
        return None, ""
    if cloth.weld > 0.0:
        return (
            None,
            f"{obj.name} cannot be welded where Size from Pattern is on; switch that off, or Weld for Simulation",
        )
    x, lack = in_pattern(obj)
    if x is not None:
        x[:, 0] += _shifts(obj.data, x)
    return x, lack


def in_pattern(obj: bpy.types.Object) -> tuple[np.ndarray | None, str]:
    """Where a garment's vertices are in its Pattern, (n, 3) float64 [m], z = 0; None and a sentence where that tells no one place of each."""
    mesh = obj.data
    layer = mesh.uv_layers.get(obj.taffeta_cloth.uv_map)
    if layer is None:
        return (
            None,
            f"{obj.name} has no Pattern to take its size from; choose its UV map, or switch Size from Pattern off",
        )
    corners, uv = arrays.corner_vertex(mesh), arrays.corner_uv(layer).astype(np.float64)
    x = np.full((len(mesh.vertices), 3), np.nan)
    x[corners, :2], x[corners, 2] = uv, 0.0
    if (loose := np.flatnonzero(np.isnan(x[:, 2]))).size:
        return None, f"{obj.name}: vertex {loose[0]} is in no face, so that the Pattern has no place for it; delete it"
    apart = np.abs(x[corners, :2] - uv).max(axis=1, initial=0.0)
    if not (np.isfinite(uv).all() and (apart <= ONE_PLACE).all()):
        return None, (
            f"{obj.name}: vertex {corners[np.argmax(~(apart <= ONE_PLACE))]} has several places in the Pattern, as where a seam "
            "is welded; switch Size from Pattern off"
        )
    return x, ""


def _shifts(mesh, x: np.ndarray) -> np.ndarray:
    """(n,) [m] by which vertices at x (n, 3) are moved along u, so that pieces lie one behind another."""
    from scipy.sparse import coo_array  # here, because it takes long to import
    from scipy.sparse.csgraph import connected_components

    u = x[:, 0]
    ends = np.concatenate([arrays.edges(mesh)[np.unique(arrays.corner_edge(mesh))], _held(mesh, x)])
    graph = coo_array((np.ones(len(ends), np.int8), tuple(ends.T)), shape=(len(u), len(u)))
    count, piece = connected_components(graph, directed=False)
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, piece, u)
    np.maximum.at(high, piece, u)
    return (np.append(0.0, (high - low + APART).cumsum())[:-1] - low)[piece]


def _held(mesh, x: np.ndarray) -> np.ndarray:
    """(k, 2) vertices of tear lines that lie on each other, in the mesh and in the pattern x (n, 3): what was cut there is one piece."""
    from scipy.spatial import cKDTree

    on_line = np.unique(tear_lines.marked(mesh)[0])
    if not len(on_line):
        return np.zeros((0, 2), np.int32)
    places = np.column_stack([arrays.positions(mesh)[on_line], x[on_line, :2]])
    return on_line[cKDTree(places).query_pairs(2.0 * ONE_PLACE, output_type="ndarray")]


def checksum(obj: bpy.types.Object) -> int | None:
    """Of the UV map that a garment takes its size from; None where its mesh tells."""
    layer = obj.data.uv_layers.get(obj.taffeta_cloth.uv_map) if obj.taffeta_cloth.pattern_size else None
    return None if layer is None else zlib.crc32(arrays.corner_uv(layer))
