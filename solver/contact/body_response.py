# SPDX-License-Identifier: GPL-3.0-or-later
"""Points against the bodies' exact triangles: which one, which side, how far, how much friction.

The side is the one the point was on before (Bargmann 2003, 4.5): if its way through the substep, seen from the moving
triangle, leads through that triangle, it is put back on the side it came from; if not, it is on the right side
already, and the direction from the closest point of the surface is the way out. So neither the facing of a triangle
nor the corners of the mesh matter. Closed bodies alone know an inside: a point found there without having come
through the surface is let out at the nearest place with a limited speed.

Friction is Coulomb's, on positions: the slip against the touched point of the moving triangle is taken back, up to the
friction coefficient times the depth that was corrected.

Points are the particles and then the contact samples (points on large triangles).
"""

import math
from typing import NamedTuple

import numpy as np

from ..jit import folded, inner, njit
from ..ldi.query import CALM, HERE, NEVER, THERE, associate, is_far
from .moving_triangle import carried, closest, outward, passage, plane
from .pinch import gap_to, hold, meet
from .touches import APART, LOST, OUTSIDE, PINCHED

RECOVERY_SPEED = 0.5  # [m/s] at which a point regains the aura, or leaves a body's inside
PASSES = 4  # corrections of one point in one substep: a floor, two walls and one more
FAR = 1.0  # pixels that a point looks ahead along its way


class Bodies(NamedTuple):
    """Triangles of all bodies, how they move and what they are made of."""

    triangles: np.ndarray  # (t, 3)
    motions: np.ndarray  # (m, 6) [m] position at the substep's start, motion through it; only near the cloth
    traits: np.ndarray  # (t, 5): aura [m], friction, restitution, number of the closed body (inside forbidden) or 0,
    # row of `meets`
    neighbours: np.ndarray  # (t, 3), with the next two as in body_topology.Topology
    vertex_start: np.ndarray
    vertex_triangles: np.ndarray
    meets: np.ndarray  # (c, g) bool: which colliders touch which garments


@inner
def _outruns(triangles, motions, at, t, distance):
    """Has point p moved against a corner of triangle t by more than the distance? Else it did not come through."""
    for k in range(3):
        travel = 0.0
        for axis in range(3):
            travel += (at[HERE + axis] - at[THERE + axis] - motions[triangles[t, k], axis + 3]) ** 2
        if travel >= distance * distance:
            return True
    return False


@folded
def _choose(triangles, motions, traits, meets, g, known, key, counts, memory, at, p, largest, stray, tau):
    """The triangle that matters to point p of garment g: the first it came through, else that whose aura it is deepest in.

    Exact tests, 200 flops and more, are for those whose bound says that they can be near; all bounds are renewed.
    Returns (triangle or -1, side it came from or 0 if it did not come through, whether another surface within the
    aura looks elsewhere, so that one correction may not do).
    """
    nearest, gap = np.int64(-1), 0.0
    first, earliest, first_side = np.int64(-1), 2.0, 0.0
    ux, uy, uz, turned = 0.0, 0.0, 0.0, False
    x, y, z = at[HERE], at[HERE + 1], at[HERE + 2]
    since, calm = tau - memory[p, 6], math.inf
    for c in range(counts[p]):
        key[p, c, 0] -= since * key[p, c, 1] + stray
        if key[p, c, 0] >= largest:
            calm = min(calm, key[p, c, 0])
            continue
        t = np.int64(known[p, c])
        if not meets[int(traits[t, 4]), g]:
            calm = min(calm, key[p, c, 0])
            continue
        aura = traits[t, 0]
        d, _, _, _, _, dx, dy, dz = closest(triangles, motions, t, 1.0, x, y, z)
        key[p, c, 0] = d
        calm = min(calm, d)
        if d < aura:
            # another direction than the surface before it: a crease, or the far side of something thin
            turned = turned or (nearest >= 0 and dx * ux + dy * uy + dz * uz < 0.8 * d)
            if d - aura < gap:
                nearest, gap = t, d - aura
                ux, uy, uz = (dx / d, dy / d, dz / d) if d > 0.0 else (0.0, 0.0, 0.0)
        if _outruns(triangles, motions, at, t, d):
            share, side = passage(triangles, motions, t, at[THERE], at[THERE + 1], at[THERE + 2], x, y, z)
            if share < earliest and not (traits[t, 3] > 0.0 and side < 0.0):
                first, earliest, first_side = t, share, side
    # from here on it is expected to go the same way from where it is now
    memory[p, 0], memory[p, 1], memory[p, 2], memory[p, 6] = x, y, z, tau
    memory[p, 8] -= stray
    memory[p, CALM] = calm
    if first >= 0:
        return first, first_side, True
    return nearest, 0.0, turned


