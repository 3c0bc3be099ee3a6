# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is next to whom: springs and hinges of a mesh.

Sorting does the work of a hash map: an edge is the number `low * count + high`, and equal numbers lie side by side.
Any mesh is welcome: an edge may have no face, or five.
"""

from typing import NamedTuple

import numpy as np

LEAST_HEIGHT = 1e-9  # of a triangle that has an area, part of its longest side
MOST_CUBED = 2_000_000  # vertices: the cube of so many fits an int64


class Faces(NamedTuple):
    """The faces of a garment that have an area, each once."""

    triangles: np.ndarray  # (t, 3) int64
    area: np.ndarray  # (t,) [m2]
    kept: np.ndarray  # (t,) rows of the garment's own triangles


class Springs(NamedTuple):
    """Every pair of particles that a spring joins, and the triangles that lend it their area."""

    pairs: np.ndarray  # (s, 2) int64, low index first
    is_mesh_edge: np.ndarray  # (s,) bool
    # one row per spring and triangle beside it
    beside_spring: np.ndarray  # (i,)
    beside_triangle: np.ndarray  # (i,)
    quads: np.ndarray  # (q, 4) the quads that have both their diagonals as springs
    halves: np.ndarray  # (q, 2) the two triangles of each


class Hinges(NamedTuple):
    """Pairs of faces that share an edge, or crossings of a quad mesh's lines."""

    stencils: np.ndarray  # (h, 4) int64: edge's ends, then the two vertices opposite
    triangles: np.ndarray  # (h, 2) the triangles beside it; -1 for a pair of quads
    area: np.ndarray  # (h,) [m2] of both faces' triangles at the edge
    share: np.ndarray  # (h,) part of the rigidity that this hinge has to give
    is_damped: np.ndarray  # (h,) bool: whether the fabric's damping acts on it, too


def mean_edge_length(x, triangles):
    """Mean length [m] of the sides of triangles (t, 3) with corners at x (n, 3) [m]."""
    corners = x[triangles]
    return float(np.sqrt(((corners - np.roll(corners, 1, axis=1)) ** 2).sum(axis=2)).mean())


def clean_faces(x, triangles):
    """Faces without those that have no area and without the second of two equal ones.

    Parameters: x (n, 3) [m], triangles (t, 3). A height under `LEAST_HEIGHT` of the longest side counts as no area:
    such a triangle has no normal, and contact could do nothing with it.
    """
    sides = x[triangles[:, [1, 2, 0]]] - x[triangles]
    square = np.einsum("tij,tij->ti", sides, sides)
    longest = np.maximum(np.maximum(square[:, 0], square[:, 1]), square[:, 2])
    normal = np.cross(sides[:, 0], sides[:, 1])
    area = 0.5 * np.sqrt(np.einsum("ij,ij->i", normal, normal))
    kept = np.flatnonzero(area > 0.5 * LEAST_HEIGHT * longest)
    ordered = np.sort(triangles[kept].astype(np.int64), axis=1)
    if len(x) < MOST_CUBED:
        first = np.unique((ordered[:, 0] * len(x) + ordered[:, 1]) * len(x) + ordered[:, 2], return_index=True)[1]
    else:
        first = np.unique(ordered, axis=0, return_index=True)[1]
    kept = kept[np.sort(first)]
    return Faces(triangles[kept].astype(np.int64), area[kept], kept)


def edge_keys(pairs, vertex_count):
    """One int64 per pair of vertices, the same for both directions; (m, 2) -> (m,)."""
    pairs = np.asarray(pairs, dtype=np.int64)
    return np.minimum(pairs[:, 0], pairs[:, 1]) * vertex_count + np.maximum(pairs[:, 0], pairs[:, 1])


def edges_of(triangles, vertex_count):
    """(e, 2) the sides of triangles (t, 3), each once."""
    keys = np.unique(edge_keys(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), vertex_count))
    return np.stack(np.divmod(keys, vertex_count), axis=1).astype(np.int32)


def border_edges(triangles):
    """(b, 2) the edges that one triangle alone has, of triangles (t, 3)."""
    sides = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    keys = edge_keys(sides, int(triangles.max(initial=0)) + 1)
    _, first, times = np.unique(keys, return_index=True, return_counts=True)
    return sides[first[times == 1]]


