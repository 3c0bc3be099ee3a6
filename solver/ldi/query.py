# SPDX-License-Identifier: GPL-3.0-or-later
"""Which triangles can a point meet? Association through the conservative layered depth image (Bargmann 2003, 4.1).

The image is drawn at the middle of an interval of time, in a frame of reference that moves with the cloth on the
whole (`bulk`), and each triangle's footprint is grown by its own motion in that frame. So the footprint of a triangle
covers its whole path, and one image answers for every moment of the interval.

A point asks with the path that it expects to take and a `skin` round that path. It is given the triangles that can
come nearer than the aura while the point stays within the skin, each with a `key`: a lower bound of the distance
between the two as long as the point keeps to its path; a point that strays by s subtracts s. The shortest keys come
first, so that the closest triangle is found after a few exact tests, and a point that has strayed too far asks again.
"""

import math
from typing import NamedTuple

import numpy as np

from ..contact.moving_triangle import closest
from ..jit import inner, njit

CAPACITY = 24  # candidates a point remembers; fewer are sure if more are near, and it asks again sooner
NEVER = -1


class Image(NamedTuple):
    """What `associate` wants of a layered depth image of moving triangles, as plain arrays."""

    first_pixel: np.ndarray  # (4,)
    pixel_start: np.ndarray  # (p + 1,)
    depth: np.ndarray  # (h,)
    triangle: np.ndarray  # (h,)
    ball: np.ndarray  # (t, 8) sphere round a triangle at tau = 1/2: centre, half motion against bulk, radius, stray
    frame: np.ndarray  # (6, 3): bulk [m], low [m], shape, domain low, domain high, (pixel, largest aura, growth) [m]


class Candidates(NamedTuple):
    """What each point remembers of its last question."""

    triangles: np.ndarray  # (p, CAPACITY)
    key: np.ndarray  # (p, CAPACITY) [m] ascending
    count: np.ndarray  # (p,) NEVER: has to ask
    memory: np.ndarray  # (p, 9): position when asked, way per unit of tau, tau when asked, tau it holds until, skin


def make_candidates(count: int) -> Candidates:
    """Memory for `count` points, none of which has asked yet."""
    return Candidates(
        np.empty((count, CAPACITY), np.int32),
        np.empty((count, CAPACITY)),
        np.full(count, NEVER, np.int32),
        np.zeros((count, 9)),
    )


@inner
def _look(
    first, last, near, far, first_pixel, pixel_start, depth, triangle, ball, triangles, motions,
    known, key, p, count, dropped, radius, most, tau, span, x, y, z, qx, qy, qz, ux, uy, uz,
):  # fmt: skip
    """Keep what is near enough among the hits of pixels first..last (a piece of a row) and depths near..far."""
    swing = 2.0 * tau - 1.0
    for hit in range(pixel_start[first], pixel_start[last + 1]):
        if depth[hit] < near or depth[hit] > far:
            continue
        t = np.int64(triangle[hit])
        limit = min(radius, dropped)
        gx, gy = ball[t, 0] + swing * ball[t, 3] - qx, ball[t, 1] + swing * ball[t, 4] - qy
        gz = ball[t, 2] + swing * ball[t, 5] - qz
        away = gx * gx + gy * gy + gz * gz
        reach = limit + most + ball[t, 6]
        if away > reach * reach:
            continue
        # how far the two can close in on each other until the horizon
        wx, wy, wz = 2.0 * ball[t, 3] - ux, 2.0 * ball[t, 4] - uy, 2.0 * ball[t, 5] - uz
        closing = span * (math.sqrt(wx * wx + wy * wy + wz * wz) + 2.0 * ball[t, 7])
        reach = limit + closing + ball[t, 6] + ball[t, 7]
        if away > reach * reach:
            continue
        c = 0
        while c < count and known[p, c] != t:
            c += 1
        if c < count:
            continue
        bound = closest(triangles, motions, t, tau, x, y, z)[0] - closing
        if bound >= limit:
            continue
        if count == len(known[p]):
            dropped = key[p, count - 1]
            count -= 1
        at = count
        while at > 0 and (key[p, at - 1] > bound or (key[p, at - 1] == bound and known[p, at - 1] > t)):
            key[p, at], known[p, at] = key[p, at - 1], known[p, at - 1]
            at -= 1
        key[p, at], known[p, at] = bound, t
        count += 1
    return count, dropped


