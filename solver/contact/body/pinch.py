# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth between two surfaces of bodies that leave it no room: it stays there, calm, and comes out when they part.

Where an arm is pressed into the side, no place is outside of both. Whoever pushes a particle there to one side, then to
the other, makes it tremble; whoever lets it go loses it inside. So a particle that is wanted elsewhere by two opposing
surfaces, with no way out nearby, is pinched: it goes along with the mean of both, as if it stuck to them (Baraff, Witkin
and Kass 2003, of pinches), and the solve takes it for fixed; what cloth pulls at too hard slips (`slip`). It is led to
where it is as deep in one as in the other: when they part, that is the gap between them. Where one surface goes along the other, as
the forearm of who runs along the flank, each takes it its own way with as much friction: along that way neither holds it, and
it goes as cloth takes it, in the solve; with the mean of both it would be drawn to and fro, and all round it. Near where the surfaces come
together it may be pulled out by cloth (`constraints`), unless friction would hold it. What slides round an edge of one of
them, so that both are on one side of it, is let go.

It remembers what it lies between as two triangles, which it follows over the mesh as it slides. So it does not matter
whether they are of two bodies or of one that goes into itself.
"""

import math

import numpy as np

from ...geometry.distance import CORNER_A, EDGE_AB
from ...geometry.moving_triangle import carried, closest, distance_to
from ...kernel.jit import inner
from .association import HERE, THERE
from .contacts import INSIDE, OUTSIDE, PINCHED, note
from .surface import gap_to, mean_aura

NO_WAY_OUT = 0.1  # auras to the next way out from which on there is none
PARTED = 1.1  # auras of both that there must be between two surfaces before they let go
MOST_TRIANGLES = 16  # over which what is pinched slides in a substep
MIDDLE_SLACK, MOST_SLACK = (
    0.25,
    4.0,
)  # part of the depth, or of the gap, by which it may be off the middle; auras at most
OPPOSED_COSINE = 0.5  # between the surfaces' normals from which on nothing is between them
BESIDE_COSINE = 0.7  # between them from which on both are on one side of it: it has slid out round an edge of one
PULLED_OUT = 1.0  # auras to the next way out up to which a particle can be pulled out
PRESSED = 0.4  # auras between two surfaces from which on they do not press what is between
RUBBING = 0.1  # [m/s] of one surface along the other from which on their frictions cancel out
LEAST_ACROSS = 0.1  # length of their difference that counts
LOCKED_COSINE = -0.8  # between the normals up to which it cannot: friction of 0.3 holds what is between, as in a gap


@inner
def is_squeezed(lack, turn, aura, far):
    """Do two surfaces leave a point no room within `far` auras: `lack` [m] of it between them, with the cosine `turn`
    between their normals? The way to where both have their aura leads along the mean of the normals.
    """
    return lack > 0.0 and lack * lack > 2.0 * (1.0 + turn) * (far * aura) ** 2


@inner
def meet(bodies, at, t, u):
    """Are triangles t and u such that a point that is HERE now is pinched between them?"""
    x, y, z = at[HERE, 0], at[HERE, 1], at[HERE, 2]
    gap, nx, ny, nz = gap_to(bodies, t, 1.0, x, y, z)
    other, ox, oy, oz = gap_to(bodies, u, 1.0, x, y, z)
    turn = nx * ox + ny * oy + nz * oz
    aura = mean_aura(bodies, t, u)
    return turn < OPPOSED_COSINE and is_squeezed(2.0 * aura - gap - other, turn, aura, NO_WAY_OUT)


@inner
def _nearer_round(bodies, i, tau, x, y, z, best, found):
    """The least distance [m] from a point of the triangles round vertex i, and that triangle; `best` and `found` if none is nearer."""
    for entry in range(bodies.vertex_start[i], bodies.vertex_start[i + 1]):
        u = bodies.vertex_triangles[entry]
        d = distance_to(bodies.triangles, bodies.motions, u, tau, x, y, z)
        if d < best:
            best, found = d, np.int64(u)
    return best, found


@inner
def _follow(bodies, t, tau, x, y, z):
    """The triangle closest to a point, found from t on over the mesh. A point in a finger may have one right over it, and be nearer
    to others round that all the same: it has gone past the middle, to the other side.
    """
    triangles = bodies.triangles
    for _ in range(MOST_TRIANGLES):
        best, _, _, _, feature, _, _, _ = closest(triangles, bodies.motions, t, tau, x, y, z)
        found = np.int64(t)
        if feature >= EDGE_AB:
            u = bodies.neighbour[t, feature - EDGE_AB]
            if u >= 0 and distance_to(triangles, bodies.motions, u, tau, x, y, z) < best:
                found = np.int64(u)
        else:
            first, last = (feature - CORNER_A, feature - CORNER_A + 1) if feature >= CORNER_A else (0, 3)
            for corner in range(first, last):
                best, found = _nearer_round(bodies, triangles[t, corner], tau, x, y, z, best, found)
        if found == t:
            break
        t = found
    return t


@inner
def _carry(bodies, grip, p, x, y, z):
    """How far both surfaces take pinched point p on the mean, and how far [m] the first goes against the second; 0 where they
    have gone where bodies are not looked at. # outputs: grip
    """
    triangles, motions, mx, my, mz, ax, ay, az = bodies.triangles, bodies.motions, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for side in range(2):
        t = _follow(bodies, grip[p, side], 0.0, x, y, z)
        _, wa, wb, wc, _, _, _, _ = closest(triangles, motions, t, 0.0, x, y, z)
        ox, oy, oz = carried(triangles, motions, t, wa, wb, wc)
        mx, my, mz = mx + 0.5 * ox, my + 0.5 * oy, mz + 0.5 * oz
        ax, ay, az = ox - ax, oy - ay, oz - az
        grip[p, side] = t
    if abs(mx + my + mz) < math.inf:
        return mx, my, mz, ax, ay, az
    return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


@inner
def _along_rub(rub, at, p, mx, my, mz):
    """How far the solve has taken point p along the way that two surfaces rub it, against the mean m of both."""
    sx, sy, sz = at[HERE, 0] - at[THERE, 0] - mx, at[HERE, 1] - at[THERE, 1] - my, at[HERE, 2] - at[THERE, 2] - mz
    along = sx * rub[p, 0] + sy * rub[p, 1] + sz * rub[p, 2]
    return along * rub[p, 0], along * rub[p, 1], along * rub[p, 2]


@inner
def _note_rub(rub, p, ax, ay, az, nx, ny, nz, least):
    """Note the way along which two surfaces rub point p that go by a against each other, n the difference of their normals;
    none where that is no farther than `least` [m]. # outputs: rub
    """
    share = (ax * nx + ay * ny + az * nz) / max(nx * nx + ny * ny + nz * nz, LEAST_ACROSS * LEAST_ACROSS)
    ax, ay, az = ax - share * nx, ay - share * ny, az - share * nz
    size = math.sqrt(ax * ax + ay * ay + az * az)
    scale = 1.0 / size if size > least else 0.0
    rub[p, 0], rub[p, 1], rub[p, 2] = scale * ax, scale * ay, scale * az


@inner
def _lag(gap, other, aura):
    """How much larger the one gap is than the other, less what it may be."""
    lag, most = other - gap, 2.0 * MIDDLE_SLACK * min(abs(gap + other), MOST_SLACK * aura)
    return math.copysign(max(abs(lag) - most, 0.0), lag)


@inner
def hold_pinched(bodies, contacts, at, p, most, dt):
    """Take pinched point p along with both surfaces, and by `most` [m] towards their middle; or, where there is a way
    out again, along that. # outputs: at, and of `contacts` all but push, sunk and close
    """
    place, grip = contacts.place, contacts.grip
    x, y, z = at[THERE, 0], at[THERE, 1], at[THERE, 2]
    mx, my, mz, ax, ay, az = _carry(bodies, grip, p, x, y, z)
    contacts.unrest[p] = math.sqrt(ax * ax + ay * ay + az * az) / dt
    slip, rub = contacts.slip, contacts.rub
    sx, sy, sz = _along_rub(rub, at, p, mx, my, mz)
    x, y, z, t, u = x + mx + slip[p, 0] + sx, y + my + slip[p, 1] + sy, z + mz + slip[p, 2] + sz, grip[p, 0], grip[p, 1]
    slip[p, 0], slip[p, 1], slip[p, 2], rub[p, 0], rub[p, 1], rub[p, 2] = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    gap, nx, ny, nz = gap_to(bodies, t, 1.0, x, y, z)
    other, ox, oy, oz = gap_to(bodies, u, 1.0, x, y, z)
    if not abs(gap + other) < math.inf:  # it has come to where bodies are not looked at
        place[p], grip[p, 1], contacts.between[p] = INSIDE, -1, 0.0
        at[HERE, 0], at[HERE, 1], at[HERE, 2] = x, y, z
        return
    turn, aura = nx * ox + ny * oy + nz * oz, mean_aura(bodies, t, u)
    lack, share = 2.0 * PARTED * aura - gap - other, 0.0
    sx, sy, sz = nx + ox, ny + oy, nz + oz
    if turn > BESIDE_COSINE:
        place[p], grip[p, 1] = OUTSIDE if min(gap, other) >= 0.0 else INSIDE, -1
    elif is_squeezed(lack, turn, aura, NO_WAY_OUT):
        sx, sy, sz = nx - ox, ny - oy, nz - oz
        share = _lag(gap, other, aura) / max(2.0 - 2.0 * turn, 0.5)
    elif gap >= 0.0 and other >= 0.0:
        place[p] = OUTSIDE
    elif gap + other > 0.0:
        place[p], grip[p, 1] = INSIDE, -1
    else:
        share = most
    if place[p] == PINCHED:
        _note_rub(rub, p, ax, ay, az, nx - ox, ny - oy, nz - oz, RUBBING * dt)
    contacts.between[p] = gap + other
    contacts.press[p] = min(max(1.0 - (gap + other) / (PRESSED * aura), 0.0), 1.0)
    far = abs(share) * math.sqrt(sx * sx + sy * sy + sz * sz)
    if far > most:
        share *= most / far
    at[HERE, 0], at[HERE, 1], at[HERE, 2] = x + share * sx, y + share * sy, z + share * sz
    contacts.count[p], friction = 2, math.inf if place[p] > INSIDE else 0.0
    is_loose = turn > LOCKED_COSINE and min(gap, other) >= 0.0 and not is_squeezed(lack, turn, aura, PULLED_OUT)
    note(contacts, p, 0, nx, ny, nz, mx / dt, my / dt, mz / dt, 0.0, 0.0, friction)
    note(contacts, p, 1, ox, oy, oz, mx / dt, my / dt, mz / dt, 0.0, 0.0, 0.0 if is_loose else friction)
