# SPDX-License-Identifier: GPL-3.0-or-later
"""Layered depth images on the CPU: every hit of every triangle, by pixel, sorted by depth.

Two ways of covering pixels:

- `render`: pixel centres, watertight. A pixel row cuts a triangle where two of its edges cross the row; a pixel is
  inside if an odd number of the three crossings lies at or below its centre. The crossing of an edge is computed
  from its ends in the order of their indices, so that both triangles of an edge see the same number, and each
  crossing of a closed mesh is counted twice: every pixel has as many entries as exits, whatever the rounding does.
- `render_motion`: conservative. A triangle is noted in every pixel whose square, made larger by the triangle's own
  motion, it touches. Contact asks this image: what is not found there is not near.

In the three-directional image (Bargmann 2003, 3.4 and 3.5.2) a triangle is drawn once, along the axis of its
normal's largest component; in a plain image of one direction (2.1, 3.1) all triangles are drawn along it.

Work is cut into chunks of triangles; each counts its hits per pixel, then writes them where the counts say, and
each pixel sorts its own. The order (depth, then triangle) does not depend on the chunks, nor on the threads.
"""

import math

import numpy as np

from ..jit import inner, njit
from ..model import LDI
from ..threads import cut, on_threads

THREE_DIRECTIONS = -1
SMALLEST_PART = 4000  # triangles: fewer are done before another thread wakes up


@inner
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


@inner
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


@inner
def _bound(x, half, i, j, k, t, ball):
    """Sphere round triangle t at the middle of its motion, its half motion, and how far its corners stray from that."""
    third = 1.0 / 3.0
    cx, cy, cz = (
        third * (x[i, 0] + x[j, 0] + x[k, 0]),
        third * (x[i, 1] + x[j, 1] + x[k, 1]),
        third * (x[i, 2] + x[j, 2] + x[k, 2]),
    )
    hx, hy, hz = (
        third * (half[i, 0] + half[j, 0] + half[k, 0]),
        third * (half[i, 1] + half[j, 1] + half[k, 1]),
        third * (half[i, 2] + half[j, 2] + half[k, 2]),
    )
    radius2, stray2 = 0.0, 0.0
    for p in (i, j, k):
        radius2 = max(radius2, (x[p, 0] - cx) ** 2 + (x[p, 1] - cy) ** 2 + (x[p, 2] - cz) ** 2)
        stray2 = max(stray2, (half[p, 0] - hx) ** 2 + (half[p, 1] - hy) ** 2 + (half[p, 2] - hz) ** 2)
    ball[t, 0], ball[t, 1], ball[t, 2], ball[t, 3], ball[t, 4], ball[t, 5] = cx, cy, cz, hx, hy, hz
    ball[t, 6], ball[t, 7] = math.sqrt(radius2), math.sqrt(stray2)


@njit
def _cover_squares(
    first, last, x, half, triangles, ball, only, low, pixel, shape, base, hit_pixel, hit_depth, hit_triangle
):
    """Hits of triangles first..last on pixel squares made larger by the triangle's motion along each axis.

    Fills `ball` of the triangles that may have hits.
    """
    room = len(hit_pixel)
    found = 0
    for t in range(first, last):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        d = _direction(x[i, 0], x[i, 1], x[i, 2], x[j, 0], x[j, 1], x[j, 2], x[k, 0], x[k, 1], x[k, 2])
        if d < 0:
            continue
        if only >= 0:
            d = only
        a, b = (d + 1) % 3, (d + 2) % 3
        near, far = min(x[i, d], x[j, d], x[k, d]), max(x[i, d], x[j, d], x[k, d])
        growth = max(abs(half[i, d]), abs(half[j, d]), abs(half[k, d]))
        if far + growth < low[d] or (near - growth > low[d] + shape[d] * pixel and only < 0):
            continue
        growth_a = max(abs(half[i, a]), abs(half[j, a]), abs(half[k, a]))
        growth_b = max(abs(half[i, b]), abs(half[j, b]), abs(half[k, b]))
        iu, iv = x[i, a] - low[a], x[i, b] - low[b]
        ju, jv = x[j, a] - low[a], x[j, b] - low[b]
        ku, kv = x[k, a] - low[a], x[k, b] - low[b]
        column0 = math.floor((min(iu, ju, ku) - growth_a) / pixel)
        column1 = math.floor((max(iu, ju, ku) + growth_a) / pixel)
        row0 = math.floor((min(iv, jv, kv) - growth_b) / pixel)
        row1 = math.floor((max(iv, jv, kv) + growth_b) / pixel)
        if column1 < 0.0 or row1 < 0.0 or column0 >= shape[a] or row0 >= shape[b]:
            continue
        _bound(x, half, i, j, k, t, ball)
        c0, c1 = int(max(column0, 0.0)), int(min(column1, shape[a] - 1.0))
        r0, r1 = int(max(row0, 0.0)), int(min(row1, shape[b] - 1.0))
        area = (ju - iu) * (kv - iv) - (jv - iv) * (ku - iu)
        turn = 1.0 if area >= 0.0 else -1.0
        half_u, half_v = 0.5 * pixel + growth_a, 0.5 * pixel + growth_b
        # edge functions, positive inside, lifted by their largest fall within the square round a pixel centre
        e0u, e0v = -turn * (jv - iv), turn * (ju - iu)
        e1u, e1v = -turn * (kv - jv), turn * (ku - ju)
        e2u, e2v = -turn * (iv - kv), turn * (iu - ku)
        slack = 1e-9 * pixel * (abs(e0u) + abs(e0v) + abs(e1u) + abs(e1v) + abs(e2u) + abs(e2v))
        lift0 = abs(e0u) * half_u + abs(e0v) * half_v + slack
        lift1 = abs(e1u) * half_u + abs(e1v) * half_v + slack
        lift2 = abs(e2u) * half_u + abs(e2v) * half_v + slack
        gu, gv = 0.0, 0.0
        if area != 0.0:
            jd, kd = x[j, d] - x[i, d], x[k, d] - x[i, d]
            gu = (jd * (kv - iv) - kd * (jv - iv)) / area
            gv = ((ju - iu) * kd - (ku - iu) * jd) / area
        small = c1 == c0 or r1 == r0  # the bounding box decides alone: then each pixel of it is touched
        code = 2 * t + (1 if area < 0.0 else 0)
        for column in range(c0, c1 + 1):
            u = (column + 0.5) * pixel
            for row in range(r0, r1 + 1):
                v = (row + 0.5) * pixel
                if not small and (
                    e0u * (u - iu) + e0v * (v - iv) + lift0 < 0.0
                    or e1u * (u - ju) + e1v * (v - jv) + lift1 < 0.0
                    or e2u * (u - ku) + e2v * (v - kv) + lift2 < 0.0
                ):
                    continue
                if found < room:
                    hit_pixel[found] = base[d] + column * shape[b] + row
                    hit_depth[found] = min(max(x[i, d] + gu * (u - iu) + gv * (v - iv), near), far)
                    hit_triangle[found] = code
                found += 1
    return found


