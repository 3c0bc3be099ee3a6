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
def sweep_kernel(patches, triangles, start, end, free, distance, rooms, boxes, patch_boxes):
    """Boxes [m] of the ways of triangles, grown by half a distance, and of patches of them; returns whether all patches
    are in their `rooms` (p, 6). The box of a triangle that has a corner which is `free` is nowhere. 180 bytes a triangle.
    # outputs: boxes (t, 6), patch_boxes (p, 6), lowest corner first
    """
    stay = True
    for patch in range(len(patch_boxes)):
        for axis in range(3):
            patch_boxes[patch, axis], patch_boxes[patch, axis + 3] = math.inf, -math.inf
        for slot in range(patches.start[patch], patches.start[patch + 1]):
            t = patches.triangles[slot]
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            let = free[a] | free[b] | free[c]
            for axis in range(3):
                low = min(start[a, axis], start[b, axis], start[c, axis])
                low = min(low, end[a, axis], end[b, axis], end[c, axis]) - 0.5 * distance
                high = max(start[a, axis], start[b, axis], start[c, axis])
                high = max(high, end[a, axis], end[b, axis], end[c, axis]) + 0.5 * distance
                low, high = (math.inf, -math.inf) if let else (low, high)
                boxes[t, axis], boxes[t, axis + 3] = low, high
                patch_boxes[patch, axis] = min(patch_boxes[patch, axis], low)
                patch_boxes[patch, axis + 3] = max(patch_boxes[patch, axis + 3], high)
        for axis in range(3):
            stay &= patch_boxes[patch, axis] >= rooms[patch, axis]
            stay &= patch_boxes[patch, axis + 3] <= rooms[patch, axis + 3]
    return stay


@inner
def _cover(boxes, k, lag, low, size, shape, flags, mark):
    """Whether box k touches a cell where bodies are and cloth was not expected, or BEYOND; marks these cells if wanted.
    `lag` (2, 3) [m]: how far the grid moves.
    """
    if not boxes[k, 0] <= boxes[k, 3]:
        return 0
    ends = np.empty(6, np.int64)
    for axis in range(3):
        first = math.floor((boxes[k, axis] - max(lag[0, axis], lag[1, axis]) - low[axis]) / size)
        last = math.floor((boxes[k, axis + 3] - min(lag[0, axis], lag[1, axis]) - low[axis]) / size)
        if not (first >= 0.0 and last <= shape[axis] - 3.0):
            return BEYOND
        ends[axis], ends[axis + 3] = int(first) + 1, int(last) + 1
    found = 0
    for i in range(ends[0], ends[3] + 1):
        for j in range(ends[1], ends[4] + 1):
            row = (i * shape[1] + j) * shape[2]
            for cell in range(row + ends[2], row + ends[5] + 1):
                if flags[cell] & (BODY | DRAWN) == BODY:
                    found = 1
                    if mark:
                        flags[cell] |= DRAWN
    return found


@njit
def cover_kernel(patches, count, patch_boxes, boxes, lag, low, size, shape, flags):
    """Whether triangles of the first `count` patches touch cells of a view's grid (`ldi.cells`) where bodies are and
    cloth was not expected, or BEYOND if one leaves the grid. The grid moves along with the view's `bulk`: by lag[0] [m]
    where the substep begins, by lag[1] where it ends. 48 bytes and a few dozen cells a patch.
    # outputs: flags, in which cloth is expected now where it is
    """
    found = 0
    for patch in range(count):
        if _cover(patch_boxes, patch, lag, low, size, shape, flags, False) == 0:
            continue
        for slot in range(patches.start[patch], patches.start[patch + 1]):
            found = max(found, _cover(boxes, patches.triangles[slot], lag, low, size, shape, flags, True))
    return found


@inner
def _normal(x, triangles, t):
    """Unit normal of a triangle; zeros if it has no area."""
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    wx, wy, wz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
    size = math.sqrt(nx * nx + ny * ny + nz * nz)
    return (nx / size, ny / size, nz / size) if size > 0.0 else (0.0, 0.0, 0.0)


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
    if first <= 0.0:
        return first, first
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
def sift_kernel(first, last, pairs, triangles, start, end, distance, state):
    """Which of the pairs first..last of triangles may come closer than a distance in the substep.

    300 bytes of positions and 100 to 200 flops where a normal tells them apart, as nearly always; 1500 otherwise.
    # outputs: state (p,): APART, MEETING, or ACROSS
    """
    for pair in range(first, last):
        t, s = pairs[pair, 0], pairs[pair, 1]
        before, always, turn = 0.0, 0.0, 0
        while turn < 3 and not always > distance:
            if turn == 0:
                nx, ny, nz = _normal(start, triangles, t)
            elif turn == 1:
                nx, ny, nz = _normal(start, triangles, s)
            else:
                nx, ny, nz = _connection(start, triangles, t, s)
            before, always = _room(start, end, triangles, t, s, nx, ny, nz)
            turn += 1
        state[pair] = APART if always > distance else MEETING if before > 0.0 else ACROSS
