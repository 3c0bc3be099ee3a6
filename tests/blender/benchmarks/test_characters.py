# SPDX-License-Identifier: GPL-3.0-or-later
"""The shots of `benchmarks/characters.py`: bodies that move as told, clothes that begin clean, and a row that is right."""

from types import SimpleNamespace

import bpy
import characters
import dynamics
import numpy as np
import pytest
import scenes
import simulate
from people import garments, judge, motions, pose, shots
from taffeta.presets.scenes import figure, surface

#: the fastest that a foot and a hand get, least and most [m/s]
SPEEDS = {
    "RUN": (7.0, 10.0, 4.0, 7.0),
    "JUMP": (1.8, 4.0, 6.0, 14.0),
    "SPIN": (0.5, 3.0, 7.0, 12.0),
    "KICK": (9.0, 16.0, 2.0, 6.0),
    "SIT": (0.0, 0.6, 0.5, 3.5),
    "CRAWL": (1.0, 5.0, 1.0, 5.0),
    "ARMS": (0.0, 0.3, 4.0, 10.0),
}
MOTIONS = {name: getattr(motions, name) for name in SPEEDS}


def places(motion, bone):
    """(f, 3) [m] where the heads of a bone are in each frame."""
    joints, found = figure.skeleton(), []
    for frame in range(1, motion.last + 1):
        shift, turns = pose.turns(motion, float(frame))
        found.append(pose.forward(joints, turns)[bone][0] + shift)
    return np.array(found)


@pytest.mark.once
@pytest.mark.parametrize("name", SPEEDS)
def test_a_body_moves_as_told(name):
    motion = MOTIONS[name]
    foot, hand = (
        max(24.0 * np.linalg.norm(np.diff(places(motion, f"{bone}.{side}"), axis=0), axis=1).max() for side in "LR")
        for bone in ("foot", "hand")
    )
    least_foot, most_foot, least_hand, most_hand = SPEEDS[name]
    assert least_foot <= foot <= most_foot and least_hand <= hand <= most_hand


def test_a_motion_begins_at_rest_and_a_planted_foot_stays():
    joints = figure.skeleton()
    for motion in MOTIONS.values():
        shift, turns = pose.turns(motion, 1.0)
        placed = pose.forward(joints, turns)
        assert all(np.linalg.norm(np.array(placed[bone][1]) - joint.tail) < 1e-5 for bone, joint in joints.items())
        assert np.linalg.norm(shift) < 0.01, "its soles are on the ground"
    assert np.ptp(places(motions.KICK, "foot.L")[:, 1]) < 1e-5
    assert np.ptp(places(motions.KICK, "foot.R")[:, 1]) > 0.8


def test_a_jump_flies_as_gravity_has_it():
    height = [pose.value(motions.JUMP, "lift", "", frame) for frame in range(23, 24 + motions.FLIGHT)]
    assert np.diff(height, 2) == pytest.approx(-9.81 / 24.0**2, rel=1e-3)


@pytest.mark.once
@pytest.mark.parametrize("name", shots.SHOTS)
def test_a_shot_begins_clean(name):
    shot = shots.SHOTS[name]
    scene = shots.build(shot)
    seen = judge.Judge(scene)
    assert seen.look() and seen.crossings == [(0, 0, 0)]
    assert surface.distances(figure.flesh(), seen.x[0]).min() > shots.SKIN
    assert 1500 <= len(seen.x[0]) / len(scene.garments) <= 4000
    assert 3000 <= len(seen.bodies[0]) <= 8000 and surface.open_edges(seen.bodies[0]) == 0
    assert bpy.context.scene.frame_end == shot.motion.last and len(scene.garments) == len(shot.clothes)


def test_two_frames_make_a_row(tmp_path, monkeypatch):
    monkeypatch.setattr(characters, "KEPT", tmp_path / "out" / "characters.json")
    monkeypatch.setattr(characters, "REFERENCE", tmp_path / "reference.json")
    characters.measure(characters.options(["--shots", "run-flag", "--frames", "2", "--no-pictures"]))
    told = characters.rows()
    ours, theirs = told[0], told[1]
    newer = [dynamics.BEST] if dynamics.library() else []
    assert [row["by"] for row in told] == [characters.FINAL, characters.BLENDER, *newer]
    assert {row["vertices"] for row in told} == {61 * 41} and {row["frames"] for row in told} == {2}
    assert ours["cloth"]["most"] == ours["body"]["most"] == 0 and ours["steps"] >= 10
    assert 0.0 < ours["roughness"] < 5.0 and 0.0 < ours["stretch"]["usual"] <= ours["stretch"]["worst"] < 0.1
    assert len(characters.line(ours)) == len(characters.HEAD) and not characters.whole([ours, theirs])


