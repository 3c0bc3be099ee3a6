# SPDX-License-Identifier: GPL-3.0-or-later
"""Layered depth images at pixel centres: every hit of every triangle, by pixel and depth (Bargmann 2003, 2.1 to 3.4).

Watertight. A line of pixels cuts a triangle where two of its edges cross the line; a pixel is inside if its centre
lies at or above the lower crossing and below the upper one. The crossing of an edge is computed from its ends in the
order of their coordinates, so that both triangles of an edge see the same number, and each crossing of a closed mesh
is counted twice: every pixel has as many entries as exits, whatever the rounding does.

Seen from the pixels, centres lie at whole numbers: which lines and pixels a triangle covers are questions of `ceil`.
`gpu_ldi` asks the same questions on the graphics card.
"""

import math

import numpy as np

from ..kernel.jit import inner, njit
from ..model import LDI
from .rasterise import THREE_DIRECTIONS, THREE_FULL, Hits, Raster, collect, lay_out, put_in_pixels

__all__ = ["THREE_DIRECTIONS", "THREE_FULL", "find_axes", "finish", "render"]


@inner
def _axis(x, i, j, k):
    """Axis of the normal's largest component (the first of equals), or -1 for a triangle without area."""
    px, py, pz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    qx, qy, qz = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
    u, v, w = abs(py * qz - pz * qy), abs(pz * qx - px * qz), abs(px * qy - py * qx)
    if u >= v and u >= w:
        return 0 if u > 0.0 else -1
    return 1 if v >= w else 2


@njit
def find_axes(x, triangles, axes):
    """Along which axis each triangle is drawn in the three-directional image; -1 if it has no area."""
    for t in range(len(triangles)):
        axes[t] = _axis(x, triangles[t, 0], triangles[t, 1], triangles[t, 2])


@inner
def _cross(u, pa, pb, qa, qb):
    """Where the edge p q crosses the line u: the same number for both triangles of the edge."""
    if pa > qa:
        pa, pb, qa, qb = qa, qb, pa, pb
    return pb + (qb - pb) * ((u - pa) / (qa - pa))


@inner
def _span(p, q, r, count):
    """First whole number, of 0 to count, from the least of three coordinates on, and the first from the greatest on; twice
    the same where one of them is not finite."""
    if not math.isfinite(p + q + r):
        return 0, 0
    # np.ceil is a float, as math.ceil is none in a kernel: it may be beyond all integers
    return int(min(max(np.ceil(min(p, q, r)), 0.0), count)), int(max(min(np.ceil(max(p, q, r)), count), 0.0))


@inner
def _draw(i, j, k, t, lines, first_pixel, rows, found, hits):
    """Add the hits of triangle t on `lines` (first, one after the last) to the `found` ones; returns how many there are.

    Its corners i, j, k have pixel coordinates a (across the lines), b (along them) and depth z; a line has `rows` pixels.
    """
    (ia, ib, iz), (ja, jb, jz), (ka, kb, kz) = i, j, k
    area = (ja - ia) * (kb - ib) - (jb - ib) * (ka - ia)
    slope_a, slope_b = 0.0, 0.0
    if area != 0.0:
        slope_a = ((jz - iz) * (kb - ib) - (kz - iz) * (jb - ib)) / area
        slope_b = ((ja - ia) * (kz - iz) - (ka - ia) * (jz - iz)) / area
    near, far = min(iz, jz, kz), max(iz, jz, kz)
    line, last = lines
    for column in range(line, last):
        u = float(column)
        # one corner is on its own side of the line (half open: on the line is below): the edges to and from it cross
        if (ia <= u) == (ja <= u):
            below, to, out = ka <= u, _cross(u, ja, jb, ka, kb), _cross(u, ka, kb, ia, ib)
        elif (ja <= u) == (ka <= u):
            below, to, out = ia <= u, _cross(u, ka, kb, ia, ib), _cross(u, ia, ib, ja, jb)
        else:
            below, to, out = ja <= u, _cross(u, ia, ib, ja, jb), _cross(u, ja, jb, ka, kb)
        row0, row1 = _span(to, out, out, rows)
        # seen from its front, the lower edge runs against the order of the lines
        code = 2 * t + (1 if below == (to < out) else 0)
        for row in range(row0, row1):
            if found < len(hits.pixel):
                hits.pixel[found] = first_pixel + column * rows + row
                hits.depth[found] = min(max(iz + slope_a * (u - ia) + slope_b * (row - ib), near), far)
                hits.code[found] = code
            found += 1
    return found


