# SPDX-License-Identifier: GPL-3.0-or-later
"""What is pinched slips where cloth pulls at it by more than two surfaces hold.

Fixed to both, cloth would go with them wherever they go: what two arms hold is drawn to twice its length as one of them moves
on, and cloth between fingers leaves with the hand. Real cloth slips before. How hard bodies press nobody knows; so what is
between them holds until the cloth on one side of it is strained by `SLIP_STRAIN`, and where they do not overlap by the less
the farther they are apart (`pinch`). What pulls harder draws it along between them, a part of the way per step, never beyond
where nothing pulls, however taut the cloth is; but not to where they come together. Once it
slips, less holds it: so it comes to rest. In an open crease, where nothing presses, it stays as it is up to that strain, too,
and may be pulled out (`constraints`), but not in. Between two fingers that do not press it slips through, whichever way: held
there, one particle would take the whole garment along with the hand.
"""

import math
from typing import NamedTuple

import numpy as np

from ...elastic.springs import TAUT_LENGTH, TAUT_STIFFNESS, spring_numbers
from ...kernel.jit import inner, njit
from ...kernel.mat3 import CREASED, KINEMATIC
from ...kernel.memo import remembered
from .contacts import PINCHED
from .pinch import LOCKED_COSINE

SLIP_STRAIN = 0.1  # of the cloth that pulls, up to which it holds
ONE_SIDE = 0.25  # part of the springs around a particle, each times its length, that pull it where one side is strained
SLIDING = 0.5  # part of what holds it that is left once it slips
SLIP_SHARE = 0.5  # of the way per step
LEAST_TAPER = 0.1  # length of the sum of two normals from which on surfaces come together somewhere


class Hold(NamedTuple):
    """How hard cloth may pull at a particle that is pinched."""

    most: np.ndarray  # (n,) [N] before it slips
    stiffness: np.ndarray  # (n,) [N/m] that its springs have at most: taut, and with those that they are coupled with


@remembered(
    4, lambda cloth: (cloth.edges, cloth.edge_stiffness, cloth.rest_length, cloth.taut, cloth.couples, cloth.coupling)
)
def make_hold(cloth) -> Hold:
    """`Hold` of each particle of a cloth."""
    count, ends = len(cloth.mass), cloth.edges.ravel()
    force = np.bincount(ends, np.repeat(cloth.edge_stiffness * cloth.rest_length, 2), minlength=count)
    more = np.where(np.isfinite(cloth.taut[:, TAUT_LENGTH]), cloth.taut[:, TAUT_STIFFNESS], 0.0)
    hardest = spring_numbers(cloth).bound + more
    stiffness = np.bincount(ends, np.repeat(hardest, 2), minlength=count)
    return Hold(SLIP_STRAIN * ONE_SIDE * force, stiffness)


@inner
def _without(fx, fy, fz, ax, ay, az, least, only_against):
    """A force f without its part along a; all of it where a is no longer than `least`, or f goes along it but is to lose
    `only_against`.
    """
    square, along = ax * ax + ay * ay + az * az, fx * ax + fy * ay + fz * az
    if square <= least * least or (only_against and along >= 0.0):
        return fx, fy, fz
    share = along / square
    return fx - share * ax, fy - share * ay, fz - share * az


@njit
def find_slip(force, hold, kind, contacts):
    """How far each pinched particle slips that a solve has held, by its `kind` there; force (n, 3) [N] is what cloth pulls
    it with. # outputs: of `contacts` slip
    """
    slip, normal = contacts.slip, contacts.normal
    for i in range(len(force)):
        slip[i, 0], slip[i, 1], slip[i, 2] = 0.0, 0.0, 0.0
        is_held = contacts.place[i] == PINCHED and contacts.count[i] == 2
        is_held &= kind[i] == KINEMATIC or kind[i] == CREASED  # along the way that it is rubbed nothing is left over
        if not is_held or hold.stiffness[i] == 0.0:
            continue
        ax, ay, az = normal[i, 0, 0], normal[i, 0, 1], normal[i, 0, 2]
        bx, by, bz = normal[i, 1, 0], normal[i, 1, 1], normal[i, 1, 2]
        fx, fy, fz = force[i, 0], force[i, 1], force[i, 2]
        fx, fy, fz = _without(fx, fy, fz, ax - bx, ay - by, az - bz, 0.0, False)
        if contacts.press[i] > 0.0 or ax * bx + ay * by + az * bz > LOCKED_COSINE:
            fx, fy, fz = _without(fx, fy, fz, ax + bx, ay + by, az + bz, LEAST_TAPER, True)
        share = 1.0 if contacts.friction[i, 1] == 0.0 else contacts.press[i]
        pull, most = math.sqrt(fx * fx + fy * fy + fz * fz), share * hold.most[i]
        if pull > most:
            share = SLIP_SHARE * (pull - SLIDING * most) / (pull * hold.stiffness[i])
            slip[i, 0], slip[i, 1], slip[i, 2] = share * fx, share * fy, share * fz
