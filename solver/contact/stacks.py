# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that lies on cloth: contacts as rows of the solve, so that a load goes down through a stack in one substep.

A pair that touches, or will in this substep, resists approach beyond its contact distance along its normal, with a
stiffness well above that of its inertia; what little it gives way is taken back by the response. As with bodies
(`support`), a pair that would have had to pull in a substep is let go in the next.
"""

import math
from typing import NamedTuple

import numpy as np

from ..jit import njit
from .cloth_detection import find_astray
from .cloth_response import farther
from .impact import closest_pair, mix

TOUCHING = 1.02  # gap over contact distance up to which a pair counts as touching
FIRMNESS = 30.0  # stiffness of a pair over its reduced mass / dt^2


class Stack(NamedTuple):
    """Rows of touching pairs, as those of hinges: h (w . p) h^T with h = sqrt(stiffness) normal."""

    stencils: np.ndarray  # (k, 4)
    weight: np.ndarray  # (k, 4) barycentric, positive on the first side, negative on the second
    row: np.ndarray  # (k, 4) h [sqrt(N/m)], and 0
    room: np.ndarray  # (k,) [sqrt(N m)] approach up to the contact distance, times |h|
    pair: np.ndarray  # (k,) which pair


def no_stack():
    """The stack of cloth that touches no cloth."""
    return Stack(np.zeros((0, 4), np.int32), *(np.zeros((0, 4)) for _ in range(2)), np.zeros(0), np.zeros(0, np.int32))


@njit
def _find_stack(near, astray, faster, elapsed, x, v, inv_mass, dt, stencils, weight, row, room, pair):
    """# outputs: all after dt; returns the number of rows. 20 bytes of a pair that is too far off, 150 flops else."""
    count = 0
    for p in range(len(near.gap)):
        if near.pulled[p]:
            near.pulled[p] = False
            continue
        a, b = np.uintp(near.stencils[p, 0]), np.uintp(near.stencils[p, 1])
        c, d = np.uintp(near.stencils[p, 2]), np.uintp(near.stencils[p, 3])
        least = near.gap[p] - elapsed * near.closing[p] - farther(astray, near.is_edge_pair[p], a, b, c, d)
        goes = dt * (near.closing[p] + farther(faster, near.is_edge_pair[p], a, b, c, d))
        if least > TOUCHING * near.distance[p] and least - goes > near.distance[p]:
            continue
        wa, wb, wc, wd = closest_pair(near.is_edge_pair[p], x, a, b, c, d)
        if near.is_edge_pair[p] and (wa <= 0.0 or wb <= 0.0 or wc >= 0.0 or wd >= 0.0):
            continue
        nx, ny = mix(x, 0, a, b, c, d, wa, wb, wc, wd), mix(x, 1, a, b, c, d, wa, wb, wc, wd)
        nz = mix(x, 2, a, b, c, d, wa, wb, wc, wd)
        gap = math.sqrt(nx * nx + ny * ny + nz * nz)
        if gap == 0.0:
            continue
        nx, ny, nz = nx / gap, ny / gap, nz / gap
        closing = nx * mix(v, 0, a, b, c, d, wa, wb, wc, wd) + ny * mix(v, 1, a, b, c, d, wa, wb, wc, wd)
        closing += nz * mix(v, 2, a, b, c, d, wa, wb, wc, wd)
        if gap > TOUCHING * near.distance[p] and gap + dt * closing > near.distance[p]:
            continue
        mass = wa * wa * inv_mass[a] + wb * wb * inv_mass[b] + wc * wc * inv_mass[c] + wd * wd * inv_mass[d]
        if mass == 0.0:
            continue
        h = math.sqrt(FIRMNESS / mass) / dt
        stencils[count, 0], stencils[count, 1], stencils[count, 2], stencils[count, 3] = a, b, c, d
        weight[count, 0], weight[count, 1], weight[count, 2], weight[count, 3] = wa, wb, wc, wd
        row[count, 0], row[count, 1], row[count, 2], row[count, 3] = h * nx, h * ny, h * nz, 0.0
        room[count], pair[count] = h * max(gap - near.distance[p], 0.0), p
        count += 1
    return count


def find_stack(pairs, x, v, inv_mass, dt):
    """`Stack` of the pairs that touch in the substep that starts at x with v."""
    near = pairs.near
    most = len(near.gap)
    wide = (np.empty((most, 4)) for _ in range(2))
    stack = Stack(np.empty((most, 4), np.int32), *wide, np.empty(most), np.empty(most, np.int32))
    mean, faster = np.empty(3), np.empty(len(x))
    find_astray(v, pairs.v_ref, pairs.v_ref, 0.0, pairs.slack, mean, faster)
    count = _find_stack(near, pairs.astray, faster, pairs.elapsed, x, v, inv_mass, dt, *stack)
    return Stack(*(array[:count] for array in stack))


@njit
def _let_go(pulled, stencils, weight, row, room, pair, x, x_prev):
    """# outputs: pulled"""
    for k in range(len(pair)):
        along = room[k]
        for corner in range(4):
            i, w = np.int64(stencils[k, corner]), weight[k, corner]
            for axis in range(3):
                along += w * row[k, axis] * (x[i, axis] - x_prev[i, axis])
        pulled[pair[k]] = along > 0.0


def let_go(near, stack, x, x_prev):
    """Mark the pairs whose sides went apart in the solve: their rows pulled."""
    _let_go(near.pulled, *stack, x, x_prev)
