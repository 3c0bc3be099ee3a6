# SPDX-License-Identifier: GPL-3.0-or-later
"""What panels draw. Blender draws no panel without a window, so the draw functions get a layout that takes down what is
drawn (`layouts`). What it looks like is checked in tests/gui."""

import json
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from layouts import PANELS, Layout, draw
from taffeta.operators.bake import report
from taffeta.panels import choices, rows, scene
from taffeta.panels import cloth as cloth_panels
from taffeta.panels.mapped import MAPPED
from taffeta.solver.model import BODY_SEARCHES, BROAD_PHASES, CLOTH_CONTACTS, DYNAMICS


@pytest.mark.parametrize("name", PANELS)
def test_each_panel_draws_what_blender_knows(garment, name):
    layout = draw(name)
    assert layout.calls or name == "TAFFETA_PT_cloth"  # which holds the panels below it, and at times Convert
    assert "draw_header_preset" not in vars(getattr(bpy.types, name)) or draw(name, "draw_header_preset").calls


@pytest.mark.parametrize("name", PANELS)
def test_panels_appear_on_cloth_alone(garment, name):
    panel = getattr(bpy.types, name)
    bpy.context.scene.taffeta.tolerance = 0.3  # with no preference, expert settings show what a file has otherwise
    assert panel.poll(bpy.context)
    garment.taffeta_cloth.enabled = False
    assert not panel.poll(bpy.context)


def test_collider_panels_appear_on_colliders(garment, make):
    assert not bpy.types.TAFFETA_PT_collider.poll(bpy.context)
    bpy.context.view_layer.objects.active = make.collider(make.ball())
    assert bpy.types.TAFFETA_PT_collider.poll(bpy.context)
    assert [name for name, _ in draw("TAFFETA_PT_collider").properties()] == [
        "collides",
        "aura",
        "friction",
        "viscosity",
        "restitution",
    ]
    assert draw("TAFFETA_PT_collider_motion").buttons("taffeta.sequence_import")
    bpy.context.object.hide_viewport = True
    assert any("Disabled in viewports" in text for text in draw("TAFFETA_PT_collider").texts())


def test_collision_groups_have_rows_and_a_sign_for_a_missing_one(garment):
    assert [name for name, _ in draw("TAFFETA_PT_cloth_collision").properties()] == ["self_collision"]
    layout = draw("TAFFETA_PT_cloth_masks")
    rows = [name for name, _ in layout.properties()]
    assert rows == ["self_group", "body_group", "collision_collection"]
    assert not any(grey.is_grey() for name, grey in layout.properties() if name in ("self_group", "body_group"))
    garment.taffeta_cloth.self_collision = False
    greys = {name: place.is_grey() for name, place in draw("TAFFETA_PT_cloth_masks").properties()}
    assert greys["self_group"] and not greys["body_group"]

    def signs():
        calls = draw("TAFFETA_PT_cloth_masks").calls
        return [arguments for function, arguments, _ in calls if arguments.get("icon") == "ERROR"]

    assert signs() == []
    garment.taffeta_cloth.body_group = "gone"
    assert len(signs()) == 1


def test_every_mapped_property_is_drawn_once(garment):
    drawn = [draw("TAFFETA_PT_cloth_" + part) for part in ("fabric", "pins", "holds", "sewing", "elastic", "details")]
    painted = [options["prop"] for layout in drawn for options, _ in layout.buttons("taffeta.paint")]
    assert sorted(painted) == sorted(MAPPED)
    eyes = [options["show"] for layout in drawn for options, _ in layout.buttons("taffeta.overlay")]
    assert sorted(eyes) == sorted((*MAPPED, "STRETCH"))


def test_a_uniform_property_is_one_value(garment):
    layout = Layout()
    rows.mapped(layout, bpy.context, garment, "mass")
    assert [name for name, _ in layout.properties()] == ["value_shown", "source"]
    assert "Mass (g/m²)" in layout.texts()


@pytest.mark.parametrize(
    ("source", "pickers"),
    [("GROUP", ["vertex_group"]), ("IMAGE", ["image", "uv_map"]), ("ATTRIBUTE", ["attribute"])],
)
def test_a_mapped_one_has_a_range_and_its_pickers(garment, source, pickers):
    garment.taffeta_cloth.mass.source = source
    layout = Layout()
    rows.mapped(layout, bpy.context, garment, "mass")
    assert [name for name, _ in layout.properties()] == ["minimum_shown", "maximum_shown", "invert", "source", *pickers]
    mode = "IMAGE" if source == "IMAGE" else "GROUP"
    assert layout.buttons("taffeta.paint")[0][0] == {"prop": "mass", "mode": mode}


