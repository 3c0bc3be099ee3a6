# SPDX-License-Identifier: GPL-3.0-or-later
"""Proximity of cloth and cloth: candidates of pairs of triangles, and what is known of those that can meet. `pairs.detect` tells
the method.

Each pair of triangles goes the whole way at once, from its candidates to what is kept of them: nothing is written down for all
of them in between.
"""

import math
from typing import NamedTuple

import numpy as np

from ...broad_phase.boxes import SWEPT_BOX, SweptBoxes, may_touch, span
from ...broad_phase.patches import FIRST_EDGE_BIT
from ...geometry.ccd import closest_pair, corners_of, weighted_sum
from ...kernel.jit import folded, inner, njit
from ...kernel.shared import BOARD, MOST_PARTS, share_numbered
from ...kernel.threads import cut, each_joined, on_threads
from .pair_list import PairList, empty_pairs, gathered, joined
from .reach import farther
from .tangles import are_let_through
from .welded import across_seams

SMALLEST_CANDIDATE_PART = 3072  # pairs: fewer are done before another thread wakes up
PAIRS_RANGE = 512  # pairs of triangles that one thread looks at,
SMALLEST_RANGES_PART = 1  # ranges of these that another is asked for, and
BATCH_RANGES = 32  # that are looked at before what was found in them is put together
CANDIDATES_ROOM = 2  # a pair of triangles that there is room for at first, and
STENCILS_ROOM = 0.6  # of those that can meet
FEWEST_STENCILS = 128  # that there is room for besides
MOST_OF_TWO = 15  # candidates of two triangles: each corner and the other, and each two edges
NEIGHBOUR_GAP = 0.9  # contact distance over rest distance at most, so that a sheet at rest does not push itself


class Skin(NamedTuple):
    """The fields of `Cloth` that the kernels read: numba compiles small tuples faster."""

    inv_mass: np.ndarray
    thickness: np.ndarray
    friction: np.ndarray
    garment: np.ndarray
    meets_itself: np.ndarray
    x_rest: np.ndarray  # as `Cloth.pattern`, like the next two
    partner_start: np.ndarray
    partner: np.ndarray


@folded
def _list_candidates(first, second, corners, owned, is_flat, triangle_boxes, boxes, scratch, listed, count):
    """List particles and triangles, edges and edges of two triangles that may touch on their trajectories, from place `count`
    on; returns where that ends, also where there is no room left.

    Every vertex and edge belongs to one triangle, so that each pair is looked at once. About 24 comparisons and 100 bytes for a
    rejected primitive, all in one branch: the outcome of each alone is a coin toss to the processor.
    corners : (t, 3) particles of triangles, and what they are called in stencils
    # outputs: listed: stencils (c, 4), and which are of edges (c,); scratch: (2, SWEPT_BOX) and (4, SWEPT_BOX)
    """
    (triangles, named), (both, edges), (stencils, is_edge_pair), is_sheet = corners, scratch, listed, False
    for corner in range(3):
        p = triangles[first, corner]
        is_common = (p == triangles[second, 0]) | (p == triangles[second, 1]) | (p == triangles[second, 2])
        is_sheet |= is_common & is_flat[p]
    if is_sheet:
        return count
    span(triangle_boxes, first, first, 0, both)
    span(triangle_boxes, second, second, 1, both)
    for side in range(2):
        a, b, c = triangles[second, 0], triangles[second, 1], triangles[second, 2]
        for corner in range(3):
            p = triangles[first, corner]
            if not owned[first] >> corner & 1 or (p == a) | (p == b) | (p == c):
                continue
            span(boxes, p, p, 0, edges)
            if not may_touch(edges, 0, both, 1 - side):
                continue
            if count < len(stencils):
                stencils[count, 0], stencils[count, 1] = named[first, corner], named[second, 0]
                stencils[count, 2], stencils[count, 3] = named[second, 1], named[second, 2]
                is_edge_pair[count] = False
            count += 1
        first, second = second, first
    for other in range(3 if owned[first] >> FIRST_EDGE_BIT else 0):
        span(boxes, triangles[second, other], triangles[second, (other + 1) % 3], 1 + other, edges)
    for corner in range(3):
        p, q = triangles[first, corner], triangles[first, (corner + 1) % 3]
        if not owned[first] >> (corner + FIRST_EDGE_BIT) & 1 or not owned[second] >> FIRST_EDGE_BIT:
            continue
        span(boxes, p, q, 0, edges)
        if not may_touch(edges, 0, both, 1):
            continue
        for other in range(3):
            r, s = triangles[second, other], triangles[second, (other + 1) % 3]
            known = not owned[second] >> (other + FIRST_EDGE_BIT) & 1
            if known or (p == r) | (p == s) | (q == r) | (q == s) or not may_touch(edges, 0, edges, 1 + other):
                continue
            if count < len(stencils):
                stencils[count, 0], stencils[count, 1] = named[first, corner], named[first, (corner + 1) % 3]
                stencils[count, 2], stencils[count, 3] = named[second, other], named[second, (other + 1) % 3]
                is_edge_pair[count] = True
            count += 1
    return count


