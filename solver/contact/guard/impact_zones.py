# SPDX-License-Identifier: GPL-3.0-or-later
"""The guard: the last word of a substep, after which no cloth has passed through cloth.

The response is a number of sweeps and may leave a pair unsolved. The guard looks at every pair's straight
trajectory of the substep. The particles of a pair that would meet form an impact zone (Provot 1997; Bridson, Fedkiw and Anderson 2002,
section 7.4), pairs that share a particle form one zone. A zone moves by the mean of its own motion, weighed by mass,
and what its particles move against each other is cut short before the first time of impact. That changes no momentum
and stays free of crossings, because the shortened trajectories are parts of free ones (`geometry.ccd`); what the zone now
meets is found in the next round and joins it. A zone that loses too much of its inner motion that way is parted into
clusters that slide on each other (`clusters`). What still meets something then moves as a whole. A zone with pinned
particles moves as these do. One that meets a body goes with that, and each of its particles keeps, against the body, what
restitution and friction leave of its own motion (Huh, Metaxas and Badler 2001, 3.5: C_e V_normal + C_f V_tangential), unless it
would meet something so.

Nothing is asked of the dynamics: cloth that starts a substep free of crossings ends it so. Only pinned particles of
different motion that close on each other can break that.
"""

import math
from typing import NamedTuple

import numpy as np

from ...geometry.ccd import ROUNDING_GAP, closest_pair, corners_of, time_of_impact, weighted_sum
from ...kernel.jit import counted_njit, inner, njit
from ...kernel.lookup import first_of
from ..cloth.pair_list import PairList
from ..cloth.reach import farther

GUARD_ROUNDS = 40  # at most; then all cloth moves as one piece
GENTLE_ROUNDS = 4  # in which zones keep some of their inner motion; then they have to be parted
GRAINS = 2.0  # of a file, nearer than which nothing comes; twice what counts, so that it seldom does
SAFE_PART = 0.8  # part of the safe part of a trajectory that is gone
SLENDER = 0.01  # squared sine of a corner of a triangle below which what is advected with it keeps its shape
FIRST_HITS = 1024  # pairs that meet, for which there is room at first
ALONE, LED = -1, -2  # instead of a zone's first particle: what meets nothing; what goes as pins or a body go


class Impacts(NamedTuple):
    """What meets on the trajectories of a substep."""

    stencils: np.ndarray  # (p, 4) int32 of all pairs that were asked
    hits: np.ndarray  # (h,) int32 those that meet
    times: np.ndarray  # (h,) part of the trajectory that is safe
    between: np.ndarray  # (h, 3) unit vector at the start from the second side to the first; 0 if they touch
    friction: np.ndarray  # (h,)


class Zones(NamedTuple):
    """Impact zones of one substep; a particle that meets nothing is a zone of its own."""

    parent: np.ndarray  # (n,) int32 a particle of the same zone, nearer to the zone's first
    share: np.ndarray  # (n,) at the first: part of the inner motion that is left
    displacement: np.ndarray  # (n, 3) [m] that the response wanted
    eased: np.ndarray  # (n, 3) [m] from the start to where velocities count from: part of it that is no speed
    weight: np.ndarray  # (n,) [kg] scratch, mass at the first
    mean: np.ndarray  # (n, 3) [m] scratch, displacement at the first
    mean_eased: np.ndarray  # (n, 3) [m] scratch, the same of `eased`
    leader: np.ndarray  # (n,) int32 at the first: triangle of a body that the zone is advected with, or -1
    normal: np.ndarray  # (n, 3) there: from that body to the cloth where they meet
    friction: np.ndarray  # (n,) there: of both
    advected: np.ndarray  # (n,) bool: the particle's trajectory is that of a body and nothing else


class Leaders(NamedTuple):
    """Bodies that zones can be advected with."""

    triangles: np.ndarray  # (t, 3) int32
    motions: np.ndarray  # (m, 6) [m] position at the substep's start and motion through it, of what is near cloth
    owner: np.ndarray  # (u,) int32 a triangle of each vertex that stencils number from n on
    collider: np.ndarray  # (t,) int32
    restitution: np.ndarray  # (c,)
    slow: float  # [m] along the normal up to which nothing bounces


NO_LEADERS = Leaders(np.empty((0, 3), np.int32), np.empty((0, 6)), *np.empty((2, 0), np.int32), np.empty(0), 0.0)


