# SPDX-License-Identifier: GPL-3.0-or-later
"""Symmetric 3 x 3 blocks against numpy."""

import numba
import numpy as np
from taffeta.solver.kernel import mat3
from taffeta.solver.kernel.vec4 import load, store, vec4

ROWS = np.random.default_rng(2).normal(size=(6, 4))


@numba.njit
def _every_operation(kind, blocks, normal, v, out):
    mat3.write(blocks, 0, 5.0, load(v, np.uintp(0)), load(v, np.uintp(1)), load(v, np.uintp(2)))
    for _ in range(2):
        mat3.add_product(blocks, 1, 2.5, load(v, np.uintp(3)), load(v, np.uintp(4)))
    store(out, np.uintp(0), mat3.times(blocks, 1, load(v, np.uintp(5))))
    for one in range(3):
        store(out, np.uintp(1 + one), mat3.keep_free(kind[one], normal, np.uintp(0), load(v, np.uintp(5))))
    nothing = vec4(0.0, 0.0, 0.0, 0.0)
    mat3.add(blocks, 1, 30.0, nothing, nothing, nothing)
    mat3.invert(blocks, 1)


def test_blocksare_symmetric_matrices():
    flat_rows, out, found = ROWS * [1, 1, 1, 0], np.zeros((4, 4)), np.zeros((6, 4))
    normal = np.array([[0.6, 0.0, 0.8, 0.0]])
    _every_operation(np.array([0, 1, 2], np.int8), found, normal, flat_rows, out)
    v = ROWS[:, :3]
    matrix = 2 * (5.0 * np.eye(3) + np.outer(v[3], v[4]) + np.outer(v[4], v[3]))
    assert np.allclose(found[:3, :3], 5.0 * np.eye(3) + v[:3]) and (found[:, 3] == 0.0).all()
    assert np.allclose(out[0, :3], matrix @ v[5])
    assert np.allclose(found[3:, :3] @ (matrix + 30.0 * np.eye(3)), np.eye(3))
    along = normal[0, :3] * (normal[0, :3] @ v[5])
    assert np.allclose(out[1:, :3], [v[5], v[5] - along, np.zeros(3)])