@njit
def candidate_kernel(start, end, pairs, corners, owned, is_flat, triangle_boxes, boxes, scratch, listed):
    """`_list_candidates` of the pairs start..end of triangles; returns their number. # outputs: listed, scratch"""
    count = 0
    for pair in range(start, end):
        first, second = pairs[pair, 0], pairs[pair, 1]
        about = corners, owned, is_flat, triangle_boxes, boxes, scratch, listed
        count = _list_candidates(first, second, *about, count)
    return count


def _scratch():
    return np.empty((2, SWEPT_BOX)), np.empty((4, SWEPT_BOX))


def candidates(pairs, triangles, owned, is_flat, triangle_boxes: SweptBoxes, boxes: SweptBoxes):
    """Stencils (c, 4) int32 of the pairs of triangles (p, 2), as `_list_candidates` finds them; which are of edges (c,).

    owned : (t,) as in `Patches`
    is_flat : (n,) as in `Ahead`
    triangle_boxes, boxes : (t, 6), (n, 6) [m] of triangles and of vertices
    """

    def find(_, first, last):
        about = pairs, (triangles, triangles), owned, is_flat, triangle_boxes, boxes, _scratch()
        room = CANDIDATES_ROOM * (last - first) + FEWEST_STENCILS
        while True:
            listed = np.empty((room, 4), np.int32), np.empty(room, np.bool_)
            room = candidate_kernel(first, last, *about, listed)
            if room <= len(listed[0]):
                return [array[:room] for array in listed]

    return each_joined(on_threads(find, cut(len(pairs), SMALLEST_CANDIDATE_PART)))


@folded
def _room(is_edge_pair, x, v, time, a, b, c, d, nx, ny, nz):
    """Room [m] between both sides along a unit direction, after some time of their motion."""
    pa = nx * (x[a, 0] + time * v[a, 0]) + ny * (x[a, 1] + time * v[a, 1]) + nz * (x[a, 2] + time * v[a, 2])
    pb = nx * (x[b, 0] + time * v[b, 0]) + ny * (x[b, 1] + time * v[b, 1]) + nz * (x[b, 2] + time * v[b, 2])
    pc = nx * (x[c, 0] + time * v[c, 0]) + ny * (x[c, 1] + time * v[c, 1]) + nz * (x[c, 2] + time * v[c, 2])
    pd = nx * (x[d, 0] + time * v[d, 0]) + ny * (x[d, 1] + time * v[d, 1]) + nz * (x[d, 2] + time * v[d, 2])
    return min(pa, pb) - max(pc, pd) if is_edge_pair else pa - max(pb, max(pc, pd))


class Sought(NamedTuple):
    """What is looked for among pairs of triangles, and how far ahead."""

    corners: tuple[np.ndarray, np.ndarray]  # (t, 3) of triangles: particles, and vertices of the pattern
    owned: np.ndarray  # (t,) as in `Patches`
    is_flat: np.ndarray  # (n,) as in `Ahead`
    triangle_boxes: SweptBoxes
    boxes: SweptBoxes  # of particles
    place: np.ndarray  # particles of the pattern's vertices, none where these are the particles
    couples: np.ndarray  # as in `Tangles`, like the next
    is_tangled: np.ndarray
    asked: np.ndarray  # (n,) bool: particles, one of which a pair must have
    reach: np.ndarray  # (n,) [m] how far two sides may be apart, all together
    horizon: float  # [s] that is looked ahead


class Since(NamedTuple):
    """What is known of particles since the others were measured: nothing at the start."""

    time: float  # [s]
    deviation: np.ndarray  # (n,) [m] how far they are off their trajectories, or (0,)


