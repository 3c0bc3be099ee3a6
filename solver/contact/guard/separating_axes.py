# SPDX-License-Identifier: GPL-3.0-or-later
"""Which triangles of cloth and bodies may meet on their trajectories through a substep, by directions along which they are
apart all the time: the loops of `body_pairs`.

Arguments shared by all: `triangles` (t, 3) int32 of cloth and bodies.
"""

import math
from typing import NamedTuple

import numpy as np

from ...broad_phase.patches import PATCH_SIZE
from ...geometry.ccd import closest_pair, weighted_sum
from ...kernel.jit import folded, inner, njit
from .trajectories import corners, has_free, side_of

KNOWN_SUBSTEPS = 4.0  # for which it is found out how far patches are apart, if they go on as they do
CLEAR, MEETING, CROSSING = 0, 1, 2  # of two triangles: they cannot meet, they may, they cross at the start
SIDE_PAIRS, CONNECTIONS = 9, 15  # of two triangles: sides with sides, and then corners with the other triangle


class TrianglePairs(NamedTuple):
    """Pairs of triangles that may meet."""

    rows: np.ndarray  # (c, 2) int32 cloth first
    state: np.ndarray  # (c,) int8 MEETING or CROSSING
    within: np.ndarray  # (c,) int32 number of the pair of patches, in order


def no_triangle_pairs(count: int = 0) -> TrianglePairs:
    """Room for so many pairs."""
    return TrianglePairs(np.empty((count, 2), np.int32), np.empty(count, np.int8), np.empty(count, np.int32))


class Extent(NamedTuple):
    """Where something lies along a unit direction."""

    nx: float
    ny: float
    nz: float
    low: float  # [m] at the start of the substep
    high: float
    low_end: float  # [m] at its end
    high_end: float


class Scratch(NamedTuple):
    """Room for what a look at patches wants to know of them."""

    triangles: np.ndarray  # (PATCH_SIZE,) of a patch
    boxes: np.ndarray  # (PATCH_SIZE, 6) [m] of these
    normals: np.ndarray  # (p, 3) mean ones of patches; the first number NaN where not known yet


def no_scratch(patch_count: int) -> Scratch:
    """Room for so many patches."""
    return Scratch(np.empty(PATCH_SIZE, np.int32), np.empty((PATCH_SIZE, 6)), np.empty((patch_count, 3)))


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
def _interval(x, triangles, t, nx, ny, nz):
    """Least and greatest coordinate of a triangle along a direction."""
    a, b, c = corners(triangles, t)
    p = x[a, 0] * nx + x[a, 1] * ny + x[a, 2] * nz
    q = x[b, 0] * nx + x[b, 1] * ny + x[b, 2] * nz
    r = x[c, 0] * nx + x[c, 1] * ny + x[c, 2] * nz
    return min(p, q, r), max(p, q, r)


@inner
def _extent(trajectories, triangles, t, nx, ny, nz):
    """Extent of a triangle along a direction."""
    low, high = _interval(trajectories.start, triangles, t, nx, ny, nz)
    low_end, high_end = _interval(trajectories.end, triangles, t, nx, ny, nz)
    return Extent(nx, ny, nz, low, high, low_end, high_end)


@inner
def _room_along(extent, trajectories, triangles, s):
    """Room [m] between triangle s and another, along the direction of the other's extent: at the start, and in the whole
    substep. Both move evenly, so that the room is the least of linear functions of time and nowhere less than at both
    ends."""
    least, most = _interval(trajectories.start, triangles, s, extent.nx, extent.ny, extent.nz)
    above, below = extent.low - most, least - extent.high
    first = max(above, below)
    if first <= 0.0:
        return first, first
    least, most = _interval(trajectories.end, triangles, s, extent.nx, extent.ny, extent.nz)
    return first, max(min(above, extent.low_end - most), min(below, least - extent.high_end))


@inner
def _connection(x, triangles, t, s):
    """Unit direction of the shortest connection of two triangles; zeros where they touch."""
    best, bx, by, bz = math.inf, 0.0, 0.0, 0.0
    one, other = corners(triangles, t), corners(triangles, s)
    for number in range(CONNECTIONS):
        if number < SIDE_PAIRS:
            k, m = number // 3, number % 3
            a, b, c, d = one[k], one[(k + 1) % 3], other[m], other[(m + 1) % 3]
        elif number < SIDE_PAIRS + 3:
            a, b, c, d = one[number - SIDE_PAIRS], other[0], other[1], other[2]
        else:
            a, b, c, d = other[number - SIDE_PAIRS - 3], one[0], one[1], one[2]
        wa, wb, wc, wd = closest_pair(number < SIDE_PAIRS, x, a, b, c, d)
        nx, ny, nz = weighted_sum(x, a, b, c, d, wa, wb, wc, wd)
        square = nx * nx + ny * ny + nz * nz
        if square < best:
            best, bx, by, bz = square, nx, ny, nz
    size = math.sqrt(best)
    return (bx / size, by / size, bz / size) if size > 0.0 else (0.0, 0.0, 0.0)


