# SPDX-License-Identifier: GPL-3.0-or-later
"""Continuous collision detection: when two pieces of cloth meet, a particle and a triangle, or two edges, each on the
straight way of a substep.

A stencil is four rows of the positions. Of a particle and a triangle the first is the particle; of two edges the
first two are the one, the last two the other.
"""

import math

import numpy as np

from ..kernel.jit import inner
from .distance import closest_on_segments, closest_on_triangle

MEETING_GAP = 1e-3  # part of the contact distance, or
MEETING_PART = 0.5  # part of the distance at the start, at which a pair is taken to meet
ROUNDING_GAP = 1e-9  # [m] from which on it may not come nearer at all: rounding is a thousandth of that or less
LARGEST_LEAST = 0.1  # part of the contact distance that this is at most, where somebody wants more
LEAST_SLACK = 1e-6  # part of that by which it may: rounding
ADVANCEMENTS = 23  # steps of conservative advancement; a pair that is still on its way then is taken to meet there
SAFE_STEP = 0.9  # part of each safe step that is made


@inner
def corners_of(stencils, k):
    """The four rows of stencil k, as numbers that index without a look at their sign."""
    a, b = np.uintp(stencils[k, 0]), np.uintp(stencils[k, 1])
    return a, b, np.uintp(stencils[k, 2]), np.uintp(stencils[k, 3])


@inner
def _closest(is_edge_pair, a, b, c, d):
    """Signed weights of the closest points: the first side's are positive, the second side's negative."""
    if is_edge_pair:
        s, t = closest_on_segments(*a, *b, *c, *d)
        return 1.0 - s, s, t - 1.0, -t
    wb, wc, wd, _ = closest_on_triangle(*a, *b, *c, *d)
    return 1.0, -wb, -wc, -wd


@inner
def closest_pair(is_edge_pair, x, a, b, c, d):
    """Signed weights of the closest points of a stencil: the first side's are positive, the second side's negative."""
    one, two = (x[a, 0], x[a, 1], x[a, 2]), (x[b, 0], x[b, 1], x[b, 2])
    return _closest(is_edge_pair, one, two, (x[c, 0], x[c, 1], x[c, 2]), (x[d, 0], x[d, 1], x[d, 2]))


@inner
def weighted_sum(x, a, b, c, d, wa, wb, wc, wd):
    """Four rows, weighed and added."""
    return (
        wa * x[a, 0] + wb * x[b, 0] + wc * x[c, 0] + wd * x[d, 0],
        wa * x[a, 1] + wb * x[b, 1] + wc * x[c, 1] + wd * x[d, 1],
        wa * x[a, 2] + wb * x[b, 2] + wc * x[c, 2] + wd * x[d, 2],
    )


@inner
def time_of_impact(is_edge_pair, start, end, a, b, c, d, distance, least):
    """The part of the straight way from `start` to `end` that the two sides surely go without touching; 1 if they do
    not meet on it, 2 if they touch at its start already and nothing can be said. They meet, too, if they end nearer than
    `least` [m], `ROUNDING_GAP` or more, and than they began.

    First a plane between them that is square to their shortest connection at the start: if both are on their own sides
    of it at the end, too, they were so all the time, because the room between them is the least of linear functions of
    time. Then conservative advancement with the motion of the whole taken out (Li, Kaufman and Jiang 2021, section 5,
    additive continuous collision detection): the distance falls no faster than both sides' fastest corners move, so
    distance over speed is a safe step. 120 flops for the plane, which settles most; 100 and the distance of a pair for a
    step.
    """
    wa, wb, wc, wd = closest_pair(is_edge_pair, start, a, b, c, d)
    nx, ny, nz = weighted_sum(start, a, b, c, d, wa, wb, wc, wd)
    gap = math.sqrt(nx * nx + ny * ny + nz * nz)
    if gap == 0.0:
        return 2.0
    nx, ny, nz = nx / gap, ny / gap, nz / gap
    near = min(MEETING_GAP * distance, max(MEETING_PART * gap, min(gap, ROUNDING_GAP)))
    least = max(min(least, LARGEST_LEAST * distance), ROUNDING_GAP)
    left = min(gap, least) - LEAST_SLACK * least
    pa = nx * (end[a, 0] - end[d, 0]) + ny * (end[a, 1] - end[d, 1]) + nz * (end[a, 2] - end[d, 2])
    pb = nx * (end[b, 0] - end[d, 0]) + ny * (end[b, 1] - end[d, 1]) + nz * (end[b, 2] - end[d, 2])
    pc = nx * (end[c, 0] - end[d, 0]) + ny * (end[c, 1] - end[d, 1]) + nz * (end[c, 2] - end[d, 2])
    apart = min(pa, pb) - max(pc, 0.0) if is_edge_pair else pa - max(pb, max(pc, 0.0))
    if apart >= max(near, left):
        return 1.0
    return _advance(is_edge_pair, start, end, a, b, c, d, gap, near, left)


