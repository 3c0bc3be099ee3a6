# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that would tear cloth out of its length lose."""

import naive
import numpy as np
from taffeta.solver.build import build
from taffeta.solver.contact.body.contacts import INSIDE, LET_THROUGH, OUTSIDE, PINCHED, no_contacts
from taffeta.solver.contact.body.give_way import (
    MOST_STRAIN,
    POKED_RINGS,
    TORN_STRAIN,
    give_way,
    let_through,
    shorten,
    without_speed,
)
from taffeta.solver.model import Settings


def test_what_bodies_hold_at_both_ends_gets_its_length_back_without_speed():
    """A sheet of which an edge is drawn out: one end is pinched and the other let go of, or touches
    where bodies overlap or do not, or neither; or none is pinched."""
    cloth, state = build([naive.sheet(6, 6)], Settings())
    row = np.flatnonzero(np.isclose(state.x[:, 1], state.x[:, 1].max()))
    first, second = row[np.argsort(state.x[row, 0])][:2]
    about = cloth.edges, (1.0 + MOST_STRAIN) * cloth.rest_length, cloth.is_mesh_edge, cloth.inv_mass
    rest, size = np.linalg.norm(state.x[second] - state.x[first]), len(state.x)
    for pinched, tangled, touching, between, expected in (
        ([first], [second], [], 1e-3, [first, second]),
        ([first], [], [second], -1e-3, [first]),
        ([first], [], [second], 1e-3, []),
        ([first], [], [], -1e-3, []),
        ([], [second], [first], 1e-3, [second]),
        ([], [second], [], -1e-3, []),
        ([], [], [first, second], -1e-3, []),
    ):
        x, contacts, is_tangled = state.x.copy(), no_contacts(size, 0), np.zeros(size, np.bool_)
        x[first] -= 1.5 * (x[second] - x[first])
        before = x.copy()
        contacts.place[pinched], contacts.count[touching], contacts.between[:] = PINCHED, 1, between
        is_tangled[tangled] = True
        shortened = shorten(*about, contacts, is_tangled, x)
        assert np.array_equal(np.flatnonzero((x != before).any(axis=1)), np.sort(expected))
        assert (shortened > 0) == (len(expected) > 0)
        if shortened:
            assert np.linalg.norm(x[second] - x[first]) <= 1.01 * (1.0 + MOST_STRAIN) * rest
        assert np.allclose(without_speed(before, x, before), x), "what stood stands"


def test_what_is_led_back_is_stopped_and_not_thrown():
    """By what it was led back: one that went as far the other way, one that went farther, one that went across or the same way."""
    origin, before = np.zeros((4, 3)), np.array([[2.0, 0, 0], [5.0, 0, 0], [0, 4.0, 0], [-1.0, 0, 0]])
    x = before - [2.0, 0, 0]
    left = x - without_speed(before, x, origin)
    assert np.allclose(left, [[0.0, 0, 0], [3.0, 0, 0], [0, 4.0, 0], [-1.0, 0, 0]])


def test_cloth_that_a_thumb_holds_comes_to_rest():
    """An edge that is drawn out anew in each step, at one end: that end is led back, and goes no faster from step to step."""
    cloth, state = build([naive.sheet(6, 6)], Settings())
    contacts, x, v = no_contacts(len(state.x), 0), state.x.copy(), np.zeros_like(state.x)
    contacts.place[:] = INSIDE
    about = cloth.edges, (1.0 + MOST_STRAIN) * cloth.rest_length, cloth.is_mesh_edge, cloth.inv_mass
    v[0, 0], dt = -20.0, 1 / 1920
    for _ in range(40):
        origin, x = x.copy(), x + dt * v
        before = x.copy()
        shorten(*about, contacts, np.zeros(len(x), np.bool_), x)
        v = (x - without_speed(before, x, origin)) / dt
    assert np.linalg.norm(v, axis=1).max() < 10.0


def test_what_is_led_out_on_both_sides_of_a_thumb_is_not_torn():
    cloth, state = build([naive.sheet(6, 6)], Settings())
    contacts, x = no_contacts(len(state.x), 0), 1.6 * state.x
    contacts.place[:] = INSIDE
    about = cloth.edges, (1.0 + MOST_STRAIN) * cloth.rest_length, cloth.is_mesh_edge, cloth.inv_mass
    assert shorten(*about, contacts, np.zeros(len(x), np.bool_), x) > 0
    strain = np.linalg.norm(x[cloth.edges[:, 0]] - x[cloth.edges[:, 1]], axis=1) / cloth.rest_length - 1.0
    assert strain[cloth.is_mesh_edge].max() < MOST_STRAIN + 0.1