@pytest.mark.skipif(dynamics.library() is None, reason="Blender has Cloth Dynamics from 5.2 on")
def test_cloth_dynamics_is_held_where_the_runner_is_and_keeps_its_size():
    """An armature moves the held vertices alone: what the asset takes for rest must not go with them."""
    stretch = {}
    for who in (dynamics.BEST, dynamics.DEFAULTS):
        scene = shots.build(shots.SHOTS["run-flag"], 8)
        (flag,), held = scene.garments, judge._held(scene.garments[0])
        simulate.furnish(bpy.context.scene, [flag], who)
        figures = characters.look(scene, False)[0].figures()
        stretch[who] = figures["stretch"]["worst"]
        if who == dynamics.BEST:
            posed = bpy.data.objects[f"{flag.name}, posed"]
            assert scenes.world(flag)[held] == pytest.approx(scenes.world(posed)[held], abs=0.01)
            assert np.abs(scenes.world(posed)[held] - scenes.world(posed)[~held].mean(axis=0)).max() > 0.5
    assert 3.0 * stretch[dynamics.BEST] < stretch[dynamics.DEFAULTS]


def test_a_judge_sees_what_is_shown_but_not_what_is_held():
    """A flag is drawn out by a tenth behind its pole, and then goes through the runner."""
    scene = shots.build(shots.SHOTS["run-flag"], 3)
    (flag,), seen = scene.garments, judge.Judge(scene)
    assert not np.isin(seen.edges, np.arange(0, 61 * 41, 61)).all(axis=1).any(), "the side that the pole holds"
    for vertex in flag.data.vertices:
        vertex.co.y = 0.200 + 1.1 * (vertex.co.y - 0.200)
    bpy.context.view_layer.update()
    assert seen.look()
    figures = seen.figures()
    assert figures["stretch"]["worst"] == pytest.approx(0.1, abs=1e-3)
    assert figures["roughness"] == pytest.approx(0.0, abs=0.1) and figures["body"]["most"] == 0
    flag.location = 0.0, -0.5, -0.8
    bpy.context.view_layer.update()
    assert seen.look()
    body = seen.figures()["body"]
    assert body["frames"] == 1 and body["each"] == [0, body["most"]] and body["most"] > 50


def test_what_turns_back_is_counted():
    x = np.zeros((4, 3, 3))
    x[:, 0, 0] = 0.0, 0.003, 0.0, 0.003  # to and fro
    x[:, 1, 0] = 0.0, 0.001, 0.0, 0.001  # a little
    x[:, 2, 0] = 0.0, 0.003, 0.006, 0.0  # on, then back
    assert judge.turning(x).tolist() == [1, 2]


def test_a_channel_that_there_is_not_is_told():
    rig = SimpleNamespace()
    with pytest.raises(ValueError, match='no channel "ear.L"'):
        pose.key(rig, pose.Motion(2, {"ear.L": ((1, 0.0),)}))


def test_a_shirt_is_open_where_it_is_cut():
    made = garments.shirt()
    edges = [tuple(sorted((face[k - 1], face[k]))) for face in made.faces for k in range(len(face))]
    found, count = np.unique(edges, axis=0, return_counts=True)
    rim = found[count == 1]
    assert set(np.unique(count)) == {1, 2}
    group = {}
    for a, b in rim.tolist():
        group.setdefault(a, []).append(b)
        group.setdefault(b, []).append(a)
    assert all(len(others) == 2 for others in group.values())
    left, loops = set(group), 0
    while left:
        loops, way = loops + 1, [left.pop()]
        while way:
            ahead = [k for k in group[way.pop()] if k in left]
            left.difference_update(ahead)
            way += ahead
    assert loops == 4, "neck, hem and two sleeves"
