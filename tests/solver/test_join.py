# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams that are closed are one particle: what is welded, what not, and how it goes on."""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.join import join, weld
from taffeta.solver.model import ATTACHMENT, Attachments, Settings, Tacks
from taffeta.solver.parts import copied
from taffeta.solver.step import advance

STILL = Settings(air_drag=0.0)
COLUMNS, ROWS = 5, 6


def halves(gap, more=(), **changes):
    """Two squares side by side in a plane, a gap apart and sewn along it; `more` seams; returns that and the seams."""
    left = naive.sheet(COLUMNS, ROWS, 0.2, 0.25)
    count = COLUMNS * ROWS
    x = np.concatenate([left.x, left.x + [0.2 + gap, 0.0, 0.0]])
    seams = np.stack([np.arange(count - ROWS, count), count + np.arange(ROWS)], axis=1)
    sewn = np.concatenate([seams, np.array(more, int).reshape(-1, 2)])
    faces = (np.concatenate([f, f + count]) for f in (left.triangles, left.quads))
    edges = np.concatenate([left.edges, left.edges + count, sewn])
    return naive.garment(x, *faces, edges, **{"sewing": True, "self_collision": True} | changes), seams


def are_one(state, seams):
    a, b = seams.T
    return (state.x[a] == state.x[b]).all(axis=1) & (state.v[a] == state.v[b]).all(axis=1)


def frames(cloth, state, first, last, **given):
    still = naive.still(state.x + cloth.origin)._replace(**given)
    for frame in range(first, last):
        report = advance(cloth, state, still, frame, STILL)
    return report


def test_what_is_nearly_closed_becomes_one_with_its_momentum():
    garment, seams = halves(1.5e-3)
    cloth, state = build([garment], STILL)
    state.v[:] = np.random.default_rng(1).standard_normal(state.v.shape)
    momentum, place = (cloth.mass @ each for each in (state.v, state.x))
    weld(cloth, state)
    assert are_one(state, seams).all()
    assert cloth.mass @ state.v == pytest.approx(momentum) and cloth.mass @ state.x == pytest.approx(place)
    joined, inner, _ = join(cloth, state, naive.still(state.x))
    assert len(inner.x) == len(state.x) - ROWS and joined.cloth.mass.sum() == pytest.approx(cloth.mass.sum())
    assert len(joined.cloth.triangles) == len(cloth.triangles) and not len(joined.cloth.seams)


def test_what_is_open_farther_stays_open():
    garment, seams = halves(4e-3)
    cloth, state = build([garment], STILL)
    weld(cloth, state)
    assert not are_one(state, seams).any() and join(cloth, state, None)[0] is None


@pytest.mark.parametrize("closing", [0.0, 1.0])
def test_a_seam_beside_a_welded_one_is_welded_when_it_closes_no_more(closing):
    garment, seams = halves(0.0)
    cloth, state = build([garment], STILL)
    state.x[seams[2:, 1], 0] += 0.03
    state.v[seams[2:, 1], 0] = -closing
    weld(cloth, state)
    assert are_one(state, seams).tolist() == [True, True, closing == 0.0, False, False, False], "one after the other"


def test_what_would_cross_stays_open():
    """A flap of the right square, bent back, stands in the way of one seam."""
    garment, seams = halves(1.5e-3)
    cloth, state = build([garment], STILL)
    flap = len(state.x) // 2 + np.array([3 * ROWS + 3, 4 * ROWS + 3, 4 * ROWS + 4])
    # one of its triangles, across the gap and near enough to seam 2 to be cut by what welding makes of that
    a = state.x[seams[2, 0]] + [0.75e-3, 0.0, 0.0]
    state.x[seams[2]] += [[0.0, 0.0, -1e-3], [0.0, 0.0, 1e-3]]
    state.x[flap] = a + [[0.0, -0.01, 0.0], [0.001, 0.01, 0.005], [0.001, 0.01, -0.005]]
    weld(cloth, state)
    assert are_one(state, seams).sum() < ROWS
    low = build([garment._replace(self_collision=False)], STILL)[0]
    weld(low, state)
    assert are_one(state, seams).all(), "where nothing keeps it apart"


def test_of_two_neighbours_that_are_sewn_to_one_one_is_welded():
    count = COLUMNS * ROWS
    garment, seams = halves(1.5e-3, more=[(count - 2, count + ROWS - 1)])
    cloth, state = build([garment], STILL)
    state.x[count - 2] = state.x[count + ROWS - 1] + [0.0, 0.0, 0.0015]
    weld(cloth, state)
    joined, _, _ = join(cloth, state, naive.still(state.x))
    assert len(joined.cloth.triangles) == len(cloth.triangles)


