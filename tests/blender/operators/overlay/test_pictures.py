# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay: what is shown on each garment, and when it is looked at anew."""

import bpy
import numpy as np
import pytest
from taffeta.operators.overlay import colours, draw, pictures


def test_the_picture_shows_the_values_of_the_map(garment, show):
    (picture,), legend = show("mass")
    expected = np.where(picture.x[:, 0] > 0.01, 0.5, 0.1)
    assert picture.values == pytest.approx(expected)
    assert (legend.low, legend.high) == (pytest.approx(0.1), pytest.approx(0.5))
    assert (legend.title, legend.symbol) == ("Mass", "kg/m²")
    assert len(picture.triangles) == 32


def test_pressing_again_hides_it(garment, show):
    show("mass")
    assert show("mass") == ((), None)
    assert bpy.context.window_manager.taffeta.overlay == "NONE"


def test_another_property_replaces_it(garment, show):
    show("mass")
    (picture,), legend = show("thickness")
    assert legend.title == "Thickness"
    assert picture.values == pytest.approx(np.full(25, 0.002))
    assert draw._ticks(legend) == [(0.5, "2 mm everywhere")]


def test_the_picture_follows_painting_and_settings(garment, show):
    show("mass")
    garment.vertex_groups["half"].add(list(range(25)), 1.0, "REPLACE")
    garment.data.update()
    bpy.context.view_layer.update()
    assert pictures.drawn()[0][0].values == pytest.approx(np.full(25, 0.5))
    garment.taffeta_cloth.mass.maximum = 0.9
    bpy.context.view_layer.update()
    assert pictures.drawn()[0][0].values == pytest.approx(np.full(25, 0.9))


def test_the_picture_follows_the_timeline(garment, show):
    garment.shape_key_add(name="Basis")
    key = garment.shape_key_add(name="Up")
    for point in key.data:
        point.co.z += 1.0
    for frame, value in ((1, 0.0), (5, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    bpy.context.scene.frame_set(1)
    show("mass")
    bpy.context.scene.frame_set(5)
    (picture,), _ = pictures.drawn()
    assert picture.x[:, 2] == pytest.approx(np.ones(25))
    assert picture.values.max() == pytest.approx(0.5)


def test_the_picture_waits_while_a_bake_moves_the_scene(garment, show):
    show("mass")
    before = pictures.drawn()
    bpy.context.window_manager.taffeta.baking = True
    bpy.context.scene.frame_set(3)
    bpy.context.window_manager.taffeta.baking = False
    assert pictures.drawn() is before


def test_stretch_is_measured_against_the_rest_mesh_in_world_size(garment, show):
    garment.shape_key_add(name="Basis")
    wide = garment.shape_key_add(name="Wide")
    for point in wide.data:
        point.co *= 1.04
    wide.value = 1.0
    garment.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    (picture,), legend = show("STRETCH")
    assert picture.values == pytest.approx(np.full(25, 0.04), abs=1e-5)
    assert (legend.low, legend.high) == colours.STRETCH_RANGE
    assert [text for _, text in draw._ticks(legend)] == ["-10 %", "0 %", "10 %"]


def test_cloth_that_one_thread_stretches_and_the_other_narrows_is_not_at_rest(garment, show):
    garment.shape_key_add(name="Basis")
    pulled = garment.shape_key_add(name="Pulled")
    for point in pulled.data:
        point.co.x, point.co.y = 1.1 * point.co.x, 0.9 * point.co.y
    pulled.value = 1.0
    bpy.context.view_layer.update()
    (picture,), _ = show("STRETCH")
    assert np.abs(picture.values) == pytest.approx(np.full(25, 0.1), abs=1e-5)


def test_pictures_are_not_made_anew_for_nothing_while_a_garment_is_hidden(garment, make, show):
    second = make.cloth(make.grid("Second", count=3))
    lamp = bpy.data.objects.new("Lamp", None)
    bpy.context.scene.collection.objects.link(lamp)
    second.hide_set(True)
    bpy.context.view_layer.update()
    before, _ = show("friction")
    lamp.location.x = 1.0
    bpy.context.view_layer.update()
    assert pictures.drawn()[0] is before
    second.data.clear_geometry()
    second.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    bpy.context.view_layer.update()
    second.hide_set(False)
    bpy.context.view_layer.update()
    assert [len(picture.x) for picture in pictures.drawn()[0]] == [25, 3]


def test_subdivision_behind_the_cloth_does_not_disturb(garment, show):
    garment.modifiers.new("Displace", "DISPLACE").strength = 1.0
    garment.modifiers.new("Fine", "SUBSURF")
    bpy.context.view_layer.update()
    (picture,), legend = show("mass")
    assert len(picture.x) == 25 and legend.troubles == ()
    assert np.abs(picture.x[:, 2]).max() > 0.1, "moved by what stands before the subdivision"


def test_a_missing_map_is_said_in_the_legend(garment, show):
    garment.taffeta_cloth.mass.vertex_group = "gone"
    found, legend = show("mass")
    assert found == ()
    assert "gone" in legend.troubles[0] and "Cloth" in legend.troubles[0]


def test_edit_mode_is_said_in_the_legend(garment, show):
    show("mass")
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.context.view_layer.update()
    pictures.refresh(bpy.context)
    assert "Edit Mode" in pictures.drawn()[1].troubles[0]
    bpy.ops.object.mode_set(mode="OBJECT")
    pictures.refresh(bpy.context)
    assert len(pictures.drawn()[0]) == 1


def test_hidden_and_deleted_garments_disappear(garment, make, show):
    second = make.cloth(make.grid("Second", count=3))
    assert len(show("friction")[0]) == 2
    second.hide_set(True)
    pictures.refresh(bpy.context)
    assert [p.name for p in pictures.drawn()[0]] == ["Cloth"]
    bpy.data.objects.remove(second)
    bpy.context.view_layer.update()
    pictures.refresh(bpy.context)
    assert [p.name for p in pictures.drawn()[0]] == ["Cloth"]


def test_an_empty_mesh_and_a_changed_one_are_shown(garment, make, show):
    """Nothing where there is nothing; and no triangles of yesterday's mesh."""
    make.cloth(make.mesh("Nothing", np.empty((0, 3)), []))
    found, legend = show("thickness")
    assert [p.name for p in found] == ["Cloth"] and legend.troubles == ()
    garment.data.clear_geometry()
    garment.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    garment.data.update()
    bpy.context.view_layer.update()
    (first,), _ = pictures.drawn()
    assert first.triangles.tolist() == [[0, 1, 2]] and len(first.x) == len(first.values) == 3


def test_garments_share_one_scale(garment, make, show):
    make.cloth(make.grid("Heavy", count=3), mass=2.0)
    _, legend = show("mass")
    assert (legend.low, legend.high) == (pytest.approx(0.1), pytest.approx(2.0))


def test_undo_leaves_a_picture_of_the_present(garment, show):
    show("mass")
    bpy.ops.ed.undo_push(message="before")
    garment.taffeta_cloth.mass.maximum = 0.8
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    (picture,), _ = pictures.drawn()
    assert picture.values.max() == pytest.approx(0.5)


def test_another_file_starts_without_pictures(garment, show):
    show("mass")
    bpy.ops.wm.read_homefile(use_empty=True)
    assert pictures.drawn()[0] == ()
