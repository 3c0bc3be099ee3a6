# SPDX-License-Identifier: GPL-3.0-or-later
"""A garment as a surface with an outside: faces turned the same way, the normals, and how far the border is."""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ..geometry.topology import clean_faces, edge_keys

FLATTEST_VOLUME = 0.02  # volume over that of a ball of equal area, below which a piece has no inside


class Surface(NamedTuple):
    """A layer's shape, its faces turned so that normals point away from the wearer."""

    x: np.ndarray  # (n, 3) [m]
    triangles: np.ndarray  # (t, 3) int32
    normals: np.ndarray  # (n, 3) of length 1 (0 at vertices without a face)
    border: np.ndarray  # (n,) [m] distance from the nearest open edge; inf where there is none
    edges: np.ndarray  # (e, 2) of the triangles, each once
    half: np.ndarray  # (n,) [m] half the thickness; of bodies the aura


def make_surface(
    name: str, x: np.ndarray, triangles: np.ndarray, inner: "Surface | None", half: np.ndarray | float = 0.0
) -> Surface:
    """Turn the faces of a mesh outwards: by the volume they enclose, or, of a flat piece, as the layer inside has them.

    Parameters
    ----------
    name : of the object, for messages
    x : (n, 3) [m]
    triangles : (t, 3); those without an area are left out
    inner : the next surface inside, or None
    half : (n,) [m] half the thickness, or a number

    Raises
    ------
    ValueError
        It has no face with an area, or no outside, as a Möbius strip: names it and what to do.
    """
    triangles = clean_faces(x, triangles).triangles
    if not len(triangles):
        raise ValueError(f"{name} has no faces with an area, so it has no outside; add some or leave it out")
    sides = _make_sides(triangles)
    flip, piece = _agreeing(name, len(triangles), sides)
    triangles = np.where(flip[:, None], triangles[:, [0, 2, 1]], triangles)
    ends = np.where(flip[sides.alone // 3, None], sides.ends[sides.alone, ::-1], sides.ends[sides.alone])
    triangles = _outwards(x, triangles, piece, ends, inner)
    border = np.full(len(x), np.inf)
    if len(ends):
        border = cKDTree(x[np.unique(ends)]).query(x)[0]
    edges = np.sort(sides.ends[sides.first], axis=1)
    normals, half = vertex_normals(x, triangles), np.zeros(len(x)) + half
    return Surface(x, triangles.astype(np.int32), normals, border, edges.astype(np.int32), half)


class Sides(NamedTuple):
    """The 3 t directed sides of triangles."""

    ends: np.ndarray  # (3 t, 2), three rows a triangle
    first: np.ndarray  # (e,) one row of each edge
    alone: np.ndarray  # (k,) rows of the edges that one triangle has
    pairs: np.ndarray  # (p, 2) rows of the edges that two triangles have


def _make_sides(triangles):
    ends = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    keys = edge_keys(ends, int(triangles.max()) + 1)
    order = np.argsort(keys, kind="stable")
    begin = np.flatnonzero(np.concatenate(([True], np.diff(keys[order]) > 0)))
    count = np.diff(np.append(begin, len(order)))
    two = begin[count == 2]  # where three meet, nothing says who goes on into whom
    return Sides(ends, order[begin], order[begin[count == 1]], np.column_stack((order[two], order[two + 1])))


def vertex_normals(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(n, 3) of length 1, each the mean of the triangles' round it, weighed by their angles (Thürmer, Wüthrich 1998)."""
    sides = x[triangles[:, [1, 2, 0]]] - x[triangles]
    normal = np.cross(sides[:, 0], sides[:, 1])
    normal /= np.maximum(np.sqrt((normal * normal).sum(axis=1)), 1e-300)[:, None]
    length = np.sqrt((sides * sides).sum(axis=2))
    cosine = -(sides * sides[:, [2, 0, 1]]).sum(axis=2) / np.maximum(length * length[:, [2, 0, 1]], 1e-300)
    angle = np.arccos(np.clip(cosine, -1.0, 1.0))
    total = np.empty_like(x)
    corner = triangles.ravel()
    for axis in range(3):
        total[:, axis] = np.bincount(corner, (angle * normal[:, axis, None]).ravel(), len(x))
    return total / np.maximum(np.sqrt((total * total).sum(axis=1)), 1e-300)[:, None]


def _agreeing(name, count, sides):
    """Which of `count` triangles to turn so that neighbours agree, (t,) bool, and the connected piece (t,) of each.

    Every triangle is two: as it is and turned round. Neighbours that agree join like with like, others crosswise; a
    piece then falls into two halves, which are its two orientations.
    """
    one, two = sides.pairs.T
    a, b = one // 3, two // 3
    crosswise = sides.ends[one, 0] == sides.ends[two, 0]
    rows = np.concatenate((a, a + count))
    columns = np.concatenate((np.where(crosswise, b + count, b), np.where(crosswise, b, b + count)))
    graph = coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(2 * count, 2 * count))
    half = connected_components(graph, directed=False)[1]
    if (half[:count] == half[count:]).any():
        raise ValueError(
            f"{name} has only one side (as a Möbius strip has), so nothing is inside of it; cut it open or leave it out"
        )
    piece = np.unique(np.minimum(half[:count], half[count:]), return_inverse=True)[1]
    return half[:count] > half[count:], piece


def _outwards(x, triangles, piece, ends, inner):
    """Turn whole pieces round whose volume, every hole closed by a fan from the middle, is negative."""
    piece_count = int(piece.max()) + 1
    # About a piece's own middle, a fan over its holes adds what each border side spans with the border's middle.
    of_vertex = np.zeros(len(x), np.int64)
    of_vertex[triangles.ravel()] = np.repeat(piece, 3)
    corner = x[triangles]
    cross = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    area = 0.5 * np.sqrt((cross * cross).sum(axis=1))
    total = np.bincount(piece, area, piece_count)
    middle = np.column_stack([np.bincount(piece, area * corner[:, :, k].mean(axis=1), piece_count) for k in range(3)])
    middle /= total[:, None]
    volume = np.bincount(piece, ((corner[:, 0] - middle[piece]) * cross).sum(axis=1) / 6.0, piece_count)
    volume += _caps(x, of_vertex, ends, middle, piece_count)
    away = np.sign(volume)
    flat = np.abs(volume) < FLATTEST_VOLUME * total**1.5 / np.sqrt(36.0 * np.pi)
    if inner is not None and flat.any():
        near = cKDTree(inner.x).query(corner.mean(axis=1))[1]
        agree = np.bincount(piece, (inner.normals[near] * cross).sum(axis=1), piece_count)
        away[flat] = np.sign(agree[flat])
    elif flat.any():
        away[flat] = 1.0  # as the animator has them
    turned = away[piece] < 0.0
    return np.where(turned[:, None], triangles[:, [0, 2, 1]], triangles)


def _caps(x, of_vertex, ends, middle, piece_count):
    """Volume (pieces,) that fans from the middle of each border loop add; `ends` are its directed sides."""
    if not len(ends):
        return np.zeros(piece_count)
    known, rows = np.unique(ends, return_inverse=True)
    rows = rows.reshape(-1, 2)
    graph = coo_array((np.ones(len(rows), np.int8), (rows[:, 0], rows[:, 1])), shape=(len(known),) * 2)
    loop = connected_components(graph, directed=False)[1]
    count = np.bincount(loop)
    hub = np.column_stack([np.bincount(loop, x[known, k]) / count for k in range(3)])[loop[rows[:, 0]]]
    piece = of_vertex[ends[:, 0]]
    base = middle[piece]
    # A hole is gone round the other way: the cap's triangle is (end, start, hub).
    spanned = ((x[ends[:, 1]] - base) * np.cross(x[ends[:, 0]] - base, hub - base)).sum(axis=1) / 6.0
    return np.bincount(piece, spanned, piece_count)
