# SPDX-License-Identifier: GPL-3.0-or-later
"""Points against the bodies' exact triangles: which one, which side, how far, how much friction.

The side is the one the point was on before (Bargmann 2003, 4.5): if its way through the substep, seen from the moving
triangle, leads through that triangle, it is put back on the side it came from; if not, it is on the right side
already, and the direction from the closest point of the surface is the way out. So neither the facing of a triangle
nor the corners of the mesh matter. Closed bodies alone know an inside: a point found there without having come
through the surface is let out at the nearest place with a limited speed (`escape`).

Friction is Coulomb's, on positions: the slip against the touched point of the moving triangle is taken back, up to the
friction coefficient times the depth that was corrected.

Points are the particles and then the contact samples (points on large triangles).
"""

import math
from typing import NamedTuple

import numpy as np

from ...geometry.moving_triangle import MOTION, carried, closest, passage
from ...kernel.jit import folded, inner, njit
from ...kernel.rounding import rounded_down
from ...kernel.shared import share_numbered
from .association import (
    FASTEST,
    HERE,
    HORIZON,
    LATE,
    LEAST,
    NOT_ASKED,
    PLACE,
    SKIN,
    TAU,
    THERE,
    VELOCITY,
    Scratch,
    ask,
    deviation_of,
    is_far,
    may_touch,
)  # fmt: skip
from .contacts import CORNER_COSINE, LET_THROUGH, LOST, OUTSIDE, PINCHED, SQUEEZED_COSINE, note, note_place
from .escape import leave
from .impact import bounce, pushed_by_turn
from .known import SAME_HEIGHT, keep_known, recall
from .pinch import hold_pinched, meet
from .samples import PART_BETWEEN
from .surface import CALM_SPEED, RECOVERY_SPEED, gap_to, wanted_by

SMALLEST_RESPONSE_PART = 64  # points that another thread is asked for
MOST_CORRECTIONS = 4  # of one point in one substep: a floor, two walls and one more
CREASE_COSINE = 0.8  # between the ways to two surfaces below which they look elsewhere


class Points(NamedTuple):
    """Particles, and the contact samples between them."""

    x: np.ndarray  # (n, 3) [m] at the end of the substep
    x_prev: np.ndarray  # (n, 3) [m] where it begins, kinematic particles on the pose
    x_from: np.ndarray  # (n, 3) [m] where velocities at the end count from
    inv_mass: np.ndarray  # (n,) [1/kg]
    friction: np.ndarray  # (n,)
    garment: np.ndarray  # (n,)
    parents: np.ndarray  # (s, 3) with the next two as in Samples
    weight: np.ndarray  # (s, 3)
    sag: float  # [m]


@inner
def _outruns(triangles, motions, at, t, distance):
    """Has a point moved against a corner of triangle t by more than the distance? Else it did not come through."""
    for k in range(3):
        travel = 0.0
        for axis in range(3):
            travel += (at[HERE, axis] - at[THERE, axis] - motions[triangles[t, k], MOTION + axis]) ** 2
        if travel >= distance * distance:
            return True
    return False


