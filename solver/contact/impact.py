# SPDX-License-Identifier: GPL-3.0-or-later
"""When two pieces of cloth meet: a particle and a triangle, or two edges, each on the straight way of a substep.

A stencil is four rows of the positions. Of a particle and a triangle the first is the particle; of two edges the
first two are the one, the last two the other.
"""

import math

import numpy as np

from ..jit import inner
from .distance import closest_on_segments, closest_on_triangle

NEAR = 1e-3  # part of the contact distance, or
NEARER = 0.5  # part of the distance at the start, at which a pair is taken to meet
FINEST = 1e-9  # [m] distance from which on it may not come nearer at all: rounding is a thousandth of that or less
STEPS = 23  # of conservative advancement; a pair that is still on its way then is taken to meet there
CARE = 0.9  # part of each safe step that is made


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
def time_of_impact(is_edge_pair, start, end, a, b, c, d, distance):
    """The part of the straight way from `start` to `end` that the two sides surely go without touching; 1 if they do
    not meet on it, 2 if they touch at its start already and nothing can be said.

    First a plane between them that is square to their shortest connection at the start: if both are on their own sides
    of it at the end, too, they were so all the time, because the room between them is the least of linear functions of
    time. Then conservative advancement with the motion of the whole taken out (Li, Kaufman and Jiang 2021, section 5,
    additive continuous detection): the distance falls no faster than both sides' fastest corners move, so distance over
    speed is a safe step. 120 flops for the plane, which settles most; 100 and the distance of a pair for a step.
    """
    wa, wb, wc, wd = closest_pair(is_edge_pair, start, a, b, c, d)
    nx = mix(start, 0, a, b, c, d, wa, wb, wc, wd)
    ny = mix(start, 1, a, b, c, d, wa, wb, wc, wd)
    nz = mix(start, 2, a, b, c, d, wa, wb, wc, wd)
    gap = math.sqrt(nx * nx + ny * ny + nz * nz)
    if gap == 0.0:
        return 2.0
    nx, ny, nz = nx / gap, ny / gap, nz / gap
    near = min(NEAR * distance, max(NEARER * gap, min(gap, FINEST)))
    pa = nx * (end[a, 0] - end[d, 0]) + ny * (end[a, 1] - end[d, 1]) + nz * (end[a, 2] - end[d, 2])
    pb = nx * (end[b, 0] - end[d, 0]) + ny * (end[b, 1] - end[d, 1]) + nz * (end[b, 2] - end[d, 2])
    pc = nx * (end[c, 0] - end[d, 0]) + ny * (end[c, 1] - end[d, 1]) + nz * (end[c, 2] - end[d, 2])
    apart = min(pa, pb) - max(pc, 0.0) if is_edge_pair else pa - max(pb, max(pc, 0.0))
    if apart >= near:
        return 1.0
    return _advance(is_edge_pair, start, end, a, b, c, d, gap, near)


@inner
def _advance(is_edge_pair, start, end, a, b, c, d, gap, near):
    """`time_of_impact` by conservative advancement alone, for a pair that is `gap` [m] apart at the start."""
    ways = np.empty(4)
    points = np.empty((4, 3))
    stencil = (a, b, c, d)
    mx = 0.25 * (mix(end, 0, a, b, c, d, 1.0, 1.0, 1.0, 1.0) - mix(start, 0, a, b, c, d, 1.0, 1.0, 1.0, 1.0))
    my = 0.25 * (mix(end, 1, a, b, c, d, 1.0, 1.0, 1.0, 1.0) - mix(start, 1, a, b, c, d, 1.0, 1.0, 1.0, 1.0))
    mz = 0.25 * (mix(end, 2, a, b, c, d, 1.0, 1.0, 1.0, 1.0) - mix(start, 2, a, b, c, d, 1.0, 1.0, 1.0, 1.0))
    for corner in range(4):
        vertex = stencil[corner]
        wx = end[vertex, 0] - start[vertex, 0] - mx
        wy = end[vertex, 1] - start[vertex, 1] - my
        wz = end[vertex, 2] - start[vertex, 2] - mz
        ways[corner] = math.sqrt(wx * wx + wy * wy + wz * wz)
    if is_edge_pair:
        way = max(ways[0], ways[1]) + max(ways[2], ways[3])
    else:
        way = ways[0] + max(ways[1], max(ways[2], ways[3]))
    time, before = CARE * gap / way, 0.0
    for _ in range(STEPS):
        if time >= 1.0:
            return 1.0
        for corner in range(4):
            for axis in range(3):
                at = start[stencil[corner], axis]
                points[corner, axis] = at + time * (end[stencil[corner], axis] - at)
        wa, wb, wc, wd = closest_pair(is_edge_pair, points, 0, 1, 2, 3)
        square = 0.0
        for axis in range(3):
            between = mix(points, axis, 0, 1, 2, 3, wa, wb, wc, wd)
            square += between * between
        gap = math.sqrt(square)
        if gap < near:
            return before
        before = time
        time += CARE * gap / way
    return before
