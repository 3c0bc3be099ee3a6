# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks in the viewport: what they are made of, when they are made anew, and their pixels."""

import json

import bpy
import numpy as np
import pytest
from taffeta.operators.overlay import marks


def by_colour(found, colour):
    return [mark for mark in found.marks if mark.colour == colour]


def world(mark):
    return mark.x + np.array(mark.origin)


def test_nothing_is_drawn_and_nothing_made_until_it_is_asked_for(garment, switch, monkeypatch):
    assert switch() == ((), ())
    monkeypatch.setattr(marks, "find_marks", lambda *_: pytest.fail("made unasked"))
    garment.location.x = 1.0
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(3)


def test_pins_are_points_and_follow_the_garment(garment, switch):
    pin = garment.taffeta_cloth.pin
    pin.source, pin.vertex_group = "GROUP", "half"
    garment.vertex_groups["half"].add([0], 0.5, "REPLACE")
    found = switch("pins")
    (held,), (pulled,) = by_colour(found, marks.PINNED), by_colour(found, marks.PULLED)
    assert len(held.x) == 10 and len(pulled.x) == 1 and held.size > pulled.size
    assert world(pulled)[0] == pytest.approx(garment.data.vertices[0].co)
    assert found.words[0][1] == "Pins: 10 points held, 1 pulled"
    garment.location.z = 2.0
    bpy.context.view_layer.update()
    (pulled,) = by_colour(marks.drawn(), marks.PULLED)
    assert world(pulled)[0, 2] == pytest.approx(2.0)


def test_shells_lie_half_a_thickness_away_in_true_size(garment, switch):
    """In a scene of centimetres a thickness of 4 mm is 0.4 units; the garment is scaled, too."""
    bpy.context.scene.unit_settings.scale_length = 0.01
    garment.scale, garment.taffeta_cloth.thickness.value = (3.0, 3.0, 3.0), 0.004
    bpy.context.view_layer.update()
    found = switch("thickness")
    heights = sorted(float(world(mark)[:, 2].mean()) for mark in found.marks)
    assert heights == pytest.approx([-0.2, 0.2]) and found.words[0][1] == "Thickness: 4 mm"
    assert world(found.marks[0])[:, 0].max() == pytest.approx(1.5)


def test_the_aura_of_bodies_is_a_shell_around_what_they_are_now(garment, make, switch):
    ball = make.collider(make.ball(radius=0.5), aura=0.1)
    ball.location = (0.0, 0.0, -3.0)
    bpy.context.view_layer.update()
    (mark,) = switch("aura").marks
    assert np.linalg.norm(world(mark) - [0, 0, -3], axis=1) == pytest.approx(np.full(len(mark.x), 0.6), abs=0.003)
    ball.taffeta_collider.aura = 0.2
    bpy.context.view_layer.update()
    assert np.linalg.norm(world(marks.drawn().marks[0]) - [0, 0, -3], axis=1).mean() == pytest.approx(0.7, abs=0.003)


def test_contacts_are_what_is_within_aura_and_half_a_thickness(garment, make, switch):
    garment.taffeta_cloth.thickness.value = 0.02
    floor = make.collider(make.grid("Floor", count=3, size=4.0, location=(0, 0, -0.059)), aura=0.05)
    assert len(by_colour(switch("contacts"), marks.TOUCHING)[0].x) == 25
    floor.location.z = -0.07
    bpy.context.view_layer.update()
    assert not by_colour(marks.drawn(), marks.TOUCHING)
    assert marks.drawn().words[0][1] == "Contacts: 0 points touch a body"
    garment.taffeta_cloth.collision_collection = bpy.data.collections.new("None")
    floor.location.z = -0.059
    bpy.context.view_layer.update()
    assert not by_colour(marks.drawn(), marks.TOUCHING), "it does not meet the floor"


def layer(make, name, height, **settings):
    """A second sheet of cloth as high as that."""
    return make.cloth(make.grid(name, count=5, location=(0, 0, height)), thickness=0.02, **settings)


def test_contacts_of_cloth_on_cloth_are_what_is_within_half_of_both_thicknesses(garment, make, switch):
    garment.taffeta_cloth.thickness.value = 0.01
    above = layer(make, "Above", 0.0149)
    found = switch("contacts")
    assert [len(mark.x) for mark in by_colour(found, marks.LAYERED)] == [25, 25]
    assert found.words[1] == (marks.LAYERED, "Contacts: 50 points touch cloth")
    above.location.z = 0.017
    bpy.context.view_layer.update()
    assert not by_colour(marks.drawn(), marks.LAYERED)
    above.location.z = 0.0149
    above.taffeta_cloth.collision_collection = bpy.data.collections.new("None")
    bpy.context.view_layer.update()
    assert not by_colour(marks.drawn(), marks.LAYERED), "one of them does not meet the other"


