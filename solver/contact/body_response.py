# SPDX-License-Identifier: GPL-3.0-or-later
"""Points against the bodies' exact triangles: which one, which side, how far, how much friction.

The side is the one the point was on before (Bargmann 2003, 4.5): if its way through the substep, seen from the moving
triangle, leads through that triangle, it is put back on the side it came from; if not, it is on the right side
already, and the direction from the closest point of the surface is the way out. So neither the facing of a triangle
nor the corners of the mesh matter. Closed bodies alone know an inside: a point found there without having come
through the surface is let out at the nearest place with a limited speed.

Friction is Coulomb's, on positions: the slip against the touched point of the moving triangle is taken back, up to the
friction coefficient times the depth that was corrected.

Points are the particles and then the contact samples (middles of long edges).
"""

import math
from typing import NamedTuple

import numpy as np

from ..jit import inner, njit
from ..ldi.query import NEVER, associate
from .moving_triangle import closest, outward, passage, plane

RECOVERY_SPEED = 0.5  # [m/s] at which a point regains the aura, or leaves a body's inside
PASSES = 4  # corrections of one point in one substep: a floor, two walls and one more
OUTSIDE, INSIDE, PINCHED = 0, 1, 2
LOST = -1  # instead of a number of touches: the image cannot answer


class Bodies(NamedTuple):
    """Triangles of all bodies and what they are made of."""

    triangles: np.ndarray  # (t, 3)
    motions: np.ndarray  # (m, 6) [m] position at the start of the interval, motion through it
    collider: np.ndarray  # (t,) row of `materials`
    materials: np.ndarray  # (c, 3): aura [m], friction, restitution
    solid: np.ndarray  # (t,) number of the closed body whose inside is forbidden, 0 for none
    neighbours: np.ndarray  # (t, 3), with the next two as in body_topology.Topology
    vertex_start: np.ndarray
    vertex_triangles: np.ndarray


class Touches(NamedTuple):
    """What the points touch in this substep, up to two surfaces each."""

    place: np.ndarray  # (p,) OUTSIDE; INSIDE a closed body; PINCHED inside two at once
    count: np.ndarray  # (p,) 0 to 2, or LOST
    touch: np.ndarray  # (p, 2, 8): normal, velocity [m/s] of the touched point, wanted normal speed, friction
    push: np.ndarray  # (s, 3) [m] displacement wanted by each sample


class Samples(NamedTuple):
    """Contact samples: middles of edges."""

    parents: np.ndarray  # (s, 2) particles
    particle_start: np.ndarray  # (n + 1,) first entry of each particle in particle_samples
    particle_samples: np.ndarray  # (2 s,)


