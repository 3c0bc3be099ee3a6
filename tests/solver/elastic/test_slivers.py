# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes with edges that are thousands of times as short as the others, as cutting and smoothing leave them."""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.elastic.bending import LOWEST, bending_rest
from taffeta.solver.geometry.topology import Hinges
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

ROWS = 40


def with_a_row_of(height, bending):
    """A sheet of 0.5 m, 40 vertices a side, with one row of quads that is so high [m], which hangs from two corners."""
    garment = naive.sheet(ROWS, ROWS, 0.5, 0.5, bending_stiffness=bending)
    up, middle = garment.x[:, 1].copy(), np.arange(ROWS * ROWS) % ROWS
    x, pin = garment.x.copy(), np.zeros(len(up))
    x[middle == ROWS // 2, 1] = up[ROWS // 2 - 1] + height
    pin[[ROWS - 1, ROWS * ROWS - 1]] = 1.0
    return garment._replace(x=x, x_start=x.copy(), pin=pin)


@pytest.mark.parametrize("bending", [1e-5, 1e-3])
def test_a_row_of_a_hundredth_of_a_millimetre_hangs_as_any_other(bending):
    garment, settings = with_a_row_of(1e-5, bending), Settings()
    cloth, state = build([garment], settings)
    pose, worst = state.x + cloth.origin, 0.0
    for frame in range(1, 9):
        worst = max(worst, advance(cloth, state, naive.still(pose), frame, settings).worst_stretch)
    assert worst < 0.3
    assert np.linalg.norm(state.v, axis=1).max() < 5.0  # [m/s]: it falls for a third of a second


@pytest.mark.parametrize("height, part", [(0.1, 1.0), (2.0 * LOWEST, 1.0), (0.5 * LOWEST, 0.25), (1e-3, 4e-4)])
def test_a_hinge_beside_a_sliver_holds_its_corner_no_firmer_than_a_low_triangle(height, part):
    """Both triangles on an edge of 1 m; the lower one's height [m]."""
    x = np.array([[0, 0, 0], [1, 0, 0], [0.5, 1, 0], [0.5, -height, 0]], float)
    area = 0.5 * (1.0 + height)
    stencils, triangles = np.array([[0, 1, 2, 3]]), np.array([[0, 1]])
    hinges = Hinges(stencils, triangles, np.array([area]), np.ones(1), np.ones(1, bool))
    assert bending_rest(x, hinges, np.full(4, 1e-4))[3] == pytest.approx(part * 1e-4 / area)
