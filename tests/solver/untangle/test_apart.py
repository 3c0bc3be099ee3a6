# SPDX-License-Identifier: GPL-3.0-or-later
"""Untangle makes nothing worse: of no kind does more cross than before, and edges keep their lengths; garments come out of
themselves. Counted by ipctk.
"""

import numpy as np
import pytest
from crossings import count_worn
from folds import collar, doubled_hem, lathe, sleeve_through_side, stretch, worn
from taffeta.solver.untangle.apart import rounds, untangle
from taffeta.solver.untangle.mend import Bounds, make_cloud, mend
from taffeta.solver.untangle.nest import Shape
from taffeta.solver.untangle.surface import make_surface
from taffeta.solver.untangle.whole import count_kinds, find_crossing, make_whole

pytestmark = pytest.mark.once


@pytest.mark.parametrize("make", [sleeve_through_side, lambda: sleeve_through_side(0.04), doubled_hem, collar])
def test_a_garment_comes_out_of_itself(make):
    garment = make()
    before = count_worn([garment], [garment.x])
    result = untangle([garment], [])
    assert before.cloth_self > 50
    assert count_worn([garment], result.x).cloth_self == 0 and result.crossing_count == 0
    assert stretch(garment, result.x[0]) < 0.1


def tight(seed):
    """A body, and three garments that go through it, each other and themselves, in waves of their own."""
    random = np.random.default_rng(seed)
    made = []
    for layer in range(3):
        rings = np.linspace(0.2, -0.1 + 0.05 * layer, 18)
        x, faces = lathe(np.full(18, 0.12 + 0.002 * layer), rings, 44, 0.012 * random.normal(size=18))
        x = x + 0.003 * random.normal(size=x.shape)
        made.append(worn(f"Layer {layer}", x, faces, layer))
    return made, Shape("Body", *lathe(np.full(20, 0.12), np.linspace(0.4, -0.4, 20), 50), aura=0.003)


@pytest.mark.parametrize("seed", range(3))
def test_nothing_gets_worse_where_not_all_can_be_done(seed):
    garments, body = tight(seed)
    result = untangle(garments, [body])
    assert sum(result.before.values()) > 200 and result.crossing_count < sum(result.before.values())
    for kind, left in result.after.items():
        assert left <= result.before.get(kind, 0), kind
    for index, garment in enumerate(garments):
        alone = [count_worn([garment], [x], [body]) for x in (garment.x, result.x[index])]
        assert alone[1].cloth_self <= alone[0].cloth_self and alone[1].cloth_body <= alone[0].cloth_body
        assert stretch(garment, result.x[index]) < 0.1


def test_what_stretches_by_leave_comes_apart():
    garments, body = tight(0)
    allowed = untangle(garments, [body], stretch=np.inf)
    assert allowed.crossing_count < untangle(garments, [body]).crossing_count
    assert allowed.stretch_worst > 0.1


def test_a_move_that_does_harm_is_not_made():
    """One vertex is thrown through the other sheet, and all of the sheet turned over: neither happens."""
    garment = worn("Skirt", *lathe(np.full(12, 0.1), np.linspace(0.1, -0.1, 12), 30))
    other = worn("Coat", *lathe(np.full(12, 0.11), np.linspace(0.1, -0.1, 12), 30), 1)
    surfaces = [make_surface(g.name, g.x, g.triangles, None) for g in (garment, other)]
    whole = make_whole(surfaces, 2, [1.0, 1.0], np.ones((2, 2), bool))
    start = find_crossing(whole, np.concatenate((garment.x, other.x)))
    cloud, bounds = make_cloud(whole, start), Bounds(0.1, count_kinds(whole, start.pairs))
    thrown, turned = np.zeros_like(start.x), np.zeros_like(start.x)
    thrown[150] = 0.5 * garment.x[150]
    turned[: len(garment.x)] = -2.0 * garment.x
    for move in (thrown, turned):
        after = mend(whole, cloud, move, bounds, start)
        assert not len(after.pairs) and np.isfinite(after.x).all()
        length = np.linalg.norm(after.x[whole.edges[:, 0]] - after.x[whole.edges[:, 1]], axis=1)
        assert np.abs(length / whole.rest_length - 1.0).max() <= 0.1


def test_crossings_found_after_a_few_have_moved_are_those_of_a_new_look():
    garments, body = tight(1)
    surfaces = [make_surface(g.name, g.x, g.triangles, None) for g in (*garments, body)]
    whole = make_whole(surfaces, 3, [1.0] * 3, np.ones((4, 4), bool))
    x = np.concatenate([surface.x for surface in surfaces])
    last, random = find_crossing(whole, x), np.random.default_rng(5)
    for share in (0.01, 0.2, 1.0):
        x = x + (random.random(len(x)) < share)[:, None] * 0.01 * random.normal(size=x.shape)
        last = find_crossing(whole, x, last)
        assert np.array_equal(last.pairs, find_crossing(whole, x).pairs)


def test_it_can_be_stopped_between_rounds_and_has_the_same_bits_again():
    garments, body = tight(2)
    taken = rounds(garments, [body])
    assert next(taken) > 200
    taken.close()
    first, second = untangle(garments, [body]), untangle(garments, [body])
    assert all((a == b).all() for a, b in zip(first.x, second.x, strict=True))