@folded
def _measure(stencil, edges, rest, skin, x, v, sought, since, found, kept):
    """Keep a candidate if it can meet within the horizon, with all that is known of it, at place `kept`; returns whether it is.

    Along the shortest connection at the start, the room between the two sides is the least of linear functions of time:
    never less than what lies evenly between that at the start and that at the end of the horizon.
    200 flops and 200 bytes a candidate, twice that inside a garment.

    stencil, rest : four particles, and the corners in the pattern
    # outputs: found
    """
    h, f, x_rest, meets, reach = skin.thickness, skin.friction, skin.x_rest, skin.meets_itself, sought.reach
    a, b, c, d = stencil
    if skin.inv_mass[a] + skin.inv_mass[b] + skin.inv_mass[c] + skin.inv_mass[d] == 0.0:
        return False
    wa, wb, wc, wd = closest_pair(edges, x, a, b, c, d)
    nx, ny, nz = weighted_sum(x, a, b, c, d, wa, wb, wc, wd)
    size = math.sqrt(nx * nx + ny * ny + nz * nz)
    if edges:
        within = max(reach[a], reach[b]) + max(reach[c], reach[d])
        first, second = wa * f[a] + wb * f[b], -wc * f[c] - wd * f[d]
    else:
        within = reach[a] + max(reach[b], max(reach[c], reach[d]))
        first, second = f[a], -wb * f[b] - wc * f[c] - wd * f[d]
    scale = 1.0 / size if size > 0.0 else 0.0
    nx, ny, nz = nx * scale, ny * scale, nz * scale
    room = _room(edges, x, v, 0.0, a, b, c, d, nx, ny, nz)
    later = _room(edges, x, v, sought.horizon, a, b, c, d, nx, ny, nz)
    if not min(room, later) <= within:
        return False
    # The weights of each side have the sum 1 in size, so this is the mean of the two sides' thicknesses.
    apart = 0.5 * (abs(wa) * h[a] + abs(wb) * h[b] + abs(wc) * h[c] + abs(wd) * h[d])
    if skin.garment[a] == skin.garment[c]:
        if not (meets[a] & meets[b] & meets[c] & meets[d]):
            return False
        i, j, k, m = rest
        ua, ub, uc, ud = closest_pair(edges, x_rest, i, j, k, m)
        rx, ry, rz = weighted_sum(x_rest, i, j, k, m, ua, ub, uc, ud)
        apart = min(apart, NEIGHBOUR_GAP * math.sqrt(rx * rx + ry * ry + rz * rz))
        if len(sought.place) > 0:
            apart = min(apart, NEIGHBOUR_GAP * across_seams(skin, edges, i, j, k, m))
    found.stencils[kept, 0], found.stencils[kept, 1] = a, b
    found.stencils[kept, 2], found.stencils[kept, 3] = c, d
    found.is_edge_pair[kept], found.distance[kept] = edges, apart
    found.friction[kept] = math.sqrt(max(first * second, 0.0))
    closing = max(room - later, 0.0) / sought.horizon
    if len(since.deviation) > 0:
        room = room + since.time * closing - farther(since.deviation, edges, a, b, c, d)
    found.gap[kept], found.closing[kept] = room, closing
    found.normal[kept, 0], found.normal[kept, 1], found.normal[kept, 2] = nx, ny, nz
    found.through[kept], found.pulled[kept] = False, False
    return True


@inner
def _placed(rest, place):
    """The particles of four vertices of the pattern, which may be these; place : as in `Sought`"""
    if len(place) == 0:
        return rest
    a, b, c, d = rest
    return np.uintp(place[a]), np.uintp(place[b]), np.uintp(place[c]), np.uintp(place[d])


class Room(NamedTuple):
    """What a thread writes down of two triangles, as of `_list_candidates`; of each with a row to spare, so that no two threads write
    into the same line of their caches.
    """

    both: np.ndarray  # (m, 3, SWEPT_BOX)
    edges: np.ndarray  # (m, 5, SWEPT_BOX)
    stencils: np.ndarray  # (m, MOST_OF_TWO + 4, 4) int32
    is_edge_pair: np.ndarray  # (m, MOST_OF_TWO + 64) bool


