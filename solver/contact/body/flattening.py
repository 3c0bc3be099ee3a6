# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether bodies take the folds out of cloth that falls on them.

What comes into an aura in one step is put out of it to one height, whatever its height was: a sheet that comes in whole lies
flat afterwards, its folds are lost (Bridson, Marino and Fedkiw 2003, section 5, keep relative heights inside the aura
instead). Where it comes in over several steps, what arrives first is held while the rest still stands on it, and folds stay
as far as there is length in them. So a substep in which that happens is taken again, in more small steps (`step`).

Told by edges both of whose ends came in, were pushed and got shorter by it, as a part of their garment's: in the step of impact that is 4
to 38 in 100 where waves of 2 to 4 mm fall at 1 to 6 m/s (`benchmarks/fold_impacts.py`), and never over 0.7 in 100 in skirts and
scarfs of people who kick, jump and sit, in a dress, or in a sheet that falls on a ball. What comes in does so by its own speed. What lies
on a body under a heap does not: where a frame begins, nobody knows yet what touched, and it is tried out as if nothing held it up.
"""

import numpy as np

from ...kernel.jit import njit
from ...kernel.memo import remembered
from ...kernel.shared import shared

PUSHED = 0.05  # mean edges by which a body has to push a particle
FLOWN = 0.5  # part of that which it has to have flown in the step, towards the body
SHORTENED = 0.01  # part of its rest length that an edge has to lose by that
FLATTENED = 0.02  # part of a garment's edges that have to, and
FEWEST = 12  # how many at least: fewer are no fold but a corner
SMALLEST_PUSHED_PART = 1024  # particles that another thread is asked for


def is_flattened(
    cloth, touched: np.ndarray, before: np.ndarray, x: np.ndarray, v: np.ndarray, contacts, dt: float
) -> bool:
    """Whether bodies have flattened a garment by pushing it from `before` to x, (n, 3) [m] each; what they `touched` (n,)
    already has not come in. v : (n, 3) [m/s] at the start of the step dt [s]; contacts : `Contacts` at its end
    """
    count = len(cloth.edges)
    pushed, (short, edges) = np.empty(len(x), np.bool_), np.zeros((2, len(cloth.garment_start) - 1), np.int64)
    if not count:
        return False
    least = PUSHED * _mean_edge(cloth)
    pushed_kernel(len(x), touched, before, x, v, contacts.count, contacts.velocity, dt, least, pushed)
    if np.count_nonzero(pushed) < 2:
        return False
    short_kernel(cloth.edges, cloth.rest_length, cloth.is_mesh_edge, cloth.garment, pushed, before, x, short, edges)
    return bool((short > np.maximum(FLATTENED * edges, FEWEST)).any())


@remembered(4, lambda cloth: (cloth.rest_length,))
def _mean_edge(cloth) -> float:
    """[m] at rest."""
    return float(cloth.rest_length.mean())


@shared(SMALLEST_PUSHED_PART)
def pushed_kernel(first, last, touched, before, x, v, touches, velocity, dt, least, pushed):
    """Find which particles but those that were touched (n,) are more than `least` [m] from where they were before, and have flown
    there: against what touches them now, if they know its velocity. 50 bytes and 10 flops each, 50 more if
    pushed. # outputs: pushed (n,)
    """
    for i in range(np.uintp(first), np.uintp(last)):
        dx, dy, dz = x[i, 0] - before[i, 0], x[i, 1] - before[i, 1], x[i, 2] - before[i, 2]
        square = dx * dx + dy * dy + dz * dz
        pushed[i] = not touched[i] and square > least * least
        if pushed[i] and touches[i] > 0:
            vx, vy, vz = velocity[i, 0, 0] - v[i, 0], velocity[i, 0, 1] - v[i, 1], velocity[i, 0, 2] - v[i, 2]
            pushed[i] = dt * (vx * dx + vy * dy + vz * dz) > FLOWN * square


@njit
def short_kernel(edges, rest_length, is_mesh_edge, garment, pushed, before, x, short, every):
    """Count each garment's mesh edges, and those that have got shorter by `SHORTENED` and were pushed at both ends. 11 bytes an edge,
    and 100 and 20 flops if it was. # outputs: short (g,), every (g,)
    """
    for e in range(len(edges)):
        i, j = np.uintp(edges[e, 0]), np.uintp(edges[e, 1])
        every[garment[i]] += is_mesh_edge[e]
        if is_mesh_edge[e] and pushed[i] and pushed[j]:
            square = square_before = 0.0
            for axis in range(3):
                d, d_before = x[j, axis] - x[i, axis], before[j, axis] - before[i, axis]
                square, square_before = square + d * d, square_before + d_before * d_before
            short[garment[i]] += np.sqrt(square_before) - np.sqrt(square) > SHORTENED * rest_length[e]
