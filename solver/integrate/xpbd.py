# SPDX-License-Identifier: GPL-3.0-or-later
"""Extended position based dynamics with small substeps: one sweep of projections per substep.

    predict x* = x + dt v  ->  project x* onto springs, hinges, pins  ->  v = (x* - x) / dt  ->  damp v

Many substeps with one sweep beat few substeps with many sweeps at the same cost (Macklin, Storey, Lu, Terdiman,
Chentanez, Jeschke and Müller 2019). With one sweep the multiplier of each constraint starts at zero and is not kept.
Damping acts on velocities after the sweep, so that it cannot hold back what the springs correct. What a sweep takes
from the angular momentum of a garment that nothing holds is put back (`spin`).
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..elastic.bending import damp_bending, project_bending
from ..elastic.springs import damp_springs, project_springs
from ..elastic.tethers import project_tethers
from ..jit import fused, inner
from .spin import keep_spin, spin


class Scales(NamedTuple):
    """What depends on the substep's length only, computed once a frame."""

    edge: np.ndarray  # (e,) [kg] 1 / (w0 + w1 + compliance / dt^2)
    edge_share: np.ndarray  # (e,) [kg] damping impulse per relative velocity
    rest_bend: np.ndarray  # (b,) 2 sin(rest angle / 2)
    bend: np.ndarray  # (b, 4) [m] w K / (sum w K^2 + compliance / dt^2)
    bend_share: np.ndarray  # (b,) damping: part of the rate that goes, over the part of the bend that `bend` takes


class Held(NamedTuple):
    """Particles that the animated pose has a say in, and that pose during the frame."""

    particles: np.ndarray  # (m,) int32
    targets: np.ndarray  # (s + 1, m, 3) [m] relative to Cloth.origin
    stiffness: np.ndarray  # (m,) (angular frequency x dt)^2 of a soft pin; 0 none, inf kinematic
    distance: np.ndarray  # (m,) [m] largest distance from the pose
    free: np.ndarray  # (f, 2) first particle and end of each garment that nothing holds


def prepare_scales(cloth, dt, damping_dt):
    """`Scales` of a substep of length dt [s] with damping once in damping_dt [s]. No constraint is all kinematic."""
    w, stencils = cloth.inv_mass, cloth.bend_stencils
    edge_mass = w[cloth.edges[:, 0]] + w[cloth.edges[:, 1]]
    weighted = w[stencils] * cloth.bend_weight
    bend_mass = np.einsum("bk,bk->b", weighted, cloth.bend_weight)
    softened = bend_mass + cloth.bend_compliance / dt**2
    return Scales(
        1.0 / (edge_mass + cloth.edge_compliance / dt**2),
        -np.expm1(-cloth.edge_damping * damping_dt) / edge_mass,
        2.0 * np.sin(0.5 * cloth.rest_angle),
        weighted / softened[:, None],
        -np.expm1(-cloth.bend_damping * damping_dt) * softened / bend_mass,
    )


def prepare_held(cloth, targets, pin_rate, dt):
    """`Held` of a frame. A pin of weight p pulls like a critically damped spring of rate pin_rate p / (1 - p)."""
    kinematic = cloth.inv_mass == 0
    particles = np.flatnonzero(kinematic | (cloth.pin > 0) | np.isfinite(cloth.pin_distance)).astype(np.int32)
    pin = cloth.pin[particles]
    rate = np.divide(pin_rate * pin, 1.0 - pin, out=np.full(len(pin), np.inf), where=pin < 1)
    rate[kinematic[particles]] = np.inf
    local = np.ascontiguousarray(targets[:, particles] - cloth.origin)
    start, garments = cloth.garment_start, np.arange(len(cloth.garment_start) - 1)
    garments = np.setdiff1d(garments, cloth.garment[particles])
    free = np.stack([start[garments], start[garments + 1]], axis=1)
    return Held(particles, local, (rate * dt) ** 2, cloth.pin_distance[particles], free)


