# SPDX-License-Identifier: GPL-3.0-or-later
"""Layered depth images on the CPU: every hit of every triangle, by pixel.

Two ways of covering pixels:

- `render`: pixel centres, watertight. A pixel row cuts a triangle where two of its edges cross the row; a pixel is
  inside if an odd number of the three crossings lies at or below its centre. The crossing of an edge is computed
  from its ends in the order of their indices, so that both triangles of an edge see the same number, and each
  crossing of a closed mesh is counted twice: every pixel has as many entries as exits, whatever the rounding does.
- `render_motion`: conservative. A triangle is noted in every pixel whose square, made larger by the triangle's own
  motion (`ways`), it touches. Contact asks this image: what is not found there is not near.

In the three-directional image (Bargmann 2003, 3.4 and 3.5.2) a triangle is drawn once, along the axis of its
normal's largest component; in a plain image of one direction (2.1, 3.1) all triangles are drawn along it.

Work is cut into chunks of triangles; their hits are counted per pixel, then written where the counts say. The order
does not depend on the chunks, nor on the threads: that of the triangles, in `render` by depth, then triangle.
"""

import math

import numpy as np

from ..jit import njit, uncounted_inner
from ..model import LDI
from ..threads import cut, on_threads

THREE_DIRECTIONS = -1
SMALLEST_PART = 1500  # triangles: fewer are done before another thread wakes up


@uncounted_inner
def _direction(ax, ay, az, bx, by, bz, cx, cy, cz):
    """Axis of the normal's largest component (the first of equals), or -1 for a triangle without area."""
    nx = (by - ay) * (cz - az) - (bz - az) * (cy - ay)
    ny = (bz - az) * (cx - ax) - (bx - ax) * (cz - az)
    nz = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    x, y, z = abs(nx), abs(ny), abs(nz)
    if x == 0.0 and y == 0.0 and z == 0.0:
        return -1
    if x >= y and x >= z:
        return 0
    return 1 if y >= z else 2


@uncounted_inner
def _crossing(x, i, j, a, b, row):
    """Where the edge i j crosses the line of constant b: the same number for both triangles of the edge."""
    if i > j:
        i, j = j, i
    return x[i, a] + (x[j, a] - x[i, a]) * ((row - x[i, b]) / (x[j, b] - x[i, b]))


@njit
def _cover_centres(first, last, x, triangles, only, low, pixel, shape, base, hit_pixel, hit_depth, hit_triangle):
    """Hits of triangles first..last at pixel centres; returns their number, which may exceed the room given."""
    room = len(hit_pixel)
    found = 0
    for t in range(first, last):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        d = only  # a plain image keeps triangles without area too: their edges are their neighbours' edges
        if only < 0:
            d = _direction(x[i, 0], x[i, 1], x[i, 2], x[j, 0], x[j, 1], x[j, 2], x[k, 0], x[k, 1], x[k, 2])
            if d < 0:
                continue
        a, b = (d + 1) % 3, (d + 2) % 3
        bottom = min(x[i, b], x[j, b], x[k, b])
        top = max(x[i, b], x[j, b], x[k, b])
        row0 = int(max(math.ceil((bottom - low[b]) / pixel - 0.5) - 1.0, 0.0))
        row1 = int(min(math.floor((top - low[b]) / pixel - 0.5) + 1.0, shape[b] - 1.0))
        # plane through the triangle as depth = d0 + gu u + gv v
        ju, jv, jd = x[j, a] - x[i, a], x[j, b] - x[i, b], x[j, d] - x[i, d]
        ku, kv, kd = x[k, a] - x[i, a], x[k, b] - x[i, b], x[k, d] - x[i, d]
        area = ju * kv - jv * ku
        gu = (jd * kv - kd * jv) / area if area != 0.0 else 0.0
        gv = (ju * kd - ku * jd) / area if area != 0.0 else 0.0
        near, far = min(x[i, d], x[j, d], x[k, d]), max(x[i, d], x[j, d], x[k, d])
        for row in range(row0, row1 + 1):
            v = low[b] + (row + 0.5) * pixel
            # the two edges that straddle the row; half open, so that a vertex on the row belongs to one side
            left, right, crossings, leftmost_rises = math.inf, -math.inf, 0, False
            for edge in range(3):
                p, q = triangles[t, edge], triangles[t, (edge + 1) % 3]
                below = x[p, b] <= v
                if below == (x[q, b] <= v):
                    continue
                u = _crossing(x, p, q, a, b, v)
                crossings += 1
                if u < left:
                    left, leftmost_rises = u, below
                right = max(right, u)
            if crossings < 2:
                continue
            column0 = int(max(math.ceil((left - low[a]) / pixel - 0.5), 0.0))
            column1 = int(min(math.ceil((right - low[a]) / pixel - 0.5), shape[a] + 0.0))
            for column in range(column0, column1):
                if found < room:
                    depth = x[i, d] + gu * (low[a] + (column + 0.5) * pixel - x[i, a]) + gv * (v - x[i, b])
                    hit_pixel[found] = base[d] + column * shape[b] + row
                    hit_depth[found] = min(max(depth, near), far)
                    # a left edge that rises means a triangle seen from its back: a ray along the axis enters
                    hit_triangle[found] = 2 * t + (1 if leftmost_rises else 0)
                found += 1
    return found


