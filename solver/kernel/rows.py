# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of three numbers, (n, 3), taken together: numpy does so row by row, in ten times the time."""

import numpy as np

from .jit import njit


def mean_of(rows: np.ndarray) -> np.ndarray:
    """(3,) the mean row, added up from the first to the last; not a number where there is none."""
    mean = np.empty(3)
    mean_kernel(rows, mean)
    return mean


@njit
def mean_kernel(rows, mean):
    """The loop of `mean_of`. 24 bytes a row. # outputs: mean (3,)"""
    x, y, z = 0.0, 0.0, 0.0
    for i in range(len(rows)):
        x, y, z = x + rows[i, 0], y + rows[i, 1], z + rows[i, 2]
    mean[0], mean[1], mean[2] = x / len(rows), y / len(rows), z / len(rows)


@njit
def differing(rows, others, is_other):
    """Which rows are not the others, number by number. 49 bytes a row. # outputs: is_other (n,)"""
    for i in range(len(rows)):
        is_other[i] = rows[i, 0] != others[i, 0] or rows[i, 1] != others[i, 1] or rows[i, 2] != others[i, 2]


@njit
def are_same(rows, others):
    """Whether rows are the first of the others, number by number. 48 bytes a row."""
    for i in range(len(rows)):
        if rows[i, 0] != others[i, 0] or rows[i, 1] != others[i, 1] or rows[i, 2] != others[i, 2]:
            return False
    return True
