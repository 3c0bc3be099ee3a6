# SPDX-License-Identifier: GPL-3.0-or-later
"""What bodies hold up: contact and friction as conditions of the solve, not only corrections after it.

A garment hangs on the few particles that lie on the shoulders. If contact only put these back after the solve, the
solve would take them for free, and what hangs on them would sink: the load reaches the body only through them. So a
particle that touched a body in the substep before is held along the normal in the solve (Baraff and Witkin 1998,
section 5.3). The force that this takes is known after the solve; where the body would have to pull, the particle is
let go. What bounces off is not held at all. What is pinched between two surfaces (`pinch`) goes along with them, whatever
pulls; unless it is where cloth can pull it out and does.

Friction is a drag against the particle's slip over the body, with the coefficient c / u: c, friction coefficient
times normal force, and u, the slip, are taken from the substep before, so that the drag's force is Coulomb's (lagged
friction: Li et al. 2020). What can be stopped with less than c sticks: u is `STICKING_SLIP` then, and it creeps by less than
that in a substep.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from ...kernel.jit import fused
from ...kernel.mat3 import FREE, HELD, KINEMATIC

SUPPORT_SINK = 2e-6  # [m] a substep: support leads a hair into the aura, so that it goes on to count as a touch
STICKING_SLIP = 1e-8  # [m] slip of what sticks, in a substep


class Support(NamedTuple):
    """Per particle, what the solve must respect, and what it needs to know of the substep before."""

    kind: np.ndarray  # (n,) int8: FREE, HELD along the normal, KINEMATIC
    normal: np.ndarray  # (n, 3)
    want: np.ndarray  # (n, 3) [m] motion of the held directions beyond the prediction
    tangential: np.ndarray  # (n, 3) [m] tangential motion of the body beyond the prediction
    drag: np.ndarray  # (n,) [N/m] of friction, over the substep
    force: np.ndarray  # (n,) [N] of the body; 0 not known, negative: it would have to pull
    slip: np.ndarray  # (n,) [m] expected over the body


def make_support(cloth):
    """Nothing held but kinematic particles."""
    count = len(cloth.inv_mass)
    kind = np.where(cloth.inv_mass == 0, np.int8(KINEMATIC), np.int8(FREE))
    return Support(kind, *(np.zeros((count, 3)) for _ in range(3)), *(np.zeros(count) for _ in range(3)))


@fused
def find_support(x, x_prev, inv_mass, contacts, support, dt):
    """Hold what touched a body in the substep before; x is predicted, x_prev the substep's start.

    60 flops and 300 bytes a touching particle. # outputs: support; of `contacts` sunk, and friction of what is pulled out
    """
    touched, touched_normal, velocity, friction = contacts.count, contacts.normal, contacts.velocity, contacts.friction
    rebound = contacts.rebound
    kind, normal, want, tangential = support.kind, support.normal, support.want, support.tangential
    sunk, drag, force, slip = contacts.sunk, support.drag, support.force, support.slip
    for i in range(np.uintp(x.shape[0])):
        if inv_mass[i] == 0.0:
            continue
        known = kind[i] == HELD and force[i] > 0.0
        is_pinched = touched[i] == 2 and friction[i, 0] == inf
        is_pulled = kind[i] == KINEMATIC and force[i] < 0.0
        kind[i], sunk[i] = FREE, 0.0
        want[i, 0], want[i, 1], want[i, 2], drag[i] = 0.0, 0.0, 0.0, 0.0
        tangential[i, 0], tangential[i, 1], tangential[i, 2] = 0.0, 0.0, 0.0
        if is_pinched and is_pulled:  # out from between two surfaces: contact is told
            friction[i, 0] = 0.0
        is_leaving = rebound[i, 0] > 0.0 or (force[i] < 0.0 and not is_pinched)
        if is_pulled or touched[i] <= 0 or is_leaving:
            force[i] = 0.0
            continue
        nx, ny, nz = touched_normal[i, 0, 0], touched_normal[i, 0, 1], touched_normal[i, 0, 2]
        wx = dt * velocity[i, 0, 0] - x[i, 0] + x_prev[i, 0]
        wy = dt * velocity[i, 0, 1] - x[i, 1] + x_prev[i, 1]
        wz = dt * velocity[i, 0, 2] - x[i, 2] + x_prev[i, 2]
        if is_pinched:
            kind[i], force[i] = KINEMATIC, 0.0
            want[i, 0], want[i, 1], want[i, 2] = wx, wy, wz
            continue
        along = wx * nx + wy * ny + wz * nz
        wx, wy, wz = wx - along * nx, wy - along * ny, wz - along * nz
        if not known:  # of a new touch as much is known as its own weight and motion tell
            force[i] = max(along, 0.0) / (inv_mass[i] * dt * dt)
            slip[i] = max(sqrt(wx * wx + wy * wy + wz * wz) - friction[i, 0] * max(along, 0.0), STICKING_SLIP)
        along -= SUPPORT_SINK
        kind[i], sunk[i] = HELD, SUPPORT_SINK
        normal[i, 0], normal[i, 1], normal[i, 2] = nx, ny, nz
        want[i, 0], want[i, 1], want[i, 2] = along * nx, along * ny, along * nz
        tangential[i, 0], tangential[i, 1], tangential[i, 2] = wx, wy, wz
        drag[i] = friction[i, 0] * force[i] / slip[i]


@fused
def weigh(d, r, inv_mass, contacts, support, dt):
    """Learn from a solve what the supports took, for the next substep.

    d (n, 3) [m] is the correction, r (n, 3) [N] the force left over where it held. # outputs: of `support` force, slip
    """
    touched_normal, friction = contacts.normal, contacts.friction
    kind, normal, tangential = support.kind, support.normal, support.tangential
    drag, force, slip = support.drag, support.force, support.slip
    for i in range(np.uintp(d.shape[0])):
        if kind[i] == KINEMATIC and inv_mass[i] > 0.0 and friction[i, 1] == 0.0:  # it can be pulled out from between
            out = 0.0
            for k in range(3):
                out += r[i, k] * (touched_normal[i, 0, k] + touched_normal[i, 1, k])
            force[i] = -max(out, 0.0)
        if kind[i] != HELD:
            continue
        nx, ny, nz = normal[i, 0], normal[i, 1], normal[i, 2]
        rate = 1.0 / (inv_mass[i] * dt * dt)
        # with what was left out for the sink
        force[i] = SUPPORT_SINK * rate - (r[i, 0] * nx + r[i, 1] * ny + r[i, 2] * nz)
        most = friction[i, 0] * force[i]
        along = d[i, 0] * nx + d[i, 1] * ny + d[i, 2] * nz
        sx, sy, sz = (
            d[i, 0] - along * nx - tangential[i, 0],
            d[i, 1] - along * ny - tangential[i, 1],
            d[i, 2] - along * nz - tangential[i, 2],
        )
        went = sqrt(sx * sx + sy * sy + sz * sz)
        took = drag[i] * went
        before = slip[i]
        if took + rate * went <= most:
            slip[i] = STICKING_SLIP
        elif before <= STICKING_SLIP:  # it begins to slip, softly: what would let go at once would catch again at once
            slip[i] = max(went, STICKING_SLIP)
        else:
            slip[i] = max(min(2.0 * went - before, 2.0 * went), 0.5 * went, STICKING_SLIP)
