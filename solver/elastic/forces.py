# SPDX-License-Identifier: GPL-3.0-or-later
"""What few scenes have: force fields and random force. Nothing of it costs or is compiled where nothing asks for it.

Each changes velocities by dt of itself: dv = dt a(x, v), implicit in what resists motion. Fields are looked at when the
air is, and act in every substep.
"""

from typing import NamedTuple

from .chance import shake
from .fields import Packed, evaluate, pack, press


class Forces(NamedTuple):
    """What acts in a frame."""

    fields: Packed | None
    shaken: tuple[float, ...] | None  # [N/kg] least random force per axis, then its ranges


def prepare(cloth, frame_input, settings):
    """`Forces` of a frame, or None if there are none."""
    low, high = settings.random_force_min, settings.random_force_max
    shaken = None
    if tuple(low) != tuple(high):
        shaken = (*map(float, low), *(float(top - bottom) for bottom, top in zip(low, high, strict=True)))
    weight = frame_input.field_weight
    felt = bool(frame_input.fields) and (weight is None or any(weight))
    fields = pack(frame_input.fields, weight, cloth, frame_input.noise_table) if felt else None
    return Forces(fields, shaken) if fields is not None or shaken is not None else None


def act(forces, cloth, x, v, seed, frame, substep):
    """Velocities after a substep of the forces."""
    if forces.fields is not None:
        if substep.slow_dt:
            evaluate(forces.fields, cloth, x, v, frame, substep.t1)
        press(x, v, cloth.inv_mass, cloth.triangles, forces.fields.push, substep.dt)
    if forces.shaken is not None:
        shake(v, cloth.inv_mass, *forces.shaken, seed, frame, substep.number, substep.dt)
