# SPDX-License-Identifier: GPL-3.0-or-later
"""Who neighbours whom on the bodies: what signs at edges and corners and the inside of a body need.

It depends on the triangles alone, which rarely change during a shot, so the last few answers are kept; they are
pure functions of the triangles, so nothing depends on whether they were kept.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..kernel.jit import njit
from ..kernel.memo import remembered


class Topology(NamedTuple):
    """Adjacency of triangles."""

    neighbour: np.ndarray  # (t, 3) triangle across the edge k to k + 1; -1 at a border or where more than two meet
    vertex_start: np.ndarray  # (m + 1,) first entry of each vertex in vertex_triangles
    vertex_triangles: np.ndarray  # (3 t,) triangles round each vertex
    island: np.ndarray  # (t,) connected part (across edges) that a triangle belongs to
    oriented: np.ndarray  # (islands,) bool: all edges join two triangles at most, that agree on the front
    border: np.ndarray  # (b, 2) vertices of edges with one triangle
    border_island: np.ndarray  # (b,)


@remembered(8, lambda triangles, vertex_count: (triangles, vertex_count))
def topology(triangles: np.ndarray, vertex_count: int) -> Topology:
    """Adjacency of (t, 3) triangles; O(t log t) the first time, a comparison after that."""
    count = len(triangles)
    starts = triangles.astype(np.int64).ravel()
    ends = triangles[:, [1, 2, 0]].astype(np.int64).ravel()
    key = np.minimum(starts, ends) * vertex_count + np.maximum(starts, ends)
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: len(ordered)])
    size = np.diff(np.r_[first, len(ordered)])
    neighbour = np.full(3 * count, -1, np.int32)
    one, two = order[first[size == 2]], order[first[size == 2] + 1]
    neighbour[one], neighbour[two] = two // 3, one // 3
    # islands: triangles of one edge, however many, belong together
    hub = np.repeat(first, size)
    graph = coo_array((np.ones(len(order), np.int8), (order // 3, order[hub] // 3)), shape=(count, count))
    island_count, island = connected_components(graph, directed=False) if count else (0, np.zeros(0, np.int32))
    oriented = np.ones(island_count, bool)
    oriented[island[order[first[size > 2]] // 3]] = False
    oriented[island[one[starts[one] == starts[two]] // 3]] = False
    border = order[first[size == 1]]
    corners = np.argsort(starts, kind="stable")
    vertex_start = np.zeros(vertex_count + 1, np.int32)
    np.cumsum(np.bincount(starts, minlength=vertex_count), out=vertex_start[1:])
    return Topology(
        neighbour.reshape(-1, 3),
        vertex_start,
        (corners // 3).astype(np.int32),
        island.astype(np.int32),
        oriented,
        np.stack([starts[border], ends[border]], 1).astype(np.int32).reshape(-1, 2),
        island[border // 3].astype(np.int32),
    )


@njit
def _measure_islands(x, triangles, island, area, volume, seen):
    """Area and volume per island, the volume against one of its own corners: far from the origin no digits go."""
    for t in range(len(triangles)):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        part = island[t]
        if seen[part] < 0:
            seen[part] = i
        o = seen[part]
        abx, aby, abz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        acx, acy, acz = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
        nx, ny, nz = aby * acz - abz * acy, abz * acx - abx * acz, abx * acy - aby * acx
        area[part] += 0.5 * math.sqrt(nx * nx + ny * ny + nz * nz)
        volume[part] += ((x[i, 0] - x[o, 0]) * nx + (x[i, 1] - x[o, 1]) * ny + (x[i, 2] - x[o, 2]) * nz) / 6.0


def solid_islands(topology: Topology, x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(islands,) bool: the closed bodies with their faces outward; of these alone the inside is forbidden.

    Small holes (eyes, a neck) are forgiven: an island counts as closed while the square of its border's length
    stays below half its area (a disc has 12.6, a hemisphere 6.3, a person's body with an open neck 0.1). A closed
    mesh with its faces inward is a room: cloth may be in it, and stays on the side it is on.
    """
    islands = len(topology.oriented)
    area, volume, seen = np.zeros(islands), np.zeros(islands), np.full(islands, -1, np.int32)
    _measure_islands(x, triangles, topology.island, area, volume, seen)
    side = x[topology.border[:, 0]] - x[topology.border[:, 1]]
    border = np.bincount(topology.border_island, np.sqrt((side * side).sum(1)), islands)
    return topology.oriented & (border * border < 0.5 * area) & (volume > 1e-6 * area**1.5)
