# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces from outside: gravity and constant force, and the air on every triangle. `optional` adds the rarer ones.

The air moves past a triangle of area A and unit normal n at u = wind - mean velocity of its corners, and pushes with

    drag = 1/2 rho Cd A |u.n| u                     lift = 1/2 rho Cl A (u.n) |u| (n - (u.n) u / |u|^2)

so that a sheet broadside on feels 1/2 rho Cd A u^2 and falls at sqrt(2 sigma g / (rho Cd)). Each third goes to a
corner. The step is implicit in |u|: light cloth in a storm comes to rest in the wind instead of overshooting it.
"""

from math import sqrt

import numpy as np

from ..kernel.jit import fused


def acceleration(gravity, settings):
    """Gravity, constant force and random force without limits apart [m/s2]; the same for every particle, (3,) floats."""
    low, high = settings.random_force_min, settings.random_force_max
    certain = low if tuple(low) == tuple(high) else (0.0, 0.0, 0.0)
    return tuple(float(gravity[axis]) + settings.constant_force[axis] + certain[axis] for axis in range(3))


@fused
def blow(x, v, inv_mass, triangles, wind_x, wind_y, wind_z, drag, lift, dt):
    """Change velocities by dt of the air; `drag` and `lift` are 1/2 rho C [kg/m3].

    Triangles are taken in order, each sees what the ones before did: a serial sweep, about 80 flops and 300 bytes each.
    """
    for t in range(triangles.shape[0]):
        a, b, c = np.uintp(triangles[t, 0]), np.uintp(triangles[t, 1]), np.uintp(triangles[t, 2])
        ua, va, wa = v[a, 0], v[a, 1], v[a, 2]
        ub, vb, wb = v[b, 0], v[b, 1], v[b, 2]
        uc, vc, wc = v[c, 0], v[c, 1], v[c, 2]
        xa, ya, za = x[a, 0], x[a, 1], x[a, 2]
        ux, uy, uz = wind_x - (ua + ub + uc) / 3.0, wind_y - (va + vb + vc) / 3.0, wind_z - (wa + wb + wc) / 3.0
        px, py, pz = x[b, 0] - xa, x[b, 1] - ya, x[b, 2] - za
        qx, qy, qz = x[c, 0] - xa, x[c, 1] - ya, x[c, 2] - za
        nx, ny, nz = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx  # twice the area, times the normal
        flow = 0.5 * (ux * nx + uy * ny + uz * nz)  # A u.n
        if flow == 0.0:
            continue
        ma, mb, mc = inv_mass[a], inv_mass[b], inv_mass[c]
        pressure = drag * abs(flow)
        # Implicit in what the triangle does to its own mean velocity, so that none overshoots.
        push = dt / (3.0 + dt * (drag + abs(lift)) * abs(flow) * (ma + mb + mc) / 3.0)
        fx, fy, fz = pressure * ux, pressure * uy, pressure * uz
        if lift != 0.0:
            speed = sqrt(ux * ux + uy * uy + uz * uz)
            double_area = sqrt(nx * nx + ny * ny + nz * nz)
            along_normal = lift * flow * speed / double_area
            along_flow = lift * flow * 2.0 * flow / (double_area * speed)
            fx += along_normal * nx - along_flow * ux
            fy += along_normal * ny - along_flow * uy
            fz += along_normal * nz - along_flow * uz
        fx, fy, fz = push * fx, push * fy, push * fz
        v[a, 0], v[a, 1], v[a, 2] = ua + ma * fx, va + ma * fy, wa + ma * fz
        v[b, 0], v[b, 1], v[b, 2] = ub + mb * fx, vb + mb * fy, wb + mb * fz
        v[c, 0], v[c, 1], v[c, 2] = uc + mc * fx, vc + mc * fy, wc + mc * fz
