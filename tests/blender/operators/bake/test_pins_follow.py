# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins in a bake: they follow the garment's own animation, whoever makes it; soft ones pull; a distance bounds."""

import math

import bpy
import numpy as np
import pytest
from taffeta.operators.read import modifier_stack

LAST = 10


@pytest.fixture
def sheet(saved, make):
    """A sheet whose first row of five hangs on the group "Waist"."""
    saved.taffeta.air_density = 0.0
    obj = make.cloth(make.grid(count=5, location=(0, 0, 2)))
    obj.vertex_groups.new(name="Waist").add(range(5), 1.0, "REPLACE")
    obj.taffeta_cloth.pin.source, obj.taffeta_cloth.pin.vertex_group = "GROUP", "Waist"
    return obj


def turned(obj, data_path="rotation_euler", angle=0.8):
    """Keys from nothing at frame 1 to a turn and a shift at the last frame."""
    obj.rotation_mode = "XYZ"
    for frame, share in ((1, 0.0), (LAST, 1.0)):
        obj.rotation_euler = (0.3 * angle * share, 0.0, angle * share)
        obj.location = (0.4 * share, 0.0, 0.2 * share)
        obj.keyframe_insert("rotation_euler", frame=frame)
        obj.keyframe_insert("location", frame=frame)


def by_bone(obj, scene):
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("Hips")
    bone.head, bone.tail = (0, 0, 1), (0, 0, 2)
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.vertex_groups.new(name="Hips").add(range(25), 1.0, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    obj.modifiers.new("Subdivision", "SUBSURF")
    turned(rig.pose.bones["Hips"])


def by_parent(obj, scene):
    parent = bpy.data.objects.new("Hips", None)
    scene.collection.objects.link(parent)
    obj.parent = parent
    turned(parent)


def by_bone_parent(obj, scene):
    """An object that hangs on a bone, as a belt buckle does."""
    by_bone(obj, scene)
    obj.modifiers.clear()
    obj.parent, obj.parent_type, obj.parent_bone = bpy.data.objects["Rig"], "BONE", "Hips"


def by_shape_key(obj, scene):
    key = [obj.shape_key_add(name=name) for name in ("Basis", "Turned")][1]
    for point in key.data:
        x, y, z = point.co
        point.co = (0.7 * x - 0.7 * y + 0.4, 0.7 * x + 0.7 * y, z + 0.1)
    for frame, value in ((1, 0.0), (LAST, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)


def by_constraint(obj, scene):
    leader = bpy.data.objects.new("Leader", None)
    scene.collection.objects.link(leader)
    turned(leader)
    obj.constraints.new("CHILD_OF").target = leader


def shown(make, obj, frame):
    """The first 25 vertices at a frame: what a Subdivision adds comes after them."""
    bpy.context.scene.frame_set(frame)
    return make.world(obj)[:25]


def poses(make, obj):
    """The garment's own animation, without cache and subdivision."""
    bpy.context.view_layer.update()
    with modifier_stack.muted([obj]):
        return {frame: shown(make, obj, frame) for frame in range(1, LAST + 1)}


@pytest.mark.parametrize("carry", [by_bone, by_parent, by_bone_parent, by_shape_key, by_constraint])
def test_a_waistband_moves_with_the_hips(saved, sheet, make, carry):
    carry(sheet, saved)
    pose = poses(make, sheet)
    assert np.abs(pose[LAST] - pose[1]).max() > 0.3, "it has to move"
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    for modifier in sheet.modifiers:
        modifier.show_viewport = modifier.type != "SUBSURF"
    for frame in (2, 6, LAST):
        x = shown(make, sheet, frame)
        assert x[:5] == pytest.approx(pose[frame][:5], abs=2e-5)
    assert np.abs(x[10:] - pose[LAST][10:]).max() > 0.1, "the rest hangs"


def test_a_rig_that_comes_after_a_bake_carries_the_next_one(saved, sheet, make):
    """Blender puts it behind the cache; the pose is the rig's all the same, and the cache is moved past it."""
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    by_bone(sheet, saved)
    assert [modifier.type for modifier in sheet.modifiers] == ["MESH_CACHE", "ARMATURE", "SUBSURF"]
    pose = poses(make, sheet)
    assert np.abs(pose[LAST] - pose[1]).max() > 0.3, "it has to move"
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert [modifier.type for modifier in sheet.modifiers] == ["ARMATURE", "MESH_CACHE", "SUBSURF"]
    sheet.modifiers["Subdivision"].show_viewport = False
    for frame in (2, 6, LAST):
        assert shown(make, sheet, frame)[:5] == pytest.approx(pose[frame][:5], abs=2e-5)


def test_a_soft_pin_pulls_and_a_softer_one_pulls_less(sheet, make):
    """Under gravity alone, weights of 1, 1/2 and nearly nothing sink further and further below a pose that stands."""
    sheet.taffeta_cloth.pin.source = "UNIFORM"
    sunk = []
    for weight in (1.0, 0.5, 0.25, 0.0):
        sheet.taffeta_cloth.pin.value = weight
        assert bpy.ops.taffeta.bake() == {"FINISHED"}
        sunk.append(2.0 - shown(make, sheet, LAST)[:, 2].mean())
    assert sunk[0] == pytest.approx(0.0, abs=1e-6)
    assert sunk[0] + 1e-4 < sunk[1] < sunk[2] < 0.5 * sunk[3]
    assert sunk[3] == pytest.approx(0.5 * 9.81 * (9 / 24) * (9 / 24 + 1 / 240), rel=1e-3), "free fall"


def test_a_painted_distance_bounds_the_way_from_the_animated_pose(saved, sheet, make):
    """5 cm at one side, 30 cm at the other, about a pose that a parent carries along."""
    cloth = sheet.taffeta_cloth
    cloth.pin.source, cloth.pin.value = "UNIFORM", 0.0
    weight = np.array([vertex.co.x + 0.5 for vertex in sheet.data.vertices])
    attribute = sheet.data.attributes.new("Reach", "FLOAT", "POINT")
    attribute.data.foreach_set("value", weight.astype(np.float32))
    distance = cloth.pin_distance
    distance.source, distance.attribute, distance.minimum, distance.maximum = "ATTRIBUTE", "Reach", 0.05, 0.3
    cloth.stretch_stiffness.value = 50.0
    by_parent(sheet, saved)
    pose = poses(make, sheet)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    limit = 0.05 + 0.25 * weight
    for frame in range(2, LAST + 1):
        way = np.linalg.norm(shown(make, sheet, frame) - pose[frame], axis=1)
        assert (way < limit + 1e-5).all()
    assert (way > 0.99 * limit).sum() >= 3 and math.isclose(way.min(), 0.05, rel_tol=0.2), "some reach their bound"