@njit
def _cover(first, last, x, triangles, only, raster, hits):
    """Hits of triangles first..last at pixel centres; returns their number, which may exceed the room given."""
    low, shape, scale, found = raster.low, raster.shape, 1.0 / raster.pixel, 0
    for t in range(first, last):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        axis, end = only, only + 1  # a plain image keeps triangles without area: their edges are others' edges
        if only == THREE_FULL:
            axis, end = 0, 3
        elif only < 0:
            axis = _axis(x, i, j, k)
            end = axis + (axis >= 0)
        for d in range(axis, end):
            a, b = (d + 1) % 3, (d + 2) % 3
            low_a, low_b = low[a], low[b]
            ia, ja, ka = (x[i, a] - low_a) * scale, (x[j, a] - low_a) * scale, (x[k, a] - low_a) * scale
            lines = _span(ia - 0.5, ja - 0.5, ka - 0.5, shape[a])
            if lines[0] >= lines[1]:
                continue
            ib, jb, kb = (x[i, b] - low_b) * scale, (x[j, b] - low_b) * scale, (x[k, b] - low_b) * scale
            rows = _span(ib - 0.5, jb - 0.5, kb - 0.5, shape[b])
            if rows[0] < rows[1]:
                corners = (ia - 0.5, ib - 0.5, x[i, d]), (ja - 0.5, jb - 0.5, x[j, d]), (ka - 0.5, kb - 0.5, x[k, d])
                found = _draw(*corners, t, lines, raster.first_pixel[d], shape[b], found, hits)
    return found


@njit
def _sort(pixel_start, depth, code, triangle, front):
    """Order each pixel's hits by depth, then triangle (few in each, and nearly in order: by insertion); unpack codes."""
    for p in range(len(pixel_start) - 1):
        for h in range(pixel_start[p], pixel_start[p + 1]):
            z, c, at = depth[h], code[h], h
            while at > pixel_start[p] and (depth[at - 1] > z or (depth[at - 1] == z and code[at - 1] > c)):
                depth[at], code[at] = depth[at - 1], code[at - 1]
                at -= 1
            depth[at], code[at] = z, c
    for h in range(len(code)):
        triangle[h], front[h] = code[h] >> 1, code[h] & 1


def render(x, triangles, low, high, resolution: int, direction: int = THREE_DIRECTIONS) -> LDI:
    """Layered depth image at pixel centres.

    Parameters
    ----------
    x : (m, 3) float64 [m]; triangles : (t, 3) int32
    low, high : (3,) [m] the box; hits beyond its two image axes are cut off, hits beyond it in depth are kept
    resolution : pixels along the box's longest side
    direction : 0, 1, 2 for a plain image of all triangles along that axis; THREE_DIRECTIONS for one image in which each
        triangle is drawn once (Bargmann 2003, 3.4); THREE_FULL for three plain images (3.3)
    """
    raster, triangles = lay_out(low, high, resolution, direction), np.ascontiguousarray(triangles, np.int32)

    def cover(first, last, hits):
        return _cover(first, last, x, triangles, direction, raster, hits)

    return _image(raster, *collect(cover, len(triangles), raster.first_pixel[3]))


TEXEL_PIXEL, TEXEL_DEPTH, TEXEL_CODE = 0, 1, 2  # columns of the graphics card's hits


@njit
def _unpack(texels, raster, hits):
    first_pixel = raster.first_pixel
    for h in range(len(texels)):
        hits.pixel[0, h], hits.code[0, h] = int(texels[h, TEXEL_PIXEL]), int(texels[h, TEXEL_CODE])
        d = 0 if hits.pixel[0, h] < first_pixel[1] else (1 if hits.pixel[0, h] < first_pixel[2] else 2)
        hits.depth[0, h] = raster.low[d] + (texels[h, TEXEL_DEPTH] + 0.5) * raster.pixel


def finish(raster: Raster, texels) -> LDI:
    """The image of the graphics card's hits, in no order: pixels from `lay_out`, texels (h, 4) float32.

    Of each hit its pixel, its depth in pixels from half a pixel before the box, and twice its triangle, plus 1 if front.
    """
    count = len(texels)
    hits = Hits(np.empty((1, count), np.int32), np.empty((1, count)), np.empty((1, count), np.int32))
    _unpack(texels, raster, hits)
    return _image(raster, *put_in_pixels(np.array([count]), hits, raster.first_pixel[3]))


def _image(raster: Raster, pixel_start, depth, code) -> LDI:
    triangle, front = np.empty(len(code), np.int32), np.empty(len(code), np.bool_)
    _sort(pixel_start, depth, code, triangle, front)
    return LDI(*raster, pixel_start, depth, triangle, front)
