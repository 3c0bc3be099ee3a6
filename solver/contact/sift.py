# SPDX-License-Identifier: GPL-3.0-or-later
"""Which triangles of cloth and bodies may meet on their straight ways of a substep: the loops of `body_guard`.

Arguments shared by all: `triangles` (t, 3) int32 of cloth and bodies; `start`, `end` (m, 3) [m] where all vertices are
at both ends of the substep.
"""

import math
from typing import NamedTuple

import numpy as np

from ..jit import inner, njit
from .body_sweep import corners, side_of
from .impact import closest_pair, mix

LAST = 4.0  # substeps for which it is found out how far patches are apart, if they go on as they do
APART, MEETING, ACROSS = 0, 1, 2  # of two triangles: they cannot meet, they may, they cross at the start


class Found(NamedTuple):
    """Pairs of triangles that may meet."""

    pairs: np.ndarray  # (c, 2) int32
    state: np.ndarray  # (c,) int8 MEETING or ACROSS
    within: np.ndarray  # (c,) int32 number of the pair of patches, in order


@inner
def _normal(x, triangles, t):
    """Unit normal of a triangle; zeros if it has no area."""
    a, b, c = corners(triangles, t)
    ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    wx, wy, wz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
    size = math.sqrt(nx * nx + ny * ny + nz * nz)
    return (nx / size, ny / size, nz / size) if size > 0.0 else (0.0, 0.0, 0.0)


@inner
def _extent(x, triangles, t, nx, ny, nz):
    """Least and greatest coordinate of a triangle along a direction."""
    a, b, c = corners(triangles, t)
    p = x[a, 0] * nx + x[a, 1] * ny + x[a, 2] * nz
    q = x[b, 0] * nx + x[b, 1] * ny + x[b, 2] * nz
    r = x[c, 0] * nx + x[c, 1] * ny + x[c, 2] * nz
    return min(p, q, r), max(p, q, r)


@inner
def _room(low, high, low_end, high_end, start, end, triangles, s, nx, ny, nz):
    """Room [m] along a unit direction between triangle s and another, which extends from low to high at the start: at
    the start, and in the whole substep. Both move evenly, so that the room is the least of linear functions of time and
    nowhere less than at both ends."""
    least, most = _extent(start, triangles, s, nx, ny, nz)
    above, below = low - most, least - high
    first = max(above, below)
    if first <= 0.0:
        return first, first
    least, most = _extent(end, triangles, s, nx, ny, nz)
    return first, max(min(above, low_end - most), min(below, least - high_end))


@inner
def _connection(x, triangles, t, s):
    """Unit direction of the shortest connection of two triangles; zeros where they touch."""
    best, bx, by, bz = math.inf, 0.0, 0.0, 0.0
    one, other = corners(triangles, t), corners(triangles, s)
    for number in range(15):
        if number < 9:
            k, m = number // 3, number % 3
            a, b, c, d = one[k], one[(k + 1) % 3], other[m], other[(m + 1) % 3]
        elif number < 12:
            a, b, c, d = one[number - 9], other[0], other[1], other[2]
        else:
            a, b, c, d = other[number - 12], one[0], one[1], one[2]
        wa, wb, wc, wd = closest_pair(number < 9, x, a, b, c, d)
        nx = mix(x, 0, a, b, c, d, wa, wb, wc, wd)
        ny = mix(x, 1, a, b, c, d, wa, wb, wc, wd)
        nz = mix(x, 2, a, b, c, d, wa, wb, wc, wd)
        square = nx * nx + ny * ny + nz * nz
        if square < best:
            best, bx, by, bz = square, nx, ny, nz
    size = math.sqrt(best)
    return (bx / size, by / size, bz / size) if size > 0.0 else (0.0, 0.0, 0.0)


