# SPDX-License-Identifier: GPL-3.0-or-later
"""What touches a body in a substep: particles, and contact samples (`samples`) that touch for their corners."""

import math
from typing import NamedTuple

import numpy as np

from ...geometry.moving_triangle import carried
from ...kernel.jit import inner, njit
from ...kernel.shared import shared

OUTSIDE, INSIDE, PINCHED = 0, 1, 2
LET_THROUGH = -1  # of a particle that bodies let through
LOST = -1  # instead of a number of touches: the image cannot answer
CORNER_COSINE = 0.9  # between the normals of two surfaces below which a point is in a corner
SQUEEZED_COSINE = -0.3  # between the normals of two surfaces up to which a point is squeezed between them
SMALLEST_SETTLED_PART = 512  # particles that another thread is asked for


class Contacts(NamedTuple):
    """What the points touch in this substep, up to two surfaces each."""

    place: np.ndarray  # (p,) OUTSIDE; INSIDE a closed body; PINCHED between two surfaces; LET_THROUGH
    count: np.ndarray  # (p,) 0 to 2, or LOST
    own: np.ndarray  # (p,) how many of these it touches itself, and not for its samples
    normal: np.ndarray  # (p, 2, 3)
    velocity: np.ndarray  # (p, 2, 3) [m/s] of the touched point
    triangle: np.ndarray  # (p, 2) int32 that it is on; -1: not known
    share: np.ndarray  # (p, 2, 3) of its corners in the touched point
    rebound: np.ndarray  # (p, 2) [m/s] wanted normal speed
    viscosity: np.ndarray  # (p, 2) [1/s]
    friction: np.ndarray  # (p, 2) inf where it is pinched, but 0 in the second where it can be pulled out
    ahead: np.ndarray  # (p, 2) [m/s] by what the surface is faster than where the point was; inf: an impact
    push: np.ndarray  # (s, 3) [m] displacement wanted by each sample
    sunk: np.ndarray  # (p,) [m] how far support has let the point into the aura in this substep
    gap: np.ndarray  # (p,) [m] how far it is off the surface that it touches first, for that has left it behind
    pressed: np.ndarray  # (n,) [m] how far it would have gone into the surface that held it in this substep, or 0
    calm: np.ndarray  # (n,) bool: beside a pinch (`calm`), where nothing pushes
    close: np.ndarray  # (p,) bool: a particle is so near a body that its edges may sink in
    grip: np.ndarray  # (n, 2) int32 triangles that a PINCHED particle is between; second -1: not known
    unrest: np.ndarray  # (n,) [m/s] of the one surface against the other
    between: np.ndarray  # (n,) [m] from the one to the other through the particle; above 0 where they do not overlap
    press: np.ndarray  # (n,) in [0, 1]: how firmly they hold it
    slip: np.ndarray  # (n, 3) [m] that cloth pulls it along between them in this step
    rub: np.ndarray  # (n, 3) the way along which they rub it, and it goes as cloth takes it (`pinch`); 0 for none


def no_contacts(particle_count: int, sample_count: int) -> Contacts:
    """Nothing touches anything yet."""
    points = particle_count + sample_count
    return Contacts(
        np.zeros(points, np.int8),
        np.zeros(points, np.int32),
        np.zeros(points, np.int32),
        np.zeros((points, 2, 3)),
        np.zeros((points, 2, 3)),
        np.full((points, 2), -1, np.int32),
        np.zeros((points, 2, 3)),
        *(np.zeros((points, 2)) for _ in range(4)),
        np.zeros((sample_count, 3)),
        *(np.zeros(points) for _ in range(2)),
        np.zeros(particle_count),
        *(np.zeros(particle_count, np.bool_) for _ in range(2)),
        np.full((particle_count, 2), -1, np.int32),
        *(np.zeros(particle_count) for _ in range(3)),
        *(np.zeros((particle_count, 3)) for _ in range(2)),
    )


@njit
def is_pinching(place):
    """Whether bodies leave one of the points (p,) no room between them. A byte each."""
    for p in range(len(place)):
        if place[p] == PINCHED:
            return True
    return False


@njit
def is_overlapped(place, between):
    """Whether bodies that overlap pinch one of the particles, of which `between` (n,) are told as in `Contacts`. A byte each."""
    for p in range(len(between)):
        if place[p] == PINCHED and between[p] < 0.0:
            return True
    return False


@inner
def is_stuck(contacts, p):
    """Does point p go along with two surfaces, whatever pulls?"""
    return contacts.count[p] == 2 and contacts.friction[p, 0] == math.inf


@inner
def note(contacts, p, slot, nx, ny, nz, vx, vy, vz, rebound, viscosity, friction):
    """Point p touches in this slot: the normal, the velocity there, wanted normal speed and frictions."""
    normal, velocity = contacts.normal, contacts.velocity
    normal[p, slot, 0], normal[p, slot, 1], normal[p, slot, 2] = nx, ny, nz
    velocity[p, slot, 0], velocity[p, slot, 1], velocity[p, slot, 2] = vx, vy, vz
    contacts.rebound[p, slot], contacts.viscosity[p, slot], contacts.friction[p, slot] = rebound, viscosity, friction
    contacts.triangle[p, slot] = -1
    contacts.ahead[p, slot] = 0.0
    if slot == 0:
        contacts.gap[p] = 0.0


