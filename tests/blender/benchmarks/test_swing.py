# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast curved cloth swings, by default and solved to the end."""

import pytest
import swing

pytestmark = pytest.mark.once


def test_equal_petals_swing_alike_where_the_solve_is_exact():
    down, milliseconds = swing.swing(1e-4, 400, 1e-3)
    assert milliseconds > 0.0
    assert (0.1 < down[0]).all() and (down[0] < 0.15).all()  # [m]
    assert (down[:2].max(axis=1) - down[:2].min(axis=1)).max() < 0.004


def test_a_row_tells_limits_and_how_far_the_tips_are_down():
    cells = swing.row(1e-4, 16, 0.1).strip("| ").split(" | ")
    assert cells[:3] == ["0.0001", "16", "0.1"] and len(cells) == len(swing.HEAD.splitlines()[0].split("|")) - 2
    assert [float(cell.split(" ")[0]) > 50.0 for cell in cells[3:6]] == [True] * 3
