# SPDX-License-Identifier: GPL-3.0-or-later
"""What is animated is found wherever Blender keeps it: actions and their slots, strips, drivers."""

import json

import bpy
import pytest
from taffeta.operators.checks import fingerprint
from taffeta.operators.read import animated, keyed

PATH = "taffeta_cloth.shrink.value"


@pytest.fixture
def obj(scene, make):
    return make.cloth(make.grid(count=3))


def test_of_a_garment_without_keys_nothing_is_read_again(obj):
    assert not any(animated.told_of(obj))


def test_keys_in_the_slot_of_another_object_do_not_count(obj, make):
    other = make.cloth(make.grid("Other", count=3))
    assert obj.keyframe_insert(PATH, frame=3)
    data = other.animation_data_create()
    data.action = obj.animation_data.action
    data.action_slot = data.action.slots.new("OBJECT", "Other")
    assert other.keyframe_insert("location", frame=3)
    assert animated.told_of(obj).maps == ("shrink",) and not any(animated.told_of(other))


def test_keys_in_a_strip_of_the_nonlinear_animation_count_until_it_is_muted(obj):
    assert obj.keyframe_insert(PATH, frame=3)
    data = obj.animation_data
    track, action = data.nla_tracks.new(), data.action
    track.strips.new("Shrinks", 1, action)
    data.action = None
    assert animated.told_of(obj).maps == ("shrink",)
    before = fingerprint.take(obj, bpy.context.scene, [])["the animation"]
    obj_curve = next(keyed.curves(obj))
    obj_curve.keyframe_points[0].co.y += 0.1
    bpy.context.view_layer.update()
    obj_curve.update()
    action.update_tag()
    bpy.context.view_layer.update()
    assert fingerprint.take(obj, bpy.context.scene, [])["the animation"] != before
    track.mute = True
    assert not any(animated.told_of(obj))


@pytest.fixture
def driven(obj):
    """Shrink by a driver that reads a property of an empty."""
    empty = bpy.data.objects.new("Handle", None)
    bpy.context.scene.collection.objects.link(empty)
    empty["tight"] = 0.1
    driver = obj.driver_add(PATH).driver
    variable = driver.variables.new()
    variable.name, variable.targets[0].id, variable.targets[0].data_path = "tight", empty, '["tight"]'
    driver.expression = "2 * tight"
    return empty


@pytest.mark.parametrize("change", ["value", "key", "expression"])
def test_the_fingerprint_knows_a_driver_and_what_it_reads(obj, driven, change):
    prints = fingerprint.take(obj, bpy.context.scene, [])
    assert animated.told_of(obj).maps == ("shrink",)
    bpy.context.scene.frame_set(5)
    assert fingerprint.take(obj, bpy.context.scene, []) == prints
    if change == "value":
        driven["tight"] = 0.2
    elif change == "key":
        assert driven.keyframe_insert('["tight"]', frame=4)
    else:
        obj.animation_data.drivers[0].driver.expression = "3 * tight"
    now = fingerprint.take(obj, bpy.context.scene, [])
    assert fingerprint.differing(json.dumps(prints), now) == ["the animation"]


def test_a_driver_shrinks_the_cloth_that_is_baked(obj, driven, make):
    from taffeta.operators.bake.order import read_order
    from taffeta.operators.bake.run import sampled_inputs
    from taffeta.operators.read.sampling import posed

    for frame, tight in ((1, 0.1), (10, 0.2)):
        driven["tight"] = tight
        assert driven.keyframe_insert('["tight"]', frame=frame)
    scene = bpy.context.scene
    order = read_order(scene, kept=False)
    with posed(scene, [obj], []):
        inputs = list(sampled_inputs(order))
    assert order.garments[0].shrink == pytest.approx(0.2)
    assert inputs[0].garments is None and inputs[-1].garments[0].shrink == pytest.approx(0.4)