@folded
def _choose(bodies, candidates, at, p, g, largest, deviation, tau):
    """The triangle that matters to point p of garment g: the first it came through, else that whose aura it is deepest in.

    Exact tests, 200 flops and more, are for those whose bound says that they can be near; all bounds are renewed.
    Returns (triangle or -1, side it came from or 0 if it did not come through, whether another surface within the
    aura looks elsewhere, so that one correction may not do).
    """
    triangles, motions, asked, distances = bodies.triangles, bodies.motions, candidates.asked, candidates.distance
    nearest, gap = np.int64(-1), 0.0
    first, earliest, first_side = np.int64(-1), 2.0, 0.0
    ux, uy, uz, turned = 0.0, 0.0, 0.0, False
    x, y, z = at[HERE, 0], at[HERE, 1], at[HERE, 2]
    gone, least = (tau - asked[p, TAU]) * asked[p, FASTEST] + deviation, math.inf
    for c in range(candidates.count[p]):
        bound = distances[p, c] - gone
        distances[p, c] = rounded_down(bound)
        if bound >= largest:
            least = min(least, bound)
            continue
        t = np.int64(candidates.triangles[p, c])
        collider = bodies.collider[t]
        if not bodies.meets[collider, g]:
            least = min(least, bound)
            continue
        aura = bodies.aura[collider]
        d, _, _, _, _, dx, dy, dz = closest(triangles, motions, t, 1.0, x, y, z)
        distances[p, c] = rounded_down(d)
        least = min(least, d)
        if d < aura:
            # another direction than the surface before it: a crease, or the far side of something thin
            turned = turned or (nearest >= 0 and dx * ux + dy * uy + dz * uz < CREASE_COSINE * d)
            if d - aura < gap:
                nearest, gap = t, d - aura
                ux, uy, uz = (dx / d, dy / d, dz / d) if d > 0.0 else (0.0, 0.0, 0.0)
        if _outruns(triangles, motions, at, t, d):
            share, side = passage(triangles, motions, t, at[THERE, 0], at[THERE, 1], at[THERE, 2], x, y, z)
            if share < earliest and not (bodies.solid[t] > 0 and side < 0.0):
                first, earliest, first_side = t, share, side
    # from here on it is expected to go the same way from where it is now
    asked[p, PLACE], asked[p, PLACE + 1], asked[p, PLACE + 2], asked[p, TAU] = x, y, z, tau
    asked[p, SKIN] -= deviation
    asked[p, LEAST] = least
    if first >= 0:
        return first, first_side, True
    return nearest, 0.0, turned


@inner
def _is_caught(bodies, at, t, u):
    """Is a point that was in front of triangles t and u at the substep's start pinched between them now?"""
    if not meet(bodies, at, t, u):
        return False
    for other in (t, u):
        gap, _, _, _ = gap_to(bodies, other, 0.0, at[THERE, 0], at[THERE, 1], at[THERE, 2])
        if gap < 0.0:
            return False
    return True


@folded
def _has_no_room(bodies, candidates, contacts, at, p, t):
    """Is p a sample, inside of triangle t's body, to which another surface leaves no room? No push would lead it out."""
    if p < len(contacts.grip):
        return False
    for c in range(candidates.count[p]):
        if meet(bodies, at, t, np.int64(candidates.triangles[p, c])):
            return True
    return False


@inner
def _hold_back(at, grip, kx, ky, kz, mx, my, mz):
    """Take back the slip against a surface that went by m and looks along k, up to `grip` [m]."""
    sx = at[HERE, 0] - at[THERE, 0] - mx
    sy = at[HERE, 1] - at[THERE, 1] - my
    sz = at[HERE, 2] - at[THERE, 2] - mz
    along = sx * kx + sy * ky + sz * kz
    sx, sy, sz = sx - along * kx, sy - along * ky, sz - along * kz
    slip = math.sqrt(sx * sx + sy * sy + sz * sz)
    held = 1.0 if slip <= grip else grip / slip
    at[HERE, 0] -= held * sx
    at[HERE, 1] -= held * sy
    at[HERE, 2] -= held * sz


