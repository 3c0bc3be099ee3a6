# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth: what is done about pairs that meet. The inner loop of `cloth.respond`, which tells the method."""

import math

import numpy as np

from ..jit import inner, njit
from .impact import closest_pair, mix, time_of_impact

CLEAR = 1e-6  # part of the contact distance from which on a pair shows its direction, else the remembered one counts
FIRM = 0.8  # part of the contact distance that is defended with speed, in piles that press on each other
FIRM_SPEED = 1.0  # [m/s] given at most by that: cloth that starts too close does not jump
SWEEPS = 8  # at most
MOST_SWEEPS = 40  # while anything is through anything
THIN = 0.5  # part of the contact distance below which another sweep is made
LEVER = 4.0  # times a push that a particle goes at most: alone between others that are held fast it has little weight
EASE_RATE = 500.0  # [1/s] at which a lack of distance is made good


@inner
def _shift(x, vertex, share, cx, cy, cz):
    x[vertex, 0] += share * cx
    x[vertex, 1] += share * cy
    x[vertex, 2] += share * cz


@inner
def _remember(is_edge_pair, start, a, b, c, d, least, normal, pair):
    """Keep the direction of a pair at the start of the substep, when nothing is through anything."""
    wa, wb, wc, wd = closest_pair(is_edge_pair, start, a, b, c, d)
    nx = mix(start, 0, a, b, c, d, wa, wb, wc, wd)
    ny = mix(start, 1, a, b, c, d, wa, wb, wc, wd)
    nz = mix(start, 2, a, b, c, d, wa, wb, wc, wd)
    gap = math.sqrt(nx * nx + ny * ny + nz * nz)
    if gap > least:
        normal[pair, 0], normal[pair, 1], normal[pair, 2] = nx / gap, ny / gap, nz / gap


@inner
def farther(off, is_edge_pair, a, b, c, d):
    """How much closer [m] a pair can be than if no particle of it were off by what it is."""
    if is_edge_pair:
        return max(off[a], off[b]) + max(off[c], off[d])
    return off[a] + max(off[b], max(off[c], off[d]))


@njit
def reachable_kernel(pairs, off, elapsed, margin, room, active):
    """List the pairs that particles who are `off` (n,) [m] their ways may bring closer than their contact distance and a
    margin [m]; returns how many. 30 bytes a pair and 32 of `off`.
    # outputs: room (p,) [m] distance that pairs have at least; active (p,) their numbers
    """
    count = 0
    for pair in range(len(room)):
        a, b = np.uintp(pairs.stencils[pair, 0]), np.uintp(pairs.stencils[pair, 1])
        c, d = np.uintp(pairs.stencils[pair, 2]), np.uintp(pairs.stencils[pair, 3])
        aside = farther(off, pairs.is_edge_pair[pair], a, b, c, d)
        room[pair] = pairs.gap[pair] - elapsed * pairs.closing[pair] - aside
        active[count] = pair
        count += not room[pair] >= pairs.distance[pair] + margin
    return count


@njit
def moved_kernel(x, before, moved):
    """How far [m] each particle is from where it was before; returns the farthest.
    # outputs: moved (n,)
    """
    most = 0.0
    for i in range(len(x)):
        dx, dy, dz = x[i, 0] - before[i, 0], x[i, 1] - before[i, 1], x[i, 2] - before[i, 2]
        square = dx * dx + dy * dy + dz * dz
        moved[i] = math.sqrt(square) if square > 0.0 else 0.0
        most = max(most, moved[i])
    return most


