# SPDX-License-Identifier: GPL-3.0-or-later
"""What keys move from place to place within a frame."""

import bpy
import numpy as np
import pytest
from taffeta.operators.read.keyed import curves, span


@pytest.fixture
def told(shot):
    """told(): sentences of Check Before Baking that tell of a jump."""
    shot.frame_end = 24

    def look():
        assert bpy.ops.taffeta.preflight() == {"FINISHED"}
        return [one.sentence for one in bpy.context.window_manager.taffeta.problems if " jumps " in one.sentence]

    return look


def key(owner, *places, path="location", interpolation="CONSTANT"):
    """Key a location at frames: (frame, x)."""
    for frame, x in places:
        owner.location.x = x
        owner.keyframe_insert(path, frame=frame)
    obj = owner.id_data
    for bag in obj.animation_data.action.layers[0].strips[0].channelbags:
        for point in (point for curve in bag.fcurves for point in curve.keyframe_points):
            point.interpolation = interpolation


def test_what_a_garment_hangs_on_jumps(told, cloth):
    """As where a shot has a cut in it, or a key was put one frame too early; told at what is keyed."""
    empty = bpy.data.objects.new("Stage", None)
    bpy.context.scene.collection.objects.link(empty)
    cloth().parent = empty
    key(empty, (1, 0.0), (12, 30.0))
    (sentence,) = told()
    assert sentence.startswith("Stage jumps 30 m from frame 11 to 12, by its keys: cloth that hangs on it is drawn out")
    key(empty, (1, 0.0), (12, 0.4))
    assert told() == []


@pytest.mark.parametrize("hold", (2, 5))
def test_what_is_animated_in_steps(told, cloth, hold):
    """Blocking, and animation on twos: no cut, of which a shot would be two. Steps that are small beside the cloth are none to tell."""
    frames = range(1, 25, hold)
    key(cloth(), *((frame, 0.4 * frame / hold) for frame in frames))
    assert told() == []
    key(cloth(), *((frame, 2.0 * frame) for frame in frames))
    (sentence,) = told()
    assert f"Cloth holds still at each key and jumps to the next, up to {2 * hold} m, in frame" in sentence
    remedies = [one.remedy for one in bpy.context.window_manager.taffeta.problems if one.sentence == sentence]
    assert remedies == ["Give its keys Bezier or Linear interpolation before you bake (T, in the Graph Editor)"]
    key(cloth(), *((frame, 2.0 * frame) for frame in frames), interpolation="LINEAR")
    assert told() == []


def test_a_modifier_that_makes_steps(told, cloth):
    key(cloth(), (1, 0.0), (24, 50.0), interpolation="LINEAR")
    curve = next(curve for curve in curves(cloth()) if curve.array_index == 0)
    curve.modifiers.new("STEPPED").frame_step = 4
    (sentence,) = told()
    assert "Cloth holds still at each key" in sentence


def test_a_quick_way_is_none(told, cloth):
    """A train at 60 m/s goes farther in a frame than the cloth is wide, in all frames."""
    key(cloth(), (1, 0.0), (24, 57.5), interpolation="LINEAR")
    assert told() == []


@pytest.fixture
def rig(cloth):
    """The garment's, of one bone, `Root`."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("Root").tail = (0.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    cloth().modifiers.new("Rig", "ARMATURE").object = rig
    return rig


def test_a_knee_that_is_turned_elsewhere(told, rig):
    """A pole target jumps where legs go from one way of posing to another; it carries nothing."""
    key(rig.pose.bones["Root"], (1, 0.0), (7, 5.0))
    rig.data.bones["Root"].use_deform = False
    assert len(told()) == 1
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("Shin").tail = (0.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    bends = rig.pose.bones["Shin"].constraints.new("IK")
    bends.pole_target, bends.pole_subtarget = rig, "Root"
    assert told() == []


def test_a_bone_that_jumps(told, rig):
    rig.scale = (2.0, 2.0, 2.0)
    key(rig.pose.bones["Root"], (1, 0.0), (7, 5.0))
    (sentence,) = told()
    assert sentence.startswith("Rig's bone Root jumps 10 m from frame 6 to 7, by its keys")
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("Hips").tail = (0.0, 0.0, 1.0)
    rig.data.edit_bones.remove(rig.data.edit_bones["Root"])
    bpy.ops.object.mode_set(mode="OBJECT")
    assert told() == [], "the keys of a bone that is gone are in the action still"


def test_how_far_is_counted_in_the_world(told, cloth):
    """What FBX brings hangs on an empty of scale 0.01, and is keyed in centimetres."""
    names = "Centimetres", "Stage"
    root, stage = (bpy.data.objects.new(name, None) for name in names)
    for empty in (root, stage):
        bpy.context.scene.collection.objects.link(empty)
    root.scale, stage.parent, cloth().parent = (0.01, 0.01, 0.01), root, stage
    stage.scale = (100.0, 100.0, 100.0)
    key(stage, (1, 0.0), (12, 30.0))
    assert told() == []
    key(stage, (1, 0.0), (12, 3000.0))
    (sentence,) = told()
    assert sentence.startswith("Stage jumps 30 m from frame 11 to 12")


def test_keys_that_move_nothing(told, cloth):
    key(cloth(), (1, 0.0), (12, 30.0))
    assert len(told()) == 1
    cloth().animation_data.action_influence = 0.0
    assert told() == []


WAYS = "CONSTANT", "LINEAR", "BEZIER", "SINE", "EXPO", "BOUNCE", "BACK", "ELASTIC"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("extrapolation", ("CONSTANT", "LINEAR"))
def test_no_curve_leaves_the_span_that_is_told_of_it(way, extrapolation):
    """Else a jump would not be looked for."""
    rng = np.random.default_rng(3)
    empty = bpy.data.objects.new("Stage", None)
    key(empty, *zip(range(1, 80, 9), rng.normal(0.0, 5.0, 9), strict=True), interpolation=way)
    curve = next(curve for curve in curves(empty) if curve.array_index == 0)
    for point in curve.keyframe_points:
        point.handle_left_type = point.handle_right_type = "FREE"
        point.handle_left.y += rng.normal(0.0, 4.0)
        point.handle_right.y += rng.normal(0.0, 4.0)
    curve.extrapolation = extrapolation
    values = [curve.evaluate(frame) for frame in np.linspace(-20.0, 120.0, 2000)]
    assert span(curve) >= max(values) - min(values) - 1e-4
    if way == "BEZIER":
        assert (span(curve) < 100.0) == (extrapolation == "CONSTANT")
    curve.modifiers.new("NOISE")
    assert span(curve) == np.inf
