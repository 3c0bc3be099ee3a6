# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that bodies leave no room: it stays between them, calm, and comes out; what is pinched is found from positions."""

import contact
import naive
import numpy as np
import pinch_scenes
import pytest
from contact_scenes import Scene, Solid, cut, ease, still
from solids import box, torus
from taffeta.solver.build import build
from taffeta.solver.contact.body import collide
from taffeta.solver.contact.body.constraints import FREE, KINEMATIC, find_support, make_support, weigh
from taffeta.solver.contact.body.contacts import INSIDE, OUTSIDE, PINCHED, no_contacts
from taffeta.solver.model import Collider, FrameInput, Settings

pytestmark = pytest.mark.once

HALF = np.radians(10.0)  # of the groove below


@pytest.mark.parametrize(
    ("name", "substeps"),
    [("arm", 6), ("arm", 10), ("leg", 10)],
)
def test_cloth_between_limbs_is_calm_and_comes_out(name, substeps):
    """It is 0.32 mm thick; it used to move by 13 to 24 mm in a frame, and the shirt stayed on the far side of the arm.

    At its rim, where bodies do not overlap yet and the guard goes before calm, single vertices twitch by 2.5 mm. Which
    ones is a start's luck: in five starts a nanometre apart the 99th percentile is 0.14 to 0.73 mm. With 6 substeps, where 10 are
    the default, six edges beside the leg are through for the one frame in which it comes to the other, in this one of seven such
    starts, and the median is a tenth above what is asked here.
    """
    scene, seen = pinch_scenes.SCENES[name](), []
    done = contact.run(scene, 0, lambda cloth, state, _: seen.append(state.x.copy()), Settings(substeps=substeps))
    motion, thickness = np.concatenate(done.motion), scene.garments[0].thickness[0]
    assert done.error == "" and not done.cloth_cloth.any() and not done.outside.any()
    assert not done.cloth_body[scene.pinch.apart - 1 :].any(), "it has come out"
    assert len(motion) > 600 and done.between.max() > 30
    assert np.median(motion) < 0.01 * thickness and np.percentile(motion, 95) < thickness
    assert motion.max() < 4e-3
    assert done.stretch.max() < 0.6, "what is held slips where the rest goes on: it was drawn to 0.85 and more"
    assert turning_back(seen, scene.pinch.held[5:]) < 15, "nor does the rest boil: most starts have under 5, some 9"


def turning_back(x, frames):
    """How many particles (f, n, 3) [m] turn back by over 2 mm from frame to frame, in the mean of some frames from the 3rd on."""
    ways = np.diff(x, axis=0)
    is_far, turns = np.linalg.norm(ways, axis=2) > 2e-3, np.einsum("fij,fij->fi", ways[1:], ways[:-1]) < 0.0
    return (turns & is_far[1:] & is_far[:-1]).sum(axis=1)[np.array(frames) - 3].mean()


def hook(time):
    """A bent tube of one piece whose ends meet above the origin, go 3 cm into each other and part again."""
    return bent(0.06 - 0.09 * (ease(time, 0.2, 0.8) - ease(time, 1.4, 2.0)))


def bent(room):
    """A tube of one piece, bent so that there is `room` [m] between its ends."""
    x, triangles = pinch_scenes.capsule_mesh(0.9, 0.06, 32)
    radius = (0.9 + 2.0 * 0.06 + room) / (2.0 * np.pi)
    angle, out = x[:, 2] / radius, radius + x[:, 0]
    return np.stack([out * np.sin(angle), x[:, 1], -out * np.cos(angle)], axis=1), triangles


def told_and_seen(monkeypatch, scene):
    """Run a scene; which particles were pinched at the end of each frame, positions (f, n, 3), and what came out."""
    told, seen, frame_of = [], [], contact.advance

    def listen(*given):
        report = frame_of(*given)
        told.append(np.zeros(0, int) if report.pinched is None else report.pinched)
        return report

    monkeypatch.setattr(contact, "advance", listen)
    done = contact.run(scene, 0, lambda cloth, state, _: seen.append(state.x + cloth.origin), Settings(substeps=6))
    assert done.error == "" and not done.cloth_cloth.any()
    return told, np.array(seen), done


