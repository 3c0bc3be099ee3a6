# SPDX-License-Identifier: GPL-3.0-or-later
"""What a hand does to cloth: it grabs and pulls, smooths, and pins where cloth is. Arrays only.

What is grabbed is pulled by attachments in the solve (`model.Attachments`), in all as stiff as brings the whole garment to the hand in
`REACH_TIME`, and never by more than `MOST_PULL` times its weight on Earth: so cloth comes along as fast as the hand goes, and
what holds it elsewhere is not torn out. What is smoothed is pulled to the middle of its neighbours, each particle for itself.
Both leave it to contact where cloth can go: nothing passes through anything by it.
"""

from typing import NamedTuple

import numpy as np

from ...solver.model import Attachments, Cloth
from .touch import Patch, patch, smoothed

REACH_TIME = 0.05  # [s] in which a garment nearly comes to where it is pulled, at a strength of 1
SMOOTH_TIME = 0.03  # [s] in which what is smoothed nearly lies in the middle of its neighbours
SMOOTH_ROUNDS = 4  # of going half way there
MOST_PULL = 10.0  # weights of the garment
EARTH = 9.81  # [m/s2]
LEAST_STRENGTH = 0.01


class Held(NamedTuple):
    """What is grabbed."""

    patch: Patch
    start: np.ndarray  # (m, 3) [m] where it was then
    point: np.ndarray  # (3,) [m] where the hand was
    mass: float  # [kg] of the garment
    wanted: np.ndarray  # (3,) [m] by which it is to come


def with_grip(attachments: Attachments | None, grip: Attachments | None) -> Attachments | None:
    """The garments' own attachments, and those to a hand."""
    if attachments is None or grip is None:
        return grip if attachments is None else attachments
    both = {name: np.concatenate((getattr(attachments, name), getattr(grip, name))) for name in Attachments._fields[2:]}
    particles = np.concatenate((attachments.particles, grip.particles))
    return Attachments(particles, np.concatenate((attachments.targets, grip.targets), axis=1), **both)


class Hand:
    """The hand over a cloth; positions are relative to `Cloth.origin`."""

    def __init__(self, cloth: Cloth):
        self.strength = 1.0
        self.pinned = np.zeros(len(cloth.mass), np.bool_)  # by hand
        self.places = np.zeros((len(cloth.mass), 3))  # [m] where these are
        self.held: Held | None = None
        self.smoothing: Patch | None = None

    def grab(self, cloth: Cloth, x: np.ndarray, triangle: np.ndarray, point: np.ndarray, radius: float) -> bool:
        """Take hold of the cloth around a point [m] of a triangle, its three particles; whether there is any that can move."""
        found = self._under(cloth, x, triangle, point, radius, cloth.inv_mass > 0.0)
        found = Patch(*(each[~self.pinned[found.particles]] for each in found))
        self.let_go()
        if not found.weight.sum() > 0.0:
            return False
        mass = float(cloth.mass[cloth.garment == cloth.garment[triangle[0]]].sum())
        self.held = Held(found, x[found.particles].copy(), np.array(point), mass, np.zeros(3))
        return True

    def move(self, point: np.ndarray) -> None:
        """Pull what is held to a point [m]."""
        if self.held is not None:
            self.held = self.held._replace(wanted=point - self.held.point)

    def smooth(self, cloth: Cloth, x: np.ndarray, triangle: np.ndarray, point: np.ndarray, radius: float) -> None:
        """Smooth the cloth around a point of a triangle, for as long as nothing else is done."""
        self.let_go()
        self.smoothing = self._under(cloth, x, triangle, point, radius, cloth.inv_mass > 0.0)

    def let_go(self) -> None:
        """Hold nothing, smooth nothing."""
        self.held = self.smoothing = None

    def pin(self, cloth: Cloth, x: np.ndarray, triangle: np.ndarray, point: np.ndarray, radius: float) -> None:
        """Pin the cloth around a point where it is."""
        found = self._under(cloth, x, triangle, point, radius, ~self.pinned).particles
        self.pinned[found], self.places[found] = True, x[found]

    def unpin(self, cloth: Cloth, x: np.ndarray, triangle: np.ndarray, point: np.ndarray, radius: float) -> None:
        """Take pins that were made by hand off the cloth around a point."""
        self.pinned[self._under(cloth, x, triangle, point, radius, self.pinned).particles] = False

    def grip(self, cloth: Cloth, x: np.ndarray) -> Attachments | None:
        """The attachments to the hand in the step that begins at x; None: nothing."""
        if self.smoothing is not None and len(self.smoothing.particles):
            particles, weight = self.smoothing
            targets = smoothed(x, cloth.edges, particles, SMOOTH_ROUNDS) + cloth.origin
            stiffness = self._firmness() * weight * cloth.mass[particles] / SMOOTH_TIME**2
            return _attachments(particles, targets, stiffness, SMOOTH_TIME)
        if self.held is None:
            return None
        particles, weight = self.held.patch
        share = weight / weight.sum()
        time = REACH_TIME / np.sqrt(self._firmness())
        stiffness = self.held.mass / time**2
        # Where it is, all in all, against where it should be: no farther than it may be pulled.
        has_come = (share[:, None] * (x[particles] - self.held.start)).sum(axis=0)
        lead = self.held.wanted - has_come
        length, most = float(np.sqrt((lead * lead).sum())), MOST_PULL * EARTH * self.held.mass / stiffness
        targets = self.held.start + has_come + lead * min(1.0, most / max(length, 1e-12)) + cloth.origin
        return _attachments(particles, targets, share * stiffness, time)

    def _firmness(self):
        return max(self.strength, LEAST_STRENGTH)

    @staticmethod
    def _under(cloth, x, triangle, point, radius, may):
        """The particles that count under the brush, of the garment that the triangle belongs to."""
        middle = int(triangle[((x[triangle] - point) ** 2).sum(axis=1).argmin()])
        first, end = cloth.garment_start[cloth.garment[middle] : cloth.garment[middle] + 2]
        mine = cloth.edges[(cloth.edges[:, 0] >= first) & (cloth.edges[:, 0] < end)] - first
        found = patch(x[first:end], mine, middle - first, point, radius, may[first:end])
        return Patch((found.particles + first).astype(np.int32), found.weight)


def _attachments(particles, targets, stiffness, time):
    """To places that stand still, damped as is critical for what comes there in about `time` [s]."""
    bears = np.full(len(particles), np.inf)
    return Attachments(particles, np.stack((targets, targets)), stiffness, 2.0 * time * stiffness, bears)