def test_a_sheet_touches_itself_where_it_is_folded_and_not_at_rest(garment, switch):
    """Thicker than its edges are long: neighbours lie within the thickness, and are none of it."""
    garment.taffeta_cloth.thickness.value = 0.3
    assert not by_colour(switch("contacts"), marks.LAYERED)
    garment.shape_key_add(name="Basis")
    folded = garment.shape_key_add(name="Folded")
    for point in folded.data:
        if point.co.x > 0.01:
            point.co.x, point.co.z = -point.co.x, 0.2
    folded.value = 1.0
    bpy.context.view_layer.update()
    (mark,) = by_colour(marks.drawn(), marks.LAYERED)
    assert len(mark.x) >= 20
    garment.taffeta_cloth.self_collision = False
    bpy.context.view_layer.update()
    assert not by_colour(marks.drawn(), marks.LAYERED)


@pytest.mark.parametrize("way", ["off", "hidden", "deleted"])
def test_marks_go_with_what_they_are_of(garment, make, switch, way):
    second = layer(make, "Second", 3.0)
    assert len(by_colour(switch("thickness"), marks.CLOTH_SHELL)) == 4
    if way == "off":
        second.taffeta_cloth.enabled = False
    elif way == "hidden":
        second.hide_set(True)
    else:
        bpy.data.objects.remove(second)
    bpy.context.view_layer.update()
    assert len(by_colour(marks.drawn(), marks.CLOTH_SHELL)) == 2


def test_marks_follow_a_painted_image(garment, switch):
    image = bpy.data.images.new("Pins", 4, 4, float_buffer=True)
    image.pixels.foreach_set(np.zeros(64, np.float32))
    pin = garment.taffeta_cloth.pin
    pin.source, pin.image = "IMAGE", image
    if not garment.data.uv_layers:
        garment.data.uv_layers.new()
    assert switch("pins").words[0][1] == "Pins: 0 points held"
    image.pixels.foreach_set(np.ones(64, np.float32))
    image.update()
    image.update_tag()
    bpy.context.view_layer.update()
    assert marks.drawn().words[0][1] == "Pins: 25 points held"


def test_pinched_points_are_those_of_the_report(garment, switch):
    report = {"pinched": 2, "pinched_frame": 4, "pinched_vertices": {"Cloth": [3, 7, 900, -1, True, "x"]}}
    garment.taffeta_cloth.report_json = json.dumps(report)
    (mark,) = by_colour(switch("contacts"), marks.PINCHED)
    assert world(mark) == pytest.approx(np.array([garment.data.vertices[i].co for i in (3, 7)]))
    for broken in ("{", "[]", '{"pinched_vertices": [1]}', '{"pinched_vertices": {"Cloth": 3}}'):
        garment.taffeta_cloth.report_json = broken
        assert not by_colour(switch("contacts", "pins"), marks.PINCHED)


def test_seams_tell_how_wide_they_gape(make, switch):
    x = [(i, j, 0) for j in (0.0, 1.0, 1.001, 2.0) for i in range(2)]
    obj = make.cloth(make.mesh("Cloth", x, [(0, 1, 3, 2), (4, 5, 7, 6)], edges=[(2, 4), (3, 5)]), thickness=0.002)
    obj.data.edges[0].use_seam = True
    found = switch("seams")
    assert [len(mark.x) for mark in by_colour(found, marks.SEAM)] == [2, 4] and not by_colour(found, marks.GAPING)
    obj.data.vertices[5].co.y += 0.03
    obj.data.update()
    bpy.context.view_layer.update()
    (wide,) = by_colour(marks.drawn(), marks.GAPING)
    assert len(wide.x) == 2 and marks.drawn().words[0][1] == "Seams: 2 threads, the widest gap is 3.1 cm"


def test_a_missing_map_and_edit_mode_are_said(garment, switch):
    garment.taffeta_cloth.pin.source, garment.taffeta_cloth.pin.vertex_group = "GROUP", "gone"
    found = switch("pins", "thickness")
    assert "gone" in found.words[0][1] and len(found.marks) == 2, "what can be shown is shown"
    bpy.context.view_layer.objects.active = garment
    bpy.ops.object.mode_set(mode="EDIT")
    marks.refresh(bpy.context)
    assert "Edit Mode" in marks.drawn().words[0][1]
    bpy.ops.object.mode_set(mode="OBJECT")


def test_marks_wait_while_a_bake_moves_the_scene(garment, switch):
    found = switch("thickness")
    bpy.context.window_manager.taffeta.baking = True
    bpy.context.scene.frame_set(3)
    bpy.context.window_manager.taffeta.baking = False
    assert marks.drawn() is found