def hanging(low, columns=17, edge=0.015):
    """A sheet in the plane of y and z, held along its upper rim, from `low` [m] upwards."""
    garment = cut("Sheet", columns, columns, edge)
    x = np.stack([0.0 * garment.x[:, 2], garment.x[:, 1], garment.x[:, 0] - garment.x[:, 0].min() + low], axis=1)
    return garment._replace(x=x, x_start=x, pin=np.isclose(x[:, 2], x[:, 2].max()).astype(float))


def test_a_body_that_goes_into_itself_holds_cloth_and_gives_it_back(monkeypatch):
    """In the mean of starts it moves by less than a thickness in a frame. Of 24 starts within a micrometre seven have one to 2.7, and
    where it hangs exactly in the middle, so that both ends come to it at once, one particle moves by five.
    """
    most = []
    for aside in (0.0, 1e-9, 4e-9, 3e-7, 1e-6):
        garment = hanging(0.06)
        x = garment.x + [aside, 0.0, 0.0]
        garment = garment._replace(x=x, x_start=x)
        scene = Scene("hook", [garment], [Solid("Hook", lambda time: hook(time)[0], hook(0.0)[1])], 54)
        with monkeypatch.context() as patched:
            told, x, done = told_and_seen(patched, scene)
        held = slice(24, 33)
        assert all(len(found) > 10 for found in told[held])
        assert not any(map(len, told[:12])) and not any(map(len, told[46:]))
        assert not done.cloth_body[46:].any(), "it has come out"
        moved = np.linalg.norm(np.diff(x[held][:, told[held][0]], axis=0), axis=2)
        most.append(moved.max() / garment.thickness[0])
    assert np.median(most) < 1.0 and max(most) < 6.0


def slab(side):
    """A wall of a groove along y."""
    x, triangles = box((0.02, 0.8, 0.2), (0.01 * side, 0.0, 0.1))
    cosine, sine = np.cos(side * HALF), np.sin(side * HALF)
    turn = np.array([[cosine, 0.0, sine], [0.0, 1.0, 0.0], [-sine, 0.0, cosine]])
    return x @ turn.T + [5e-4 * side, 0.0, 0.0], triangles


def test_what_lies_in_a_groove_can_be_pulled_out(monkeypatch):
    """The lower rim is stuffed into the bottom of a groove of 20 degrees, and the sheet pulled out of it."""
    garment = hanging(0.035, edge=0.012)
    start, rim = garment.x_start + [[1e-4, 0, 0]] * np.sin(40.0 * garment.x_start[:, 1:2]), garment.pin == 1.0
    garment = garment._replace(x=start, x_start=start)

    def pose(time):
        x = start.copy()
        x[rim, 2] += 0.3 * ease(time, 1.2, 2.2) - 0.06 * ease(time, 0.0, 0.6)
        return x

    scene = Scene("groove", [garment], [still("Left", slab(-1)), still("Right", slab(1))], 56, pose=pose)
    told, x, done = told_and_seen(monkeypatch, scene)
    assert any(len(found) > 5 for found in told[:12]) and not any(map(len, told[40:]))
    assert not done.cloth_body.any() and x[-1, :, 2].min() > 0.2


def placed(points, meshes, aura=2e-3):
    """What a frame knows of `points` (36, 3) [m] when it begins: their places, and what they are between."""
    garment = naive.sheet(6, 6)._replace(x_start=points)
    colliders = [Collider("Body", x[None].repeat(2, axis=0), triangles, 0.3, 0.0, aura) for x, triangles in meshes]
    cloth, state = build([garment], Settings())
    frame = FrameInput(
        1 / 24, (state.x + cloth.origin)[None].repeat(2, axis=0), tuple(colliders), np.zeros(3), np.zeros(3)
    )
    contacts = collide.prepare(cloth, state, frame, Settings()).contacts
    return contacts.place[:36], contacts.grip


