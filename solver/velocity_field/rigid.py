# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid garments among cloth (Buffet 2021, 3.4.3 and figure 3.15).

The thesis lets the field move their vertices like any others and matches the shape to that after each frame (Müller,
Heidelberger, Teschner and Gross 2005). So a body that touches with a few of its vertices loses what these few weigh, and
sinks into what it lies on. Here what happens to its particles is impulses on a whole:

    M dV = sum of m dv        I dw = sum of m r x dv        v = V + w x r

in each round of the field, which sees a rigid velocity again in the next. Particles at which the field is solved for count
as heavier than they are, so that the few stand for all: by the largest factor s for which no motion V, w of them has more
energy than that of the whole,

    s sum of m |V + w x r|^2 over these  <=  M |V|^2 + w . I w,

so that no round makes energy, whatever touches where, and each takes the greatest part of what is wrong that is safe.
Momentum is that of the impulses, to rounding. Between substeps nothing is kept but places and velocities: the shape is
the one that the particles have.
"""

from typing import NamedTuple

import numpy as np

from ..model import Cloth

OVERSHOOT = 2.0  # times that factor up to which a round that stops what closes makes no energy
NEEDLE = 1e-6  # part of the mean moment of inertia that any axis has


class Rigid(NamedTuple):
    """The particles of rigid garments, garment by garment."""

    particles: np.ndarray  # (k,)
    first: np.ndarray  # (b,) first place of each garment in `particles`
    piece: np.ndarray  # (k,) which of these garments a particle belongs to
    mass: np.ndarray  # (k,) [kg]
    total: np.ndarray  # (b,) [kg]


class Pose(NamedTuple):
    """Where rigid garments are."""

    middle: np.ndarray  # (b, 3) [m] centres of mass
    arm: np.ndarray  # (k, 3) [m] from there to each particle
    inertia: np.ndarray  # (b, 3, 3) [kg m2]
    inverse: np.ndarray  # (b, 3, 3) of that


def find_rigid(cloth: Cloth) -> Rigid | None:
    """The rigid garments of a cloth; None if there are none."""
    if cloth.rigid is None:
        return None
    particles = np.flatnonzero(cloth.rigid[cloth.garment] & (cloth.inv_mass > 0.0))
    particles = particles[np.argsort(cloth.garment[particles], kind="stable")]
    first = np.flatnonzero(np.diff(cloth.garment[particles], prepend=-1))
    piece = np.repeat(np.arange(len(first)), np.diff(first, append=len(particles)))
    mass = cloth.mass[particles]
    return Rigid(particles, first, piece, mass, np.add.reduceat(mass, first))


def pose_of(rigid: Rigid, x: np.ndarray) -> Pose:
    """The pose of particles at x (n, 3) [m]."""
    own = x[rigid.particles]
    middle = _sums(rigid, rigid.mass[:, None] * own) / rigid.total[:, None]
    arm = own - middle[rigid.piece]
    return Pose(middle, arm, *_with_inverse(_inertia(rigid, rigid.mass, arm)))


def whole_motion(rigid: Rigid, pose: Pose, mass: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(b, 6) velocity [m/s] and angular velocity [rad/s] that impulses `mass` (k,) [kg] times v (k, 3) [m/s] give."""
    impulse = mass[:, None] * v
    turn = _sums(rigid, np.cross(pose.arm, impulse))
    return np.concatenate([_sums(rigid, impulse) / rigid.total[:, None], _times(pose.inverse, turn)], axis=1)


def particle_motion(rigid: Rigid, pose: Pose, motion: np.ndarray) -> np.ndarray:
    """(k, 3) [m/s] of particles of garments that go by `motion` (b, 6)."""
    own = motion[rigid.piece]
    return own[:, :3] + np.cross(own[:, 3:], pose.arm)


def moved(pose: Pose, rigid: Rigid, motion: np.ndarray, shift: np.ndarray, dt: float) -> tuple[Pose, np.ndarray]:
    """The pose after dt [s], and the motion (b, 6) that it is reached with.

    Angular momentum is kept: garments turn by what it makes of their inertia halfway. shift : (b, 6) [m], [rad] by which
    they are moved besides, without any speed.
    """
    spin = _times(pose.inertia, motion[:, 3:])
    halfway = _rotation(0.5 * (dt * motion[:, 3:] + shift[:, 3:]))
    turn = _rotation(dt * _times(_turned(pose.inverse, halfway), spin) + shift[:, 3:])
    arm = np.einsum("kij,kj->ki", turn[rigid.piece], pose.arm)
    inertia, inverse = _turned(pose.inertia, turn), _turned(pose.inverse, turn)
    middle = pose.middle + dt * motion[:, :3] + shift[:, :3]
    return Pose(middle, arm, inertia, inverse), np.concatenate([motion[:, :3], _times(inverse, spin)], axis=1)


