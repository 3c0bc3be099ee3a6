# SPDX-License-Identifier: GPL-3.0-or-later
"""What a file keeps of positions: 32 bits of each coordinate, in a garment's own object space.

The solver reckons in 64 bits. Two points of cloth that are a nanometre apart in these may be one in the file, or have passed each
other: the guard keeps them farther apart than that (`grain`), and what is told of a frame is told of the file (`as_filed`).
"""

import numpy as np

HALF_STEP = 2.0**-24  # part of a number by which it changes at most where it is rounded to 32 bits


def object_samples(cloth, state, to_object):
    """Positions of each garment in its own object space, (n_g, 3) float64 each.

    to_object : (g, 4, 4) world to object space, or None for world space. The origin is folded into the matrix
    first, so that a garment 10 km away keeps its digits.
    """
    bounds = zip(cloth.garment_start[:-1], cloth.garment_start[1:], strict=True)
    return [_moved(state.x[start:end], _matrix(cloth, index, to_object)) for index, (start, end) in enumerate(bounds)]


def as_filed(cloth, x, to_object):
    """(n, 3) [m] where a file has particles that are at x (n, 3) [m], relative to the cloth's origin. to_object : as above"""
    filed = x.copy()
    for index in range(len(cloth.meets)):
        own, matrix = cloth.garment == index, _matrix(cloth, index, to_object)
        filed[own] = _moved(_moved(x[own], matrix).astype(np.float32).astype(np.float64), _inverse(matrix))
    return filed


def grain(cloth, x, to_object):
    """[m] by which two particles at x (n, 3) [m] may come nearer to each other at most where a file rounds both."""
    coarsest = 0.0
    for index in range(len(cloth.meets)):
        own, matrix = cloth.garment == index, _matrix(cloth, index, to_object)
        if own.any():
            farthest = np.abs(_moved(x[own], matrix)).max(axis=0)
            coarsest = max(coarsest, HALF_STEP * float(np.linalg.norm(_inverse(matrix)[:3, :3], axis=0) @ farthest))
    return 2.0 * coarsest


def _matrix(cloth, index, to_object):
    """(4, 4) that leads from places relative to the cloth's origin to the object space of a garment."""
    matrix = np.eye(4) if to_object is None else np.array(to_object[index], np.float64)
    matrix[:3, 3] += sum(matrix[:3, axis] * cloth.origin[axis] for axis in range(3))
    return matrix


def _moved(x, matrix):
    """(n, 3) points by a matrix (4, 4)."""
    return sum(x[:, axis, None] * matrix[:3, axis] for axis in range(3)) + matrix[:3, 3]


def _inverse(matrix):
    """(4, 4) that leads back. Not by `np.linalg.inv`: that wakes the threads of OpenBLAS even for so small a matrix, and these
    then spin for 10 ms, each on a core that the solver's want.
    """
    a, b, c = matrix[:3, :3]
    sides = np.stack((np.cross(b, c), np.cross(c, a), np.cross(a, b)), axis=1)
    back = np.eye(4)
    back[:3, :3] = sides / (a @ sides[:, 0])
    back[:3, 3] = -_moved(matrix[None, :3, 3], back)[0]
    return back
