# SPDX-License-Identifier: GPL-3.0-or-later
"""How bodies move through an interval of time: the way of each vertex, the triangles that come near, their spheres.

A body is sampled at equally spaced times of the frame and moves evenly between them. Over an interval its way is
described as an even motion and a deviation from that, both seen from a frame of reference that moves with the cloth on
the whole (`bulk`): what rides along hardly moves there.
"""

import math
from typing import NamedTuple

import numpy as np

from ...geometry.moving_triangle import MOTION
from ...kernel.jit import folded, inner, njit
from ...ldi.rasterise import Trajectories
from .cell_grid import CELL_BODY, CELL_DRAWN, CELL_NEAR, Box, Cells

SAME_TIME = 1e-9  # steps between samples, or parts of an interval, that are none
FIRST_CELL, LAST_CELL = 0, 1  # cells that a vertex touches along an axis
#: columns of a sphere round a triangle that moves, all [m]; one that is looked at is looked at whole
MIDDLE = 0  # three: at the middle of the interval
HALF = 3  # three: half its motion against bulk
RADIUS, TURN, DEVIATION, SLOPE = (
    6,
    7,
    8,
    9,
)  # TURN: by how much its corners' half motions differ; the largest of the corners
SPHERE_COLUMNS = 10


class NearTriangles(NamedTuple):
    """Triangles that may meet the cloth in an interval."""

    triangles: np.ndarray  # (k,) int32 their numbers, ascending
    spheres: np.ndarray  # (t, SPHERE_COLUMNS) round them, the first k in the same order
    used: np.ndarray  # (m,) bool: their vertices
    swept: Box  # what they sweep
    growth: np.ndarray  # (3,) [m] by how much they grow through their motion along each axis, at most


@inner
def _between(samples, time):
    """(sample, part of the step to the next) of a moment, in steps from the first sample; samples are hit exactly."""
    at = min(int(time + SAME_TIME), max(len(samples) - 2, 0))
    part = time - at
    if len(samples) == 1 or abs(part) < SAME_TIME:
        part = 0.0
    if abs(part - 1.0) < SAME_TIME:
        part = 1.0
    return at, part


@inner
def _position(samples, at, part, i, axis):
    # by what it goes: a body that stands still does not move by a rounding
    before, after = samples[at, i, axis], samples[min(at + 1, len(samples) - 1), i, axis]
    return after if part == 1.0 else before + part * (after - before)


@inner
def _deviation(samples, origin, first, i, sample, tau, bulk, trajectories):
    """From the even motion to a sample that lies at tau of the interval."""
    swing, row, middle, half = 2.0 * tau - 1.0, first + i, trajectories.middle, trajectories.half
    return (
        samples[sample, i, 0] - origin[0] - middle[row, 0] - swing * (half[row, 0] + 0.5 * bulk[0]),
        samples[sample, i, 1] - origin[1] - middle[row, 1] - swing * (half[row, 1] + 0.5 * bulk[1]),
        samples[sample, i, 2] - origin[2] - middle[row, 2] - swing * (half[row, 2] + 0.5 * bulk[2]),
    )


def make_trajectories(count: int) -> Trajectories:
    """Room for so many vertices."""
    return Trajectories(np.empty((count, 3)), np.empty((count, 3)), np.empty(count), np.empty(count))


@njit
def find_trajectories(samples, origin, first, t0, t1, bulk, trajectories):
    """Fill rows first + i of `trajectories` for the vertices i of one body, for the time from t0 to t1 (parts of the
    frame): less half of `bulk`, half the chord is what is seen from the frame of reference.
    """
    middle, half, deviation = trajectories.middle, trajectories.half, trajectories.deviation
    steps = len(samples) - 1.0
    at0, part0 = _between(samples, t0 * steps)
    at1, part1 = _between(samples, t1 * steps)
    for i in range(samples.shape[1]):
        row = first + i
        for axis in range(3):
            start = _position(samples, at0, part0, i, axis) - origin[axis]
            end = _position(samples, at1, part1, i, axis) - origin[axis]
            middle[row, axis] = 0.5 * (start + end)
            half[row, axis] = 0.5 * (end - start - bulk[axis])
        deviation[row], trajectories.slope[row] = 0.0, 0.0
        earlier, ex, ey, ez = 0.0, 0.0, 0.0, 0.0
        for sample in range(at0 + 1, at1 + 2):
            now = min((sample / steps - t0) / (t1 - t0), 1.0)
            if now <= earlier + SAME_TIME:
                continue
            dx, dy, dz = (
                _deviation(samples, origin, first, i, sample, now, bulk, trajectories) if now < 1.0 else (0.0, 0.0, 0.0)
            )
            slope = math.sqrt((dx - ex) ** 2 + (dy - ey) ** 2 + (dz - ez) ** 2) / (now - earlier)
            deviation[row] = max(deviation[row], math.sqrt(dx * dx + dy * dy + dz * dz))
            trajectories.slope[row] = max(trajectories.slope[row], slope)
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
            motions[first + i, MOTION + axis] = _position(samples, at1, part1, i, axis) - start


@folded
def _bound(triangles, trajectories, t, e, spheres):
    """To `spheres`, in row e, that of triangle t."""
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    middle, half = trajectories.middle, trajectories.half
    for axis in range(3):
        spheres[e, MIDDLE + axis] = (middle[a, axis] + middle[b, axis] + middle[c, axis]) / 3.0
        spheres[e, HALF + axis] = (half[a, axis] + half[b, axis] + half[c, axis]) / 3.0
    radius, turn, deviation, slope = 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        i = triangles[t, k]
        away, turns = 0.0, 0.0
        for axis in range(3):
            away += (middle[i, axis] - spheres[e, MIDDLE + axis]) ** 2
            turns += (half[i, axis] - spheres[e, HALF + axis]) ** 2
        radius, turn = max(radius, away), max(turn, turns)
        deviation, slope = max(deviation, trajectories.deviation[i]), max(slope, trajectories.slope[i])
    spheres[e, RADIUS], spheres[e, TURN] = math.sqrt(radius), math.sqrt(turn)
    spheres[e, DEVIATION], spheres[e, SLOPE] = deviation, slope


