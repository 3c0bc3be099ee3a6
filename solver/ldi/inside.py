# SPDX-License-Identifier: GPL-3.0-or-later
"""Which points are inside a body, and where does each come out nearest? Which others are near its surface?

Inside is what the winding of the closed bodies round a point says; an open mesh has no inside, nor has a room (a closed
mesh with its faces inward). The nearest way out is looked for in the conservative three-directional image: a triangle
whose nearest place lies within r of a point is in a pixel within r of it, and a pixel's depth is no more than a pixel
off. So the few hits about as far from a point as its nearest vertex hold the triangle that it looks for.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from ..geometry.adjacency import solid_islands, topology
from ..geometry.distance import closest_on_triangle
from ..geometry.seams import sew_borders
from ..geometry.winding import count_windings
from ..kernel.jit import inner, njit
from ..kernel.threads import cut, on_threads
from .rasterise import render_motion, resting

INSIDE_RESOLUTION = 64  # pixels along the body's longest side
SMALLEST_INSIDE_PART = 200  # points: fewer are done before another thread wakes up
AWAY = 3  # column of places (k, 4) with the distance [m]
ROUNDING = 1e-9  # by which the nearest vertex may be nearer than it is: part of the distance, and [m]


class Inside(NamedTuple):
    """The points that are inside a body, or near its surface."""

    point: np.ndarray  # (k,) their numbers
    place: np.ndarray  # (k, 3) [m] of the surface, where it is nearest
    triangle: np.ndarray  # (k,) of the body, at that place
    depth: np.ndarray  # (k,) [m] how far away that is


def find_near(x, triangles, points, reach: float) -> Inside:
    """The points (p, 3) nearer than `reach` [m] to a body of vertices x (m, 3) and `triangles` (t, 3), closed or not, on
    whichever side, and the nearest places of its surface.
    """
    x, points = np.ascontiguousarray(x, np.float64), np.ascontiguousarray(points, np.float64)
    triangles = np.ascontiguousarray(triangles, np.int32)
    corners = x[np.unique(triangles)]
    low, high = corners.min(axis=0) - reach, corners.max(axis=0) + reach
    point = np.flatnonzero(((points > low) & (points < high)).all(axis=1))
    places, found = np.empty((len(point), 4)), np.empty(len(point), np.int32)
    if len(point):
        every = np.arange(len(triangles), dtype=np.int32)
        _find_ways_out(x, triangles, every, points[point], places, found, reach)
    met = found >= 0
    return Inside(point[met], places[met, :AWAY], found[met], places[met, AWAY])


def find_inside(x, triangles, points) -> Inside:
    """The points (p, 3) that lie inside a body of vertices x (m, 3) and `triangles` (t, 3), and their nearest ways out.

    Where closed parts of a body overlap, the way leads through the nearest surface of any of them.
    """
    x, points = np.ascontiguousarray(x, np.float64), np.ascontiguousarray(points, np.float64)
    triangles = np.ascontiguousarray(triangles, np.int32)
    joined = topology(triangles, len(x))
    if len(joined.border):
        triangles = sew_borders(triangles, joined.border, x[None])
        joined = topology(triangles, len(x))
    solid = solid_islands(joined, x, triangles)[joined.island] if len(triangles) else np.zeros(0, bool)
    windings = np.zeros(len(points), np.int32)
    if solid.any() and len(points):
        count_windings(x, triangles, solid.astype(np.int32), points, INSIDE_RESOLUTION, windings)
    point = np.flatnonzero(windings > 0)
    places, found = np.empty((len(point), 4)), np.empty(len(point), np.int32)
    if len(point):
        _find_ways_out(x, triangles, np.flatnonzero(solid).astype(np.int32), points[point], places, found)
    return Inside(point, places[:, :AWAY], found, places[:, AWAY])


def _find_ways_out(x, triangles, near, points, places, found, reach=math.inf) -> None:
    corners = np.unique(triangles[near])
    image = render_motion(resting(x), triangles, near, x[corners].min(0), x[corners].max(0), INSIDE_RESOLUTION)
    bound = np.minimum(cKDTree(x[corners]).query(points)[0] * (1.0 + ROUNDING) + ROUNDING, reach)

    def part(_, first, last):
        _nearest(first, last, points, bound, x, triangles, near, image, places, found)

    on_threads(part, cut(len(points), SMALLEST_INSIDE_PART))


@inner
def _pixels(at, reach, low, pixel, count):
    """First and last pixel along an axis within reach; all places of the body lie in the box, so none is missed."""
    first, last = np.floor((at - reach - low) / pixel), np.floor((at + reach - low) / pixel)
    return int(min(max(first, 0.0), count - 1.0)), int(min(max(last, 0.0), count - 1.0))


@inner
def _closest(x, triangles, t, point, place):
    """To `place` the nearest place of triangle t and its distance, if that is less than what stands there."""
    i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    wa, wb, wc, _ = closest_on_triangle(
        point[0], point[1], point[2], x[i, 0], x[i, 1], x[i, 2], x[j, 0], x[j, 1], x[j, 2], x[k, 0], x[k, 1], x[k, 2]
    )
    px, py, pz = (
        wa * x[i, 0] + wb * x[j, 0] + wc * x[k, 0],
        wa * x[i, 1] + wb * x[j, 1] + wc * x[k, 1],
        wa * x[i, 2] + wb * x[j, 2] + wc * x[k, 2],
    )
    away = math.sqrt((px - point[0]) ** 2 + (py - point[1]) ** 2 + (pz - point[2]) ** 2)
    if away < place[AWAY]:
        place[0], place[1], place[2], place[AWAY] = px, py, pz, away
        return True
    return False


@njit
def _nearest(first, last, points, bound, x, triangles, near, image, places, found):
    """The nearest places of points first..last, none of them farther than `bound` [m]."""
    low, pixel, shape, depth = image.low, image.pixel, image.shape, image.depth
    for p in range(first, last):
        places[p, AWAY], found[p] = bound[p], -1
        for d in range(3):
            a, b = (d + 1) % 3, (d + 2) % 3
            column0, column1 = _pixels(points[p, a], places[p, AWAY], low[a], pixel, shape[a])
            row0, row1 = _pixels(points[p, b], places[p, AWAY], low[b], pixel, shape[b])
            for column in range(column0, column1 + 1):
                u = abs(low[a] + (column + 0.5) * pixel - points[p, a]) - 0.5 * pixel
                for row in range(row0, row1 + 1):
                    v = abs(low[b] + (row + 0.5) * pixel - points[p, b]) - 0.5 * pixel
                    room = places[p, AWAY] ** 2 - max(u, 0.0) ** 2 - max(v, 0.0) ** 2
                    at = image.first_pixel[d] + column * shape[b] + row
                    for hit in range(image.pixel_start[at], image.pixel_start[at + 1]):
                        if max(abs(depth[hit] - points[p, d]) - pixel, 0.0) ** 2 > room:
                            continue
                        t = near[image.triangle[hit]]
                        if _closest(x, triangles, t, points[p], places[p]):
                            found[p] = t
                            room = places[p, AWAY] ** 2 - max(u, 0.0) ** 2 - max(v, 0.0) ** 2
