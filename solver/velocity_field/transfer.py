# SPDX-License-Identifier: GPL-3.0-or-later
"""Velocities from particles to the grid's nodes, and back (Buffet 2021, 3.2.1 and 3.3.3).

A node has the mean of the velocities beside it, weighed by mass. Back comes the change of the nodes' velocity, which
leaves all as it was where nothing was changed, and keeps momentum. To it comes, where cells close, what the nodes do
not see: how a particle moves against the mean beside it, as the layers in a cell do against each other. Along the
particle's normal all of that goes, so that the layers go the one way that the field knows; along the surface as much as
Coulomb's friction takes: of what stops at the particle, or of what lies on it, which a layer within a heap hands on to the
next. What this takes from the momentum of a node is given back to all that is beside it. That moves nodes, too, and
part of it would close gaps: in a heap half as much as the projection has stopped. So it is found first, and projected.

Particles that do not move count as so heavy that the field goes with them; bodies, too, but along their normals alone:
across these a node has the velocity and the mass of the cloth beside it, so that no cloth slows down by a body's being near.
"""

import math
from typing import NamedTuple

import numpy as np

from ..kernel.jit import fused, fused_inner
from ..kernel.vec4 import broadcast, lane, load, store, sum_xyz, vec4, xyz
from .density import AREA
from .obstacles import SOLID_MASS, SOLID_MOMENTUM, SOLID_NORMAL
from .project import rate_of

FREE_OPENING = 5.0  # [1/s] rate at which cloth parts freely
HELD_MASSES = 100.0  # times its mass that a particle that does not move has
MOST_HELD = 30.0  # [m/s2] by which other layers hold what slides: three times what it weighs
MASS = 3  # the fourth number of a momentum
SMALLEST_MASS = 1e-300  # [kg] of a node beside which nothing is


class NodeMotion(NamedTuple):
    """What moves at the nodes."""

    mass: np.ndarray  # (k,) [kg]
    v: np.ndarray  # (k, 4) [m/s]
    u: np.ndarray  # (k, 4) [m/s] change of v
    closing: np.ndarray  # (k,) how far v rules, see `find_closing`
    solid: np.ndarray  # (k, SOLID_COLUMNS) bodies at the nodes
    pressed: np.ndarray  # (k,) [kg/m/s] impulse per area by which layers are pressed on each other


class Scratch(NamedTuple):
    """Arrays of `to_particles`."""

    loss: np.ndarray  # (k, 4) [m/s] at nodes
    extra: np.ndarray  # (p, 4) [m/s] of particles


@fused
def to_nodes(nodes, x, x_from, mass, inv_mass, dt, solid, node_mass, v):
    """Mass and velocity of nodes, and of what is fixed beside them.

    solid : (k, SOLID_COLUMNS) bodies at the nodes
    # outputs: node_mass (k,), v (k, 4)
    """
    particles, corners, parts = nodes.particles, nodes.corners, nodes.parts
    none = vec4(0.0, 0.0, 0.0, 0.0)
    for node in range(len(node_mass)):
        store(v, node, none)
    for at in range(len(particles)):
        p = particles[at]
        m = 1.0 / inv_mass[p] if inv_mass[p] > 0.0 else HELD_MASSES * mass[p]
        motion = vec4(x[p, 0] - x_from[p, 0], x[p, 1] - x_from[p, 1], x[p, 2] - x_from[p, 2], dt)
        momentum = broadcast(m / dt) * motion  # and the mass as the fourth
        for q in range(8):
            store(v, corners[at, q], load(v, corners[at, q]) + broadcast(parts[at, q]) * momentum)
    for node in range(len(node_mass)):
        momentum, heavy = load(v, node), solid[node, SOLID_MASS]
        m = lane(momentum, MASS)
        node_mass[node] = m + heavy
        own = broadcast(1.0 / max(m, SMALLEST_MASS)) * xyz(momentum)
        if heavy > 0.0:
            s = SOLID_MOMENTUM
            body = broadcast(1.0 / heavy) * vec4(solid[node, s], solid[node, s + 1], solid[node, s + 2], 0.0)
            along = _along(solid, node, body - own) if m > 0.0 else body - own
            own = own + broadcast(heavy / node_mass[node]) * along
        store(v, node, own)


@fused_inner
def _along(solid, node, vector):
    """Part of a vector along the normal of what is solid at a node."""
    s = SOLID_NORMAL
    normal = vec4(solid[node, s], solid[node, s + 1], solid[node, s + 2], 0.0)
    square = sum_xyz(normal * normal)
    return broadcast(sum_xyz(vector * normal) / square if square > 0.0 else 0.0) * normal


@fused_inner
def _barred(barred, at, vector):
    """Part of a vector along which other layers lie across."""
    x, y, z = lane(vector, 0), lane(vector, 1), lane(vector, 2)
    xx, yy, zz, yz, xz, xy = barred[at, 0], barred[at, 1], barred[at, 2], barred[at, 3], barred[at, 4], barred[at, 5]
    return vec4(xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z, 0.0)


@fused
def find_closing(nodes, rows, density, v, closing):
    """How far the nodes' own velocity rules: 1 at corners of cells that close, less where it is hardly crowded.

    density : (c,) layers of cells, less those from which a cell counts, over those from which it counts in full
    # outputs: closing (k,)
    """
    closing[:] = 0.0
    for cell in range(len(nodes)):
        rate = rate_of(nodes, rows, cell, v)
        sure = min(density[cell], 1.0) * min(1.0, 1.0 - rate / FREE_OPENING)
        for q in range(8):
            closing[nodes[cell, q]] = max(closing[nodes[cell, q]], sure)