def find_springs(triangles, quads, edges, vertex_count):
    """Springs along every mesh edge, every edge of the triangulation and both diagonals of every quad.

    Parameters: triangles (t, 3) with an area, quads (q, 4), edges (e, 2): indices below `vertex_count`.
    """
    sides = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    mesh_keys = edge_keys(edges[edges[:, 0] != edges[:, 1]], vertex_count)
    side_keys = edge_keys(sides, vertex_count)
    quads = quads[(quads[:, 0] != quads[:, 2]) & (quads[:, 1] != quads[:, 3])]  # a corner may stand in a file twice
    diagonals = [edge_keys(quads[:, columns], vertex_count) for columns in ((0, 2), (1, 3))]
    keys = np.unique(np.concatenate([mesh_keys, side_keys, *diagonals]))
    keys = keys[keys // vertex_count != keys % vertex_count]
    is_mesh_edge = np.zeros(len(keys), dtype=bool)
    is_mesh_edge[np.searchsorted(keys, mesh_keys)] = True

    spring = np.searchsorted(keys, side_keys)
    triangle = np.repeat(np.arange(len(triangles)), 3)
    missing, kept, halves = _missing_diagonals(keys, diagonals, spring, triangle)
    return Springs(
        np.stack([keys // vertex_count, keys % vertex_count], axis=1),
        is_mesh_edge,
        np.concatenate([spring, np.repeat(missing, 2)]),
        np.concatenate([triangle, halves.ravel()]),
        quads[kept].astype(np.int64),
        halves,
    )


def _missing_diagonals(keys, diagonals, spring, triangle):
    """The diagonal that the triangulation of a quad left out, the quad's row and its two triangles (m,), (m,), (m, 2).

    A quad that lost a triangle for want of area, or whose diagonal other faces use too, is none here.
    """
    first, second = (np.searchsorted(keys, d) for d in diagonals)
    beside_count = np.bincount(spring, minlength=len(keys))
    order = np.argsort(spring, kind="stable")
    start = np.concatenate([[0], np.cumsum(beside_count)])
    second_missing = (beside_count[first] == 2) & (beside_count[second] == 0)
    first_missing = (beside_count[second] == 2) & (beside_count[first] == 0)
    kept = np.flatnonzero(first_missing | second_missing)
    drawn = np.where(second_missing, first, second)[kept]
    missing = np.where(second_missing, second, first)[kept]
    halves = triangle[order[start[drawn][:, None] + np.arange(2)]] if len(kept) else np.zeros((0, 2), np.int64)
    return missing, kept, halves


def find_hinges(faces, vertex_count):
    """Every pair of triangles on a shared edge; on an edge with more than two, neighbours in index order.

    The edge points along the first triangle's winding.
    """
    triangles = faces.triangles
    sides = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    opposite = triangles[:, [2, 0, 1]].ravel()
    first, second = _neighbours(sides, vertex_count)
    shared = opposite[first] != opposite[second]
    first, second = first[shared], second[shared]
    stencils = np.concatenate([sides[first], opposite[first][:, None], opposite[second][:, None]], axis=1)
    beside = np.stack([first // 3, second // 3], axis=1)
    area, count = faces.area[beside[:, 0]] + faces.area[beside[:, 1]], len(stencils)
    return Hinges(stencils, beside, area, np.ones(count), np.ones(count, dtype=bool))


def _neighbours(sides, vertex_count):
    """Rows of `sides` (m, 2) that are the same edge, pair after pair in index order."""
    key = edge_keys(sides, vertex_count)
    order = np.argsort(key, kind="stable")
    same = np.flatnonzero(key[order][1:] == key[order][:-1])
    return order[same], order[same + 1]


def bend_hinges(faces, hinges, springs, vertex_count):
    """The hinges that bend: as `hinges`, but quads bend along their lines and twist across their diagonal.

    A grid cut into triangles takes part of every bend for a twist: a narrow strip gets 0.8 of its rigidity, and one
    diagonal direction three times the other's. Two quads beside an edge are better joined at each of its ends with the
    two vertices that lie across, half the rigidity each, and a quad's diagonal has half of its own: with curvatures
    kxx, kyy and twist kxy the energy per area becomes B/2 (kxx^2 + kyy^2 + 2 kxy^2), that of a plate without Poisson
    effect in every direction.
    """
    quad_of = np.full(len(faces.triangles), -1)
    quad_of[springs.halves.ravel()] = np.repeat(np.arange(len(springs.halves)), 2)
    beside = quad_of[hinges.triangles]
    diagonal = (beside[:, 0] >= 0) & (beside[:, 0] == beside[:, 1])
    replaced = (beside >= 0).all(axis=1) & ~diagonal
    kept = Hinges(*(array[~replaced] for array in hinges._replace(share=np.where(diagonal, 0.5, 1.0))))
    lines = quad_lines(faces, springs, vertex_count)
    return Hinges(*(np.concatenate(pair) for pair in zip(kept, lines, strict=True)))


def quad_lines(faces, springs, vertex_count):
    """Hinges between quads: each end of a shared edge with its neighbours in both quads."""
    quads = springs.quads
    sides = np.stack([quads, np.roll(quads, -1, axis=1)], axis=2).reshape(-1, 2)
    across = np.stack([np.roll(quads, 1, axis=1), np.roll(quads, -2, axis=1)], axis=2).reshape(-1, 2)
    first, second = _neighbours(sides, vertex_count)
    opposed = sides[first, 0] != sides[second, 0]
    far = np.where(opposed[:, None], across[second][:, ::-1], across[second])
    stencils = np.concatenate(
        [
            np.stack([sides[first, end], sides[first, 1 - end], across[first, end], far[:, end]], axis=1)
            for end in (0, 1)
        ]
    )
    half_area = 0.5 * (faces.area[springs.halves[:, 0]] + faces.area[springs.halves[:, 1]])
    area = np.tile(half_area[first // 4] + half_area[second // 4], 2)
    valid = stencils[:, 2] != stencils[:, 3]
    count = int(valid.sum())
    return Hinges(
        stencils[valid], np.full((count, 2), -1), area[valid], np.full(count, 0.5), np.ones(count, dtype=bool)
    )


def both_ways(i, j, count):
    """Pairs as rows of both their ends: start (n + 1,), the other end, and which pair it is."""
    first, second = np.concatenate([i, j]), np.concatenate([j, i])
    order = np.argsort(first * count + second, kind="stable")
    pair = np.tile(np.arange(len(i), dtype=np.int32), 2)
    return starts(first, count), second[order].astype(np.int32), pair[order]


def starts(slots, count):
    """Where the rows of sorted `slots` begin, (count + 1,)."""
    return np.concatenate([[0], np.cumsum(np.bincount(slots, minlength=count))]).astype(np.int32)


def within_rings(is_there: np.ndarray, edges: np.ndarray, rings: int) -> np.ndarray:
    """(n,) bool: vertices that are there, and those up to so many edges (e, 2) from them."""
    is_near, (a, b) = is_there.copy(), edges.T
    for _ in range(rings):
        is_near[edges[is_near[a] | is_near[b]]] = True
    return is_near
