# SPDX-License-Identifier: GPL-3.0-or-later
"""The legend's place: free of the brush shelf, the toolbar and the panel of the last operation."""

from types import SimpleNamespace

import pytest
from taffeta.operators.overlay.placing import free_corner


def region(kind, x, y, width, height):
    return SimpleNamespace(type=kind, x=x, y=y, width=width, height=height)


WINDOW = region("WINDOW", 100, 200, 1000, 800)
HEADER = region("HEADER", 100, 974, 1000, 26)


def test_alone_it_stands_at_the_lower_left():
    assert free_corner([WINDOW, HEADER, region("ASSET_SHELF", 100, 200, 1000, 1)], WINDOW, 1.0, 42) == (60, 60)


@pytest.mark.parametrize("unit", [1.0, 1.5])
def test_it_stands_above_the_brush_shelf_with_its_numbers(unit):
    shelf = region("ASSET_SHELF", 100, 200, 1000, 120)
    left, low = free_corner([WINDOW, HEADER, shelf], WINDOW, unit, 42)
    assert low - 16 * unit > 120 and low < 180 and left == 60 * unit


def test_it_stands_right_of_a_wide_toolbar_and_of_the_last_operation():
    tools = region("TOOLS", 100, 230, 110, 700)
    assert free_corner([WINDOW, tools], WINDOW, 1.0, 42)[0] > 110
    panel = region("HUD", 120, 210, 240, 160)
    assert free_corner([WINDOW, tools, panel], WINDOW, 1.0, 42)[0] > 260
    shelf = region("ASSET_SHELF", 100, 200, 1000, 300)
    assert free_corner([WINDOW, panel, shelf], WINDOW, 1.0, 42)[0] == 60, "the panel is below the legend then"


def test_what_is_at_the_other_side_is_not_in_the_way():
    sidebar = region("UI", 900, 200, 200, 700)
    assert free_corner([WINDOW, HEADER, sidebar], WINDOW, 1.0, 42) == (60, 60)
