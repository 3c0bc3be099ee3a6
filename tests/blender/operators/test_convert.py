# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender's own cloth moves becomes Taffeta Cloth: from its modifier, and from the node asset of Blender 5.2."""

import bpy
import dynamics
import numpy as np
import pytest
from seen import choose
from taffeta.operators.convert import convert
from taffeta.operators.read.blender_cloth import simulator
from taffeta.operators.read.fabrics import shipped

needs_asset = pytest.mark.skipif(dynamics.library() is None, reason="Blender has Cloth Dynamics from 5.2 on")


def hold(obj, name, vertices):
    """Put vertices into a new vertex group."""
    obj.vertex_groups.new(name=name).add([int(k) for k in vertices], 1.0, "REPLACE")


@pytest.fixture
def old(make):
    """A sheet with Blender's Cloth modifier, held in a corner, over a ball that it meets."""
    sheet, ball = make.grid(count=11), make.ball()
    hold(sheet, "Corner", [0])
    hold(sheet, "Hem", [1])
    ball.modifiers.new("Collision", "COLLISION")
    ball.collision.thickness_outer = 0.004
    cloth = sheet.modifiers.new("Cloth", "CLOTH")
    cloth.settings.vertex_group_mass = "Corner"
    cloth.settings.use_sewing_springs = True
    cloth.collision_settings.distance_min = 0.003
    cloth.collision_settings.use_self_collision = True
    cloth.collision_settings.self_distance_min = 0.001
    cloth.collision_settings.vertex_group_object_collisions = "Hem"
    choose(sheet)
    return sheet, ball


def test_the_cloth_modifier_is_taken_over(old):
    sheet, ball = old
    assert bpy.ops.taffeta.convert() == {"FINISHED"}
    cloth = sheet.taffeta_cloth
    assert cloth.enabled and cloth.uv_map == "UVMap"
    assert (cloth.pin.source, cloth.pin.vertex_group, cloth.pin.invert) == ("GROUP", "Corner", False)
    assert (cloth.self_collision, cloth.body_group, cloth.self_group, cloth.sewing) == (True, "Hem", "", True)
    assert cloth.thickness.value == pytest.approx(0.001)
    assert cloth.mass.value == pytest.approx(shipped("Cotton")["mass"]), "0.3 kg a vertex are no cloth's"
    assert ball.taffeta_collider.enabled and ball.taffeta_collider.aura == pytest.approx(0.007)
    assert not sheet.modifiers["Cloth"].show_viewport and not sheet.modifiers["Cloth"].show_render
    assert not bpy.ops.taffeta.convert.poll(), "nothing is left to convert"


def test_a_mass_that_is_a_fabrics_is_taken_and_what_is_not_told_of(old):
    sheet, _ = old
    settings = sheet.modifiers["Cloth"].settings
    settings.mass, settings.use_pressure = 0.2 / 121, True
    lost = convert(sheet, bpy.context.scene)
    assert sheet.taffeta_cloth.mass.value == pytest.approx(0.2)
    assert "pressure" in lost and "friction" in lost and "the speed" not in lost


def test_shrinking_is_taken_over(old):
    sheet, _ = old
    settings, shrink = sheet.modifiers["Cloth"].settings, sheet.taffeta_cloth.shrink
    shrink.value = 0.1  # of its own, and Blender's cloth shrinks nowhere
    assert "the shrink factor" not in convert(sheet, bpy.context.scene) and shrink.value == pytest.approx(0.1)
    sheet.modifiers["Cloth"].show_viewport = True
    settings.shrink_min, settings.shrink_max = 0.05, 0.3
    convert(sheet, bpy.context.scene)
    assert (shrink.source, shrink.value) == ("UNIFORM", pytest.approx(0.05))
    sheet.modifiers["Cloth"].show_viewport = True
    settings.vertex_group_shrink = "Hem"
    convert(sheet, bpy.context.scene)
    assert (shrink.source, shrink.vertex_group, shrink.invert) == ("GROUP", "Hem", False)
    assert (shrink.minimum, shrink.maximum) == (pytest.approx(0.05), pytest.approx(0.3))


