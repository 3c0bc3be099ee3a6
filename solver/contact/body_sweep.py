# SPDX-License-Identifier: GPL-3.0-or-later
"""Where patches of cloth and bodies get to in a substep, and whether bodies may be there that nobody looked for: loops of
`body_guard`.

Arguments shared by all: `triangles` (t, 3) int32 of cloth and bodies; `start`, `end` (m, 3) [m] where all vertices are
at both ends of the substep.
"""

import math
from typing import NamedTuple

import numpy as np

from ..jit import inner, njit
from ..ldi.cells import BODY, DRAWN
from .touches import OUTSIDE, PINCHED

BEYOND = 2  # of cloth: it leaves the grid of the view


class Members(NamedTuple):
    """The vertices of patches, once each."""

    vertices: np.ndarray  # (k,) int32, patch after patch
    start: np.ndarray  # (p + 1,) int32 first of each patch in `vertices`


@inner
def corners(triangles, t):
    """The corners of a triangle, as numbers that cannot be negative: so that no index has to be looked at for that."""
    t = np.uintp(t)
    return np.uintp(triangles[t, 0]), np.uintp(triangles[t, 1]), np.uintp(triangles[t, 2])


@inner
def side_of(start, end, triangles, t, axis):
    """Least and greatest coordinate [m] of a triangle on its way."""
    a, b, c = corners(triangles, t)
    low = min(min(start[a, axis], start[b, axis], start[c, axis]), min(end[a, axis], end[b, axis], end[c, axis]))
    high = max(max(start[a, axis], start[b, axis], start[c, axis]), max(end[a, axis], end[b, axis], end[c, axis]))
    return low, high


@njit
def gather_kernel(first, order, triangles, seen, members, start):
    """The vertices of each patch, once each; returns how many there are. 30 bytes a corner.
    # outputs: members, start (p + 1,); seen (m,) scratch, all -1
    """
    count = 0
    for patch in range(len(first) - 1):
        start[patch] = count
        for slot in range(first[patch], first[patch + 1]):
            for corner in range(3):
                k = triangles[order[slot], corner]
                if seen[k] != patch:
                    seen[k] = patch
                    members[count] = k
                    count += 1
    start[len(first) - 1] = count
    return count


@njit
def place_kernel(
    start, x, place, between, tangled, motions, vertices, known, all_start, all_end, free, stirred
):  # fmt: skip
    """Note where all is at both ends of the substep, the bodies' `vertices` by their `motions`, and which particles are
    free: those that are tangled, and those inside a body or pinched, but not in a groove that is too narrow, where
    bodies do not overlap. 110 bytes a vertex.
    # outputs: all_start, all_end (m, 3); free (m,); stirred (m,) of what that is new; all, if no substep is known
    """
    count = len(x)
    for i in range(count):
        loose = tangled[i] | ((place[i] != OUTSIDE) & ((place[i] != PINCHED) | (between[i] <= 0.0)))
        same = known & (free[i] == loose)
        for axis in range(3):
            same &= (all_start[i, axis] == start[i, axis]) & (all_end[i, axis] == x[i, axis])
            all_start[i, axis], all_end[i, axis] = start[i, axis], x[i, axis]
        free[i], stirred[i] = loose, not same
    for i in range(count, len(stirred)):
        stirred[i] = not known
        if not known:
            k = vertices[i - count]
            for axis in range(3):
                all_start[i, axis] = motions[k, axis]
                all_end[i, axis] = motions[k, axis] + motions[k, axis + 3]


