# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bounce keeps, through the whole step with default settings but for the air: cloth on bodies and on cloth."""

import contact_scenes
import naive
import numpy as np
import pytest
from scipy.optimize import brentq
from sheets import sheet
from solids import AURA, ball, collider, plate
from taffeta.solver.build import build
from taffeta.solver.model import DYNAMICS, Collider, FrameInput, Settings
from taffeta.solver.step import advance

pytestmark = pytest.mark.once

G, FRAME = 9.81, 1 / 24
VACUUM = Settings(air_drag=0.0)


def falling(height, cells=6, size=0.1, **changes):
    """A small flat sheet above the origin: cloth and state."""
    garment = naive.sheet(cells, cells, size, size, **changes)
    x = garment.x + [-0.45 * size, -0.55 * size, height]
    return build([garment._replace(x=x, x_start=x, self_collision=True)], VACUUM)


def run(cloth, state, body, frames, gravity=G):
    """Frames with a body, or a function of the frame's number that says which; mean heights [m] and speeds [m/s] upwards."""
    heights, speeds = [], []
    for frame in range(1, frames + 1):
        bodies = (body(frame) if callable(body) else body,)
        poses = np.stack(2 * [state.x + cloth.origin])
        advance(cloth, state, FrameInput(FRAME, poses, bodies, np.array([0, 0, -gravity]), np.zeros(3)), frame, VACUUM)
        heights.append((state.x + cloth.origin)[:, 2].mean())
        speeds.append(state.v[:, 2].mean())
    return np.array(heights), np.array(speeds)


@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.6, 0.9])
def test_a_sheet_that_falls_flat_comes_back_to_its_part_of_the_height(restitution):
    """Dropped from h it comes back to e^2 h; without restitution it stays where it fell."""
    height = 0.4
    cloth, state = falling(height + AURA)
    heights, speeds = run(cloth, state, collider(plate(), restitution=restitution), 17)
    if restitution == 0.0:
        assert heights[8:].max() < AURA + 1e-4
        return
    first = int((speeds > 0.05).argmax())
    assert heights[:first].max() > 0.0 and speeds[first] > 0.05
    top = heights[first] + speeds[first] ** 2 / (2 * G) - AURA
    assert top == pytest.approx(restitution**2 * height, rel=0.1)


def off_a_turning_plate(dynamics, restitution, spin):
    """A node against a plate that turns about y by `spin` [rad/s]: its velocity [m/s] after the impact, that by equations 11 to
    16 of Bigliani and Eischen 2000, and how fast they came together.
    """
    x, v = np.array([[0.3, 0, 0.15], [0.302, 0, 0.15], [0.3, 0.002, 0.15]]), np.array([0.2, 0.1, -1.5])
    loose = dict(stretch_stiffness=1e-6, shear_stiffness=1e-6, bending_stiffness=0.0, damping=0.0, friction=0.0)
    cloth, state = build([naive.garment(x, [[0, 1, 2]], **loose)], VACUUM)
    state.v[:] = v
    normal = lambda time: np.array([np.sin(spin * time), 0.0, np.cos(spin * time)])  # noqa: E731
    when = brentq(lambda time: (x[0] + v * time) @ normal(time) - AURA, 0.0, 0.3)
    touched = x[0] + v * when - AURA * normal(when)
    approach = (v - np.cross([0.0, spin, 0.0], touched)) @ normal(when)
    corners, triangles = plate(4, 2.0)
    for frame in range(1, int(when / FRAME) + 3):
        turns = spin * FRAME * (frame - 1 + np.linspace(0.0, 1.0, 9))
        c, s, nought, one = np.cos(turns), np.sin(turns), np.zeros(9), np.ones(9)
        turn = np.array([[c, nought, s], [nought, one, nought], [-s, nought, c]])
        body = Collider("Plate", np.einsum("ijt,kj->tki", turn, corners), triangles, 0.0, restitution, AURA)
        given = FrameInput(FRAME, np.stack(2 * [x]), (body,), np.zeros(3), np.zeros(3))
        advance(cloth, state, given, frame, VACUUM._replace(dynamics=dynamics))
    return state.v.mean(axis=0), v - (1.0 + restitution) * approach * normal(when), approach


@pytest.mark.parametrize("dynamics", DYNAMICS)
def test_a_node_comes_off_a_turning_plate_as_on_paper(dynamics):
    """Within 2 % of the speed of the impact, whatever moves the node."""
    for restitution in (0.0, 0.5, 1.0):
        for spin in (-1.5, 1.5):
            after, expected, approach = off_a_turning_plate(dynamics, restitution, spin)
            assert np.linalg.norm(after - expected) < 0.02 * abs(approach), (restitution, spin)


