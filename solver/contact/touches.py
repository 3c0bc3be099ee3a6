# SPDX-License-Identifier: GPL-3.0-or-later
"""What touches a body in a substep: particles, and contact samples (`samples`) that touch for their corners."""

from typing import NamedTuple

import numpy as np

from ..jit import njit

OUTSIDE, INSIDE, PINCHED = 0, 1, 2
APART = -1  # of a particle that bodies let through
LOST = -1  # instead of a number of touches: the image cannot answer


class Touches(NamedTuple):
    """What the points touch in this substep, up to two surfaces each."""

    place: np.ndarray  # (p,) OUTSIDE; INSIDE a closed body; PINCHED between two surfaces; APART
    count: np.ndarray  # (p,) 0 to 2, or LOST
    touch: np.ndarray  # (p, 2, 8): normal, velocity [m/s] of the touched point, wanted normal speed, friction,
    # inf where it is pinched, but 0 in the second where it can be pulled out
    push: np.ndarray  # (s, 3) [m] displacement wanted by each sample
    led: np.ndarray  # (p,) [m] how far support has led the point into the aura in this substep
    close: np.ndarray  # (p,) bool: a particle is so near a body that its edges may sink in
    grip: np.ndarray  # (n, 2) int32 triangles that a PINCHED particle is between; second -1: not known
    between: np.ndarray  # (n,) [m] from the one to the other through the particle; above 0 where they do not overlap


def no_touches(particle_count: int, sample_count: int) -> Touches:
    """Nothing touches anything yet."""
    points = particle_count + sample_count
    return Touches(
        np.zeros(points, np.int8),
        np.zeros(points, np.int32),
        np.zeros((points, 2, 8)),
        np.zeros((sample_count, 3)),
        np.zeros(points),
        np.zeros(particle_count, np.bool_),
        np.full((particle_count, 2), -1, np.int32),
        np.zeros(particle_count),
    )


@njit
def settle(inv_mass, touched, touch, v):
    """Normal velocity of touching particles against the surface: what restitution leaves of the impact, else none."""
    for i in range(len(inv_mass)):
        if inv_mass[i] == 0.0:
            continue
        slots = touched[i]
        if slots == 2:
            turn = touch[i, 0, 0] * touch[i, 1, 0] + touch[i, 0, 1] * touch[i, 1, 1] + touch[i, 0, 2] * touch[i, 1, 2]
            if turn < -0.3:  # squeezed: go with the mean of the two
                slots = 1
                for k in range(3, 6):
                    touch[i, 0, k] = 0.5 * (touch[i, 0, k] + touch[i, 1, k])
        for slot in range(slots):
            nx, ny, nz = touch[i, slot, 0], touch[i, slot, 1], touch[i, slot, 2]
            wx, wy, wz = v[i, 0] - touch[i, slot, 3], v[i, 1] - touch[i, slot, 4], v[i, 2] - touch[i, slot, 5]
            change = touch[i, slot, 6] - (wx * nx + wy * ny + wz * nz)
            v[i, 0], v[i, 1], v[i, 2] = v[i, 0] + change * nx, v[i, 1] + change * ny, v[i, 2] + change * nz