@pytest.mark.parametrize("source", ["GROUP", "IMAGE", "ATTRIBUTE"])
def test_a_missing_map_has_a_sign(garment, source):
    def signs():
        layout = Layout()
        rows.mapped(layout, bpy.context, garment, "mass")
        return [a for f, a, _ in layout.calls if f == "label" and a.get("icon") == "ERROR"]

    mass = garment.taffeta_cloth.mass
    mass.source, mass.vertex_group, mass.attribute = source, "hem", "hem"
    assert len(signs()) == 1
    if source == "ATTRIBUTE":  # groups and attributes share their names
        garment.data.attributes.new("hem", "FLOAT", "POINT")
    else:
        garment.vertex_groups.new(name="hem")
    mass.image = bpy.data.images.new("hem", 4, 4)
    assert signs() == []
    mass.uv_map = "gone"
    assert len(signs()) == (1 if source == "IMAGE" else 0)


def test_a_running_bake_shows_its_progress_and_locks_the_settings(garment):
    session = bpy.context.window_manager.taffeta
    session.baking, session.progress, session.status = True, 0.37, "Frame 37 of 100, 12 s left"
    layout = draw("TAFFETA_PT_bar")
    bars = [arguments for function, arguments, _ in layout.calls if function == "progress"]
    assert bars[0]["factor"] == pytest.approx(0.37) and bars[0]["text"] == session.status
    for name in ("TAFFETA_PT_cloth_fabric", "TAFFETA_PT_scene"):
        layouts = [layout for _, layout in draw(name).properties()]
        assert layouts and all(layout.is_grey() for layout in layouts), name


def test_what_live_cloth_does_at_the_end_is_chosen_and_said(garment):
    session = bpy.context.window_manager.taffeta
    for end, words in (("ANEW", "begins anew"), ("GO_ON", "goes on as it lies")):
        session.live_end = end
        layout = draw("TAFFETA_PT_bake")
        assert "live_end" in dict(layout.properties()) and words in " ".join(layout.texts())
    session.live_end = "ANEW"


def test_preflight_lists_each_problem_with_its_remedy(garment):
    session = bpy.context.window_manager.taffeta
    session.checked = True
    assert "Ready to bake" in draw("TAFFETA_PT_preflight").texts()
    problem = session.problems.add()
    problem.severity, problem.object_name = "WARNING", "Cloth"
    problem.sentence, problem.remedy = "Cloth crosses Body at the start", "Pull it out"
    problem.selects = "NARROW"
    layout = draw("TAFFETA_PT_preflight")
    assert "Cloth crosses Body at the start" in " ".join(layout.texts()) and "Pull it out" in layout.texts()
    assert layout.buttons("taffeta.select_problem")[0][0] == {"object": "Cloth", "which": "NARROW"}
    assert "1 warning before you bake" in draw("TAFFETA_PT_bar").texts()


def test_in_the_popover_lines_are_as_wide_as_that_and_not_as_the_tab(garment, monkeypatch):
    problem = bpy.context.window_manager.taffeta.problems.add()
    problem.severity, problem.sentence = "WARNING", "a b c d e f g h " * 20
    for tab in (204.0, 900.0):
        monkeypatch.setattr(rows, "panel_width", lambda context, tab=tab: tab)
        longest = max(len(text) for text in draw("TAFFETA_PT_preflight", is_popover=True).texts())
        assert 30 <= longest <= 36
    assert max(len(text) for text in draw("TAFFETA_PT_preflight").texts()) > 100


def test_preflight_offers_what_helps(garment):
    session = bpy.context.window_manager.taffeta
    session.checked = True
    problem = session.problems.add()
    problem.severity, problem.object_name, problem.sentence = "WARNING", "Cloth", "Cloth is too coarse for Silk"
    assert not draw("TAFFETA_PT_preflight").buttons("taffeta.stiffen")
    problem.verbs = "taffeta.subdivide taffeta.stiffen"
    layout = draw("TAFFETA_PT_preflight")
    for verb in ("subdivide", "stiffen"):
        assert [options for options, _ in layout.buttons(f"taffeta.{verb}")] == [{"object": "Cloth"}]


def test_the_fabric_panel_says_what_a_garment_is_made_of(garment):
    session = bpy.context.window_manager.taffeta
    assert "Silk" not in " ".join(draw("TAFFETA_PT_cloth_details").texts())
    note = session.fabrics.add()
    note.name, note.sentence = garment.name, "Silk: for edges up to 7 mm. This mesh has 25 mm"
    layout = draw("TAFFETA_PT_cloth_details")
    assert note.sentence in " ".join(layout.texts()) and not layout.buttons("taffeta.subdivide")
    note.verbs = "taffeta.subdivide"
    assert draw("TAFFETA_PT_cloth_details").buttons("taffeta.subdivide")[0][0] == {"object": "Cloth"}
    session.fabrics.clear()