def single_zones(start: np.ndarray, x: np.ndarray, x_from: np.ndarray) -> Zones:
    """Every particle alone, on its trajectory from `start` to `x`; velocities count from `x_from`. All (n, 3) [m]."""
    count = len(x)
    alone, scratch = np.arange(count, dtype=np.int32), (np.empty(count), *np.empty((2, count, 3)))
    led = np.full(count, -1, np.int32), np.zeros((count, 3)), np.zeros(count), np.zeros(count, np.bool_)
    return Zones(alone, np.ones(count), x - start, x_from - start, *scratch, *led)


def roots(parent: np.ndarray) -> np.ndarray:
    """(n,) the first particle of each one's zone."""
    while not np.array_equal(parent[parent], parent):
        parent = parent[parent]
    return parent


def holders(zones: Zones, inv_mass: np.ndarray) -> np.ndarray:
    """(n,) int32 the first particle of the zone that holds each back, ALONE where none does, LED where momentum is not the
    zone's own, because pins or a body decide.
    """
    root, is_led = roots(zones.parent), zones.leader >= 0
    size = np.bincount(root, minlength=len(root))
    is_alone = (size[root] == 1) & ~is_led[root]
    is_led[root[inv_mass == 0.0]] = True
    return np.where(is_alone, ALONE, np.where(is_led[root], LED, root)).astype(np.int32)


def no_impacts() -> Impacts:
    """Nothing meets."""
    return Impacts(np.empty((0, 4), np.int32), np.empty(0, np.int32), np.empty(0), np.empty((0, 3)), np.empty(0))


def find_impacts(pairs: PairList, deviation, elapsed: float, fresh, start, x, grain: float = 0.0) -> Impacts:
    """Pairs with a fresh particle (n,) that meet on their trajectories from `start` to `x` (n, 3) [m].

    deviation : (n,) [m] how far a particle is off the trajectory that the pairs were found on, at most in this substep
    elapsed : [s] since they were found
    grain : as in `Cloth`
    """
    least = max(ROUNDING_GAP, GRAINS * grain)
    about, room = (pairs, deviation, elapsed, fresh, least, start, x), FIRST_HITS
    while True:
        hits, times, between = np.empty(room, np.int32), np.empty(room), np.empty((room, 3))
        count = impacts_kernel(*about, hits, times, between)
        if count <= room:
            break
        room = count
    return Impacts(pairs.stencils, hits[:count], times[:count], between[:count], pairs.friction[hits[:count]])


@njit
def impacts_kernel(pairs, deviation, elapsed, fresh, least, start, x, hits, times, between):
    """The loop of `find_impacts`; returns how many meet, also beyond the room for them. 20 bytes of a pair that cannot
    meet (and 32 of `deviation`), 200 flops of one that might.
    # outputs: hits, times (h,), between (h, 3)
    """
    count = 0
    stencils = pairs.stencils
    for pair in range(len(stencils)):
        a, b, c, d = corners_of(stencils, pair)
        aside = farther(deviation, pairs.is_edge_pair[pair], a, b, c, d)
        if pairs.gap[pair] - elapsed * pairs.closing[pair] - aside > least:
            continue
        if not (fresh[a] or fresh[b] or fresh[c] or fresh[d]):
            continue
        time = time_of_impact(pairs.is_edge_pair[pair], start, x, a, b, c, d, pairs.distance[pair], least)
        if time < 1.0:
            if count < len(hits):
                hits[count], times[count] = pair, time
                wa, wb, wc, wd = closest_pair(pairs.is_edge_pair[pair], start, a, b, c, d)
                nx, ny, nz = weighted_sum(start, a, b, c, d, wa, wb, wc, wd)
                size = math.sqrt(nx * nx + ny * ny + nz * nz)
                size = size if size > 0.0 else 1.0
                between[count, 0], between[count, 1], between[count, 2] = nx / size, ny / size, nz / size
            count += 1
    return count


@inner
def _follow(zones, root, led_at, leader, time, between, friction):
    """Let a body lead a zone, which it meets at this time.
    # outputs: zones.leader, zones.normal, zones.friction, led_at
    """
    zones.leader[root], zones.friction[root], led_at[root] = leader, friction, time
    for axis in range(3):
        zones.normal[root, axis] = between[axis]


