# SPDX-License-Identifier: GPL-3.0-or-later
"""Layered depth images of moving bodies: conservative. Contact asks this image: what is not found there is not near.

A triangle is noted in every pixel whose square, made larger by the triangle's own motion (`ways`), it touches. It is
drawn once, along the axis of its normal's largest component (Bargmann 2003, 3.4 and 3.5.2). Images at pixel centres,
with as many entries as exits, are in `centres`; they share how hits come to their pixels.

Work is cut into chunks of triangles; their hits are counted per pixel, then written where the counts say. The order
does not depend on the chunks, nor on the threads: it is that of the triangles.
"""

import math

import numpy as np

from ..jit import counted_njit, inner
from ..model import LDI
from ..threads import cut, on_threads

THREE_DIRECTIONS = -1  # all three, each triangle along the axis that it faces most
THREE_FULL = -2  # all three, each triangle along all of them
SMALLEST_PART = 1500  # triangles: fewer are done before another thread wakes up


@inner
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


@inner
def _squares(corner, growth, axis, size):
    """First and last pixel of 0 to size - 1 along an axis that the triangle's way touches; none if last < first."""
    near = min(corner[0, axis], min(corner[1, axis], corner[2, axis])) - growth[axis]
    far = max(corner[0, axis], max(corner[1, axis], corner[2, axis])) + growth[axis]
    return int(min(max(math.floor(near), 0.0), size)), int(max(min(math.floor(far), size - 1.0), -1.0))


@counted_njit
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


@counted_njit
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


def lay_out(low, high, resolution: int, only: int):
    """Low corner, pixel size, pixels per axis and first pixel of each direction for a box; `only` as in `centres.render`."""
    low, high = np.asarray(low, float), np.asarray(high, float)
    pixel = max(float((high - low).max()) / resolution, 1e-12)
    shape = np.maximum(np.ceil((high - low) / pixel - 1e-9), 1).astype(np.int64)
    base = np.zeros(4, np.int64)
    for d in range(3):
        base[d + 1] = base[d] + (shape[(d + 1) % 3] * shape[(d + 2) % 3] if only < 0 or only == d else 0)
    return low, pixel, shape, base


def _hits(parts: int, room: int):
    """Unsorted hits of each part: pixel, depth, code."""
    return np.empty((parts, room), np.int32), np.empty((parts, room)), np.empty((parts, room), np.int32)


def collect(cover, triangle_count: int, pixel_count: int):
    """Run `cover(first, last, hit_pixel, hit_depth, hit_code)` until the hits have room, then put them in their pixels.

    Returns
    -------
    (pixel_start, depth, code), of each pixel in the order of the triangles; a code is twice the triangle, plus 1 if front
    """
    ranges = cut(triangle_count, SMALLEST_PART)
    room = 12 * triangle_count // len(ranges) + pixel_count + 1024  # memory that is not written costs nothing
    hits = _hits(len(ranges), room)
    counts = on_threads(lambda part, *span: cover(*span, *(kind[part] for kind in hits)), ranges)
    if max(counts) > room:
        more = _hits(len(ranges), max(counts))
        on_threads(lambda part, *span: cover(*span, *(kind[part] for kind in more)), ranges)
        hits = more
    return put_in_pixels(np.array(counts), hits, pixel_count)


def put_in_pixels(counts, hits, pixel_count: int):
    """(pixel_start, depth, code) of unsorted hits: arrays (parts, room) of pixel, depth and code."""
    pixel_start = np.zeros(pixel_count + 1, np.int32)
    depth, code = np.empty(int(counts.sum())), np.empty(int(counts.sum()), np.int32)
    _scatter(counts, *hits, pixel_start, depth, code)
    return pixel_start, depth, code


def render_motion(ways, triangles, near, low, high, resolution: int) -> LDI:
    """Conservative layered depth image in three directions: a triangle is in every pixel whose square its way touches.

    Parameters
    ----------
    ways : (m, 8) [m] of the vertices, as in `ways.find_ways`
    triangles : (t, 3) int32; near : (k,) int32 numbers of those that are drawn
    low, high : (3,) [m] the box; resolution : pixels along its longest side

    Returns
    -------
    LDI : `triangle` is the place in `near`; a pixel's hits are in that order. Depths are those of the triangle's plane at the pixel centre at the middle of the interval, held within the
        triangle's own range
    """
    low, pixel, shape, base = lay_out(low, high, resolution, THREE_DIRECTIONS)

    def cover(first, last, *hits):
        return _cover_squares(first, last, near, triangles, ways, low, pixel, shape, base, *hits)

    pixel_start, depth, code = collect(cover, len(near), base[3])
    return LDI(low, pixel, shape, base, pixel_start, depth, code >> 1, (code & 1).astype(bool))