def test_long_sentences_are_broken_not_cut(garment):
    layout = Layout()
    text = "The cloth was " + "very " * 60 + "long"
    rows.sentences(layout, bpy.context, text)
    assert len(layout.texts()) > 3
    assert " ".join(layout.texts()) == text


def test_the_report_shows_what_was_computed_and_nothing_else(garment):
    report = {"frames": 10, "frame_start": 1, "frame_end": 10, "worst_stretch": 0.0123, "worst_stretch_frame": 4}
    report |= {"mean_stretch": 0.004, "milliseconds_per_frame": 8.5, "milliseconds": {"integration": 4.0}}
    garment.taffeta_cloth.report_json = json.dumps(report)
    text = " ".join(draw("TAFFETA_PT_report").texts())
    for part in ("Frames 1 to 10", "8.5 ms a frame", "integration: 4.0 ms", "1.23 % in frame 4", "0.40 %"):
        assert part in text
    assert "Crossings" not in text and "None" not in text


def test_lines_of_the_report_have_their_verdict_and_a_button_that_goes_there(garment):
    report = {"worst_stretch": 0.7, "worst_stretch_frame": 4, "mean_stretch": 0.004, "crossings": 0, "frame_end": 10}
    garment.taffeta_cloth.report_json = json.dumps(report)
    layout = draw("TAFFETA_PT_report")
    text = " ".join(layout.texts())
    assert "re-bake with Step Quality 2" in text and "good" in text
    ((options, _),) = layout.buttons("taffeta.report_show")
    assert (options["subject"], options["object"]) == ("STRETCH", garment.name)
    assert "Show in Frame 4" in text


@pytest.mark.parametrize(
    "broken",
    ["{", "[]", "3", "null", "[" * 100_000, '{"milliseconds": [1]}', '{"milliseconds": 3}', '{"pinched_vertices": {"a": 3}}',
     '{"worst_stretch": "x"}', '{"worst_stretch": null}', '{"worst_stretch": []}', '{"body_images": 5}', '{"body_images": "x"}',
     '{"pinched_vertices": [1]}', '{"worst_stretch": 1' + "0" * 400 + "}", '{"frames": 1' + "0" * 5000 + "}"],
)  # fmt: skip
def test_a_damaged_report_says_so(garment, broken):
    garment.taffeta_cloth.report_json = broken
    assert any("cannot be read" in text for text in scene.report_lines(broken))
    assert "cannot be read" in " ".join(draw("TAFFETA_PT_report").texts())


@pytest.mark.parametrize(
    "odd",
    [{"frames": 1, "frame_start": "a\0b\nc"}, {"quality": "\ud800"}, {"milliseconds": dict.fromkeys(map(str, range(5000)), 1)},
     {"quality": "x" * 100_000}, {"frames": float("nan")}],
)  # fmt: skip
def test_an_odd_report_is_drawn_in_plain_letters(garment, odd):
    lines = scene.report_lines(json.dumps(odd))
    assert 1 <= len(lines) <= scene.MOST_LINES
    assert all(line.isprintable() and len(line) <= scene.LONGEST_LINE for line in lines)


def test_painting_shows_the_way_back(garment):
    assert draw("TAFFETA_PT_bar").buttons("taffeta.paint_done")[0][1].is_grey()
    bpy.ops.taffeta.paint(prop="friction")
    layout = draw("TAFFETA_PT_bar")
    assert not layout.buttons("taffeta.paint_done")[0][1].is_grey()
    assert "Painting Friction" in layout.texts()
    bpy.ops.taffeta.paint(prop="damping", mode="IMAGE")
    assert "Painting Damping" in draw("TAFFETA_PT_bar").texts()


def physics_buttons():
    drawn = type("Drawn", (), {})()
    drawn.layout = Layout()
    cloth_panels.add_buttons(drawn, bpy.context)
    return [(a["operator"], a["text"], a["icon"]) for f, a, _ in drawn.layout.calls if f == "operator"]


def test_the_physics_tab_has_our_buttons(garment, make):
    assert physics_buttons() == [
        ("taffeta.cloth_remove", "Taffeta Cloth", "X"),
        ("taffeta.collider_add", "Taffeta Collider", "MOD_PHYSICS"),
    ]
    bpy.context.view_layer.objects.active = make.collider(make.ball())
    assert physics_buttons()[1] == ("taffeta.collider_remove", "Taffeta Collider", "X")
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    bpy.context.scene.collection.objects.link(camera)
    bpy.context.view_layer.objects.active = camera
    assert physics_buttons() == []


