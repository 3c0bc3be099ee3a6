# SPDX-License-Identifier: GPL-3.0-or-later
"""How rough cloth is: by what angle its faces turn against their neighbours. Crumpled paper has much of it."""

import math

import numpy as np

from ..kernel.jit import inner, njit
from .adjacency import topology


def roughness(x: np.ndarray, triangles: np.ndarray) -> tuple[float, float]:
    """Mean angle [rad] between the normals of neighbouring triangles (t, 3) of vertices x (n, 3) [m], and the share of pairs
    that are folded by more than 60 degrees; zeros where no two are neighbours.
    """
    if not len(triangles):
        return 0.0, 0.0
    return fold_kernel(x, triangles, topology(triangles, len(x)).neighbour, np.empty((len(triangles), 3)))


@inner
def _point(x, triangles, t, normal):
    """To normal[t]: the unit normal of a triangle, zeros if it has no area."""
    a, b, c = np.uintp(triangles[t, 0]), np.uintp(triangles[t, 1]), np.uintp(triangles[t, 2])
    ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    vx, vy, vz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    size = math.sqrt(nx * nx + ny * ny + nz * nz)
    scale = 1.0 / size if size > 0.0 else 0.0
    normal[t, 0], normal[t, 1], normal[t, 2] = nx * scale, ny * scale, nz * scale


@njit
def fold_kernel(x, triangles, neighbour, normal):
    """See `roughness`. 200 bytes and 90 flops a triangle. # outputs: normal (t, 3) scratch"""
    for t in range(len(triangles)):
        _point(x, triangles, t, normal)
    total, count, folded = 0.0, 0, 0
    for t in range(len(triangles)):
        for k in range(3):
            u = neighbour[t, k]
            if u <= t:
                continue
            cosine = normal[t, 0] * normal[u, 0] + normal[t, 1] * normal[u, 1] + normal[t, 2] * normal[u, 2]
            total += math.acos(min(max(cosine, -1.0), 1.0))
            folded += cosine < 0.5
            count += 1
    return total / max(count, 1), folded / max(count, 1)
