# SPDX-License-Identifier: GPL-3.0-or-later
"""Extended position based dynamics with small substeps: one sweep of projections per substep.

    predict x* = x + dt v  ->  project x* onto springs, hinges, pins  ->  v = (x* - x) / dt  ->  damp v

Many substeps with one sweep beat few substeps with many sweeps at the same cost (Macklin, Storey, Lu, Terdiman,
Chentanez, Jeschke and Müller 2019). With one sweep the multiplier of each constraint starts at zero and is not kept.
Damping acts on velocities after the sweep, so that it cannot hold back what the springs correct.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..elastic.bending import damp_bending, project_bending
from ..elastic.springs import damp_springs, project_springs
from ..jit import njit


class Scales(NamedTuple):
    """What depends on the substep's length only, computed once a frame."""

    edge: np.ndarray  # (e,) [kg] 1 / (w0 + w1 + compliance / dt^2)
    edge_share: np.ndarray  # (e,) [kg] damping impulse per relative velocity
    rest_bend: np.ndarray  # (b,) 2 sin(rest angle / 2)
    bend: np.ndarray  # (b,) [kg m2] 1 / (sum w K^2 + compliance / dt^2)
    bend_share: np.ndarray  # (b,) [kg m2]


class Held(NamedTuple):
    """Particles that the animated pose has a say in, and that pose during the frame."""

    particles: np.ndarray  # (m,) int32
    targets: np.ndarray  # (s + 1, m, 3) [m] relative to Cloth.origin
    stiffness: np.ndarray  # (m,) (angular frequency x dt)^2 of a soft pin; 0 none, inf kinematic
    distance: np.ndarray  # (m,) [m] largest distance from the pose


def _reciprocal(value):
    return np.divide(1.0, value, out=np.zeros_like(value), where=value > 0)


def prepare_scales(cloth, dt):
    """`Scales` of a substep of length dt [s]; zero where every particle of a constraint is kinematic."""
    w = cloth.inv_mass
    edge_mass = w[cloth.edges].sum(axis=1)
    bend_mass = (w[cloth.bend_stencils] * cloth.bend_weight**2).sum(axis=1)
    return Scales(
        np.where(edge_mass > 0, _reciprocal(edge_mass + cloth.edge_compliance / dt**2), 0.0),
        -np.expm1(-cloth.edge_damping * dt) * _reciprocal(edge_mass),
        2.0 * np.sin(0.5 * cloth.rest_angle),
        np.where(bend_mass > 0, _reciprocal(bend_mass + cloth.bend_compliance / dt**2), 0.0),
        -np.expm1(-cloth.bend_damping * dt) * _reciprocal(bend_mass),
    )


def prepare_held(cloth, targets, pin_rate, dt):
    """`Held` of a frame. A pin of weight p pulls like a critically damped spring of rate pin_rate p / (1 - p)."""
    kinematic = cloth.inv_mass == 0
    particles = np.flatnonzero(kinematic | (cloth.pin > 0) | np.isfinite(cloth.pin_distance)).astype(np.int32)
    pin = cloth.pin[particles]
    rate = np.divide(pin_rate * pin, 1.0 - pin, out=np.full(len(pin), np.inf), where=pin < 1)
    rate[kinematic[particles]] = np.inf
    local = np.ascontiguousarray(targets[:, particles] - cloth.origin)
    return Held(particles, local, (rate * dt) ** 2, cloth.pin_distance[particles])


@njit
def predict(x, x_prev, v, inv_mass, particles, targets, stiffness, t0, t1, dt):
    """Move particles by their velocities, kinematic ones onto the pose and soft pins towards it.

    t0, t1 in [0, 1]: the substep's ends in the frame. A soft pin takes the implicit Euler step of a critically damped
    spring, so any weight is stable.
    """
    for i in range(x.shape[0]):
        for k in range(3):
            x_prev[i, k] = x[i, k]
            if inv_mass[i] > 0.0:
                x[i, k] += dt * v[i, k]
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


@njit
def _sample(targets, m, k, t, span):
    """Coordinate k of target m at time t in [0, 1], linear between samples; the ends are met exactly."""
    if span == 0:
        return targets[0, m, k]
    s = min(int(t * span), span - 1)
    f = t * span - s
    return targets[s, m, k] + f * (targets[s + 1, m, k] - targets[s, m, k]) if f < 1.0 else targets[s + 1, m, k]


@njit
def relax(
    x,
    inv_mass,
    edges,
    rest_length,
    edge_scale,
    stencils,
    weight,
    rest_bend,
    bend_scale,
    particles,
    targets,
    distance,
    t1,
):
    """One sweep over springs, hinges and largest distances from the pose, in the order of the colours."""
    project_springs(x, inv_mass, edges, rest_length, edge_scale, 0, edges.shape[0])
    project_bending(x, inv_mass, stencils, weight, rest_bend, bend_scale, 0, stencils.shape[0])
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


@njit
def settle(x, x_prev, v, inv_mass, edges, edge_share, stencils, weight, bend_share, max_speed, dt):
    """Velocities from the substep's motion, damped and bounded."""
    for i in range(x.shape[0]):
        for k in range(3):
            v[i, k] = (x[i, k] - x_prev[i, k]) / dt
    damp_springs(x, v, inv_mass, edges, edge_share, 0, edges.shape[0])
    damp_bending(x, v, inv_mass, stencils, weight, bend_share, 0, stencils.shape[0])
    for i in range(x.shape[0]):
        speed = sqrt(v[i, 0] * v[i, 0] + v[i, 1] * v[i, 1] + v[i, 2] * v[i, 2])
        if speed > max_speed and inv_mass[i] > 0.0:
            for k in range(3):
                v[i, k] *= max_speed / speed