def test_in_a_narrow_tab_the_words_of_our_buttons_have_the_room_of_their_icons(garment, monkeypatch):
    """At 1366 pixels Blender's tab has 204, and half of that showed "Taffeta Coll..."."""
    monkeypatch.setattr(cloth_panels, "panel_width", lambda context: 204.0)
    assert [icon for _, _, icon in physics_buttons()] == ["NONE", "NONE"]


@pytest.mark.parametrize(("width", "beside"), [(280.0, False), (400.0, True)])
def test_in_a_narrow_panel_names_stand_in_the_fields_and_reasons_on_lines(garment, monkeypatch, width, beside):
    """Beside the field there were 75 pixels for "Breaking Force (N)", and a row for the reason why something is grey."""
    monkeypatch.setattr(rows, "panel_width", lambda context: width)
    layout = draw("TAFFETA_PT_cloth_sewing")
    assert layout.state["use_property_split"] == beside
    told = "Edges without a face keep their length"
    assert (told in layout.texts()) == beside and told.split()[0] in " ".join(layout.texts())
    assert ("Cache Folder" in draw("TAFFETA_PT_scene_cache").texts()) != beside  # which has words in its field


def greys(layout):
    return [call for call in layout.calls if call[0] in ("prop", "prop_search", "operator") and call[2].is_grey()]


def test_what_is_grey_says_why(garment):
    grey = {name: layout for name in PANELS if greys(layout := draw(name))}
    says = {
        name for name, layout in grey.items() if ("label", "INFO") in ((f, a.get("icon")) for f, a, _ in layout.calls)
    }
    assert "TAFFETA_PT_cloth_sewing" in grey and says == set(grey)


def test_dynamics_are_those_of_the_solver_and_tell_what_they_are_for():
    assert tuple(item[0] for item in choices.DYNAMICS) == DYNAMICS
    assert all(len(item[2].split()) > 8 for item in choices.DYNAMICS)


def test_broad_phases_are_those_of_the_solver_and_tell_what_they_are_for():
    assert tuple(item[0] for item in choices.BROAD_PHASES) == BROAD_PHASES
    assert all(len(item[2].split()) > 8 for item in choices.BROAD_PHASES)


def test_body_searches_are_those_of_the_solver_and_tell_what_they_are_for():
    assert tuple(item[0] for item in choices.BODY_SEARCHES) == BODY_SEARCHES
    assert all(len(item[2].split()) > 8 for item in choices.BODY_SEARCHES)


def test_cloth_contacts_are_those_of_the_solver_and_the_field_asks_for_its_cell(scene):
    assert tuple(item[0] for item in choices.CLOTH_CONTACTS) == CLOTH_CONTACTS
    assert all(len(item[2].split()) > 8 for item in choices.CLOTH_CONTACTS)
    cell, each = {}, {}
    for name in CLOTH_CONTACTS:
        scene.taffeta.cloth_contact = name
        shown = [a.get("property") for _, a, _ in draw("TAFFETA_PT_scene_collision").calls]
        cell[name], each[name] = "field_cell" in shown, "untangle_each" in shown
    assert cell == {name: name in ("VELOCITY_FIELD", "BOTH") for name in CLOTH_CONTACTS}
    assert each == {name: name not in ("PAIRS", "BOTH") for name in CLOTH_CONTACTS}, "where something is let through"


def test_report_lists_what_bodies_pinched():
    """Vertices by garment, each counted from the garment's first; of many the panel shows some."""
    garments = [SimpleNamespace(name=name, x=np.zeros((20, 3))) for name in ("Shirt", "Scarf", "Belt")]
    reports = [
        SimpleNamespace(frame=frame, pinched=None if vertices is None else np.array(vertices))
        for frame, vertices in ((1, None), (2, [3, 59]), (3, range(40, 60)), (4, [4]))
    ]
    found = report._pinched(garments, reports)
    assert found["pinched"] == 20 and found["pinched_frame"] == 3
    assert found["pinched_vertices"] == {"Shirt": [3, 4], "Belt": list(range(20))}
    lines = scene.report_lines(json.dumps(found))
    assert "Pinched between bodies: 20 vertices in frame 3" in lines and "    Shirt: vertices 3, 4" in lines
    assert "    Belt: vertices " + ", ".join(map(str, range(12))) + " ..." in lines
    assert report._pinched(garments, reports[:1]) == {} and not any(
        "inched" in line for line in scene.report_lines("{}")
    )
