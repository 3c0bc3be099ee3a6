# SPDX-License-Identifier: GPL-3.0-or-later
"""The guard: the last word of a substep, after which no cloth has passed through cloth.

The response is a number of sweeps and may leave a pair unsolved. The guard looks at every pair's straight way of the
substep. The particles of a pair that would meet form an impact zone (Provot 1997; Bridson, Fedkiw and Anderson 2002,
section 7.4), pairs that share a particle form one zone. A zone moves by the mean of its own motion, weighed by mass,
and what its particles move against each other is cut short before the first time of impact. That changes no momentum
and stays free of crossings, because the shortened ways are parts of ways that are free (`impact`); what the zone now
meets is found in the next round and joins it. A zone that loses too much of its inner motion that way is parted into
clusters that slide on each other (`clusters`). What still meets something then moves as a whole. A zone with pinned
particles moves as these do.

Nothing is asked of the dynamics: cloth that starts a substep free of crossings ends it so. Only pinned particles of
different motion that close on each other can break that.
"""

import math
from typing import NamedTuple

import numpy as np

from ..jit import counted_njit, inner, njit
from .cloth_response import farther
from .impact import time_of_impact

ROUNDS = 40  # at most; then all cloth moves as one piece
GENTLE = 4  # rounds in which zones keep some of their inner motion; then they have to be parted
SHY = 0.8  # part of the safe part of a way that is gone


class Zones(NamedTuple):
    """Impact zones of one substep; a particle that meets nothing is a zone of its own."""

    parent: np.ndarray  # (n,) int32 a particle of the same zone, nearer to the zone's first
    share: np.ndarray  # (n,) at the first: part of the inner motion that is left
    way: np.ndarray  # (n, 3) [m] motion that the response wanted
    weight: np.ndarray  # (n,) [kg] scratch, mass at the first
    mean: np.ndarray  # (n, 3) [m] scratch, motion at the first
    lead: np.ndarray  # (n,) int32 at the first: triangle of a body that the zone rides along with, or -1
    rides: np.ndarray  # (n,) bool: the particle's way is that of a body and nothing else


class Bodies(NamedTuple):
    """What zones can ride along with."""

    triangles: np.ndarray  # (t, 3) int32
    motions: np.ndarray  # (m, 6) [m] position at the substep's start and motion through it, of what is near cloth
    owner: np.ndarray  # (u,) int32 a triangle of each vertex that stencils number from n on


NO_BODIES = Bodies(np.empty((0, 3), np.int32), np.empty((0, 6)), np.empty(0, np.int32))


def single_zones(start: np.ndarray, x: np.ndarray) -> Zones:
    """Every particle alone, on its way from `start` to `x` (n, 3) [m]."""
    count = len(x)
    alone = np.arange(count, dtype=np.int32)
    nobody, rides = np.full(count, -1, np.int32), np.zeros(count, np.bool_)
    return Zones(alone, np.ones(count), x - start, np.empty(count), np.empty((count, 3)), nobody, rides)


@njit
def find_impacts(pairs, off, elapsed, fresh, start, x, hits, times):
    """Pairs with a fresh particle that meet on their ways from `start` to `x`; returns how many.

    20 bytes of a pair that cannot meet (and 32 of `off`), 200 flops of one that might.
    off : (n,) [m] how far a particle is off its way in this substep, at most
    # outputs: hits (p,) int32, times (p,) part of the way that is safe
    """
    count = 0
    stencils = pairs.stencils
    for pair in range(len(stencils)):
        a, b = np.uintp(stencils[pair, 0]), np.uintp(stencils[pair, 1])
        c, d = np.uintp(stencils[pair, 2]), np.uintp(stencils[pair, 3])
        aside = farther(off, pairs.is_edge_pair[pair], a, b, c, d)
        if pairs.gap[pair] - elapsed * pairs.closing[pair] - aside > 0.0:
            continue
        if not (fresh[a] or fresh[b] or fresh[c] or fresh[d]):
            continue
        time = time_of_impact(pairs.is_edge_pair[pair], start, x, a, b, c, d, pairs.distance[pair])
        if time < 1.0:
            hits[count], times[count] = pair, time
            count += 1
    return count


