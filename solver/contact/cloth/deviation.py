# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth: how far particles have left the ways that their pairs were measured on."""

import math

import numpy as np

from ...kernel.jit import inner, njit
from ...kernel.shared import BOARD, share

SUMMED = 512  # particles that are summed up as one, whatever the machine
SMALLEST_SUMMED_PART = 2  # of these, that another thread is asked for


@njit
def deviation_kernel(board, x, x_ref, v_ref, time, slack, sums, is_out, deviation):
    """How far particles are from x_ref + time v_ref, less what all are on average, in `sums[0]`; returns whether one is farther
    off than its slack, or nowhere. 150 bytes and 20 flops a particle.
    # outputs: sums (b, 3), of blocks of `SUMMED` particles; deviation (n,); is_out (b,) bool scratch
    """
    blocks, count = len(sums), len(x)
    share(board, _sum_off, blocks, SMALLEST_SUMMED_PART, (x, x_ref, v_ref, time, sums))
    for axis in range(3):
        for block in range(1, blocks):
            sums[0, axis] += sums[block, axis]
        sums[0, axis] /= count
    share(board, _deviate, blocks, SMALLEST_SUMMED_PART, (x, x_ref, v_ref, time, slack, sums, is_out, deviation))
    found = False
    for block in range(blocks):
        found |= is_out[block]
    return found


@inner
def _sum_off(first, last, x, x_ref, v_ref, time, sums):
    for block in range(first, last):
        mx, my, mz = 0.0, 0.0, 0.0
        for i in range(np.uintp(block * SUMMED), np.uintp(min(block * SUMMED + SUMMED, len(x)))):
            mx += x[i, 0] - x_ref[i, 0] - time * v_ref[i, 0]
            my += x[i, 1] - x_ref[i, 1] - time * v_ref[i, 1]
            mz += x[i, 2] - x_ref[i, 2] - time * v_ref[i, 2]
        sums[block, 0], sums[block, 1], sums[block, 2] = mx, my, mz


@inner
def _deviate(first, last, x, x_ref, v_ref, time, slack, sums, is_out, deviation):
    mx, my, mz = sums[0, 0], sums[0, 1], sums[0, 2]
    for block in range(first, last):
        found = False
        for i in range(np.uintp(block * SUMMED), np.uintp(min(block * SUMMED + SUMMED, len(x)))):
            dx = x[i, 0] - x_ref[i, 0] - time * v_ref[i, 0] - mx
            dy = x[i, 1] - x_ref[i, 1] - time * v_ref[i, 1] - my
            dz = x[i, 2] - x_ref[i, 2] - time * v_ref[i, 2] - mz
            deviation[i] = math.sqrt(dx * dx + dy * dy + dz * dz)
            found |= not deviation[i] <= slack[i]
        is_out[block] = found


def deviate(x, x_ref, v_ref, time: float, slack, deviation) -> tuple[bool, np.ndarray]:
    """Fill `deviation` (n,) with how far x (n, 3) are from x_ref + time v_ref, less what all are on average; returns whether one is
    farther off than its `slack` (n,), or nowhere, and how far off all are (3,).
    """
    blocks = max(-(-len(x) // SUMMED), 1)
    sums, is_out = np.empty((blocks, 3)), np.empty(blocks, np.bool_)
    return deviation_kernel(BOARD, x, x_ref, v_ref, time, slack, sums, is_out, deviation), sums[0]