@inner
def _tell(own, start, end, triangles, t, s, distance, margin):
    """Room [m] between triangles t and s at the start, and in the whole substep: along the normal of t if that has a
    `margin` all the time, or the better of both normals; their shortest connection is asked where that is no more than
    a distance. `own` (7,) is the normal of t and t's extents along it, at the start and the end. 150 bytes of positions
    and 50 to 100 flops where a normal will do, as nearly always; 1500 otherwise."""
    first, always = _room(own[3], own[4], own[5], own[6], start, end, triangles, s, own[0], own[1], own[2])
    turn = 1
    while turn < 3 and not always > (margin if turn == 1 else distance):
        nx, ny, nz = _normal(start, triangles, s) if turn == 1 else _connection(start, triangles, t, s)
        low, high = _extent(start, triangles, t, nx, ny, nz)
        low_end, high_end = _extent(end, triangles, t, nx, ny, nz)
        before, room = _room(low, high, low_end, high_end, start, end, triangles, s, nx, ny, nz)
        first, always = max(first, before), max(always, room)
        turn += 1
    return first, always


@inner
def _know(start, end, triangles, t, own):
    """Fill what `_tell` wants to know of triangle t."""
    own[0], own[1], own[2] = _normal(start, triangles, t)
    own[3], own[4] = _extent(start, triangles, t, own[0], own[1], own[2])
    own[5], own[6] = _extent(end, triangles, t, own[0], own[1], own[2])


@njit
def sift_kernel(pairs, triangles, start, end, distance, own, state):
    """Which pairs of triangles (p, 2) may come closer than a distance in the substep.
    # outputs: state (p,): APART, MEETING, or ACROSS; own (7,) scratch
    """
    for pair in range(len(pairs)):
        t, s = pairs[pair, 0], pairs[pair, 1]
        _know(start, end, triangles, t, own)
        first, always = _tell(own, start, end, triangles, t, s, distance, distance)
        state[pair] = APART if always > distance else MEETING if first > 0.0 else ACROSS


@inner
def _goes(ways, p, q):
    """How far [m] a vertex of patch p and one of q can go against each other."""
    square = 0.0
    for axis in range(3):
        far = max(ways[p, axis + 3] - ways[q, axis], ways[q, axis + 3] - ways[p, axis])
        square += far * far
    return math.sqrt(square)


@inner
def _spans(start, end, free, members, patch, nx, ny, nz):
    """Least and greatest coordinates of a patch along a direction, at the start and at the end."""
    low = low_end = math.inf
    high = high_end = -math.inf
    for slot in range(members.start[patch], members.start[patch + 1]):
        k = np.uintp(members.vertices[slot])
        if not free[k]:
            here = start[k, 0] * nx + start[k, 1] * ny + start[k, 2] * nz
            there = end[k, 0] * nx + end[k, 1] * ny + end[k, 2] * nz
            low, high, low_end, high_end = min(low, here), max(high, here), min(low_end, there), max(high_end, there)
    return low, high, low_end, high_end


@inner
def _facing(start, triangles, patches, patch):
    """Mean normal of a patch."""
    sx = sy = sz = 0.0
    for slot in range(patches.start[patch], patches.start[patch + 1]):
        nx, ny, nz = _normal(start, triangles, patches.triangles[slot])
        sx, sy, sz = sx + nx, sy + ny, sz + nz
    size = math.sqrt(sx * sx + sy * sy + sz * sz)
    return (sx / size, sy / size, sz / size) if size > 0.0 else (0.0, 0.0, 0.0)


@inner
def _between(p, q, margin, patches, members, triangles, start, end, free, facing):
    """Room [m] between patches p and q at the start and in the whole substep, along one of their normals. `facing`
    (p, 3): these, where they are known, else NaN."""
    first = always = 0.0
    for turn in range(2):
        patch = p if turn == 0 else q
        if math.isnan(facing[patch, 0]):
            facing[patch, 0], facing[patch, 1], facing[patch, 2] = _facing(start, triangles, patches, patch)
        nx, ny, nz = facing[patch, 0], facing[patch, 1], facing[patch, 2]
        low, high, low_end, high_end = _spans(start, end, free, members, p, nx, ny, nz)
        least, most, least_end, most_end = _spans(start, end, free, members, q, nx, ny, nz)
        first = max(first, low - most, least - high)
        always = max(always, min(low - most, low_end - most_end), min(least - high, least_end - high_end))
        if always > margin:
            break
    return first, always


