# SPDX-License-Identifier: GPL-3.0-or-later
"""Which triangles of cloth and bodies may meet on their straight ways of a substep: the loops of `body_guard`.

Arguments shared by all: `triangles` (t, 3) int32 of cloth and bodies; `start`, `end` (m, 3) [m] where all vertices are
at both ends of the substep.
"""

import math

import numpy as np

from ..jit import inner, njit
from ..ldi.cells import BODY, DRAWN
from .impact import closest_pair, mix

BEYOND = 2  # of cloth: it leaves the grid of the view
APART, MEETING, ACROSS = 0, 1, 2  # of two triangles: they cannot meet, they may, they cross at the start


@njit
def sweep_kernel(triangles, start, end, free, distance, boxes, normals):
    """Boxes [m] of the ways of triangles, grown by half a distance, and their unit normals at the start; the box of
    one that has a corner which is `free` is nowhere. 180 bytes and 70 flops a triangle.
    # outputs: boxes (t, 6), lowest corner first; normals (t, 3)
    """
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        let = free[a] | free[b] | free[c]
        for axis in range(3):
            low = min(
                min(start[a, axis], start[b, axis], start[c, axis]), min(end[a, axis], end[b, axis], end[c, axis])
            )
            high = max(
                max(start[a, axis], start[b, axis], start[c, axis]), max(end[a, axis], end[b, axis], end[c, axis])
            )
            boxes[t, axis] = math.inf if let else low - 0.5 * distance
            boxes[t, axis + 3] = -math.inf if let else high + 0.5 * distance
        ux, uy, uz = start[b, 0] - start[a, 0], start[b, 1] - start[a, 1], start[b, 2] - start[a, 2]
        wx, wy, wz = start[c, 0] - start[a, 0], start[c, 1] - start[a, 1], start[c, 2] - start[a, 2]
        nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
        size = math.sqrt(nx * nx + ny * ny + nz * nz)
        scale = 1.0 / size if size > 0.0 else 0.0
        normals[t, 0], normals[t, 1], normals[t, 2] = nx * scale, ny * scale, nz * scale


@njit
def cover_kernel(boxes, first_lag, last_lag, low, size, shape, flags):
    """Note that cloth is in all cells of a view's grid (`ldi.cells`) that its boxes touch; returns whether it was not
    expected in one where bodies are, or BEYOND if it leaves the grid.

    The grid moves along with the view's `bulk`: by no less than `first_lag` (3,) [m] and no more than `last_lag`, in
    the substep, axis by axis or the other way round. 48 bytes and a few cells a box.
    # outputs: flags
    """
    found, ends = 0, np.empty(6, np.int64)
    for t in range(len(boxes)):
        if not boxes[t, 0] <= boxes[t, 3]:
            continue
        outside = False
        for axis in range(3):
            lag = max(first_lag[axis], last_lag[axis])
            at = math.floor((boxes[t, axis] - lag - low[axis]) / size)
            lag = min(first_lag[axis], last_lag[axis])
            end = math.floor((boxes[t, axis + 3] - lag - low[axis]) / size)
            outside |= not (at >= 0.0 and end <= shape[axis] - 3.0)
            ends[axis], ends[axis + 3] = (0, 0) if outside else (int(at) + 1, int(end) + 1)
        if outside:
            return BEYOND
        for i in range(ends[0], ends[3] + 1):
            for j in range(ends[1], ends[4] + 1):
                row = (i * shape[1] + j) * shape[2]
                for cell in range(row + ends[2], row + ends[5] + 1):
                    if flags[cell] & (BODY | DRAWN) == BODY:
                        flags[cell] |= DRAWN
                        found = 1
    return found


@inner
def _extent(x, triangles, t, nx, ny, nz):
    """Least and greatest coordinate of a triangle along a direction."""
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    p = x[a, 0] * nx + x[a, 1] * ny + x[a, 2] * nz
    q = x[b, 0] * nx + x[b, 1] * ny + x[b, 2] * nz
    r = x[c, 0] * nx + x[c, 1] * ny + x[c, 2] * nz
    return min(p, q, r), max(p, q, r)


@inner
def _room(start, end, triangles, t, s, nx, ny, nz):
    """Room [m] between triangles t and s along a unit direction: at the start, and in the whole substep. Both move
    evenly, so that the room is the least of linear functions of time and nowhere less than at both ends."""
    low, high = _extent(start, triangles, t, nx, ny, nz)
    least, most = _extent(start, triangles, s, nx, ny, nz)
    above, below = low - most, least - high
    first = max(above, below)
    low, high = _extent(end, triangles, t, nx, ny, nz)
    least, most = _extent(end, triangles, s, nx, ny, nz)
    return first, max(min(above, low - most), min(below, least - high))


@inner
def _connection(x, triangles, t, s):
    """Unit direction of the shortest connection of two triangles; zeros where they touch."""
    best, bx, by, bz = math.inf, 0.0, 0.0, 0.0
    for number in range(15):
        if number < 9:
            k, m = number // 3, number % 3
            a, b = triangles[t, k], triangles[t, (k + 1) % 3]
            c, d = triangles[s, m], triangles[s, (m + 1) % 3]
        elif number < 12:
            a, b, c, d = triangles[t, number - 9], triangles[s, 0], triangles[s, 1], triangles[s, 2]
        else:
            a, b, c, d = triangles[s, number - 12], triangles[t, 0], triangles[t, 1], triangles[t, 2]
        wa, wb, wc, wd = closest_pair(number < 9, x, a, b, c, d)
        nx = mix(x, 0, a, b, c, d, wa, wb, wc, wd)
        ny = mix(x, 1, a, b, c, d, wa, wb, wc, wd)
        nz = mix(x, 2, a, b, c, d, wa, wb, wc, wd)
        square = nx * nx + ny * ny + nz * nz
        if square < best:
            best, bx, by, bz = square, nx, ny, nz
    size = math.sqrt(best)
    return (bx / size, by / size, bz / size) if size > 0.0 else (0.0, 0.0, 0.0)


@njit
def sift_kernel(first, last, pairs, triangles, start, end, normals, distance, state):
    """Which of the pairs first..last of triangles may come closer than a distance in the substep.

    300 bytes of positions and 40 to 80 flops where a normal tells them apart, as nearly always; 1500 otherwise.
    # outputs: state (p,): APART, MEETING, or ACROSS
    """
    for pair in range(first, last):
        t, s = pairs[pair, 0], pairs[pair, 1]
        if _room(start, end, triangles, t, s, normals[t, 0], normals[t, 1], normals[t, 2])[1] > distance:
            state[pair] = APART
            continue
        if _room(start, end, triangles, t, s, normals[s, 0], normals[s, 1], normals[s, 2])[1] > distance:
            state[pair] = APART
            continue
        nx, ny, nz = _connection(start, triangles, t, s)
        before, always = _room(start, end, triangles, t, s, nx, ny, nz)
        if always > distance:
            state[pair] = APART
        else:
            state[pair] = MEETING if before > 0.0 else ACROSS