@njit
def sweep_kernel(members, start, end, free, stirred, distance, rooms, boxes, ways, loose, fresh):
    """Boxes [m] of the ways of patches with something that is `stirred` (m,), grown by half a distance, and how far their
    vertices go; returns whether these patches are in their `rooms` (p, 6). Vertices that are `free` count for nothing.
    70 bytes a vertex of such a patch, 5 of another.
    # outputs: boxes (p, 6), ways (p, 6) [m] least and greatest way along each axis; loose (p,) whether one is free;
    # fresh (p,) whether something is stirred
    """
    stay = True
    for patch in range(len(boxes)):
        fresh[patch] = False
        for slot in range(members.start[patch], members.start[patch + 1]):
            fresh[patch] |= stirred[np.uintp(members.vertices[slot])]
        if not fresh[patch]:
            continue
        loose[patch] = False
        for axis in range(3):
            boxes[patch, axis], boxes[patch, axis + 3] = math.inf, -math.inf
            ways[patch, axis], ways[patch, axis + 3] = math.inf, -math.inf
        for slot in range(members.start[patch], members.start[patch + 1]):
            k = np.uintp(members.vertices[slot])
            if free[k]:
                loose[patch] = True
                continue
            for axis in range(3):
                here, there = start[k, axis], end[k, axis]
                boxes[patch, axis] = min(boxes[patch, axis], min(here, there) - 0.5 * distance)
                boxes[patch, axis + 3] = max(boxes[patch, axis + 3], max(here, there) + 0.5 * distance)
                ways[patch, axis] = min(ways[patch, axis], there - here)
                ways[patch, axis + 3] = max(ways[patch, axis + 3], there - here)
        for axis in range(3):
            stay &= boxes[patch, axis] >= rooms[patch, axis]
            stay &= boxes[patch, axis + 3] <= rooms[patch, axis + 3]
    return stay


@inner
def _cells(box, lag, low, size, axis):
    """First and last cell along an axis, of those in a grid that moves by `lag`, in which a box lies on its way."""
    first = math.floor((box[axis] - max(lag[0, axis], lag[1, axis]) - low[axis]) / size)
    last = math.floor((box[axis + 3] - min(lag[0, axis], lag[1, axis]) - low[axis]) / size)
    return first + 1.0, last + 1.0


@inner
def _cover(box, lag, low, size, shape, flags, mark):
    """Whether a box touches a cell where bodies are and cloth was not expected, or BEYOND; marks these cells if wanted.
    `lag` (2, 3) [m]: how far the grid moves.
    """
    if not box[0] <= box[3]:
        return 0
    i0, i1 = _cells(box, lag, low, size, 0)
    j0, j1 = _cells(box, lag, low, size, 1)
    k0, k1 = _cells(box, lag, low, size, 2)
    if not (i0 >= 1.0 and j0 >= 1.0 and k0 >= 1.0):
        return BEYOND
    if not (i1 <= shape[0] - 2.0 and j1 <= shape[1] - 2.0 and k1 <= shape[2] - 2.0):
        return BEYOND
    found = 0
    for i in range(int(i0), int(i1) + 1):
        for j in range(int(j0), int(j1) + 1):
            row = (i * shape[1] + j) * shape[2]
            for cell in range(row + int(k0), row + int(k1) + 1):
                if flags[cell] & (BODY | DRAWN) == BODY:
                    found = 1
                    if mark:
                        flags[cell] |= DRAWN
    return found


@njit
def cover_kernel(
    patches, count, triangles, start, end, free, distance, boxes, fresh, lag, low, size, shape, flags, box
):  # fmt: skip
    """Whether triangles of the first `count` patches touch cells of a view's grid (`ldi.cells`) where bodies are and
    cloth was not expected, or BEYOND if one leaves the grid. The grid moves along with the view's `bulk`: by lag[0] [m]
    where the substep begins, by lag[1] where it ends. 48 bytes and a few dozen cells a patch.
    # outputs: flags, in which cloth is expected now where it is; box (6,) scratch
    """
    found = 0
    for patch in range(count):
        if not fresh[patch] or _cover(boxes[patch], lag, low, size, shape, flags, False) == 0:
            continue
        for slot in range(patches.start[patch], patches.start[patch + 1]):
            t = patches.triangles[slot]
            if free[triangles[t, 0]] | free[triangles[t, 1]] | free[triangles[t, 2]]:
                continue
            for axis in range(3):
                least, most = side_of(start, end, triangles, t, axis)
                box[axis], box[axis + 3] = least - 0.5 * distance, most + 0.5 * distance
            found = max(found, _cover(box, lag, low, size, shape, flags, True))
    return found
