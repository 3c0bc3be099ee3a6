# SPDX-License-Identifier: GPL-3.0-or-later
"""What touches a body in a substep: particles, and contact samples (middles of long edges) that touch for their ends."""

import math
from typing import NamedTuple

import numpy as np

from ..jit import njit

OUTSIDE, INSIDE, PINCHED = 0, 1, 2
LOST = -1  # instead of a number of touches: the image cannot answer


class Touches(NamedTuple):
    """What the points touch in this substep, up to two surfaces each."""

    place: np.ndarray  # (p,) OUTSIDE; INSIDE a closed body; PINCHED inside two at once
    count: np.ndarray  # (p,) 0 to 2, or LOST
    touch: np.ndarray  # (p, 2, 8): normal, velocity [m/s] of the touched point, wanted normal speed, friction
    push: np.ndarray  # (s, 3) [m] displacement wanted by each sample
    led: np.ndarray  # (p,) [m] how far support has led the point into the aura in this substep
    close: np.ndarray  # (p,) bool: a particle is so near a body that its edges may sink in


class Samples(NamedTuple):
    """Contact samples: middles of edges."""

    parents: np.ndarray  # (s, 2) particles
    particle_start: np.ndarray  # (n + 1,) first entry of each particle in particle_samples
    particle_samples: np.ndarray  # (2 s,)
    sag: float  # [m] how far their middles can sink in between their ends


@njit
def gather(inv_mass, particle_start, particle_samples, touched, touch, push, x):
    """Move each particle by the mean of what its touching samples want, in their fixed order; it touches what they do."""
    particle_count = len(inv_mass)
    for i in range(particle_count):
        if inv_mass[i] == 0.0:
            continue
        own, count = touched[i] > 0, 0
        if not own:
            for k in range(8):
                touch[i, 0, k] = 0.0
        dx, dy, dz = 0.0, 0.0, 0.0
        for entry in range(particle_start[i], particle_start[i + 1]):
            s = particle_samples[entry]
            if touched[particle_count + s] > 0:
                dx, dy, dz, count = dx + push[s, 0], dy + push[s, 1], dz + push[s, 2], count + 1
                if not own:
                    for k in range(8):
                        touch[i, 0, k] += touch[particle_count + s, 0, k]
        if count == 0:
            continue
        x[i, 0], x[i, 1], x[i, 2] = x[i, 0] + dx / count, x[i, 1] + dy / count, x[i, 2] + dz / count
        if not own:
            nx, ny, nz = touch[i, 0, 0], touch[i, 0, 1], touch[i, 0, 2]
            size = math.sqrt(nx * nx + ny * ny + nz * nz)
            for k in range(8):
                touch[i, 0, k] /= size if k < 3 and size > 0.0 else count
            touched[i] = 1 if size > 0.3 * count else 0  # from all sides: no way is the right one


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
