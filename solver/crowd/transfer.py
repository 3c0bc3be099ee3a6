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

from ..jit import fused
from ..quads import flat, load, part, quad, store, total
from ..quads import spread as fourfold
from .project import rate_of

OPENING = 5.0  # [1/s] rate at which cloth parts freely
FIRM = 100.0  # times its mass that a particle that does not move has


@fused
def gather(nodes, x, x_prev, mass, inv_mass, dt, solid, node_mass, v):
    """Mass and velocity of nodes, and of what is fixed beside them.

    solid : (k, 4) [kg], [kg m/s] mass and momentum of bodies at the nodes
    # outputs: node_mass (k,), v (k, 4)
    """
    _, _, particles, corners, parts = nodes
    for node in range(len(node_mass)):
        store(v, node, quad(solid[node, 1], solid[node, 2], solid[node, 3], solid[node, 0]))
    for at in range(len(particles)):
        p = particles[at]
        m = 1.0 / inv_mass[p] if inv_mass[p] > 0.0 else FIRM * mass[p]
        way = quad(x[p, 0] - x_prev[p, 0], x[p, 1] - x_prev[p, 1], x[p, 2] - x_prev[p, 2], dt)
        momentum = fourfold(m / dt) * way  # and the mass as the fourth
        for q in range(8):
            store(v, corners[at, q], load(v, corners[at, q]) + fourfold(parts[at, q]) * momentum)
    for node in range(len(node_mass)):
        momentum = load(v, node)
        node_mass[node] = part(momentum, 3)
        store(v, node, fourfold(1.0 / max(node_mass[node], 1e-300)) * flat(momentum))


@fused
def close(nodes, rows, density, v, closing):
    """How far the nodes' own velocity rules: 1 at corners of cells that close, less where it is hardly crowded.

    density : (c,) layers of cells, less those from which a cell counts, over those from which it counts in full
    # outputs: closing (k,)
    """
    closing[:] = 0.0
    for cell in range(len(nodes)):
        rate = rate_of(nodes, rows, cell, v)
        sure = min(density[cell], 1.0) * min(1.0, 1.0 - rate / OPENING)
        for q in range(8):
            closing[nodes[cell, q]] = max(closing[nodes[cell, q]], sure)


@fused
def spread(nodes, facing, friction, inv_mass, x, x_prev, dt, node_mass, v, u, closing, loss, extra):
    """Change where particles go in dt by u at the nodes, and by what the cells that close take of their own way.

    # outputs: x; scratch: loss (k, 4), extra (p, 4)
    """
    _, crowded, particles, corners, parts = nodes
    none = quad(0.0, 0.0, 0.0, 0.0)
    for node in range(len(loss)):
        store(loss, node, none)
    for at in range(len(particles)):
        p = particles[at]
        if inv_mass[p] == 0.0:
            continue
        go = quad((x[p, 0] - x_prev[p, 0]) / dt, (x[p, 1] - x_prev[p, 1]) / dt, (x[p, 2] - x_prev[p, 2]) / dt, 0.0)
        own, change = none, none
        for q in range(8):
            node = corners[at, q]
            if node < crowded:
                change = change + fourfold(parts[at, q]) * load(u, node)
                own = own + fourfold(parts[at, q] * closing[node]) * (load(v, node) - go)
        normal = flat(load(facing, p))
        along = total(own * normal)
        across = own - fourfold(along) * normal
        slide, grip = math.sqrt(total(across * across)), friction[p] * (abs(along) + abs(total(change * normal)))
        own = fourfold(along) * normal + fourfold(min(1.0, grip / slide) if slide > 0.0 else 0.0) * across
        store(extra, at, own + change)
        own = fourfold(1.0 / inv_mass[p]) * own
        for q in range(8):
            store(loss, corners[at, q], load(loss, corners[at, q]) + fourfold(parts[at, q]) * own)
    for node in range(len(loss)):
        store(loss, node, fourfold(1.0 / max(node_mass[node], 1e-300)) * load(loss, node))
    for at in range(len(particles)):
        p = particles[at]
        if inv_mass[p] == 0.0:
            continue
        change = load(extra, at)
        for q in range(8):
            change = change - fourfold(parts[at, q]) * load(loss, corners[at, q])
        x[p, 0] += dt * part(change, 0)
        x[p, 1] += dt * part(change, 1)
        x[p, 2] += dt * part(change, 2)


@fused
def ease(nodes, inv_mass, shift, x, x_prev):
    """Move particles by `shift` (k, 4) [m] at the corners of cells, and where they come from with them.
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