@inner
def _contact(bodies, at, t, came_from, ease):
    """Where triangle t wants the point.

    Returns (push [m] along n, depth [m] that friction feels, gap [m] now, nx, ny, nz, wa, wb, wc).
    """
    triangles, motions, traits, neighbours, vertex_start, vertex_triangles, _ = bodies
    x, y, z = at[HERE], at[HERE + 1], at[HERE + 2]
    px, py, pz = at[THERE], at[THERE + 1], at[THERE + 2]
    d, wa, wb, wc, feature, dx, dy, dz = closest(triangles, motions, t, 1.0, x, y, z)
    gap_before = closest(triangles, motions, t, 0.0, px, py, pz)[0]
    sign = 1.0
    if came_from == 0.0 and traits[t, 3] > 0.0:
        sign = outward(triangles, motions, neighbours, vertex_start, vertex_triangles, t, feature, 1.0, dx, dy, dz)
    gap = sign * d
    gap_before *= sign
    if came_from == 0.0 and d > 1e-9:
        nx, ny, nz = dx / gap, dy / gap, dz / gap
    else:  # through the triangle, or upon it: back over its plane, to the side it was on
        if came_from == 0.0:
            came_from = 1.0
            if traits[t, 3] == 0.0 and plane(triangles, motions, t, 0.0, px, py, pz)[3] < 0.0:
                came_from = -1.0
        nx, ny, nz, height = plane(triangles, motions, t, 1.0, x, y, z)
        nx, ny, nz, gap = came_from * nx, came_from * ny, came_from * nz, came_from * height
    wanted = min(traits[t, 0], gap_before + ease)
    return wanted - gap, max(min(gap_before, wanted) - gap, 0.0), gap, nx, ny, nz, wa, wb, wc


@inner
def _stray(memory, at, p, tau, moment):
    """How far point p is from the way it expected to go, HERE or THERE."""
    since, strays = tau - memory[p, 6], 0.0
    for axis in range(3):
        strays += (at[moment + axis] - memory[p, axis] - since * memory[p, axis + 3]) ** 2
    return math.sqrt(strays)


@folded
def _ask(bodies, image, candidates, seen, at, p, place, before, tau):
    """Ask the image again where the point was at the substep's start; False if it is lost.

    It is expected to go on as it moves in this substep. A point inside a body looks further and further, until it
    finds a surface; from then on it remembers how far.
    """
    counts, memory, frame = candidates[2], candidates[3], image[6]
    px, py, pz, span = at[THERE], at[THERE + 1], at[THERE + 2], tau - before
    rx, ry, rz = (at[HERE] - px) / span, (at[HERE + 1] - py) / span, (at[HERE + 2] - pz) / span
    skin, limit = frame[5, 1], 0.0
    # ahead only as far as the way stays short: a long one meets many pixels, and is less sure
    ux, uy, uz = rx - frame[0, 0], ry - frame[0, 1], rz - frame[0, 2]
    horizon = before + FAR * frame[5, 0] / max(math.sqrt(ux * ux + uy * uy + uz * uz), 1e-9)
    horizon = min(max(horizon, tau), 1.0)
    if place != OUTSIDE:
        limit = frame[6, 0]
        skin = max(skin, min(memory[p, 8], limit))
    while True:
        if not associate(bodies, image, candidates, seen, at, p, before, px, py, pz, rx, ry, rz, horizon, skin):
            return False
        if skin < limit and counts[p] == 0:
            skin *= 2.0
        elif memory[p, 8] >= 0.0 or horizon == tau:
            return True
        else:  # more triangles than it can remember: look less far ahead
            horizon = before + 0.25 * (horizon - before)
            if horizon < before + 2.0 * span:
                horizon = tau


