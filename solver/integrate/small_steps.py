# SPDX-License-Identifier: GPL-3.0-or-later
"""How many small steps a substep is parted into: as many as the cloth's own turning asks for.

Each step is one linearisation (`pcg`), which takes springs for as long as they turn straight on. A spring that turns at
w [rad/s] comes out of a step h too long by half of (w h)^2 of its length, so linearising adds a strain of

    1/2 w^2 h   each second,

and a bound on that bounds h. What it adds goes into folds: cloth that is kicked crumples like paper in steps that are too
long, at whatever stretch. Small steps that are solved a little serve better than few that are solved well (Macklin, Storey,
Lu, Terdiman, Chentanez, Jeschke and Müller 2019); cloth on cloth need not be looked for in each of them.

The theta method (`implicit`) goes on straight from a point of the way on which springs have their length. One that turns by a
[rad] in a step ends it too long by

    1/2 (1 - theta) a^2   of its length,

which the next step takes back as speed: by more than it had, where a corner of the cloth swings by a radian or so. It swings ever
faster then, and shakes all cloth long. So no single spring may get too long by more than a bound (`part_on_arcs`).

Measured on a skirt that thighs kick, angle between neighbouring faces in degrees: 18.5 in ten steps a frame, 13.2 in the
30 that this chooses in the mean, 12.0 in eighty with fully solved systems (docs/steps.md).
"""

import math
from math import ceil

import numpy as np

from ..kernel.shared import shared
from .predict import Interval

STRAIN_RATE = 0.05  # [1/s] that linearising may add
SHORTEST_STEP = 1.0 / 1920.0  # [s]
SHORTEST_LEVER = 0.5  # of its rest length that an edge counts as, so that one of no length does not turn for ever
STEP_ROUNDING = 1e-6  # of a step
STRAIN_BEYOND = 0.005  # of any spring at the end of a step of the theta method
SPRINGS_AT_ONCE = 4096  # that are summed up as one, whatever the machine
SMALLEST_TURNING_PART = 1  # times so many, that another thread is asked for


def part(substep, steps: float, cloth, x, v):
    """The small steps of a substep, an `Interval` that starts at x (n, 3) [m] with v [m/s].

    steps : how many times as many as turning asks for; 0: one, the substep itself
    """
    if not steps > 0.0:
        return [substep]
    square = _fastest(cloth, x, v)
    if not math.isfinite(square):  # it has blown up, which is told at the frame's end
        return [substep]
    longest = max(2.0 * STRAIN_RATE / max(square, 1e-30), SHORTEST_STEP)
    count = max(ceil(steps * substep.dt / longest - STEP_ROUNDING), 1)
    return cut(substep, count, ceil(steps * substep.dt / SHORTEST_STEP))


def part_on_arcs(substep, steps: float, theta: float, cloth, x, v):
    """The small steps of a substep of the theta method that starts at x (n, 3) [m] with v [m/s]: so many that no spring gets too
    long by more than `STRAIN_BEYOND` for going on straight, none of them below `SHORTEST_STEP`.

    steps : as in `part`; theta : in [1/2, 1]
    """
    if not steps > 0.0 or not len(cloth.edges):
        return [substep]
    (a, b), least = cloth.edges.T, SHORTEST_LEVER * cloth.rest_length
    way, speed = x[b] - x[a], v[b] - v[a]
    square = np.einsum("ij,ij->i", way, way)
    along = np.einsum("ij,ij->i", way, speed)
    across = np.einsum("ij,ij->i", speed, speed) - np.divide(along**2, square, out=np.zeros(len(a)), where=square > 0.0)
    lever, counts = np.maximum(square, least**2), least > 0.0  # what is stirred by tangles has no length here
    rate = math.sqrt(max(float((across[counts] / lever[counts]).max(initial=0.0)), 0.0))
    if not np.isfinite(rate):  # as in `part`
        return [substep]
    turn = rate * substep.dt * math.sqrt((1.0 - theta) / (2.0 * STRAIN_BEYOND))  # over the largest that a step may have
    most = max(ceil(steps * substep.dt / SHORTEST_STEP), 1)
    return cut(substep, min(max(ceil(steps * turn - STEP_ROUNDING), 1), most), most)


def _fastest(cloth, x, v):
    """Mean square [rad2/s2], over its area, of the rates at which the springs of that garment turn which turns most.

    A button's edges of a millimetre tremble with all that touches them, and there may be more of these than of the coat's.
    """
    blocks, garments = -(-len(cloth.edges) // SPRINGS_AT_ONCE), len(cloth.garment_start) - 1
    sums = np.zeros((2, blocks, garments))
    turn_rates(blocks, x, v, cloth.edges, cloth.rest_length, cloth.garment, *sums)
    squares, shares = sums.sum(axis=1).tolist()
    rates = [square / share for square, share in zip(squares, shares, strict=True) if share > 0.0]
    return math.nan if any(map(math.isnan, rates)) else max(rates, default=0.0)


def finer(substep, steps: list, least: int):
    """The small steps of a substep, or if these are fewer than `least` that many, of `SHORTEST_STEP` each at least."""
    most = max(ceil(substep.dt / SHORTEST_STEP - STEP_ROUNDING), 1)
    count = min(least, most)
    return cut(substep, count, most) if count > len(steps) else steps


def cut(substep, count: int, most: int):
    """A substep as so many small steps of equal length; numbered as if all had `most` of them."""
    span = (substep.t1 - substep.t0) / count
    times = [*(substep.t0 + k * span for k in range(count)), substep.t1]
    dt, first = substep.dt / count, substep.number * most
    slow_dt = [substep.slow_dt] + [0.0] * (count - 1)
    return [Interval(first + k, times[k], times[k + 1], dt, slow_dt[k]) for k in range(count)]


@shared(SMALLEST_TURNING_PART)
def turn_rates(first, last, x, v, edges, rest_length, garment, squares, shares):
    """Sums over those of the springs of each block first..last that belong to each garment, of the squares [rad2/s2] of the rates
    at which they turn, each times its share, and of these: the squares of rest lengths [m2], as if of the cloth's area.
    130 bytes and 40 flops a spring. # outputs: squares, shares (blocks, g), 0 before
    """
    for block in range(first, last):
        start, own, turned, area = block * SPRINGS_AT_ONCE, 0, 0.0, 0.0
        for e in range(np.uintp(start), np.uintp(min(start + SPRINGS_AT_ONCE, len(edges)))):
            i, j = np.uintp(edges[e, 0]), np.uintp(edges[e, 1])
            if garment[i] != own:  # threads that write to one cache line in turn wait for each other
                squares[block, own] += turned
                shares[block, own] += area
                own, turned, area = garment[i], 0.0, 0.0
            dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            wx, wy, wz = v[j, 0] - v[i, 0], v[j, 1] - v[i, 1], v[j, 2] - v[i, 2]
            square = dx * dx + dy * dy + dz * dz
            along = wx * dx + wy * dy + wz * dz
            share = rest_length[e] * rest_length[e]
            least = max(square, SHORTEST_LEVER * SHORTEST_LEVER * share)
            if least > 0.0:
                across = wx * wx + wy * wy + wz * wz - (along * along / square if square > 0.0 else 0.0)
                turned += share * max(across, 0.0) / least
                area += share
        squares[block, own] += turned
        shares[block, own] += area
