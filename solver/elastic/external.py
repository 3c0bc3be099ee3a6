# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces from outside: gravity, constant and random force per axis, and the air on every triangle.

The air moves past a triangle of area A and unit normal n at u = wind - mean velocity of its corners, and pushes with

    drag = 1/2 rho Cd A |u.n| u                     lift = 1/2 rho Cl A (u.n) |u| (n - (u.n) u / |u|^2)

so that a sheet broadside on feels 1/2 rho Cd A u^2 and falls at sqrt(2 sigma g / (rho Cd)). Each third goes to a
corner. The step is implicit in |u|: light cloth in a storm comes to rest in the wind instead of overshooting it.
"""

from math import sqrt

import numpy as np

from ..jit import njit

MASK = (1 << 64) - 1


def uniform(seed, frame, substep, axis):
    """A number in [0, 1) that depends on its four whole numbers alone (SplitMix64; Steele, Lea and Flood 2014)."""
    z = seed & MASK
    for word in (frame, substep, axis):
        z = (z + 0x9E3779B97F4A7C15 + (word & MASK)) & MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        z ^= z >> 31
    return (z >> 11) * 2.0**-53


def acceleration(gravity, settings, frame, substep):
    """Gravity, constant and random force [m/s2] of one substep; the same for every particle, (3,) floats."""
    low, high = settings.random_force_min, settings.random_force_max
    return tuple(
        float(gravity[axis])
        + settings.constant_force[axis]
        + low[axis]
        + (high[axis] - low[axis]) * uniform(settings.seed, frame, substep, axis)
        for axis in range(3)
    )


@njit
def apply_forces(x, v, inv_mass, triangles, ax, ay, az, wind_x, wind_y, wind_z, drag, lift, dt):
    """Change velocities by a uniform acceleration, then by the air; `drag` and `lift` are 1/2 rho C [kg/m3].

    Triangles are taken in order, each sees what the ones before did: a serial sweep, about 80 flops and 230 bytes each.
    """
    for i in range(x.shape[0]):
        if inv_mass[i] > 0.0:
            v[i, 0] += dt * ax
            v[i, 1] += dt * ay
            v[i, 2] += dt * az
    if drag == 0.0 and lift == 0.0:
        return
    for t in range(triangles.shape[0]):
        a, b, c = np.uintp(triangles[t, 0]), np.uintp(triangles[t, 1]), np.uintp(triangles[t, 2])
        ux = wind_x - (v[a, 0] + v[b, 0] + v[c, 0]) / 3.0
        uy = wind_y - (v[a, 1] + v[b, 1] + v[c, 1]) / 3.0
        uz = wind_z - (v[a, 2] + v[b, 2] + v[c, 2]) / 3.0
        px, py, pz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        qx, qy, qz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        nx, ny, nz = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx  # twice the area, times the normal
        flow = 0.5 * (ux * nx + uy * ny + uz * nz)  # A u.n
        if flow == 0.0:
            continue
        wa, wb, wc = inv_mass[a], inv_mass[b], inv_mass[c]
        # A corner of a regular mesh belongs to six triangles, so its rate is twice the sum of three corners' means.
        rate = drag * abs(flow) * (2.0 / 3.0) * (wa + wb + wc)
        push = dt / (3.0 * (1.0 + dt * rate))
        fx, fy, fz = drag * abs(flow) * ux, drag * abs(flow) * uy, drag * abs(flow) * uz
        if lift != 0.0:
            speed = sqrt(ux * ux + uy * uy + uz * uz)
            double_area = sqrt(nx * nx + ny * ny + nz * nz)
            along_normal = lift * flow * speed / double_area
            along_flow = lift * flow * 2.0 * flow / (double_area * speed)
            fx += along_normal * nx - along_flow * ux
            fy += along_normal * ny - along_flow * uy
            fz += along_normal * nz - along_flow * uz
        fx, fy, fz = push * fx, push * fy, push * fz
        v[a, 0] += wa * fx
        v[a, 1] += wa * fy
        v[a, 2] += wa * fz
        v[b, 0] += wb * fx
        v[b, 1] += wb * fy
        v[b, 2] += wb * fz
        v[c, 0] += wc * fx
        v[c, 1] += wc * fy
        v[c, 2] += wc * fz
