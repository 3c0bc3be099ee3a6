# SPDX-License-Identifier: GPL-3.0-or-later
"""One click from a property to painting its map, and back."""

import bpy
import numpy as np
import pytest
from seen import choose
from taffeta.operators.read import maps
from taffeta.panels.mapped import MAPPED


@pytest.fixture
def garment(make):
    obj = make.cloth(make.grid(count=5))
    choose(obj)
    yield obj
    if bpy.context.object and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize("prop", MAPPED)
def test_one_click_leads_to_painting_a_vertex_group(garment, prop):
    assert bpy.ops.taffeta.paint(prop=prop) == {"FINISHED"}
    mapped = getattr(garment.taffeta_cloth, prop)
    assert garment.mode == "WEIGHT_PAINT"
    assert mapped.source == "GROUP"
    assert mapped.vertex_group == "Taffeta " + prop.replace("_", " ").title()
    assert garment.vertex_groups.active.name == mapped.vertex_group
    assert bpy.ops.taffeta.paint_done() == {"FINISHED"}
    assert garment.mode == "OBJECT"


def test_painting_changes_nothing_before_the_first_stroke(garment):
    garment.taffeta_cloth.stretch_stiffness.value = 1234.0
    bpy.ops.taffeta.paint(prop="stretch_stiffness")
    values = maps.read_map(garment, garment.taffeta_cloth.stretch_stiffness, garment.data)
    assert values == pytest.approx(np.full(25, 1234.0))


def test_a_painted_pin_goes_from_free_to_fast(garment):
    garment.taffeta_cloth.pin.value = 0.5
    bpy.ops.taffeta.paint(prop="pin")
    assert (garment.taffeta_cloth.pin.minimum, garment.taffeta_cloth.pin.maximum) == (0.0, 1.0)


def test_a_chosen_group_is_painted_not_replaced(garment):
    garment.vertex_groups.new(name="other")
    hem = garment.vertex_groups.new(name="hem")
    hem.add([0], 0.5, "REPLACE")
    garment.vertex_groups.active_index = 0
    mass = garment.taffeta_cloth.mass
    mass.source, mass.vertex_group, mass.minimum, mass.maximum = "GROUP", "hem", 0.1, 0.7
    bpy.ops.taffeta.paint(prop="mass")
    assert garment.vertex_groups.active.name == "hem"
    assert len(garment.vertex_groups) == 2
    assert (mass.minimum, mass.maximum) == (pytest.approx(0.1), pytest.approx(0.7))


def test_one_click_leads_to_painting_an_image(garment):
    assert bpy.ops.taffeta.paint(prop="bending_stiffness", mode="IMAGE") == {"FINISHED"}
    bending = garment.taffeta_cloth.bending_stiffness
    assert garment.mode == "TEXTURE_PAINT"
    assert bending.source == "IMAGE" and bending.uv_map == "UVMap"
    assert tuple(bending.image.size) == (1024, 1024)
    assert bending.image.colorspace_settings.name == "Non-Color"
    paint = bpy.context.scene.tool_settings.image_paint
    assert paint.mode == "IMAGE" and paint.canvas == bending.image
    unified = getattr(paint, "unified_paint_settings", None) or bpy.context.scene.tool_settings.unified_paint_settings
    assert tuple(unified.color) == (1.0, 1.0, 1.0), "black on black paints nothing"


def test_what_is_painted_on_the_image_is_the_value_and_survives_saving(garment, tmp_path):
    """White on the right half: Max there, Min on the left, after the file was closed and opened."""
    bpy.ops.taffeta.paint(prop="mass", mode="IMAGE")
    image = garment.taffeta_cloth.mass.image
    pixels = np.zeros((1024, 1024, 4), np.float32)
    pixels[:, 512:, :3] = 1.0
    image.pixels.foreach_set(pixels.ravel())
    bpy.ops.taffeta.paint_done()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "painted.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "painted.blend"))
    obj = bpy.data.objects["Cloth"]
    mass = obj.taffeta_cloth.mass
    values = maps.read_map(obj, mass, obj.data).reshape(5, 5)
    assert values[:, :2] == pytest.approx(mass.minimum)
    assert values[:, 3:] == pytest.approx(mass.maximum)


def test_a_mesh_without_uv_map_is_unwrapped_for_its_image_alone(make):
    obj = make.cloth(make.grid(uv=False))
    other = make.grid("Other")
    before = np.empty(2 * len(other.data.loops), np.float32)
    other.data.uv_layers[0].uv.foreach_get("vector", before)
    choose(obj, other)
    assert bpy.ops.taffeta.paint(prop="mass", mode="IMAGE") == {"FINISHED"}
    bpy.ops.taffeta.paint_done()
    uv = np.empty(2 * len(obj.data.loops), np.float32)
    obj.data.uv_layers[obj.taffeta_cloth.mass.uv_map].uv.foreach_get("vector", uv)
    faces = np.round(uv.reshape(-1, 4, 2).mean(axis=1), 4)
    assert len(np.unique(faces, axis=0)) == len(obj.data.polygons), "every face has its own place on the image"
    after = np.empty_like(before)
    other.data.uv_layers[0].uv.foreach_get("vector", after)
    assert (after == before).all()
    assert other.select_get() and obj.select_get()


def test_painting_a_missing_uv_map_says_so(garment):
    garment.taffeta_cloth.mass.uv_map = "gone"
    with pytest.raises(RuntimeError, match="no UV map 'gone'"):
        bpy.ops.taffeta.paint(prop="mass", mode="IMAGE")
    assert garment.mode == "OBJECT"
    assert garment.taffeta_cloth.mass.source == "UNIFORM"


def test_an_image_needs_faces(make):
    obj = make.cloth(make.mesh("Wire", [(0, 0, 0), (1, 0, 0)], [], edges=[(0, 1)]))
    choose(obj)
    with pytest.raises(RuntimeError, match="Wire has no faces"):
        bpy.ops.taffeta.paint(prop="mass", mode="IMAGE")


def test_from_one_map_straight_to_the_next(garment):
    bpy.ops.taffeta.paint(prop="mass")
    assert bpy.ops.taffeta.paint(prop="friction", mode="IMAGE") == {"FINISHED"}
    assert garment.mode == "TEXTURE_PAINT"
    assert bpy.ops.taffeta.paint(prop="mass") == {"FINISHED"}
    assert garment.vertex_groups.active.name == "Taffeta Mass"


def test_painting_needs_a_visible_cloth(make):
    obj = make.grid()
    choose(obj)
    assert not bpy.ops.taffeta.paint.poll()
    obj.taffeta_cloth.enabled = True
    assert bpy.ops.taffeta.paint.poll()
    obj.hide_set(True)
    assert not bpy.ops.taffeta.paint.poll()


def test_done_needs_painting(garment):
    assert not bpy.ops.taffeta.paint_done.poll()
