# SPDX-License-Identifier: GPL-3.0-or-later
"""Lateral buckling and stick-slip of strips, after Romero et al. 2021 (`strips`).

A narrow strip that stands on its edge, clamped at one end, falls over by its own weight where
q L^3 / sqrt(EI GJ) > 12.854 (Timoshenko and Gere 1961, section 6.3), q its weight per length, EI and GJ its rigidity
against bending and torsion. A plate of the rigidity B and the width w has EI = B w, and without Poisson effect
GJ = 2 B w: Gamma = sigma g L^3 / B > 12.854 sqrt(2) = 18.18. The clamp keeps the strip from twisting beside it, which
makes a strip of the width w shorter by a part of w: Gamma^(-1/3) falls linearly with w / L.

A strip that stands on a floor and is pressed down buckles as an elastica, clamped above, its tip held by friction. The
tip slips where the floor would have to push it aside with more than friction times the load: an elastica whose ends
have come nearer by 0.0969, 0.155, 0.2135 of its length asks for friction of 0.15, 0.2, 0.25.
"""

import numpy as np
import pytest
import strips

pytestmark = pytest.mark.once

CRITICAL = 18.18


@pytest.mark.parametrize(("diagonals", "model"), [("same", "FABRIC"), ("alternating", "FABRIC"), ("same", "MEMBRANE")])
def test_a_strip_on_its_edge_falls_over_above_its_critical_weight(diagonals, model):
    """Stands again at 0.8 of it, lies far aside at 1.3; its clamp takes a tenth."""
    assert strips.fallen(0.8 * CRITICAL, diagonals=diagonals, model=model) < 1e-3
    assert strips.fallen(1.3 * CRITICAL, diagonals=diagonals, model=model) > 0.3


def test_the_critical_weight_of_a_narrow_strip_is_that_of_a_beam():
    wide, narrow = (strips.critical_weight(width=w, cells=c, rows=5) for w, c in ((0.2, 20), (0.1, 40)))
    limit = (2.0 * narrow ** (-1 / 3) - wide ** (-1 / 3)) ** -3
    print(f"{wide:.2f} at a width of 0.2 L, {narrow:.2f} at 0.1 L, {limit:.2f} at none")
    assert CRITICAL < narrow < wide
    assert limit == pytest.approx(CRITICAL, rel=0.04)


@pytest.mark.parametrize(("friction", "down"), [(0.15, 0.0969), (0.2, 0.155), (0.25, 0.2135)])
def test_a_pressed_strip_slips_where_friction_ends(friction, down):
    """Solved well: what a solve leaves, a tip that bears many times its weight takes for friction."""
    path = strips.pressed(friction, strips.VACUUM._replace(iterations=20, tolerance=1e-2))
    found, sticks = strips.slips_at(path), path[(path[:, 0] > 0.03) & (path[:, 0] < down - 0.025), 1]
    print(
        f"friction {friction}: slips at {found:.3f}, theory {down}; creeps by {np.abs(np.diff(sticks)).max():.1e} a frame"
    )
    assert found == pytest.approx(down, abs=0.02)
    assert np.abs(np.diff(sticks)).max() < 1e-5, "of its length a frame"
