# SPDX-License-Identifier: GPL-3.0-or-later
"""How bodies move through an interval of time: the way of each vertex, the triangles that come near, their spheres.

A body is sampled at equally spaced times of the frame and moves evenly between them. Over an interval its way is
described as an even motion and a deviation from that, both seen from a frame of reference that moves with the cloth on
the whole (`bulk`): what rides along hardly moves there.
"""

import math

import numpy as np

from ..jit import inner, njit
from .cells import BODY, DRAWN, NEAR


@inner
def _between(samples, time):
    """(sample, part of the step to the next) of a moment, in steps from the first sample; samples are hit exactly."""
    at = min(int(time + 1e-9), max(len(samples) - 2, 0))
    part = time - at
    if len(samples) == 1 or abs(part) < 1e-9:
        part = 0.0
    if abs(part - 1.0) < 1e-9:
        part = 1.0
    return at, part


@inner
def _position(samples, at, part, i, axis):
    after = min(at + 1, len(samples) - 1)
    return samples[at, i, axis] * (1.0 - part) + samples[after, i, axis] * part


@inner
def _deviation(samples, origin, first, i, sample, tau, bulk, ways):
    """From the even motion to a sample that lies at tau of the interval."""
    swing = 2.0 * tau - 1.0
    return (
        samples[sample, i, 0] - origin[0] - ways[first + i, 0] - swing * (ways[first + i, 3] + 0.5 * bulk[0]),
        samples[sample, i, 1] - origin[1] - ways[first + i, 1] - swing * (ways[first + i, 4] + 0.5 * bulk[1]),
        samples[sample, i, 2] - origin[2] - ways[first + i, 2] - swing * (ways[first + i, 5] + 0.5 * bulk[2]),
    )


@njit
def find_ways(samples, origin, first, t0, t1, bulk, ways):
    """Fill ways[first + i] for the vertices i of one body, for the time from t0 to t1 (parts of the frame).

    ways (m, 8) [m]: position at the middle of the way's chord, half the chord less half of `bulk`, how far the way
    strays from even motion along the chord, and how fast, per length of the interval.
    """
    steps = len(samples) - 1.0
    at0, part0 = _between(samples, t0 * steps)
    at1, part1 = _between(samples, t1 * steps)
    for i in range(samples.shape[1]):
        for axis in range(3):
            start = _position(samples, at0, part0, i, axis) - origin[axis]
            end = _position(samples, at1, part1, i, axis) - origin[axis]
            ways[first + i, axis] = 0.5 * (start + end)
            ways[first + i, axis + 3] = 0.5 * (end - start - bulk[axis])
        ways[first + i, 6], ways[first + i, 7] = 0.0, 0.0
        earlier, ex, ey, ez = 0.0, 0.0, 0.0, 0.0
        for sample in range(at0 + 1, at1 + 2):
            now = min((sample / steps - t0) / (t1 - t0), 1.0)
            if now <= earlier + 1e-9:
                continue
            dx, dy, dz = (
                _deviation(samples, origin, first, i, sample, now, bulk, ways) if now < 1.0 else (0.0, 0.0, 0.0)
            )
            slope = math.sqrt((dx - ex) ** 2 + (dy - ey) ** 2 + (dz - ez) ** 2) / (now - earlier)
            ways[first + i, 6] = max(ways[first + i, 6], math.sqrt(dx * dx + dy * dy + dz * dz))
            ways[first + i, 7] = max(ways[first + i, 7], slope)
            earlier, ex, ey, ez = now, dx, dy, dz


@njit
def move(samples, origin, first, vertices, t0, t1, motions):
    """Fill motions[first + i]: position at t0 and motion to t1 of those `vertices` i of one body."""
    steps = len(samples) - 1.0
    at0, part0 = _between(samples, t0 * steps)
    at1, part1 = _between(samples, t1 * steps)
    for entry in range(len(vertices)):
        i = vertices[entry]
        for axis in range(3):
            start = _position(samples, at0, part0, i, axis)
            motions[first + i, axis] = start - origin[axis]
            motions[first + i, axis + 3] = _position(samples, at1, part1, i, axis) - start


