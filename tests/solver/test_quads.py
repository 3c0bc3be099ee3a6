# SPDX-License-Identifier: GPL-3.0-or-later
"""Quads and blocks of them against numpy."""

import numba
import numpy as np
import pytest
from taffeta.solver import blocks
from taffeta.solver.quads import dot, every, flat, load, part, quad, spread, store, total

ROWS = np.random.default_rng(2).normal(size=(6, 4))


@numba.njit
def _all(rows, out):
    one, other = load(rows, np.uintp(1)), load(rows, np.uintp(4))
    store(out, np.uintp(0), one + other)
    store(out, np.uintp(1), one - other)
    store(out, np.uintp(2), one * other)
    store(out, np.uintp(3), every(one, 2))
    store(out, np.uintp(4), spread(rows[0, 3]))
    store(out, np.uintp(5), quad(1.0, 2.0, 3.0, 4.0))
    store(out, np.uintp(6), flat(one))
    store(out, np.uintp(7), dot(one, other))
    return part(one, 3), total(other)


def test_each_means_what_numpy_means():
    out = np.zeros((8, 4))
    last, first_three = _all(ROWS, out)
    one, other = ROWS[1], ROWS[4]
    exact = [one + other, one - other, one * other, np.full(4, one[2]), np.full(4, ROWS[0, 3]), [1, 2, 3, 4]]
    assert (out[:6] == exact).all() and (out[6] == [*one[:3], 0.0]).all() and last == one[3]
    assert out[7] == pytest.approx(np.full(4, one @ other), rel=1e-14) and len(set(out[7])) == 1
    assert first_three == pytest.approx(other[:3].sum(), rel=1e-14)


@numba.njit
def _blocks(kind, blocks_, normal, v, out):
    blocks.write(blocks_, 0, 5.0, load(v, np.uintp(0)), load(v, np.uintp(1)), load(v, np.uintp(2)))
    blocks.clear(blocks_, 1)
    blocks.add_product(blocks_, 1, 2.5, load(v, np.uintp(3)), load(v, np.uintp(4)))
    blocks.add_block(blocks_, 1, blocks_, 1)
    store(out, np.uintp(0), blocks.times(blocks_, 1, load(v, np.uintp(5))))
    for one in range(3):
        store(out, np.uintp(1 + one), blocks.keep_free(kind[one], normal, np.uintp(0), load(v, np.uintp(5))))
    blocks.invert(blocks_, 1, 30.0)


def test_blocks_are_symmetric_matrices():
    flat_rows, out, found = ROWS * [1, 1, 1, 0], np.zeros((4, 4)), np.zeros((6, 4))
    normal = np.array([[0.6, 0.0, 0.8, 0.0]])
    _blocks(np.array([0, 1, 2], np.int8), found, normal, flat_rows, out)
    v = ROWS[:, :3]
    matrix = 2 * (5.0 * np.eye(3) + np.outer(v[3], v[4]) + np.outer(v[4], v[3]))
    assert np.allclose(found[:3, :3], 5.0 * np.eye(3) + v[:3]) and (found[:, 3] == 0.0).all()
    assert np.allclose(out[0, :3], matrix @ v[5])
    assert np.allclose(found[3:, :3] @ (matrix + 30.0 * np.eye(3)), np.eye(3))
    along = normal[0, :3] * (normal[0, :3] @ v[5])
    assert np.allclose(out[1:, :3], [v[5], v[5] - along, np.zeros(3)])
