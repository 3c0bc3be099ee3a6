# SPDX-License-Identifier: GPL-3.0-or-later
"""Times of impact against the IPC toolkit's."""

import ipctk
import numpy as np
import pytest
from taffeta.solver.geometry.ccd import ROUNDING_GAP, time_of_impact
from taffeta.solver.kernel.jit import counted_njit


@counted_njit
def times_of_impact(is_edge_pair, start, end, distance):
    times = np.empty(len(start))
    for k in range(len(start)):
        times[k] = time_of_impact(is_edge_pair, start[k], end[k], 0, 1, 2, 3, distance, ROUNDING_GAP)
    return times


@pytest.mark.parametrize("is_edge_pair", [False, True])
@pytest.mark.parametrize("speed", [0.2, 1.0, pytest.param(30.0, marks=pytest.mark.once)])
def test_no_impact_is_missed_and_few_are_invented(is_edge_pair, speed):
    """Random pairs on random ways: where tight inclusion (Wang et al. 2021) finds an impact, so do we, and the part of
    the way before ours is free of impacts by its judgement, too.
    """
    rng, count = np.random.default_rng(5), 2000 if speed <= 1.0 else 800
    start = rng.uniform(-1.0, 1.0, (count, 4, 3))
    way = speed * rng.normal(size=(count, 1, 3)) + speed * rng.normal(size=(count, 4, 3))
    ours = times_of_impact(is_edge_pair, start, start + way, 10.0)
    ccd = ipctk.TightInclusionCCD()
    query = ccd.edge_edge_ccd if is_edge_pair else ccd.point_triangle_ccd

    def meet(end):
        return np.array([query(*a, *b)[0] for a, b in zip(start, end, strict=True)])

    theirs = meet(start + way)
    assert theirs.sum() > 10
    assert (ours[theirs] < 1.0).all()
    assert not meet(start + ours[:, None, None] * way).any()
    # On ways 30 times as long as the pair is wide advancement runs out of steps and is careful.
    assert speed > 1.0 or ((ours < 1.0) & ~theirs).sum() <= 0.05 * len(start)
