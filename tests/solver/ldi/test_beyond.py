# SPDX-License-Identifier: GPL-3.0-or-later
"""What is not finite is drawn nowhere, and what reaches beyond all integers as far as there are pixels."""

import numpy as np
import pytest
from taffeta.solver.kernel.jit import njit
from taffeta.solver.ldi.centres import _span, render
from taffeta.solver.ldi.rasterise import _squares
from taffeta.solver.velocity_field.obstacles import _find_box, _Tiles

COUNT, FAR = 10, 1e30
BAD = [np.nan, np.inf, -np.inf]


@njit
def span(p, q, r):
    return _span(p, q, r, COUNT)


@njit
def squares(corner, growth):
    return _squares(corner, growth, 0, COUNT)


@njit
def reached(tiles, x, box):
    return _find_box(tiles, x, 0, 1, 2, box)


@pytest.mark.parametrize("corner", range(3))
@pytest.mark.parametrize("bad", BAD)
def test_a_triangle_that_is_not_finite_is_on_no_line(bad, corner):
    numbers = [1.0, 2.0, 3.0]
    numbers[corner] = bad
    first, end = span(*numbers)
    assert first == end


@pytest.mark.parametrize("corner", range(3))
def test_a_triangle_without_a_place_is_on_no_square(corner):
    x, growth = np.full((3, 3), 0.3), np.zeros(3)
    assert squares(x, growth) == (0, 0) and squares(x, np.full(3, np.inf)) == (0, COUNT - 1)
    x[corner, 0] = np.nan
    first, last = squares(x, growth)
    assert last < first
    first, last = squares(np.full((3, 3), 0.3), np.full(3, np.nan))
    assert last < first


@pytest.mark.parametrize(
    ("numbers", "wanted"),
    [((1.0, 2.0, 3.0), (1, 3)), ((1.0, 2.0, FAR), (1, COUNT)), ((-FAR, 2.0, FAR), (0, COUNT)),
     ((FAR, FAR, FAR), (COUNT, COUNT)), ((-FAR, -FAR, -FAR), (0, 0))],
)  # fmt: skip
def test_what_reaches_beyond_all_integers_is_on_all_lines(numbers, wanted):
    assert span(*numbers) == wanted


@pytest.mark.parametrize("bad", BAD)
def test_an_image_leaves_out_what_is_not_finite(bad):
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, 1], [bad, 0, 1], [0, 1, 1]])
    whole = render(x[:3], np.array([[0, 1, 2]], np.int32), np.zeros(3), np.ones(3), COUNT, 2)
    image = render(x, np.array([[0, 1, 2], [3, 4, 5]], np.int32), np.zeros(3), np.ones(3), COUNT, 2)
    assert len(whole.depth) and np.array_equal(image.depth, whole.depth) and not image.triangle.any()


@pytest.mark.parametrize("corner", range(3))
@pytest.mark.parametrize("bad", BAD)
def test_a_body_that_is_not_finite_reaches_no_node(bad, corner):
    tiles = _Tiles(
        0.1, np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(3), np.ones(3), np.ones(1, bool), np.ones(1, bool)
    )
    x, box = np.full((3, 3), 0.3), np.zeros((2, 3), np.int64)
    assert reached(tiles, x, box) and (box[0] <= box[1]).all() and box.min() >= 0 and box.max() < 16
    x[corner, 1] = bad
    assert not reached(tiles, x, box)