@counted_njit
def join(impacts, is_gentle, leaders, zones):
    """Make one zone of each pair that meets; returns whether anything changed.

    A zone that meets a body is led by it, which first takes what it would go into the body; if it may not move against what
    leads it any more, by what it meets now. Of several that it meets at once the closest leads, which it would come to first
    (Huh, Metaxas and Badler 2001, 3.5).
    # outputs: zones.parent, zones.share, zones.leader, zones.normal, zones.friction
    """
    stencils, hits, times, between, friction = impacts
    parent, share, leader = zones.parent, zones.share, zones.leader
    led_at, normal = np.full(len(parent), math.inf), np.empty(3)  # when it comes to what leads it since this round
    changed = False
    for k in range(len(hits)):
        root, met = np.int64(-1), np.int32(-1)
        for corner in range(4):
            i = np.int64(stencils[hits[k], corner])
            if i >= len(parent):
                met = leaders.owner[i - len(parent)]
                continue
            other = first_of(parent, i)
            if root >= 0 and other != root:
                changed = True
                low, high = min(root, other), max(root, other)
                parent[high] = low
                share[low] = min(share[low], share[high])
                if leader[low] < 0 or led_at[high] < led_at[low] < math.inf:
                    _follow(zones, low, led_at, leader[high], led_at[high], zones.normal[high], zones.friction[high])
                other = low
            root = other
        is_open = leader[root] < 0 or led_at[root] < math.inf or (share[root] == 0.0 and leader[root] != met)
        if met >= 0 and is_open and times[k] < led_at[root]:
            changed |= leader[root] != met
            normal[:] = between[k] if stencils[hits[k], 0] < len(parent) else -between[k]
            _follow(zones, root, led_at, met, times[k], normal, friction[k])
        left = share[root] * SAFE_PART * times[k] if is_gentle else 0.0
        if not is_gentle or met < 0 or led_at[root] == math.inf:
            changed |= left < share[root]
            share[root] = left
    return changed


@inner
def _frame(leaders, t, time, frame):
    """Two sides of a triangle and its unit normal, rows of `frame`; returns the squared sine of the angle between the sides,
    0 without an area. Time is 0 or 1.
    """
    x, triangles = leaders.motions, leaders.triangles
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    size, other, area = 0.0, 0.0, 0.0
    for k in range(3):
        frame[0, k] = x[b, k] - x[a, k] + time * (x[b, k + 3] - x[a, k + 3])
        frame[1, k] = x[c, k] - x[a, k] + time * (x[c, k + 3] - x[a, k + 3])
        size, other = size + frame[0, k] ** 2, other + frame[1, k] ** 2
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        frame[2, k] = frame[0, i] * frame[1, j] - frame[0, j] * frame[1, i]
        area += frame[2, k] ** 2
    for k in range(3):
        frame[2, k] = frame[2, k] / math.sqrt(area) if area > 0.0 else 0.0
    return area / (size * other) if area > 0.0 else 0.0


@inner
def _make_square(frame):
    """Let a frame's first two rows be units, square to each other."""
    size = math.sqrt(frame[0, 0] ** 2 + frame[0, 1] ** 2 + frame[0, 2] ** 2)
    for k in range(3):
        frame[0, k] /= size
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        frame[1, k] = frame[2, i] * frame[0, j] - frame[2, j] * frame[0, i]


@inner
def _product(frame, row, other):
    """Of two rows of a frame."""
    return frame[row, 0] * frame[other, 0] + frame[row, 1] * frame[other, 1] + frame[row, 2] * frame[other, 2]


@inner
def _advect(leaders, t, x, i, before, after, carried):
    """Displacement of point i of x that is fixed to triangle t of a body; a triangle without area does not turn.

    What lies in the triangle's plane stretches as it does, so that the triangle's corners go where the body's do: on straight
    trajectories a body that turns is not rigid. A slender triangle does not tell how its plane stretches.
    # outputs: carried (3,); before, after (3, 3) scratch
    """
    motions, a = leaders.motions, leaders.triangles[t, 0]
    shape = min(_frame(leaders, t, 0.0, before), _frame(leaders, t, 1.0, after))
    for axis in range(3):
        carried[axis] = motions[a, axis + 3]
    if not shape > 0.0:
        return
    if shape < SLENDER:
        _make_square(before)
        _make_square(after)
    along, beside, off = 0.0, 0.0, 0.0
    for axis in range(3):
        apart = x[i, axis] - motions[a, axis]
        along, beside = along + before[0, axis] * apart, beside + before[1, axis] * apart
        off += before[2, axis] * apart
    first, second, both = _product(before, 0, 0), _product(before, 1, 1), _product(before, 0, 1)
    area = first * second - both * both
    along, beside = (second * along - both * beside) / area, (first * beside - both * along) / area
    for axis in range(3):
        carried[axis] += along * (after[0, axis] - before[0, axis])
        carried[axis] += beside * (after[1, axis] - before[1, axis])
        carried[axis] += off * (after[2, axis] - before[2, axis])


