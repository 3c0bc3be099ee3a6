# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes before and after the solve of a substep: pins, the prediction, and velocities at the end.

    x* = x + dt v + dt^2 a   (`predict`)        v = (x - x_from) / dt   (`find_velocities`)

Small substeps keep what one Newton step (`pcg`) leaves of the constraints' curvature small, and damp little (Macklin,
Storey, Lu, Terdiman, Chentanez, Jeschke and Müller 2019). A pin of a weight below 1 is a spring to the animated pose,
which pulls in the solve; one of weight 1 goes where the pose goes.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..kernel.jit import fused, inner
from ..kernel.shared import shared_fused

SMALLEST_FLYING_PART = 1024  # particles that another thread is asked for


class Pins(NamedTuple):
    """Particles that the animated pose has a say in, and that pose during the frame."""

    particles: np.ndarray  # (m,) int32
    targets: np.ndarray  # (s + 1, m, 3) [m] relative to Cloth.origin
    mass: np.ndarray  # (m,) [kg]
    frequency: np.ndarray  # (m,) [1/s] angular, of a soft pin; 0 none, inf kinematic
    stiffness: np.ndarray  # (m,) (frequency x dt)^2, as the next and `rate` for the dt of now: see `set_step`
    mass_rate: np.ndarray  # (m,) [N/m] mass / dt^2
    distance: np.ndarray  # (m,) [m] largest distance from the pose
    pull: np.ndarray  # (m, 3) [N] scratch: what soft pins pull with
    rate: np.ndarray  # (m,) [N/m] stiffness and damping over dt of soft pins
    step: np.ndarray  # (1,) [s] what `set_step` was told last


class Motion(NamedTuple):
    """The particles in a substep; all change in place.

    Where their velocities count from, `x_from` (n, 3) [m], goes from call to call: the solve begins with x_prev, contact moves it.
    """

    x: np.ndarray  # (n, 3) [m]
    x_prev: np.ndarray  # (n, 3) [m] `start`, kinematic particles on the pose
    v: np.ndarray  # (n, 3) [m/s]
    start: np.ndarray  # (n, 3) [m] where the substep began, free of crossings
    v_start: np.ndarray  # (n, 3) [m/s] velocity there


class Interval(NamedTuple):
    """A substep, or a small step of one: where it lies in its frame; t0 and t1 are fractions of the frame."""

    number: int
    t0: float
    t1: float
    dt: float  # [s]
    slow_dt: float  # [s] time that the air acts for now; 0 in some substeps


def prepare_pins(cloth, targets, pin_rate):
    """`Pins` of a frame. One of weight p pulls like a critically damped spring of rate pin_rate p / (1 - p)."""
    kinematic = cloth.inv_mass == 0
    particles = np.flatnonzero(kinematic | (cloth.pin > 0) | np.isfinite(cloth.pin_distance)).astype(np.int32)
    pin = cloth.pin[particles]
    frequency = np.divide(pin_rate * pin, 1.0 - pin, out=np.full(len(pin), np.inf), where=pin < 1)
    frequency[kinematic[particles]] = np.inf
    local = np.ascontiguousarray(targets[:, particles] - cloth.origin)
    by_step = (np.zeros(len(particles)) for _ in range(2))
    numbers = cloth.mass[particles], frequency, *by_step, cloth.pin_distance[particles]
    pull, rate = np.zeros((len(particles), 3)), np.zeros(len(particles))
    return Pins(particles, local, *numbers, pull, rate, np.full(1, np.nan))


def set_step(pins, rate, dt):
    """Let soft pins pull as hard in steps of dt [s]. # outputs: pins; rate (m + more,) [N/m] of all that pulls, pins first"""
    if pins.step[0] == dt:
        return
    pins.step[0] = dt
    pins.stiffness[:], pins.mass_rate[:] = (pins.frequency * dt) ** 2, pins.mass / dt**2
    is_soft = np.isfinite(pins.stiffness)
    soft = np.where(is_soft, pins.mass_rate * (pins.stiffness + 2.0 * np.sqrt(pins.stiffness)), 0.0)
    pins.rate[:] = rate[: len(soft)] = soft


