# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth: what is done about pairs that meet. The inner loop of `cloth.respond`, which tells the method."""

import math

import numpy as np

from ..jit import inner, njit
from .distance import closest_on_segments, closest_on_triangle

NEAR = 1e-3  # part of the contact distance at which a way through is one
STEPS = 16  # of conservative advancement; a pair that is still on its way then is taken to meet
FIRM = 0.8  # part of the contact distance that is defended with speed, in piles that press on each other
FIRM_SPEED = 1.0  # [m/s] given at most by that: cloth that starts too close does not jump
SWEEPS = 8  # at most
MOST_SWEEPS = 40  # while anything is through anything
THIN = 0.5  # part of the contact distance below which another sweep is made
NEARBY = 2.0  # contact distances: pairs that the sweeps after the first look at
EASE_RATE = 500.0  # [1/s] at which a lack of distance is made good


@inner
def closest_pair(is_edge_pair, x, a, b, c, d):
    """Signed weights of the closest points: the first side's are positive, the second side's negative."""
    ax, ay, az = x[a, 0], x[a, 1], x[a, 2]
    bx, by, bz = x[b, 0], x[b, 1], x[b, 2]
    cx, cy, cz = x[c, 0], x[c, 1], x[c, 2]
    dx, dy, dz = x[d, 0], x[d, 1], x[d, 2]
    if is_edge_pair:
        s, t = closest_on_segments(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz)
        return 1.0 - s, s, t - 1.0, -t
    wb, wc, wd, _ = closest_on_triangle(ax, ay, az, bx, by, bz, cx, cy, cz, dx, dy, dz)
    return 1.0, -wb, -wc, -wd


@inner
def mix(x, axis, a, b, c, d, wa, wb, wc, wd):
    """One coordinate of four rows, weighed."""
    return wa * x[a, axis] + wb * x[b, axis] + wc * x[c, axis] + wd * x[d, axis]


@inner
def _shift(x, vertex, share, cx, cy, cz):
    x[vertex, 0] += share * cx
    x[vertex, 1] += share * cy
    x[vertex, 2] += share * cz


@inner
def _met(is_edge_pair, x_prev, x, a, b, c, d, near):
    """Whether the two sides come closer than `near` on the straight way from x_prev to x (conservative steps)."""
    ways = np.empty(4)
    points = np.empty((4, 3))
    stencil = (a, b, c, d)
    mx = 0.25 * (mix(x, 0, a, b, c, d, 1.0, 1.0, 1.0, 1.0) - mix(x_prev, 0, a, b, c, d, 1.0, 1.0, 1.0, 1.0))
    my = 0.25 * (mix(x, 1, a, b, c, d, 1.0, 1.0, 1.0, 1.0) - mix(x_prev, 1, a, b, c, d, 1.0, 1.0, 1.0, 1.0))
    mz = 0.25 * (mix(x, 2, a, b, c, d, 1.0, 1.0, 1.0, 1.0) - mix(x_prev, 2, a, b, c, d, 1.0, 1.0, 1.0, 1.0))
    for corner in range(4):
        vertex = stencil[corner]
        wx = x[vertex, 0] - x_prev[vertex, 0] - mx
        wy = x[vertex, 1] - x_prev[vertex, 1] - my
        wz = x[vertex, 2] - x_prev[vertex, 2] - mz
        ways[corner] = math.sqrt(wx * wx + wy * wy + wz * wz)
    if is_edge_pair:
        way = max(ways[0], ways[1]) + max(ways[2], ways[3])
    else:
        way = ways[0] + max(ways[1], max(ways[2], ways[3]))
    time = 0.0
    for _ in range(STEPS):
        for corner in range(4):
            for axis in range(3):
                start = x_prev[stencil[corner], axis]
                points[corner, axis] = start + time * (x[stencil[corner], axis] - start)
        wa, wb, wc, wd = closest_pair(is_edge_pair, points, 0, 1, 2, 3)
        square = 0.0
        for axis in range(3):
            between = mix(points, axis, 0, 1, 2, 3, wa, wb, wc, wd)
            square += between * between
        gap = math.sqrt(square)
        if gap < near:
            return True
        time += gap / way
        if time >= 1.0:
            return False
    return True


@njit
def find_astray(x, x_ref, v_ref, time, slack, mean, astray):
    """How far particles are from x_ref + time v_ref, less what all are on average; returns whether one is farther off
    than its slack, or nowhere.
    # outputs: mean (3,), astray (n,)
    """
    mx, my, mz = 0.0, 0.0, 0.0
    for i in range(len(x)):
        mx += x[i, 0] - x_ref[i, 0] - time * v_ref[i, 0]
        my += x[i, 1] - x_ref[i, 1] - time * v_ref[i, 1]
        mz += x[i, 2] - x_ref[i, 2] - time * v_ref[i, 2]
    mx, my, mz = mx / len(x), my / len(x), mz / len(x)
    mean[0], mean[1], mean[2] = mx, my, mz
    found = False
    for i in range(len(x)):
        dx = x[i, 0] - x_ref[i, 0] - time * v_ref[i, 0] - mx
        dy = x[i, 1] - x_ref[i, 1] - time * v_ref[i, 1] - my
        dz = x[i, 2] - x_ref[i, 2] - time * v_ref[i, 2] - mz
        astray[i] = math.sqrt(dx * dx + dy * dy + dz * dz)
        found |= not astray[i] <= slack[i]
    return found


