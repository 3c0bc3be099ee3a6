# SPDX-License-Identifier: GPL-3.0-or-later
"""Does an edge go through a triangle? By signs of volumes (Segura and Feito 2001)."""

from ..kernel.jit import inner


@inner
def area_normal(x, a, b, c):
    """Normal of a triangle of points x (n, 3), twice its area long."""
    ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    vx, vy, vz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    return uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx


@inner
def pierces(x, p, q, a, b, c):
    """Whether the segment pq goes through triangle abc."""
    ax, ay, az = x[a, 0], x[a, 1], x[a, 2]
    ux, uy, uz = x[b, 0] - ax, x[b, 1] - ay, x[b, 2] - az
    vx, vy, vz = x[c, 0] - ax, x[c, 1] - ay, x[c, 2] - az
    nx, ny, nz = area_normal(x, a, b, c)
    px, py, pz = x[p, 0] - ax, x[p, 1] - ay, x[p, 2] - az
    rx, ry, rz = x[q, 0] - x[p, 0], x[q, 1] - x[p, 1], x[q, 2] - x[p, 2]
    start, along = px * nx + py * ny + pz * nz, rx * nx + ry * ny + rz * nz
    if start * (start + along) > 0.0 or along == 0.0:
        return False
    t = -start / along
    hx, hy, hz = px + t * rx, py + t * ry, pz + t * rz
    square = nx * nx + ny * ny + nz * nz
    beta = ((hy * vz - hz * vy) * nx + (hz * vx - hx * vz) * ny + (hx * vy - hy * vx) * nz) / square
    gamma = ((uy * hz - uz * hy) * nx + (uz * hx - ux * hz) * ny + (ux * hy - uy * hx) * nz) / square
    return beta >= 0.0 and gamma >= 0.0 and beta + gamma <= 1.0