@inner
def _is_behind(bodies, at, t):
    """Is the point inside, seen from t, the closest triangle of its body?"""
    triangles, motions, _, neighbours, vertex_start, vertex_triangles, _ = bodies
    x, y, z = at[HERE], at[HERE + 1], at[HERE + 2]
    _, _, _, _, feature, dx, dy, dz = closest(triangles, motions, t, 1.0, x, y, z)
    sign = outward(triangles, motions, neighbours, vertex_start, vertex_triangles, t, feature, 1.0, dx, dy, dz)
    return sign < 0.0


@inner
def _exit(bodies, candidates, touches, at, p, g, limit, several):
    """The triangle through which point p of garment g, inside a closed body, leaves it, or -1; also notes where the
    point is now.

    The closest triangle of a body decides whether the point is inside that body at all: where a body cuts through
    itself, as an arm does that is pressed into the side, a point between the two is left to the one it is outside of.
    """
    known, _, counts, memory = candidates
    place = touches[0]
    traits = bodies[2]
    # all triangles up to `sure` are known; a full list knows the nearest well enough
    t, u, nearest, next_nearest, sure, beyond = np.int64(-1), np.int64(-1), math.inf, math.inf, memory[p, 8], math.inf
    if counts[p] == known.shape[1]:
        sure = math.inf
    for c in range(counts[p]):
        other = np.int64(known[p, c])
        if traits[other, 3] == 0.0 or not bodies[6][int(traits[other, 4]), g]:
            continue
        d = closest(bodies[0], bodies[1], other, 1.0, at[HERE], at[HERE + 1], at[HERE + 2])[0]
        if d > sure:
            beyond = min(beyond, d)
        elif t < 0 or traits[other, 3] == traits[t, 3]:
            if d < nearest:
                t, nearest = other, d
        elif (u < 0 or traits[other, 3] == traits[u, 3]) and d < next_nearest:
            u, next_nearest = other, d
    if t < 0:  # has to look further, or there is nothing
        if sure >= limit:
            place[p] = OUTSIDE
        memory[p, 8] = min(2.0 * sure, 1.5 * beyond)
        counts[p] = NEVER
        return t
    behind = _is_behind(bodies, at, t)
    under = u >= 0 and _is_behind(bodies, at, u)
    if (behind and under) or (u >= 0 and (behind or under) and meet(bodies, at, t, u)):
        place[p] = PINCHED
        touches[6][p, 0], touches[6][p, 1] = t, u
    elif under:
        t = u
    elif not behind:  # outside of this body: of another one farther off it may still be inside
        if u >= 0 or not several or sure >= limit:
            place[p] = OUTSIDE
        memory[p, 8] = 2.0 * sure
        counts[p] = NEVER
        return np.int64(-1)
    return t


@inner
def _touch(touch, p, slot, nx, ny, nz, sx, sy, sz, rebound, rough):
    touch[p, slot, 7] = rough
    touch[p, slot, 0], touch[p, slot, 1], touch[p, slot, 2] = nx, ny, nz
    touch[p, slot, 3], touch[p, slot, 4], touch[p, slot, 5], touch[p, slot, 6] = sx, sy, sz, rebound


@inner
def _leave(bodies, image, candidates, touches, at, p, g, dt):
    """One substep of a point inside a closed body: to the nearest way out, or along with the skin if there is none."""
    place, touched, touch = touches[0], touches[1], touches[2]
    counts = candidates[2]
    t = _exit(bodies, candidates, touches, at, p, g, image[6][6, 0], image[6][6, 1] > 1.0)
    if t < 0:
        return
    push, _, gap, nx, ny, nz, a, b, c = _contact(bodies, at, t, 0.0, RECOVERY_SPEED * dt)
    mx, my, mz = carried(bodies[0], bodies[1], t, a, b, c)
    if touches[6][p, 1] >= 0:
        hold(bodies, touches, at, p, RECOVERY_SPEED * dt, dt)
    elif place[p] == PINCHED:  # inside two bodies no way leads out: stay calm until they part
        at[HERE] = at[THERE] + mx
        at[HERE + 1] = at[THERE + 1] + my
        at[HERE + 2] = at[THERE + 2] + mz
    elif push > 0.0:
        at[HERE] += push * nx
        at[HERE + 1] += push * ny
        at[HERE + 2] += push * nz
        touched[p] = 1
        _touch(touch, p, 0, nx, ny, nz, mx / dt, my / dt, mz / dt, 0.0, 0.0)
        if gap + push >= 0.0:
            place[p] = OUTSIDE
            counts[p] = NEVER