@fused
def predict(x, x_prev, v, inv_mass, ax, ay, az, particles, targets, stiffness, t0, t1, dt):
    """Move particles by velocity and acceleration, kinematic ones onto the pose and soft pins towards it.

    t0, t1 in [0, 1]: the substep's ends in the frame. A soft pin takes the implicit Euler step of a critically damped
    spring, so any weight is stable.
    """
    for i in range(np.uintp(x.shape[0])):
        x_prev[i, 0], x_prev[i, 1], x_prev[i, 2] = x[i, 0], x[i, 1], x[i, 2]
        if inv_mass[i] > 0.0:
            ui, vi, wi = v[i, 0] + dt * ax, v[i, 1] + dt * ay, v[i, 2] + dt * az
            v[i, 0], v[i, 1], v[i, 2] = ui, vi, wi
            x[i, 0] += dt * ui
            x[i, 1] += dt * vi
            x[i, 2] += dt * wi
    span = targets.shape[0] - 1
    for m in range(particles.shape[0]):
        if stiffness[m] > 0.0:
            i = particles[m]
            for k in range(3):
                old = _sample(targets, m, k, t0, span)
                new = _sample(targets, m, k, t1, span)
                if stiffness[m] == np.inf:
                    x_prev[i, k] = old
                    x[i, k] = new
                else:
                    rate = 2.0 * sqrt(stiffness[m])
                    pulled = x[i, k] + stiffness[m] * new + rate * (x_prev[i, k] + new - old)
                    x[i, k] = pulled / (1.0 + stiffness[m] + rate)


@inner
def _sample(targets, m, k, t, span):
    """Coordinate k of target m at time t in [0, 1], linear between samples; the ends are met exactly."""
    if span == 0:
        return targets[0, m, k]
    s = min(int(t * span), span - 1)
    f = t * span - s
    return targets[s, m, k] + f * (targets[s + 1, m, k] - targets[s, m, k]) if f < 1.0 else targets[s + 1, m, k]


@fused
def relax(
    x,
    x_prev,
    mass,
    inv_mass,
    edges,
    rest_length,
    edge_scale,
    stencils,
    weight,
    rest_bend,
    bend,
    tethers,
    tether_length,
    particles,
    targets,
    distance,
    t1,
    free,
    # scratch
    spins,
):
    """One sweep over tethers, springs, hinges and largest distances from the pose, in the order of the colours."""
    for g in range(free.shape[0]):
        spins[g, 0], spins[g, 1], spins[g, 2] = spin(x, x_prev, mass, free[g, 0], free[g, 1])
    project_tethers(x, tethers, tether_length)
    project_springs(x, inv_mass, edges, rest_length, edge_scale, 0, edges.shape[0])
    project_bending(x, stencils, weight, rest_bend, bend, 0, stencils.shape[0])
    span = targets.shape[0] - 1
    for m in range(particles.shape[0]):
        i = particles[m]
        if inv_mass[i] > 0.0 and distance[m] < np.inf:
            px, py, pz = (
                _sample(targets, m, 0, t1, span),
                _sample(targets, m, 1, t1, span),
                _sample(targets, m, 2, t1, span),
            )
            dx, dy, dz = x[i, 0] - px, x[i, 1] - py, x[i, 2] - pz
            length = sqrt(dx * dx + dy * dy + dz * dz)
            if length > distance[m]:
                share = distance[m] / length
                x[i, 0], x[i, 1], x[i, 2] = px + share * dx, py + share * dy, pz + share * dz
    for g in range(free.shape[0]):
        keep_spin(x, x_prev, mass, free[g, 0], free[g, 1], spins[g, 0], spins[g, 1], spins[g, 2])


@fused
def settle(x, x_prev, v, inv_mass, max_speed, dt):
    """Velocities from the substep's motion, no faster than `max_speed`."""
    rate = 1.0 / dt
    for i in range(np.uintp(x.shape[0])):
        ui, vi, wi = rate * (x[i, 0] - x_prev[i, 0]), rate * (x[i, 1] - x_prev[i, 1]), rate * (x[i, 2] - x_prev[i, 2])
        square = ui * ui + vi * vi + wi * wi
        if square > max_speed * max_speed and inv_mass[i] > 0.0:
            slower = max_speed / sqrt(square)
            ui, vi, wi = slower * ui, slower * vi, slower * wi
        v[i, 0], v[i, 1], v[i, 2] = ui, vi, wi


@fused
def damp(x, v, inv_mass, edges, edge_share, stencils, weight, bend, bend_share):
    """One damping sweep over springs and hinges, in the order of the colours."""
    damp_springs(x, v, inv_mass, edges, edge_share, 0, edges.shape[0])
    damp_bending(x, v, stencils, weight, bend, bend_share, 0, stencils.shape[0])
