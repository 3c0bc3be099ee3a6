# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth: what is done about pairs that meet. The inner loop of `pairs.respond`, which tells the method."""

import math
from typing import NamedTuple

import numpy as np

from ...geometry.ccd import ROUNDING_GAP, closest_pair, corners_of, time_of_impact, weighted_sum
from ...kernel.jit import folded, inner, njit
from ...kernel.shared import BOARD, shared
from .closeness import (
    DEPTH,
    DIRECTION_GAP,
    END,
    FIRST_TOUCHED,
    IS_OVER,
    LISTED,
    SWEEP,
    list_close,
    make_scratch,
    went_out,
)
from .pair_list import PairList
from .reach import Reach, gone_by

DEFENDED_GAP = 0.8  # part of the contact distance that is defended with speed, in piles that press on each other
DEFENCE_SPEED = 1.0  # [m/s] given at most by that: cloth that starts too close does not jump
RESPONSE_SWEEPS = 8  # but for the last, as long as anything touches: friction goes up a pile by about a layer in each
THROUGH_SWEEPS = 40  # the same where anything was through anything, and as long as they help:
DEPTH_LEFT = 0.9  # part of the depth by which pairs were through, that each `RESPONSE_SWEEPS` more may leave
THIN_GAP = 0.5  # part of the contact distance below which there are more than these
LARGEST_LEVER = 1.4  # times a push that a particle goes; more only where others of its side are held fast: 1.21 on an edge, else 1.37
HELD_PART = 0.7  # this over the lever that a pair would need, below which it wants no more: where that is twice as long
EASE_RATE = 500.0  # [1/s] at which a lack of distance is made good
SMALLEST_BRACING_PART = 2048  # particles that another thread is asked for
NO_BRACE = np.zeros((0, 3))  # of cloth that touches no body
NONE_CALM = np.zeros(0, np.bool_)  # of cloth beside no pinch


class Substep(NamedTuple):
    """Particles in the substep that is responded to."""

    inv_mass: np.ndarray  # (n,) [1/kg]
    brace: np.ndarray  # (n, 3) b: a particle gives way to a push c by inv_mass (c - b (b . c)); or `NO_BRACE`
    start: np.ndarray  # (n, 3) [m] where it started, free of crossings
    x: np.ndarray  # (n, 3) [m] where it ends; changes
    x_from: np.ndarray  # (n, 3) [m] where velocities count from; changes
    dt: float  # [s]
    calm: np.ndarray = NONE_CALM  # (n,) bool, or `NONE_CALM`: particles between which nothing pushes
    is_tangled: bool = False  # whether something comes out of tangles


def braced(cloth, brace: np.ndarray):
    """The cloth with its `brace` for every direction, for whoever knows only inverse masses."""
    if not len(brace):
        return cloth
    inv_mass = np.empty_like(cloth.inv_mass)
    _braced_kernel(len(inv_mass), cloth.inv_mass, brace, inv_mass)
    return cloth._replace(inv_mass=inv_mass)


@shared(SMALLEST_BRACING_PART)
def _braced_kernel(first, last, mass_before, brace, inv_mass):
    """Inverse masses of `braced`. 40 bytes and 7 flops a particle. # outputs: inv_mass (n,)"""
    for i in range(np.uintp(first), np.uintp(last)):
        x, y, z = brace[i, 0], brace[i, 1], brace[i, 2]
        inv_mass[i] = mass_before[i] * (1.0 - (x * x + z * z + y * y))


@inner
def shift(x, brace, vertex, share, cx, cy, cz):
    """Push a particle that has so large a share by c, as far as its brace gives way. # outputs: x (n, 3), [m] or [m/s]"""
    if len(brace) > 0:
        along = brace[vertex, 0] * cx + brace[vertex, 1] * cy + brace[vertex, 2] * cz
        cx, cy, cz = cx - along * brace[vertex, 0], cy - along * brace[vertex, 1], cz - along * brace[vertex, 2]
    x[vertex, 0] += share * cx
    x[vertex, 1] += share * cy
    x[vertex, 2] += share * cz


