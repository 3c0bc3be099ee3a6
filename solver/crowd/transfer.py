# SPDX-License-Identifier: GPL-3.0-or-later
"""Velocities from particles to the grid's nodes, and back (Buffet 2021, 3.2.1 and 3.3.3).

A node has the mean of the velocities beside it, weighed by mass. Back comes the change of the nodes' velocity, which
leaves all as it was where nothing was changed, and keeps momentum. To it comes, where cells close, what the nodes do
not see: how a particle moves against the mean beside it, as the layers in a cell do against each other. Along the
particle's normal all of that goes, so that the layers go the one way that the field knows; along the surface as much as
Coulomb's friction takes. What this takes from the momentum of a node is given back to all that is beside it.

Particles that do not move, and bodies, count as so heavy that the field goes with them.
"""

import math

from ..jit import uncounted_fused

OPENING = 5.0  # [1/s] rate at which cloth parts freely
FIRM = 100.0  # times its mass that a particle that does not move has


@uncounted_fused
def gather(nodes, x, x_prev, mass, inv_mass, dt, solid, node_mass, v):
    """Mass and velocity of nodes, and of what is fixed beside them.

    solid : (k, 4) [kg], [kg m/s] mass and momentum of bodies at the nodes
    # outputs: node_mass (k,), v (k, 3)
    """
    _, _, particles, corners, parts = nodes
    for node in range(len(node_mass)):
        node_mass[node] = solid[node, 0]
        for axis in range(3):
            v[node, axis] = solid[node, 1 + axis]
    for at in range(len(particles)):
        p = particles[at]
        m = 1.0 / inv_mass[p] if inv_mass[p] > 0.0 else FIRM * mass[p]
        vx, vy, vz = (x[p, 0] - x_prev[p, 0]) / dt, (x[p, 1] - x_prev[p, 1]) / dt, (x[p, 2] - x_prev[p, 2]) / dt
        for q in range(8):
            node, share = corners[at, q], m * parts[at, q]
            node_mass[node] += share
            v[node, 0] += share * vx
            v[node, 1] += share * vy
            v[node, 2] += share * vz
    for node in range(len(node_mass)):
        for axis in range(3):
            v[node, axis] /= max(node_mass[node], 1e-300)


@uncounted_fused
def close(nodes, rows, density, v, closing):
    """How far the nodes' own velocity rules: 1 at corners of cells that close, less where it is hardly crowded.

    density : (c, 2) layers of cells, less those from which a cell counts, over those from which it counts in full
    # outputs: closing (k,)
    """
    closing[:] = 0.0
    for cell in range(len(nodes)):
        rate = 0.0
        for pair in range(4):
            a, b = nodes[cell, 7 - pair], nodes[cell, pair]
            for axis in range(3):
                rate += rows[cell, 3 * pair + axis] * (v[a, axis] - v[b, axis])
        sure = min(density[cell], 1.0) * min(1.0, 1.0 - rate / OPENING)
        for q in range(8):
            closing[nodes[cell, q]] = max(closing[nodes[cell, q]], sure)


@uncounted_fused
def spread(nodes, facing, friction, inv_mass, x, x_prev, dt, node_mass, v, u, closing, loss, extra):
    """Change where particles go in dt by u at the nodes, and by what the cells that close take of their own way.

    # outputs: x; scratch: loss (k, 3), extra (p, 3)
    """
    _, crowded, particles, corners, parts = nodes
    loss[:] = 0.0
    for at in range(len(particles)):
        p = particles[at]
        if inv_mass[p] == 0.0:
            continue
        wx, wy, wz, ux, uy, uz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        vx, vy, vz = (x[p, 0] - x_prev[p, 0]) / dt, (x[p, 1] - x_prev[p, 1]) / dt, (x[p, 2] - x_prev[p, 2]) / dt
        for q in range(8):
            node = corners[at, q]
            if node < crowded:
                share = parts[at, q]
                ux, uy, uz = ux + share * u[node, 0], uy + share * u[node, 1], uz + share * u[node, 2]
                share *= closing[node]
                wx, wy, wz = (
                    wx + share * (v[node, 0] - vx),
                    wy + share * (v[node, 1] - vy),
                    wz + share * (v[node, 2] - vz),
                )
        nx, ny, nz = facing[p, 0], facing[p, 1], facing[p, 2]
        along = wx * nx + wy * ny + wz * nz
        wx, wy, wz = wx - along * nx, wy - along * ny, wz - along * nz
        slide = math.sqrt(wx * wx + wy * wy + wz * wz)
        grip = friction[p] * (abs(along) + abs(ux * nx + uy * ny + uz * nz))
        grip = min(1.0, grip / slide) if slide > 0.0 else 0.0
        wx, wy, wz = along * nx + grip * wx, along * ny + grip * wy, along * nz + grip * wz
        extra[at, 0], extra[at, 1], extra[at, 2] = wx, wy, wz
        m = 1.0 / inv_mass[p]
        for q in range(8):
            node, share = corners[at, q], m * parts[at, q]
            loss[node, 0] += share * wx
            loss[node, 1] += share * wy
            loss[node, 2] += share * wz
        extra[at, 0], extra[at, 1], extra[at, 2] = wx + ux, wy + uy, wz + uz
    for node in range(len(loss)):
        for axis in range(3):
            loss[node, axis] /= max(node_mass[node], 1e-300)
    for at in range(len(particles)):
        p = particles[at]
        if inv_mass[p] == 0.0:
            continue
        for axis in range(3):
            change = extra[at, axis]
            for q in range(8):
                change -= parts[at, q] * loss[corners[at, q], axis]
            x[p, axis] += dt * change


@uncounted_fused
def ease(nodes, inv_mass, shift, x, x_prev):
    """Move particles by `shift` (k, 3) [m] at the corners of cells, and where they come from with them.
    # outputs: x, x_prev
    """
    _, crowded, particles, corners, parts = nodes
    for at in range(len(particles)):
        p = particles[at]
        for axis in range(3):
            way = 0.0
            for q in range(8):
                if inv_mass[p] > 0.0 and corners[at, q] < crowded:
                    way += parts[at, q] * shift[corners[at, q], axis]
            x[p, axis] += way
            x_prev[p, axis] += way