@uncounted_inner
def _measure(triangles, ways, t, low, pixel, corner, growth, normal):
    """Corners of triangle t in pixels from `low`, its growth along each axis, its normal; returns the drawing axis."""
    for axis in range(3):
        growth[axis] = 0.0
        for k in range(3):
            i = triangles[t, k]
            corner[k, axis] = (ways[i, axis] - low[axis]) / pixel
            growth[axis] = max(growth[axis], (abs(ways[i, axis + 3]) + ways[i, 6]) / pixel)
    for axis in range(3):
        a, b = (axis + 1) % 3, (axis + 2) % 3
        normal[axis] = (corner[1, a] - corner[0, a]) * (corner[2, b] - corner[0, b])
        normal[axis] -= (corner[1, b] - corner[0, b]) * (corner[2, a] - corner[0, a])
    d = 0 if abs(normal[0]) >= abs(normal[1]) else 1
    return d if abs(normal[d]) >= abs(normal[2]) else 2


@uncounted_inner
def _squares(corner, growth, axis, size):
    """First and last pixel of 0 to size - 1 along an axis that the triangle's way touches; none if last < first."""
    near = min(corner[0, axis], min(corner[1, axis], corner[2, axis])) - growth[axis]
    far = max(corner[0, axis], max(corner[1, axis], corner[2, axis])) + growth[axis]
    return int(min(max(math.floor(near), 0.0), size)), int(max(min(math.floor(far), size - 1.0), -1.0))


@njit
def _cover_squares(first, last, near, triangles, ways, low, pixel, shape, base, hit_pixel, hit_depth, hit_triangle):
    """Hits of triangles near[first] to near[last - 1] on squares made larger by their motion along each axis."""
    corner, edge, growth, normal = np.empty((3, 3)), np.empty((3, 3)), np.empty(3), np.empty(3)
    found = 0
    for entry in range(first, last):
        t = near[entry]
        d = _measure(triangles, ways, t, low, pixel, corner, growth, normal)
        if normal[d] == 0.0:
            continue
        a, b = (d + 1) % 3, (d + 2) % 3
        column0, column1 = _squares(corner, growth, a, shape[a])
        row0, row1 = _squares(corner, growth, b, shape[b])
        turn = 1.0 if normal[d] > 0.0 else -1.0
        # edge functions, positive inside, lifted by their largest fall within the square round a pixel centre
        for k in range(3):
            n = (k + 1) % 3
            edge[k, 0], edge[k, 1] = turn * (corner[k, b] - corner[n, b]), turn * (corner[n, a] - corner[k, a])
            lift = abs(edge[k, 0]) * (growth[a] + 0.500001) + abs(edge[k, 1]) * (growth[b] + 0.500001)
            edge[k, 2] = lift - edge[k, 0] * corner[k, a] - edge[k, 1] * corner[k, b]
        nearest = min(corner[0, d], min(corner[1, d], corner[2, d]))
        farthest = max(corner[0, d], max(corner[1, d], corner[2, d]))
        small = column0 == column1 or row0 == row1  # the bounding box decides alone: then each pixel of it is touched
        for column in range(column0, column1 + 1):
            u = column + 0.5
            for row in range(row0, row1 + 1):
                v = row + 0.5
                inside = True
                for k in range(3):
                    inside = inside and edge[k, 0] * u + edge[k, 1] * v + edge[k, 2] >= 0.0
                if not (inside or small):
                    continue
                if found < len(hit_pixel):
                    fall = (normal[a] * (u - corner[0, a]) + normal[b] * (v - corner[0, b])) / normal[d]
                    hit_pixel[found] = base[d] + column * shape[b] + row
                    hit_depth[found] = low[d] + pixel * min(max(corner[0, d] - fall, nearest), farthest)
                    hit_triangle[found] = 2 * entry + (1 if turn < 0.0 else 0)
                found += 1
    return found