@inner
def _is_caught(bodies, at, t, u):
    """Is a point that was in front of triangles t and u at the substep's start pinched between them now?"""
    if not meet(bodies, at, t, u):
        return False
    for other in (t, u):
        if gap_to(bodies, other, 0.0, at[THERE], at[THERE + 1], at[THERE + 2])[0] < 0.0:
            return False
    return True


@folded
def _keep_off(bodies, candidates, touches, at, p, g, mu, largest, stray, tau, dt, vx, vy, vz, slow):
    """Correct point p until no surface wants it elsewhere, then hold it back by friction."""
    touched, touch = touches[1], touches[2]
    traits = bodies[2]
    known, key, counts, memory = candidates
    first = np.int64(-1)
    grip, mx, my, mz, kx, ky, kz, fx, fy, fz = -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for _ in range(PASSES):
        t, came_from, again = _choose(
            bodies[0], bodies[1], traits, bodies[6], g, known, key, counts, memory, at, p, largest, stray, tau
        )
        if t < 0:
            break
        lift, felt, _, nx, ny, nz, a, b, c = _contact(bodies, at, t, came_from, RECOVERY_SPEED * dt)
        if lift <= 0.0:
            break
        ox, oy, oz = carried(bodies[0], bodies[1], t, a, b, c)
        slot = touched[p]
        if slot > 0 and p < len(touches[6]) and _is_caught(bodies, at, first, t):
            touches[0][p], touches[6][p, 0], touches[6][p, 1] = PINCHED, first, t
            hold(bodies, touches, at, p, RECOVERY_SPEED * dt, dt)
            return
        opposed = slot > 0 and nx * fx + ny * fy + nz * fz < -0.3
        if opposed:  # squeezed from both sides: meet in the middle
            lift *= 0.5
        stray = lift
        at[HERE] += lift * nx
        at[HERE + 1] += lift * ny
        at[HERE + 2] += lift * nz
        if slot == 0:
            first, fx, fy, fz = t, nx, ny, nz
        rough = math.sqrt(mu * traits[t, 1])
        if slot < 2:
            sx, sy, sz = ox / dt, oy / dt, oz / dt
            approach = -((vx - sx) * nx + (vy - sy) * ny + (vz - sz) * nz)
            # a point at rest falls on the surface in each substep: that must not bounce
            rebound = traits[t, 2] * approach if approach > slow else 0.0
            _touch(touch, p, slot, nx, ny, nz, sx, sy, sz, rebound, rough)
            touched[p] = slot + 1
        felt = rough * (felt - touches[4][p])  # what support leads in has had its friction
        if felt > grip:
            grip, kx, ky, kz, mx, my, mz = felt, nx, ny, nz, ox, oy, oz
        if opposed or not again:
            break
    if grip > 0.0:
        sx = at[HERE] - at[THERE] - mx
        sy = at[HERE + 1] - at[THERE + 1] - my
        sz = at[HERE + 2] - at[THERE + 2] - mz
        along = sx * kx + sy * ky + sz * kz
        sx, sy, sz = sx - along * kx, sy - along * ky, sz - along * kz
        slip = math.sqrt(sx * sx + sy * sy + sz * sz)
        held = 1.0 if slip <= grip else grip / slip
        at[HERE] -= held * sx
        at[HERE + 1] -= held * sy
        at[HERE + 2] -= held * sz


@inner
def _may_touch(memory, p, tau, stray, largest):
    """Can any triangle that point p remembers be within the largest aura?"""
    return memory[p, CALM] - (tau - memory[p, 6]) * memory[p, CALM + 1] - stray < largest


