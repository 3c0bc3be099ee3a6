# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles of bodies that move evenly through a substep: where they are, which way they look.

Arguments shared by all: `motions` (m, 6) [m] position at tau = 0 and motion to tau = 1 of each vertex; `triangles`
(t, 3); t the triangle's number; tau in [0, 1].
"""

import math

import numpy as np

from ..jit import inner
from .distance import closest_on_triangle

TRIES = 8  # at the place of a passage


@inner
def vertex(motions, i, tau):
    """Position of vertex i."""
    i = np.uintp(i)
    return motions[i, 0] + tau * motions[i, 3], motions[i, 1] + tau * motions[i, 4], motions[i, 2] + tau * motions[i, 5]


@inner
def closest(triangles, motions, t, tau, x, y, z):
    """Closest point of triangle t to (x, y, z): (distance, wa, wb, wc, feature, dx, dy, dz), d from it to the point."""
    t = np.uintp(t)
    ax, ay, az = vertex(motions, triangles[t, 0], tau)
    bx, by, bz = vertex(motions, triangles[t, 1], tau)
    cx, cy, cz = vertex(motions, triangles[t, 2], tau)
    wa, wb, wc, feature = closest_on_triangle(x, y, z, ax, ay, az, bx, by, bz, cx, cy, cz)
    dx, dy, dz = x - wa * ax - wb * bx - wc * cx, y - wa * ay - wb * by - wc * cy, z - wa * az - wb * bz - wc * cz
    return math.sqrt(dx * dx + dy * dy + dz * dz), wa, wb, wc, feature, dx, dy, dz


@inner
def plane(triangles, motions, t, tau, x, y, z):
    """Unit normal of triangle t, and the signed distance of (x, y, z) from its plane; zeros if it has no area."""
    t = np.uintp(t)
    ax, ay, az = vertex(motions, triangles[t, 0], tau)
    bx, by, bz = vertex(motions, triangles[t, 1], tau)
    cx, cy, cz = vertex(motions, triangles[t, 2], tau)
    nx = (by - ay) * (cz - az) - (bz - az) * (cy - ay)
    ny = (bz - az) * (cx - ax) - (bx - ax) * (cz - az)
    nz = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    if length == 0.0:
        return 0.0, 0.0, 0.0, 0.0
    nx, ny, nz = nx / length, ny / length, nz / length
    return nx, ny, nz, (x - ax) * nx + (y - ay) * ny + (z - az) * nz


@inner
def carried(triangles, motions, t, wa, wb, wc):
    """Motion of a point of triangle t through the substep."""
    i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    return (
        wa * motions[i, 3] + wb * motions[j, 3] + wc * motions[k, 3],
        wa * motions[i, 4] + wb * motions[j, 4] + wc * motions[k, 4],
        wa * motions[i, 5] + wb * motions[j, 5] + wc * motions[k, 5],
    )


@inner
def outward(triangles, motions, neighbours, vertex_start, vertex_triangles, t, feature, tau, dx, dy, dz):
    """+1 if d, from a closest point of triangle t to a point, leads out of a closed body, else -1.

    At edges and corners the face alone does not know: the sum of the normals round the feature, weighted by their
    angles at a corner, does (Baerentzen and Aanaes 2005).
    """
    nx, ny, nz, _ = plane(triangles, motions, t, tau, 0.0, 0.0, 0.0)
    if feature >= 4:
        other = np.int64(neighbours[t, feature - 4])
        if other >= 0:
            mx, my, mz, _ = plane(triangles, motions, other, tau, 0.0, 0.0, 0.0)
            nx, ny, nz = nx + mx, ny + my, nz + mz
    elif feature > 0:
        i = triangles[t, feature - 1]
        ox, oy, oz = vertex(motions, i, tau)
        nx, ny, nz = 0.0, 0.0, 0.0
        for entry in range(vertex_start[i], vertex_start[i + 1]):
            other = np.int64(vertex_triangles[entry])
            corner = 0
            while triangles[other, corner] != i:
                corner += 1
            px, py, pz = vertex(motions, triangles[other, (corner + 1) % 3], tau)
            qx, qy, qz = vertex(motions, triangles[other, (corner + 2) % 3], tau)
            px, py, pz, qx, qy, qz = px - ox, py - oy, pz - oz, qx - ox, qy - oy, qz - oz
            mx, my, mz = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx
            sine = math.sqrt(mx * mx + my * my + mz * mz)
            if sine > 0.0:
                angle = math.atan2(sine, px * qx + py * qy + pz * qz) / sine
                nx, ny, nz = nx + angle * mx, ny + angle * my, nz + angle * mz
    return -1.0 if nx * dx + ny * dy + nz * dz < 0.0 else 1.0


@inner
def passage(triangles, motions, t, px, py, pz, x, y, z):
    """Does the way from (px, py, pz) at tau = 0 to (x, y, z) at tau = 1 lead through triangle t?

    Position and corners are taken as moving evenly; where the distance from the turning plane is zero is searched for.
    Returns (share of the way done at the passage, or 2 if there is none; side it came from, +1 or -1).
    """
    _, _, _, then = plane(triangles, motions, t, 0.0, px, py, pz)
    _, _, _, now = plane(triangles, motions, t, 1.0, x, y, z)
    side = 1.0 if then >= 0.0 else -1.0
    if now * side >= 0.0:
        return 2.0, side
    hair, low, high, share = 1e-3 * (abs(then) + abs(now)) + 1e-7, 0.0, 1.0, 0.0
    for _ in range(TRIES):
        share = low + (high - low) * then / (then - now)
        hx, hy, hz = px + share * (x - px), py + share * (y - py), pz + share * (z - pz)
        height = plane(triangles, motions, t, share, hx, hy, hz)[3]
        if abs(height) <= 0.1 * hair:
            break
        if height * side > 0.0:  # a triangle that turns does not come evenly
            low, then = share, height
        else:
            high, now = share, height
    distance = closest(triangles, motions, t, share, hx, hy, hz)[0]
    return (share if distance <= hair else 2.0), side  # a hair beyond the edges is allowed
