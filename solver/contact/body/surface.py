# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a point is against one triangle of the bodies: how far, on which side, and where the triangle wants it.

Arguments shared by all: `bodies`, a `mesh.Bodies`; t the triangle's number; `at` as in `association.Scratch`.
"""

from ...geometry.moving_triangle import closest, distance_to, height_over, outward, plane
from ...kernel.jit import folded, inner
from .association import HERE, THERE

RECOVERY_SPEED = 0.5  # [m/s] at which a point regains the aura, or leaves a body's inside
CALM_SPEED = 0.02  # [m/s] the same beside a pinch
ON_SURFACE = 1e-9  # [m] from a triangle up to which the way to the closest point tells no direction


@folded
def leads_out(bodies, t, feature, tau, dx, dy, dz):
    """+1 if d, from a closest point of triangle t to a point, leads out of its closed body, else -1."""
    around = bodies.neighbour, bodies.vertex_start, bodies.vertex_triangles
    return outward(bodies.triangles, bodies.motions, *around, t, feature, tau, dx, dy, dz)


@inner
def gap_to(bodies, t, tau, x, y, z):
    """(gap [m] to triangle t, below 0 inside of a closed body, and the way out nx, ny, nz) of a point at tau."""
    d, _, _, _, feature, dx, dy, dz = closest(bodies.triangles, bodies.motions, t, tau, x, y, z)
    if d <= ON_SURFACE:
        nx, ny, nz, _ = plane(bodies.triangles, bodies.motions, t, tau, x, y, z)
        return 0.0, nx, ny, nz
    sign = 1.0
    if bodies.solid[t] > 0:
        sign = leads_out(bodies, t, feature, tau, dx, dy, dz)
    return sign * d, dx * sign / d, dy * sign / d, dz * sign / d


@inner
def mean_aura(bodies, t, u):
    """[m] of two triangles."""
    return 0.5 * (bodies.aura[bodies.collider[t]] + bodies.aura[bodies.collider[u]])


@folded
def wanted_by(bodies, at, t, came_from, ease, part):
    """Where triangle t wants the point, if it has to keep off by this part of the aura.

    Returns (push [m] along n, depth [m] that friction feels, gap [m] now and at the substep's start, nx, ny, nz, wa, wb, wc).
    """
    triangles, motions, is_solid = bodies.triangles, bodies.motions, bodies.solid[t] > 0
    x, y, z = at[HERE, 0], at[HERE, 1], at[HERE, 2]
    px, py, pz = at[THERE, 0], at[THERE, 1], at[THERE, 2]
    d, wa, wb, wc, feature, dx, dy, dz = closest(triangles, motions, t, 1.0, x, y, z)
    gap_before = distance_to(triangles, motions, t, 0.0, px, py, pz)
    sign = 1.0
    if came_from == 0.0 and is_solid:
        sign = leads_out(bodies, t, feature, 1.0, dx, dy, dz)
    gap = sign * d
    gap_before *= sign
    if came_from == 0.0 and d > ON_SURFACE:
        nx, ny, nz = dx / gap, dy / gap, dz / gap
    else:  # through the triangle, or upon it: back over its plane, to the side it was on
        if came_from == 0.0:
            came_from = 1.0
            if not is_solid and height_over(triangles, motions, t, 0.0, px, py, pz) < 0.0:
                came_from = -1.0
        nx, ny, nz, height = plane(triangles, motions, t, 1.0, x, y, z)
        nx, ny, nz, gap = came_from * nx, came_from * ny, came_from * nz, came_from * height
    wanted = min(part * bodies.aura[bodies.collider[t]], gap_before + ease)
    return wanted - gap, max(min(gap_before, wanted) - gap, 0.0), gap, gap_before, nx, ny, nz, wa, wb, wc


@inner
def is_behind(bodies, at, t):
    """Is the point inside, seen from t, the closest triangle of its body?"""
    x, y, z = at[HERE, 0], at[HERE, 1], at[HERE, 2]
    _, _, _, _, feature, dx, dy, dz = closest(bodies.triangles, bodies.motions, t, 1.0, x, y, z)
    return leads_out(bodies, t, feature, 1.0, dx, dy, dz) < 0.0
