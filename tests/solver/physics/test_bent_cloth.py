# SPDX-License-Identifier: GPL-3.0-or-later
"""Bent, stiff cloth gives way by turning: by default it leans as far as where each solve goes on until it is exact."""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

ROWS, COLUMNS, LENGTH, WIDTH, FRAMES = 29, 9, 0.22, 0.09, 8  # vertices along and across a petal, [m], and frames


def petal(rigidity):
    """A petal of a bud, held at its foot, that is bent about lines across it and has this bending stiffness [N m]."""
    flat = naive.sheet(COLUMNS, ROWS, WIDTH, LENGTH, "alternating", bending_stiffness=rigidity)
    slope = np.radians(np.linspace(25.0, 118.0, ROWS - 1))
    line = np.concatenate(([0.0], np.cumsum(np.exp(1j * slope)))) * LENGTH / (ROWS - 1)
    column, row = np.divmod(np.arange(ROWS * COLUMNS), ROWS)
    x = np.stack([line.real[row], (column / (COLUMNS - 1) - 0.5) * WIDTH, line.imag[row]], axis=1)
    return flat._replace(x=x, x_start=x, pin=np.where(row < 2, 1.0, 0.0))


def lean(rigidity, **settings):
    """[m] how far the middle of the tip is down in the end."""
    garment, settings = petal(rigidity), Settings(**settings)
    cloth, state = build([garment], settings)
    for frame in range(FRAMES):
        advance(cloth, state, naive.still(garment.x, gravity=(0.0, 0.0, -9.81)), frame, settings)
    tip = COLUMNS // 2 * ROWS + ROWS - 1
    return garment.x[tip, 2] - (state.x + cloth.origin)[tip, 2]


@pytest.mark.parametrize("rigidity", [2e-4, 1e-3])
def test_a_petal_leans_by_default_as_far_as_it_would(rigidity):
    """Where the preconditioner's pieces could not turn it leaned a fifth of that, as if cloth were glued."""
    exact = lean(rigidity, iterations=400, tolerance=1e-3)
    assert exact > 0.1
    assert lean(rigidity) == pytest.approx(exact, rel=0.1)