@inner
def left(brace, vertex, nx, ny, nz):
    """Part of its inverse mass that a braced particle has along a unit direction."""
    along = brace[vertex, 0] * nx + brace[vertex, 1] * ny + brace[vertex, 2] * nz
    return 1.0 - along * along


@inner
def yielding(brace, corners, weights, shares, nx, ny, nz):
    """How far [1/kg] a pair parts along a unit direction by a push of one; `shares` are weights times inverse masses."""
    a, b, c, d = corners
    wa, wb, wc, wd = weights
    ma, mb, mc, md = shares
    if len(brace) > 0:
        ma, mb = ma * left(brace, a, nx, ny, nz), mb * left(brace, b, nx, ny, nz)
        mc, md = mc * left(brace, c, nx, ny, nz), md * left(brace, d, nx, ny, nz)
    mass = wa * ma + wb * mb + wc * mc + wd * md
    return max(mass, max(max(abs(ma), abs(mb)), max(abs(mc), abs(md))) / LARGEST_LEVER)


@inner
def freedom(weights, shares, is_tangled):
    """Part of a lack of distance that a pair makes good: 1, but less where one particle alone among pinned ones had to go much
    farther than the lack, and from twice as far on nothing. Pins close on each other as they are told to; springs would take back
    in each step what it went, and throw it ever farther. What comes out of tangles needs more than that to stay out.
    `weights` and `shares` as in `yielding`.
    """
    wa, wb, wc, wd = weights
    ma, mb, mc, md = shares
    largest = max(max(abs(ma), abs(mb)), max(abs(mc), abs(md)))
    part = min(LARGEST_LEVER * (wa * ma + wb * mb + wc * mc + wd * md) / largest, 1.0)
    return part * part if is_tangled else max(part - HELD_PART, 0.0) / (1.0 - HELD_PART)


@inner
def _remember(is_edge_pair, start, a, b, c, d, least, normal, pair):
    """Keep the direction of a pair at the start of the substep, when nothing is through anything."""
    wa, wb, wc, wd = closest_pair(is_edge_pair, start, a, b, c, d)
    nx, ny, nz = weighted_sum(start, a, b, c, d, wa, wb, wc, wd)
    gap = math.sqrt(nx * nx + ny * ny + nz * nz)
    if gap > least:
        normal[pair, 0], normal[pair, 1], normal[pair, 2] = nx / gap, ny / gap, nz / gap


@folded
def _measure_pair(pairs, pair, room, substep):
    """Weights of the closest points at the substep's end, the direction from the second side to the first, the gap [m],
    below 0 if one side went through the other, and whether one of the points is an end of an edge.
    # outputs: pairs.normal, pairs.through
    """
    normal, distance, is_edge_pair = pairs.normal, pairs.distance[pair], pairs.is_edge_pair[pair]
    start, x = substep.start, substep.x
    a, b, c, d = corners_of(pairs.stencils, pair)
    may_be_through = not room > DIRECTION_GAP * distance
    if may_be_through:
        _remember(is_edge_pair, start, a, b, c, d, DIRECTION_GAP * distance, normal, pair)
    wa, wb, wc, wd = closest_pair(is_edge_pair, x, a, b, c, d)
    nx, ny, nz = weighted_sum(x, a, b, c, d, wa, wb, wc, wd)
    gap = math.sqrt(nx * nx + ny * ny + nz * nz)
    along = nx * normal[pair, 0] + ny * normal[pair, 1] + nz * normal[pair, 2]
    at_end = is_edge_pair and (wa <= 0.0 or wb <= 0.0 or wc >= 0.0 or wd >= 0.0)
    if along < 0.0 and may_be_through and not at_end:  # slid past an end: the guard holds it, the next substep sees it
        if not pairs.through[pair]:
            pairs.through[pair] = time_of_impact(is_edge_pair, start, x, a, b, c, d, distance, ROUNDING_GAP) < 1.0
        if pairs.through[pair]:
            gap = along
    if gap > DIRECTION_GAP * distance:
        nx, ny, nz = nx / gap, ny / gap, nz / gap
    else:
        nx, ny, nz = normal[pair, 0], normal[pair, 1], normal[pair, 2]
    return (wa, wb, wc, wd), (nx, ny, nz), gap, at_end