def predict(motion, inv_mass, acceleration, pins, substep):
    """Move particles by velocity and acceleration, kinematic ones onto the pose; say what soft pins pull with.

    acceleration : three floats [m/s2]. A soft pin is a critically damped spring to the moving pose.
    # outputs: motion.x, motion.x_prev, motion.v, pins.pull
    """
    fly(len(inv_mass), motion.x, motion.x_prev, motion.v, inv_mass, acceleration, substep.dt)
    if len(pins.particles):
        follow_pose(motion.x, motion.x_prev, pins, substep)


@shared_fused(SMALLEST_FLYING_PART)
def fly(first, last, x, x_prev, v, inv_mass, acceleration, dt):
    """Move particles by velocity and acceleration [m/s2]. 150 bytes and 12 flops each. # outputs: x, x_prev, v"""
    ax, ay, az = acceleration
    for i in range(np.uintp(first), np.uintp(last)):
        x_prev[i, 0], x_prev[i, 1], x_prev[i, 2] = x[i, 0], x[i, 1], x[i, 2]
        if inv_mass[i] > 0.0:
            ui, vi, wi = v[i, 0] + dt * ax, v[i, 1] + dt * ay, v[i, 2] + dt * az
            v[i, 0], v[i, 1], v[i, 2] = ui, vi, wi
            x[i, 0], x[i, 1], x[i, 2] = x[i, 0] + dt * ui, x[i, 1] + dt * vi, x[i, 2] + dt * wi


@fused
def follow_pose(x, x_prev, pins, substep):
    """Move kinematic particles onto the pose; say what soft pins pull with. # outputs: x, x_prev, pins.pull"""
    targets, stiffness, span = pins.targets, pins.stiffness, pins.targets.shape[0] - 1
    for m in range(pins.particles.shape[0]):
        if stiffness[m] > 0.0:
            i = pins.particles[m]
            for k in range(3):
                old = _sample(targets, m, k, substep.t0, span)
                new = _sample(targets, m, k, substep.t1, span)
                if stiffness[m] == np.inf:
                    x_prev[i, k], x[i, k] = old, new
                else:
                    lag = new - x[i, k] + 2.0 / sqrt(stiffness[m]) * (new - old - x[i, k] + x_prev[i, k])
                    pins.pull[m, k] = pins.mass_rate[m] * stiffness[m] * lag


@inner
def _sample(targets, m, k, t, span):
    """Coordinate k of target m at time t in [0, 1], linear between samples; the ends are met exactly."""
    if span == 0:
        return targets[0, m, k]
    s = min(int(t * span), span - 1)
    f = t * span - s
    return targets[s, m, k] + f * (targets[s + 1, m, k] - targets[s, m, k]) if f < 1.0 else targets[s + 1, m, k]


@fused
def keep_near_pose(x, inv_mass, pins, t1):
    """Bring particles back that are farther from the animated pose than they may be at t1 in [0, 1]. # output: x"""
    targets, distance, span = pins.targets, pins.distance, pins.targets.shape[0] - 1
    for m in range(pins.particles.shape[0]):
        i = pins.particles[m]
        if inv_mass[i] > 0.0 and distance[m] < np.inf:
            px, py = _sample(targets, m, 0, t1, span), _sample(targets, m, 1, t1, span)
            pz = _sample(targets, m, 2, t1, span)
            dx, dy, dz = x[i, 0] - px, x[i, 1] - py, x[i, 2] - pz
            length = sqrt(dx * dx + dy * dy + dz * dz)
            if length > distance[m]:
                share = distance[m] / length
                x[i, 0], x[i, 1], x[i, 2] = px + share * dx, py + share * dy, pz + share * dz


@shared_fused(SMALLEST_FLYING_PART)
def find_velocities(first, last, x, x_from, v, inv_mass, max_speed, dt):
    """Velocities from the substep's motion, no faster than `max_speed` [m/s]. # output: v"""
    rate = 1.0 / dt
    for i in range(np.uintp(first), np.uintp(last)):
        ui, vi, wi = rate * (x[i, 0] - x_from[i, 0]), rate * (x[i, 1] - x_from[i, 1]), rate * (x[i, 2] - x_from[i, 2])
        square = ui * ui + vi * vi + wi * wi
        if square > max_speed * max_speed and inv_mass[i] > 0.0:
            slower = max_speed / sqrt(square)
            ui, vi, wi = slower * ui, slower * vi, slower * wi
        v[i, 0], v[i, 1], v[i, 2] = ui, vi, wi