def test_what_is_torn_beside_what_is_poked_is_let_through():
    """Drawn out at the poked place and far from it; pinched; not drawn out by as much; nothing poked."""
    cloth, state = build([naive.sheet(2 * POKED_RINGS + 8, 2)], Settings())
    corner, beside, far = 0, 1, np.argmax(np.linalg.norm(state.x - state.x[0], axis=1))
    own = cloth.edges[cloth.is_mesh_edge]
    shortest, longest = cloth.rest_length.min(), cloth.rest_length.max()

    def lost(lift, poked=True, pinched=False):
        x, contacts, tangled = state.x.copy(), no_contacts(len(state.x), 0), np.zeros(len(state.x), np.bool_)
        for i in (corner, far):
            x[i, 2] += lift
        tangled[beside], contacts.count[: len(x)] = poked, 1
        contacts.place[corner] = PINCHED if pinched else OUTSIDE
        let_through(cloth, contacts, tangled, x)
        found = np.flatnonzero(contacts.place[: len(x)] == LET_THROUGH)
        assert tangled[found].all() and not contacts.count[found].any()
        return found

    round_it = np.unique(own[(own == corner).any(axis=1)])
    assert np.array_equal(lost(2.0 * longest), round_it)
    assert np.array_equal(lost(2.0 * longest, pinched=True), round_it[round_it != corner])
    assert not len(lost(TORN_STRAIN * shortest)) and not len(lost(2.0 * longest, poked=False))


def test_nothing_is_let_through_beside_what_overlapping_bodies_hold():
    """A sleeve that an elbow's crook pinches would be eased off its tip no sooner than the arm is stretched. What is poked where nothing
    is held, or where the bodies that hold it are apart, comes off at once."""
    cloth, state = build([naive.sheet(2 * POKED_RINGS + 8, 2)], Settings())
    across = np.argsort(state.x[:, :2] @ np.ptp(state.x[:, :2], axis=0))
    first, last, longest = across[0], across[-1], cloth.rest_length.max()
    is_row = np.linalg.norm(state.x - state.x[first], axis=1) < 3.5 * cloth.rest_length.min()

    def lost(at, between, poked):
        x, contacts, tangled = state.x.copy(), no_contacts(len(state.x), 0), np.zeros(len(state.x), np.bool_)
        x[at, 2] += 2.0 * longest
        contacts.place[first], contacts.between[first], tangled[poked] = PINCHED, between, True
        let_through(cloth, contacts, tangled, x)
        return (contacts.place[: len(x)] == LET_THROUGH).any()

    beside = np.flatnonzero(is_row)
    end = beside[np.argmax(np.linalg.norm(state.x[beside] - state.x[first], axis=1))]
    assert not lost(end, -1e-3, is_row) and lost(end, 1e-3, is_row)
    assert lost(last, -1e-3, [last]), "what hangs on no pinch"


def test_no_body_loses_what_is_taut_all_over():
    """Trousers that are too narrow for who squats are longer by a half at the knees, and more: where the crook of a knee pinched them, they
    were taken into it, and let through beside, and she stood out of them. What is torn is longer than the cloth around."""
    cloth, state = build([naive.sheet(2 * POKED_RINGS + 8, 8)], Settings())
    middle = np.argmin(np.linalg.norm(state.x - state.x.mean(axis=0), axis=1))
    beside = cloth.edges[cloth.is_mesh_edge & (cloth.edges == middle).any(axis=1)].ravel()

    def lost(stretch, drawn_out, touching=1):
        """Whether what is pinched in a sheet that is so many times as long is taken into bodies, and whether what is poked is let through.
        touching : bodies that each particle touches
        """
        x, tangled = stretch * state.x, np.zeros(len(state.x), np.bool_)
        x[middle, 2] += drawn_out * cloth.rest_length.max()
        pinched, poked = (no_contacts(len(x), 0) for _ in range(2))
        pinched.place[beside], tangled[middle] = PINCHED, True
        pinched.between[:], pinched.count[:], poked.count[:] = -1e-3, touching, touching
        after = x.copy()
        give_way(cloth, pinched, np.zeros(len(x), np.bool_), after, x.copy())
        let_through(cloth, poked, tangled, x)
        return not np.array_equal(after, x), bool((poked.place[: len(x)] == LET_THROUGH).any())

    assert lost(1.0 + MOST_STRAIN + 0.15, 0.0) == (False, False)
    assert not lost(1.0 + TORN_STRAIN + 0.1, 0.0)[1]
    assert lost(1.0 + MOST_STRAIN + 0.15, 3.0) == (True, True)
    assert lost(1.0 + TORN_STRAIN + 0.1, 0.0, touching=0)[1], "what is in the air is drawn by what bodies hold"
