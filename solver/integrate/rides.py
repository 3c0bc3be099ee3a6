# SPDX-License-Identifier: GPL-3.0-or-later
"""Velocity blend: a part of the motion of what a garment rides on that its cloth does not feel.

Let V be the velocities of the unfelt part of that rigid motion, X what it does to places in a step, and R its turn. A velocity
is seen from there as u = v - V(x). The air and fields act on u, and a step sets out with

    v = R u + (X(x) - x) / dt,

so that cloth which is at rest there goes exactly along. At its end that is taken back, x - X^-1(x), for V at the place and time
where the step ends: what lives on says nothing of how long the step was. So fictitious forces are those of the felt part alone.
"""

import math

import numpy as np


def leave(rides, cloth, motion, substep):
    """Velocities as they are seen from what garments ride on, when a step begins. # output: motion.v"""
    for ride, i in _riding(rides, cloth):
        motion.v[i] -= _velocity(ride, _before(ride, substep.t0), motion.x[i] + cloth.origin - _at(ride, substep.t0))


def set_out(rides, cloth, motion, substep):
    """Velocities in the world again, with the motion of the step that begins. # output: motion.v"""
    for ride, i in _riding(rides, cloth):
        turn, way = _step(ride, _within(ride, substep), substep.dt)
        arm = motion.x[i] + cloth.origin - _at(ride, substep.t0)
        motion.v[i] = _turned(turn, motion.v[i]) + (_turned(turn, arm) + way - arm) / substep.dt


def arrive(rides, cloth, motion, substep):
    """Velocities at the end of a step, not of its straight way. # output: motion.v"""
    for ride, i in _riding(rides, cloth):
        velocity = _within(ride, substep)
        turn, way = _step(ride, velocity, substep.dt)
        gone, arm = substep.dt * velocity[0], motion.x[i] + cloth.origin - _at(ride, substep.t1)
        was = _turned(turn.T, arm + gone - way)  # from where the point was when the step began
        motion.v[i] += _velocity(ride, velocity, arm) - (arm + gone - was) / substep.dt


def _velocity(ride, velocity, arm):
    """(m, 3) [m/s] of the unfelt part at places `arm` (m, 3) [m] from its point."""
    return ride.unfelt * (velocity[0] + np.cross(velocity[1], arm))


def _riding(rides, cloth):
    """Each ride that is not felt in whole, and the particles that are free on it."""
    for g, ride in enumerate(rides):
        if ride is not None and ride.unfelt > 0.0:
            first, last = cloth.garment_start[g], cloth.garment_start[g + 1]
            yield ride, first + np.flatnonzero(cloth.inv_mass[first:last] > 0.0)


def _before(ride, t):
    """Velocity and angular velocity (2, 3) up to the time t in [0, 1] of the frame."""
    part = int(np.ceil(t * len(ride.velocity) - 1e-9)) - 1
    return ride.before if part < 0 else ride.velocity[part]


def _within(ride, substep):
    """Velocity and angular velocity (2, 3) in the middle of a step."""
    return ride.velocity[min(int(0.5 * (substep.t0 + substep.t1) * len(ride.velocity)), len(ride.velocity) - 1)]


def _at(ride, t):
    """(3,) [m] the point that has the velocities, at the time t in [0, 1] of the frame."""
    span = len(ride.velocity)
    part = min(int(t * span), span - 1)
    return ride.place[part] + (t * span - part) * (ride.place[part + 1] - ride.place[part])


def _step(ride, velocity, dt):
    """Turn (3, 3) and way (3,) [m] of the unfelt part in dt [s] (Rodrigues 1840)."""
    x, y, z = ride.unfelt * dt * velocity[1]
    angle = math.sqrt(x * x + y * y + z * z)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turns = 0.0 < angle < math.inf  # what turns beyond all measure is told of at the frame's end
    one = math.sin(angle) / angle if turns else 1.0
    other = 2.0 * (math.sin(0.5 * angle) / angle) ** 2 if turns else 0.5
    return np.eye(3) + one * cross + other * np.einsum("ij,jk->ik", cross, cross), ride.unfelt * dt * velocity[0]


def _turned(turn, vectors):
    """Vectors (m, 3), turned; without `@`, whose threads would fight the solver's."""
    return np.einsum("ij,mj->mi", turn, vectors)
