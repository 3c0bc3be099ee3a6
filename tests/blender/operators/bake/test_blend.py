# SPDX-License-Identifier: GPL-3.0-or-later
"""Blend to Animation and Max Distance in a bake: painted, keyed, read in every frame."""

import bpy
import numpy as np
import pytest

G, LAST = 9.81, 24


@pytest.fixture
def cape(saved, make):
    """A sheet that its parent lifts evenly; its own animation: half a metre in a second."""
    saved.taffeta.air_density = 0.0
    obj = make.cloth(make.grid(count=5, location=(0, 0, 2)), bending_stiffness=0.0)
    obj.parent = bpy.data.objects.new("Parent", None)
    saved.collection.objects.link(obj.parent)
    for frame, height in ((1, 0.0), (LAST + 1, 0.5)):
        obj.parent.location.z = height
        obj.parent.keyframe_insert("location", frame=frame)
    for curve in obj.parent.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    return obj


def away(obj, make, frame):
    """(n, 3) [m] how far the cloth is from its animation, as it is baked."""
    scene = bpy.context.scene
    scene.frame_set(frame)
    pose = np.array([obj.matrix_world @ vertex.co for vertex in obj.data.vertices])
    return make.world(obj) - pose


def bake(scene, last=LAST):
    scene.frame_start, scene.frame_end = 1, last
    assert bpy.ops.taffeta.bake() == {"FINISHED"}


def test_cloth_hangs_below_its_animation_by_g_over_the_stiffness(cape, make):
    """Twice as far where the weight is a half, and anywhere between on the way there, but not more."""
    cloth = cape.taffeta_cloth
    cloth.blend_stiffness, cloth.blend_damping = 400.0, 40.0
    cape.vertex_groups.new(name="Half").add(range(25), 0.5, "REPLACE")
    cloth.blend.source, cloth.blend.vertex_group = "GROUP", "Half"
    bake(bpy.context.scene)
    assert np.allclose(away(cape, make, LAST), [0, 0, -G / 200.0], atol=2e-3)
    cloth.blend.source, cloth.blend.value = "UNIFORM", 1.0
    bake(bpy.context.scene)
    assert np.allclose(away(cape, make, LAST), [0, 0, -G / 400.0], atol=1e-3)


def test_a_keyed_weight_brings_cloth_to_its_pose(cape, make):
    cloth = cape.taffeta_cloth
    cloth.blend_stiffness, cloth.blend_damping = 400.0, 40.0
    for frame, weight in ((5, 0.0), (6, 1.0)):
        cloth.blend.value = weight
        cape.keyframe_insert("taffeta_cloth.blend.value", frame=frame)
    bake(bpy.context.scene)
    assert np.allclose(away(cape, make, 5)[:, 2], -0.5 * G / 36.0 - 0.5 / 6.0, atol=0.02)  # it falls
    assert np.allclose(away(cape, make, LAST), [0, 0, -G / 400.0], atol=3e-3)


def test_a_keyed_distance_bounds_each_frame(cape, make):
    cloth = cape.taffeta_cloth
    for frame, reach in ((1, 0.2), (10, 0.02)):
        cloth.pin_distance.value = reach
        cape.keyframe_insert("taffeta_cloth.pin_distance.value", frame=frame)
    bake(bpy.context.scene, 10)
    for frame in (8, 10):
        farthest = np.linalg.norm(away(cape, make, frame), axis=1).max()
        assert 0.9 * cloth.pin_distance.value < farthest < 1.001 * cloth.pin_distance.value
