# SPDX-License-Identifier: GPL-3.0-or-later
"""Pre-roll from the rest pose: a character that begins in the middle of a walk is dressed as it stands at rest."""

import math

import bpy
import numpy as np
import pytest
from taffeta.operators.bake import run
from taffeta.operators.bake.order import read_order
from taffeta.operators.checks import problem_list
from taffeta.operators.read import preroll, sampling

COUNT = 6


@pytest.fixture
def dancer(saved, make):
    """A body and a skirt pinned at the waist, both on a bone that has turned by 60 degrees at frame 1 and turns on."""
    saved.taffeta.preroll, saved.taffeta.preroll_from = COUNT, "REST"
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    saved.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("Hips").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    body = make.collider(make.ball(radius=0.3, rings=6, segments=12))
    skirt = make.cloth(make.grid("Skirt", count=5))
    skirt.data.transform(((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0.5), (0, 0, 0, 1)))
    skirt.vertex_groups.new(name="Waist").add(range(5), 1.0, "REPLACE")
    skirt.taffeta_cloth.pin.source, skirt.taffeta_cloth.pin.vertex_group = "GROUP", "Waist"
    for obj in (body, skirt):
        obj.vertex_groups.new(name="Hips").add(range(len(obj.data.vertices)), 1.0, "REPLACE")
        obj.modifiers.new("Armature", "ARMATURE").object = rig
    bone = rig.pose.bones["Hips"]
    bone.rotation_mode = "XYZ"
    for frame, degrees in ((1, 60), (10, 100)):
        bone.rotation_euler.y = math.radians(degrees)
        bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.view_layer.update()
    return skirt


def inputs(scene):
    """Every frame of a bake's order as it is sampled."""
    order = read_order(scene)
    with sampling.posed(scene, *run._objects(type("Asked", (), {"order": order}))):
        return order, list(run.sampled_inputs(order))


def own(obj):
    return np.array([vertex.co for vertex in obj.data.vertices])


def test_it_leads_from_the_rest_pose_to_the_first_frame(saved, dancer, make):
    body, rig = bpy.data.objects["Body"], bpy.data.armatures["Rig"]
    saved.frame_set(1)
    first = make.world(dancer), make.world(body)
    saved.frame_set(2)
    second = make.world(dancer)
    order, frames = inputs(saved)
    assert len(frames) == COUNT + 10 and order.garments[0].x_start == pytest.approx(own(dancer), abs=1e-6)
    assert frames[0].targets[1] == pytest.approx(own(dancer), abs=1e-6)
    assert frames[0].colliders[0].x[1] == pytest.approx(own(body), abs=1e-6)
    assert frames[COUNT].targets[-1] == pytest.approx(first[0], abs=1e-6)
    assert frames[COUNT].colliders[0].x[-1] == pytest.approx(first[1], abs=1e-6)
    assert frames[COUNT + 1].targets[-1] == pytest.approx(second, abs=1e-6)
    steps = [np.abs(frame.targets[-1] - frame.targets[0]).max() for frame in frames[1 : COUNT + 1]]
    assert max(steps) == pytest.approx(max(steps[2:4])) and steps[0] < 0.5 * max(steps) > steps[-1], "gently"
    for before, after in zip(frames, frames[1:], strict=False):
        assert np.array_equal(before.targets[-1], after.targets[0])
        assert np.array_equal(before.colliders[0].x[-1], after.colliders[0].x[0])
    assert rig.pose_position == "POSE" and saved.frame_current == 2


def test_a_bake_from_rest_is_worn_in_the_first_frame(saved, dancer, make):
    saved.frame_set(1)
    pose = make.world(dancer)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    saved.frame_set(1)
    x = make.world(dancer)
    assert x[:5] == pytest.approx(pose[:5], abs=1e-5), "the waist is where the hips are"
    assert np.abs(x[5:] - pose[5:]).max() > 0.1, "the rest has moved for six frames"
    edges = np.array([edge.vertices for edge in dancer.data.edges])
    lengths = [np.linalg.norm(y[edges[:, 0]] - y[edges[:, 1]], axis=1) for y in (x, own(dancer))]
    assert lengths[0] == pytest.approx(lengths[1], rel=0.05), "dressed without being torn"


def test_the_bake_beside_a_window_samples_the_same(saved, dancer):
    """Its sampler gives the scene back between frames."""
    _, expected = inputs(saved)
    baking = run.jobs.Job(read_order(saved))
    sampler, found = run.sampled(baking), []
    for _ in sampler:
        assert bpy.data.armatures["Rig"].pose_position == "POSE"
        while baking.inputs.qsize():
            found.append(baking.inputs.get())
    while baking.inputs.qsize():
        found.append(baking.inputs.get())
    assert found.pop() is None and len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one.targets, other.targets) and np.array_equal(one.to_object, other.to_object)


def test_preflight_looks_at_the_rest_pose(saved, dancer, make):
    """The post stands where a corner is in the first frame, outside of the garment at rest."""
    saved.frame_set(1)
    make.collider(make.ball("Post", radius=0.05, location=tuple(make.world(dancer)[24])))
    assert not [p for p in problem_list.check_thoroughly(saved) if "Post" in p.sentence]
    saved.taffeta.preroll = 0
    assert [p for p in problem_list.check_thoroughly(saved) if "Post" in p.sentence]


def test_without_frames_there_is_nothing_to_lead(saved):
    saved.taffeta.preroll, saved.taffeta.preroll_from = 0, "REST"
    assert preroll.rest_count(saved) == 0
    saved.taffeta.preroll, saved.taffeta.preroll_from = 7, "ANIMATION"
    assert preroll.rest_count(saved) == 0
