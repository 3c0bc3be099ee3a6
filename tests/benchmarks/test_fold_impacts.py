# SPDX-License-Identifier: GPL-3.0-or-later
"""What is left of a sheet's folds on impact (`benchmarks/fold_impacts.py`)."""

import fold_impacts
import pytest


@pytest.mark.parametrize("is_lifted", [False, True])
def test_folds_outlive_a_slow_impact(is_lifted):
    """Waves of 4 mm that come down at 1 m/s, or are lifted by as much, stay; none gets deeper by half."""
    assert 0.75 < fold_impacts.kept(0.004, 0.06, 1.0, 10, is_lifted, 4) < 1.5


def test_small_folds_are_pressed_flat_as_in_many_substeps():
    assert fold_impacts.kept(0.001, 0.05, 2.0, 10, frames=4) < 0.1


@pytest.mark.parametrize(("height", "length", "speed"), [(0.002, 0.05, 4.0), (0.004, 0.06, 6.0)])
def test_folds_outlive_a_fast_impact(height, length, speed):
    """In one step the first were pressed flat, and the others crumpled to six times their height; in finer ones it is 1.1 to 1.9."""
    assert 0.75 < fold_impacts.kept(height, length, speed, 10, frames=4) < 2.0