@inner
def _look(p, q, count, patches, triangles, start, end, free, distance, margin, own, near, found):
    """Room [m] between patches p and q at the start and in the whole substep, at most `margin`; what may come closer
    than a distance goes into `found` from `count` on, the new one of which comes back."""
    least = least_always = margin
    first = patches.start[q]
    others = patches.start[q + 1] - first
    for k in range(others):
        for axis in range(3):
            low, high = side_of(start, end, triangles, patches.triangles[first + k], axis)
            near[k, axis], near[k, axis + 3] = low - margin, high + margin
    for slot in range(patches.start[p], patches.start[p + 1]):
        t = patches.triangles[slot]
        if free[triangles[t, 0]] | free[triangles[t, 1]] | free[triangles[t, 2]]:
            continue
        low0, high0 = side_of(start, end, triangles, t, 0)
        low1, high1 = side_of(start, end, triangles, t, 1)
        low2, high2 = side_of(start, end, triangles, t, 2)
        known = False
        for k in range(others):
            here = (low0 <= near[k, 3]) & (low1 <= near[k, 4]) & (low2 <= near[k, 5])
            if not (here & (near[k, 0] <= high0) & (near[k, 1] <= high1) & (near[k, 2] <= high2)):
                continue
            if not known:
                _know(start, end, triangles, t, own)
                known = True
            s = patches.triangles[first + k]
            before, always = _tell(own, start, end, triangles, t, s, distance, margin)
            least, least_always = min(least, before), min(least_always, always)
            if not always > distance:
                if count < len(found.state):
                    found.pairs[count, 0], found.pairs[count, 1] = t, s
                    found.state[count] = MEETING if before > 0.0 else ACROSS
                count += 1
    return least, least_always, count


@inner
def _again(pair, slot, before, count, found):
    """Copy what was found before, from `slot` on, in a pair of patches; returns the slot after it, and the new count."""
    while slot < len(before.within) and before.within[slot] <= pair:
        if before.within[slot] == pair:
            if count < len(found.state):
                found.pairs[count, 0], found.pairs[count, 1] = before.pairs[slot, 0], before.pairs[slot, 1]
                found.state[count], found.within[count] = before.state[slot], pair
            count += 1
        slot += 1
    return slot, count


@njit
def look_kernel(
    begin, stop, patch_pairs, patches, members, triangles, start, end, free, boxes, ways, loose, fresh, distance, most,
    near, own, facing, apart, before, found,
):  # fmt: skip
    """Pairs of triangles of the patches begin..stop that may come closer than a distance in the substep; returns how many
    there are, also beyond the room in `found`.

    Of patches in which nothing is new in this substep stays what was found `before`. Patches that are farther apart than
    they can go are not looked at: 100 bytes a pair of them. For the others is found out how far apart they are, up to a
    few times what they go now: by their boxes, along a normal of theirs (1 kB and 300 flops), or triangle by triangle.
    # outputs: found (c,); apart (2, k) [m] how far apart patches are at least, at the start of the substep (known
    # before) and at its end; near (PATCH, 6), own (7,) scratch, facing (p, 3) scratch, all NaN
    """
    count, slot = 0, 0
    for pair in range(begin, stop):
        p, q = patch_pairs[pair, 0], patch_pairs[pair, 1]
        if not (fresh[p] | fresh[q]):
            slot, count = _again(pair, slot, before, count, found)
            continue
        far = _goes(ways, p, q)
        if not loose[p] and apart[0, pair] - far > distance:
            apart[1, pair] = apart[0, pair] - far
            continue
        margin, first = min(LAST * far, most) + distance, distance
        for axis in range(3):
            gap = max(boxes[p, axis] - boxes[q, axis + 3], boxes[q, axis] - boxes[p, axis + 3])
            first = max(first, gap + distance)
        always, last = first, count
        if not always > margin:
            first, always = _between(p, q, distance, patches, members, triangles, start, end, free, facing)
        if not always > distance:
            about = patches, triangles, start, end, free, distance, margin, own, near, found
            first, always, count = _look(p, q, count, *about)
        for k in range(last, min(count, len(found.within))):
            found.within[k] = pair
        apart[0, pair], apart[1, pair] = (0.0, 0.0) if loose[p] else (first, always)
    return count