@njit
def respond_kernel(pairs, astray, active, firm_start, elapsed, inv_mass, dt, x, x_prev):
    """A sweep over the pairs, then one back over those that were near, then once more those with something that does
    not move, which so has the last word; returns how many touched.

    Serial: each correction sees those before. Reads 20 bytes of a pair that cannot touch yet (and 32 of `astray`),
    else 64 and 192 of positions; 250 flops.
    # outputs: x, x_prev (n, 3), pairs.normal, pairs.through; active (p,) scratch
    """
    normal, stencils = pairs.normal, pairs.stencils
    ease_part = 1.0 - math.exp(-EASE_RATE * dt)
    near_count, firm_count, touched = 0, 0, 0
    sweep, turn, turns = 0, 0, len(active)
    thinnest = 1.0  # least gap over contact distance that this sweep met
    while True:
        if turn == turns:
            if sweep == MOST_SWEEPS:
                break
            # Sweeps back and forth until piles are apart, the last one over the pairs that a particle holds fast.
            most = MOST_SWEEPS if thinnest <= 0.0 else SWEEPS
            sweep = sweep + 1 if sweep == 0 or (thinnest < THIN and sweep < most - 1) else MOST_SWEEPS
            turn, turns, thinnest = 0, firm_count if sweep == MOST_SWEEPS else near_count, 1.0
            continue
        back = sweep > 0
        if not back:
            pair = turn
        elif sweep == MOST_SWEEPS:
            pair = active[near_count - firm_count + turn]
        else:
            pair = active[near_count - 1 - turn if sweep % 2 else turn]
        turn += 1
        a, b = np.int64(stencils[pair, 0]), np.int64(stencils[pair, 1])
        c, d = np.int64(stencils[pair, 2]), np.int64(stencils[pair, 3])
        distance = pairs.distance[pair]
        is_edge_pair = pairs.is_edge_pair[pair]
        if not back:
            if is_edge_pair:
                off = max(astray[a], astray[b]) + max(astray[c], astray[d])
            else:
                off = astray[a] + max(astray[b], max(astray[c], astray[d]))
            if pairs.gap[pair] - elapsed * pairs.closing[pair] - off > NEARBY * distance:
                continue
        wa, wb, wc, wd = closest_pair(is_edge_pair, x, a, b, c, d)
        if is_edge_pair and (wa <= 0.0 or wb <= 0.0 or wc >= 0.0 or wd >= 0.0):
            continue  # an end of an edge is a particle: its pairs with triangles see to it
        nx = mix(x, 0, a, b, c, d, wa, wb, wc, wd)
        ny = mix(x, 1, a, b, c, d, wa, wb, wc, wd)
        nz = mix(x, 2, a, b, c, d, wa, wb, wc, wd)
        gap = math.sqrt(nx * nx + ny * ny + nz * nz)
        along = nx * normal[pair, 0] + ny * normal[pair, 1] + nz * normal[pair, 2]
        through = along < 0.0 and (pairs.through[pair] or _met(is_edge_pair, x_prev, x, a, b, c, d, NEAR * distance))
        pairs.through[pair] = through
        if through:
            nx, ny, nz = normal[pair, 0], normal[pair, 1], normal[pair, 2]
            gap = along
        elif gap > 0.0:
            nx, ny, nz = nx / gap, ny / gap, nz / gap
            normal[pair, 0], normal[pair, 1], normal[pair, 2] = nx, ny, nz
        else:
            nx, ny, nz = normal[pair, 0], normal[pair, 1], normal[pair, 2]
        if not back and gap < NEARBY * distance:
            active[near_count] = pair  # never ahead of the pair that is being read
            near_count += 1
            firm_count += pair >= firm_start
        ma, mb, mc, md = wa * inv_mass[a], wb * inv_mass[b], wc * inv_mass[c], wd * inv_mass[d]
        mass = wa * ma + wb * mb + wc * mc + wd * md
        if gap >= distance or mass == 0.0:
            continue
        touched += not back
        thinnest = min(thinnest, gap / distance)
        px = mix(x_prev, 0, a, b, c, d, wa, wb, wc, wd)
        py = mix(x_prev, 1, a, b, c, d, wa, wb, wc, wd)
        pz = mix(x_prev, 2, a, b, c, d, wa, wb, wc, wd)
        before = nx * px + ny * py + nz * pz
        # Where the approach is stopped; what then lacks is made good without speed.
        bound = min(distance, max(before, min(FIRM * distance, before + FIRM_SPEED * dt)))
        stop = max(bound - gap, 0.0)
        ease = ease_part * max(distance - max(bound, gap), 0.0)
        # Sliding: what the closest points did across the normal, up to the friction of this push.
        sx = mix(x, 0, a, b, c, d, wa, wb, wc, wd) - px
        sy = mix(x, 1, a, b, c, d, wa, wb, wc, wd) - py
        sz = mix(x, 2, a, b, c, d, wa, wb, wc, wd) - pz
        normal_part = sx * nx + sy * ny + sz * nz
        sx, sy, sz = sx - normal_part * nx, sy - normal_part * ny, sz - normal_part * nz
        slide = math.sqrt(sx * sx + sy * sy + sz * sz)
        held = min(pairs.friction[pair] * stop, slide) / slide if slide > 0.0 else 0.0
        cx, cy, cz = (stop * nx - held * sx) / mass, (stop * ny - held * sy) / mass, (stop * nz - held * sz) / mass
        ex, ey, ez = ease * nx / mass, ease * ny / mass, ease * nz / mass
        cx, cy, cz = cx + ex, cy + ey, cz + ez
        _shift(x, a, ma, cx, cy, cz)
        _shift(x, b, mb, cx, cy, cz)
        _shift(x, c, mc, cx, cy, cz)
        _shift(x, d, md, cx, cy, cz)
        _shift(x_prev, a, ma, ex, ey, ez)
        _shift(x_prev, b, mb, ex, ey, ez)
        _shift(x_prev, c, mc, ex, ey, ez)
        _shift(x_prev, d, md, ex, ey, ez)
    return touched