@pytest.mark.parametrize("fine", [24, 120])
def test_what_is_inside_twice_is_between_the_nearest_places_of_both(fine):
    """Two tori lie 12 cm deep in each other; in the fine ones all triangles that are near are on one side."""
    lower, upper = torus(fine, fine), torus(fine, fine)
    upper[0][:, 2] += 0.38
    rng = np.random.default_rng(5)
    angle, off = rng.uniform(0.0, 2.0 * np.pi, 36), rng.uniform(-0.02, 0.02, (36, 2))
    points = np.stack([(0.6 + off[:, 0]) * np.cos(angle), (0.6 + off[:, 0]) * np.sin(angle), 0.19 + off[:, 1]], axis=1)
    place, grip = placed(points, [lower, upper])
    assert (place == PINCHED).all()
    x = np.concatenate([lower[0], upper[0]])
    triangles = np.concatenate([lower[1], upper[1] + len(lower[0])])
    upside = (np.sort(grip // len(lower[1]), axis=1) == [0, 1]).all(axis=1)
    assert upside.all(), "one of each"
    centre = 0.6 * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    for k in range(2):
        middle = centre + np.where(grip[:, k, None] < len(lower[1]), 0.0, 0.38) * [[0.0, 0.0, 1.0]]
        out = points - middle
        nearest = middle + 0.25 * out / np.linalg.norm(out, axis=1)[:, None]
        away = np.linalg.norm(x[triangles[grip[:, k]]].mean(axis=1) - nearest, axis=1)
        assert away.max() < 2.0 * 2.0 * np.pi * 0.85 / fine, "edges"


def test_what_is_in_one_body_alone_is_not_pinched_by_its_other_side():
    plate = box((1.0, 1.0, 2e-3))
    rng = np.random.default_rng(6)
    points = rng.uniform(-0.3, 0.3, (36, 3)) * [1.0, 1.0, 0.0]
    points[:18, 2] = 1.5e-3
    place, grip = placed(points, [plate])
    assert (place[:18] == OUTSIDE).all() and (place[18:] == INSIDE).all() and (grip == -1).all()


def test_what_is_in_one_body_is_pinched_if_another_is_right_outside():
    """A plate whose upper side is 1 mm above the points; a block hangs 2 mm above it, or 2 cm."""
    points = np.random.default_rng(7).uniform(-0.3, 0.3, (36, 3)) * [1.0, 1.0, 0.0] - [0.0, 0.0, 1e-3]
    for gap, expected in ((2e-3, PINCHED), (2e-2, INSIDE)):
        place, _ = placed(
            points, [box((1.0, 1.0, 0.1), (0.0, 0.0, -0.05)), box((1.0, 1.0, 0.1), (0.0, 0.0, 0.05 + gap))]
        )
        assert (place == expected).all()


@pytest.mark.parametrize("inside", [4, 0])
def test_what_is_outside_of_two_surfaces_without_room_is_pinched(inside):
    """Points in the middle between a plate and a block, which are 3 mm or 2 cm apart, some of them in the plate, or none. Those
    outside were forgotten at each frame's start, and the cloth there snapped back.
    """
    for gap, expected in ((3e-3, PINCHED), (2e-2, OUTSIDE)):
        points = np.random.default_rng(8).uniform(-0.3, 0.3, (36, 3)) * [1.0, 1.0, 0.0] + [0.0, 0.0, 0.5 * gap]
        points[:inside, 2] = -0.02
        plate, block = box((1.0, 1.0, 0.1), (0.0, 0.0, -0.05)), box((1.0, 1.0, 0.1), (0.0, 0.0, 0.05 + gap))
        place, grip = placed(points, [plate, block])
        assert (place[:inside] != OUTSIDE).all() and (place[inside:] == expected).all()
        is_known = (np.sort(grip[inside:] // len(plate[1]), axis=1) == [0, 1]).all(axis=1)
        assert is_known.all() == (expected == PINCHED), "one of each"


def test_what_is_pinched_goes_along_unless_it_is_pulled_out():
    """Four particles between slopes: deep, shallow and drawn in, shallow and drawn out, and one that only touches."""
    cloth, _ = build([naive.sheet(2, 2)], Settings())
    support, dt = make_support(cloth), 0.01
    contacts = no_contacts(4, 0)
    contacts.count[:] = 2
    contacts.normal[:, 0], contacts.normal[:, 1] = [0.8, 0.0, 0.6], [-0.8, 0.0, 0.6]
    contacts.velocity[:3], contacts.friction[:3] = [0.0, 0.5, 0.0], np.inf
    contacts.friction[1:3, 1] = 0.0
    x = np.tile([0.0, 0.0, -1e-3], (4, 1))
    find_support(len(x), x, 0.0 * x, cloth.inv_mass, contacts, support, dt)
    assert (support.kind[:3] == KINEMATIC).all() and support.kind[3] != KINEMATIC
    assert np.allclose(support.want[:3] + x[:3], [0.0, 0.005, 0.0])
    force = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    weigh(len(support.want), support.want, force, cloth.inv_mass, contacts, support, dt)
    find_support(len(x), x, 0.0 * x, cloth.inv_mass, contacts, support, dt)
    assert support.kind[:3].tolist() == [KINEMATIC, KINEMATIC, FREE]
    assert contacts.friction[2, 0] == 0.0, "contact sees that it has been let go"


def test_what_has_slid_round_an_edge_is_no_longer_pinched():
    """Both triangles that it follows over the mesh are the same then, and it stuck to one side of the body for ever."""
    x, triangles = box((1.0, 1.0, 0.1), (0.0, 0.0, -0.05))
    start = np.random.default_rng(7).uniform(-0.1, 0.1, (36, 3)) * [1.0, 1.0, 0.0] + [0.0, 0.0, 1e-3]
    cloth, state = build([naive.sheet(6, 6)._replace(x_start=start)], Settings())
    body = Collider("Body", x[None].repeat(2, axis=0), triangles, 0.3, 0.0, 2e-3)
    frame = FrameInput(1 / 24, start[None].repeat(2, axis=0), (body,), np.zeros(3), np.zeros(3))
    bodies = collide.prepare(cloth, state, frame, Settings())
    collide.detect(bodies, cloth, state.x, state.v, 0.0, 1.0, Settings())
    top = np.flatnonzero((x[triangles, 2] > -1e-6).all(axis=1))[0]
    bodies.contacts.place[:36], bodies.contacts.grip[:] = PINCHED, top
    collide.respond(bodies, cloth, state.x, state.x.copy(), state.v, state.x, 0.1, 1 / 240)
    assert (bodies.contacts.place[:36] == OUTSIDE).all() and collide.pinched(bodies) is None


def test_what_a_finger_has_passed_is_no_longer_pinched():
    """Cloth past the middle of a finger in a block is nearer to the side that looks out of the block, as the block's does. It stuck to the
    far side, right over which it still was, and was drawn on.
    """
    x, triangles = pinch_scenes.capsule_mesh(0.2, 0.01, 12)
    finger = x[:, [2, 0, 1]] - [0.0, 0.0, 0.03], triangles
    block = box((1.0, 1.0, 0.2), (0.0, 0.0, -0.1))
    start = np.random.default_rng(11).uniform(-0.05, 0.05, (36, 3)) * [1.0, 0.0, 0.0] - [0.0, 0.0, 0.026]
    cloth, state = build([naive.sheet(6, 6)._replace(x_start=start)], Settings())
    colliders = tuple(Collider("Body", x[None].repeat(2, axis=0), t, 0.3, 0.0, 2e-3) for x, t in (finger, block))
    frame = FrameInput(1 / 24, start[None].repeat(2, axis=0), colliders, np.zeros(3), np.zeros(3))
    bodies = collide.prepare(cloth, state, frame, Settings())
    collide.detect(bodies, cloth, state.x, state.v, 0.0, 1.0, Settings())
    corners = finger[0][triangles]
    below = [corners[:, :, 2].mean(axis=1) < -0.036, np.abs(corners[:, :, 1].mean(axis=1)) < 4e-3]
    under = np.flatnonzero(np.all(below, axis=0))
    middle = corners[under, :, 0].mean(axis=1)
    top = len(triangles) + np.flatnonzero((block[0][block[1], 2] > -1e-6).all(axis=1))[0]
    bodies.contacts.place[:36], bodies.contacts.grip[:, 1] = PINCHED, top
    bodies.contacts.grip[:, 0] = under[np.abs(middle - start[:, :1]).argmin(axis=1)]
    collide.respond(bodies, cloth, state.x, state.x.copy(), state.v, state.x, 0.1, 1 / 240)
    assert collide.pinched(bodies) is None
