# SPDX-License-Identifier: GPL-3.0-or-later
"""A point inside a closed body: which way leads out, and how far along it the point gets in a substep."""

import math

import numpy as np

from ...geometry.moving_triangle import carried, distance_to
from ...kernel.jit import inner
from .association import HERE, NOT_ASKED, SKIN, THERE
from .contacts import OUTSIDE, PINCHED, note, note_place
from .pinch import hold_pinched, meet
from .surface import RECOVERY_SPEED, is_behind, wanted_by

FARTHER = 1.5  # times as far as a triangle that is not sure, a point looks next


@inner
def _two_nearest(bodies, candidates, at, p, g, sure):
    """The triangle of a closed body nearest to point p of garment g, up to `sure` [m]; the nearest of another body; the
    least distance of those beyond. -1, -1 or inf where there is none.
    """
    t, u, nearest, next_nearest, beyond = np.int64(-1), np.int64(-1), math.inf, math.inf, math.inf
    solid = bodies.solid
    for c in range(candidates.count[p]):
        other = np.int64(candidates.triangles[p, c])
        if solid[other] == 0 or not bodies.meets[bodies.collider[other], g]:
            continue
        d = distance_to(bodies.triangles, bodies.motions, other, 1.0, at[HERE, 0], at[HERE, 1], at[HERE, 2])
        if d > sure:
            beyond = min(beyond, d)
        elif t < 0 or solid[other] == solid[t]:
            if d < nearest:
                t, nearest = other, d
        elif (u < 0 or solid[other] == solid[u]) and d < next_nearest:
            u, next_nearest = other, d
    return t, u, beyond


@inner
def _exit(bodies, candidates, contacts, at, p, g, limit, several):
    """The triangle through which point p of garment g, inside a closed body, leaves it, or -1; also notes where the
    point is now.

    The closest triangle of a body decides whether the point is inside that body at all: where a body cuts through
    itself, as an arm does that is pressed into the side, a point between the two is left to the one it is outside of.
    """
    place, grip, count, asked = contacts.place, contacts.grip, candidates.count, candidates.asked
    # all triangles up to `sure` are known; a full list knows the nearest well enough
    sure = asked[p, SKIN]
    if count[p] == candidates.triangles.shape[1]:
        sure = math.inf
    t, u, beyond = _two_nearest(bodies, candidates, at, p, g, sure)
    if t < 0:  # has to look further, or there is nothing
        if sure >= limit:
            place[p] = OUTSIDE
        asked[p, SKIN] = min(2.0 * sure, FARTHER * beyond)
        count[p] = NOT_ASKED
        return t
    behind = is_behind(bodies, at, t)
    under = u >= 0 and is_behind(bodies, at, u)
    if (behind and under) or (u >= 0 and (behind or under) and meet(bodies, at, t, u)):
        place[p] = PINCHED
        grip[p, 0], grip[p, 1] = t, u
    elif under:
        t = u
    elif not behind:  # outside of this body: of another one farther off it may still be inside
        if u >= 0 or not several or sure >= limit:
            place[p] = OUTSIDE
        asked[p, SKIN] = 2.0 * sure
        count[p] = NOT_ASKED
        return np.int64(-1)
    return t


@inner
def leave(bodies, image, candidates, contacts, at, p, g, speed, dt):
    """One substep of a point inside a closed body: to the nearest way out, or along with the skin if there is none."""
    t = _exit(bodies, candidates, contacts, at, p, g, image.way_out, image.solids > 1)
    if t < 0:
        return
    push, _, gap, _, nx, ny, nz, a, b, c = wanted_by(bodies, at, t, 0.0, speed * dt, 1.0)
    mx, my, mz = carried(bodies.triangles, bodies.motions, t, a, b, c)
    if contacts.grip[p, 1] >= 0:
        hold_pinched(bodies, contacts, at, p, RECOVERY_SPEED * dt, dt)
    elif contacts.place[p] == PINCHED:  # inside two bodies no way leads out: stay calm until they part
        at[HERE, 0] = at[THERE, 0] + mx
        at[HERE, 1] = at[THERE, 1] + my
        at[HERE, 2] = at[THERE, 2] + mz
    elif push > 0.0:
        at[HERE, 0] += push * nx
        at[HERE, 1] += push * ny
        at[HERE, 2] += push * nz
        contacts.count[p] = 1
        note(contacts, p, 0, nx, ny, nz, mx / dt, my / dt, mz / dt, 0.0, 0.0, 0.0)
        note_place(contacts, p, 0, t, a, b, c)
        if gap + push >= 0.0:
            contacts.place[p] = OUTSIDE
            candidates.count[p] = NOT_ASKED