@folded
def _separate_pair(pairs, pair, weights, direction, gap, moved, substep, ease_part):
    """Push the sides of a pair apart along a direction, with friction across it; returns False where nothing can move.
    # outputs: moved, substep.x, substep.x_from
    """
    wa, wb, wc, wd = weights
    nx, ny, nz = direction
    distance, inv_mass, x, x_from = pairs.distance[pair], substep.inv_mass, substep.x, substep.x_from
    a, b, c, d = corners = corners_of(pairs.stencils, pair)
    ma, mb, mc, md = shares = wa * inv_mass[a], wb * inv_mass[b], wc * inv_mass[c], wd * inv_mass[d]
    brace = substep.brace
    mass = yielding(brace, corners, weights, shares, nx, ny, nz)
    if mass == 0.0:
        return False
    px, py, pz = weighted_sum(x_from, a, b, c, d, wa, wb, wc, wd)
    before = nx * px + ny * py + nz * pz
    # Where the approach is stopped; what then lacks is made good without speed.
    free = freedom(weights, shares, substep.is_tangled)
    defended = max(min(DEFENDED_GAP * distance, before + DEFENCE_SPEED * substep.dt) - before, 0.0)
    bound, ease_part = min(distance, before + free * defended), free * ease_part
    calm = substep.calm
    if len(calm) > 0 and calm[a] and calm[b] and calm[c] and calm[d]:
        if gap >= before:
            return False
        bound, ease_part = min(distance, before), 0.0
    stop = max(bound - gap, 0.0)
    ease = ease_part * max(distance - max(bound, gap), 0.0)
    # Sliding: what the closest points did across the normal, up to the friction of this push.
    sx, sy, sz = weighted_sum(x, a, b, c, d, wa, wb, wc, wd)
    sx, sy, sz = sx - px, sy - py, sz - pz
    normal_part = sx * nx + sy * ny + sz * nz
    sx, sy, sz = sx - normal_part * nx, sy - normal_part * ny, sz - normal_part * nz
    slide = math.sqrt(sx * sx + sy * sy + sz * sz)
    held = 0.0
    if slide > 0.0:
        enough = slide
        if len(brace) > 0:  # where it slides it may give way more
            enough *= mass / yielding(brace, corners, weights, shares, sx / slide, sy / slide, sz / slide)
        held = min(pairs.friction[pair] * stop, enough) / slide
    cx, cy, cz = (stop * nx - held * sx) / mass, (stop * ny - held * sy) / mass, (stop * nz - held * sz) / mass
    ex, ey, ez = ease * nx / mass, ease * ny / mass, ease * nz / mass
    cx, cy, cz = cx + ex, cy + ey, cz + ez
    size = math.sqrt(cx * cx + cy * cy + cz * cz)
    moved[a], moved[b] = moved[a] + abs(ma) * size, moved[b] + abs(mb) * size
    moved[c], moved[d] = moved[c] + abs(mc) * size, moved[d] + abs(md) * size
    shift(x, brace, a, ma, cx, cy, cz)
    shift(x, brace, b, mb, cx, cy, cz)
    shift(x, brace, c, mc, cx, cy, cz)
    shift(x, brace, d, md, cx, cy, cz)
    shift(x_from, brace, a, ma, ex, ey, ez)
    shift(x_from, brace, b, mb, ex, ey, ez)
    shift(x_from, brace, c, mc, ex, ey, ez)
    shift(x_from, brace, d, md, ex, ey, ez)
    return True


