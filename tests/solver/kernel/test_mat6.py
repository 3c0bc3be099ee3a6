# SPDX-License-Identifier: GPL-3.0-or-later
"""Blocks of six by six against numpy's."""

import numba
import numpy as np
from taffeta.solver.kernel import mat6
from taffeta.solver.kernel.vec4 import load, store


@numba.njit
def _fill(blocks, offs, rows, moved):
    """Particles into block 0; into block 1, and moved from there into block 2."""
    for k in range(3):
        mat6.clear(blocks, np.uintp(k))
    for i in range(np.uintp(len(offs))):
        at = np.uintp(3) * i
        x, y, z = load(rows, at), load(rows, at + np.uintp(1)), load(rows, at + np.uintp(2))
        mat6.add_at(blocks, np.uintp(0), load(offs, i), x, y, z)
        mat6.add_at(blocks, np.uintp(1), load(offs, i) - load(moved, np.uintp(0)), x, y, z)
    mat6.add_moved(blocks, np.uintp(2), np.uintp(1), load(moved, np.uintp(0)))


@numba.njit
def _answer(blocks, pull, found):
    mat6.invert(blocks, np.uintp(0))
    v, w = mat6.answer(blocks, np.uintp(0), load(pull, np.uintp(0)), load(pull, np.uintp(1)))
    store(found, np.uintp(0), v)
    store(found, np.uintp(1), w)


def pieces(count, rng):
    """Offsets (n, 3), and positive definite blocks (n, 3, 3)."""
    half = rng.normal(size=(count, 3, 3))
    return rng.normal(size=(count, 3)), half @ half.transpose(0, 2, 1)


def filled(offs, rows):
    blocks, pad = np.ones((36, 4)), ((0, 0), (0, 1))
    _fill(blocks, np.pad(offs, pad), np.pad(rows.reshape(-1, 3), pad), np.array([[0.3, -2.0, 0.7, 0.0]]))
    return blocks


def dense(offs, rows):
    turned = np.array([[[0, z, -y], [-z, 0, x], [y, -x, 0]] for x, y, z in offs])
    moves = np.concatenate([np.tile(np.eye(3), (len(offs), 1, 1)), turned], axis=2)
    return np.einsum("nai,nab,nbj->ij", moves, rows, moves)


def test_particles_make_the_block_of_their_piece():
    """Wherever its point of reference is."""
    offs, rows = pieces(5, np.random.default_rng(1))
    expected = dense(offs, rows)
    for block in filled(offs, rows).reshape(3, 4, 3, 4)[::2, :, :, :3]:
        assert np.allclose(block[0], expected[:3, :3]) and np.allclose(block[1], expected[:3, 3:])
        assert np.allclose(block[3], expected[3:, 3:])


def test_an_inverse_block_answers_what_pulls():
    rng = np.random.default_rng(2)
    offs, rows = pieces(5, rng)
    pull, found = np.pad(rng.normal(size=(2, 3)), ((0, 0), (0, 1))), np.zeros((2, 4))
    _answer(filled(offs, rows), pull, found)
    assert np.allclose(found[:, :3].ravel(), np.linalg.solve(dense(offs, rows), pull[:, :3].ravel()))


def test_a_turn_that_moves_nothing_is_not_made():
    """About the line through two particles, and about a single one: no number comes of rounding."""
    for count in (1, 2):
        offs, rows = pieces(count, np.random.default_rng(3))
        forces = np.random.default_rng(4).normal(size=(count, 3))
        pull, found = np.zeros((2, 4)), np.zeros((2, 4))
        pull[:, :3] = forces.sum(axis=0), np.cross(offs, forces).sum(axis=0)
        _answer(filled(offs, rows), pull, found)
        moved = found[0, :3] + np.cross(found[1, :3], offs)
        expected = dense(offs, rows)
        best = np.linalg.lstsq(expected, pull[:, :3].ravel(), rcond=1e-10)[0]
        assert np.allclose(moved, best[:3] + np.cross(best[3:], offs), rtol=1e-4, atol=1e-6)
