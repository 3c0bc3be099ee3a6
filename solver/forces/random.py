# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers that look random but depend on whole numbers alone: the same on every machine and any number of threads.

Each word is mixed into the state by the finaliser of SplitMix64 (Steele, Lea and Flood 2014, figure 19).
"""

import numpy as np

from ..kernel.jit import inner, njit

MIX_STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFT_11, SHIFT_27, SHIFT_30, SHIFT_31 = (np.uint64(bits) for bits in (11, 27, 30, 31))


@inner
def mix(state, word):
    """The state after one more whole number, uint64."""
    z = state + np.uint64(word) + MIX_STEP
    z = (z ^ (z >> SHIFT_30)) * FIRST_FACTOR
    z = (z ^ (z >> SHIFT_27)) * SECOND_FACTOR
    return z ^ (z >> SHIFT_31)


@inner
def unit(state):
    """A number in [0, 1) from the upper 53 bits of a state."""
    return float(state >> SHIFT_11) * 2.0**-53


def sequence(count):
    """(count,) numbers in [0, 1): the first of SplitMix64 itself."""
    return (mix.py_func(np.arange(count, dtype=np.uint64) * MIX_STEP, 0) >> SHIFT_11) * 2.0**-53


@njit
def shake(v, inv_mass, low, span, seed, frame, substep, dt):
    """Velocities after dt of a random force [N/kg] between low and low + span, another for every particle and step.

    low, span : three floats each
    """
    (low_x, low_y, low_z), (span_x, span_y, span_z) = low, span
    state = mix(mix(mix(np.uint64(0), seed), frame), substep)
    for i in range(v.shape[0]):
        if inv_mass[i] > 0.0:
            own = mix(state, i)
            v[i, 0] += dt * (low_x + span_x * unit(mix(own, 0)))
            v[i, 1] += dt * (low_y + span_y * unit(mix(own, 1)))
            v[i, 2] += dt * (low_z + span_z * unit(mix(own, 2)))