@inner
def _distance(is_edge_pair, x, a, b, c, d):
    """[m] between the sides of a stencil."""
    wa, wb, wc, wd = closest_pair(is_edge_pair, x, a, b, c, d)
    nx, ny, nz = weighted_sum(x, a, b, c, d, wa, wb, wc, wd)
    return math.sqrt(nx * nx + ny * ny + nz * nz)


@inner
def _travel(start, end, i, mx, my, mz):
    """How far [m] vertex i goes against a common motion."""
    wx, wy, wz = end[i, 0] - start[i, 0] - mx, end[i, 1] - start[i, 1] - my, end[i, 2] - start[i, 2] - mz
    return math.sqrt(wx * wx + wy * wy + wz * wz)


@inner
def _at(start, end, i, time):
    """Where vertex i is on its straight trajectory."""
    x, y, z = start[i, 0], start[i, 1], start[i, 2]
    return x + time * (end[i, 0] - x), y + time * (end[i, 1] - y), z + time * (end[i, 2] - z)


@inner
def _advance(is_edge_pair, start, end, a, b, c, d, gap, near, left):
    """`time_of_impact` by conservative advancement alone, for a pair that is `gap` [m] apart at the start and has to have as much
    `left` [m] at the end.
    """
    sx, sy, sz = weighted_sum(start, a, b, c, d, 1.0, 1.0, 1.0, 1.0)
    ex, ey, ez = weighted_sum(end, a, b, c, d, 1.0, 1.0, 1.0, 1.0)
    mx, my, mz = 0.25 * (ex - sx), 0.25 * (ey - sy), 0.25 * (ez - sz)
    far_a, far_b = _travel(start, end, a, mx, my, mz), _travel(start, end, b, mx, my, mz)
    far_c, far_d = _travel(start, end, c, mx, my, mz), _travel(start, end, d, mx, my, mz)
    speed = max(far_a, far_b) + max(far_c, far_d) if is_edge_pair else far_a + max(far_b, max(far_c, far_d))
    time, before = SAFE_STEP * gap / speed, 0.0
    for _ in range(ADVANCEMENTS):
        if time >= 1.0:
            is_apart = gap - (1.0 - before) * speed >= left or _distance(is_edge_pair, end, a, b, c, d) >= left
            return 1.0 if is_apart else before
        ax, ay, az = _at(start, end, a, time)
        bx, by, bz = _at(start, end, b, time)
        cx, cy, cz = _at(start, end, c, time)
        dx, dy, dz = _at(start, end, d, time)
        wa, wb, wc, wd = _closest(is_edge_pair, (ax, ay, az), (bx, by, bz), (cx, cy, cz), (dx, dy, dz))
        nx = wa * ax + wb * bx + wc * cx + wd * dx
        ny = wa * ay + wb * by + wc * cy + wd * dy
        nz = wa * az + wb * bz + wc * cz + wd * dz
        gap = math.sqrt(nx * nx + ny * ny + nz * nz)
        if gap < near:
            return before
        before = time
        time += SAFE_STEP * gap / speed
    return before
