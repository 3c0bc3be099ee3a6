# SPDX-License-Identifier: GPL-3.0-or-later
"""A node on plates that turn, with friction, in every dynamics: equations 11 to 17 of Bigliani and Eischen 2000 (3.2)."""

import naive
import numpy as np
import pytest
from scipy.optimize import brentq
from solids import AURA, plate
from taffeta.solver.build import build
from taffeta.solver.model import DYNAMICS, Collider, FrameInput, Settings
from taffeta.solver.step import advance

pytestmark = pytest.mark.once

VACUUM = Settings(air_drag=0.0)
WHOLE = "XPBD", "IMPLICIT_THETA", "VERLET"  # dynamics that are hit in all ways; others in some, for time's sake
SUBSTEP, FRAME = 1 / 240, 1 / 24  # [s]
SLOW, QUICK = (-0.5, 0.5, -1.5, 1.5), (-5.0,)  # [rad/s]; at 5 such a plate runs away from the node


def normal(spin, time):
    """Of a plate that turns about y."""
    return np.array([np.sin(spin * time), 0.0, np.cos(spin * time)])


def along(spin, time):
    """The direction in it that is x at first."""
    return np.array([np.cos(spin * time), 0.0, -np.sin(spin * time)])


def turning(spin, frame, duration, friction, restitution=0.0, viscosity=0.0):
    """The plate, 4 m wide, from the frame before to this one."""
    turns = spin * duration * (frame - 1 + np.linspace(0.0, 1.0, 9))
    c, s, nought, one = np.cos(turns), np.sin(turns), np.zeros(9), np.ones(9)
    turn = np.array([[c, nought, s], [nought, one, nought], [-s, nought, c]])
    corners, triangles = plate(4, 4.0)
    x = np.einsum("ijt,kj->tki", turn, corners)
    return Collider("Plate", x, triangles, friction, restitution, AURA, None, viscosity)


def node(at, friction, across=(1.0, 0.0, 0.0)):
    """Three particles as one, two millimetres apart, across and along y: cloth and state."""
    x = at + 0.002 * np.array([[0.0, 0, 0], across, [0, 1, 0]])
    loose = dict(stretch_stiffness=1e-6, shear_stiffness=1e-6, bending_stiffness=0.0, damping=0.0, friction=friction)
    return build([naive.garment(x, [[0, 1, 2]], **loose)], VACUUM)


def off_paper(dynamics, restitution, spin, friction, per_frame=1, height=0.15, share=1.0):
    """How far a node's velocity three substeps after it hit the plate is off that on paper, in the speed of the impact. Coulomb's
    friction takes that of the impulse: friction (1 + e) of the normal speed, all there is at most. All three particles hit at once, or
    the node would tumble.

    per_frame : substeps, of which the last three come after the hit, or 1; height : [m] that it falls from, and so when in a substep
    it hits; share : of all speeds
    """
    x, v, spin = np.array([0.3, 0.0, height]), share * np.array([0.2, 0.1, -1.5]), share * spin
    when = brentq(lambda time: (x + v * time) @ normal(spin, time) - AURA, 0.0, 0.3 / share)
    n = normal(spin, when)
    against = v - np.cross([0.0, spin, 0.0], x + v * when - AURA * n)
    approach = -against @ n
    sliding = against + approach * n
    lost = min(1.0, friction * (1.0 + restitution) * approach / np.linalg.norm(sliding))
    duration, ends = per_frame * SUBSTEP, (int(when / SUBSTEP) + 3) / per_frame  # [s]; [frames] after the start
    early = np.ceil(ends) - ends
    cloth, state = node(x - early * duration * v, friction, along(spin, when))
    state.v[:] = v
    settings = VACUUM._replace(dynamics=dynamics)
    for frame in range(1, int(np.ceil(ends)) + 1):
        body = turning(spin, frame - early, duration, friction, restitution)
        given = FrameInput(duration, np.stack(2 * [state.x]), (body,), np.zeros(3), np.zeros(3))
        advance(cloth, state, given, frame, settings)
    expected = v + (1.0 + restitution) * approach * n - lost * sliding
    return np.linalg.norm(state.v.mean(axis=0) - expected) / approach


def spins_of(dynamics):
    """How a plate turns [rad/s] that a node hits."""
    return SLOW + QUICK if dynamics in WHOLE else (1.5, *QUICK)


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_a_node_bounces_off_a_turning_plate_with_coulombs_friction(dynamics):
    """Within 2 % of the impact's speed, as slow and as quick as the plate turns, whenever in a substep it hits."""
    errors = {
        (restitution, spin, friction): off_paper(dynamics, restitution, spin, friction)
        for restitution in (0.5, 1.0) for spin in spins_of(dynamics) for friction in (0.0, 0.3)
    }  # fmt: skip
    print(dynamics, f"{100 * max(errors.values()):.2f} % of the impact's speed", max(errors, key=errors.get))
    assert max(errors.values()) < 0.02