def test_the_panel_says_that_a_key_was_moved(obj):
    assert obj.keyframe_insert(PATH, frame=3) and obj.keyframe_insert("taffeta_cloth.self_collision", frame=3)
    prints = fingerprint.take(obj, bpy.context.scene, [])
    obj.taffeta_cloth.shrink.value = 0.3
    assert obj.keyframe_insert(PATH, frame=8)
    bpy.context.view_layer.update()
    for frame in (3, 8):
        bpy.context.scene.frame_set(frame)
        now = fingerprint.take(obj, bpy.context.scene, [])
        assert fingerprint.differing(json.dumps(prints), now) == ["the animation"]


def test_the_panel_knows_when_a_body_collides(obj, make):
    body = make.collider(make.ball())
    prints = fingerprint.take(obj, bpy.context.scene, [body])
    body.taffeta_collider.collides = False
    now = fingerprint.take(obj, bpy.context.scene, [body])
    assert [word for word in now if now[word] != prints[word]] == ["the settings of Body"]
    assert body.keyframe_insert("taffeta_collider.collides", frame=3)
    keyed_now = fingerprint.take(obj, bpy.context.scene, [body])
    body.taffeta_collider.collides = True
    assert fingerprint.take(obj, bpy.context.scene, [body]) == keyed_now != now


def test_a_body_that_does_not_collide_at_the_start_is_crossed_by_nobody(obj, make):
    from taffeta.operators.checks import problem_list

    ball = make.collider(make.ball())
    told = lambda: [p for p in problem_list.check_thoroughly(bpy.context.scene) if "inside" in p.sentence]  # noqa: E731
    assert told()
    for frame, collides in ((1, False), (5, True)):
        ball.taffeta_collider.collides = collides
        assert ball.keyframe_insert("taffeta_collider.collides", frame=frame)
    bpy.context.scene.frame_set(7)
    assert not told()


def test_trims_stiffen_what_is_keyed(obj):
    """As they do what is not."""
    from taffeta.operators.bake.order import read_order
    from taffeta.operators.read import sampling

    button = bpy.data.objects.new("Button", bpy.data.meshes.new("Button"))
    bpy.context.scene.collection.objects.link(button)
    button.parent, button.parent_type, button.parent_vertices = obj, "VERTEX", (4, 0, 0)
    button.taffeta_trim.enabled, button.taffeta_trim.radius, button.taffeta_trim.stiffening = True, 0.1, 3.0
    for frame, value in ((1, 100.0), (10, 1000.0)):
        obj.taffeta_cloth.stretch_stiffness.value = value
        assert obj.keyframe_insert("taffeta_cloth.stretch_stiffness.value", frame=frame)
    scene = bpy.context.scene
    order = read_order(scene, kept=False)
    with sampling.posed(scene, [obj], []):
        *_, last = sampling.frame_inputs(scene.name, order.garment_objects, order.bodies, order.frames)
    assert last.garments[0].stretch_stiffness == pytest.approx([1000.0] * 4 + [3000.0] + [1000.0] * 4)


def test_what_is_welded_has_the_mean_of_what_is_keyed(scene, make):
    from taffeta.operators.bake.order import read_order
    from taffeta.operators.read import sampling

    x = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (1, 0, 0), (2, 0, 0), (2, 1, 0), (1, 1, 0)]
    obj = make.cloth(make.mesh("Cloth", x, [(0, 1, 2, 3), (4, 5, 6, 7)]), weld=0.001)
    obj.vertex_groups.new(name="heavy").add([4, 5, 6, 7], 1.0, "REPLACE")
    mass = obj.taffeta_cloth.mass
    mass.source, mass.vertex_group, mass.minimum = "GROUP", "heavy", 0.1
    for frame, most in ((1, 0.1), (10, 0.5)):
        mass.maximum = most
        assert obj.keyframe_insert("taffeta_cloth.mass.maximum", frame=frame)
    order = read_order(scene, kept=False)
    with sampling.posed(scene, [obj], []):
        *_, last = sampling.frame_inputs(scene.name, order.garment_objects, order.bodies, order.frames)
    assert last.garments[0].mass == pytest.approx([0.1, 0.3, 0.3, 0.1, 0.3, 0.5, 0.5, 0.3])