@njit
def _scatter(counts, hit_pixel, hit_depth, hit_triangle, pixel_start, depth, triangle):
    """Write hits to their pixels, in the order in which they were found. 40 bytes a hit."""
    for c in range(len(counts)):
        for h in range(counts[c]):
            pixel_start[hit_pixel[c, h] + 1] += 1
    for p in range(1, len(pixel_start)):
        pixel_start[p] += pixel_start[p - 1]
    free = pixel_start[:-1].copy()
    for c in range(len(counts)):
        for h in range(counts[c]):
            at = free[hit_pixel[c, h]]
            free[hit_pixel[c, h]] = at + 1
            depth[at], triangle[at] = hit_depth[c, h], hit_triangle[c, h]


def _frame(low, high, resolution: int, only: int):
    """Pixel size, pixels per axis and first pixel of each direction for a box."""
    low, high = np.asarray(low, float), np.asarray(high, float)
    pixel = max(float((high - low).max()) / resolution, 1e-12)
    shape = np.maximum(np.ceil((high - low) / pixel - 1e-9), 1).astype(np.int64)
    base = np.zeros(4, np.int64)
    for d in range(3):
        base[d + 1] = base[d] + (shape[(d + 1) % 3] * shape[(d + 2) % 3] if only in (d, THREE_DIRECTIONS) else 0)
    return low, pixel, shape, base


def _hits(parts: int, room: int):
    """Unsorted hits of each part: pixel, depth, code."""
    return np.empty((parts, room), np.int32), np.empty((parts, room)), np.empty((parts, room), np.int32)


def _image(cover, triangle_count: int, low, pixel, shape, base) -> LDI:
    """Run `cover(first, last, hit_pixel, hit_depth, hit_triangle)` until the hits have room, then put them in their pixels."""
    ranges = cut(triangle_count, SMALLEST_PART)
    room = 12 * triangle_count // len(ranges) + 1024
    hits = _hits(len(ranges), room)
    counts = on_threads(lambda part, *span: cover(*span, *(kind[part] for kind in hits)), ranges)
    if max(counts) > room:
        more = _hits(len(ranges), max(counts))
        on_threads(lambda part, *span: cover(*span, *(kind[part] for kind in more)), ranges)
        hits = more
    pixel_start = np.zeros(base[3] + 1, np.int32)
    depth, code = np.empty(sum(counts)), np.empty(sum(counts), np.int32)
    _scatter(np.array(counts), *hits, pixel_start, depth, code)
    return LDI(low, pixel, shape, base, pixel_start, depth, code >> 1, (code & 1).astype(bool))


def render(x, triangles, low, high, resolution: int, direction: int = THREE_DIRECTIONS) -> LDI:
    """Layered depth image at pixel centres.

    Parameters
    ----------
    x : (m, 3) float64 [m]; triangles : (t, 3) int32
    low, high : (3,) [m] the box; hits beyond its two image axes are cut off, hits beyond it in depth are kept
    resolution : pixels along the box's longest side
    direction : 0, 1, 2 for a plain image of all triangles along that axis, THREE_DIRECTIONS for Bargmann's 3.4
    """
    low, pixel, shape, base = _frame(low, high, resolution, direction)
    triangles = np.ascontiguousarray(triangles, np.int32)

    def cover(first, last, *hits):
        return _cover_centres(first, last, x, triangles, direction, low, pixel, shape, base, *hits)

    image = _image(cover, len(triangles), low, pixel, shape, base)
    pixels = np.repeat(np.arange(base[3]), np.diff(image.pixel_start))
    order = np.lexsort((image.front, image.triangle, image.depth, pixels))
    return image._replace(depth=image.depth[order], triangle=image.triangle[order], front=image.front[order])


def render_motion(ways, triangles, near, low, high, resolution: int) -> LDI:
    """Conservative layered depth image in three directions: a triangle is in every pixel whose square its way touches.

    Parameters
    ----------
    ways : (m, 8) [m] of the vertices, as in `ways.find_ways`
    triangles : (t, 3) int32; near : (k,) int32 numbers of those that are drawn
    low, high, resolution : as in `render`

    Returns
    -------
    LDI : `triangle` is the place in `near`; a pixel's hits are in that order. Depths are those of the triangle's plane at the pixel centre at the middle of the interval, held within the
        triangle's own range
    """
    low, pixel, shape, base = _frame(low, high, resolution, THREE_DIRECTIONS)

    def cover(first, last, *hits):
        return _cover_squares(first, last, near, triangles, ways, low, pixel, shape, base, *hits)

    return _image(cover, len(near), low, pixel, shape, base)