@inner
def note_place(contacts, p, slot, t, a, b, c):
    """What point p touches in this slot is on triangle t, at these weights."""
    contacts.triangle[p, slot] = t
    contacts.share[p, slot, 0], contacts.share[p, slot, 1], contacts.share[p, slot, 2] = a, b, c


@shared(SMALLEST_SETTLED_PART)
def go_on(first, last, contacts, bodies, dt):
    """What particles touch goes as it will in the step of dt [s] that begins, for which `bodies` are moved: carried on as in the step
    before they are flung off a body that turns at w, by w^2 r h a second. # outputs: of `contacts` velocity
    """
    triangles, motions, share, velocity = bodies.triangles, bodies.motions, contacts.share, contacts.velocity
    for i in range(first, last):
        for slot in range(contacts.count[i]):
            t = contacts.triangle[i, slot]
            if t < 0:
                continue
            mx, my, mz = carried(triangles, motions, t, share[i, slot, 0], share[i, slot, 1], share[i, slot, 2])
            if abs(mx) + abs(my) + abs(mz) < math.inf:  # or bodies are not looked at there any more
                velocity[i, slot, 0], velocity[i, slot, 1], velocity[i, slot, 2] = mx / dt, my / dt, mz / dt


@njit
def lead_as_before(contacts, v):
    """After a step that was tried out, and begins with velocities v (n, 3) [m/s]: let surfaces lead particles as if these had touched
    them before. Then a surface goes as where the particle was, and has not turned on; else particles are led off it by a hair,
    and do not touch. What comes upon a surface in this step is not led: its impact falls somewhere within (`impact`).
    # outputs: of `contacts` velocity, which is known so, triangle and count
    """
    normal, velocity, ahead = contacts.normal, contacts.velocity, contacts.ahead
    contacts.triangle[:] = -1
    for i in range(len(v)):
        for slot in range(contacts.count[i]):
            if ahead[i, slot] == math.inf:
                contacts.count[i] = slot
                break
            jump = -ahead[i, slot]
            for axis in range(3):
                jump += (velocity[i, slot, axis] - v[i, axis]) * normal[i, slot, axis]
            less = ahead[i, slot] + min(max(jump, 0.0), ahead[i, slot])
            for axis in range(3):
                velocity[i, slot, axis] -= less * normal[i, slot, axis]


@shared(SMALLEST_SETTLED_PART)
def settle(first, last, inv_mass, contacts, v, dt):
    """Velocity of touching particles against the surface: along the normal what restitution leaves of the impact, else none;
    where it touches two, the second only pushes, for the bounce off the first may have thrown it off the second;
    across it what viscous friction leaves in dt [s], which takes a speed's same part in the same time (Bigliani and Eischen
    2000, 3.2), and what Coulomb's leaves of what is stopped here: of an impact without restitution what came before it of the
    step, of a surface that turns half its push. All else was stopped in positions, with its friction (`response`). There alone is
    what touches for its samples held back, or two surfaces: in a groove it would go from one side to the other for ever.
    """
    normal, velocity = contacts.normal, contacts.velocity
    for i in range(first, last):
        if inv_mass[i] == 0.0:
            continue
        slots = contacts.count[i]
        if slots == 2:
            turn = (
                normal[i, 0, 0] * normal[i, 1, 0]
                + normal[i, 0, 1] * normal[i, 1, 1]
                + normal[i, 0, 2] * normal[i, 1, 2]
            )
            if turn < SQUEEZED_COSINE:  # go with the mean of the two
                slots, contacts.triangle[i, 0] = 1, -1
                for axis in range(3):
                    velocity[i, 0, axis] = 0.5 * (velocity[i, 0, axis] + velocity[i, 1, axis])
        for slot in range(slots):
            nx, ny, nz = normal[i, slot, 0], normal[i, slot, 1], normal[i, slot, 2]
            wx, wy, wz = v[i, 0] - velocity[i, slot, 0], v[i, 1] - velocity[i, slot, 1], v[i, 2] - velocity[i, slot, 2]
            along = wx * nx + wy * ny + wz * nz
            wx, wy, wz, change = wx - along * nx, wy - along * ny, wz - along * nz, contacts.rebound[i, slot] - along
            if slot == 1 and contacts.rebound[i, 0] > 0.0:
                change = max(change, 0.0)
            left = math.exp(-contacts.viscosity[i, slot] * dt) if contacts.viscosity[i, slot] > 0.0 else 1.0
            if contacts.own[i] == 1 and contacts.rebound[i, 0] == 0.0:
                slip, most = math.sqrt(wx * wx + wy * wy + wz * wz), contacts.friction[i, 0] * max(change, 0.0)
                left *= 1.0 - most / slip if most < slip else 0.0
            v[i, 0], v[i, 1] = v[i, 0] + change * nx - (1.0 - left) * wx, v[i, 1] + change * ny - (1.0 - left) * wy
            v[i, 2] += change * nz - (1.0 - left) * wz
