# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid garments through a substep: they fall, are kept off bodies, are carried and turned by the field, and go on as a whole.

    begin(cloth, x, x_from, t, dt)      what moved their particles freely is the motion of a whole, off bodies
    carry(weight, before, x, x_from)    each round of the field: what it changed is impulses on the whole, off bodies again
    ease(weight, before, way)           each round in which it eases apart what is too dense
    end(x, x_from)                      places and velocities of rigid garments

Between these x - x_from of their particles is dt times a rigid velocity at the place where the substep began, as the grid
sees it.
"""

import numpy as np

from ..model import Cloth, FrameInput, Settings, State
from .rigid import Pose, Rigid, find_rigid, moved, particle_motion, pose_of, standing_for_all, whole_motion
from .rigid_contact import RigidContact, Touches, keep_off, leave, take_out

TOUCHING_SHARE = 0.1  # by which a particle that is touched stands for its garment
KEPT_SHARE = 0.5  # part of its share that it keeps from round to round
FIELD_ROUNDS = 16  # times that the field is asked again, after rigid garments have gone as wholes


class RigidBodies:
    """All rigid garments of a bake in a frame."""

    def __init__(self, rigid: Rigid, contact: RigidContact | None):
        self.rigid, self.contact = rigid, contact
        self.pose: Pose | None = None  # where the substep began
        self.eased: np.ndarray | None = None  # (b, 6) [m], [rad] by which they are moved without any speed
        self.touches: Touches | None = None  # None: no body is there
        self.dt = 0.0  # [s]
        self.share = np.zeros(len(rigid.particles))  # (k,) how far each particle stands for its garment, up to 1
        self.weight = rigid.mass.copy()  # (k,) [kg] that particles count with

    def begin(self, cloth: Cloth, x: np.ndarray, x_from: np.ndarray, t: float, dt: float) -> None:
        """Take in a substep in which particles would go freely from x_from to x (n, 3) [m] in dt [s], until t of the frame."""
        self.pose, self.dt = pose_of(self.rigid, x_from), dt
        self.eased = np.zeros((len(self.rigid.total), 6))
        self._go(x, x_from, self._motion(x, x_from))
        self.touches = self.contact.find(cloth, self.rigid, x, x_from, t, dt) if self.contact is not None else None
        self._keep_off(x, x_from)

    def touch(self, particles: np.ndarray, ours: np.ndarray) -> None:
        """A field of some garments, `ours` (n,) bool, is solved for beside some of their particles (p,) from now on: these stand
        for their garments, at first all alike.
        """
        touched = np.zeros(len(ours), np.bool_)
        touched[particles] = True
        own = self.rigid.particles
        share = np.where(touched[own], np.maximum(self.share, TOUCHING_SHARE), 0.0)
        self.share = np.where(ours[own], share, self.share)
        self.weight = standing_for_all(self.rigid, self.pose, self.share)

    def weights(self, cloth: Cloth) -> np.ndarray:
        """(n,) [kg] that particles count with in a field."""
        weight = cloth.mass.copy()
        weight[self.rigid.particles] = self.weight
        return weight

    def weighed(self, cloth: Cloth) -> Cloth:
        """The cloth with particles as heavy as they count for."""
        return cloth._replace(inv_mass=np.where(cloth.inv_mass > 0.0, 1.0 / self.weights(cloth), 0.0))

    def carry(self, before: np.ndarray, x: np.ndarray, x_from: np.ndarray) -> None:
        """Have rigid garments go by what a field changed from `before` to x (n, 3) [m]. # output: x"""
        own = self.rigid.particles
        change = (x[own] - before[own]) / self.dt
        gained = whole_motion(self.rigid, self.pose, self.weight, change)
        x[own] = before[own]
        self._go(x, x_from, self._motion(x, x_from) + gained)
        self._keep_off(x, x_from)
        self._learn(change)

    def _learn(self, change):
        """Let particles stand for their garments by how far (k, 3) [m/s] a round of the field has changed them."""
        size = np.sqrt(np.einsum("ki,ki->k", change, change))
        most = np.maximum.reduceat(size, self.rigid.first)[self.rigid.piece]
        found = np.divide(size, most, out=np.zeros_like(size), where=most > 0.0)
        share = np.maximum(TOUCHING_SHARE, np.maximum(found, KEPT_SHARE * self.share))
        self.share = np.where(self.share > 0.0, share, 0.0)
        self.weight = standing_for_all(self.rigid, self.pose, self.share, change)

    def ease(self, before: np.ndarray, way: np.ndarray) -> None:
        """Have rigid garments go what a round of easing changed of the way (n, 3) [m] from `before`, at the end and without any
        speed. # output: way
        """
        own = self.rigid.particles
        gained = whole_motion(self.rigid, self.pose, self.weight, way[own] - before[own])
        self.eased += gained
        way[own] = before[own] + particle_motion(self.rigid, self.pose, gained)

    def end(self, x: np.ndarray, x_from: np.ndarray) -> None:
        """Put rigid garments where they go, and where their velocities count from. # outputs: x, x_from"""
        own, motion, shift = self.rigid.particles, self._motion(x, x_from), self.eased
        if self.touches is not None:
            keep_off(self.touches, self.rigid, self.pose, motion)
            shift = shift + take_out(self.touches, self.rigid, self.pose)
        pose, motion = moved(self.pose, self.rigid, motion, shift, self.dt)
        if self.touches is not None:
            leave(self.touches, self.rigid, pose, motion)
        x[own] = pose.middle[self.rigid.piece] + pose.arm
        x_from[own] = x[own] - self.dt * particle_motion(self.rigid, pose, motion)

    def _motion(self, x, x_from):
        own = self.rigid.particles
        return whole_motion(self.rigid, self.pose, self.rigid.mass, (x[own] - x_from[own]) / self.dt)

    def _go(self, x, x_from, motion):
        own = self.rigid.particles
        x[own] = x_from[own] + self.dt * particle_motion(self.rigid, self.pose, motion)

    def _keep_off(self, x, x_from):
        if self.touches is not None and len(self.touches.place):
            motion = self._motion(x, x_from)
            keep_off(self.touches, self.rigid, self.pose, motion)
            self._go(x, x_from, motion)


def prepare_rigid(cloth: Cloth, state: State, frame_input: FrameInput, settings: Settings) -> RigidBodies | None:
    """Rigid garments as a frame begins with them; None if there are none."""
    rigid = find_rigid(cloth)
    if rigid is None:
        return None
    contact = RigidContact(cloth, state, frame_input, settings) if frame_input.colliders else None
    return RigidBodies(rigid, contact)
