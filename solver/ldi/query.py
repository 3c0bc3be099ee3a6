# SPDX-License-Identifier: GPL-3.0-or-later
"""Which triangles can a point meet? Association through the conservative layered depth image (Bargmann 2003, 4.1).

The image is drawn at the middle of an interval of time, in a frame of reference that moves with the cloth on the
whole (`bulk`), and each triangle's footprint is grown by its own motion in that frame. So the footprint of a triangle
covers its whole path, and one image answers for every moment of the interval.

A point asks with the path that it expects to take and a `skin` round that path. It is given the triangles that can
come nearer than the aura while the point stays within the skin, each with a `key`: a lower bound of the distance
between the two as long as the point keeps to its path; a point that strays by s subtracts s, and asks again when it has strayed
too far.
"""

import math
from typing import NamedTuple

import numpy as np

from ..contact.moving_triangle import closest
from ..jit import counted_njit, folded, inner
from .cells import BODY, DRAWN, NEAR, cell_of, clipped

CAPACITY = 24  # candidates a point remembers; fewer are sure if more are near, and it asks again sooner
NEVER = -1
CALM = 9  # column of Candidates.memory
HERE, THERE, AHEAD, SCRATCH = 0, 3, 6, 12  # where a point is, was at the substep's start, will be; numbers in all


class Image(NamedTuple):
    """What `associate` wants of a layered depth image of moving triangles, as plain arrays."""

    first_pixel: np.ndarray  # (4,)
    pixel_start: np.ndarray  # (p + 1,)
    depth: np.ndarray  # (h,)
    drawn: np.ndarray  # (h,) place in `near`
    near: np.ndarray  # (k,) numbers of the triangles that are drawn
    ball: np.ndarray  # (k, 10) their spheres, as in ways.find_near
    frame: np.ndarray  # (8, 3): bulk, low [m], shape, domain low, high, (pixel, largest aura, growth),
    # (way out, closed bodies, size of a cell), shape of the cells
    flags: np.ndarray  # (c,) of `cells.Cells` over the domain


class Candidates(NamedTuple):
    """What each point remembers of its last question."""

    triangles: np.ndarray  # (p, CAPACITY)
    key: np.ndarray  # (p, CAPACITY, 2): bound of the distance [m] when asked, and what it loses per unit of tau
    count: np.ndarray  # (p,) NEVER: has to ask
    memory: np.ndarray  # (p, 11): position when asked, way per unit of tau, tau when asked, tau it holds until, skin;
    # from CALM on the least distance of all keys and their largest rate


def make_candidates(count: int) -> Candidates:
    """Memory for `count` points, none of which has asked yet."""
    return Candidates(
        np.empty((count, CAPACITY), np.int32),
        np.empty((count, CAPACITY, 2)),
        np.full(count, NEVER, np.int32),
        np.zeros((count, 11)),
    )


@inner
def _approach(ball, e, swing, x, y, z, wx, wy, wz, reach, span):
    """(least distance of the sphere of drawn triangle e from a point, rate [m per unit of tau] at which they can close
    in); the distance is inf if they clearly stay farther apart than `reach` for `span`.

    (x, y, z) and the way (wx, wy, wz) per unit of tau are those of the point in the frame of reference.
    """
    gx, gy, gz = (
        ball[e, 0] + swing * ball[e, 3] - x,
        ball[e, 1] + swing * ball[e, 4] - y,
        ball[e, 2] + swing * ball[e, 5] - z,
    )
    cx, cy, cz = 2.0 * ball[e, 3] - wx, 2.0 * ball[e, 4] - wy, 2.0 * ball[e, 5] - wz
    away, rate = gx * gx + gy * gy + gz * gz, cx * cx + cy * cy + cz * cz
    size, more = ball[e, 6] + abs(swing) * ball[e, 7] + ball[e, 8], 2.0 * ball[e, 7] + ball[e, 9]
    room = reach + size + span * more
    if away > 2.0 * (room * room + span * span * rate):  # (a + b)^2 <= 2 a^2 + 2 b^2
        return math.inf, 0.0
    return math.sqrt(away) - size, math.sqrt(rate) + more


@inner
def _farthest(key, p, count, span):
    """The candidate of point p that stays farthest until the horizon, and how far that is."""
    at, bound = 0, -math.inf
    for c in range(count):
        away = key[p, c, 0] - span * key[p, c, 1]
        if away > bound:
            at, bound = c, away
    return at, bound


@inner
def _order(known, key, p, count):
    """Sort the candidates of point p by their numbers: what a point does may not depend on the image's pixels."""
    for c in range(1, count):
        t, distance, rate, at = known[p, c], key[p, c, 0], key[p, c, 1], c
        while at > 0 and known[p, at - 1] > t:
            known[p, at], key[p, at, 0], key[p, at, 1] = known[p, at - 1], key[p, at - 1, 0], key[p, at - 1, 1]
            at -= 1
        known[p, at], key[p, at, 0], key[p, at, 1] = t, distance, rate