@pytest.mark.parametrize("dynamics", ["XPBD", "VERLET"])
def test_a_node_that_bounces_for_ten_seconds_keeps_its_energy(dynamics):
    """Half a metre above a floor that gives everything back (Bigliani and Eischen 2000, section 5), in each of 240 frames. By
    half of what gravity does in a small step the velocities of the default are late: that much it seems to swing.
    """
    x, settings = np.array([[0, 0, 0.5], [0.02, 0, 0.5], [0, 0.02, 0.5]]), VACUUM._replace(dynamics=dynamics)
    cloth, state = build([naive.garment(x, [[0, 1, 2]], friction=0.0, damping=0.0)], settings)
    floor, energy, low = collider(plate(), friction=0.0, restitution=1.0), [], 0.5
    for frame in range(1, 241):
        advance(cloth, state, naive.still(x, colliders=(floor,)), frame, settings)
        height = (state.x + cloth.origin)[:, 2].mean() - AURA
        energy.append(G * height + 0.5 * np.square(state.v.mean(axis=0)).sum())
        low = min(low, height)
    print(f"energy after ten seconds over that at the start: {energy[-1] / energy[0]:.3f}")
    assert low < 0.05, "it has been down"
    assert energy == pytest.approx(240 * [G * (0.5 - AURA)], rel=0.002 if dynamics == "VERLET" else 0.015)


def bounced_in_an_icosahedron(dynamics, start=None):
    """Energy (240,) of three nodes after each frame of ten seconds, over that at first; start : where they are a nanometre off."""
    scene, energy, settings = contact_scenes.node(), [], VACUUM._replace(dynamics=dynamics)
    cloth, state = build(scene.garments, settings)
    state.v[:] = scene.velocity
    if start is not None:
        state.x[:] += 1e-9 * np.random.default_rng(start).normal(size=state.x.shape)
    energy_now = lambda: (G * (state.x + cloth.origin)[:, 2] + 0.5 * np.square(state.v).sum(axis=1)).mean()  # noqa: E731
    before, lowest = energy_now(), G * scene.solids[0].place(0.0)[:, 2].min()
    for frame in range(1, 241):
        poses = np.stack(2 * [state.x + cloth.origin])
        given = FrameInput(FRAME, poses, (scene.solids[0].over(frame),), np.array([0, 0, -G]), np.zeros(3))
        advance(cloth, state, given, frame, settings)
        energy.append((energy_now() - lowest) / (before - lowest))
    return energy


@pytest.mark.parametrize("dynamics", ["XPBD", "VERLET"])
def test_nodes_that_bounce_in_an_icosahedron_keep_their_energy(dynamics):
    """Three of them for ten seconds, in each of 240 frames (Bigliani and Eischen 2000, section 5)."""
    energy = bounced_in_an_icosahedron(dynamics)
    print(f"energy after ten seconds over that at the start: {energy[-1]:.3f}, {min(energy):.3f} to {max(energy):.3f}")
    assert energy == pytest.approx(240 * [1.0], abs=0.015 if dynamics == "VERLET" else 0.04)


@pytest.mark.parametrize("dynamics", ["XPBD", "IMPLICIT_EULER", "IMPLICIT_THETA", "VERLET"])
@pytest.mark.parametrize("slope", [42.0, 60.0, 80.0])
def test_a_node_that_slides_into_a_ramp_keeps_its_energy(dynamics, slope):
    """On a floor at 2 m/s, up a ramp that gives everything back: it touches both, the ramp throws it off the floor, and the floor,
    which it lay on, may not pull it back. That took all of its speed, wherever the step had it touch both.
    """
    c, s = np.cos(np.radians(slope)), np.sin(np.radians(slope))
    corners = np.array([[-1, -1, 0], [0.5, -1, 0], [0.5, 1, 0], [-1, 1, 0], [0.5 + c, -1, s], [0.5 + c, 1, s]])
    faces = np.array([[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]], np.int32)
    loose = dict(stretch_stiffness=1e-6, shear_stiffness=1e-6, bending_stiffness=0.0, damping=0.0, friction=0.0)
    given, settings = collider((corners, faces), friction=0.0, restitution=1.0), VACUUM._replace(dynamics=dynamics)
    for start in (0.0, 0.013, 0.04):
        x = np.array([[0, 0, AURA], [0.002, 0, AURA], [0, 0.002, AURA]]) + [start, 0, 0]
        cloth, state = build([naive.garment(x, [[0, 1, 2]], **loose)], settings)
        state.v[:] = [2.0, 0.0, 0.0]
        for frame in range(1, 14):
            advance(cloth, state, naive.still(x, colliders=(given,)), frame, settings)
        height = (state.x + cloth.origin)[:, 2] - AURA
        assert height.max() > 0.02 or state.v[:, 0].max() < 0.0, "it has met the ramp"
        assert G * height + 0.5 * np.square(state.v).sum(axis=1) == pytest.approx(3 * [2.0], rel=0.05), start


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.8])
def test_speed_against_a_body_that_moves_counts(restitution):
    """A plate that rises at w meets a sheet that comes down at v: it leaves with w + e (v + w)."""
    rising, coming = 1.0, 1.5
    cloth, state = falling(0.2)
    state.v[:, 2] = -coming

    def body(frame):
        at = rising * FRAME * np.array([frame - 1, frame])
        return collider(plate(), [(0, 0, at[0]), (0, 0, at[1])], restitution=restitution)

    _, speeds = run(cloth, state, body, 5, gravity=0.0)
    assert speeds[-1] == pytest.approx(rising + restitution * (coming + rising), rel=0.02)