@pytest.mark.parametrize("per_frame", [1, 6])
@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_a_node_that_does_not_bounce_loses_as_much_to_friction(dynamics, per_frame):
    """Within 2 %, fast or slow, whether the substep in which it hits begins a frame or not, and whenever in it the node does."""
    spins, heights = spins_of(dynamics), (0.15, 0.152, 0.154) if dynamics in WHOLE else (0.152,)
    hits = [(spin, 0.3, height, 1.0) for spin in spins for height in heights]
    hits += [(spin, 0.0, 0.15, 1.0) for spin in spins] + [
        (spin, 0.3, 0.15, 0.1) for spin in (0.5, 1.5) if spin in spins
    ]
    errors = {(spin, *hit): off_paper(dynamics, 0.0, spin, hit[0], per_frame, *hit[1:]) for spin, *hit in hits}
    print(dynamics, f"{100 * max(errors.values()):.2f} %", max(errors, key=errors.get))
    assert max(errors.values()) < 0.02


def slides(dynamics, rate, viscosity, friction=0.0):
    """How far a node is off that slides outwards on a plate which presses against it, turning at a rate [rad/s], in a quarter of a
    second: the most, in its speed. On paper its distance s from the axis has s'' = rate^2 s - viscosity s' - friction N, and the
    plate presses by N = 2 rate s' - rate^2 h per mass, h being the aura.
    """
    start, speed = 0.3, 0.4
    cloth, state = node(start * along(0, 0) + AURA * normal(0, 0), friction)
    slowing, rest = viscosity + 2.0 * friction * rate, -friction * AURA
    place = (state.x + cloth.origin)[:, 0]
    state.v[:] = (speed - AURA * rate) * along(0, 0) + np.multiply.outer(rate * place, normal(0, 0))
    powers = -0.5 * slowing + np.array([0.5, -0.5]) * np.hypot(slowing, 2.0 * rate)
    parts, worst = np.linalg.solve([[1.0, 1.0], powers], [place.mean() - rest, speed]), 0.0
    settings = VACUUM._replace(dynamics=dynamics)
    for frame in range(1, 7):
        body, time = turning(-rate, frame, FRAME, friction, viscosity=viscosity), frame * FRAME
        given = FrameInput(FRAME, np.stack(2 * [state.x]), (body,), np.zeros(3), np.zeros(3))
        advance(cloth, state, given, frame, settings)
        s, outwards = (parts * powers**k @ np.exp(powers * time) for k in (0, 1))
        expected = (outwards - AURA * rate) * along(-rate, time) + rate * (s + rest) * normal(-rate, time)
        worst = max(worst, np.linalg.norm(state.v.mean(axis=0) - expected) / np.linalg.norm(expected))
    return worst


def rates_of(dynamics):
    """How a plate turns [rad/s] that a node slides on."""
    return (0.5, 1.5, 5.0) if dynamics in WHOLE else (1.5,)


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_a_node_slides_on_a_turning_plate_as_on_paper(dynamics):
    """Within 2 % in every dynamics, without friction and with the viscous one."""
    errors = {(rate, c): slides(dynamics, rate, c) for rate in rates_of(dynamics) for c in (0.0, 2.0)}
    print(dynamics, {about: f"{100 * error:.2f} %" for about, error in errors.items()})
    assert max(errors.values()) < 0.02


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_coulombs_friction_feels_all_that_a_turning_plate_pushes_with(dynamics):
    """Half of that push is in positions, and half in velocities. Within 2 %."""
    errors = {rate: slides(dynamics, rate, 0.0, 0.3) for rate in rates_of(dynamics)}
    print(dynamics, {about: f"{100 * error:.2f} %" for about, error in errors.items()})
    assert max(errors.values()) < 0.02


def table(rate, frame, samples=33):
    """A table, 2 m wide, that turns about z at so many rad/s, from the frame before to this one."""
    turns = rate * FRAME * (frame - 1 + np.linspace(0.0, 1.0, samples))
    c, s, nought, one = np.cos(turns), np.sin(turns), np.zeros(samples), np.ones(samples)
    turn = np.array([[c, -s, nought], [s, c, nought], [nought, nought, one]])
    corners, triangles = plate(4)
    return Collider("Table", np.einsum("ijt,kj->tki", turn, corners), triangles, 5.0, 0.0, AURA)


@pytest.mark.parametrize("rate", [np.pi / 2, 6.0, 12.0])
def test_what_sticks_to_a_turning_table_is_not_flung_off(rate):
    """A patch 20 cm from the axis, with a friction of 5, where 3 are enough: after a second it lies where it lay, within half a
    millimetre. Carried on as in the step before it goes outwards by w^2 r h a second, 29 mm at 6 rad/s and 168 at 12.
    """
    patch = naive.sheet(5, 5, 0.04, 0.04, friction=5.0)
    patch = patch._replace(x_start=patch.x - [0.02, 0.02, 0.0] + [0.2, 0.0, AURA])
    cloth, state = build([patch], VACUUM)
    place = state.x + cloth.origin
    state.v[:] = np.cross([0.0, 0.0, rate], place)
    for frame in range(1, 25):
        advance(cloth, state, naive.still(place, colliders=(table(rate, frame),)), frame, VACUUM)
    turn = rate * 24 * FRAME
    lay = np.array([[np.cos(turn), np.sin(turn), 0.0], [-np.sin(turn), np.cos(turn), 0.0], [0.0, 0.0, 1.0]])
    assert np.abs(state.x + cloth.origin - place @ lay).max() < 5e-4
