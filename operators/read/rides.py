# SPDX-License-Identifier: GPL-3.0-or-later
"""What garments ride on, whose motion they may feel only in part: an object or a bone, in every frame."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...solver.model import Ride


class Riding(NamedTuple):
    """What one garment rides on, at one instant."""

    unfelt: float
    place: np.ndarray  # (3,) [m]
    turn: np.ndarray  # (3, 3)
    velocity: np.ndarray  # (2, 3) [m/s] and [rad/s] up to that instant; 0 where nothing was before


def rides_moves(paths: set[str], cloth) -> bool:
    """Whether a garment feels less than all of what it rides on, in some frame; paths : of its keyframes."""
    return cloth.ride.felt < 1.0 or "taffeta_cloth.ride.felt" in paths


def read_riding(placed: bpy.types.Object, depsgraph: bpy.types.Depsgraph, metres: float) -> Riding:
    """What an evaluated garment rides on now: the object or bone of its settings, or else its own object.

    Raises
    ------
    ValueError
        There is no such bone: names it.
    """
    ride = placed.taffeta_cloth.ride
    carrier = placed if ride.object is None else ride.object.evaluated_get(depsgraph)
    matrix = carrier.matrix_world
    if ride.object is not None and ride.bone:
        bone = carrier.pose.bones.get(ride.bone) if carrier.pose else None
        if bone is None:
            raise ValueError(
                f"{placed.name} rides on a bone '{ride.bone}' that {carrier.name} does not have; choose another one"
            )
        matrix = matrix @ bone.matrix
    turn = np.array(matrix.to_quaternion().to_matrix(), np.float64)
    return Riding(1.0 - ride.felt, metres * np.array(matrix.translation, np.float64), turn, np.zeros((2, 3)))


def later(start: Sequence[Riding | None], end: Sequence[Riding | None], seconds: float) -> tuple[Riding | None, ...]:
    """The ridings at the end of a time [s] with the velocities that led there from the start."""
    return tuple(
        b if a is None or b is None else _with_velocity(a, b, seconds) for a, b in zip(start, end, strict=True)
    )


def ride(moments: Sequence[Riding], seconds: float) -> Ride:
    """The ride of a frame of so many seconds, between moments at equal times from its start to its end."""
    part = seconds / (len(moments) - 1)
    velocity = [_with_velocity(a, b, part).velocity for a, b in zip(moments, moments[1:], strict=False)]
    places = np.stack([moment.place for moment in moments])
    return Ride(moments[-1].unfelt, moments[0].velocity, np.stack(velocity), places)


def _with_velocity(start, end, seconds):
    """A riding with its mean velocity since the start: a straight way, and the shortest turn about one axis."""
    turn = np.einsum("ik,jk->ij", end.turn, start.turn)
    axis = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    sine, cosine = 0.5 * float(np.sqrt((axis * axis).sum())), 0.5 * (float(np.trace(turn)) - 1.0)
    angle = math.atan2(sine, cosine)
    # half a turn in one part of a frame has no axis that could be told: it counts as none
    spin = 0.5 * axis * (angle / sine if sine > 1e-9 else 1.0)
    return end._replace(velocity=np.stack([end.place - start.place, spin]) / seconds)
