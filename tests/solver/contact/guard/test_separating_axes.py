# SPDX-License-Identifier: GPL-3.0-or-later
"""Which triangles may meet, by the IPC toolkit's judgement."""

import ipctk
import numpy as np
import pytest
from taffeta.solver.contact.guard import separating_axes
from taffeta.solver.contact.guard.trajectories import Trajectories

PAIR = np.array([[0, 1, 2], [3, 4, 5]], np.int32)


def states_of(start, end, distance=0.0):
    """What is said of the first triangle and the second, of many (k, 6, 3)."""
    count = len(start)
    triangles = (PAIR[None] + 6 * np.arange(count, dtype=np.int32)[:, None, None]).reshape(-1, 3)
    start, end = start.reshape(-1, 3), end.reshape(-1, 3)
    pairs, state = np.arange(2 * count, dtype=np.int32).reshape(-1, 2), np.empty(count, np.int8)
    given = Trajectories(start, end, np.zeros(len(start), np.bool_))
    separating_axes.triangles_kernel(pairs, triangles, given, distance, state)
    return state


def crosses(x):
    """Whether an edge of one triangle passes through the other (6, 3)."""
    sides = [(x[3 * s + k], x[3 * s + (k + 1) % 3], *x[3 - 3 * s : 6 - 3 * s]) for s in range(2) for k in range(3)]
    return any(ipctk.is_edge_intersecting_triangle(*side) for side in sides)


def meets(start, end):
    """Whether two triangles (6, 3) touch on their straight ways."""
    ccd = ipctk.TightInclusionCCD()
    for k in range(3):
        for m in range(3):
            rows = [k, (k + 1) % 3, 3 + m, 3 + (m + 1) % 3]
            if ccd.edge_edge_ccd(*start[rows], *end[rows])[0]:
                return True
        for rows in ([k, 3, 4, 5], [3 + k, 0, 1, 2]):
            if ccd.point_triangle_ccd(*start[rows], *end[rows])[0]:
                return True
    return False


@pytest.mark.parametrize("size", [0.0, 0.3, 3.0])
def test_no_pair_that_meets_is_let_go_and_most_that_do_not_are(size):
    rng = np.random.default_rng(3)
    start = rng.uniform(-1.0, 1.0, (600, 6, 3)) + 0.2 * rng.normal(size=(600, 1, 3)) * np.repeat([1, -1], 3)[:, None]
    end = start + size * rng.normal(size=(600, 1, 3)) + 0.3 * size * rng.normal(size=(600, 6, 3))
    state = states_of(start, end)
    across = np.array([crosses(x) for x in start])
    assert np.array_equal(state == separating_axes.CROSSING, across) and 50 < across.sum() < 500
    met = np.array([meets(*ways) for ways in zip(start[~across], end[~across], strict=True)])
    assert (state[~across][met] == separating_axes.MEETING).all()
    assert size > 1.0 or (state[~across][~met] == separating_axes.MEETING).sum() <= 0.15 * len(start)