@njit
def _sort_hits(counts, hit_pixel, hit_depth, hit_triangle, pixel_start, depth, triangle):
    """Write hits to their pixels, each pixel in order of (depth, triangle). Insertion: lists are short."""
    for c in range(len(counts)):
        for h in range(counts[c]):
            pixel_start[hit_pixel[c, h] + 1] += 1
    for p in range(1, len(pixel_start)):
        pixel_start[p] += pixel_start[p - 1]
    filled = np.zeros(len(pixel_start), np.int32)
    for c in range(len(counts)):
        for h in range(counts[c]):
            p = hit_pixel[c, h]
            d, t = hit_depth[c, h], hit_triangle[c, h]
            first = pixel_start[p]
            at = first + filled[p]
            filled[p] += 1
            while at > first and (depth[at - 1] > d or (depth[at - 1] == d and triangle[at - 1] > t)):
                depth[at] = depth[at - 1]
                triangle[at] = triangle[at - 1]
                at -= 1
            depth[at] = d
            triangle[at] = t


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
    """Run `cover(first, last, hit_pixel, hit_depth, hit_triangle)` until the hits have room, then sort them."""
    ranges = cut(triangle_count, SMALLEST_PART)
    room = 8 * triangle_count // len(ranges) + 1024
    hits = _hits(len(ranges), room)
    counts = on_threads(lambda part, *span: cover(*span, *(kind[part] for kind in hits)), ranges)
    if max(counts) > room:
        more = _hits(len(ranges), max(counts))
        on_threads(lambda part, *span: cover(*span, *(kind[part] for kind in more)), ranges)
        hits = more
    pixel_start = np.zeros(base[3] + 1, np.int32)
    depth, code = np.empty(sum(counts)), np.empty(sum(counts), np.int32)
    _sort_hits(np.array(counts), *hits, pixel_start, depth, code)
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

    return _image(cover, len(triangles), low, pixel, shape, base)


def render_motion(x, half, triangles, low, high, resolution: int, direction: int = THREE_DIRECTIONS):
    """Conservative layered depth image: a triangle is in every pixel whose square its way touches.

    Parameters
    ----------
    x : (m, 3) float64 [m] vertices at the middle of an interval; half : (m, 3) [m] motion from there to its end
    triangles, low, high, resolution, direction : as in `render`; in the three-directional image triangles out of the
        box in depth are left out (Bargmann 2003, 7.2)

    Returns
    -------
    (LDI, ball) : depths are those of the triangle's plane at the pixel centre at the middle of the interval, held
        within the triangle's own range; ball (t, 8) as in `query.Surface`, filled for triangles that have hits
    """
    low, pixel, shape, base = _frame(low, high, resolution, direction)
    triangles = np.ascontiguousarray(triangles, np.int32)
    ball = np.empty((len(triangles), 8))

    def cover(first, last, *hits):
        return _cover_squares(first, last, x, half, triangles, ball, direction, low, pixel, shape, base, *hits)

    return _image(cover, len(triangles), low, pixel, shape, base), ball
