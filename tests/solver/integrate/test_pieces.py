# SPDX-License-Identifier: GPL-3.0-or-later
"""A garment's loose parts: each is a piece of its own, and flies as it would alone, whatever the rest does."""

import naive
import numpy as np
import pytest
import solids
from taffeta.solver.build import build
from taffeta.solver.integrate import pieces
from taffeta.solver.integrate.pieces import free_pieces
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

VACUUM = Settings(air_drag=0.0)
G = 9.81
BUTTON = slice(-225, None)  # particles


def with_button(pin=0.0):
    """A sheet of a metre, an edge of it pinned by that weight, and a loose button of 3 cm, a metre higher."""
    sheet, button = naive.sheet(31, 31), naive.sheet(15, 15, width=0.03, height=0.03)
    pins = np.zeros(len(sheet.x) + len(button.x))
    pins[:31] = pin
    return naive.garment(
        np.concatenate([sheet.x, button.x + [0.4, 0.5, 1.0]]),
        np.concatenate([sheet.triangles, button.triangles + len(sheet.x)]),
        np.concatenate([sheet.quads, button.quads + len(sheet.x)]),
        np.concatenate([sheet.edges, button.edges + len(sheet.x)]),
        pin=pins,
    )


def test_edges_are_not_copied_where_all_of_them_pull(monkeypatch):
    """They would be remembered."""
    asked, connected = [], pieces._connected
    monkeypatch.setattr(pieces, "_connected", lambda edges, *about: asked.append(edges) or connected(edges, *about))
    cloth, _ = build([with_button()], VACUUM)
    free_pieces(cloth, np.zeros(0, np.int64))
    assert asked[0] is cloth.edges


@pytest.mark.parametrize("held", ["by a body", "by pins", "by soft pins", "by nothing"])
def test_a_loose_button_falls_as_it_would_alone(held):
    """z = -g t^2 / 2, up to the g t dt / 2 by which Euler's method is too low; turning, it keeps what turns it."""
    cloth, state = build([with_button({"by pins": 1.0, "by soft pins": 0.5}.get(held, 0.0))], VACUUM)
    place = np.tile([0.5, 0.5, -0.41], (2, 1))
    bodies = [solids.collider(solids.ball(radius=0.4), place)] if held == "by a body" else []
    still = naive.still(state.x + cloth.origin, colliders=bodies)
    state.v[BUTTON] = np.cross([2.0, 1.0, 3.0], state.x[BUTTON] - state.x[BUTTON].mean(axis=0))
    mass, before, high = cloth.mass[BUTTON], spin(cloth, state), state.x[BUTTON].mean(axis=0)
    for frame in range(10):
        advance(cloth, state, still, frame, VACUUM)
    fell, t = high - mass @ state.x[BUTTON] / mass.sum(), 10 / 24
    assert np.abs(fell[:2]).max() < 1e-9
    assert 0.5 * G * t**2 - 1e-9 < fell[2] < 0.5 * G * t * (t + 1 / 240) + 1e-9
    assert spin(cloth, state) == pytest.approx(before, rel=1e-6)


def spin(cloth, state):
    """Angular momentum of the button about its centre of mass [kg m2/s]."""
    mass, x, v = cloth.mass[BUTTON], state.x[BUTTON], state.v[BUTTON]
    return mass @ np.cross(x - mass @ x / mass.sum(), v - mass @ v / mass.sum())


def test_pieces_are_what_springs_and_threads_join():
    """Two sheets and a button: particles in the order of their pieces, each from its first one on."""
    button = with_button()
    cloth, _ = build([button, naive.sheet(3, 3, name="Other")], VACUUM)
    count = len(button.x)
    free = free_pieces(cloth, np.array([], np.int32))
    assert free.starts.tolist() == [0, 961, count, count + 9] and np.array_equal(free.members, np.arange(count + 9))
    assert np.array_equal(np.unique(free.piece, return_counts=True)[1], [961, 225, 9])
    free = free_pieces(cloth, np.array([970]))
    assert free.starts.tolist() == [0, 961, 970]
    assert np.array_equal(free.members, [*range(961), *range(count, count + 9)])
    assert (free.piece[961:count] == -1).all() and (free.piece[count:] == 1).all()
    free = free_pieces(cloth, np.array([970]), np.array([[count, 0, 1, 2]], np.int32))
    assert free.starts.tolist() == [0, 970] and (free.piece[count:] == 0).all()
    assert free_pieces(cloth, np.arange(count + 9)).starts.tolist() == [0]
