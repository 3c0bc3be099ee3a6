# SPDX-License-Identifier: GPL-3.0-or-later
"""Where patches of cloth and bodies get to in a substep, and whether bodies may be there that nobody looked for: loops of
`body_pairs`.
"""

import math
from typing import NamedTuple

import numpy as np

from ...kernel.jit import folded, inner, njit
from ...kernel.shared import share
from ..body.cell_grid import CELL_BODY, CELL_DRAWN
from .trajectories import SMALLEST_PLACED_PART, find_ways, has_free, side_of

SMALLEST_SWEPT_PART = 32  # patches that another thread is asked for
EXPECTED, UNEXPECTED, BEYOND = 0, 1, 2  # of cloth: in a view's grid, where nobody looked for bodies, out of the grid


class PatchBounds(NamedTuple):
    """What is known of patches in a substep."""

    boxes: np.ndarray  # (p, 6) [m] of their trajectories, lowest corner first
    displacements: np.ndarray  # (p, 6) [m] least and greatest of their vertices along each axis
    loose: np.ndarray  # (p,) bool: a vertex is free
    fresh: np.ndarray  # (p,) bool: something is new since this substep was last looked at


class Lag(NamedTuple):
    """How far a view's grid moves along with the view's `bulk`."""

    bulk: np.ndarray  # (3,) [m]
    start: float  # of that until the substep begins
    end: float  # of that until it ends


def no_patch_bounds(count: int) -> PatchBounds:
    """Room for those of so many patches."""
    return PatchBounds(*np.empty((2, count, 6)), *np.empty((2, count), np.bool_))


@inner
def _bound(first, last, members, trajectories, stirred, distance, rooms, bounds, stay):
    """Bounds of patches with something that is `stirred` (m,), their boxes grown by half a distance [m], and whether
    these patches stay in their `rooms` (p, 6). Vertices that are free count for nothing. 70 bytes a vertex of such a
    patch, 5 of another.
    # outputs: bounds; stay (1,), False where one does not
    """
    start, end, free = trajectories.start, trajectories.end, trajectories.free
    boxes, displacements, loose, fresh = bounds.boxes, bounds.displacements, bounds.loose, bounds.fresh
    for patch in range(first, last):
        fresh[patch] = False
        for slot in range(members.start[patch], members.start[patch + 1]):
            fresh[patch] |= stirred[np.uintp(members.vertices[slot])]
        if not fresh[patch]:
            continue
        loose[patch] = False
        for axis in range(3):
            boxes[patch, axis], boxes[patch, axis + 3] = math.inf, -math.inf
            displacements[patch, axis], displacements[patch, axis + 3] = math.inf, -math.inf
        for slot in range(members.start[patch], members.start[patch + 1]):
            k = np.uintp(members.vertices[slot])
            if free[k]:
                loose[patch] = True
                continue
            for axis in range(3):
                here, there = start[k, axis], end[k, axis]
                boxes[patch, axis] = min(boxes[patch, axis], min(here, there) - 0.5 * distance)
                boxes[patch, axis + 3] = max(boxes[patch, axis + 3], max(here, there) + 0.5 * distance)
                displacements[patch, axis] = min(displacements[patch, axis], there - here)
                displacements[patch, axis + 3] = max(displacements[patch, axis + 3], there - here)
        for axis in range(3):
            if not (boxes[patch, axis] >= rooms[patch, axis] and boxes[patch, axis + 3] <= rooms[patch, axis + 3]):
                stay[0] = False


@inner
def _cells_of(boxes, box, lag, cells, axis):
    """First and last cell along an axis, of those in a grid that moves by `lag`, in which a box of these lies on its trajectory."""
    low, size, start, end = cells.low, cells.size, lag.start * lag.bulk[axis], lag.end * lag.bulk[axis]
    # np.floor is a float, as math.floor is none in a kernel: what has flown beyond all integers is BEYOND, too
    first = np.floor((boxes[box, axis] - max(start, end) - low[axis]) / size)
    last = np.floor((boxes[box, axis + 3] - min(start, end) - low[axis]) / size)
    return first + 1.0, last + 1.0