@fused_inner
def _find_own(nodes, motion, facing, barred, friction, inv_mass, x, x_from, dt, scratch):
    """What particles take on of the nodes' motion, `scratch.extra`, and what that lacks of momentum at these, `scratch.loss`.

    barred : (p, 6) from `sliding.find_barred`
    # outputs: scratch
    """
    crowded, particles, corners, parts = nodes.crowded_count, nodes.particles, nodes.corners, nodes.parts
    node_mass, v, u, closing, pressed = motion.mass, motion.v, motion.u, motion.closing, motion.pressed
    loss, extra = scratch.loss, scratch.extra
    none = vec4(0.0, 0.0, 0.0, 0.0)
    for node in range(len(loss)):
        store(loss, node, none)
    for at in range(len(particles)):
        p = particles[at]
        if inv_mass[p] == 0.0:
            continue
        go = vec4((x[p, 0] - x_from[p, 0]) / dt, (x[p, 1] - x_from[p, 1]) / dt, (x[p, 2] - x_from[p, 2]) / dt, 0.0)
        own, change, weight = none, none, 0.0
        for q in range(8):
            node = corners[at, q]
            if node < crowded:
                weight += parts[at, q] * pressed[node]
                change = change + broadcast(parts[at, q]) * load(u, node)
                own = own + broadcast(parts[at, q] * closing[node]) * (load(v, node) - go)
        normal = xyz(load(facing, p))
        along = sum_xyz(own * normal)
        across = own - broadcast(along) * normal
        hold = _barred(barred, at, across)
        size = math.sqrt(sum_xyz(hold * hold))
        hold = broadcast(min(1.0, MOST_HELD * dt / size) if size > 0.0 else 0.0) * hold
        held = broadcast(along) * normal + hold
        across = own - held
        # what stops at it, or what lies on it and is carried by it: on both of its sides
        stopped = max(abs(along) + abs(sum_xyz(change * normal)), 2.0 * weight * facing[p, AREA] * inv_mass[p])
        slide, grip = math.sqrt(sum_xyz(across * across)), friction[p] * stopped
        own = held + broadcast(min(1.0, grip / slide) if slide > 0.0 else 0.0) * across
        store(extra, at, own + change)
        own = broadcast(1.0 / inv_mass[p]) * own
        for q in range(8):
            store(loss, corners[at, q], load(loss, corners[at, q]) + broadcast(parts[at, q]) * own)
    for node in range(len(loss)):
        lost, heavy = load(loss, node), motion.solid[node, SOLID_MASS]
        across = broadcast(0.0) * lost
        if heavy > 0.0:  # the body takes what goes along its normal alone
            along = _along(motion.solid, node, lost)
            across = broadcast(1.0 / max(node_mass[node] - heavy, SMALLEST_MASS)) * (lost - along)
            lost = along
        store(loss, node, broadcast(1.0 / max(node_mass[node], SMALLEST_MASS)) * lost + across)


@fused
def find_loss(nodes, motion, facing, barred, friction, inv_mass, x, x_from, dt, scratch):
    """What particles leave of momentum to the nodes, by the friction that the change and the pressing before would make.
    The nodes' velocity is v less this, and that is to be projected.
    # outputs: scratch
    """
    _find_own(nodes, motion, facing, barred, friction, inv_mass, x, x_from, dt, scratch)


@fused
def to_particles(nodes, motion, facing, barred, friction, inv_mass, x, x_from, dt, scratch):
    """Change where particles go in dt by u at the nodes, and by what the cells that close take of their own motion.
    # outputs: x; scratch
    """
    particles, corners, parts, loss, extra = nodes.particles, nodes.corners, nodes.parts, scratch.loss, scratch.extra
    _find_own(nodes, motion, facing, barred, friction, inv_mass, x, x_from, dt, scratch)
    for at in range(len(particles)):
        p = particles[at]
        if inv_mass[p] == 0.0:
            continue
        change = load(extra, at)
        for q in range(8):
            change = change - broadcast(parts[at, q]) * load(loss, corners[at, q])
        x[p, 0] += dt * lane(change, 0)
        x[p, 1] += dt * lane(change, 1)
        x[p, 2] += dt * lane(change, 2)


@fused
def ease_apart(nodes, inv_mass, shift, x, x_from):
    """Move particles by `shift` (k, 4) [m] at the corners of cells, and where they come from with them.
    # outputs: x, x_from
    """
    crowded, particles, corners, parts = nodes.crowded_count, nodes.particles, nodes.corners, nodes.parts
    for at in range(len(particles)):
        p = particles[at]
        for axis in range(3):
            own = 0.0
            for q in range(8):
                if inv_mass[p] > 0.0 and corners[at, q] < crowded:
                    own += parts[at, q] * shift[corners[at, q], axis]
            x[p, axis] += own
            x_from[p, axis] += own


@fused
def go_with(nodes, inv_mass, motion, way):
    """Have particles go as far as `motion` (k, 4) [m] at the corners of cells, as far as these are theirs.
    # outputs: way (n, 3) [m]
    """
    crowded, particles, corners, parts = nodes.crowded_count, nodes.particles, nodes.corners, nodes.parts
    for at in range(len(particles)):
        p = particles[at]
        for axis in range(3):
            own = 0.0
            for q in range(8):
                if inv_mass[p] > 0.0 and corners[at, q] < crowded:
                    own += parts[at, q] * (motion[corners[at, q], axis] - way[p, axis])
            way[p, axis] += own