def test_what_else_is_set_and_not_taken_over_is_told(old, capfd):
    sheet, _ = old
    settings = sheet.modifiers["Cloth"].settings
    told = {"the sewing force", "the rest shape key", "weights of gravity and force fields"}
    sheet.shape_key_add(name="Basis")
    settings.rest_shape_key = sheet.data.shape_keys.key_blocks["Basis"]
    assert not told & set(convert(sheet, bpy.context.scene))
    sheet.modifiers["Cloth"].show_viewport = True
    settings.rest_shape_key = sheet.shape_key_add(name="Tight")
    settings.sewing_force_max, settings.effector_weights.gravity = 5.0, 0.5
    assert bpy.ops.taffeta.convert() == {"FINISHED"}
    sentence = capfd.readouterr().out
    assert "Cloth: not taken over, to be set anew where it matters: " in sentence
    assert all(name in sentence for name in told)


def test_cloth_that_is_pinned_already_keeps_its_pins_where_blenders_has_none(old, make, capfd):
    sheet, _ = old
    pin = make.cloth(sheet).taffeta_cloth.pin
    pin.source, pin.vertex_group, pin.maximum = "GROUP", "Hem", 0.5
    sheet.modifiers["Cloth"].settings.vertex_group_mass = ""
    assert bpy.ops.taffeta.convert() == {"FINISHED"}
    assert (pin.source, pin.vertex_group, pin.maximum) == ("GROUP", "Hem", 0.5)
    assert "Cloth keeps the pins that it had" in capfd.readouterr().out
    sheet.modifiers["Cloth"].show_viewport = True
    sheet.modifiers["Cloth"].settings.vertex_group_mass = "Corner"
    assert bpy.ops.taffeta.convert() == {"FINISHED"}
    assert (pin.vertex_group, pin.maximum) == ("Corner", 1.0), "those that Blender's cloth has are taken over"
    assert "keeps the pins" not in capfd.readouterr().out


def test_a_collision_collection_is_kept_and_others_are_left_alone(old, make):
    sheet, ball = old
    apart, within = make.ball("Apart"), bpy.data.collections.new("Within")
    apart.modifiers.new("Collision", "COLLISION")
    bpy.context.scene.collection.children.link(within)
    within.objects.link(ball)
    sheet.modifiers["Cloth"].collision_settings.collection = within
    bpy.ops.taffeta.convert()
    assert sheet.taffeta_cloth.collision_collection == within
    assert ball.taffeta_collider.enabled and not apart.taffeta_collider.enabled


def test_of_two_garments_the_farther_aura_stays(old, make):
    sheet, ball = old
    other = make.grid("Other")
    other.modifiers.new("Cloth", "CLOTH").collision_settings.distance_min = 0.010
    choose(sheet, other)
    bpy.ops.taffeta.convert()
    assert sheet.taffeta_cloth.enabled and other.taffeta_cloth.enabled
    assert ball.taffeta_collider.aura == pytest.approx(0.014)


def test_a_mesh_without_such_cloth_is_refused(make, old):
    sheet, _ = old
    sheet.modifiers["Cloth"].show_viewport = False
    assert simulator(sheet) is None and not bpy.ops.taffeta.convert.poll()
    points = make.mesh("Points", [(0, 0, 0), (1, 0, 0)], [], edges=[(0, 1)])
    points.modifiers.new("Cloth", "CLOTH")
    choose(points)
    with pytest.raises(RuntimeError, match="Points has no faces"):
        bpy.ops.taffeta.convert()
    assert not points.taffeta_cloth.enabled


@pytest.fixture
def asset(make, scene):
    """A sheet in the xz plane with Cloth Dynamics, held at its upper edge, and a ball that it meets."""
    sheet, ball = make.grid(count=21), make.ball(location=(0.0, 3.0, 0.0))
    sheet.rotation_euler.x = np.pi / 2
    bpy.context.view_layer.update()
    hold(sheet, "Top", np.flatnonzero([v.co.y > 0.49 for v in sheet.data.vertices]))
    effectors = bpy.data.collections.new("Effectors")
    scene.collection.children.link(effectors)
    effectors.objects.link(ball)
    dynamics.give(ball, dynamics.COLLIDER, {"Margin": 0.002, "Friction": 0.6})
    dynamics.give(sheet, dynamics.CLOTH, {"Effectors Collection": effectors, "Pin Group": "Top", "Friction": 0.4})
    choose(sheet)
    return sheet, ball