@inner
def _bound(triangles, ways, t, e, ball):
    """To ball[e]: sphere round triangle t at the middle of its way, its half motion, and how far its corners stray from that."""
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    for axis in range(6):
        ball[e, axis] = (ways[a, axis] + ways[b, axis] + ways[c, axis]) / 3.0
    radius, turn, strays, slope = 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        i = triangles[t, k]
        away, turns = 0.0, 0.0
        for axis in range(3):
            away += (ways[i, axis] - ball[e, axis]) ** 2
            turns += (ways[i, axis + 3] - ball[e, axis + 3]) ** 2
        radius, turn = max(radius, away), max(turn, turns)
        strays, slope = max(strays, ways[i, 6]), max(slope, ways[i, 7])
    ball[e, 6], ball[e, 7], ball[e, 8], ball[e, 9] = math.sqrt(radius), math.sqrt(turn), strays, slope


@inner
def _span(ways, i, low, size, shape, span):
    """To span[i]: the first cells along the axes, then the last, that the way of vertex i touches."""
    for axis in range(3):
        growth = abs(ways[i, axis + 3]) + ways[i, 6]
        for end in range(2):
            at = math.floor((ways[i, axis] + (growth if end else -growth) - low[axis]) / size)
            span[i, 3 * end + axis] = int(min(max(at, -1.0), shape[axis] - 2.0)) + 1


@inner
def _meets_cloth(span, a, b, c, shape, flags):
    """Note triangle abc in the cells that its way touches; is cloth expected in one of them?

    The way is taken for the box round it. Cells of the layer round the domain are no part of it.
    """
    i0, i1 = min(span[a, 0], span[b, 0], span[c, 0]), max(span[a, 3], span[b, 3], span[c, 3])
    j0, j1 = min(span[a, 1], span[b, 1], span[c, 1]), max(span[a, 4], span[b, 4], span[c, 4])
    k0, k1 = min(span[a, 2], span[b, 2], span[c, 2]), max(span[a, 5], span[b, 5], span[c, 5])
    i0, j0, k0 = max(i0, 1), max(j0, 1), max(k0, 1)
    i1, j1, k1 = min(i1, shape[0] - 2), min(j1, shape[1] - 2), min(k1, shape[2] - 2)
    found = np.uint8(0)
    for i in range(i0, i1 + 1):
        for j in range(j0, j1 + 1):
            row = (i * shape[1] + j) * shape[2]
            for cell in range(row + k0, row + k1 + 1):
                found |= flags[cell]
                flags[cell] |= BODY | NEAR
    return found & DRAWN != 0


@njit
def find_near(triangles, ways, low, size, shape, flags, drawn, near, ball, span, used, box):
    """The triangles whose way may meet the cloth's, in ascending order; returns their number.

    Those are left out that touch no cell where cloth is expected (`low` to `flags`: `cells.Cells`); those that are
    `drawn` (t,) already stay. Writes their numbers to `near`; to `ball` (t, 10), in the same order, their spheres at
    the middle of the interval: centre, half motion against bulk, radius, turn (by how much the corners' half motions
    differ from that), stray and its rate; 1 to `used` at their vertices; to `box` the low and high corners [m] of what
    they sweep and their largest growth along an axis. `span` (m, 6) is scratch. 90 bytes and 30 flops a vertex, 90
    bytes a triangle, 80 bytes and 100 flops more one that is near.
    """
    for i in range(len(ways)):
        _span(ways, i, low, size, shape, span)
        used[i] = 0
    count = 0
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        if not (_meets_cloth(span, a, b, c, shape, flags) or drawn[t]):
            continue
        near[count], drawn[t] = t, True
        used[a], used[b], used[c] = 1, 1, 1
        _bound(triangles, ways, t, count, ball)
        count += 1
    for axis in range(3):
        least, greatest, most = math.inf, -math.inf, 0.0
        for i in range(len(ways)):
            if used[i]:
                growth = abs(ways[i, axis + 3]) + ways[i, 6]
                least, greatest = min(least, ways[i, axis] - growth), max(greatest, ways[i, axis] + growth)
                most = max(most, growth)
        box[0, axis], box[1, axis], box[2, axis] = least, greatest, most
    return count


@njit
def find_domain(x, v, tau, seconds, bulk, domain):
    """The box (low, high) [m] of the particles' ways from tau to the interval's end, seen from the frame of reference.

    That stands where it is at the middle of the interval; `seconds` is the length of the whole interval.
    """
    for axis in range(3):
        low, high = math.inf, -math.inf
        for p in range(len(x)):
            first = x[p, axis] - (tau - 0.5) * bulk[axis]
            last = x[p, axis] + (1.0 - tau) * seconds * v[p, axis] - 0.5 * bulk[axis]
            low, high = min(low, min(first, last)), max(high, max(first, last))
        domain[0, axis], domain[1, axis] = low, high
