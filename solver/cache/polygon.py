# SPDX-License-Identifier: GPL-3.0-or-later
"""Polygons of many corners cut into triangles, by ears (Meisters, Polygons Have Ears, 1975).

An ear is a corner whose triangle holds no other corner of the polygon; a polygon that does not cross itself always has
two. Going round, the corner after an ear is left out, so that a round polygon gives no vertex more triangles than the
logarithm of its corners; a fan gives one vertex all of them, and contact looks at the neighbours of neighbours. Only reflex
corners can lie in an ear, and they are looked up by their first coordinate: n log n for what is round, seconds for spirals
and combs of as many corners as are read (`obj.MOST_CORNERS`). Memory is in proportion.
"""

import numpy as np

from ..kernel.jit import counted_njit, inner


def cut_polygon(points: np.ndarray) -> np.ndarray:
    """Triangles (k - 2, 3) int32 of the corners 0 to k - 1 of a polygon points (k, 3) that is about flat, wound as it.

    What crosses itself, or has no area, is cut somehow.
    """
    normal = np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0)  # Newell: twice the area vector
    across = int(np.abs(normal).argmax())
    u, v = points[:, (across + 1) % 3], points[:, (across + 2) % 3]
    u, v = (u, v) if normal[across] >= 0.0 else (-u, v)
    triangles = np.empty((len(points) - 2, 3), np.int32)
    order = np.argsort(u, kind="stable")
    cut_ears(np.ascontiguousarray(u), np.ascontiguousarray(v), order, u[order], triangles)
    return triangles


@inner
def _turn(u, v, a, b, c):
    """Twice the area of a triangle of corners; above 0 if it is counter-clockwise."""
    return (u[b] - u[a]) * (v[c] - v[a]) - (u[c] - u[a]) * (v[b] - v[a])


@inner
def _is_ear(u, v, order, sorted_u, reflex, a, b, c):
    """Does no reflex corner lie in the triangle of corner b and its neighbours?"""
    if _turn(u, v, a, b, c) <= 0.0:
        return False
    low, high = min(u[a], u[b], u[c]), max(u[a], u[b], u[c])
    for k in range(np.searchsorted(sorted_u, low), len(order)):
        p = order[k]
        if u[p] > high:
            break
        if not reflex[p] or p == a or p == b or p == c:
            continue
        if _turn(u, v, a, b, p) >= 0.0 and _turn(u, v, b, c, p) >= 0.0 and _turn(u, v, c, a, p) >= 0.0:
            at_corner = (u[p] == u[a] and v[p] == v[a]) or (u[p] == u[c] and v[p] == v[c])
            if not at_corner:  # two corners in one place, as where a hole is joined to the border
                return False
    return True


@counted_njit
def cut_ears(u, v, order, sorted_u, triangles):
    """Fill `triangles` (k - 2, 3) of the polygon (u, v), counter-clockwise; `order` sorts u into `sorted_u`."""
    count = len(u)
    before, after, reflex = np.arange(-1, count - 1), np.arange(1, count + 1), np.empty(count, np.bool_)
    before[0], after[count - 1] = count - 1, 0
    for b in range(count):
        reflex[b] = _turn(u, v, before[b], b, after[b]) <= 0.0
    b, missed, somehow = 0, 0, False
    for t in range(count - 2):
        while not somehow and not _is_ear(u, v, order, sorted_u, reflex, before[b], b, after[b]):
            b, missed = after[b], missed + 1
            somehow = missed > count - t  # all round: it has no ears
        a, c, missed = before[b], after[b], 0
        triangles[t, 0], triangles[t, 1], triangles[t, 2] = a, b, c
        after[a], before[c], reflex[b] = c, a, False
        reflex[a], reflex[c] = _turn(u, v, before[a], a, c) <= 0.0, _turn(u, v, a, c, after[c]) <= 0.0
        b = after[c]