def standing_for_all(rigid: Rigid, pose: Pose, share: np.ndarray, change: np.ndarray | None = None) -> np.ndarray:
    """(k,) [kg] that particles count with where each stands for its garment by its share (k,), up to 1; 0: as what it is.

    change : (k, 3) [m/s] of the round before, after which they count with what is right for that, as far as that is safe
    """
    mass = share * rigid.mass
    safe = 1.0 / np.maximum(_most_energy(rigid, pose, mass), 1e-300)
    factor = safe
    if change is not None:
        whole = whole_motion(rigid, pose, mass, change)
        taken = rigid.total * np.einsum("bi,bi->b", whole[:, :3], whole[:, :3])
        taken += np.einsum("bi,bij,bj->b", whole[:, 3:], pose.inertia, whole[:, 3:])
        given = _sums(rigid, mass * np.einsum("ki,ki->k", change, change))
        right = np.divide(given, taken, out=safe.copy(), where=taken > 0.0)
        factor = np.clip(right, safe, OVERSHOOT * safe)
    return np.where(share > 0.0, mass * factor[rigid.piece], rigid.mass)


def _most_energy(rigid, pose, mass):
    """(b,) the largest part of a motion's energy that particles of these masses (k,) [kg] have."""
    part = np.zeros((len(rigid.total), 6, 6))
    part[:, :3, :3] = _sums(rigid, mass)[:, None, None] * np.eye(3)
    part[:, 3:, 3:] = _inertia(rigid, mass, pose.arm)
    part[:, :3, 3:] = -_cross_matrix(_sums(rigid, mass[:, None] * pose.arm))
    part[:, 3:, :3] = np.swapaxes(part[:, :3, 3:], 1, 2)
    scale = np.zeros_like(part)
    scale[:, :3, :3] = np.eye(3) / np.sqrt(rigid.total)[:, None, None]
    scale[:, 3:, 3:] = np.linalg.cholesky(pose.inverse)
    return np.linalg.eigvalsh(np.einsum("bji,bjk,bkl->bil", scale, part, scale))[:, -1]


def _sums(rigid, values):
    """Of what particles (k, ...) have, over each garment."""
    return np.add.reduceat(values, rigid.first, axis=0)


def _times(matrices, vectors):
    return np.einsum("bij,bj->bi", matrices, vectors)


def _turned(matrices, turn):
    return np.einsum("bij,bjk,blk->bil", turn, matrices, turn)


def _inertia(rigid, mass, arm):
    """(b, 3, 3) of particles of these masses."""
    square = _sums(rigid, mass * np.einsum("ki,ki->k", arm, arm))
    return square[:, None, None] * np.eye(3) - _sums(rigid, mass[:, None, None] * arm[:, :, None] * arm[:, None, :])


def _with_inverse(inertia):
    lack = NEEDLE / 3.0 * np.einsum("bii->b", inertia) - np.linalg.eigvalsh(inertia)[:, 0]
    inertia = inertia + np.maximum(lack, 0.0)[:, None, None] * np.eye(3)
    inverse = np.linalg.inv(inertia)
    return inertia, 0.5 * (inverse + np.swapaxes(inverse, 1, 2))


def _cross_matrix(vectors):
    """(b, 3, 3) that make of w the cross product of vectors (b, 3) with it."""
    x, y, z = vectors.T
    none = np.zeros_like(x)
    return np.stack([none, -z, y, z, none, -x, -y, x, none], axis=1).reshape(-1, 3, 3)


def _rotation(vectors):
    """(b, 3, 3) that turn about vectors (b, 3) by their length [rad] (Rodrigues)."""
    angle = np.sqrt(np.einsum("bi,bi->b", vectors, vectors))[:, None, None]
    across = _cross_matrix(vectors)
    square = np.einsum("bij,bjk->bik", across, across)
    # sin a / a and (1 - cos a) / a^2, where a may be 0
    return np.eye(3) + np.sinc(angle / np.pi) * across + 0.5 * np.sinc(0.5 * angle / np.pi) ** 2 * square