@inner
def _first(parent, i):
    """The first particle of the zone of i; the way there is made shorter."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@njit
def join(stencils, hits, times, gentle, owner, parent, share, lead):
    """Make one zone of each pair that meets; returns whether anything changed.

    A zone that meets a body is led by it; if it may not move against what leads it any more, by what it meets now.
    # outputs: parent, share, lead
    """
    changed = False
    for k in range(len(hits)):
        root, leader = np.int64(-1), np.int32(-1)
        for corner in range(4):
            i = np.int64(stencils[hits[k], corner])
            if i >= len(parent):
                leader = owner[i - len(parent)]
                continue
            other = _first(parent, i)
            if root >= 0 and other != root:
                changed = True
                low, high = min(root, other), max(root, other)
                parent[high] = low
                share[low] = min(share[low], share[high])
                if lead[low] < 0:
                    lead[low] = lead[high]
                other = low
            root = other
        left = share[root] * SHY * times[k] if gentle else 0.0
        if leader >= 0 and (lead[root] < 0 or (share[root] == 0.0 and lead[root] != leader)):
            lead[root] = leader
            changed = True
        changed |= left < share[root]
        share[root] = left
    return changed


@inner
def _frame(bodies, t, time, frame):
    """Three unit directions, rows of `frame`, that turn with a triangle; False if it has no area. Time is 0 or 1."""
    x, triangles = bodies.motions, bodies.triangles
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    size, area = 0.0, 0.0
    for k in range(3):
        frame[0, k] = x[b, k] - x[a, k] + time * (x[b, k + 3] - x[a, k + 3])
        frame[1, k] = x[c, k] - x[a, k] + time * (x[c, k + 3] - x[a, k + 3])
        size += frame[0, k] ** 2
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        frame[2, k] = frame[0, i] * frame[1, j] - frame[0, j] * frame[1, i]
        area += frame[2, k] ** 2
    for k in range(3):
        frame[0, k] = frame[0, k] / math.sqrt(size) if size > 0.0 else 0.0
        frame[2, k] = frame[2, k] / math.sqrt(area) if area > 0.0 else 0.0
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        frame[1, k] = frame[2, i] * frame[0, j] - frame[2, j] * frame[0, i]
    return area > 0.0


@inner
def _ride(bodies, t, x, i, before, after, carried):
    """Way of point i of x that is fixed to triangle t of a body; a triangle without area does not turn.
    # outputs: carried (3,); before, after (3, 3) scratch
    """
    motions, a = bodies.motions, bodies.triangles[t, 0]
    turns = _frame(bodies, t, 0.0, before) and _frame(bodies, t, 1.0, after)
    for axis in range(3):
        carried[axis] = motions[a, axis + 3]
    for row in range(3):
        along = 0.0
        for axis in range(3):
            along += before[row, axis] * (x[i, axis] - motions[a, axis])
        for axis in range(3):
            carried[axis] += along * (after[row, axis] - before[row, axis]) if turns else 0.0


@counted_njit
def hold(zones, bodies, inv_mass, start, x, x_prev, fresh):
    """Let zones move as they may.
    # outputs: x; x_prev where a zone is, so that velocities are those of its motion; fresh: whose way changed;
    # zones.rides
    """
    parent, share, way, weight, mean, lead, rides = zones
    size = np.zeros(len(x), np.int32)
    before, after, carried = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    for i in range(len(x)):
        weight[i], mean[i, 0], mean[i, 1], mean[i, 2] = 0.0, 0.0, 0.0, 0.0
    for i in range(len(x)):
        root = _first(parent, i)
        size[root] += 1
        if inv_mass[i] == 0.0 and weight[root] >= 0.0:  # what is pinned decides alone: weights below 0 count it
            weight[root], mean[root, 0], mean[root, 1], mean[root, 2] = 0.0, 0.0, 0.0, 0.0
        if inv_mass[i] == 0.0 or weight[root] >= 0.0:
            mass = 1.0 / inv_mass[i] if inv_mass[i] > 0.0 else -1.0
            weight[root] += mass
            for axis in range(3):
                mean[root, axis] += mass * way[i, axis]
    for i in range(len(x)):
        root = _first(parent, i)
        fresh[i] = size[root] > 1 or lead[root] >= 0
        rides[i] = lead[root] >= 0 and share[root] == 0.0
        if fresh[i] and inv_mass[i] > 0.0:
            if lead[root] >= 0:
                _ride(bodies, lead[root], start, i, before, after, carried)
            for axis in range(3):
                common = carried[axis] if lead[root] >= 0 else mean[root, axis] / weight[root]
                x[i, axis] = start[i, axis] + common + share[root] * (way[i, axis] - common)
                x_prev[i, axis] = start[i, axis]
