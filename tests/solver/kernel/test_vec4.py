# SPDX-License-Identifier: GPL-3.0-or-later
"""Four numbers as one value against numpy."""

import numba
import numpy as np
import pytest
from taffeta.solver.kernel.vec4 import broadcast, broadcast_lane, dot, lane, load, store, sum_xyz, vec4, xyz

ROWS = np.random.default_rng(2).normal(size=(6, 4))


@numba.njit
def _all(rows, out):
    one, other = load(rows, np.uintp(1)), load(rows, np.uintp(4))
    store(out, np.uintp(0), one + other)
    store(out, np.uintp(1), one - other)
    store(out, np.uintp(2), one * other)
    store(out, np.uintp(3), broadcast_lane(one, 2))
    store(out, np.uintp(4), broadcast(rows[0, 3]))
    store(out, np.uintp(5), vec4(1.0, 2.0, 3.0, 4.0))
    store(out, np.uintp(6), xyz(one))
    store(out, np.uintp(7), dot(one, other))
    return lane(one, 3), sum_xyz(other)


def test_each_means_what_numpy_means():
    out = np.zeros((8, 4))
    last, first_three = _all(ROWS, out)
    one, other = ROWS[1], ROWS[4]
    exact = [one + other, one - other, one * other, np.full(4, one[2]), np.full(4, ROWS[0, 3]), [1, 2, 3, 4]]
    assert (out[:6] == exact).all() and (out[6] == [*one[:3], 0.0]).all() and last == one[3]
    assert out[7] == pytest.approx(np.full(4, one @ other), rel=1e-14) and len(set(out[7])) == 1
    assert first_three == pytest.approx(other[:3].sum(), rel=1e-14)
