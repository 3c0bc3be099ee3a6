# SPDX-License-Identifier: GPL-3.0-or-later
"""Attachments: springs from particles to points that move, on a body or of the animated pose.

An attachment pulls in the solve, as a soft pin does, but with a stiffness in N/m and a damping of its own,

    f = k (p1 - x) + c ((p1 - p0) / dt - (x - x0) / dt),

p0 and p1 being its point at the start and at the end of a step: linearly implicit, so that any k and c are stable. One of
which the spring pulls with as much as it bears, or more, is broken from the next step on; what is broken is part of
`State`, because a bake that resumes may not mend it.
"""

from typing import NamedTuple

import numpy as np

from ..forces.optional import FAINT_STIFFNESS
from ..model import ATTACHMENT


class Attached(NamedTuple):
    """The attachments of a frame that hold when it begins."""

    particles: np.ndarray  # (m,) int32; one may be there twice
    targets: np.ndarray  # (s + 1, m, 3) [m] relative to Cloth.origin
    stiffness: np.ndarray  # (m,) [N/m]
    damping: np.ndarray  # (m,) [N s/m]
    breaking: np.ndarray  # (m,) [N]
    broken: np.ndarray  # (n,) uint8, of `State`
    pull: np.ndarray  # (m, 3) [N] what each pulls with in the step, as in `optional.Pulls`
    rate: np.ndarray  # (m,) [N/m]


def attach(cloth, frame_input, broken):
    """`Attached` of a frame: its attachments, and what blends to the animated pose; None where there is neither.

    broken : (n,) uint8, of `State`
    """
    parts, given, blend = [], frame_input.attachments, frame_input.blend
    if given is not None:
        particles = welded(cloth, given.particles)
        holds = (cloth.inv_mass[particles] > 0.0) & (given.stiffness + given.damping > 0.0)
        holds &= (broken[particles] & ATTACHMENT == 0) | np.isinf(given.breaking)
        numbers = given.stiffness, given.damping, given.breaking
        parts.append((particles[holds], given.targets[:, holds], *(number[holds] for number in numbers)))
    if blend is not None:
        particles = np.flatnonzero((blend > 0.0).any(axis=1) & (cloth.inv_mass > 0.0)).astype(np.int32)
        numbers = cloth.mass[particles, None] * blend[particles]
        parts.append((particles, frame_input.targets[:, particles], *numbers.T, np.full(len(particles), np.inf)))
    if not sum(len(part[0]) for part in parts):
        return None
    particles, targets, *numbers = zip(*parts, strict=True)
    targets = np.ascontiguousarray(np.concatenate(targets, axis=1) - cloth.origin)
    count = targets.shape[1]
    numbers = [np.concatenate(number) for number in numbers]
    return Attached(np.concatenate(particles), targets, *numbers, broken, np.zeros((count, 3)), np.zeros(count))


def welded(cloth, particles):
    """The particles that are simulated in the place of these, as int32 (`Cloth.twins`)."""
    place = np.arange(len(cloth.mass), dtype=np.int32)
    place[cloth.twins[:, 0]] = cloth.twins[:, 1]
    return place[particles]


def pull_along(attached, motion, substep):
    """What attachments pull with at the predicted motion.x in a step. # outputs: attached.pull, .rate"""
    i = attached.particles
    start, end = points(attached, substep.t0), points(attached, substep.t1)
    holds = _holds(attached)
    k, c = holds * attached.stiffness, holds * attached.damping / substep.dt
    lag, behind = end - motion.x[i], end - start - motion.x[i] + motion.x_prev[i]
    attached.pull[:] = k[:, None] * lag + c[:, None] * behind
    attached.rate[:] = np.maximum(k + c, FAINT_STIFFNESS)


def break_attachments(attached, x, t1):
    """Break what pulls too hard at x (n, 3) [m] and time t1 of the frame. # output: attached.broken"""
    i = attached.particles
    way = points(attached, t1) - x[i]
    tears = attached.stiffness**2 * np.einsum("ij,ij->i", way, way) >= attached.breaking**2
    attached.broken[i[tears]] |= ATTACHMENT


def accelerate(attached, going, x, v, t, inv_mass, a):
    """Add to a (n, 3) [m/s2] what attachments do to particles at x, v and time t of a step that began at time 0.

    going : their points [m] at the start, and velocities [m/s] of these, as `course` gives them
    """
    i, (start, speed) = attached.particles, going
    force = attached.stiffness[:, None] * (start + t * speed - x[i]) + attached.damping[:, None] * (speed - v[i])
    np.add.at(a, i, (_holds(attached) * inv_mass[i])[:, None] * force)


def course(attached, substep):
    """Points of attachments at the start of a substep, (m, 3) [m], and their velocities in it [m/s]."""
    start = points(attached, substep.t0)
    return start, (points(attached, substep.t1) - start) / substep.dt


def fastest_of(attached, inv_mass):
    """Angular frequency and decay [1/s] of a particle by its attachments alone, of the one where these are greatest."""
    i, count = attached.particles, len(inv_mass)
    k, c = (np.bincount(i, number, minlength=count) for number in (attached.stiffness, attached.damping))
    return float(np.sqrt((inv_mass * k).max())), float((inv_mass * c).max())


def points(followed, t):
    """Points that `followed`, attachments or pins, go to at time t in [0, 1] of the frame, (m, 3) [m]; linear between samples."""
    targets, span = followed.targets, len(followed.targets) - 1
    sample = min(int(t * span), max(span - 1, 0))
    share, last = t * span - sample, targets[min(sample + 1, span)]
    return last if share >= 1.0 else targets[sample] + share * (last - targets[sample])


def _holds(attached):
    """(m,) bool: which of them are whole."""
    return (attached.broken[attached.particles] & ATTACHMENT == 0) | np.isinf(attached.breaking)
