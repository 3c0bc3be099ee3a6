# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of the cloth about each vertex lies beside a seam, where its allowance is folded in.

Distances from the seam run over triangles as plane fronts do (Kimmel and Sethian 1998, Computing geodesic paths on manifolds,
section 4), and are linear within one; so the strip beside a straight seam is cut out of the mesh exactly, and weighs the same on
a coarse mesh as on a fine one.
"""

import numpy as np

from ..kernel.memo import remembered
from .topology import border_edges


def filled(triangles: np.ndarray, sewn: np.ndarray) -> np.ndarray:
    """(n,) bool: the `sewn` vertices (n,) bool, and those between two of them on a rim, as where the longer one gathers."""
    rim = border_edges(triangles)
    ends = np.concatenate([rim, rim[:, ::-1]])
    neighbours, held = (np.bincount(ends[:, 0], weight, minlength=len(sewn)) for weight in (None, sewn[ends[:, 1]]))
    return sewn | ((held == neighbours) & (held > 1))


@remembered(4, lambda x, triangles, sewn, width: (x, triangles, sewn, width))
def beside(x: np.ndarray, triangles: np.ndarray, sewn: np.ndarray, width: float) -> np.ndarray:
    """(n,) part of the cloth of each vertex that lies up to `width` [m] from the nearest of the `sewn` ones, along the cloth.

    Parameters
    ----------
    x : (n, 3) [m] rest positions
    triangles : (t, 3)
    sewn : (n,) bool
    """
    sides = x[triangles[:, 1:]] - x[triangles[:, :1]]
    area = 0.5 * np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    share = 3.0 * area[:, None] * _cut(distances(x, triangles, sewn, width)[triangles], width)
    own, whole = (
        np.bincount(triangles.ravel(), part.ravel(), minlength=len(x)) for part in (share, np.repeat(area, 3))
    )
    return np.divide(own, whole, out=np.zeros(len(x)), where=whole > 0.0)


def distances(x: np.ndarray, triangles: np.ndarray, sewn: np.ndarray, width: float) -> np.ndarray:
    """(n,) [m] from the nearest of the `sewn` vertices, of triangles that reach nearer than `width` [m]; inf beyond."""
    away = np.where(sewn, 0.0, np.inf)
    a, b, c = np.concatenate([np.roll(triangles, turn, axis=1) for turn in range(3)]).T
    p, q = x[a] - x[c], x[b] - x[c]
    pp, pq, qq = (np.einsum("ij,ij->i", one, other) for one, other in ((p, p), (p, q), (q, q)))
    square = pp * qq - pq**2
    while True:
        near = np.flatnonzero(np.minimum(away[a], away[b]) < width)
        found = _front(away[a[near]], away[b[near]], *(array[near] for array in (pp, pq, qq, square)))
        nearer = away.copy()
        np.minimum.at(nearer, c[near], found)
        if np.array_equal(nearer, away):
            return away
        away = nearer


def _front(s, t, pp, pq, qq, square):
    """(m,) [m] distances of third corners of triangles whose others have the distances s and t: along a side, or as the front that
    crosses the triangle. pp, pq, qq: products of the sides from the third corner; square: of twice the area.
    """
    along = np.minimum(s + np.sqrt(pp), t + np.sqrt(qq))
    with np.errstate(invalid="ignore", divide="ignore"):  # where one of both is inf there is no front
        one, half = pp - 2.0 * pq + qq, s * (qq - pq) + t * (pp - pq)
        rest = s**2 * qq - 2.0 * s * t * pq + t**2 * pp - square
        front = (half + np.sqrt(half**2 - one * rest)) / one
        enters = (qq * (front - s) >= pq * (front - t)) & (pp * (front - t) >= pq * (front - s))
        return np.where(enters & (square > 0.0), np.fmin(front, along), along)


def _cut(away, width):
    """(t, 3) what lies within `width` of triangles whose corners are `away` (t, 3), shared among the corners; a third each is all."""
    order = np.argsort(away, axis=1, kind="stable")
    low, middle, high = np.take_along_axis(away, order, axis=1).T
    parts = np.zeros(away.shape)
    parts[high <= width] = 1.0 / 3.0
    tip = (low < width) & (width < middle)
    parts[tip] = _tip(width - low[tip], middle[tip] - low[tip], high[tip] - low[tip])
    base = (low < width) & (middle <= width) & (width < high)
    parts[base] = 1.0 / 3.0 - _tip(high[base] - width, high[base] - middle[base], high[base] - low[base])[:, ::-1]
    shared = np.empty_like(parts)
    np.put_along_axis(shared, order, parts, axis=1)
    return shared


def _tip(inside, one, other):
    """(m, 3) part of triangles up to `inside` from their first corner, where the second is `one` and the third `other` away."""
    u, v = inside / one, inside / other
    return (u * v)[:, None] * np.column_stack([1.0 - (u + v) / 3.0, u / 3.0, v / 3.0])