@inner
def _choose(triangles, motions, collider, materials, solid, ball, frame, known, key, counts, p, stray, before, px, py, pz, tau, x, y, z):  # fmt: skip
    """The triangle that matters to point p: the first it came through, else the one it is deepest in the aura of.

    A sphere round the triangle, 40 flops, spares most of them the exact tests, 200 and more.

    Returns (triangle or -1, side it came from or 0 if it did not come through, whether another surface within the
    aura looks elsewhere, so that one correction may not do).
    """
    nearest, gap = np.int64(-1), 0.0
    first, earliest, first_side = np.int64(-1), 2.0, 0.0
    ux, uy, uz, turned = 0.0, 0.0, 0.0, False
    largest, span, late = frame[5, 1], tau - before, tau - 0.5
    # the point and its way through the substep, seen from the frame of reference of the spheres
    qx, qy, qz = x - late * frame[0, 0], y - late * frame[0, 1], z - late * frame[0, 2]
    wx, wy, wz = x - px - span * frame[0, 0], y - py - span * frame[0, 1], z - pz - span * frame[0, 2]
    for c in range(counts[p]):
        bound = key[p, c] - stray
        if bound >= largest:
            break
        t = np.int64(known[p, c])
        hx, hy, hz = 2.0 * ball[t, 3], 2.0 * ball[t, 4], 2.0 * ball[t, 5]
        gx, gy, gz = ball[t, 0] + late * hx - qx, ball[t, 1] + late * hy - qy, ball[t, 2] + late * hz - qz
        hx, hy, hz = wx - span * hx, wy - span * hy, wz - span * hz
        travel = math.sqrt(hx * hx + hy * hy + hz * hz)
        reach = largest + travel + ball[t, 6] + 2.0 * (span + abs(late)) * ball[t, 7]
        if gx * gx + gy * gy + gz * gz > reach * reach:
            continue
        aura = materials[collider[t], 0]
        d, _, _, _, _, dx, dy, dz = closest(triangles, motions, t, tau, x, y, z)
        if d < aura:
            # another direction than the surface before it: a crease, or the far side of something thin
            turned = turned or (nearest >= 0 and dx * ux + dy * uy + dz * uz < 0.8 * d)
            if d - aura < gap:
                nearest, gap = t, d - aura
                ux, uy, uz = (dx / d, dy / d, dz / d) if d > 0.0 else (0.0, 0.0, 0.0)
        if bound <= 0.0:
            share, side = passage(triangles, motions, t, before, px, py, pz, tau, x, y, z)
            if share < earliest and not (solid[t] > 0 and side < 0.0):
                first, earliest, first_side = t, share, side
    if first >= 0:
        return first, first_side, True
    return nearest, 0.0, turned


@inner
def _contact(triangles, motions, solid, neighbours, vertex_start, vertex_triangles, aura, t, came_from, before, px, py, pz, tau, x, y, z, ease):  # fmt: skip
    """Where triangle t wants the point.

    Returns (push [m] along n, depth [m] that friction feels, gap [m] now, nx, ny, nz, wa, wb, wc).
    """
    d, wa, wb, wc, feature, dx, dy, dz = closest(triangles, motions, t, tau, x, y, z)
    gap_before = closest(triangles, motions, t, before, px, py, pz)[0]
    sign = 1.0
    if came_from == 0.0 and solid[t] > 0:
        sign = outward(triangles, motions, neighbours, vertex_start, vertex_triangles, t, feature, tau, dx, dy, dz)
    gap = sign * d
    gap_before *= sign
    if came_from == 0.0 and d > 1e-9:
        nx, ny, nz = dx / gap, dy / gap, dz / gap
    else:  # through the triangle, or upon it: back over its plane, to the side it was on
        if came_from == 0.0:
            came_from = 1.0
            if solid[t] == 0 and plane(triangles, motions, t, before, px, py, pz)[3] < 0.0:
                came_from = -1.0
        nx, ny, nz, height = plane(triangles, motions, t, tau, x, y, z)
        nx, ny, nz, gap = came_from * nx, came_from * ny, came_from * nz, came_from * height
    wanted = min(aura, gap_before + ease)
    return wanted - gap, max(min(gap_before, wanted) - gap, 0.0), gap, nx, ny, nz, wa, wb, wc


@inner
def _carried(triangles, motions, t, span, wa, wb, wc):
    """Motion of a point of triangle t in a part `span` of the interval."""
    i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    return (
        span * (wa * motions[i, 3] + wb * motions[j, 3] + wc * motions[k, 3]),
        span * (wa * motions[i, 4] + wb * motions[j, 4] + wc * motions[k, 4]),
        span * (wa * motions[i, 5] + wb * motions[j, 5] + wc * motions[k, 5]),
    )


@inner
def _stray(memory, p, tau, x, y, z):
    """How far point p is from the way it expected to go."""
    since = tau - memory[p, 6]
    ex, ey = x - memory[p, 0] - since * memory[p, 3], y - memory[p, 1] - since * memory[p, 4]
    ez = z - memory[p, 2] - since * memory[p, 5]
    return math.sqrt(ex * ex + ey * ey + ez * ez)


