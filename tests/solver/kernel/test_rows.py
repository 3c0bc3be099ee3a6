# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of three numbers, taken together as numpy does, to the bit."""

import numpy as np
import pytest
from taffeta.solver.kernel.rows import are_same, mean_of


@pytest.mark.parametrize("count", [1, 3, 1000])
def test_the_mean_is_that_of_numpy_to_the_bit(count):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(count, 3)) * [1.0, 1e3, 1e-6]
    assert np.array_equal(mean_of(rows), rows.mean(axis=0))


def test_rows_are_the_same_as_the_first_of_others_or_differ_in_a_number():
    rng = np.random.default_rng(2)
    others = rng.normal(size=(9, 3))
    rows = others[:7].copy()
    assert are_same(rows, others)
    rows[6, 2] = np.nextafter(rows[6, 2], 9.0)
    assert not are_same(rows, others)
    rows[6, 2] = np.nan
    assert not are_same(rows, others), "what is not a number is the same as nothing"
