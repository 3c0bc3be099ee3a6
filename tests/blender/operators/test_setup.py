# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes become cloth or colliders, and plain meshes again."""

import bpy
import pytest
from seen import choose
from taffeta.operators.read import modifier_stack


@pytest.fixture
def garment(make):
    obj = make.cloth(make.grid(count=5))
    choose(obj)
    yield obj
    if bpy.context.object and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")


def test_cloth_is_added_to_every_selected_mesh(make):
    shirt, skirt, body = make.grid("Shirt"), make.grid("Skirt", uv=False), make.ball()
    light = bpy.data.objects.new("Light", bpy.data.lights.new("Light", "POINT"))
    bpy.context.scene.collection.objects.link(light)
    choose(shirt, skirt, light)
    assert bpy.ops.taffeta.cloth_add() == {"FINISHED"}
    assert shirt.taffeta_cloth.enabled and skirt.taffeta_cloth.enabled and not body.taffeta_cloth.enabled
    assert (shirt.taffeta_cloth.uv_map, skirt.taffeta_cloth.uv_map) == ("UVMap", "")
    assert not bpy.ops.taffeta.cloth_add.poll(), "both are cloth already"


def test_a_chosen_pattern_is_kept(make):
    obj = make.grid()
    obj.data.uv_layers.new(name="Pattern")
    obj.taffeta_cloth.uv_map = "Pattern"
    choose(obj)
    bpy.ops.taffeta.cloth_add()
    assert obj.taffeta_cloth.uv_map == "Pattern"


def test_removing_cloth_shows_the_own_pose_and_keeps_the_settings(garment):
    garment.taffeta_cloth.mass.value = 0.3
    garment.modifiers.new(modifier_stack.CACHE_NAME, "MESH_CACHE")
    garment.modifiers.new("Smooth", "SMOOTH")
    assert bpy.ops.taffeta.cloth_remove() == {"FINISHED"}
    assert not garment.taffeta_cloth.enabled
    assert [m.name for m in garment.modifiers] == ["Smooth"]
    bpy.ops.taffeta.cloth_add()
    assert garment.taffeta_cloth.mass.value == pytest.approx(0.3)


def test_an_object_is_cloth_or_collider(make):
    obj = make.ball()
    choose(obj)
    assert bpy.ops.taffeta.collider_add() == {"FINISHED"}
    assert obj.taffeta_collider.enabled
    assert bpy.ops.taffeta.cloth_add() == {"FINISHED"}
    assert obj.taffeta_cloth.enabled and not obj.taffeta_collider.enabled
    assert not bpy.ops.taffeta.collider_add.poll()
    ground = make.grid("Ground")
    choose(ground, obj)
    assert bpy.ops.taffeta.collider_add() == {"FINISHED"}
    assert ground.taffeta_collider.enabled and not obj.taffeta_collider.enabled
    assert bpy.ops.taffeta.collider_remove() == {"FINISHED"}
    assert not ground.taffeta_collider.enabled


def test_nothing_selected_is_told_by_poll():
    for name in ("cloth_add", "cloth_remove", "collider_add", "collider_remove", "paint"):
        assert not getattr(bpy.ops.taffeta, name).poll()


def test_adding_waits_for_object_mode(make):
    obj = make.grid()
    choose(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    assert not bpy.ops.taffeta.cloth_add.poll()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.taffeta.cloth_add.poll()


def test_adding_is_undone(make):
    choose(make.grid())
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.taffeta.cloth_add()
    bpy.ops.ed.undo_push(message="cloth")
    bpy.ops.ed.undo()
    assert not bpy.data.objects["Cloth"].taffeta_cloth.enabled
    bpy.ops.ed.redo()
    assert bpy.data.objects["Cloth"].taffeta_cloth.enabled
