# SPDX-License-Identifier: GPL-3.0-or-later
"""Cells of what is nowhere near: places beyond all integers, and none at all, lead to no cell outside the grid."""

import numba
import numpy as np
import pytest
from taffeta.solver.contact.body.cell_grid import Box, cell_of, clipped, make_cells
from taffeta.solver.contact.guard.patch_bounds import Lag, _cells_of


@numba.njit
def cells_between(cells, near, far):
    return clipped(cells, 0, near, far)


@numba.njit
def at(cells, x, y, z):
    return cell_of(cells, x, y, z)


@numba.njit
def of_box(boxes, lag, cells):
    return _cells_of(boxes, 0, lag, cells, 0)


CELLS = make_cells(Box(np.zeros(3), np.ones(3)), 0.05)
MOST = int(CELLS.shape[0]) - 2  # the last cell of the domain


@pytest.mark.parametrize(
    ("near", "far", "wanted"),
    [(1e21, 2e21, (MOST + 1, MOST)), (-2e21, -1e21, (1, 0)), (-1e300, 1e300, (1, MOST)), (np.nan, np.nan, (1, 0)),
     (0.15, 0.25, (2, 3))],
)  # fmt: skip
def test_no_cell_lies_outside(near, far, wanted):
    assert cells_between(CELLS, near, far) == wanted


@pytest.mark.parametrize("far", [1e21, -1e21, np.nan, np.inf])
def test_a_point_beyond_has_no_cell(far):
    assert at(CELLS, far, 0.5, 0.5) == -1 and at(CELLS, 0.5, 0.5, 0.5) > 0


def test_a_box_that_reaches_beyond_all_integers_reaches_beyond_the_grid():
    box = np.array([[0.1, 0.1, 0.1, 6e18, 0.2, 0.2]])
    first, last = of_box(box, Lag(np.zeros(3), 0.0, 0.0), CELLS)
    assert first == 2.0 and last > CELLS.shape[0]
