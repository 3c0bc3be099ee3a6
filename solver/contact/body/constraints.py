# SPDX-License-Identifier: GPL-3.0-or-later
"""What bodies hold up: contact and friction as conditions of the solve, not only corrections after it.

A garment hangs on the few particles that lie on the shoulders. If contact only put these back after the solve, the
solve would take them for free, and what hangs on them would sink: the load reaches the body only through them. So a
particle that touched a body in the substep before is held along the normal in the solve (Baraff and Witkin 1998,
section 5.3). The force that this takes is known after the solve; where the body would have to pull, the particle is
let go. What bounces off is not held at all. In a crease between two surfaces, as where an arm lies on the chest, a particle
is held off both and free along the crease alone: held off one, it would slide into the other, and the next substep the
other way about, farther each time. Of the two the one that would have to pull is let go first. What is pinched between two surfaces (`pinch`) goes along with them, whatever
pulls; unless it is where cloth can pull it out and does. Along the way in which these rub it, it is free.

Friction is a drag against the particle's slip over the body, with the coefficient c / u: c, friction coefficient
times normal force, and u, the slip, are taken from the substep before, so that the drag's force is Coulomb's (lagged
friction: Li et al. 2020). What can be stopped with less than c sticks: u is `STICKING_SLIP` then, and it creeps by less than
that in a substep. A frame's first step is tried out for what touches, and once more, held by that, for c and u.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from ...kernel.jit import fused_inner
from ...kernel.mat3 import CREASED, FREE, HELD, KINEMATIC
from ...kernel.shared import shared_fused
from .contacts import CORNER_COSINE

SUPPORT_SINK = 2e-6  # [m] a substep: support leads a hair into the aura, so that it goes on to count as a touch
STICKING_SLIP = 1e-8  # [m] slip of what sticks, in a substep
NARROWEST_COSINE = -0.98  # between the normals of two surfaces below which a crease has no way along it
LEAST_OPENING = 0.5  # length of the sum of two normals that counts: how fast what closes pushes out
SMALLEST_HELD_PART = 512  # particles that another thread is asked for


class Support(NamedTuple):
    """Per particle, what the solve must respect, and what it needs to know of the substep before."""

    kind: np.ndarray  # (n,) int8: FREE, HELD along the normal, KINEMATIC, CREASED: held but along it
    normal: np.ndarray  # (n, 3); of what is CREASED the way along the crease
    want: np.ndarray  # (n, 3) [m] motion of the held directions beyond the prediction
    tangential: np.ndarray  # (n, 3) [m] tangential motion of the body beyond the prediction
    drag: np.ndarray  # (n,) [N/m] of friction, over the substep
    force: np.ndarray  # (n,) [N] of the body; 0 not known, negative: it would have to pull
    slip: np.ndarray  # (n,) [m] expected over the body
    released: np.ndarray  # (n, 3) normal of the surface of a crease that would have to pull; 0 for none


def make_support(cloth):
    """Nothing held but kinematic particles."""
    count = len(cloth.inv_mass)
    kind = np.where(cloth.inv_mass == 0, np.int8(KINEMATIC), np.int8(FREE))
    vectors, numbers = [np.zeros((count, 3)) for _ in range(3)], [np.zeros(count) for _ in range(3)]
    return Support(kind, *vectors, *numbers, np.zeros((count, 3)))


@fused_inner
def _dot(a, i, b, j, k):
    """Of rows a[i] and b[j, k]."""
    return a[i, 0] * b[j, k, 0] + a[i, 1] * b[j, k, 1] + a[i, 2] * b[j, k, 2]


@fused_inner
def _turn(normals, i):
    """Cosine between both normals of particle i."""
    return (
        normals[i, 0, 0] * normals[i, 1, 0] + normals[i, 0, 1] * normals[i, 1, 1] + normals[i, 0, 2] * normals[i, 1, 2]
    )


@fused_inner
def _holder(contacts, support, i):
    """Which of the two surfaces that particle i touches holds it; 2 for both. One that would have to pull is forgotten.
    # outputs: of `contacts` count, and what is touched first
    """
    if contacts.count[i] != 2 or contacts.rebound[i, 1] > 0.0:
        return 0
    if not NARROWEST_COSINE < _turn(contacts.normal, i) < CORNER_COSINE:
        return 0
    first = _dot(support.released, i, contacts.normal, i, 0) > CORNER_COSINE
    if first or _dot(support.released, i, contacts.normal, i, 1) > CORNER_COSINE:
        contacts.count[i] = 1
        for axis in range(3 if first else 0):
            contacts.normal[i, 0, axis] = contacts.normal[i, 1, axis]
            contacts.velocity[i, 0, axis] = contacts.velocity[i, 1, axis]
        contacts.triangle[i, 0] = -1
        return 0
    return 2


@fused_inner
def _hold_in_crease(contacts, support, i, x, x_prev, dt):
    """Hold particle i off both surfaces; returns how far [m] they want it along their normals, and its slip along the crease.
    # outputs: of `support` kind, normal, want, tangential
    """
    n, v, want, normal = contacts.normal, contacts.velocity, support.want, support.normal
    ax, ay, az, bx, by, bz = n[i, 0, 0], n[i, 0, 1], n[i, 0, 2], n[i, 1, 0], n[i, 1, 1], n[i, 1, 2]
    turn = ax * bx + ay * by + az * bz
    size = sqrt(1.0 - turn * turn)
    tx, ty, tz = (ay * bz - az * by) / size, (az * bx - ax * bz) / size, (ax * by - ay * bx) / size
    mx, my, mz = x[i, 0] - x_prev[i, 0], x[i, 1] - x_prev[i, 1], x[i, 2] - x_prev[i, 2]
    one = dt * (v[i, 0, 0] * ax + v[i, 0, 1] * ay + v[i, 0, 2] * az) - (mx * ax + my * ay + mz * az) - SUPPORT_SINK
    other = dt * (v[i, 1, 0] * bx + v[i, 1, 1] * by + v[i, 1, 2] * bz) - (mx * bx + my * by + mz * bz) - SUPPORT_SINK
    out = (one + other) / (max(2.0 + 2.0 * turn, LEAST_OPENING * LEAST_OPENING))
    across = (one - other) / (2.0 - 2.0 * turn)
    want[i, 0], want[i, 1], want[i, 2] = (
        out * (ax + bx) + across * (ax - bx),
        out * (ay + by) + across * (ay - by),
        out * (az + bz) + across * (az - bz),
    )
    slip = 0.0
    for axis in range(3):
        t = tx if axis == 0 else ty if axis == 1 else tz
        slip += t * (0.5 * dt * (v[i, 0, axis] + v[i, 1, axis]) - x[i, axis] + x_prev[i, axis])
    normal[i, 0], normal[i, 1], normal[i, 2] = tx, ty, tz
    support.tangential[i, 0], support.tangential[i, 1], support.tangential[i, 2] = slip * tx, slip * ty, slip * tz
    support.kind[i] = CREASED
    return one, other, abs(slip)


@shared_fused(SMALLEST_HELD_PART)
def find_support(first, last, x, x_prev, inv_mass, contacts, support, dt):
    """Hold what touched a body in the substep before; x is predicted, x_prev as in `Motion`.

    60 flops and 300 bytes a touching particle. # outputs: support; of `contacts` sunk, and friction of what is pulled out
    """
    touched, touched_normal, velocity, friction = contacts.count, contacts.normal, contacts.velocity, contacts.friction
    rebound = contacts.rebound
    kind, normal, want, tangential = support.kind, support.normal, support.want, support.tangential
    sunk, drag, force, slip = contacts.sunk, support.drag, support.force, support.slip
    for i in range(np.uintp(first), np.uintp(last)):
        if inv_mass[i] == 0.0:
            continue
        known = (kind[i] == HELD or kind[i] == CREASED) and force[i] > 0.0
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
        by = 0 if is_pinched else _holder(contacts, support, i)
        if by == 2:
            one, other, along = _hold_in_crease(contacts, support, i, x, x_prev, dt)
            if not known:
                force[i] = (max(one, 0.0) + max(other, 0.0)) / (inv_mass[i] * dt * dt)
                slip[i] = max(along - friction[i, 0] * (max(one, 0.0) + max(other, 0.0)), STICKING_SLIP)
            sunk[i], drag[i] = SUPPORT_SINK, friction[i, 0] * force[i] / slip[i]
            continue
        nx, ny, nz = touched_normal[i, by, 0], touched_normal[i, by, 1], touched_normal[i, by, 2]
        wx = dt * velocity[i, by, 0] - x[i, 0] + x_prev[i, 0]
        wy = dt * velocity[i, by, 1] - x[i, 1] + x_prev[i, 1]
        wz = dt * velocity[i, by, 2] - x[i, 2] + x_prev[i, 2]
        if is_pinched:
            kind[i], force[i] = KINEMATIC, 0.0
            rx, ry, rz = contacts.rub[i, 0], contacts.rub[i, 1], contacts.rub[i, 2]
            if rx != 0.0 or ry != 0.0 or rz != 0.0:
                along = wx * rx + wy * ry + wz * rz
                kind[i], normal[i, 0], normal[i, 1], normal[i, 2] = CREASED, rx, ry, rz
                wx, wy, wz = wx - along * rx, wy - along * ry, wz - along * rz
            want[i, 0], want[i, 1], want[i, 2] = wx, wy, wz
            continue
        along = wx * nx + wy * ny + wz * nz
        wx, wy, wz = wx - along * nx, wy - along * ny, wz - along * nz
        if not known:  # of a new touch as much is known as its own weight and motion tell
            force[i] = max(along, 0.0) / (inv_mass[i] * dt * dt)
            slip[i] = max(sqrt(wx * wx + wy * wy + wz * wz) - friction[i, 0] * max(along, 0.0), STICKING_SLIP)
        along -= contacts.gap[i] + SUPPORT_SINK
        kind[i], sunk[i] = HELD, SUPPORT_SINK
        normal[i, 0], normal[i, 1], normal[i, 2] = nx, ny, nz
        want[i, 0], want[i, 1], want[i, 2] = along * nx, along * ny, along * nz
        tangential[i, 0], tangential[i, 1], tangential[i, 2] = wx, wy, wz
        drag[i] = friction[i, 0] * force[i] / slip[i]


@fused_inner
def _weigh_in_crease(r, contacts, support, i, sunk):
    """[N] force of both surfaces on particle i, below 0 if none has to push. sunk : [N] what was left out of each.
    # outputs: of `support` released
    """
    n, released = contacts.normal, support.released
    one, other, turn = sunk - _dot(r, i, n, i, 0), sunk - _dot(r, i, n, i, 1), _turn(n, i)
    first, second = one - turn * other, other - turn * one  # times the sine's square
    if first >= 0.0 and second >= 0.0:
        return (one + other) / (1.0 + turn)
    gone = 0 if first < second else 1
    for axis in range(3):
        released[i, axis] = n[i, gone, axis]
    return other if gone == 0 else one


@shared_fused(SMALLEST_HELD_PART)
def weigh(first, last, d, r, inv_mass, contacts, support, dt):
    """Learn from a solve what the supports took, for the next substep.

    d (n, 3) [m] is the correction, r (n, 3) [N] the force left over where it held. # outputs: of `support` force, slip; of
    `contacts` pressed
    """
    touched_normal, friction, pressed = contacts.normal, contacts.friction, contacts.pressed
    kind, normal, tangential = support.kind, support.normal, support.tangential
    drag, force, slip, released = support.drag, support.force, support.slip, support.released
    for i in range(np.uintp(first), np.uintp(last)):
        if kind[i] == KINEMATIC and inv_mass[i] > 0.0 and friction[i, 1] == 0.0:  # it can be pulled out from between
            out = 0.0
            for k in range(3):
                out += r[i, k] * (touched_normal[i, 0, k] + touched_normal[i, 1, k])
            force[i] = -max(out, 0.0)
        pressed[i] = 0.0
        for axis in range(3):
            released[i, axis] = 0.0
        if (kind[i] != HELD and kind[i] != CREASED) or friction[i, 0] == inf:
            continue
        nx, ny, nz = normal[i, 0], normal[i, 1], normal[i, 2]
        rate = 1.0 / (inv_mass[i] * dt * dt)
        along = d[i, 0] * nx + d[i, 1] * ny + d[i, 2] * nz
        sx, sy, sz = d[i, 0] - along * nx, d[i, 1] - along * ny, d[i, 2] - along * nz
        if kind[i] == CREASED:
            force[i] = _weigh_in_crease(r, contacts, support, i, SUPPORT_SINK * rate)
            sx, sy, sz = along * nx, along * ny, along * nz
        else:  # with what was left out for the sink
            force[i] = SUPPORT_SINK * rate - (r[i, 0] * nx + r[i, 1] * ny + r[i, 2] * nz)
            pressed[i] = max(force[i] / rate, 0.0)
        most = friction[i, 0] * force[i]
        sx, sy, sz = sx - tangential[i, 0], sy - tangential[i, 1], sz - tangential[i, 2]
        went = sqrt(sx * sx + sy * sy + sz * sz)
        took = drag[i] * went
        before = slip[i]
        if took + rate * went <= most:
            slip[i] = STICKING_SLIP
        elif before <= STICKING_SLIP:  # it begins to slip, softly: what would let go at once would catch again at once
            slip[i] = max(went, STICKING_SLIP)
        else:
            slip[i] = max(min(2.0 * went - before, 2.0 * went), 0.5 * went, STICKING_SLIP)