@inner
def _span(trajectories, i, cells, span):
    """To span[i]: the FIRST_CELL cells along the axes, and the LAST_CELL, that the way of vertex i touches."""
    for axis in range(3):
        growth = abs(trajectories.half[i, axis]) + trajectories.deviation[i]
        for end in (FIRST_CELL, LAST_CELL):
            at = trajectories.middle[i, axis] + (growth if end == LAST_CELL else -growth)
            cell = np.floor((at - cells.low[axis]) / cells.size)
            span[i, end, axis] = int(min(max(cell, -1.0), cells.shape[axis] - 2.0)) + 1


@folded
def _meets_cloth(span, a, b, c, cells):
    """Note triangle abc in the cells that its way touches; is cloth expected in one of them?

    The way is taken for the box round it. Cells of the layer round the domain are no part of it.
    """
    shape, flags = cells.shape, cells.flags
    i0, i1 = (
        min(span[a, FIRST_CELL, 0], span[b, FIRST_CELL, 0], span[c, FIRST_CELL, 0]),
        max(span[a, LAST_CELL, 0], span[b, LAST_CELL, 0], span[c, LAST_CELL, 0]),
    )
    j0, j1 = (
        min(span[a, FIRST_CELL, 1], span[b, FIRST_CELL, 1], span[c, FIRST_CELL, 1]),
        max(span[a, LAST_CELL, 1], span[b, LAST_CELL, 1], span[c, LAST_CELL, 1]),
    )
    k0, k1 = (
        min(span[a, FIRST_CELL, 2], span[b, FIRST_CELL, 2], span[c, FIRST_CELL, 2]),
        max(span[a, LAST_CELL, 2], span[b, LAST_CELL, 2], span[c, LAST_CELL, 2]),
    )
    i0, j0, k0 = max(i0, 1), max(j0, 1), max(k0, 1)
    i1, j1, k1 = min(i1, shape[0] - 2), min(j1, shape[1] - 2), min(k1, shape[2] - 2)
    found = np.uint8(0)
    for i in range(i0, i1 + 1):
        for j in range(j0, j1 + 1):
            row = (i * shape[1] + j) * shape[2]
            for cell in range(row + k0, row + k1 + 1):
                found |= flags[cell]
                flags[cell] |= CELL_BODY | CELL_NEAR
    return found & CELL_DRAWN != 0


@njit
def _near_kernel(triangles, trajectories, cells, drawn, span, near):
    """See `find_near`; `span` (m, 2, 3) is scratch. 90 bytes and 30 flops a vertex, 90 bytes a triangle, 80 bytes and 100
    flops more one that is near. # outputs: near, drawn, flags of cells
    """
    middle, half, deviation = trajectories.middle, trajectories.half, trajectories.deviation
    for i in range(len(middle)):
        _span(trajectories, i, cells, span)
        near.used[i] = False
    count = 0
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        if not (_meets_cloth(span, a, b, c, cells) or drawn[t]):
            continue
        near.triangles[count], drawn[t] = t, True
        near.used[a], near.used[b], near.used[c] = True, True, True
        _bound(triangles, trajectories, t, count, near.spheres)
        count += 1
    for axis in range(3):
        least, greatest, most = math.inf, -math.inf, 0.0
        for i in range(len(middle)):
            if near.used[i]:
                growth = abs(half[i, axis]) + deviation[i]
                least, greatest = min(least, middle[i, axis] - growth), max(greatest, middle[i, axis] + growth)
                most = max(most, growth)
        near.swept.low[axis], near.swept.high[axis], near.growth[axis] = least, greatest, most
    return count


def find_near(triangles: np.ndarray, trajectories: Trajectories, cells: Cells, drawn: np.ndarray) -> NearTriangles:
    """The triangles (t, 3) whose way may meet the cloth's.

    Those are left out that touch no cell where cloth is expected; those that are `drawn` (t,) bool already stay. Notes
    in `cells` where triangles are, and in `drawn` those that it found.
    """
    count, vertices = len(triangles), len(trajectories.middle)
    spheres, swept = np.empty((count, SPHERE_COLUMNS)), Box(np.empty(3), np.empty(3))
    near = NearTriangles(np.empty(count, np.int32), spheres, np.empty(vertices, np.bool_), swept, np.empty(3))
    span = np.empty((vertices, 2, 3), np.int16)
    found = _near_kernel(triangles, trajectories, cells, drawn, span, near)
    return near._replace(triangles=near.triangles[:found])


@njit
def find_domain(x, v, tau, seconds, bulk, domain):
    """The box of the particles' ways from tau to the interval's end, seen from the frame of reference.

    That stands where it is at the middle of the interval; `seconds` is the length of the whole interval.
    # outputs: domain, a `cell_grid.Box`
    """
    for axis in range(3):
        low, high = math.inf, -math.inf
        for p in range(len(x)):
            first = x[p, axis] - (tau - 0.5) * bulk[axis]
            last = x[p, axis] + (1.0 - tau) * seconds * v[p, axis] - 0.5 * bulk[axis]
            low, high = min(low, min(first, last)), max(high, max(first, last))
        domain.low[axis], domain.high[axis] = low, high