@inner
def _set_out(frame, memory, at, p, tau, x, y, z, rx, ry, rz, horizon, skin):
    """Note what point p asks; the skin shrinks to the room that is left in the domain.

    Leaves in `at`, from AHEAD on, the middle of the way ahead in the frame of reference, and half that way.
    """
    memory[p, 0], memory[p, 1], memory[p, 2] = x, y, z
    memory[p, 3], memory[p, 4], memory[p, 5] = rx, ry, rz
    span = horizon - tau
    for axis in range(3):
        half = 0.5 * span * (memory[p, axis + 3] - frame[0, axis])
        centre = memory[p, axis] - frame[0, axis] * (tau - 0.5) + half
        room = min(centre - frame[3, axis], frame[4, axis] - centre) - abs(half)
        skin = min(skin, room - frame[5, 1])
        at[AHEAD + axis], at[AHEAD + 3 + axis] = centre, abs(half)
    memory[p, 6], memory[p, 7], memory[p, 8] = tau, horizon, skin


@folded
def is_far(image, at, before, tau):
    """Is a point that goes from THERE to HERE in cells where it meets nothing on that way?

    Where it is within half a cell of the way's ends along each axis, all of the way is in their cells' neighbours.
    """
    frame, flags = image[6], image[7]
    for axis in range(3):
        if not abs(at[HERE + axis] - at[THERE + axis] - (tau - before) * frame[0, axis]) <= frame[6, 2]:
            return False
    for moment, time in ((HERE, tau - 0.5), (THERE, before - 0.5)):
        x, y = at[moment] - time * frame[0, 0], at[moment + 1] - time * frame[0, 1]
        cell = cell_of(frame[3], frame[6, 2], frame[7], x, y, at[moment + 2] - time * frame[0, 2])
        if cell < 0 or flags[cell] & NEAR:
            return False
    return True


@inner
def _is_drawn(frame, flags, at, radius):
    """Are all triangles drawn that the way ahead can meet within the radius?"""
    shape = frame[7]
    i0, i1 = _span(frame, at, 0, radius)
    j0, j1 = _span(frame, at, 1, radius)
    k0, k1 = _span(frame, at, 2, radius)
    for i in range(i0, i1 + 1):
        for j in range(j0, j1 + 1):
            row = (i * int(shape[1]) + j) * int(shape[2])
            for cell in range(row + k0, row + k1 + 1):
                if flags[cell] & (BODY | DRAWN) == BODY:
                    return False
    return True


@inner
def _span(frame, at, axis, radius):
    """First and last cell along an axis within the radius of the way ahead."""
    centre, reach = at[AHEAD + axis], at[AHEAD + 3 + axis] + radius
    return clipped(centre - reach, centre + reach, frame[3, axis], frame[6, 2], frame[7, axis])


@inner
def _pixels(frame, at, axis, radius):
    """First and last pixel along an axis that lie within the radius of the way ahead; none if last < first."""
    reach, offset = at[AHEAD + 3 + axis] + radius, at[AHEAD + axis] - frame[1, axis]
    first, last = math.floor((offset - reach) / frame[5, 0]), math.floor((offset + reach) / frame[5, 0])
    return int(max(first, 0.0)), int(max(min(last, frame[2, axis] - 1.0), -1.0))


@folded
def associate(bodies, image, candidates, seen, at, p, tau, x, y, z, rx, ry, rz, horizon, skin):
    """Fill point p's candidates for tau to horizon: position (x, y, z), way (rx, ry, rz) per unit of tau. `bodies`
    are (triangles, motions, ...), with motions that start at this tau; `seen` and `at` are scratch.

    Returns False if the image cannot answer: the point is near the border of the domain, or
    near triangles that were not drawn.
    """
    first_pixel, pixel_start, depth, drawn, near, ball, frame, flags = image
    known, key, counts, memory = candidates
    counts[p] = NEVER
    _set_out(frame, memory, at, p, tau, x, y, z, rx, ry, rz, horizon, skin)
    if memory[p, 8] <= 0.0 or not _is_drawn(frame, flags, at, frame[5, 1] + memory[p, 8]):
        return False
    memory[p, CALM], memory[p, CALM + 1] = math.inf, 0.0
    radius, span, count = frame[5, 1] + memory[p, 8], horizon - tau, np.int64(0)
    dropped = radius
    seen[-1] += 1
    stamp = seen[-1]
    swing = 2.0 * tau - 1.0
    qx, qy, qz = x - 0.5 * swing * frame[0, 0], y - 0.5 * swing * frame[0, 1], z - 0.5 * swing * frame[0, 2]
    wx, wy, wz = rx - frame[0, 0], ry - frame[0, 1], rz - frame[0, 2]
    for d in range(3):
        column0, column1 = _pixels(frame, at, (d + 1) % 3, radius)
        row0, row1 = _pixels(frame, at, (d + 2) % 3, radius)
        if row1 < row0:
            continue
        # depths are those at pixel centres; a triangle drawn along its main axis falls by one per axis at most
        window = at[AHEAD + 3 + d] + radius + frame[5, 0] + 3.0 * frame[5, 2]
        front, back = at[AHEAD + d] - window, at[AHEAD + d] + window
        for column in range(column0, column1 + 1):
            start = first_pixel[d] + column * int(frame[2, (d + 2) % 3])
            for hit in range(np.uintp(pixel_start[start + row0]), np.uintp(pixel_start[start + row1 + 1])):
                if depth[hit] < front or depth[hit] > back:
                    continue
                e = np.uintp(drawn[hit])
                if seen[e] == stamp:  # in a pixel before
                    continue
                seen[e] = stamp
                distance, rate = _approach(ball, e, swing, qx, qy, qz, wx, wy, wz, dropped, span)
                if distance - span * rate >= dropped:
                    continue
                t = np.int64(near[e])
                distance = closest(bodies[0], bodies[1], t, 0.0, x, y, z)[0]
                bound = distance - span * rate
                if bound >= dropped:
                    continue
                c = count
                if count == CAPACITY:
                    c, dropped = _farthest(key, p, count, span)
                    if bound >= dropped:
                        dropped = bound
                        continue
                else:
                    count += 1
                known[p, c], key[p, c, 0], key[p, c, 1] = t, distance, rate
                memory[p, CALM] = min(memory[p, CALM], distance)
                memory[p, CALM + 1] = max(memory[p, CALM + 1], rate)
    _order(known, key, p, count)
    counts[p] = count
    if dropped < radius:  # sure up to where one was dropped
        memory[p, 8] = dropped - frame[5, 1]
    return True