@inner
def _sweep(pairs, reach, first, last, substep, scratch, ease_part):
    """Separate the listed pairs from place `first` to before `last`, forwards or backwards; returns how many were too
    close, what part of its contact distance the thinnest gap was, and how deep pairs are through, in contact distances, all
    together.

    Reads 40 bytes of a pair that cannot touch yet, by what its particles have gone since it was measured, and 32 of that;
    else 48 and 96 of positions; 150 flops, more if it may have gone through. A pair that is pushed reads 96 of braces, where
    there are any, and takes 200 flops more then.
    # outputs: as of `separate_kernel`
    """
    moved, touched, thinnest, depth = reach.moved, 0, 1.0, 0.0
    for place in range(first, last, 1 if first < last else -1):
        turn = scratch.close[place]
        pair = reach.active[turn]
        distance = pairs.distance[pair]
        a, b, c, d = corners_of(pairs.stencils, pair)
        gone = gone_by(moved, a, b, c, d)
        if reach.bound[pair] - gone >= distance:
            continue
        weights, direction, gap, at_end = _measure_pair(pairs, pair, reach.bound[pair] - gone, substep)
        reach.bound[pair] = gap + gone
        if at_end or gap >= distance:
            continue  # an end of an edge is a particle: its pairs with triangles see to it
        if _separate_pair(pairs, pair, weights, direction, gap, moved, substep, ease_part):
            touched += 1
            thinnest = min(thinnest, gap / distance)
            depth -= min(gap / distance, 0.0)
    return touched, thinnest, depth


def separate(pairs: PairList, reach: Reach, margin: float, substep: Substep) -> int:
    """A first sweep over the pairs that are close, then back and forth while any touches, `RESPONSE_SWEEPS` times or until piles
    are apart, and a last one over those with something that does not move, which so has the last word; returns how many
    touched in the first.

    Of 180,000 active pairs of three layers some ten thousands are close, and a thousand touch (`closeness`). To list takes all
    threads; sweeps are serial, for each correction sees those before.
    # outputs: substep.x, substep.x_from; pairs.normal, pairs.through; reach.bound, reach.moved, reach.last
    """
    scratch = make_scratch(reach, RESPONSE_SWEEPS)
    separate_kernel(BOARD, pairs, reach, margin, substep, scratch)
    reach.last[:] = substep.x
    return int(scratch.progress[FIRST_TOUCHED])


@njit
def separate_kernel(board, pairs, reach, margin, substep, scratch):
    """What `separate` tells. # outputs: as there, and scratch"""
    while not scratch.progress[IS_OVER]:
        list_close(board, pairs, reach, margin, substep.x, scratch)
        _sweep_listed(pairs, reach, substep, scratch)


@inner
def _sweep_listed(pairs, reach, substep, scratch):
    """Sweep over the listed pairs, as `separate` tells, until that is over or a particle has gone too far for the list.
    # outputs: substep.x, substep.x_from; pairs.normal, pairs.through; reach.bound, reach.moved; scratch
    """
    progress = scratch.progress
    count = int(progress[LISTED])
    # Not written out below: numba compiles a part of a kernel once more for each number that it is called with.
    front = np.int64(0)
    ease_part = 1.0 - math.exp(-EASE_RATE * substep.dt)
    sweep = int(progress[SWEEP])
    while not progress[IS_OVER]:
        for i in range(len(reach.moved)):
            scratch.swept[i] = reach.moved[i]
        first, last = (count - 1, front - 1) if sweep % 2 else (front, count)
        met, thinnest, depth = _sweep(pairs, reach, first, last, substep, scratch, ease_part)
        if sweep == 0:
            progress[FIRST_TOUCHED], progress[DEPTH] = met, depth
        sweep += 1
        if sweep == progress[END] and depth < DEPTH_LEFT * progress[DEPTH]:
            progress[DEPTH], progress[END] = depth, min(sweep + RESPONSE_SWEEPS, THROUGH_SWEEPS)
        goes_on = (met > 0 and sweep < RESPONSE_SWEEPS) or (thinnest < THIN_GAP and sweep < progress[END])
        progress[SWEEP], progress[IS_OVER] = sweep, not goes_on
        if goes_on and went_out(reach.moved, scratch):
            return
    count = _keep_fixed(pairs, reach, substep.inv_mass, scratch.close, count)
    _sweep(pairs, reach, front, count, substep, scratch, ease_part)


@inner
def _keep_fixed(pairs, reach, inv_mass, listed, count):
    """Close those of the listed pairs that have something that does not move up to the front; returns how many they are.
    # outputs: listed
    """
    kept = 0
    for place in range(count):
        turn = listed[place]
        a, b, c, d = corners_of(pairs.stencils, reach.active[turn])
        listed[kept] = turn
        kept += min(min(inv_mass[a], inv_mass[b]), min(inv_mass[c], inv_mass[d])) == 0.0
    return kept
