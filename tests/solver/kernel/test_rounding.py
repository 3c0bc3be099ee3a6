# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds in float32 are bounds, and no farther off than they have to be."""

import numpy as np
from taffeta.solver.kernel.jit import counted_njit
from taffeta.solver.kernel.rounding import rounded_down, rounded_up


@counted_njit
def _both(numbers, low, high):
    for k in range(len(numbers)):
        low[k], high[k] = rounded_down(numbers[k]), rounded_up(numbers[k])


def test_bounds_stay_bounds_when_they_are_rounded():
    rng = np.random.default_rng(5)
    numbers = np.concatenate([[0.0], rng.normal(size=1000) * 10.0 ** rng.integers(-9, 9, 1000)])
    low, high = np.empty((2, len(numbers)), np.float32)
    _both(numbers, low, high)
    assert (low <= numbers).all() and (high >= numbers).all() and low[0] == high[0] == 0.0
    assert (high.astype(float) - low <= 4e-7 * np.abs(numbers)).all()
