# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles of bodies that move evenly through a substep: where they are, which way they look.

Arguments shared by all: `motions` (m, 6) [m] position at tau = 0 and, from column MOTION on, motion to tau = 1 of each
vertex; `triangles` (t, 3); t the triangle's number; tau in [0, 1].
"""

import math

import numpy as np

from ..kernel.jit import folded, inner
from .distance import CORNER_A, EDGE_AB, closest_on_triangle

MOTION = 3  # column of `motions`: a vertex is at motions[i, axis] and goes by motions[i, MOTION + axis]
PASSAGE_TRIES = 8  # at the place of a passage
NO_PASSAGE = 2.0  # instead of a share of the way
HAIR, LEAST_HAIR = 1e-3, 1e-7  # by which a passage may miss the triangle: part of the way, and [m]
HAIR_SHARE = 0.1  # of a hair, up to which the plane need not be found more exactly


@inner
def vertex(motions, i, tau):
    """Position of vertex i."""
    i = np.uintp(i)
    return (
        motions[i, 0] + tau * motions[i, MOTION],
        motions[i, 1] + tau * motions[i, MOTION + 1],
        motions[i, 2] + tau * motions[i, MOTION + 2],
    )


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
def distance_to(triangles, motions, t, tau, x, y, z):
    """How far triangle t is from (x, y, z)."""
    d, _, _, _, _, _, _, _ = closest(triangles, motions, t, tau, x, y, z)
    return d


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
def height_over(triangles, motions, t, tau, x, y, z):
    """Signed distance of (x, y, z) from the plane of triangle t; 0 if it has no area."""
    _, _, _, above = plane(triangles, motions, t, tau, x, y, z)
    return above


@inner
def carried(triangles, motions, t, wa, wb, wc):
    """Motion of a point of triangle t through the substep."""
    i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    return (
        wa * motions[i, MOTION] + wb * motions[j, MOTION] + wc * motions[k, MOTION],
        wa * motions[i, MOTION + 1] + wb * motions[j, MOTION + 1] + wc * motions[k, MOTION + 1],
        wa * motions[i, MOTION + 2] + wb * motions[j, MOTION + 2] + wc * motions[k, MOTION + 2],
    )


@folded
def outward(triangles, motions, neighbours, vertex_start, vertex_triangles, t, feature, tau, dx, dy, dz):
    """+1 if d, from a closest point of triangle t to a point, leads out of a closed body, else -1.

    At edges and corners the face alone does not know: the sum of the normals round the feature, weighted by their
    angles at a corner, does (Baerentzen and Aanaes 2005).
    """
    nx, ny, nz, _ = plane(triangles, motions, t, tau, 0.0, 0.0, 0.0)
    if feature >= EDGE_AB:
        other = np.int64(neighbours[t, feature - EDGE_AB])
        if other >= 0:
            mx, my, mz, _ = plane(triangles, motions, other, tau, 0.0, 0.0, 0.0)
            nx, ny, nz = nx + mx, ny + my, nz + mz
    elif feature >= CORNER_A:
        i = triangles[t, feature - CORNER_A]
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
    Returns (share of the way done at the passage, or NO_PASSAGE; side it came from, +1 or -1).
    """
    then, now = height_over(triangles, motions, t, 0.0, px, py, pz), height_over(triangles, motions, t, 1.0, x, y, z)
    side = 1.0 if then >= 0.0 else -1.0
    if now * side >= 0.0:
        return NO_PASSAGE, side
    hair, low, high, share = HAIR * (abs(then) + abs(now)) + LEAST_HAIR, 0.0, 1.0, 0.0
    for _ in range(PASSAGE_TRIES):
        share = low + (high - low) * then / (then - now)
        hx, hy, hz = px + share * (x - px), py + share * (y - py), pz + share * (z - pz)
        above = height_over(triangles, motions, t, share, hx, hy, hz)
        if abs(above) <= HAIR_SHARE * hair:
            break
        if above * side > 0.0:  # a triangle that turns does not come evenly
            low, then = share, above
        else:
            high, now = share, above
    missed = distance_to(triangles, motions, t, share, hx, hy, hz)
    return (share if missed <= hair else NO_PASSAGE), side  # a hair beyond the edges is allowed