@njit
def respond_kernel(pairs, room, moved, active, margin, firm_start, inv_mass, dt, start, x, x_prev):
    """A sweep over the pairs that are listed as active, then back and forth over those of them that are near, then once
    more those with something that does not move, which so has the last word; returns how many touched, and how many are
    near: less than their contact distance and a margin [m].

    Serial: each correction sees those before. Reads 30 bytes of a pair that cannot touch yet, by the room that it had
    and what its particles have moved since, and 32 of `moved`; else 64 and 96 of positions; 150 flops, more if it
    may have gone through.
    # outputs: x, x_prev (n, 3), pairs.normal, pairs.through, active: those that are near, first; room (p,) [m] distance
    at least before particles moved by `moved` (n,) [m]
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
            pair = active[turn]
        elif sweep == MOST_SWEEPS:
            pair = active[near_count - firm_count + turn]
        else:
            pair = active[near_count - 1 - turn if sweep % 2 else turn]
        turn += 1
        a, b = np.uintp(stencils[pair, 0]), np.uintp(stencils[pair, 1])
        c, d = np.uintp(stencils[pair, 2]), np.uintp(stencils[pair, 3])
        distance = pairs.distance[pair]
        is_edge_pair = pairs.is_edge_pair[pair]
        aside = farther(moved, is_edge_pair, a, b, c, d)
        if not back:
            active[near_count] = pair  # never ahead of the pair that is being read
        if room[pair] - aside >= distance:
            near_count += not back and room[pair] < distance + margin
            firm_count += not back and pair >= firm_start and room[pair] < distance + margin
            continue
        pairs.through[pair] &= back
        may_be_through = not room[pair] - aside > CLEAR * distance
        if may_be_through:
            _remember(is_edge_pair, start, a, b, c, d, CLEAR * distance, normal, pair)
        wa, wb, wc, wd = closest_pair(is_edge_pair, x, a, b, c, d)
        nx = mix(x, 0, a, b, c, d, wa, wb, wc, wd)
        ny = mix(x, 1, a, b, c, d, wa, wb, wc, wd)
        nz = mix(x, 2, a, b, c, d, wa, wb, wc, wd)
        gap = math.sqrt(nx * nx + ny * ny + nz * nz)
        along = nx * normal[pair, 0] + ny * normal[pair, 1] + nz * normal[pair, 2]
        at_end = is_edge_pair and (wa <= 0.0 or wb <= 0.0 or wc >= 0.0 or wd >= 0.0)
        if along < 0.0 and may_be_through and not at_end:
            if not pairs.through[pair]:
                pairs.through[pair] = time_of_impact(is_edge_pair, start, x, a, b, c, d, distance) < 1.0
            if pairs.through[pair]:
                gap = along
        if gap > CLEAR * distance:
            nx, ny, nz = nx / gap, ny / gap, nz / gap
        else:
            nx, ny, nz = normal[pair, 0], normal[pair, 1], normal[pair, 2]
        room[pair] = gap - aside  # before all moves: these may be taken back
        if not back and gap - aside < distance + margin:
            near_count += 1
            firm_count += pair >= firm_start
        if at_end:
            continue  # an end of an edge is a particle: its pairs with triangles see to it
        ma, mb, mc, md = wa * inv_mass[a], wb * inv_mass[b], wc * inv_mass[c], wd * inv_mass[d]
        mass = wa * ma + wb * mb + wc * mc + wd * md
        mass = max(mass, max(max(abs(ma), abs(mb)), max(abs(mc), abs(md))) / LEVER)
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
        way = math.sqrt(cx * cx + cy * cy + cz * cz)
        moved[a], moved[b] = moved[a] + abs(ma) * way, moved[b] + abs(mb) * way
        moved[c], moved[d] = moved[c] + abs(mc) * way, moved[d] + abs(md) * way
        _shift(x, a, ma, cx, cy, cz)
        _shift(x, b, mb, cx, cy, cz)
        _shift(x, c, mc, cx, cy, cz)
        _shift(x, d, md, cx, cy, cz)
        _shift(x_prev, a, ma, ex, ey, ez)
        _shift(x_prev, b, mb, ex, ey, ez)
        _shift(x_prev, c, mc, ex, ey, ez)
        _shift(x_prev, d, md, ex, ey, ez)
    return touched, near_count