@folded
def _cover(boxes, box, lag, cells, mark):
    """Whether a box of these (k, 6) touches no cell where bodies are and cloth was not expected (EXPECTED), does so
    (UNEXPECTED) or lies BEYOND; cloth is expected in these cells from now on if they are to be marked.
    """
    flags, shape = cells.flags, cells.shape
    if not boxes[box, 0] <= boxes[box, 3]:
        return EXPECTED
    i0, i1 = _cells_of(boxes, box, lag, cells, 0)
    j0, j1 = _cells_of(boxes, box, lag, cells, 1)
    k0, k1 = _cells_of(boxes, box, lag, cells, 2)
    if not (i0 >= 1.0 and j0 >= 1.0 and k0 >= 1.0):
        return BEYOND
    if not (i1 <= shape[0] - 2.0 and j1 <= shape[1] - 2.0 and k1 <= shape[2] - 2.0):
        return BEYOND
    found = EXPECTED
    for i in range(int(i0), int(i1) + 1):
        for j in range(int(j0), int(j1) + 1):
            row = (i * shape[1] + j) * shape[2]
            for cell in range(row + int(k0), row + int(k1) + 1):
                if flags[cell] & (CELL_BODY | CELL_DRAWN) == CELL_BODY:
                    found = UNEXPECTED
                    if mark:
                        flags[cell] |= CELL_DRAWN
    return found


@inner
def _look_for_bodies(first, last, mesh, trajectories, distance, bounds, lag, cells, boxes, found):
    """Whether triangles of the patches first..last touch cells of a view's grid where bodies are and cloth was not
    expected (UNEXPECTED), or one leaves the grid (BEYOND). 48 bytes and a few dozen cells a patch.
    # outputs: found (p,), of which only the greatest counts: a patch whose cells another has marked already is EXPECTED; cells.flags, in which
    cloth is expected now where it is; boxes (p, 6) scratch
    """
    patches, triangles = mesh.patches, mesh.triangles
    for patch in range(first, last):
        found[patch] = EXPECTED
        if not bounds.fresh[patch] or _cover(bounds.boxes, patch, lag, cells, False) == EXPECTED:
            continue
        for slot in range(patches.start[patch], patches.start[patch + 1]):
            t = patches.triangles[slot]
            if has_free(trajectories, triangles, t):
                continue
            for axis in range(3):
                least, most = side_of(trajectories, triangles, t, axis)
                boxes[patch, axis], boxes[patch, axis + 3] = least - 0.5 * distance, most + 0.5 * distance
            found[patch] = max(found[patch], _cover(boxes, patch, lag, cells, True))


@njit
def bounds_kernel(board, ways, mesh, trajectories, stirred, distance, rooms, bounds, stay, lag, cells, asked):
    """Where all is at both ends of a substep, by `ways`, what `find_ways` wants to know of that, and bounds of patches then; returns
    whether bodies may be where nobody looked for them, of the patches of cloth that are `asked`. One kernel, for to call one costs
    as much as to find all this for a few hundred vertices.
    # outputs: trajectories, stirred; bounds, stay (1,), as of `_bound`; cells, asked, as of `_look_for_bodies`
    """
    share(board, find_ways, len(stirred), SMALLEST_PLACED_PART, (*ways, trajectories, stirred))
    about = mesh.members, trajectories, stirred, distance, rooms, bounds, stay
    share(board, _bound, len(rooms), SMALLEST_SWEPT_PART, about)
    boxes, found = asked
    around = mesh, trajectories, distance, bounds, lag, cells, boxes, found
    share(board, _look_for_bodies, len(found), SMALLEST_SWEPT_PART, around)
    most = EXPECTED
    for patch in range(len(found)):
        most = max(most, found[patch])
    return most
