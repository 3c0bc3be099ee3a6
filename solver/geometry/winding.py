# SPDX-License-Identifier: GPL-3.0-or-later
"""How often closed surfaces enclose points: winding numbers by crossings of a ray (Jacobson et al. 2013, section 2)."""

import math

import numpy as np

from ..kernel.jit import counted_njit, inner


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
