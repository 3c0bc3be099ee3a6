# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth between two surfaces of bodies that leave it no room: it stays there, calm, and comes out when they part.

Where an arm is pressed into the side, no place is outside of both. Whoever pushes a particle there to one side, then to
the other, makes it tremble; whoever lets it go loses it inside. So a particle that is wanted elsewhere by two opposing
surfaces, with no way out nearby, is pinched: it goes along with the mean of both, as if it stuck to them (Baraff, Witkin
and Kass 2003, of pinches), and the solve takes it for fixed. It is led to where it is as deep in one as in the other:
when they part, that is the gap between them. Near where the surfaces come together it may be pulled out by cloth
(`support`), unless friction would hold it.

It remembers what it lies between as two triangles, which it follows over the mesh as it slides. So it does not matter
whether they are of two bodies or of one that goes into itself.
"""

import math

from ..jit import inner
from ..ldi.query import HERE, THERE
from .moving_triangle import carried, closest, outward, plane
from .touches import INSIDE, OUTSIDE

LEAST_WAY = 0.1  # auras to the next way out from which on there is none
PARTED = 1.1  # auras of both that there must be between two surfaces before they let go
MOST_STEPS = 16  # from triangle to triangle, in a substep
SLACK = 0.25  # part of the depth, or of the gap, by which a particle may be off the middle, but an aura at most
OPPOSED = 0.5  # cosine between the surfaces' normals from which on nothing is between them
LOOSE = 1.0  # auras to the next way out up to which a particle can be pulled out
LOCKED = -0.8  # cosine between the normals up to which it cannot: friction of 0.3 holds what is between


@inner
def gap_to(bodies, t, tau, x, y, z):
    """(gap [m] to triangle t, below 0 inside of a closed body, and the way out nx, ny, nz) of a point at tau."""
    triangles, motions, traits, neighbours, vertex_start, vertex_triangles, _ = bodies
    d, _, _, _, feature, dx, dy, dz = closest(triangles, motions, t, tau, x, y, z)
    if d <= 1e-9:
        nx, ny, nz, _ = plane(triangles, motions, t, tau, x, y, z)
        return 0.0, nx, ny, nz
    sign = 1.0
    if traits[t, 3] > 0.0:
        sign = outward(triangles, motions, neighbours, vertex_start, vertex_triangles, t, feature, tau, dx, dy, dz)
    return sign * d, dx * sign / d, dy * sign / d, dz * sign / d


@inner
def is_squeezed(lack, turn, aura, far):
    """Do two surfaces leave a point no room within `far` auras: `lack` [m] of it between them, with the cosine `turn`
    between their normals? The way to where both have their aura leads along the mean of the normals.
    """
    return lack > 0.0 and lack * lack > 2.0 * (1.0 + turn) * (far * aura) ** 2


@inner
def meet(bodies, at, t, u):
    """Are triangles t and u such that a point that is HERE now is pinched between them?"""
    traits, x, y, z = bodies[2], at[HERE], at[HERE + 1], at[HERE + 2]
    gap, nx, ny, nz = gap_to(bodies, t, 1.0, x, y, z)
    other, ox, oy, oz = gap_to(bodies, u, 1.0, x, y, z)
    turn = nx * ox + ny * oy + nz * oz
    aura = 0.5 * (traits[t, 0] + traits[u, 0])
    return turn < OPPOSED and is_squeezed(2.0 * aura - gap - other, turn, aura, LEAST_WAY)


@inner
def _follow(bodies, t, tau, x, y, z):
    """The triangle closest to a point, found from t on over the mesh."""
    triangles, motions, _, neighbours, vertex_start, vertex_triangles, _ = bodies
    for _ in range(MOST_STEPS):
        best, _, _, _, feature, _, _, _ = closest(triangles, motions, t, tau, x, y, z)
        found = t
        if feature >= 4:
            u = neighbours[t, feature - 4]
            if u >= 0 and closest(triangles, motions, u, tau, x, y, z)[0] < best:
                found = u
        elif feature > 0:
            i = triangles[t, feature - 1]
            for entry in range(vertex_start[i], vertex_start[i + 1]):
                u = vertex_triangles[entry]
                d = closest(triangles, motions, u, tau, x, y, z)[0]
                if d < best:
                    best, found = d, u
        if found == t:
            break
        t = found
    return t


@inner
def _carry(bodies, grip, p, x, y, z):
    """How far both surfaces take pinched point p on the mean; 0 where they have gone where bodies are not looked at.
    # outputs: grip
    """
    triangles, motions, mx, my, mz = bodies[0], bodies[1], 0.0, 0.0, 0.0
    for side in range(2):
        t = _follow(bodies, grip[p, side], 0.0, x, y, z)
        _, wa, wb, wc, _, _, _, _ = closest(triangles, motions, t, 0.0, x, y, z)
        ox, oy, oz = carried(triangles, motions, t, wa, wb, wc)
        mx, my, mz = mx + 0.5 * ox, my + 0.5 * oy, mz + 0.5 * oz
        grip[p, side] = t
    if abs(mx + my + mz) < math.inf:
        return mx, my, mz
    return 0.0, 0.0, 0.0


@inner
def _lag(gap, other, aura):
    """How much larger the one gap is than the other, less what it may be."""
    lag, most = other - gap, 2.0 * SLACK * min(abs(gap + other), 4.0 * aura)
    return math.copysign(max(abs(lag) - most, 0.0), lag)


@inner
def _note(touch, p, side, nx, ny, nz, vx, vy, vz, friction):
    touch[p, side, 0], touch[p, side, 1], touch[p, side, 2] = nx, ny, nz
    touch[p, side, 3], touch[p, side, 4], touch[p, side, 5] = vx, vy, vz
    touch[p, side, 6], touch[p, side, 7] = 0.0, friction


@inner
def hold(bodies, touches, at, p, most, dt):
    """Take pinched point p along with both surfaces, and by `most` [m] towards their middle; or, where there is a way
    out again, along that. # outputs: at, and of `touches` place, count, touch, grip and between
    """
    place, touched, touch, grip = touches[0], touches[1], touches[2], touches[6]
    x, y, z = at[THERE], at[THERE + 1], at[THERE + 2]
    mx, my, mz = _carry(bodies, grip, p, x, y, z)
    x, y, z, t, u = x + mx, y + my, z + mz, grip[p, 0], grip[p, 1]
    gap, nx, ny, nz = gap_to(bodies, t, 1.0, x, y, z)
    other, ox, oy, oz = gap_to(bodies, u, 1.0, x, y, z)
    turn, aura = nx * ox + ny * oy + nz * oz, 0.5 * (bodies[2][t, 0] + bodies[2][u, 0])
    lack, share = 2.0 * PARTED * aura - gap - other, 0.0
    sx, sy, sz = nx + ox, ny + oy, nz + oz
    if is_squeezed(lack, turn, aura, LEAST_WAY):
        sx, sy, sz = nx - ox, ny - oy, nz - oz
        share = _lag(gap, other, aura) / max(2.0 - 2.0 * turn, 0.5)
    elif gap >= 0.0 and other >= 0.0:
        place[p] = OUTSIDE
    elif gap + other > 0.0:
        place[p], grip[p, 1] = INSIDE, -1
    elif gap + other <= 0.0:  # not where it is unknown
        share = most
    touches[7][p] = gap + other
    far = abs(share) * math.sqrt(sx * sx + sy * sy + sz * sz)
    if far > most:
        share *= most / far
    if far < math.inf:
        x, y, z = x + share * sx, y + share * sy, z + share * sz
    at[HERE], at[HERE + 1], at[HERE + 2] = x, y, z
    touched[p], friction = 2, math.inf if place[p] > INSIDE else 0.0
    is_loose = turn > LOCKED and min(gap, other) >= 0.0 and not is_squeezed(lack, turn, aura, LOOSE)
    _note(touch, p, 0, nx, ny, nz, mx / dt, my / dt, mz / dt, friction)
    _note(touch, p, 1, ox, oy, oz, mx / dt, my / dt, mz / dt, 0.0 if is_loose else friction)