@inner
def _ask(first_pixel, pixel_start, depth, triangle, ball, frame, triangles, motions, known, key, counts, memory, place, p, before, px, py, pz, tau, x, y, z, rx, ry, rz):  # fmt: skip
    """Ask the image again where the point was at the substep's start; returns how far it strays now, or -1."""
    span = tau - before
    ex, ey, ez = x - px - span * rx, y - py - span * ry, z - pz - span * rz
    stray = math.sqrt(ex * ex + ey * ey + ez * ez)
    horizon, skin, limit = 1.0, max(0.5 * frame[5, 1], 1.5 * stray), 0.0
    if place != OUTSIDE:  # the way out may be long: look further and further
        limit = frame[5, 0] * (frame[2, 0] + frame[2, 1] + frame[2, 2])
        skin = max(skin, min(2.0 * memory[p, 8], limit))
    while True:
        answered = associate(
            first_pixel, pixel_start, depth, triangle, ball, frame, triangles, motions, known, key, counts, memory,
            p, px, py, pz, before, rx, ry, rz, horizon, skin,
        )  # fmt: skip
        if skin < limit and counts[p] == 0:
            skin *= 2.0
        elif not answered:
            return -1.0
        elif stray <= memory[p, 8] or horizon == tau:
            return min(stray, memory[p, 8]) if horizon < 1.0 else stray
        else:  # more triangles than it can remember: only for this substep then, along its actual way
            horizon, stray = tau, 0.0
            rx, ry, rz = (x - px) / span, (y - py) / span, (z - pz) / span


@inner
def _is_behind(triangles, motions, neighbours, vertex_start, vertex_triangles, t, tau, x, y, z):
    """Is the point inside, seen from t, the closest triangle of its body?"""
    _, _, _, _, feature, dx, dy, dz = closest(triangles, motions, t, tau, x, y, z)
    return outward(triangles, motions, neighbours, vertex_start, vertex_triangles, t, feature, tau, dx, dy, dz) < 0.0


@inner
def _leave(triangles, motions, collider, materials, solid, neighbours, vertex_start, vertex_triangles, known, counts, memory, place, touched, touch, limit, p, before, px, py, pz, tau, x, y, z, dt):  # fmt: skip
    """One substep of a point inside a closed body: to the nearest way out, or along with the skin if there is none."""
    # the closest triangles of two bodies; only one that the point is behind leads out
    t, u, nearest, next_nearest = np.int64(-1), np.int64(-1), math.inf, math.inf
    for c in range(counts[p]):
        other = np.int64(known[p, c])
        if solid[other] == 0:
            continue
        d = closest(triangles, motions, other, tau, x, y, z)[0]
        if t < 0 or solid[other] == solid[t]:
            if d < nearest:
                t, nearest = other, d
        elif (u < 0 or solid[other] == solid[u]) and d < next_nearest:
            u, next_nearest = other, d
    behind = t >= 0 and _is_behind(triangles, motions, neighbours, vertex_start, vertex_triangles, t, tau, x, y, z)
    if u >= 0 and _is_behind(triangles, motions, neighbours, vertex_start, vertex_triangles, u, tau, x, y, z):
        if behind:
            place[p] = PINCHED
        if not behind or next_nearest < nearest:
            t = u
    elif not behind:
        t = np.int64(-1)
    if t < 0:  # it has come out, or has to look further
        place[p] = OUTSIDE if memory[p, 8] >= limit else place[p]
        counts[p] = NEVER
        return x, y, z
    push, _, gap, nx, ny, nz, a, b, c = _contact(
        triangles, motions, solid, neighbours, vertex_start, vertex_triangles,
        materials[collider[t], 0], t, 0.0, before, px, py, pz, tau, x, y, z, RECOVERY_SPEED * dt,
    )  # fmt: skip
    mx, my, mz = _carried(triangles, motions, t, tau - before, a, b, c)
    if place[p] == PINCHED:  # inside two bodies no way leads out: stay calm until they part
        return px + mx, py + my, pz + mz
    if push > 0.0:
        x, y, z = x + push * nx, y + push * ny, z + push * nz
        touched[p] = 1
        touch[p, 0, 0], touch[p, 0, 1], touch[p, 0, 2] = nx, ny, nz
        touch[p, 0, 3], touch[p, 0, 4], touch[p, 0, 5], touch[p, 0, 6] = mx / dt, my / dt, mz / dt, 0.0
        if gap + push >= 0.0:
            place[p] = OUTSIDE
            counts[p] = NEVER
    return x, y, z