@inner
def _rebound(leaders, zones, root, own):
    """What restitution and friction leave of a displacement against the body that leads a zone, unless it parts from it.
    # outputs: own (3,) [m]
    """
    normal, approach, size = zones.normal, 0.0, 0.0
    for axis in range(3):
        approach -= own[axis] * normal[root, axis]
        size += own[axis] ** 2
    if not approach > 0.0:
        return
    given = leaders.restitution[leaders.collider[zones.leader[root]]] * approach if approach > leaders.slow else 0.0
    slide, grip = math.sqrt(max(size - approach**2, 0.0)), zones.friction[root] * (approach + given)
    kept = 1.0 - grip / slide if slide > grip else 0.0
    for axis in range(3):
        along = own[axis] + approach * normal[root, axis]
        own[axis] = kept * along + given * normal[root, axis]


@inner
def _sum_up(zones, inv_mass, size):
    """Means over each zone, at its first particle, weighed by mass, and how many it has.
    # outputs: size (n,), all 0 before; zones.weight, which is below 0 where pinned particles are counted instead;
    # zones.mean; zones.mean_eased, 0 where something leads
    """
    weight, mean, mean_eased = zones.weight, zones.mean, zones.mean_eased
    weight[:], mean[:], mean_eased[:] = 0.0, 0.0, 0.0
    for i in range(len(size)):
        root = first_of(zones.parent, i)
        size[root] += 1
        if inv_mass[i] == 0.0 and weight[root] >= 0.0:  # what is pinned decides alone
            weight[root], mean[root, 0], mean[root, 1], mean[root, 2] = 0.0, 0.0, 0.0, 0.0
        if inv_mass[i] == 0.0 or weight[root] >= 0.0:
            mass = 1.0 / inv_mass[i] if inv_mass[i] > 0.0 else -1.0
            weight[root] += mass
            for axis in range(3):
                mean[root, axis] += mass * zones.displacement[i, axis]
                mean_eased[root, axis] += mass * zones.eased[i, axis]
    for i in range(len(size)):
        if size[i] > 0:
            is_free = weight[i] > 0.0 and zones.leader[i] < 0
            for axis in range(3):
                mean[i, axis] /= weight[i]
                mean_eased[i, axis] = mean_eased[i, axis] / weight[i] if is_free else 0.0


@counted_njit
def apply_zones(zones, leaders, inv_mass, start, x, x_from, fresh):
    """Let zones move as they may.
    # outputs: x; x_from where a zone is, so that velocities are those of its motion, and have the momentum that its
    # particles had; fresh: whose trajectory changed; zones.advected
    """
    parent, share, displacement, leader = zones.parent, zones.share, zones.displacement, zones.leader
    size = np.zeros(len(x), np.int32)
    before, after, carried, own = np.empty((3, 3)), np.empty((3, 3)), np.empty(3), np.empty(3)
    _sum_up(zones, inv_mass, size)
    for i in range(len(x)):
        root = first_of(parent, i)
        fresh[i] = size[root] > 1 or leader[root] >= 0
        zones.advected[i] = leader[root] >= 0 and share[root] == 0.0
        if fresh[i] and inv_mass[i] > 0.0:
            carried[:] = zones.mean[root]
            if leader[root] >= 0:
                _advect(leaders, leader[root], start, i, before, after, carried)
            own[:] = displacement[i] - carried
            if leader[root] >= 0:
                _rebound(leaders, zones, root, own)
            for axis in range(3):
                x[i, axis] = start[i, axis] + carried[axis] + share[root] * own[axis]
                x_from[i, axis] = start[i, axis] + zones.mean_eased[root, axis]
