# SPDX-License-Identifier: GPL-3.0-or-later
"""What few scenes have: force fields, random force, pressure, attachments. Nothing of it costs or is compiled where nothing
asks for it.

Fields and chance change velocities by dt of themselves: dv = dt a(x, v), implicit in what resists motion. Fields are
looked at when the air is, and act in every substep. Pressure is a force that the solve balances.
"""

from typing import NamedTuple

import numpy as np

from .force_fields import Packed, evaluate, pack, press
from .pressure import Inside, find_insides, inflate
from .random import shake

FAINT_STIFFNESS = 1e-30  # [N/m] stiffness of a pull that has none: the solve leaves out what has zero


class Pulls(NamedTuple):
    """Particles that something pulls in the solve: soft pins first, then pressure, then attachments."""

    particles: np.ndarray  # (m,) int32
    pull: np.ndarray  # (m, 3) [N]
    rate: np.ndarray  # (m,) [N/m]


class Forces(NamedTuple):
    """What acts in a frame."""

    fields: Packed | None
    shaken: tuple[tuple[float, ...], tuple[float, ...]] | None  # [N/kg] least random force per axis, and its ranges
    insides: list[Inside]  # garments under pressure


def prepare(cloth, frame_input, settings, x):
    """`Forces` of a frame that starts at x, or None if there are none."""
    low, high = settings.random_force_min, settings.random_force_max
    shaken = None
    if tuple(low) != tuple(high):
        span = tuple(float(top - bottom) for bottom, top in zip(low, high, strict=True))
        shaken = tuple(map(float, low)), span
    weight = frame_input.field_weight
    felt = bool(frame_input.fields) and (weight is None or any(weight))
    fields = pack(frame_input.fields, weight, cloth, frame_input.noise_table) if felt else None
    pressure, volume = frame_input.pressure, frame_input.volume
    insides = find_insides(cloth, pressure, volume or [0.0] * len(pressure), x) if pressure and any(pressure) else []
    return Forces(fields, shaken, insides) if fields is not None or shaken is not None or insides else None


def pulls(forces, pins, attached=None):
    """`pins` with their pull inside of what the solve is pulled by in a frame, and that; the same of attachments.

    attached : `integrate.attachments.Attached`, or None
    """
    insides = forces.insides if forces is not None else []
    if not insides and attached is None:
        return pins, Pulls(pins.particles, pins.pull, pins.rate), None
    particles = [pins.particles, *(np.arange(*inside.particles, dtype=np.int32) for inside in insides)]
    pull, held = [pins.pull, *(inside.pull for inside in insides)], np.zeros(0, np.int32)
    if attached is not None:
        particles, pull, held = [*particles, attached.particles], [*pull, attached.pull], attached.particles
    ends, first = np.cumsum([len(part) for part in particles]), len(pins.particles)
    particles, pull = np.concatenate(particles), np.concatenate(pull)
    rate = np.concatenate([pins.rate, np.full(len(pull) - first, FAINT_STIFFNESS)])
    for k, inside in enumerate(insides):
        insides[k] = inside._replace(pull=pull[ends[k] : ends[k + 1]])
    if attached is not None:
        attached = attached._replace(pull=pull[-len(held) :], rate=rate[-len(held) :])
    return pins._replace(pull=pull[:first]), Pulls(particles, pull, rate), attached


def acted_on(forces, pins, attached):
    """(m,) particles on which something acts from outside: pins, attachments (None: there are none), and pressure on an open garment.
    What it does not act on keeps its momentum, as the solve sees to it.
    """
    insides = forces.insides if forces is not None else []
    blown = (np.arange(*inside.particles) for inside in insides if not inside.closed)
    return np.concatenate([pins.particles, *blown, *(() if attached is None else [attached.particles])])


def act(forces, cloth, x, v, seed, frame, substep):
    """Let the forces act for a substep on particles at x, with v (n, 3) [m], [m/s]. # outputs: v; the `pull` of each of `insides`, for the solve"""
    if forces.fields is not None:
        if substep.slow_dt:
            evaluate(forces.fields, cloth, x, v, frame, substep.t1)
        press(x, v, cloth.inv_mass, cloth.triangles, forces.fields.push, forces.fields.normal_push, substep.dt)
    if forces.shaken is not None:
        shake(v, cloth.inv_mass, *forces.shaken, seed, frame, substep.number, substep.dt)
    for inside in forces.insides:
        inflate(inside, cloth, x, v, substep.dt)
