# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles and the pixels that they are in."""

import numpy as np
import pytest
from taffeta.solver.depth_layers.sticks import _pixel
from taffeta.solver.kernel.jit import njit
from taffeta.solver.ldi.rasterise import Raster

IMAGE = Raster(np.zeros(3), 0.1, np.array([10, 10, 10]), np.zeros(4, np.int64))


@njit
def pixel(image, x):
    return _pixel(image, x, 0, 0)


@pytest.mark.parametrize("far", [np.nan, np.inf, -np.inf, 1e30, -1e30, 1.01, -0.01])
def test_a_particle_beyond_the_image_is_in_no_pixel(far):
    assert pixel(IMAGE, np.array([[0.5, far, 0.55]])) == pixel(IMAGE, np.array([[0.5, 0.55, far]])) == -1
    assert pixel(IMAGE, np.array([[0.5, 0.35, 0.55]])) == 35
