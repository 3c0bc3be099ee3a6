# SPDX-License-Identifier: GPL-3.0-or-later
"""Felt Motion in a bake: a cape on what goes and turns feels as much of that as it is told to."""

import bpy
import numpy as np
import pytest

LAST = 10


@pytest.fixture
def cape(saved, make):
    """Loose cloth beside a rig whose bone goes 0.9 m and turns a quarter in nine frames."""
    saved.use_gravity = False
    saved.frame_start, saved.frame_end = 1, LAST
    obj = make.cloth(make.grid(count=4, size=0.3, location=(0.4, 0, 1)))
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    saved.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("Chest")
    bone.head, bone.tail = (0, 0, 1), (0, 0, 1.2)
    bpy.ops.object.mode_set(mode="OBJECT")
    chest = rig.pose.bones["Chest"]
    chest.rotation_mode = "XYZ"
    for frame, share in ((1, 0.0), (LAST, 1.0)):
        chest.location, chest.rotation_euler = (0.0, 0.9 * share, 0.0), (0.0, 0.5 * np.pi * share, 0.0)
        chest.keyframe_insert("location", frame=frame)
        chest.keyframe_insert("rotation_euler", frame=frame)
    ride = obj.taffeta_cloth.ride
    ride.object, ride.bone = rig, "Chest"
    return obj, rig


def went(make, obj, rig):
    """(n, 3) [m] where cloth is at the end, and where the bone would have carried it."""
    scene = bpy.context.scene
    assert bpy.ops.taffeta.bake() == {"FINISHED"}

    def carried():
        return np.array(rig.matrix_world @ rig.pose.bones["Chest"].matrix)

    scene.frame_set(1)
    start, before = make.world(obj), carried()
    scene.frame_set(LAST)
    matrix = carried() @ np.linalg.inv(before)
    return start, make.world(obj), start @ matrix[:3, :3].T + matrix[:3, 3]


def test_cloth_that_feels_nothing_goes_along_and_what_feels_all_stays(cape, make):
    obj, rig = cape
    start, end, _ = went(make, obj, rig)
    assert np.allclose(end, start, atol=1e-5)
    obj.taffeta_cloth.ride.felt = 0.0
    _, end, carried = went(make, obj, rig)
    assert np.linalg.norm(carried - start, axis=1).min() > 0.9
    assert np.abs(end - carried).max() < 0.02


def test_felt_motion_may_be_keyed_and_a_bake_goes_on_as_it_was(cape, make):
    """Unfelt from frame 6 on, it keeps the velocity that it has there; baked again from frame 8 on it is the same to the bit."""
    obj, rig = cape
    for frame, felt in ((5, 1.0), (6, 0.0)):
        obj.taffeta_cloth.ride.felt = felt
        obj.keyframe_insert("taffeta_cloth.ride.felt", frame=frame)
    start, end, carried = went(make, obj, rig)
    assert 0.1 < np.linalg.norm(end - start, axis=1).mean() < 0.9 * np.linalg.norm(carried - start, axis=1).mean()
    assert bpy.ops.taffeta.bake(from_frame=8) == {"FINISHED"}
    bpy.context.scene.frame_set(LAST)
    assert np.array_equal(make.world(obj), end)


def test_a_bone_that_is_not_there_is_told(cape):
    obj, rig = cape
    obj.taffeta_cloth.ride.felt, obj.taffeta_cloth.ride.bone = 0.5, "Hip"
    with pytest.raises(RuntimeError, match="rides on a bone 'Hip' that Rig does not have"):
        bpy.ops.taffeta.bake()