@folded
def _separate(own, trajectories, triangles, t, s, distance, margin):
    """Room [m] between triangles t and s at the start, and in the whole substep: along the normal of t, where it has its
    `own` extent, if that has a `margin` all the time, or the better of both normals; their shortest connection is asked
    where that is no more than a distance. 150 bytes of positions and 50 to 100 flops where a normal will do, as nearly
    always; 1500 otherwise."""
    first, always = _room_along(own, trajectories, triangles, s)
    turn = 1
    while turn < 3 and not always > (margin if turn == 1 else distance):
        start = trajectories.start
        nx, ny, nz = _normal(start, triangles, s) if turn == 1 else _connection(start, triangles, t, s)
        before, room = _room_along(_extent(trajectories, triangles, t, nx, ny, nz), trajectories, triangles, s)
        first, always = max(first, before), max(always, room)
        turn += 1
    return first, always


@folded
def _extent_along_normal(trajectories, triangles, t):
    """Extent of a triangle along its own normal: next to none at the start."""
    nx, ny, nz = _normal(trajectories.start, triangles, t)
    return _extent(trajectories, triangles, t, nx, ny, nz)


@njit
def triangles_kernel(pairs, triangles, trajectories, distance, state):
    """Which pairs of triangles (p, 2) may come closer than a distance in the substep.
    # outputs: state (p,): CLEAR, MEETING, or CROSSING
    """
    for pair in range(len(pairs)):
        t, s = pairs[pair, 0], pairs[pair, 1]
        own = _extent_along_normal(trajectories, triangles, t)
        first, always = _separate(own, trajectories, triangles, t, s, distance, distance)
        state[pair] = CLEAR if always > distance else MEETING if first > 0.0 else CROSSING


@inner
def _closing(displacements, p, q):
    """How far [m] a vertex of patch p and one of q can go against each other."""
    square = 0.0
    for axis in range(3):
        far = max(
            displacements[p, axis + 3] - displacements[q, axis], displacements[q, axis + 3] - displacements[p, axis]
        )
        square += far * far
    return math.sqrt(square)


@inner
def _patch_extent(trajectories, members, patch, nx, ny, nz):
    """Extent of a patch along a direction."""
    start, end, free = trajectories.start, trajectories.end, trajectories.free
    low = low_end = math.inf
    high = high_end = -math.inf
    for slot in range(members.start[patch], members.start[patch + 1]):
        k = np.uintp(members.vertices[slot])
        if not free[k]:
            here = start[k, 0] * nx + start[k, 1] * ny + start[k, 2] * nz
            there = end[k, 0] * nx + end[k, 1] * ny + end[k, 2] * nz
            low, high, low_end, high_end = min(low, here), max(high, here), min(low_end, there), max(high_end, there)
    return Extent(nx, ny, nz, low, high, low_end, high_end)


@inner
def _mean_normal(start, triangles, patches, patch):
    """Mean normal of a patch."""
    sx = sy = sz = 0.0
    for slot in range(patches.start[patch], patches.start[patch + 1]):
        nx, ny, nz = _normal(start, triangles, patches.triangles[slot])
        sx, sy, sz = sx + nx, sy + ny, sz + nz
    size = math.sqrt(sx * sx + sy * sy + sz * sz)
    return (sx / size, sy / size, sz / size) if size > 0.0 else (0.0, 0.0, 0.0)


@folded
def _separate_patches(p, q, margin, mesh, trajectories, normals):
    """Room [m] between patches p and q at the start and in the whole substep, along one of their mean `normals` (p, 3),
    which are found out where they are NaN."""
    first = always = 0.0
    for turn in range(2):
        patch = p if turn == 0 else q
        if math.isnan(normals[patch, 0]):
            nx, ny, nz = _mean_normal(trajectories.start, mesh.triangles, mesh.patches, patch)
            normals[patch, 0], normals[patch, 1], normals[patch, 2] = nx, ny, nz
        nx, ny, nz = normals[patch, 0], normals[patch, 1], normals[patch, 2]
        one = _patch_extent(trajectories, mesh.members, p, nx, ny, nz)
        other = _patch_extent(trajectories, mesh.members, q, nx, ny, nz)
        above, below = one.low - other.high, other.low - one.high
        first = max(first, above, below)
        always = max(always, min(above, one.low_end - other.high_end), min(below, other.low_end - one.high_end))
        if always > margin:
            break
    return first, always


@inner
def _meets_box(low, high, boxes, box):
    """Whether the box from `low` to `high`, three floats each, touches a box of these (k, 6)."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    here = (x0 <= boxes[box, 3]) & (y0 <= boxes[box, 4]) & (z0 <= boxes[box, 5])
    return here & (boxes[box, 0] <= x1) & (boxes[box, 1] <= y1) & (boxes[box, 2] <= z1)


@inner
def _box_of(trajectories, triangles, t, grown):
    """Lowest and highest corner of a triangle's box on its trajectory, `grown` [m] on every side."""
    x0, x1 = side_of(trajectories, triangles, t, 0)
    y0, y1 = side_of(trajectories, triangles, t, 1)
    z0, z1 = side_of(trajectories, triangles, t, 2)
    return (x0 - grown, y0 - grown, z0 - grown), (x1 + grown, y1 + grown, z1 + grown)


