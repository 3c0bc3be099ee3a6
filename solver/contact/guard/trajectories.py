# SPDX-License-Identifier: GPL-3.0-or-later
"""The straight trajectories of cloth and bodies through a substep, of one mesh of both (`scene`).

Arguments shared by all: `triangles` (t, 3) int32 of cloth and bodies.
"""

from typing import NamedTuple

import numpy as np

from ...kernel.jit import inner
from ..body.contacts import OUTSIDE, PINCHED

SMALLEST_PLACED_PART = 512  # vertices that another thread is asked for


class Trajectories(NamedTuple):
    """Where all vertices are at both ends of a substep, those of the cloth first."""

    start: np.ndarray  # (m, 3) [m]
    end: np.ndarray  # (m, 3) [m]
    free: np.ndarray  # (m,) bool: not guarded in this substep


def no_trajectories(count: int) -> Trajectories:
    """Room for those of so many vertices."""
    return Trajectories(*np.empty((2, count, 3)), np.zeros(count, np.bool_))


@inner
def corners(triangles, t):
    """The corners of a triangle, as numbers that cannot be negative: so that no index has to be looked at for that."""
    t = np.uintp(t)
    return np.uintp(triangles[t, 0]), np.uintp(triangles[t, 1]), np.uintp(triangles[t, 2])


@inner
def side_of(trajectories, triangles, t, axis):
    """Least and greatest coordinate [m] of a triangle on its trajectory."""
    start, end = trajectories.start, trajectories.end
    a, b, c = corners(triangles, t)
    low = min(min(start[a, axis], start[b, axis], start[c, axis]), min(end[a, axis], end[b, axis], end[c, axis]))
    high = max(max(start[a, axis], start[b, axis], start[c, axis]), max(end[a, axis], end[b, axis], end[c, axis]))
    return low, high


@inner
def has_free(trajectories, triangles, t):
    """Whether a corner of a triangle is free."""
    free = trajectories.free
    return free[triangles[t, 0]] | free[triangles[t, 1]] | free[triangles[t, 2]]


@inner
def find_ways(first, last, start, x, place, between, tangled, motions, vertices, known, trajectories, stirred):
    """Note where all is at both ends of the substep, the bodies' `vertices` by their `motions`, and which particles are
    free: those that are tangled, and those inside a body or pinched, but not in a groove that is too narrow, where
    bodies do not overlap. 110 bytes a vertex.
    # outputs: trajectories; stirred (m,) of what these are new; all, if no substep is known
    """
    all_start, all_end, free = trajectories.start, trajectories.end, trajectories.free
    count = len(x)
    for i in range(first, min(last, count)):
        loose = tangled[i] | ((place[i] != OUTSIDE) & ((place[i] != PINCHED) | (between[i] <= 0.0)))
        same = known & (free[i] == loose)
        for axis in range(3):
            same &= (all_start[i, axis] == start[i, axis]) & (all_end[i, axis] == x[i, axis])
            all_start[i, axis], all_end[i, axis] = start[i, axis], x[i, axis]
        free[i], stirred[i] = loose, not same
    for i in range(max(first, count), last):
        stirred[i] = not known
        if not known:
            k = vertices[i - count]
            for axis in range(3):
                all_start[i, axis] = motions[k, axis]
                all_end[i, axis] = motions[k, axis] + motions[k, axis + 3]