def tell(sheet, **values):
    """Set inputs of the sheet's Cloth Dynamics."""
    dynamics.tell(simulator(sheet), {name.replace("_", " "): value for name, value in values.items()})


@needs_asset
def test_cloth_dynamics_is_taken_over(asset):
    sheet, ball = asset
    tell(sheet, Invert_Pin_Group=True, Mass=0.2 / 441, Collision_Radius=0.005)
    assert bpy.ops.taffeta.convert() == {"FINISHED"}
    cloth, collider = sheet.taffeta_cloth, ball.taffeta_collider
    assert (cloth.pin.source, cloth.pin.vertex_group, cloth.pin.invert) == ("GROUP", "Top", True)
    assert (cloth.mass.value, cloth.friction.value) == pytest.approx((0.2, 0.4))
    assert cloth.stretch_stiffness.value == pytest.approx(shipped("Cotton")["stretch_stiffness"]), "it told of none"
    assert collider.enabled and (collider.aura, collider.friction) == pytest.approx((0.007, 0.6))
    assert not bpy.ops.taffeta.convert.poll()


@needs_asset
def test_what_cloth_dynamics_has_and_taffeta_has_not_is_told(asset, make, scene):
    sheet, _ = asset
    effectors = bpy.data.collections["Effectors"]
    inside, empty = make.ball("Inside"), bpy.data.objects.new("Breath", None)
    dynamics.give(inside, dynamics.COLLIDER, {"Boundary": True})
    for obj in (inside, empty, sheet):
        effectors.objects.link(obj)
    tell(sheet, Tearing=True, Linear_Damping=0.0)
    scene.use_gravity = False
    assert set(convert(sheet, scene)) == {
        "Tearing",
        "a gravity of its own",
        "Inside, which cloth is not kept out of",
        "Breath, which cloth is not kept out of",
    }
    assert not inside.taffeta_collider.enabled and not sheet.taffeta_collider.enabled


@needs_asset
@pytest.mark.parametrize("group", ["Group", "Weights"])
def test_a_group_that_is_not_there_holds_nothing_and_an_attribute_is_one(asset, group):
    sheet, _ = asset
    sheet.data.attributes.new("Weights", "FLOAT", "POINT")
    tell(sheet, Pin_Group=group)
    bpy.ops.taffeta.convert()
    pin = sheet.taffeta_cloth.pin
    assert (pin.source, pin.value) == ("ATTRIBUTE" if group == "Weights" else "UNIFORM", 0.0)
    assert pin.attribute == ("Weights" if group == "Weights" else "")


@needs_asset
def test_cloth_without_mass_is_as_heavy_and_stiff_as_its_fabric(asset):
    sheet, _ = asset
    tell(sheet, Mass=0.0, Stretchiness=0.5)
    assert bpy.ops.taffeta.convert() == {"FINISHED"}
    cloth, cotton = sheet.taffeta_cloth, shipped("Cotton")
    found = cloth.mass.value, cloth.stretch_stiffness.value
    assert found == pytest.approx((cotton["mass"], cotton["stretch_stiffness"]))


@needs_asset
def test_cloth_hangs_as_long_as_by_cloth_dynamics(asset, make):
    """A sheet of 1 kg a vertex, whose rows are as long after the asset's two seconds as its converted numbers say."""
    sheet, _ = asset
    tell(sheet, Stretchiness=0.15, Bendiness=1.0, Linear_Damping=8.0, Substeps=20)
    for frame in range(1, 49):
        bpy.context.scene.frame_set(frame)
    heights = make.world(sheet)[:, 2].reshape(21, 21).mean(axis=1)
    longer = np.abs(np.diff(heights)) / 0.05 - 1.0
    bpy.ops.taffeta.convert()
    cloth = sheet.taffeta_cloth
    assert cloth.mass.value == pytest.approx(shipped("Cotton")["mass"]), "441 kg/m² are no cloth's"
    below = np.arange(1, 21) * 0.05  # [m] of cloth that hangs on a row
    wanted = cloth.mass.value * 9.81 * below / cloth.stretch_stiffness.value
    assert longer == pytest.approx(wanted, rel=0.15) and wanted[-1] > 0.03
    assert cloth.shear_stiffness.value <= cloth.stretch_stiffness.value and cloth.weft_stretch == 1.0
