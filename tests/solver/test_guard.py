# SPDX-License-Identifier: GPL-3.0-or-later
"""The guard: times of impact against the IPC toolkit's, and sheets that are thrown about without sense."""

import ipctk
import numpy as np
import pytest
from crossings import count_in
from taffeta.solver.build import build
from taffeta.solver.contact import cloth as contact
from taffeta.solver.contact import guard
from taffeta.solver.contact.impact import time_of_impact
from taffeta.solver.jit import counted_njit
from taffeta.solver.model import Settings
from test_cloth_contact import sheet

DT = 1 / 240


@counted_njit
def times_of_impact(is_edge_pair, start, end, distance):
    times = np.empty(len(start))
    for k in range(len(start)):
        times[k] = time_of_impact(is_edge_pair, start[k], end[k], 0, 1, 2, 3, distance)
    return times


@pytest.mark.parametrize("is_edge_pair", [False, True])
@pytest.mark.parametrize("speed", [0.2, 1.0, 30.0])
def test_no_impact_is_missed_and_few_are_invented(is_edge_pair, speed):
    """Random pairs on random ways: where tight inclusion (Wang et al. 2021) finds an impact, so do we, and the part of
    the way before ours is free of impacts by its judgement, too.
    """
    rng = np.random.default_rng(5)
    start = rng.uniform(-1.0, 1.0, (2000, 4, 3))
    way = speed * rng.normal(size=(2000, 1, 3)) + speed * rng.normal(size=(2000, 4, 3))
    ours = times_of_impact(is_edge_pair, start, start + way, 10.0)
    ccd = ipctk.TightInclusionCCD()
    query = ccd.edge_edge_ccd if is_edge_pair else ccd.point_triangle_ccd

    def meet(end):
        return np.array([query(*a, *b)[0] for a, b in zip(start, end, strict=True)])

    theirs = meet(start + way)
    assert theirs.sum() > 20
    assert (ours[theirs] < 1.0).all()
    assert not meet(start + ours[:, None, None] * way).any()
    # On ways 30 times as long as the pair is wide advancement runs out of steps and is careful.
    assert speed > 1.0 or ((ours < 1.0) & ~theirs).sum() <= 0.05 * len(start)


def heap(thickness=2e-3):
    """Three sheets of different cells and masses above each other, the uppermost's corner pinned."""
    turn = np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
    garments = [
        sheet("A", 12, 12, 0.02, thickness=thickness),
        sheet("B", 10, 10, 0.025, lambda x: x @ turn + [0.0, 0.0, 0.004], thickness=thickness, mass=0.5),
        sheet("C", 14, 14, 0.015, lambda x: x + [0.003, 0.002, 0.008], thickness=thickness),
    ]
    garments[2].pin[0] = 1.0
    return build(garments, Settings())


@pytest.mark.parametrize("size", [1e-2, 1e-1])
@pytest.mark.parametrize("seed", [0, 1])
def test_nothing_crosses_whatever_the_dynamics_did(size, seed):
    """Every particle is thrown anywhere, substep after substep: at 10 cm the response alone leaves crossings at once."""
    cloth, state = heap()
    rng = np.random.default_rng(seed)
    x, v = state.x.copy(), np.zeros_like(state.x)
    pairs = contact.detect(cloth, x, v, DT, Settings())
    for _ in range(6):
        start, x_prev = x.copy(), x.copy()
        free = cloth.inv_mass[:, None] > 0.0
        x += free * size * rng.normal(size=x.shape) * rng.uniform(size=(len(x), 1)) ** 4
        contact.respond(pairs, None, cloth, start, x, x_prev, DT)
        assert np.isfinite(x).all() and np.array_equal(x[cloth.inv_mass == 0], start[cloth.inv_mass == 0])
        assert count_in(cloth, x, ()) == (0, 0, 0)


def test_zones_keep_momentum_and_what_meets_nothing_keeps_its_way():
    """Two particles fly through a free sheet: with it they go on as one, the sheet's far corner does not notice."""
    cloth, state = build(
        [sheet("A", 6, 6, 0.1), sheet("B", 2, 2, 0.01, lambda x: x + [0.021, 0.033, 0.05])], Settings()
    )
    start = state.x.copy()
    x, x_prev = start.copy(), start.copy()
    x[36:, 2] -= 0.2
    wanted = (cloth.mass[:, None] * (x - start)).sum(axis=0)
    pairs = contact.detect(cloth, start, (x - start) / DT, DT, Settings())
    pairs.elapsed = DT
    contact._guard(pairs, None, None, cloth, start, x, x_prev, DT)
    assert np.abs((cloth.mass[:, None] * (x - x_prev)).sum(axis=0) - wanted).max() < 1e-12 * np.abs(wanted).max()
    assert (x[36:, 2] > 0.0).all() and np.array_equal(x[0], start[0])
    assert count_in(cloth, x, ()) == (0, 0, 0)


def test_a_zone_with_pinned_particles_moves_as_they_do():
    start = np.zeros((4, 3))
    start[:, 0] = range(4)
    way = np.array([[0.0, 0, 1], [0, 0, -1], [0, 0, 3], [0, 0, 5]])
    x, x_prev = start + way, start + 7.0
    zones, fresh = guard.single_zones(start, x), np.ones(4, np.bool_)
    zones.parent[:], zones.share[0] = [0, 0, 0, 3], 0.5
    guard.hold(zones, guard.NO_BODIES, np.array([1.0, 2.0, 0.0, 1.0]), start, x, x_prev, fresh)
    assert x[:, 2].tolist() == [2.0, 1.0, 3.0, 5.0]
    assert fresh.tolist() == [True, True, True, False]
    assert np.array_equal(x_prev[0], start[0]) and np.array_equal(x_prev[3], start[3] + 7.0)