@njit
def respond_range(
    first, last, only_lost, inv_mass, friction, garment, parents, weight, x, x_prev, v, bodies, image, candidates, touches,
    seen, at, sag, before, tau, seconds, slow,
):  # fmt: skip
    """Correct points first..last, or only those of them that are LOST; returns how many touch, how many are LOST.

    Particles are moved (x), samples leave what they want in `push`. `before`, `tau`: the substep as parts of the
    interval of `seconds`; slower than `slow` [m/s] nothing bounces; edges sink in by `sag` [m] at most.
    Per point at rest on a body about 0.3 kB are read.
    """
    place, touched, _, push, _, close, grip, _ = touches
    counts, memory = candidates[2], candidates[3]
    particle_count, largest, span = len(x), image[6][5, 1], tau - before
    dt = span * seconds
    touching, lost = 0, 0
    for p in range(first, last):
        if only_lost and touched[p] != LOST:
            continue
        i, j, k, a, b, c = p, p, p, 1.0, 0.0, 0.0
        if p >= particle_count:
            s = p - particle_count
            i, j, k, a, b, c = parents[s, 0], parents[s, 1], parents[s, 2], weight[s, 0], weight[s, 1], weight[s, 2]
            # cloth sinks in where one of its corners is near a body: all others need not ask; nor what is nowhere
            if a < 0.0 or (touched[p] <= 0 and not (close[i] or close[j] or close[k])):
                touched[p] = 0
                continue
        loosened = touched[p] == 2 and touches[2][p, 0, 7] < math.inf
        touched[p] = 0
        if inv_mass[i] == 0.0 and inv_mass[j] == 0.0 and inv_mass[k] == 0.0:
            continue
        if place[i] == APART or place[j] == APART or place[k] == APART:
            continue
        if p >= particle_count and (place[i] == PINCHED or place[j] == PINCHED or place[k] == PINCHED):
            continue
        for axis in range(3):
            at[HERE + axis] = a * x[i, axis] + b * x[j, axis] + c * x[k, axis]
            at[THERE + axis] = a * x_prev[i, axis] + b * x_prev[j, axis] + c * x_prev[k, axis]
        if place[p] == PINCHED and loosened:
            place[p] = OUTSIDE
        if place[p] == PINCHED and grip[p, 1] >= 0:
            hold(bodies, touches, at, p, RECOVERY_SPEED * dt, dt)
            x[p, 0], x[p, 1], x[p, 2] = at[HERE], at[HERE + 1], at[HERE + 2]
            counts[p], close[p] = NEVER, True
            touching += 1
            continue
        if place[p] == OUTSIDE and is_far(image, at, before, tau):
            if p < particle_count:
                close[p] = sag > image[6][6, 2]
            continue
        stray = math.inf
        if counts[p] >= 0 and tau <= memory[p, 7]:
            stray = max(_stray(memory, at, p, before, THERE), _stray(memory, at, p, tau, HERE))
        near = _may_touch(memory, p, tau, stray, largest)
        if near or not stray <= memory[p, 8] or place[p] != OUTSIDE:
            vx, vy = a * v[i, 0] + b * v[j, 0] + c * v[k, 0], a * v[i, 1] + b * v[j, 1] + c * v[k, 1]
            vz = a * v[i, 2] + b * v[j, 2] + c * v[k, 2]
            if not stray <= memory[p, 8]:
                stray = 0.0
                if not _ask(bodies, image, candidates, seen, at, p, place[p], before, tau):
                    touched[p] = LOST
                    lost += 1
                    continue
            if place[p] != OUTSIDE:
                _leave(bodies, image, candidates, touches, at, p, garment[i], dt)
            elif _may_touch(memory, p, tau, stray, largest):
                mu = a * friction[i] + b * friction[j] + c * friction[k]
                _keep_off(bodies, candidates, touches, at, p, garment[i], mu, largest, stray, tau, dt, vx, vy, vz, slow)
        if p < particle_count:
            # of what is beyond its skin it knows nothing
            close[p] = memory[p, 8] - stray < sag or _may_touch(memory, p, tau, stray, largest + sag)
        if touched[p] > 0:
            touching += 1
        for axis in range(3):
            if p < particle_count:
                x[p, axis] = at[HERE + axis]
            else:
                push[p - particle_count, axis] = at[HERE + axis] - (a * x[i, axis] + b * x[j, axis] + c * x[k, axis])
    return touching, lost
