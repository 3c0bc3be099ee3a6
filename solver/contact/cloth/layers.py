# SPDX-License-Identifier: GPL-3.0-or-later
"""Which side of another garment cloth is to be on, where two garments that cross lie on each other.

Where a contour ends at borders, as where a shirt's hem is inside a skirt in front and outside behind, it leaves both sheets in
one piece, and pieces do not tell which way leads out (`easing`). Made shorter it comes to hang straight from hem to
waist, and stays. But it parts the patch in which the two lie on each other. So the patch votes: each vertex in it, by its mass,
for the side of the other garment that it is on; and what has fewer votes is to go through.

A vertex is in a patch if the other garment's nearest vertex is near, inside of its border, and the normals of the two are nearly
parallel, this way or that. Vertices of a patch hang together by the edges of their meshes, and as the nearest of each other;
cloth beside it votes with it. A patch without a clear majority does not know, nor one in which the two are askew.
"""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ...geometry.topology import border_edges
from ...model import Cloth

FACING = 0.6  # cosine between normals of sheets that lie on each other, at least, and
LYING = 0.92  # in the mean of a patch
NEAR = 3.0  # mean springs within which the other sheet lies
MAJORITY = 0.2  # part of all votes by which one side has to win
RINGS = 4  # of vertices round a patch that go with it
FOLLOWERS = 10  # the same of those that vote with it


def wanted_sides(cloth: Cloth, x: np.ndarray, crossing: np.ndarray) -> np.ndarray:
    """(n, g) int8 on which side of each garment's triangles particles at x (n, 3) [m] are to be: 1 where their corners go
    round to the left, -1 where to the right, 0 not known.

    crossing : (k, 2) garments that cross
    """
    wanted = np.zeros((len(x), len(cloth.meets)), np.int8)
    pairs = np.unique(np.sort(crossing[crossing[:, 0] != crossing[:, 1]], axis=1), axis=0)
    if len(pairs):
        normal, is_border = _normals(cloth.triangles, x), np.zeros(len(x), np.bool_)
        is_border[border_edges(cloth.triangles)] = True
        for one, other in pairs.tolist():
            _vote(cloth, x, normal, is_border, one, other, wanted)
    return wanted


def _normals(triangles: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(n, 3) unit normals at vertices."""
    a, b, c = x[triangles.T]
    area, corners = np.repeat(np.cross(b - a, c - a), 3, axis=0), triangles.ravel()
    normal = np.stack([np.bincount(corners, area[:, axis], len(x)) for axis in range(3)], axis=1)
    return normal / np.maximum(np.linalg.norm(normal, axis=1), np.finfo(float).tiny)[:, None]


def _vote(cloth: Cloth, x, normal, is_border, one: int, other: int, wanted) -> None:
    """Fill in what the patches of two garments want."""
    whose = np.where(cloth.is_mesh_edge, cloth.garment[cloth.edges[:, 0]], -1)
    beside = [cloth.edges[whose == garment] for garment in (one, other)]
    lengths = cloth.rest_length[(whose == one) | (whose == other)]
    if not len(lengths):  # all of both is pinned
        return
    near = NEAR * lengths.mean()
    across = np.concatenate([
        _facing(cloth, x, normal, is_border, near, *garments) for garments in ((one, other), (other, one))
    ])  # fmt: skip
    voter, faced = across.T
    ours, theirs = np.where((cloth.garment[voter] == one)[:, None], across, across[:, ::-1]).T
    vote = np.sign(_dot(x[ours] - x[theirs], normal[theirs]))
    is_voter = np.zeros(len(x), np.bool_)
    is_voter[voter] = True
    links = np.concatenate([edges[is_voter[edges].all(axis=1)] for edges in beside] + [across[is_voter[faced]]])
    _, patch = connected_components(coo_array((np.ones(len(links)), links.T), shape=(len(x), len(x))), directed=False)
    behind = np.zeros(len(x), np.int64)  # number of a voter, from 1 on, with whom others vote
    behind[voter] = np.arange(1, len(voter) + 1)
    for edges in beside:
        _spread(edges, behind, FOLLOWERS)
    mass = np.bincount(behind, cloth.mass, len(voter) + 1)[1:]
    total, size = np.bincount(patch[voter], vote * mass), np.bincount(patch[voter], mass)
    cosine = _dot(normal[ours], normal[theirs])
    lies = np.bincount(patch[voter], np.abs(cosine) - LYING) > 0.0
    side = np.where(lies & (np.abs(total) > MAJORITY * size), np.sign(total), 0.0)[patch[voter]]
    is_ours = voter == ours
    wanted[ours[is_ours], other] = side[is_ours]
    wanted[theirs[~is_ours], one] = -(side * np.sign(cosine))[~is_ours]  # as they see it
    _spread(beside[0], wanted[:, other], RINGS)
    _spread(beside[1], wanted[:, one], RINGS)


def _facing(cloth: Cloth, x, normal, is_border, near: float, one: int, other: int) -> np.ndarray:
    """(k, 2) particles of one garment that lie on another within `near` [m], and the particles of that one that they face."""
    start = cloth.garment_start
    mine, theirs = (slice(start[garment], start[garment + 1]) for garment in (one, other))
    distance, nearest = cKDTree(x[theirs]).query(x[mine], distance_upper_bound=near)
    found = np.flatnonzero(np.isfinite(distance))
    i, j = found + mine.start, nearest[found] + theirs.start
    faces = ~is_border[j] & (np.abs(_dot(normal[i], normal[j])) > FACING)
    return np.stack([i[faces], j[faces]], axis=1)


def _spread(edges: np.ndarray, value: np.ndarray, rings: int) -> None:
    """Give vertices without a value that of a neighbour, so many times. # outputs: value (n,)"""
    for _ in range(rings):
        before = value.copy()
        for a, b in (edges.T, edges.T[::-1]):
            new = (before[a] == 0) & (before[b] != 0)
            value[a[new]] = before[b[new]]


def _dot(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.einsum("kx,kx->k", u, v)