@folded
def _near_in(p, q, mesh, trajectories, margin, patch_boxes, near):
    """List the triangles of patch q that come as close as a margin to the box of patch p; returns how many.
    # outputs: of `near` triangles and boxes, grown by the margin
    """
    patches, count = mesh.patches, 0
    for slot in range(patches.start[q], patches.start[q + 1]):
        s = patches.triangles[slot]
        low, high = _box_of(trajectories, mesh.triangles, s, margin)
        if _meets_box(low, high, patch_boxes, p):
            near.triangles[count], count = s, count + 1
            for axis in range(3):
                near.boxes[count - 1, axis], near.boxes[count - 1, axis + 3] = low[axis], high[axis]
    return count


@folded
def _separate_triangles(p, q, count, mesh, trajectories, distance, margin, patch_boxes, near, found):
    """Room [m] between patches p and q at the start and in the whole substep, at most `margin`, triangle by triangle;
    what may come closer than a distance goes into `found` from `count` on, the new one of which comes back. `near`, as of
    `no_scratch`, is scratch."""
    triangles, patches = mesh.triangles, mesh.patches
    least = least_always = margin
    others = _near_in(p, q, mesh, trajectories, margin, patch_boxes, near)
    for slot in range(patches.start[p], patches.start[p + 1] if others > 0 else patches.start[p]):
        t = patches.triangles[slot]
        if has_free(trajectories, triangles, t):
            continue
        low, high = _box_of(trajectories, triangles, t, 0.0)
        known, own = False, Extent(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for k in range(others):
            if not _meets_box(low, high, near.boxes, k):
                continue
            if not known:
                known, own = True, _extent_along_normal(trajectories, triangles, t)
            s = near.triangles[k]
            before, always = _separate(own, trajectories, triangles, t, s, distance, margin)
            least, least_always = min(least, before), min(least_always, always)
            if not always > distance:
                if count < len(found.state):
                    found.rows[count, 0], found.rows[count, 1] = t, s
                    found.state[count] = MEETING if before > 0.0 else CROSSING
                count += 1
    return least, least_always, count


@inner
def _keep(pair, slot, before, count, found):
    """Copy what was found before, from `slot` on, in a pair of patches; returns the slot after it, and the new count."""
    while slot < len(before.within) and before.within[slot] <= pair:
        if before.within[slot] == pair:
            if count < len(found.state):
                found.rows[count, 0], found.rows[count, 1] = before.rows[slot, 0], before.rows[slot, 1]
                found.state[count], found.within[count] = before.state[slot], pair
            count += 1
        slot += 1
    return slot, count


@njit
def patches_kernel(begin, stop, patch_pairs, mesh, trajectories, bounds, distance, scratch, before, found):
    """Pairs of triangles of the patch pairs begin..stop that may come closer than a distance in the substep; returns how
    many there are, also beyond the room in `found`.

    Of patches in which nothing is new in this substep stays what was found `before`. Patches that are farther apart than
    they can go are not looked at: 100 bytes a pair of them. For the others is found out how far apart they are, up to a
    few times what they go now: by their boxes, along a normal of theirs (1 kB and 300 flops), or triangle by triangle.
    # outputs: found; patch_pairs.apart, apart_end; scratch
    """
    boxes, loose, fresh = bounds.boxes, bounds.loose, bounds.fresh
    apart, apart_end = patch_pairs.apart, patch_pairs.apart_end
    scratch.normals[:, 0] = math.nan
    count, slot = 0, 0
    for pair in range(begin, stop):
        p, q = patch_pairs.rows[pair, 0], patch_pairs.rows[pair, 1]
        if not (fresh[p] | fresh[q]):
            slot, count = _keep(pair, slot, before, count, found)
            continue
        far = _closing(bounds.displacements, p, q)
        if not loose[p] and apart[pair] - far > distance:
            apart_end[pair] = apart[pair] - far
            continue
        margin, first = min(KNOWN_SUBSTEPS * far, patch_pairs.spare) + distance, distance
        for axis in range(3):
            gap = max(boxes[p, axis] - boxes[q, axis + 3], boxes[q, axis] - boxes[p, axis + 3])
            first = max(first, gap + distance)
        always, last = first, count
        if not always > margin:
            first, always = _separate_patches(p, q, distance, mesh, trajectories, scratch.normals)
        if not always > distance:
            about = mesh, trajectories, distance, margin, boxes, scratch, found
            first, always, count = _separate_triangles(p, q, count, *about)
        for k in range(last, min(count, len(found.within))):
            found.within[k] = pair
        apart[pair], apart_end[pair] = (0.0, 0.0) if loose[p] else (first, always)
    return count