@inner
def associate(
    first_pixel, pixel_start, depth, triangle, ball, frame, triangles, motions, known, key, counts, memory,
    p, x, y, z, tau, rx, ry, rz, horizon, skin,
):  # fmt: skip
    """Fill point p's candidates for tau to horizon: position (x, y, z), way (rx, ry, rz) per unit of tau.

    Returns False if the point is so near the border of the domain that the image cannot answer.
    """
    pixel, aura, growth = frame[5, 0], frame[5, 1], frame[5, 2]
    span = horizon - tau
    # the point in the frame of reference, the middle of its way there, and half its way along each axis
    qx, qy, qz = x - frame[0, 0] * (tau - 0.5), y - frame[0, 1] * (tau - 0.5), z - frame[0, 2] * (tau - 0.5)
    ux, uy, uz = rx - frame[0, 0], ry - frame[0, 1], rz - frame[0, 2]
    centre = (qx + 0.5 * span * ux, qy + 0.5 * span * uy, qz + 0.5 * span * uz)
    half = (0.5 * span * abs(ux), 0.5 * span * abs(uy), 0.5 * span * abs(uz))
    for axis in range(3):
        room = min(centre[axis] - frame[3, axis], frame[4, axis] - centre[axis]) - half[axis]
        skin = min(skin, room - aura)
    memory[p, 0], memory[p, 1], memory[p, 2] = x, y, z
    memory[p, 3], memory[p, 4], memory[p, 5] = rx, ry, rz
    memory[p, 6], memory[p, 7], memory[p, 8] = tau, horizon, skin
    counts[p] = 0
    if skin <= 0.0:
        return False
    radius, dropped, count = aura + skin, math.inf, np.int64(0)
    # no triangle closes in by more: sqrt(3) turns the largest growth along an axis into a length
    most = span * (math.sqrt(ux * ux + uy * uy + uz * uz) + 2.0 * 1.7321 * growth) + 1.7321 * growth
    for d in range(3):
        a, b = (d + 1) % 3, (d + 2) % 3
        if first_pixel[d + 1] == first_pixel[d]:
            continue
        columns, rows = frame[2, a], frame[2, b]
        column0 = max(math.floor((centre[a] - half[a] - radius - frame[1, a]) / pixel), 0.0)
        column1 = min(math.floor((centre[a] + half[a] + radius - frame[1, a]) / pixel), columns - 1.0)
        row0 = max(math.floor((centre[b] - half[b] - radius - frame[1, b]) / pixel), 0.0)
        row1 = min(math.floor((centre[b] + half[b] + radius - frame[1, b]) / pixel), rows - 1.0)
        if row1 < row0:
            continue
        # depths are those at pixel centres; a triangle drawn along its main axis falls by one per axis at most
        window = half[d] + radius + pixel + 3.0 * growth
        for column in range(int(column0), int(column1) + 1):
            start = first_pixel[d] + column * int(rows)
            count, dropped = _look(
                start + int(row0), start + int(row1), centre[d] - window, centre[d] + window,
                first_pixel, pixel_start, depth, triangle, ball, triangles, motions,
                known, key, p, count, dropped, radius, most, tau, span, x, y, z, qx, qy, qz, ux, uy, uz,
            )  # fmt: skip
    counts[p] = count
    if dropped < radius:  # what was dropped is not nearer than the last that was kept: sure up to there
        memory[p, 8] = dropped - aura
    return True


@njit
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