def test_a_sheet_that_lies_on_a_body_lies_still():
    """On a ball with e = 0.9, over which it hangs, a sheet dropped from 5 cm comes to rest."""
    cloth, state = falling(0.15 + AURA, cells=12, size=0.25)
    run(cloth, state, collider(ball(0.1), restitution=0.9, friction=1.0), 120)
    speeds = np.linalg.norm(state.v, axis=1)
    assert np.median(speeds) < 1e-3 and speeds.max() < 1e-2


def meeting(restitution, speed=1.0, masses=(0.15, 0.15), mode="PAIRS", frames=3, own=(0.0, 0.0)):
    """Two flat, stiff sheets that fly into each other without gravity, each at this speed: what part of it they part with,
    and how far momentum has gone, in all of it. own : restitution of each, besides that of all cloth
    """
    settings = VACUUM._replace(cloth_contact=mode, cloth_restitution=restitution)
    stiff = {"stretch_stiffness": 2e4, "shear_stiffness": 1e4, "bending_stiffness": 1e-2}
    at = lambda x: x + [0.003, 0.004, 0.05]  # noqa: E731
    garments = [
        sheet(str(k), 12, 12, 0.02, at if k else None, mass=mass, **stiff)._replace(restitution=own[k])
        for k, mass in enumerate(masses)
    ]
    cloth, state = build(garments, settings)
    upper = cloth.garment == 1
    state.v[:, 2] = np.where(upper, -speed, speed)
    before, size = cloth.mass @ state.v, cloth.mass @ np.abs(state.v).sum(axis=1)
    given = FrameInput(FRAME, (state.x + cloth.origin)[None].repeat(2, 0), (), np.zeros(3), np.zeros(3))
    for frame in range(1, frames + 1):
        advance(cloth, state, given, frame, settings)
    first, second = (np.average(state.v[part, 2], weights=cloth.mass[part]) for part in (~upper, upper))
    return (second - first) / (2.0 * speed), np.abs(cloth.mass @ state.v - before).max() / size


@pytest.mark.parametrize("masses", [(0.15, 0.15), (0.1, 0.4)])
@pytest.mark.parametrize("restitution", [0.3, 0.6, 1.0])
def test_sheets_that_meet_part_with_their_part_of_the_speed(restitution, masses):
    """And momentum stays to rounding."""
    for speed in (0.5, 2.0):
        left, moved = meeting(restitution, speed, masses)
        assert left == pytest.approx(restitution, rel=0.1) and moved < 1e-12


@pytest.mark.parametrize("restitution", [0.3, 1.0])
def test_sheets_that_fly_far_in_a_substep_part_with_their_part_of_the_speed(restitution):
    """At 10 m/s they come closer by four edges in one, which is as long as they are apart: they are looked at more often."""
    for speed in (5.0, 10.0):
        left, moved = meeting(restitution, speed)
        assert left == pytest.approx(restitution, rel=0.1) and moved < 1e-12


