# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounds in float32: rounded to where they still hold."""

import numpy as np

from .jit import inner

FLOAT32_ROUNDING = 2.0**-23  # more than a part of a number by which float32 is off


@inner
def rounded_down(number):
    """A number as float32 keeps it, or less: a lower bound stays one."""
    return np.float64(np.float32(number - FLOAT32_ROUNDING * abs(number)))


@inner
def rounded_up(number):
    """A number as float32 keeps it, or more: an upper bound stays one."""
    return np.float64(np.float32(number + FLOAT32_ROUNDING * abs(number)))