@folded
def _keep_off(bodies, candidates, contacts, at, p, g, mu, part, largest, deviation, is_calm, times):
    """Correct point p until no surface wants it elsewhere, then hold it back by friction."""
    first, dt, ease = np.int64(-1), times.dt, (CALM_SPEED if is_calm else RECOVERY_SPEED) * times.dt
    grip, mx, my, mz, kx, ky, kz, fx, fy, fz = -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for _ in range(MOST_CORRECTIONS):
        t, came_from, again = _choose(bodies, candidates, at, p, g, largest, deviation, times.tau)
        if t < 0:
            break
        lift, felt, gap, gap_before, nx, ny, nz, a, b, c = wanted_by(bodies, at, t, came_from, ease, part)
        if lift <= 0.0:
            break
        if came_from == 0.0 and gap < 0.0 and _has_no_room(bodies, candidates, contacts, at, p, t):
            contacts.count[p] = 0
            return
        ox, oy, oz = carried(bodies.triangles, bodies.motions, t, a, b, c)
        slot = contacts.count[p]
        if slot > 0 and p < len(contacts.grip) and _is_caught(bodies, at, first, t):
            contacts.place[p], contacts.grip[p, 0], contacts.grip[p, 1] = PINCHED, first, t
            hold_pinched(bodies, contacts, at, p, RECOVERY_SPEED * dt, dt)
            return
        opposed = slot > 0 and nx * fx + ny * fy + nz * fz < SQUEEZED_COSINE
        if opposed:  # squeezed from both sides: meet in the middle
            lift *= 0.5
        turn = 0.0
        if came_from == 0.0 and gap > 0.0:
            turn = pushed_by_turn(bodies, at, t, gap_before - gap, ox, oy, oz, nx, ny, nz)
        collider, sx, sy, sz = bodies.collider[t], ox / dt, oy / dt, oz / dt
        rebound, rise, stopped, nx, ny, nz = bounce(bodies, at, times, t, lift, sx, sy, sz, nx, ny, nz)
        rise = rise if slot == 0 and p < len(contacts.grip) else 0.0
        lift += rise
        deviation = lift
        at[HERE, 0] += lift * nx
        at[HERE, 1] += lift * ny
        at[HERE, 2] += lift * nz
        if slot == 0:
            first, fx, fy, fz = t, nx, ny, nz
        rough = math.sqrt(mu * bodies.friction[collider])
        if slot == 0 or (slot == 1 and nx * fx + ny * fy + nz * fz < CORNER_COSINE):
            note(contacts, p, slot, nx, ny, nz, sx, sy, sz, rebound, bodies.viscosity[collider], rough)
            note_place(contacts, p, slot, t, a, b, c)
            is_impact = gap_before > bodies.aura[collider] + SAME_HEIGHT and (rebound > 0.0 or not times.is_led)
            contacts.count[p], contacts.ahead[p, slot] = slot + 1, math.inf if is_impact else turn / dt
        felt -= contacts.sunk[p]  # what support leads in has had its friction
        # what does not bounce is stopped as far as it went in, here, and for the rest in velocities, with friction of that (`settle`)
        felt = rough * max(felt, stopped)
        if felt > grip:
            grip, kx, ky, kz, mx, my, mz = felt, nx, ny, nz, ox, oy, oz
        if opposed or not (again or rise > 0.0):
            break
    if grip > 0.0:
        _hold_back(at, grip, kx, ky, kz, mx, my, mz)


@folded
def _is_bound(points, place, i, j, k, is_sample):
    """Is a point between particles i, j, k none of the bodies' business: no one can move it, bodies let it through, or it
    is a sample of what is pinched?
    """
    if points.inv_mass[i] == 0.0 and points.inv_mass[j] == 0.0 and points.inv_mass[k] == 0.0:
        return True
    if place[i] == LET_THROUGH or place[j] == LET_THROUGH or place[k] == LET_THROUGH:
        return True
    return is_sample and (place[i] == PINCHED or place[j] == PINCHED or place[k] == PINCHED)


@inner
def _look_closer(points, at, corners, weights, dt):
    """What is asked of a point that may touch: its friction coefficient. # outputs: of `at` VELOCITY and LATE"""
    x_from, (i, j, k), (a, b, c) = points.x_from, corners, weights
    for axis in range(3):
        began = a * x_from[i, axis] + b * x_from[j, axis] + c * x_from[k, axis]
        at[VELOCITY, axis], at[LATE, axis] = (at[HERE, axis] - at[THERE, axis]) / dt, (at[THERE, axis] - began) / dt
    return a * points.friction[i] + b * points.friction[j] + c * points.friction[k]


@inner
def _part_of_aura(points, p):
    """The part of the aura by which point p has to keep off."""
    return 1.0 if p < len(points.x) else PART_BETWEEN


@folded
def _respond(points, bodies, image, candidates, contacts, scratch, p, corners, weights, times):
    """Correct point p if it may touch anything; False if it is LOST."""
    at, asked, place, tau, largest = scratch.at, candidates.asked, contacts.place, times.tau, image.aura
    deviation = math.inf
    if candidates.count[p] >= 0 and tau <= asked[p, HORIZON]:
        deviation = max(deviation_of(asked, at, p, times.before, THERE), deviation_of(asked, at, p, tau, HERE))
    near = may_touch(asked, p, tau, deviation, largest)
    if near or not deviation <= asked[p, SKIN] or place[p] != OUTSIDE:
        if not deviation <= asked[p, SKIN]:
            deviation = 0.0
            if not ask(bodies, image, candidates, scratch, p, place[p], times.before, tau):
                return False
        (i, j, k), calm = corners, contacts.calm
        g, is_calm = points.garment[i], calm[i] or calm[j] or calm[k]
        if place[p] != OUTSIDE:
            leave(bodies, image, candidates, contacts, at, p, g, (CALM_SPEED if is_calm else RECOVERY_SPEED), times.dt)
        elif may_touch(asked, p, tau, deviation, largest):
            mu = _look_closer(points, at, corners, weights, times.dt)
            part = _part_of_aura(points, p)
            _keep_off(bodies, candidates, contacts, at, p, g, mu, part, largest, deviation, is_calm, times)
    if p < len(points.x):
        # of what is beyond its skin it knows nothing
        sag = points.sag
        contacts.close[p] = asked[p, SKIN] - deviation < sag or may_touch(asked, p, tau, deviation, largest + sag)
    return True