@pytest.mark.parametrize("masses", [(0.15, 0.15), (0.1, 0.4)])
@pytest.mark.parametrize(
    ("mode", "near", "kept"),
    [
        ("VELOCITY_FIELD", 0.03, 1e-12),
        ("BOTH", 0.03, 1e-12),
        ("DEPTH_SEQUENCES", 0.02, 0.01),
        ("DEPTH_STICKS", 0.1, 1e-12),
    ],
)
def test_they_do_so_in_each_way_of_cloth_on_cloth(mode, near, kept, masses):
    """Momentum stays to rounding, but for that of sequences, which are asked at pixels' centres."""
    for restitution, speed in ((0.3, 2.0), (0.6, 5.0), (1.0, 0.5)):
        left, moved = meeting(restitution, speed, masses, mode)
        assert left == pytest.approx(restitution, abs=near) and moved < kept
        assert abs(meeting(0.0, speed, masses, mode)[0]) < max(0.1, 2 * near) or (mode, speed) == (
            "VELOCITY_FIELD",
            10.0,
        )  # pass through


@pytest.mark.parametrize("masses", [(0.15, 0.15), (0.1, 0.4)])
@pytest.mark.parametrize("mode", ["PAIRS", "VELOCITY_FIELD", "BOTH", "DEPTH_SEQUENCES", "DEPTH_STICKS"])
def test_garments_of_different_restitution_part_as_two_of_the_root_of_their_product(mode, masses):
    """And with no more momentum made. That of all cloth is the least that each has, and what does not bounce at all stops what
    would.
    """
    for every, own, root in ((0.0, (0.36, 1.0), 0.6), (0.0, (0.5, 0.5), 0.5), (0.64, (0.0, 1.0), 0.8)):
        expected, most = meeting(root, 2.0, masses, mode)
        left, moved = meeting(every, 2.0, masses, mode, own=own)
        assert left == pytest.approx(expected, abs=2e-3) and moved < most + 1e-12
        assert left > 0.8 * root
    dead, _ = meeting(0.0, 2.0, masses, mode, own=(0.0, 1.0))
    assert dead == pytest.approx(meeting(0.0, 2.0, masses, mode)[0], abs=0.03) and dead < 0.2


def test_slow_sheets_and_those_without_restitution_do_not_bounce():
    assert abs(meeting(0.0, 0.5)[0]) < 0.05
    assert abs(meeting(1.0, 0.09, frames=12)[0]) < 0.2


@pytest.mark.parametrize("restitution", [0.0, 0.6])
def test_a_sheet_that_falls_on_a_pinned_one_bounces(restitution):
    """From 10 cm it comes back to e^2 of that; without restitution it stays."""
    settings = VACUUM._replace(cloth_restitution=restitution)
    held = sheet("held", 14, 14, 0.02, pin=1.0, self_collision=False)
    stiff = {"stretch_stiffness": 2e4, "shear_stiffness": 1e4, "bending_stiffness": 1e-2}
    cloth, state = build([held, sheet("falling", 8, 8, 0.02, lambda x: x + [0.003, 0.004, 0.102], **stiff)], settings)
    given = FrameInput(FRAME, (state.x + cloth.origin)[None].repeat(2, 0), (), np.array([0, 0, -G]), np.zeros(3))
    tops, free = [], cloth.garment == 1
    for frame in range(1, 10):
        advance(cloth, state, given, frame, settings)
        height, speed = (state.x + cloth.origin)[free, 2].mean() - 0.002, state.v[free, 2].mean()
        tops.append(height + max(speed, 0.0) ** 2 / (2 * G))
    assert tops[4] == pytest.approx(restitution**2 * 0.1, rel=0.11, abs=2e-3)


@pytest.mark.parametrize("mode", ["PAIRS", "VELOCITY_FIELD", "BOTH", "DEPTH_SEQUENCES", "DEPTH_STICKS"])
def test_a_sheet_that_lies_on_a_pinned_one_lies_still(mode):
    """By sticks and in a velocity field, also with pairs, it trembles and creeps by some centimetres a second."""
    settings = VACUUM._replace(cloth_restitution=0.9, cloth_contact=mode)
    held = sheet("held", 10, 10, 0.02, pin=1.0, self_collision=False)
    cloth, state = build([held, sheet("lying", 12, 12, 0.015, lambda x: x + [0.003, 0.004, 0.012])], settings)
    given = FrameInput(FRAME, (state.x + cloth.origin)[None].repeat(2, 0), (), np.array([0, 0, -G]), np.zeros(3))
    speeds = []
    for frame in range(1, 49):
        advance(cloth, state, given, frame, settings)
        speeds.append(np.median(np.linalg.norm(state.v[cloth.garment == 1], axis=1)))
    slow, fields = ("PAIRS", "DEPTH_SEQUENCES"), ("VELOCITY_FIELD", "BOTH")  # in these 7 to 17 mm/s, by where it begins
    assert np.mean(speeds[-12:]) < (5e-3 if mode in slow else 0.025 if mode in fields else 0.05)
