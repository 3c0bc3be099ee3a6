# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth beside a pinch is held calm: it goes along with what is pinched, and creeps where it is pulled.

What two surfaces hold is fixed (`pinch`), and what hangs on it there lies in a crease that leaves no room, is drawn tight
over it, and rests on other cloth that has none either. No place is right for all of that: each contact would push cloth to
where the next one does not want it, which strains springs, and the solve would make speed of that. So within a few edges of
what is pinched cloth is drawn along with the surfaces through something viscous, which takes its own stiffness `CREEP_TIME`
to give way to. What it is strained by goes within some frames, and its weight is nothing. Nor do contacts push there: they
keep cloth from coming nearer, and give back what lacks slowly (`response`, `cloth.response`); so all of them are content
where it lies. Nothing holds harder than a tenth of strain pulls (`slip`): a hand that moves on would draw what is viscous to
several times its length.
"""

import math
from typing import NamedTuple

import numpy as np

from ...kernel.jit import njit
from ...kernel.mat3 import FREE, KINEMATIC
from .contacts import PINCHED

REST = 0.03  # [m/s] of two surfaces against each other above which they hold less, so that cloth goes no farther behind
STIR = 0.1  # [m/s] the same from which on nothing is calm
CALM_RINGS = 3  # edges from what is pinched up to which cloth is calm
CREEP_TIME = 0.1  # [s] of its springs against what holds it
LEAST_LAG = 1e-9  # [m] behind the surfaces in a step that counts


class Calm(NamedTuple):
    """Cloth that is held calm."""

    ring: np.ndarray  # (n,) edges from what is pinched; above `CALM_RINGS`: not calm
    velocity: np.ndarray  # (n, 3) [m/s] of what it goes along with
    unrest: np.ndarray  # (n,) [m/s] as in `Contacts`
    grip: np.ndarray  # (n,) [N s/m]
    share: np.ndarray  # (n,) scratch


def make_calm(cloth) -> Calm:
    """Nothing is calm."""
    count = len(cloth.mass)
    stiffness = np.bincount(cloth.edges.ravel(), np.repeat(cloth.edge_stiffness, 2), minlength=count)
    return Calm(
        np.full(count, CALM_RINGS + 1, np.int8),
        np.zeros((count, 3)),
        np.zeros(count),
        CREEP_TIME * stiffness,
        np.zeros(count),
    )


@njit
def find_calm(edges, contacts, calm):
    """Find what is calm, and how fast it goes along: with the surface that it touches, or as its neighbours nearer to the
    pinch do in the mean. 30 bytes a spring and ring. # outputs: calm; of `contacts` calm
    """
    ring, velocity, unrest, share = calm.ring, calm.velocity, calm.unrest, calm.share
    for i in range(len(ring)):
        touches = contacts.count[i] > 0
        ring[i] = 0 if contacts.place[i] == PINCHED else CALM_RINGS + 1
        for axis in range(3):
            velocity[i, axis] = contacts.velocity[i, 0, axis] if touches else 0.0
        share[i], unrest[i] = (1.0 if touches or ring[i] == 0 else 0.0), (contacts.unrest[i] if ring[i] == 0 else 0.0)
    for nearer in range(CALM_RINGS):
        for e in range(len(edges)):
            for side in range(2):
                i, j = edges[e, side], edges[e, 1 - side]
                if ring[i] != nearer or ring[j] <= nearer:
                    continue
                if ring[j] > nearer + 1:
                    ring[j] = nearer + 1
                unrest[j] = max(unrest[j], unrest[i])
                if contacts.count[j] <= 0:
                    share[j] += 1.0
                    for axis in range(3):
                        velocity[j, axis] += velocity[i, axis]
        for i in range(len(ring)):
            if ring[i] == nearer + 1:
                for axis in range(3):
                    velocity[i, axis] /= share[i]
    for i in range(len(ring)):
        contacts.calm[i] = ring[i] <= CALM_RINGS and unrest[i] <= STIR


@njit
def hold_calm(calm, is_calm, most, x, x_prev, dt, support):
    """Hold what is calm in a solve over dt [s], by no more than `most` (n,) [N]; x is predicted, x_prev as in `Motion`.
    # outputs: of `support` tangential, drag
    """
    for i in range(len(x)):
        if not is_calm[i] or support.kind[i] == KINEMATIC:
            continue
        lag = 0.0
        for axis in range(3):
            behind = dt * calm.velocity[i, axis] - x[i, axis] + x_prev[i, axis]
            lag += behind * behind
            if support.kind[i] == FREE:
                support.tangential[i, axis] = behind
        drag = calm.grip[i] / dt * min(1.0, REST / max(calm.unrest[i], REST))
        support.drag[i] += min(drag, most[i] / max(math.sqrt(lag), LEAST_LAG))