def test_a_bake_goes_on_from_a_frame_in_which_something_is_welded():
    garment, seams = halves(0.02)
    cloth, state = build([garment], STILL)
    frames(cloth, state, 1, 13)
    assert are_one(state, seams).all()
    again, other = build([garment], STILL)[0], copied(state)
    for each, of in ((cloth, state), (again, other)):
        frames(each, of, 13, 16, wind=np.array([1.0, 2.0, 0.5]))
    assert all(np.array_equal(a, b) for a, b in zip(state, other, strict=True))


def test_what_is_welded_stays_attached_and_breaks_off_as_one():
    garment, seams = halves(0.0)
    cloth, state = build([garment], STILL)
    weld(cloth, state)
    one, other = seams[2]
    there = state.x[other] + cloth.origin + [0.0, 0.0, 0.01]
    targets, whole = np.repeat(there[None, None], 2, axis=0), np.full(1, np.inf)
    given = Attachments(np.array([other]), targets, np.full(1, 50.0), np.zeros(1), whole)
    frames(cloth, state, 1, 6, attachments=given)
    assert np.linalg.norm(state.x[one] + cloth.origin - there) < 0.02 and are_one(state, seams).all()
    frames(cloth, state, 6, 7, attachments=given._replace(breaking=np.full(1, 1e-6)))
    assert (state.broken[[one, other]] == ATTACHMENT).all() and np.count_nonzero(state.broken) == 2


def test_what_is_welded_stays_tacked():
    garment, seams = halves(0.0)
    cloth, state = build([garment], STILL)
    weld(cloth, state)
    tack = Tacks(
        np.array([[seams[1, 1], *garment.quads[0][:3]]]), np.full((1, 3), 1 / 3), *np.array([[0.0], [20.0], [np.inf]])
    )
    before = np.linalg.norm(state.x[seams[1, 0]] - state.x[garment.quads[0][:3]].mean(axis=0))
    frames(cloth, state, 1, 4, tacks=tack)
    assert are_one(state, seams).all()
    assert np.linalg.norm(state.x[seams[1, 0]] - state.x[garment.quads[0][:3]].mean(axis=0)) < 0.9 * before


def test_thick_cloth_lies_still_beside_a_seam():
    """Cloth thicker than its edges are long: beside a seam as elsewhere the pattern tells what lies near at rest."""
    garment, seams = halves(0.0, thickness=0.08)
    pattern = garment.x + np.repeat([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], COLUMNS * ROWS, axis=0)
    cloth, state = build([garment._replace(x=pattern)], STILL)
    before = state.x.copy()
    frames(cloth, state, 1, 4, gravity=(0, 0, 0))
    assert are_one(state, seams).all() and np.abs(state.x - before).max() < 1e-6


def test_what_is_pinned_on_both_sides_stays_apart_and_one_pin_holds_both():
    garment, seams = halves(1.5e-3)
    pin = garment.pin.copy()
    pin[seams[0]], pin[seams[1, 0]] = 1.0, 1.0
    cloth, state = build([garment._replace(pin=pin)], STILL)
    before = state.x.copy()
    frames(cloth, state, 1, 4)
    assert are_one(state, seams).tolist() == [False] + [True] * (ROWS - 1)
    assert np.array_equal(state.x[seams[0]], before[seams[0]]) and np.array_equal(
        state.x[seams[1, 1]], before[seams[1, 0]]
    )


def test_among_other_garments_each_is_sewn_for_itself():
    """And where pins are said anew in each frame."""
    garment, seams = halves(0.02)
    lift = [0.0, 0.0, 0.05]
    plain = naive.sheet(4, 4, 0.2, 0.2)
    other = garment._replace(name="Other", x=garment.x + lift, x_start=garment.x_start + lift, pin_moves=True)
    under = plain._replace(x=plain.x - lift, x_start=plain.x_start - lift)
    cloth, state = build([under, garment, other], STILL)
    still = naive.still(state.x + cloth.origin)._replace(pin=np.zeros(len(state.x)))
    for frame in range(1, 15):
        advance(cloth, state, still, frame, STILL)
    for first in cloth.garment_start[1:3]:
        assert are_one(state, seams + first).all()
    joined, inner, given = join(cloth, state, still)
    assert (
        np.diff(joined.cloth.garment_start).tolist() == [16, 54, 54] and given.targets.shape[1] == len(inner.x) == 124
    )
    assert np.array_equal(joined.cloth.garment, np.repeat([0, 1, 2], [16, 54, 54]))
