# SPDX-License-Identifier: GPL-3.0-or-later
"""What a file keeps of positions: 32 bits of each coordinate, in a garment's own object space.

The solver reckons in 64 bits. Two points of cloth that are a nanometre apart in these may be one in the file, or have passed each
other: the guard keeps them farther apart than that (`grain`), and what is told of a frame is told of the file (`as_filed`).
"""

import numpy as np

from .kernel.jit import njit

HALF_STEP = 2.0**-24  # part of a number by which it changes at most where it is rounded to 32 bits


def object_samples(cloth, state, to_object):
    """Positions of each garment in its own object space, (n_g, 3) float64 each.

    to_object : (g, 4, 4) world to object space, or None for world space. The origin is folded into the matrix
    first, so that a garment 10 km away keeps its digits.
    """
    start = cloth.garment_start
    moved = _moved(state.x, start, _matrices(cloth, len(start) - 1, to_object))
    return [moved[first:last] for first, last in zip(start[:-1], start[1:], strict=True)]


def as_filed(cloth, x, to_object):
    """(n, 3) [m] where a file has particles that are at x (n, 3) [m], relative to the cloth's origin. to_object : as above"""
    start = _starts(cloth)
    matrices = _matrices(cloth, len(start) - 1, to_object)
    kept = _moved(x, start, matrices).astype(np.float32)
    return _moved(kept.astype(np.float64), start, _inverses(matrices))


def grain(cloth, x, to_object):
    """[m] by which two particles at x (n, 3) [m] may come nearer to each other at most where a file rounds both."""
    start, coarsest = _starts(cloth), 0.0
    matrices = _matrices(cloth, len(start) - 1, to_object)
    moved = _moved(x, start, matrices)
    for first, last, back in zip(start[:-1], start[1:], _inverses(matrices), strict=True):
        if first < last:
            farthest = np.abs(moved[first:last]).max(axis=0)
            coarsest = max(coarsest, HALF_STEP * float((np.linalg.norm(back[:3, :3], axis=0) * farthest).sum()))
    return 2.0 * coarsest


def _starts(cloth):
    """(g + 1,) where the particles of each garment begin, also in cloth of which some are left out."""
    return np.searchsorted(cloth.garment, np.arange(len(cloth.meets) + 1)).astype(np.int32)


def _matrices(cloth, count, to_object):
    """(g, 4, 4) that lead from places relative to the cloth's origin to the object space of each of `count` garments."""
    matrices = np.tile(np.eye(4), (count, 1, 1)) if to_object is None else np.array(to_object, np.float64)
    matrices[:, :3, 3] += sum(matrices[:, :3, axis] * cloth.origin[axis] for axis in range(3))
    return matrices


def _inverses(matrices):
    """(g, 4, 4) that lead back. Not by `np.linalg.inv`: that wakes the threads of OpenBLAS even for so small a matrix, and these
    then spin for 10 ms, each on a core that the solver's want.
    """
    back = np.zeros_like(matrices)
    inverse_kernel(matrices, back)
    return back


def _moved(x, start, matrices):
    """(n, 3) points, those of garment g, which begin at start[g], by its matrix."""
    moved = np.empty_like(x)
    moved_kernel(x, start, matrices, moved)
    return moved


@njit
def moved_kernel(x, start, matrices, moved):
    """As `_moved`. 50 bytes and 20 flops a point.
    # outputs: moved (n, 3)
    """
    for g in range(len(matrices)):
        matrix = matrices[g]
        for i in range(start[g], start[g + 1]):
            for axis in range(3):
                along = x[i, 0] * matrix[axis, 0] + x[i, 1] * matrix[axis, 1] + x[i, 2] * matrix[axis, 2]
                moved[i, axis] = along + matrix[axis, 3]


@njit
def inverse_kernel(matrices, back):
    """Inverses of affine maps, by the cross products of their rows.
    # outputs: back (g, 4, 4), zeros
    """
    for g in range(len(matrices)):
        m, inverse = matrices[g], back[g]
        for axis in range(3):
            j, k = (axis + 1) % 3, (axis + 2) % 3
            for i in range(3):
                inverse[i, axis] = m[j, (i + 1) % 3] * m[k, (i + 2) % 3] - m[j, (i + 2) % 3] * m[k, (i + 1) % 3]
        size = m[0, 0] * inverse[0, 0] + m[0, 1] * inverse[1, 0] + m[0, 2] * inverse[2, 0]
        for i in range(3):
            for axis in range(3):
                inverse[i, axis] /= size
            inverse[i, 3] = -(inverse[i, 0] * m[0, 3] + inverse[i, 1] * m[1, 3] + inverse[i, 2] * m[2, 3])
        inverse[3, 3] = 1.0
