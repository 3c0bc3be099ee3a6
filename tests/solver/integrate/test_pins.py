# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins whose weights change from frame to frame."""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build, repin
from taffeta.solver.model import Settings, State
from taffeta.solver.step import advance

VACUUM = Settings(air_drag=0.0)


def pinned(weight, **changes):
    return naive.sheet(7, 7, pin=np.full(49, weight), **changes)


def test_what_is_let_go_falls_freely():
    """Held for three frames, then let go: z = -g t^2 / 2, with the springs that joined held particles."""
    cloth, state = build([pinned(1.0, pin_moves=True)], VACUUM)
    given = naive.still(state.x + cloth.origin)
    start = state.x.copy()
    for frame in range(3):
        advance(cloth, state, given._replace(pin=np.ones(49)), frame, VACUUM)
    assert np.array_equal(state.x, start)
    state.v[10, 0] = 0.5  # a pluck, which springs have to spread
    for frame in range(3, 9):
        advance(cloth, state, given._replace(pin=np.zeros(49)), frame, VACUUM)
    fallen = (state.x - start)[:, 2]
    assert np.allclose(fallen, -0.5 * 9.81 * 0.25 * (0.25 + 1 / 240), atol=2e-3)
    assert (state.x - start)[9:12, 0].min() > 0.001


def test_what_is_caught_goes_with_the_pose():
    cloth, state = build([pinned(0.0, pin_moves=True)], VACUUM)
    target = state.x + cloth.origin
    advance(cloth, state, naive.still(target)._replace(pin=np.zeros(49)), 0, VACUUM)
    held = np.where(np.arange(49) < 7, 1.0, 0.0)
    moved = np.stack([target, target + [0.1, 0, 0]])
    advance(cloth, state, naive.still(moved)._replace(pin=held), 1, VACUUM)
    assert np.allclose(state.x[:7] + cloth.origin, moved[1, :7]) and (state.x[7:, 2] < 0).all()


def test_frames_that_say_the_same_pins_are_the_same_bits():
    """A garment built with its pins, and one whose frames bring them: springs, hinges and particles are one system."""
    held = np.where(np.arange(49) < 14, 1.0, 0.0)
    fixed, state = build([naive.sheet(7, 7, pin=held)], VACUUM)
    moving, _ = build([naive.sheet(7, 7, pin=held, pin_moves=True)], VACUUM)
    again = repin(moving, held)
    for field in ("inv_mass", "pin", "rest_length", "bend_weight"):
        assert np.array_equal(np.sort(getattr(fixed, field), axis=0), np.sort(getattr(again, field), axis=0))
    other = State(state.x.copy(), state.v.copy())
    given, exact = naive.still(state.x + fixed.origin), VACUUM._replace(iterations=300, tolerance=1e-10)
    for frame in range(4):
        advance(fixed, state, given, frame, exact)
        advance(moving, other, given._replace(pin=held), frame, exact)
    assert np.allclose(state.x, other.x, atol=1e-9)


def test_seams_stay_seams_when_pins_change():
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]], float)
    edges = [[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5], [0, 3], [1, 4], [2, 5]]
    garment = naive.garment(x, [[0, 1, 2], [3, 5, 4]], edges=edges, sewing=True, sewing_force=1.0, pin_moves=True)
    cloth, _ = build([garment], VACUUM)
    held = repin(cloth, np.array([1.0, 1.0, 0.0, 1.0, 0.0, 0.0]))
    sewn = held.edges[held.seams]
    assert sorted(map(tuple, np.sort(sewn, axis=1).tolist())) == [(1, 4), (2, 5)]
    assert (held.rest_length[held.seams] == 0).all() and len(held.seam_force) == 2


@pytest.mark.parametrize("weight", [0.3, 0.9])
def test_weights_between_change_the_pull(weight):
    """A half-firm pin sags by g / omega^2, with omega = pin_rate p / (1 - p)."""
    cloth, state = build([pinned(0.0, pin_moves=True)], VACUUM)
    given = naive.still(state.x + cloth.origin)._replace(pin=np.full(49, weight))
    start = state.x.copy()
    for frame in range(24):
        advance(cloth, state, given, frame, VACUUM)
    sag = 9.81 / (VACUUM.pin_rate * weight / (1 - weight)) ** 2
    assert (start - state.x)[:, 2].mean() == pytest.approx(sag, rel=0.02)
