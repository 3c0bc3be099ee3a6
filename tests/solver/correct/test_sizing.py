# SPDX-License-Identifier: GPL-3.0-or-later
"""How long edges are to be, against paper: an angle over the curvature, a fold for what is compressed, graded, so many."""

import numpy as np
import pytest
from sheets import sheet
from taffeta.solver.correct import sizing
from taffeta.solver.geometry.curvature import cells

EDGE = 0.01


@pytest.fixture(scope="module")
def flat():
    return sheet("Sheet", 61, 31, EDGE)


def rolled(x, radius):
    """A sheet whose half beyond x = 0 is rolled up."""
    u = np.maximum(x[:, 0], 0.0) / radius
    return np.column_stack((np.minimum(x[:, 0], 0.0) + radius * np.sin(u), x[:, 1], radius * (1.0 - np.cos(u))))


def predicted(length, flat):
    return (2.0 / np.sqrt(3.0) * cells(flat.x, flat.triangles) / length**2).sum()


def test_what_is_bent_needs_its_curvature(flat):
    mesh = sizing.measured(flat.x, flat.triangles)
    need = sizing.bent(rolled(flat.x, 0.2), mesh).reshape(61, 31)[:, 1:-1]
    assert need[35:60] == pytest.approx(5.0, rel=0.003) and np.abs(need[1:28]).max() < 1e-9


@pytest.mark.parametrize("part", [0.01, 0.04, 0.25])
def test_what_is_compressed_needs_the_fold_that_it_would_make(flat, part):
    mesh = sizing.measured(flat.x, flat.triangles)
    middle = np.arange(61 * 31).reshape(61, 31)[5:-5, 5:-5].ravel()
    wave = sizing.FOLD_EDGES * mesh.edge[middle]
    height = np.sqrt(part) * wave / np.pi  # of the sine that is longer by that part
    found = sizing.compressed(flat.x * (1.0 - part, 1.0, 1.0), mesh)[middle]
    assert found == pytest.approx(height * (2.0 * np.pi / wave) ** 2, rel=1e-6)
    sheared = flat.x + flat.x[:, [1, 0, 2]] * (part, 0.0, 0.0)  # threads turn, and keep the area
    for x in (flat.x * (1.0 + part, 1.0, 1.0), sheared):
        assert np.abs(sizing.compressed(x, mesh)).max() < 1e-4


def test_lengths_go_by_one_over_the_need_and_the_count_is_met(flat):
    need = np.where(flat.x[:, 0] > 0.0, 10.0, 5.0)
    found = sizing.lengths(need, flat.x, flat.triangles, 600, (1e-4, 1.0)).reshape(61, 31)
    assert found[0] == pytest.approx(2.0 * found[-1], rel=0.01)
    assert predicted(found.ravel(), flat) == pytest.approx(600, rel=0.01)


def test_where_nothing_folds_edges_are_even(flat):
    for need in (np.zeros(len(flat.x)), np.full(len(flat.x), 3.0)):
        found = sizing.lengths(need, flat.x, flat.triangles, 400, (0.001, 0.1))
        assert np.ptp(found) < 1e-9
        assert found[0] == pytest.approx(np.sqrt(2.0 * 0.6 * 0.3 / (np.sqrt(3.0) * 400)), rel=1e-3)


def test_bounds_hold_and_neighbours_differ_by_the_grade_at_most(flat):
    need = np.where(np.linalg.norm(flat.x, axis=1) < 0.02, 1e4, 1.0)
    found = sizing.lengths(need, flat.x, flat.triangles, 500, (0.004, 0.06))
    assert found.min() == pytest.approx(0.004) and found.max() <= 0.06 + 1e-12
    ends = flat.edges
    step = np.linalg.norm(flat.x[ends[:, 0]] - flat.x[ends[:, 1]], axis=1)
    assert (np.abs(found[ends[:, 0]] - found[ends[:, 1]]) <= sizing.GRADE * step + 1e-12).all()
    assert predicted(found, flat) == pytest.approx(500, rel=0.02)


def test_graded_is_the_least_over_all_ways(flat):
    rng = np.random.default_rng(4)
    small = sheet("Small", 6, 5, 0.03)
    wanted = rng.uniform(0.005, 0.2, len(small.x))
    found = sizing.graded(wanted, sizing.graph_of(small.x, small.triangles))
    ends = np.unique(np.sort(small.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)), axis=0)
    way = np.full((len(small.x), len(small.x)), np.inf)
    way[ends[:, 0], ends[:, 1]] = way[ends[:, 1], ends[:, 0]] = np.linalg.norm(
        small.x[ends[:, 0]] - small.x[ends[:, 1]], axis=1
    )
    np.fill_diagonal(way, 0.0)
    for k in range(len(way)):
        way = np.minimum(way, way[:, k : k + 1] + way[k])
    assert found == pytest.approx((wanted + sizing.GRADE * way).min(axis=1), rel=1e-12)


def test_spread_keeps_what_is_even_and_halves_a_spike(flat):
    assert sizing.spread(np.full(len(flat.x), 2.0), flat.triangles) == pytest.approx(2.0)
    spike = np.zeros(len(flat.x))
    spike[900] = 1.0
    found = sizing.spread(spike, flat.triangles)
    assert found[900] == 0.5 and 0.0 < np.delete(found, 900).max() < 0.2
