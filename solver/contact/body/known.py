# SPDX-License-Identifier: GPL-3.0-or-later
"""What a point touched in the substep before, and still does although it has come off it by a little.

A surface that slows down or turns is left behind by what went along with it, and what is pushed by other cloth comes off it. Whoever
is let go for that though it was pressed on the surface falls back on it with all that presses in the next substep, is pushed out
by as much, and shakes what hangs on it. So a particle is let go where the surface would have to pull (`constraints.weigh`), not where
there is a gap: the next step leads it back.
"""

from math import inf

import numpy as np

from ...geometry.moving_triangle import carried, closest
from ...kernel.jit import folded, inner
from .association import (
    BEFORE_FRICTIONS,
    BEFORE_NORMAL,
    BEFORE_VELOCITY,
    FASTEST,
    HERE,
    TAU,
    THERE,
    deviation_of,
)
from .contacts import CORNER_COSINE, LOST, OUTSIDE, is_stuck, note, note_place

CREASE_SLACK = 0.1  # auras by which a point in a crease may be off a surface, and touches it
SAME_HEIGHT = 1e-5  # [m] by which it may have gone in
PRESSED_SLACK = 0.5  # auras by which what is pressed on a surface may be off it, and touches it
SAME_WAY_COSINE = 0.98  # between its normals up to which it may: round an edge, what slides fast flies
BACK_PART = 0.5  # of how far it would go back in a substep, by which it may be off it: what is farther off hardly falls


@folded
def recall(contacts, p, before):
    """How many surfaces point p touched in the substep before; from now on it touches none.
    # outputs: before, as in `association.Scratch`; of `contacts` own
    """
    count = contacts.own[p]
    if contacts.count[p] != LOST:
        count = 0 if contacts.place[p] != OUTSIDE or is_stuck(contacts, p) else min(count, contacts.count[p])
    contacts.own[p] = 0
    for slot in range(count):
        for axis in range(3):
            before[slot, BEFORE_NORMAL, axis] = contacts.normal[p, slot, axis]
            before[slot, BEFORE_VELOCITY, axis] = contacts.velocity[p, slot, axis]
        before[slot, BEFORE_FRICTIONS, 0] = contacts.viscosity[p, slot]
        before[slot, BEFORE_FRICTIONS, 1] = contacts.friction[p, slot]
    return count


@folded
def keep_known(bodies, largest, candidates, contacts, at, p, who, before, times):
    """Let point p touch also the surfaces that it touched `before`, where it has hardly left them; notes what it touches itself.

    who : its garment, how many these surfaces are, how far [m] it was pressed into them, and the part of their aura by which it has to
        keep off; largest : [m] aura of all bodies
    """
    g, count, pressed, part = who
    if contacts.place[p] == OUTSIDE:
        if contacts.count[p] == 0 and count == 1:
            _stay_pressed(bodies, candidates, contacts, at, p, g, part, pressed, before, times)
        elif p < len(contacts.pressed):
            _keep_crease(contacts, at, p, count, before, CREASE_SLACK * largest, times.dt)
    contacts.own[p] = contacts.count[p]


@inner
def _keep_crease(contacts, at, p, count, before, far, dt):
    """Let particle p touch also the `count` surfaces that it touched `before`, if they were a crease or make one, and it has
    gone neither into them nor off them by more than `far` [m].

    What is held off one surface alone comes to the other while it is off the first by a hair, and so on, farther each time.
    """
    n = contacts.normal
    for slot in range(count):
        now, viscosity, friction = (
            contacts.count[p],
            before[slot, BEFORE_FRICTIONS, 0],
            before[slot, BEFORE_FRICTIONS, 1],
        )
        if now == 2 or (now == 0 and count < 2):
            break
        nx, ny, nz = before[slot, BEFORE_NORMAL, 0], before[slot, BEFORE_NORMAL, 1], before[slot, BEFORE_NORMAL, 2]
        vx, vy, vz = (
            before[slot, BEFORE_VELOCITY, 0],
            before[slot, BEFORE_VELOCITY, 1],
            before[slot, BEFORE_VELOCITY, 2],
        )
        if now == 1 and nx * n[p, 0, 0] + ny * n[p, 0, 1] + nz * n[p, 0, 2] > CORNER_COSINE:
            continue
        rise = nx * (at[HERE, 0] - at[THERE, 0] - dt * vx)
        rise += ny * (at[HERE, 1] - at[THERE, 1] - dt * vy) + nz * (at[HERE, 2] - at[THERE, 2] - dt * vz)
        if -SAME_HEIGHT <= rise <= far:
            note(contacts, p, now, nx, ny, nz, vx, vy, vz, 0.0, viscosity, friction)
            contacts.count[p] = now + 1


@inner
def _stay_pressed(bodies, candidates, contacts, at, p, g, part, pressed, before, times):
    """Let point p of garment g touch on if it was `pressed` [m] on the surface, and has come off it by less than it would go back in a
    substep and no more than `PRESSED_SLACK`. It goes along with the surface, and back to it: what slides round a bend has to.
    """
    if not pressed > 0.0:
        return
    t, gap, d, wa, wb, wc, dx, dy, dz = _nearest(bodies, candidates, at, p, g, part, times.tau, BACK_PART * pressed)
    if t < 0:
        return
    nx, ny, nz = dx / d, dy / d, dz / d
    along = nx * before[0, BEFORE_NORMAL, 0] + ny * before[0, BEFORE_NORMAL, 1] + nz * before[0, BEFORE_NORMAL, 2]
    if along > SAME_WAY_COSINE:
        ox, oy, oz = carried(bodies.triangles, bodies.motions, t, wa, wb, wc)
        viscosity, friction = before[0, BEFORE_FRICTIONS, 0], before[0, BEFORE_FRICTIONS, 1]
        note(contacts, p, 0, nx, ny, nz, ox / times.dt, oy / times.dt, oz / times.dt, 0.0, viscosity, friction)
        note_place(contacts, p, 0, t, wa, wb, wc)
        contacts.count[p], contacts.gap[p] = 1, max(gap, 0.0)


@inner
def _nearest(bodies, candidates, at, p, g, part, tau, far):
    """The nearest of the candidates of point p, beyond this part of whose aura it is by no more than `far` [m] nor `PRESSED_SLACK`:
    its number or -1, by how much [m], how far it is [m], where, and the way from there to the point.
    """
    asked, best = candidates.asked, (np.int64(-1), inf, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    gone = deviation_of(asked, at, p, tau, HERE) + (tau - asked[p, TAU]) * asked[p, FASTEST]
    for c in range(candidates.count[p]):
        t = np.int64(candidates.triangles[p, c])
        collider = bodies.collider[t]
        aura = part * bodies.aura[collider]
        bound = candidates.distance[p, c] - gone
        if not bodies.meets[collider, g] or bound > (1.0 + PRESSED_SLACK) * aura:
            continue
        d, wa, wb, wc, _, dx, dy, dz = closest(
            bodies.triangles, bodies.motions, t, 1.0, at[HERE, 0], at[HERE, 1], at[HERE, 2]
        )
        if 0.0 < d and d - aura <= min(far, PRESSED_SLACK * aura) and d - aura < best[1]:
            best = t, d - aura, d, wa, wb, wc, dx, dy, dz
    return best