@counted_njit
def count_windings(x, triangles, counted, points, grid, windings):
    """How often each point is enclosed by the triangles that count: fronts less backs above it, along z.

    The points are sorted into `grid` x `grid` cells seen from above, and each triangle looks at the points under its
    bounding box. A triangle is over a point if an odd number of its edges passes the point on the same side; an edge
    gives the same answer to both of its triangles, so that no point slips through between two.
    """
    count = len(points)
    low_x, low_y, low_z, high_x, high_y = math.inf, math.inf, math.inf, -math.inf, -math.inf
    for p in range(count):
        windings[p] = 0
        low_x, low_y, low_z = min(low_x, points[p, 0]), min(low_y, points[p, 1]), min(low_z, points[p, 2])
        high_x, high_y = max(high_x, points[p, 0]), max(high_y, points[p, 1])
    scale_x, scale_y = grid / max(high_x - low_x, 1e-9), grid / max(high_y - low_y, 1e-9)
    start = np.zeros(grid * grid + 1, np.int64)
    cell = np.empty(count, np.int64)
    order = np.empty(count, np.int64)
    for p in range(count):
        column = min(int((points[p, 0] - low_x) * scale_x), grid - 1)
        cell[p] = column * grid + min(int((points[p, 1] - low_y) * scale_y), grid - 1)
        start[cell[p] + 1] += 1
    for c in range(grid * grid):
        start[c + 1] += start[c]
    for p in range(count - 1, -1, -1):  # fills each cell from its end; start[c + 1] runs down to where c begins
        start[cell[p] + 1] -= 1
        order[start[cell[p] + 1]] = p
    for t in range(len(triangles)):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        if counted[t] == 0 or max(x[i, 2], x[j, 2], x[k, 2]) < low_z:
            continue
        near_x, far_x = min(x[i, 0], x[j, 0], x[k, 0]), max(x[i, 0], x[j, 0], x[k, 0])
        near_y, far_y = min(x[i, 1], x[j, 1], x[k, 1]), max(x[i, 1], x[j, 1], x[k, 1])
        if far_x < low_x or near_x > high_x or far_y < low_y or near_y > high_y:
            continue
        column1 = min(int(min(far_x - low_x, high_x - low_x) * scale_x), grid - 1)
        row0 = int(max(near_y - low_y, 0.0) * scale_y)
        row1 = min(int(min(far_y - low_y, high_y - low_y) * scale_y), grid - 1)
        for column in range(min(int(max(near_x - low_x, 0.0) * scale_x), grid - 1), column1 + 1):
            first = start[column * grid + min(row0, grid - 1) + 1]
            last = start[column * grid + row1 + 2] if column * grid + row1 + 2 <= grid * grid else count
            for at in range(first, last):
                windings[order[at]] += _over(x, i, j, k, points, order[at])


@inner
def _over(x, i, j, k, points, p):
    """+1 or -1 if the triangle is above point p, by the way that it turns; else 0."""
    px, py = points[p, 0], points[p, 1]
    turn = 0
    for a, b in ((i, j), (j, k), (k, i)):
        rises = x[a, 1] <= py
        if rises == (x[b, 1] <= py):
            continue
        a, b = min(a, b), max(a, b)
        if x[a, 0] + (x[b, 0] - x[a, 0]) * ((py - x[a, 1]) / (x[b, 1] - x[a, 1])) > px:
            turn += 1 if rises else -1
    if turn == 0:
        return 0
    jx, jy, jz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    kx, ky, kz = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
    nx, ny, nz = jy * kz - jz * ky, jz * kx - jx * kz, jx * ky - jy * kx
    if nz != 0.0 and x[i, 2] - (nx * (px - x[i, 0]) + ny * (py - x[i, 1])) / nz > points[p, 2]:
        return turn
    return 0
