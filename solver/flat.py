# SPDX-License-Identifier: GPL-3.0-or-later
"""What lets cloth out of a plane: a breath of speed for a garment that lies exactly in one.

A curtain that was drawn in a front view has one and the same y in every vertex, to the last bit. All that acts in that plane, gravity,
wind along it, pins that gather it, then moves it within the plane alone: it is crushed like dough and hangs like a board
where cloth would fold. No cloth is so flat. So where a frame finds a garment with all places, and all speeds, the same along an axis of the
world along which no gravity acts, each particle that is free gets a speed of up to a micrometre a second along it, one
way or the other. Nothing comes of that where cloth is taut: it is damped away. Where cloth is pressed together it grows into folds within some
frames, as from any unevenness.

It depends on places, speeds and numbers of particles alone: the same bake twice, or resumed, gets the same bits. Planes that stand aslant need
none of it, rounding does the same there; nor does cloth that gravity draws out of its plane, as what falls. What is weightless is left
alone: it keeps its momentum to the bit.
"""

import numpy as np

from .forces.random import sequence
from .model import Cloth, State

BREATH = 1e-6  # [m/s] the most


def breathe(cloth: Cloth, state: State, gravity: np.ndarray) -> None:
    """Change the velocities of garments that lie exactly in a plane of the world along which gravity acts. # output: state.v

    gravity : (3,) [m/s2]
    """
    gravity = np.asarray(gravity)
    across = np.flatnonzero(gravity == 0.0) if gravity.any() else ()
    for number, (first, last) in enumerate(zip(cloth.garment_start, cloth.garment_start[1:], strict=False)):
        if cloth.rigid is not None and cloth.rigid[number]:
            continue
        x, v, is_free = state.x[first:last], state.v[first:last], cloth.inv_mass[first:last] > 0.0
        for axis in across:
            if (x[:, axis] == x[0, axis]).all() and (v[:, axis] == v[0, axis]).all():
                v[:, axis] += np.where(is_free, BREATH * (2.0 * sequence(last - first) - 1.0), 0.0)
