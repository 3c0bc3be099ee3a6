# SPDX-License-Identifier: GPL-3.0-or-later
"""Sines and the like of arrays, number by number as the C library has them, and axes of small matrices.

numpy has code of its own for these on some processors (AVX-512), whose last digit is another: cloth that begins a last digit
apart falls otherwise, and a bake that is resumed on another machine would not go on as it began. For the same reason
nothing in a bake sums by BLAS, that is by `@`, `np.dot` or most of `np.linalg`, but `np.einsum`.
"""

import math

import numpy as np

from .jit import njit

_SINE, _ARCSINE, _EXPONENTIAL, _LOGARITHM = range(4)
ROTATIONS = (
    6  # of each pair of rows; each squares what is left off the diagonal, and the fifth leaves nothing that counts
)


def sin(angle: np.ndarray) -> np.ndarray:
    """Sines of angles [rad], of any shape."""
    return _of_each(_SINE, angle)


def arcsin(sine: np.ndarray) -> np.ndarray:
    """Angles [rad] of sines in [-1, 1], of any shape."""
    return _of_each(_ARCSINE, sine)


def exp(power: np.ndarray) -> np.ndarray:
    """e to these powers, of any shape."""
    return _of_each(_EXPONENTIAL, power)


def log(value: np.ndarray) -> np.ndarray:
    """Natural logarithms of values above 0, of any shape."""
    return _of_each(_LOGARITHM, value)


def symmetric_axes(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (m, 3), ascending, and as columns (m, 3, 3) the unit vectors that belong to them, of symmetric matrices (m, 3, 3).

    By Jacobi's rotations, of which each clears a pair of entries (Golub and Van Loan 2013, Matrix Computations, section 8.5):
    numpy's own, of LAPACK, end in other last digits on other processors.
    """
    largest = np.maximum(np.abs(matrices).max(axis=(1, 2), initial=0.0), np.finfo(float).tiny)
    left = (np.asarray(matrices, np.float64) / largest[:, None, None]).transpose(1, 2, 0).copy()
    axes = np.repeat(np.eye(3)[:, :, None], left.shape[2], axis=2)
    for _ in range(ROTATIONS):
        for p, q in (0, 1), (0, 2), (1, 2):
            apart, twice = left[q, q] - left[p, p], 2.0 * left[p, q]
            reach = np.abs(apart) + np.sqrt(apart * apart + twice * twice)
            turned = np.where(apart < 0.0, -twice, twice)
            tangent = np.divide(turned, reach, out=np.zeros_like(reach), where=reach > 0.0)
            cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
            sine = tangent * cosine
            for rows in left, left.transpose(1, 0, 2), axes.transpose(1, 0, 2):  # views: each is turned in place
                rows[p], rows[q] = cosine * rows[p] - sine * rows[q], sine * rows[p] + cosine * rows[q]
            left[p, q] = left[q, p] = 0.0
    sizes = left[range(3), range(3)].T * largest[:, None]
    order = np.argsort(sizes, axis=1, kind="stable")
    return np.take_along_axis(sizes, order, axis=1), np.take_along_axis(axes.transpose(2, 0, 1), order[:, None], axis=2)


def _of_each(which: int, values: np.ndarray) -> np.ndarray:
    values = np.array(values, np.float64, order="C")
    functions_kernel(which, values.ravel())
    return values


@njit
def functions_kernel(which, values):
    """One of the functions in place of each value (n,). 16 bytes and about 20 ns a value."""
    for i in range(len(values)):
        if which == _SINE:
            values[i] = math.sin(values[i])
        elif which == _ARCSINE:
            values[i] = math.asin(values[i])
        elif which == _EXPONENTIAL:
            values[i] = math.exp(values[i])
        else:
            values[i] = math.log(values[i])