@folded
def _pair_range(start, end, pairs, sought, skin, ways, scratch, listed, found, low, high):
    """Candidates of the pairs start..end of triangles, without what is let through each other, that can meet: those that can move
    from place `low` of `found` on, those that have something that does not from before `high` backwards. Returns how many of
    each there are, and which pair of triangles there was no room for, or `end`.
    ways : x, v and since, as of `pair_up` # outputs: found; scratch and listed as of `_list_candidates`
    """
    (stencils, is_edge_pair), (x, v, since), front, back = listed, ways, low, high
    for pair in range(start, end):
        if back - front < MOST_OF_TWO:
            return front - low, high - back, pair
        about = sought.corners, sought.owned, sought.is_flat, sought.triangle_boxes, sought.boxes
        count = _list_candidates(pairs[pair, 0], pairs[pair, 1], *about, scratch, listed, 0)
        for k in range(count):
            rest = corners_of(stencils, k)
            stencil = a, b, c, d = _placed(rest, sought.place)
            asked, edges = sought.asked, is_edge_pair[k]
            if not (asked[a] | asked[b] | asked[c] | asked[d]):
                continue
            if len(sought.couples) > 0 and are_let_through(edges, stencil, sought.couples, sought.is_tangled):
                continue
            mass = skin.inv_mass
            moves = (mass[a] > 0.0) & (mass[b] > 0.0) & (mass[c] > 0.0) & (mass[d] > 0.0)
            place = front if moves else back - 1
            if _measure(stencil, edges, rest, skin, x, v, sought, since, found, place):
                front, back = front + moves, back - (not moves)
    return front - low, high - back, end


@inner
def _pair_ranges(number, first, last, ranges, pairs, sought, skin, ways, room, found, counts):
    """`_pair_range` of the ranges first..last, each with as much room in `found`. # outputs: found, counts (r, 3); room"""
    size = len(found.gap) // len(ranges)
    scratch, listed = (room.both[number], room.edges[number]), (room.stencils[number], room.is_edge_pair[number])
    about = pairs, sought, skin, ways, scratch, listed, found
    for k in range(first, last):
        counted = _pair_range(ranges[k, 0], ranges[k, 1], *about, size * k, size * (k + 1))
        counts[k, 0], counts[k, 1], counts[k, 2] = counted


@njit
def pair_kernel(board, ranges, pairs, sought, skin, ways, room, found, counts):
    """`_pair_ranges` of all ranges (r, 2) of pairs of triangles."""
    about = ranges, pairs, sought, skin, ways, room, found, counts
    share_numbered(board, _pair_ranges, len(ranges), SMALLEST_RANGES_PART, about)


def pair_up(pairs: np.ndarray, sought: Sought, skin: Skin, x, v, since: Since) -> PairList:
    """What of the pairs of triangles (p, 2) can meet, with particles that go on from x (n, 3) [m] with v [m/s]; at its end what
    has something that does not move.

    In ranges of so many pairs, and batches of so many ranges: then only a megabyte of room is empty.
    """
    begin = np.arange(0, len(pairs), PAIRS_RANGE)
    ranges = np.stack([begin, np.minimum(begin + PAIRS_RANGE, len(pairs))], axis=1)
    stencils = np.empty((MOST_PARTS, MOST_OF_TWO + 4, 4), np.int32), np.empty((MOST_PARTS, MOST_OF_TWO + 64), np.bool_)
    room = Room(np.empty((MOST_PARTS, 3, SWEPT_BOX)), np.empty((MOST_PARTS, 5, SWEPT_BOX)), *stencils)
    about = pairs, sought, skin, (x, v, since), room
    starts = range(0, len(ranges), BATCH_RANGES)
    return joined([_pair_up_ranges(ranges[first : first + BATCH_RANGES], *about) for first in starts])


def _pair_up_ranges(ranges: np.ndarray, *about) -> tuple[PairList, int]:
    """`pair_up` of some ranges (r, 2), and how many pairs can move. What there was no room for is a range of the next round.

    about : arguments of `pair_kernel`
    """
    rounds = []
    while len(ranges):
        longest = int((ranges[:, 1] - ranges[:, 0]).max())
        found = empty_pairs(len(ranges) * (int(STENCILS_ROOM * longest) + FEWEST_STENCILS))
        counts = np.empty((len(ranges), 3), np.int64)
        pair_kernel(BOARD, ranges, *about, found, counts)
        rounds.append((ranges[:, 0], found, counts))
        left = counts[:, 2] < ranges[:, 1]
        ranges = np.stack([counts[left, 2], ranges[left, 1]], axis=1)
    return gathered(rounds)
