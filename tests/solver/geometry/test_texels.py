# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of vertices as a picture: linear ones are drawn exactly, borders go on, what is outside is left out."""

import numpy as np
import pytest
from taffeta.solver.geometry import texels as module
from taffeta.solver.geometry.texels import picture_of, texels

SIZE = 16
PLACES = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
SQUARE = np.array([[0, 1, 2], [0, 2, 3]])


def laid_out(places, triangles=SQUARE, size=SIZE, padding=0):
    """Texels of triangles whose vertices lie at these places."""
    return texels(np.asarray(places)[triangles], triangles, size, padding)


def middles(size=SIZE):
    """Places of the middles of pixels, u and v (size, size)."""
    line = (np.arange(size) + 0.5) / size
    return np.meshgrid(line, line)


@pytest.mark.parametrize("at_once", [1, 7, 2**20])
def test_a_linear_value_is_drawn_exactly_and_every_pixel_once(monkeypatch, at_once):
    monkeypatch.setattr(module, "MOST_AT_ONCE", at_once)
    found = laid_out(PLACES)
    assert len(found.pixel) == SIZE * SIZE
    u, v = middles()
    assert picture_of(found, 3.0 * PLACES[:, 0] - PLACES[:, 1] + 2.0, SIZE) == pytest.approx(
        3.0 * u - v + 2.0, abs=1e-12
    )


def test_many_small_triangles_in_any_turn_are_drawn_as_one_plane():
    rng = np.random.default_rng(1)
    line = np.linspace(0.0, 1.0, 9)
    places = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    corner = (np.arange(8)[:, None] * 9 + np.arange(8)).ravel()
    triangles = np.vstack(
        (np.column_stack((corner, corner + 1, corner + 10)), np.column_stack((corner, corner + 9, corner + 10)))
    )
    inner = ((places > 0.0) & (places < 1.0)).all(axis=1)
    places[inner] += rng.uniform(-0.03, 0.03, (inner.sum(), 2))
    found = laid_out(places, triangles, 64)
    u, v = middles(64)
    assert picture_of(found, places @ (2.0, 5.0), 64) == pytest.approx(2.0 * u + 5.0 * v, abs=1e-12)


def test_padding_goes_on_with_the_nearest_and_no_farther():
    found = laid_out(PLACES * 0.25 + 0.375, padding=2)  # pixels 6 to 9
    picture = picture_of(found, np.array([1.0, 1.0, 1.0, 1.0]), SIZE)
    rows = np.flatnonzero(picture.any(axis=1))
    assert rows[0] == 4 and rows[-1] == 11 and picture[8, 4] == picture[4, 8] == 1.0
    assert picture[4, 4] == 0.0, "a corner is two steps away in both directions"
    assert len(laid_out(PLACES * 0.25 + 0.375).pixel) == 16


def test_what_is_outside_or_flat_is_not_drawn():
    assert len(laid_out(PLACES + 2.0).pixel) == 0
    assert len(laid_out(PLACES * (1.0, 0.0)).pixel) == 0
    half = laid_out(PLACES + (0.5, 0.0))
    assert len(half.pixel) == SIZE * SIZE // 2 and (half.pixel % SIZE >= SIZE // 2).all()
