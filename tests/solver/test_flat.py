# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that starts exactly in one plane: it gets out of it where something presses it together, and only there."""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.flat import BREATH, breathe
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

COLUMNS, ROWS = 25, 17
DOWN = (0.0, -9.81, 0.0)  # [m/s2] in the plane that `naive.sheet` lies in


def curtain(every=4, **changes):
    """A flat curtain that hangs on so many a vertex of its upper border."""
    column, row = np.divmod(np.arange(COLUMNS * ROWS), ROWS)
    held = (row == ROWS - 1) & (column % every == 0)
    return naive.sheet(COLUMNS, ROWS, pin=held.astype(float), **changes)


def gathered(x, part):
    """Where vertices are that are drawn together to a part of their width."""
    return x * [part, 1.0, 1.0]


def test_a_flat_curtain_that_is_gathered_in_its_plane_folds():
    cloth, state = build([curtain()], Settings())
    begun = state.x + cloth.origin
    parts = np.concatenate([np.linspace(1.0, 0.6, 13), np.full(12, 0.6)])
    longest = 0.0
    for frame, (before, after) in enumerate(zip(parts, parts[1:], strict=False)):
        targets = np.stack([gathered(begun, part) for part in (before, after)])
        longest = max(
            longest, advance(cloth, state, naive.still(targets, gravity=DOWN), frame, Settings()).worst_stretch
        )
    assert np.ptp(state.x[:, 2]) > 0.05
    assert longest < 0.05


def test_a_flat_curtain_that_hangs_at_peace_stays_flat():
    cloth, state = build([curtain(every=1)], Settings())
    for frame in range(24):
        advance(cloth, state, naive.still(state.x + cloth.origin, gravity=DOWN), frame, Settings())
    assert 0.0 < np.ptp(state.x[:, 2]) < 1e-6


def test_it_is_a_breath_across_the_plane_and_held_vertices_have_none():
    cloth, state = build([curtain()], Settings())
    breathe(cloth, state, np.array(DOWN))
    held = cloth.inv_mass == 0.0
    assert held.any() and not state.v[held].any() and not state.v[:, :2].any()
    across = state.v[~held, 2]
    assert np.abs(across).max() <= BREATH and np.std(across) > 0.5 * BREATH
    again = build([curtain()], Settings())[1]
    breathe(cloth, again, np.array(DOWN))
    assert np.array_equal(again.v, state.v)
    known = state.v.copy()
    breathe(cloth, state, np.array(DOWN))  # it is not flat any more: its speeds differ
    assert np.array_equal(state.v, known)


def uneven(x):
    """The same places, one of them a hair beside the plane."""
    return x + np.where(np.arange(len(x))[:, None] == 7, [0.0, 0.0, 1e-9], 0.0)


@pytest.mark.parametrize(
    ("garment", "gravity"),
    [
        (curtain(), (0.0, 0.0, -9.81)),  # it falls out of its plane
        (curtain(), (0.0, -9.81, 1e-3)),
        (curtain(), (0.0, 0.0, 0.0)),
        (curtain(x_start=uneven(curtain().x)), DOWN),
    ],
)
def test_other_cloth_keeps_its_bits(garment, gravity):
    cloth, state = build([garment], Settings())
    breathe(cloth, state, np.array(gravity))
    assert not state.v.any()
