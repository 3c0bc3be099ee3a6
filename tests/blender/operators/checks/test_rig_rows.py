# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight tells of rigs that were left in Edit Mode or in their Rest Position, and move nothing in the bake."""

import bpy
import pytest


@pytest.fixture
def rig(shot):
    """An animated armature of one bone, in Object Mode."""
    obj = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    shot.collection.objects.link(obj)
    mode(obj, "EDIT")
    obj.data.edit_bones.new("Bone").tail = 0, 0, 1
    mode(obj, "OBJECT")
    obj.pose.bones["Bone"].keyframe_insert("location", frame=1)
    return obj


def mode(obj, name):
    """Bring an object into a mode."""
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.mode_set(mode=name)


def hang(obj, rig, way):
    """Let an object follow a rig's bone."""
    if way == "modifier":
        obj.modifiers.new("Armature", "ARMATURE").object = rig
    elif way == "hook":
        hook = obj.modifiers.new("Hook", "HOOK")
        hook.object, hook.subtarget = rig, "Bone"
    elif way == "bone":
        obj.parent, obj.parent_type, obj.parent_bone = rig, "BONE", "Bone"
    elif way == "constraint":
        constraint = obj.constraints.new("CHILD_OF")
        constraint.target, constraint.subtarget = rig, "Bone"
    elif way == "armature constraint":
        target = obj.constraints.new("ARMATURE").targets.new()
        target.target, target.subtarget = rig, "Bone"
    else:
        empty = bpy.data.objects.new("Empty", None)
        bpy.context.scene.collection.objects.link(empty)
        hang(empty, rig, "constraint")
        obj.parent = empty


WAYS = "modifier", "hook", "bone", "constraint", "armature constraint", "parent's constraint"


@pytest.mark.parametrize("way", WAYS)
def test_rig_in_edit_mode(shot, way, rig, found, only, body):
    hang(body(), rig, way)
    assert found() == []
    mode(rig, "EDIT")
    only("WARNING", "Rig", "is in Edit Mode", "does not move Body")
    assert found()[0].heavy
    mode(rig, "OBJECT")
    assert found() == []


@pytest.mark.parametrize("way", WAYS)
def test_rig_in_rest_position(shot, way, rig, found, only, body):
    hang(body(), rig, way)
    rig.data.pose_position = "REST"
    only("WARNING", "Rig", "shows its Rest Position", "does not move Body")
    rig.data.pose_position = "POSE"
    assert found() == []


def test_garment_and_body_are_named_in_one_row(shot, rig, only, cloth, body):
    for obj in (cloth(), body()):
        hang(obj, rig, "modifier")
    rig.data.pose_position = "REST"
    only("WARNING", "Rig", "does not move Body, Cloth")


def test_rig_that_moves_nothing_of_the_shot(shot, rig, found, body):
    rig.data.pose_position = "REST"
    body().parent = rig  # the object, which no pose moves
    modifier = body().modifiers.new("Armature", "ARMATURE")
    modifier.object, modifier.show_viewport, modifier.show_render = rig, False, False
    assert found() == []
    mode(rig, "EDIT")
    assert found() == []


def test_rig_that_a_rig_at_rest_moves(shot, rig, only, body):
    follower = bpy.data.objects.new("Follower", rig.data.copy())
    shot.collection.objects.link(follower)
    bpy.context.view_layer.update()
    constraint = follower.pose.bones["Bone"].constraints.new("COPY_TRANSFORMS")
    constraint.target, constraint.subtarget = rig, "Bone"
    hang(body(), follower, "modifier")
    rig.data.pose_position = "REST"
    only("WARNING", "Rig", "does not move Body")