@njit
def respond_kernel(board, first, last, only_lost, points, bodies, image, candidates, contacts, scratch, times, counts):
    """Correct points first..last, or only those of them that are LOST.

    Particles are moved (x), samples leave what they want in `push`. Per point at rest on a body about 0.3 kB are read.
    Returns how many touch, and how many are LOST. # outputs: of `points` x; contacts, candidates; scratch, counts (threads, 2)
    """
    about = (first, only_lost), points, bodies, image, candidates, contacts, scratch, times, counts
    counts[:] = 0
    share_numbered(board, _respond_range, last - first, SMALLEST_RESPONSE_PART, about)
    touching, lost = 0, 0
    for number in range(len(counts)):
        touching, lost = touching + counts[number, 0], lost + counts[number, 1]
    return touching, lost


@inner
def _respond_range(number, start, stop, which, points, bodies, image, candidates, contacts, scratches, times, counts):
    """`respond_kernel` of the points start..stop from the first of `which` on, or only those of them that are LOST."""
    offset, only_lost = which
    first, last = offset + start, offset + stop
    scratch = Scratch(scratches.seen[number], scratches.at[number], scratches.before[number], scratches.rate[number])
    x, x_prev, parents, weight = points.x, points.x_prev, points.parents, points.weight
    place, touched, close, pressed, at = contacts.place, contacts.count, contacts.close, contacts.pressed, scratch.at
    particle_count, touching, lost = len(x), 0, 0
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
        known = recall(contacts, p, scratch.before)
        loosened = touched[p] == 2 and contacts.friction[p, 0] < math.inf
        touched[p] = 0
        if _is_bound(points, place, i, j, k, p >= particle_count):
            continue
        for axis in range(3):
            at[HERE, axis] = a * x[i, axis] + b * x[j, axis] + c * x[k, axis]
            at[THERE, axis] = a * x_prev[i, axis] + b * x_prev[j, axis] + c * x_prev[k, axis]
        if place[p] == PINCHED and loosened:
            place[p] = OUTSIDE
            contacts.rub[p, 0], contacts.rub[p, 1], contacts.rub[p, 2] = 0.0, 0.0, 0.0
        if place[p] == PINCHED and contacts.grip[p, 1] >= 0:
            hold_pinched(bodies, contacts, at, p, RECOVERY_SPEED * times.dt, times.dt)
            x[p, 0], x[p, 1], x[p, 2] = at[HERE, 0], at[HERE, 1], at[HERE, 2]
            candidates.count[p], close[p] = NOT_ASKED, True
            touching += 1
            continue
        if place[p] == OUTSIDE and is_far(image, at, times.before, times.tau):
            if p < particle_count:
                close[p] = points.sag > image.cells.size
            continue
        if not _respond(points, bodies, image, candidates, contacts, scratch, p, (i, j, k), (a, b, c), times):
            touched[p], contacts.own[p] = LOST, known
            lost += 1
            continue
        pressure = a * pressed[i] + b * pressed[j] + c * pressed[k]
        who = points.garment[i], known, pressure, _part_of_aura(points, p)
        keep_known(bodies, image.aura, candidates, contacts, at, p, who, scratch.before, times)
        touching += touched[p] > 0
        for axis in range(3):
            if p < particle_count:
                x[p, axis] = at[HERE, axis]
            else:
                wanted = at[HERE, axis] - (a * x[i, axis] + b * x[j, axis] + c * x[k, axis])
                contacts.push[p - particle_count, axis] = wanted
    counts[number, 0] += touching
    counts[number, 1] += lost
