# SPDX-License-Identifier: GPL-3.0-or-later
"""Layered depth images of moving bodies: conservative. Contact asks this image: what is not found there is not near.

A triangle is noted in every pixel whose square, made larger by the triangle's own motion, it touches. It is
drawn once, along the axis of its normal's largest component (Bargmann 2003, 3.4 and 3.5.2). Images at pixel centres,
with as many entries as exits, are in `centres`; they share how hits come to their pixels.

Work is cut into chunks of triangles; their hits are counted per pixel, then written where the counts say. The order
does not depend on the chunks, nor on the threads: it is that of the triangles.
"""

import math
from typing import NamedTuple

import numpy as np

from ..kernel.jit import counted_njit, inner
from ..kernel.threads import cut, on_threads
from ..model import LDI

THREE_DIRECTIONS = -1  # all three, each triangle along the axis that it faces most
THREE_FULL = -2  # all three, each triangle along all of them
SMALLEST_DRAWN_PART = 1500  # triangles: fewer are done before another thread wakes up
HALF_PIXEL = 0.500001  # and a hair more than rounding takes away
AREA_ROOM = 12  # hits of a triangle for which there is room at first


class Trajectories(NamedTuple):
    """How vertices move through an interval of time, seen from a frame of reference: evenly, along a chord, and how far
    they stray from that.
    """

    middle: np.ndarray  # (m, 3) [m] middle of the chord
    half: np.ndarray  # (m, 3) [m] half the chord
    deviation: np.ndarray  # (m,) [m] largest distance from even motion along the chord
    slope: np.ndarray  # (m,) [m] how fast that distance grows, per length of the interval


class Raster(NamedTuple):
    """The pixels of an image."""

    low: np.ndarray  # (3,) [m] corner of the box
    pixel: float  # [m] side of a pixel
    shape: np.ndarray  # (3,) pixels of the box along each axis
    first_pixel: np.ndarray  # (4,) first pixel of each direction, and the number of pixels


class Hits(NamedTuple):
    """Unsorted hits of triangles: arrays (h,), or (parts, h)."""

    pixel: np.ndarray  # int32
    depth: np.ndarray  # [m]
    code: np.ndarray  # int32 twice the triangle, plus 1 if front


def resting(x: np.ndarray) -> Trajectories:
    """Trajectories of vertices x (m, 3) [m] that stay where they are."""
    nothing = np.zeros(len(x))
    return Trajectories(np.ascontiguousarray(x, np.float64), np.zeros((len(x), 3)), nothing, nothing)


@inner
def _measure(triangles, trajectories, t, raster, corner, growth, normal):
    """Corners of triangle t in pixels from the box's corner, its growth along each axis, its normal; returns the drawing axis."""
    for axis in range(3):
        growth[axis] = 0.0
        for k in range(3):
            i = triangles[t, k]
            corner[k, axis] = (trajectories.middle[i, axis] - raster.low[axis]) / raster.pixel
            reach = abs(trajectories.half[i, axis]) + trajectories.deviation[i]
            growth[axis] = max(growth[axis], reach / raster.pixel)
    for axis in range(3):
        a, b = (axis + 1) % 3, (axis + 2) % 3
        normal[axis] = (corner[1, a] - corner[0, a]) * (corner[2, b] - corner[0, b])
        normal[axis] -= (corner[1, b] - corner[0, b]) * (corner[2, a] - corner[0, a])
    d = 0 if abs(normal[0]) >= abs(normal[1]) else 1
    return d if abs(normal[d]) >= abs(normal[2]) else 2


@inner
def _squares(corner, growth, axis, size):
    """First and last pixel of 0 to size - 1 along an axis that the triangle's way touches; none if last < first."""
    if math.isnan(corner[0, axis] + corner[1, axis] + corner[2, axis] + growth[axis]):
        return 0, -1
    near = min(corner[0, axis], min(corner[1, axis], corner[2, axis])) - growth[axis]
    far = max(corner[0, axis], max(corner[1, axis], corner[2, axis])) + growth[axis]
    return int(min(max(np.floor(near), 0.0), size)), int(max(min(np.floor(far), size - 1.0), -1.0))


