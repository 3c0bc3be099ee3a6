# SPDX-License-Identifier: GPL-3.0-or-later
"""The guard: the last word of a substep, after which no cloth has passed through cloth.

The response is a number of sweeps and may leave a pair unsolved. The guard looks at every pair's straight way of the
substep. The particles of a pair that would meet form an impact zone (Provot 1997; Bridson, Fedkiw and Anderson 2002,
section 7.4), pairs that share a particle form one zone. A zone moves by the mean of its own motion, weighed by mass,
and what its particles move against each other is cut short before the first time of impact. That changes no momentum
and stays free of crossings, because the shortened ways are parts of ways that are free (`impact`); what the zone now
meets is found in the next round and joins it. After a few rounds zones move as a whole. A zone with pinned particles
moves as these do.

Nothing is asked of the dynamics: cloth that starts a substep free of crossings ends it so. Only pinned particles of
different motion that close on each other can break that.
"""

from typing import NamedTuple

import numpy as np

from ..jit import inner, njit
from .impact import time_of_impact

ROUNDS = 40  # at most; then all cloth moves as one piece
GENTLE = 4  # rounds in which zones keep some of their inner motion
SHY = 0.8  # part of the safe part of a way that is gone


class Zones(NamedTuple):
    """Impact zones of one substep; a particle that meets nothing is a zone of its own."""

    parent: np.ndarray  # (n,) int32 a particle of the same zone, nearer to the zone's first
    share: np.ndarray  # (n,) at the first: part of the inner motion that is left
    way: np.ndarray  # (n, 3) [m] motion that the response wanted
    weight: np.ndarray  # (n,) [kg] scratch, mass at the first
    mean: np.ndarray  # (n, 3) [m] scratch, motion at the first


def single_zones(start: np.ndarray, x: np.ndarray) -> Zones:
    """Every particle alone, on its way from `start` to `x` (n, 3) [m]."""
    count = len(x)
    alone = np.arange(count, dtype=np.int32)
    return Zones(alone, np.ones(count), x - start, np.empty(count), np.empty((count, 3)))


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
        a, b = np.int64(stencils[pair, 0]), np.int64(stencils[pair, 1])
        c, d = np.int64(stencils[pair, 2]), np.int64(stencils[pair, 3])
        if pairs.is_edge_pair[pair]:
            aside = max(off[a], off[b]) + max(off[c], off[d])
        else:
            aside = off[a] + max(off[b], max(off[c], off[d]))
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
def join(stencils, hits, times, gentle, parent, share):
    """Make one zone of each pair that meets; returns whether anything changed.
    # outputs: parent, share
    """
    changed = False
    for k in range(len(hits)):
        root = _first(parent, np.int64(stencils[hits[k], 0]))
        for corner in range(1, 4):
            other = _first(parent, np.int64(stencils[hits[k], corner]))
            if other != root:
                changed = True
                low, high = min(root, other), max(root, other)
                parent[high] = low
                share[low] = min(share[low], share[high])
                root = low
        left = share[root] * SHY * times[k] if gentle else 0.0
        changed |= left < share[root]
        share[root] = left
    return changed


@njit
def hold(zones, inv_mass, start, x, x_prev, fresh):
    """Let zones move as they may.
    # outputs: x; x_prev where a zone is, so that velocities are those of its motion; fresh: whose way changed
    """
    parent, share, way, weight, mean = zones
    size = np.zeros(len(x), np.int32)
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
        fresh[i] = size[root] > 1
        if size[root] > 1 and inv_mass[i] > 0.0:
            for axis in range(3):
                common = mean[root, axis] / weight[root]
                x[i, axis] = start[i, axis] + common + share[root] * (way[i, axis] - common)
                x_prev[i, axis] = start[i, axis]
