# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth: where particles and triangles get in the time that a detection looks ahead, and round which vertices the sheet is
too flat all that time to meet itself.
"""

import math
from typing import NamedTuple

import numpy as np

from ...broad_phase.boxes import HIGH, SweptBoxes, empty_boxes, enclose
from ...broad_phase.patches import Ahead, Bounds, patches_of
from ...geometry.adjacency import topology
from ...kernel.jit import folded, inner, njit
from ...kernel.rounding import rounded_down, rounded_up
from ...kernel.rows import mean_of
from ...kernel.shared import shared
from ...model import Cloth

FLAT_COSINE = 0.8  # of the angle between normals round a vertex and their mean up to which the sheet is flat there, and
STEEP_COSINE = 0.5  # where triangles are so large that they do not touch even then
OPPOSITE_EDGES = 0.75  # part of the least height that two edges opposite a vertex are apart at least
SMALLEST_AHEAD_PART = 512  # triangles or particles that another thread is asked for


class Search(NamedTuple):
    """What a detection knew of every particle and triangle, in the frame of the motion of the whole."""

    boxes: SweptBoxes  # (n, 6) float32 [m] where a particle is when detected, and when the time looked ahead is over
    ahead: Ahead  # triangles, boxes the same; `_turn` tells of their three normals
    height: np.ndarray  # (t,) [m] least height of a triangle in that time
    bounds: Bounds | None  # patches of them, None where nobody has asked
    reach: np.ndarray  # (n,) [m] half the contact distance and the slack, with some to spare
    drift: np.ndarray  # (3,) [m/s] motion of the whole


def look_ahead(cloth: Cloth, x: np.ndarray, v: np.ndarray, reach: np.ndarray, horizon: float) -> Search:
    """Where all will be that starts at x (n, 3) [m] with v [m/s], in a time [s]; reach : as in `Search`."""
    count, around = len(cloth.triangles), topology(cloth.triangles, len(x))
    boxes, triangle_boxes = (empty_boxes(each, np.float32) for each in (len(x), count))
    ahead = Ahead(triangle_boxes, np.empty((count, 3, 3), np.float32), np.empty(len(x), np.bool_))
    search = Search(boxes, ahead, np.empty(count), None, reach, mean_of(v))
    ways_kernel(len(x), x, v, search.drift, reach, horizon, search.boxes)
    turns_kernel(count, x, v, cloth.triangles, horizon, search.boxes, ahead, search.height)
    flat_kernel(len(x), around, cloth.triangles, reach, cloth.thickness, ahead, search.height)
    ahead.is_flat[patches_of(cloth).no_sheet] = False
    return search


def renew(search: Search, cloth: Cloth, x: np.ndarray, v: np.ndarray, out: np.ndarray, horizon: float) -> np.ndarray:
    """Look anew where the particles `out` (k,) get, of which the other arrays know more; returns which triangles have one (t,)."""
    changed, seen = np.zeros(len(cloth.triangles), np.bool_), np.zeros(len(x), np.bool_)
    around = topology(cloth.triangles, len(x))
    renew_kernel(out, x, v, around, cloth.triangles, cloth.thickness, horizon, search, changed, seen)
    search.ahead.is_flat[patches_of(cloth).no_sheet] = False
    return changed


@inner
def _square(x, a, b):
    """Squared distance of rows a and b."""
    dx, dy, dz = x[a, 0] - x[b, 0], x[a, 1] - x[b, 1], x[a, 2] - x[b, 2]
    return dx * dx + dy * dy + dz * dz


@inner
def _cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@inner
def _point(normals, triangle, k, nx, ny, nz):
    """Keep a unit vector as the normal number k of a triangle; returns the length it had."""
    size = math.sqrt(nx * nx + ny * ny + nz * nz)
    scale = 1.0 / size if size > 0.0 else 0.0
    normals[triangle, k, 0], normals[triangle, k, 1] = nx * scale, ny * scale
    normals[triangle, k, 2] = nz * scale
    return size


@folded
def _turn(x, v, horizon, triangles, triangle, normals):
    """Fill a triangle's normals; returns the least height [m] that it has meanwhile, seen along any direction in which
    its normals point.

    Its area vector is quadratic in time, and so always a mean of three: that at the start, that at the end and one
    between, with the sides of both (Bernstein's form). No side is ever longer than at the start or at the end.
    """
    a, b, c = triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2]
    ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    wx, wy, wz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    dx, dy, dz = horizon * (v[b, 0] - v[a, 0]), horizon * (v[b, 1] - v[a, 1]), horizon * (v[b, 2] - v[a, 2])
    ex, ey, ez = horizon * (v[c, 0] - v[a, 0]), horizon * (v[c, 1] - v[a, 1]), horizon * (v[c, 2] - v[a, 2])
    nx, ny, nz = _cross(ux, uy, uz, wx, wy, wz)
    longest = max(max(ux * ux + uy * uy + uz * uz, wx * wx + wy * wy + wz * wz), _square(x, b, c))
    area = _point(normals, triangle, 0, nx, ny, nz)
    px, py, pz = _cross(ux, uy, uz, ex, ey, ez)
    qx, qy, qz = _cross(dx, dy, dz, wx, wy, wz)
    nx, ny, nz = nx + 0.5 * (px + qx), ny + 0.5 * (py + qy), nz + 0.5 * (pz + qz)
    area = min(area, _point(normals, triangle, 1, nx, ny, nz))
    ux, uy, uz, wx, wy, wz = ux + dx, uy + dy, uz + dz, wx + ex, wy + ey, wz + ez
    nx, ny, nz = _cross(ux, uy, uz, wx, wy, wz)
    area = min(area, _point(normals, triangle, 2, nx, ny, nz))
    longest = max(longest, max(ux * ux + uy * uy + uz * uz, wx * wx + wy * wy + wz * wz))
    longest = max(longest, (wx - ux) ** 2 + (wy - uy) ** 2 + (wz - uz) ** 2)
    return area / math.sqrt(longest) if area > 0.0 else 0.0


@inner
def _go_ahead(i, x, v, drift, reach, horizon, boxes):
    """Boxes of a particle now and when the time looked ahead is over, rounded outwards. What moves by the `drift` (3,) [m/s] of
    the whole stays. # outputs: boxes
    """
    for axis in range(3):
        here = x[i, axis]
        there = here + horizon * (v[i, axis] - drift[axis])
        for box, middle in ((boxes.start, here), (boxes.end, there)):
            box[i, axis], box[i, axis + HIGH] = rounded_down(middle - reach[i]), rounded_up(middle + reach[i])


@folded
def _flatten(vertex, around, triangles, reach, thickness, ahead, height):
    """Find out whether the sheet is too flat round a vertex to meet itself. around : `geometry.adjacency.Topology` of the triangles

    If all normals round a vertex stay within 37 degrees of their mean (`FLAT_COSINE`), the triangles round it lie side
    by side when seen along it, so corners and edges that do not touch each other are nearly a triangle's height apart
    and would first have to fold. Up to 60 degrees (`STEEP_COSINE`) that holds too, if what is left of the height keeps them from
    touching. 100 bytes and 50 flops a triangle round a vertex. # outputs: ahead.is_flat
    """
    start, beside, normals, mx, my, mz = around.vertex_start, around.vertex_triangles, ahead.normals, 0.0, 0.0, 0.0
    for slot in range(start[vertex], start[vertex + 1]):
        triangle = beside[slot]
        mx, my, mz = mx + normals[triangle, 0, 0], my + normals[triangle, 0, 1], mz + normals[triangle, 0, 2]
    size, is_flat = math.sqrt(mx * mx + my * my + mz * mz), True
    for slot in range(start[vertex], start[vertex + 1]):
        triangle = beside[slot]
        a, b, c = triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2]
        thick = max(thickness[a], max(thickness[b], thickness[c]))
        slack = 2.0 * max(reach[a], max(reach[b], reach[c])) - min(thickness[a], min(thickness[b], thickness[c]))
        least = math.inf
        for k in range(3):
            along = normals[triangle, k, 0] * mx + normals[triangle, k, 1] * my + normals[triangle, k, 2] * mz
            least = min(least, along)
        side = height[triangle] * least  # times `size`: the height seen along the mean normal
        flat = least > FLAT_COSINE * size and FLAT_COSINE * height[triangle] > slack
        flat |= least > STEEP_COSINE * size and OPPOSITE_EDGES * side > slack * size and side > (slack + thick) * size
        is_flat &= flat
    ahead.is_flat[vertex] = is_flat


@folded
def _turn_ahead(triangle, x, v, triangles, horizon, boxes, ahead, height):
    """Boxes of a triangle, and how it turns in the time that is looked ahead. # outputs: ahead.boxes, ahead.normals, height (t,)"""
    height[triangle] = _turn(x, v, horizon, triangles, triangle, ahead.normals)
    enclose(boxes.start, ahead.boxes.start, triangles, triangle)
    enclose(boxes.end, ahead.boxes.end, triangles, triangle)


@shared(SMALLEST_AHEAD_PART)
def ways_kernel(first, last, x, v, drift, reach, horizon, boxes):
    """`_go_ahead` of the particles first..last."""
    for i in range(np.uintp(first), np.uintp(last)):
        _go_ahead(i, x, v, drift, reach, horizon, boxes)


@shared(SMALLEST_AHEAD_PART)
def turns_kernel(first, last, x, v, triangles, horizon, boxes, ahead, height):
    """`_turn_ahead` of the triangles first..last."""
    for triangle in range(first, last):
        _turn_ahead(triangle, x, v, triangles, horizon, boxes, ahead, height)


@shared(SMALLEST_AHEAD_PART)
def flat_kernel(first, last, around, triangles, reach, thickness, ahead, height):
    """`_flatten` of the vertices first..last."""
    for vertex in range(first, last):
        _flatten(vertex, around, triangles, reach, thickness, ahead, height)


@njit
def renew_kernel(out, x, v, around, triangles, thickness, horizon, search, changed, seen):
    """The same for the particles `out` (k,), their triangles, and the vertices of these.
    # outputs: search; changed (t,), all False before: the triangles; seen (n,) scratch, all False
    """
    start, beside = around.vertex_start, around.vertex_triangles
    for i in out:
        _go_ahead(i, x, v, search.drift, search.reach, horizon, search.boxes)
    for i in out:
        for slot in range(start[i], start[i + 1]):
            triangle = beside[slot]
            if not changed[triangle]:
                changed[triangle] = True
                _turn_ahead(triangle, x, v, triangles, horizon, search.boxes, search.ahead, search.height)
    for i in out:
        for slot in range(start[i], start[i + 1]):
            for corner in range(3):
                vertex = triangles[beside[slot], corner]
                if not seen[vertex]:
                    seen[vertex] = True
                    _flatten(vertex, around, triangles, search.reach, thickness, search.ahead, search.height)