@counted_njit
def _cover_squares(first, last, near, triangles, trajectories, raster, hits):
    """Hits of triangles near[first] to near[last - 1] on squares made larger by their motion along each axis."""
    corner, edge, growth, normal = np.empty((3, 3)), np.empty((3, 3)), np.empty(3), np.empty(3)
    low, pixel, shape, first_pixel = raster.low, raster.pixel, raster.shape, raster.first_pixel
    found = 0
    for entry in range(first, last):
        t = near[entry]
        d = _measure(triangles, trajectories, t, raster, corner, growth, normal)
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
            lift = abs(edge[k, 0]) * (growth[a] + HALF_PIXEL) + abs(edge[k, 1]) * (growth[b] + HALF_PIXEL)
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
                if found < len(hits.pixel):
                    fall = (normal[a] * (u - corner[0, a]) + normal[b] * (v - corner[0, b])) / normal[d]
                    hits.pixel[found] = first_pixel[d] + column * shape[b] + row
                    hits.depth[found] = low[d] + pixel * min(max(corner[0, d] - fall, nearest), farthest)
                    hits.code[found] = 2 * entry + (1 if turn < 0.0 else 0)
                found += 1
    return found


@counted_njit
def _scatter(counts, hits, pixel_start, depth, code):
    """Write hits to their pixels, in the order in which they were found. 40 bytes a hit."""
    for c in range(len(counts)):
        for h in range(counts[c]):
            pixel_start[hits.pixel[c, h] + 1] += 1
    for p in range(1, len(pixel_start)):
        pixel_start[p] += pixel_start[p - 1]
    free = pixel_start[:-1].copy()
    for c in range(len(counts)):
        for h in range(counts[c]):
            at = free[hits.pixel[c, h]]
            free[hits.pixel[c, h]] = at + 1
            depth[at], code[at] = hits.depth[c, h], hits.code[c, h]


def lay_out(low, high, resolution: int, only: int) -> Raster:
    """The pixels for a box from low to high (3,) [m]; `only` as in `centres.render`."""
    low, high = np.asarray(low, float), np.asarray(high, float)
    pixel = max(float((high - low).max()) / resolution, 1e-12)
    shape = np.maximum(np.ceil((high - low) / pixel - 1e-9), 1).astype(np.int64)
    first_pixel = np.zeros(4, np.int64)
    for d in range(3):
        first_pixel[d + 1] = first_pixel[d] + (shape[(d + 1) % 3] * shape[(d + 2) % 3] if only < 0 or only == d else 0)
    return Raster(low, pixel, shape, first_pixel)


def collect(cover, triangle_count: int, pixel_count: int):
    """Run `cover(first, last, hits)` until the hits have room, then put them in their pixels.

    Returns
    -------
    (pixel_start, depth, code), of each pixel in the order of the triangles; a code is twice the triangle, plus 1 if front
    """
    ranges = cut(triangle_count, SMALLEST_DRAWN_PART)
    room = AREA_ROOM * triangle_count // len(ranges) + pixel_count + 1024  # memory that is not written costs nothing
    hits, counts = _draw(cover, ranges, room)
    if max(counts) > room:
        hits, counts = _draw(cover, ranges, max(counts))
    return put_in_pixels(np.array(counts), hits, pixel_count)


def _draw(cover, ranges, room: int) -> tuple[Hits, list[int]]:
    """Hits (parts, room), and how many each part has, also beyond the room."""
    shape = len(ranges), room
    hits = Hits(np.empty(shape, np.int32), np.empty(shape), np.empty(shape, np.int32))
    return hits, on_threads(lambda part, *span: cover(*span, Hits(*(kind[part] for kind in hits))), ranges)


def put_in_pixels(counts, hits: Hits, pixel_count: int):
    """(pixel_start, depth, code) of unsorted hits (parts, room), of which each part has so many."""
    pixel_start = np.zeros(pixel_count + 1, np.int32)
    depth, code = np.empty(int(counts.sum())), np.empty(int(counts.sum()), np.int32)
    _scatter(counts, hits, pixel_start, depth, code)
    return pixel_start, depth, code


def render_motion(trajectories: Trajectories, triangles, near, low, high, resolution: int) -> LDI:
    """Conservative layered depth image in three directions: a triangle is in every pixel whose square its way touches.

    Parameters
    ----------
    trajectories : of the m vertices
    triangles : (t, 3) int32; near : (k,) int32 numbers of those that are drawn
    low, high : (3,) [m] the box; resolution : pixels along its longest side

    Returns
    -------
    LDI : `triangle` is the place in `near`; a pixel's hits are in that order. Depths are those of the triangle's plane at the pixel centre at the middle of the interval, held within the
        triangle's own range
    """
    raster = lay_out(low, high, resolution, THREE_DIRECTIONS)

    def cover(first, last, hits):
        return _cover_squares(first, last, near, triangles, trajectories, raster, hits)

    pixel_start, depth, code = collect(cover, len(near), raster.first_pixel[3])
    return LDI(*raster, pixel_start, depth, code >> 1, (code & 1).astype(bool))