@njit
def respond_range(
    first, last, particle_count, only_lost, inv_mass, friction, parents, x, x_prev, v,
    triangles, motions, collider, materials, solid, neighbours, vertex_start, vertex_triangles,
    first_pixel, pixel_start, depth, triangle, ball, frame, known, key, counts, memory,
    place, touched, touch, push, before, tau, seconds, slow,
):  # fmt: skip
    """Correct points first..last, or only those of them that are LOST; returns how many touch, how many are LOST.

    Particles are moved (x), samples leave what they want in `push`. `before`, `tau`: the substep as parts of the
    interval of `seconds`; slower than `slow` [m/s] nothing bounces. Per point at rest on a body about 0.3 kB are read.
    """
    largest = frame[5, 1]
    span = tau - before
    dt = span * seconds
    limit = frame[5, 0] * (frame[2, 0] + frame[2, 1] + frame[2, 2])
    touching, lost = 0, 0
    for p in range(first, last):
        if only_lost and touched[p] != LOST:
            continue
        i, j = p, p
        if p >= particle_count:
            i, j = parents[p - particle_count, 0], parents[p - particle_count, 1]
            # an edge sinks in where one of its ends is near a body: all others need not ask
            if touched[p] <= 0 and counts[i] <= 0 and counts[j] <= 0:
                touched[p] = 0
                continue
        touched[p] = 0
        if inv_mass[i] == 0.0 and inv_mass[j] == 0.0:
            continue
        x0, y0, z0 = 0.5 * (x[i, 0] + x[j, 0]), 0.5 * (x[i, 1] + x[j, 1]), 0.5 * (x[i, 2] + x[j, 2])
        px, py = 0.5 * (x_prev[i, 0] + x_prev[j, 0]), 0.5 * (x_prev[i, 1] + x_prev[j, 1])
        pz = 0.5 * (x_prev[i, 2] + x_prev[j, 2])
        vx, vy, vz = 0.5 * (v[i, 0] + v[j, 0]), 0.5 * (v[i, 1] + v[j, 1]), 0.5 * (v[i, 2] + v[j, 2])
        stray = math.inf
        if counts[p] >= 0 and tau <= memory[p, 7]:
            stray = max(_stray(memory, p, before, px, py, pz), _stray(memory, p, tau, x0, y0, z0))
        if not stray <= memory[p, 8]:
            stray = _ask(
                first_pixel, pixel_start, depth, triangle, ball, frame, triangles, motions, known, key, counts,
                memory, place[p], p, before, px, py, pz, tau, x0, y0, z0, seconds * vx, seconds * vy, seconds * vz,
            )  # fmt: skip
            if stray < 0.0:
                touched[p] = LOST
                lost += 1
                continue
        ax, ay, az = x0, y0, z0
        if place[p] != OUTSIDE:
            ax, ay, az = _leave(
                triangles, motions, collider, materials, solid, neighbours, vertex_start, vertex_triangles,
                known, counts, memory, place, touched, touch, limit, p, before, px, py, pz, tau, x0, y0, z0, dt,
            )  # fmt: skip
        elif counts[p] > 0 and key[p, 0] - stray < largest:
            grip, mx, my, mz, kx, ky, kz, fx, fy, fz = -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for _ in range(PASSES):
                t, came_from, again = _choose(
                    triangles, motions, collider, materials, solid, ball, frame, known, key, counts, p, stray,
                    before, px, py, pz, tau, ax, ay, az,
                )  # fmt: skip
                if t < 0:
                    break
                lift, felt, _, nx, ny, nz, a, b, c = _contact(
                    triangles, motions, solid, neighbours, vertex_start, vertex_triangles,
                    materials[collider[t], 0], t, came_from, before, px, py, pz, tau, ax, ay, az, RECOVERY_SPEED * dt,
                )  # fmt: skip
                if lift <= 0.0:
                    break
                ox, oy, oz = _carried(triangles, motions, t, span, a, b, c)
                slot = touched[p]
                opposed = slot > 0 and nx * fx + ny * fy + nz * fz < -0.3
                if opposed:  # squeezed from both sides: meet in the middle
                    lift *= 0.5
                ax, ay, az, stray = ax + lift * nx, ay + lift * ny, az + lift * nz, stray + lift
                if slot == 0:
                    fx, fy, fz = nx, ny, nz
                if slot < 2:
                    sx, sy, sz = ox / dt, oy / dt, oz / dt
                    touch[p, slot, 0], touch[p, slot, 1], touch[p, slot, 2] = nx, ny, nz
                    touch[p, slot, 3], touch[p, slot, 4], touch[p, slot, 5] = sx, sy, sz
                    approach = -((vx - sx) * nx + (vy - sy) * ny + (vz - sz) * nz)
                    # a point at rest falls on the surface in each substep: that must not bounce
                    touch[p, slot, 6] = materials[collider[t], 2] * approach if approach > slow else 0.0
                    touched[p] = slot + 1
                rough = math.sqrt(0.5 * (friction[i] + friction[j]) * materials[collider[t], 1])
                touch[p, min(slot, 1), 7] = rough
                felt *= rough
                if felt > grip:
                    grip, kx, ky, kz, mx, my, mz = felt, nx, ny, nz, ox, oy, oz
                if opposed or not again:
                    break
            if grip > 0.0:
                sx, sy, sz = ax - px - mx, ay - py - my, az - pz - mz
                along = sx * kx + sy * ky + sz * kz
                sx, sy, sz = sx - along * kx, sy - along * ky, sz - along * kz
                slip = math.sqrt(sx * sx + sy * sy + sz * sz)
                held = 1.0 if slip <= grip else grip / slip
                ax, ay, az = ax - held * sx, ay - held * sy, az - held * sz
        if touched[p] > 0:
            touching += 1
        if p < particle_count:
            x[p, 0], x[p, 1], x[p, 2] = ax, ay, az
        else:
            s = p - particle_count
            push[s, 0], push[s, 1], push[s, 2] = ax - x0, ay - y0, az - z0
    return touching, lost


@njit
def gather(inv_mass, particle_start, particle_samples, touched, touch, push, x):
    """Move each particle by the mean of what its touching samples want, in their fixed order."""
    particle_count = len(inv_mass)
    for i in range(particle_count):
        if inv_mass[i] == 0.0:
            continue
        dx, dy, dz, count, last = 0.0, 0.0, 0.0, 0, 0
        for entry in range(particle_start[i], particle_start[i + 1]):
            s = particle_samples[entry]
            if touched[particle_count + s] > 0:
                dx, dy, dz, count, last = dx + push[s, 0], dy + push[s, 1], dz + push[s, 2], count + 1, s
        if count == 0:
            continue
        dx, dy, dz = dx / count, dy / count, dz / count
        x[i, 0], x[i, 1], x[i, 2] = x[i, 0] + dx, x[i, 1] + dy, x[i, 2] + dz
        if touched[i] == 0:
            touched[i] = 1
            for k in range(8):
                touch[i, 0, k] = touch[particle_count + last, 0, k]


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
