# SPDX-License-Identifier: GPL-3.0-or-later
"""How vertices of bodies go between samples."""

import numpy as np
import pytest
from taffeta.solver.contact.body.motion import move
from taffeta.solver.geometry.moving_triangle import MOTION


def moved(samples, t0, t1):
    motions = np.full((samples.shape[1], 6), np.nan)
    move(samples, np.zeros(3), 0, np.arange(samples.shape[1]), t0, t1, motions)
    return motions


@pytest.mark.parametrize("parts", [7, 30])
def test_what_stands_still_does_not_move_by_a_rounding(parts):
    samples = np.repeat(np.random.default_rng(1).uniform(-3.0, 3.0, (1, 200, 3)), 3, axis=0)
    for k in range(parts):
        motions = moved(samples, k / parts, (k + 1) / parts)
        assert (motions[:, :MOTION] == samples[0]).all() and not motions[:, MOTION:].any()


def test_samples_are_hit_exactly():
    samples = np.random.default_rng(2).uniform(-3.0, 3.0, (4, 200, 3)) * [1.0, 1e-3, 1e3]
    for k in range(3):
        motions = moved(samples, k / 3.0, (k + 1) / 3.0)
        assert (motions[:, :MOTION] == samples[k]).all()
        assert (motions[:, MOTION:] == samples[k + 1] - samples[k]).all()
