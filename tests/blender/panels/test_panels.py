# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings and panels. Blender draws no panel without a window, so the draw functions get a layout that takes down
what is drawn and holds every call against Blender's own description: functions and their arguments, icons,
properties, operators and their options. What it looks like is checked in tests/gui."""

import json
from types import FunctionType, SimpleNamespace

import bpy
import numpy as np
import pytest
from taffeta.operators.bake import report
from taffeta.panels import choices, properties, rows, scene, units
from taffeta.panels import cloth as cloth_panels
from taffeta.panels.mapped import MAPPED, ROWS
from taffeta.solver.model import BROAD_PHASES, CLOTH_CONTACTS, DYNAMICS, Settings

LAYOUT = bpy.types.UILayout.bl_rna
PANELS = [
    "TAFFETA_PT_cloth",
    "TAFFETA_PT_cloth_fabric",
    "TAFFETA_PT_cloth_pins",
    "TAFFETA_PT_cloth_sewing",
    "TAFFETA_PT_cloth_collision",
    "TAFFETA_PT_layers",
    "TAFFETA_PT_bake",
    "TAFFETA_PT_bakes",
    "TAFFETA_PT_takes",
    "TAFFETA_PT_preflight",
    "TAFFETA_PT_forces",
    "TAFFETA_PT_report",
    "TAFFETA_PT_advanced",
]


class Button:
    """An operator's options as a panel sets them; wrong names and values are refused."""

    def __init__(self, idname):
        module, name = idname.split(".")
        self.__dict__.update(idname=idname, options={}, known=getattr(getattr(bpy.ops, module), name).get_rna_type())

    def __setattr__(self, name, value):
        option = self.known.properties[name]
        if option.type == "ENUM":
            assert value in option.enum_items.keys(), f"{self.idname}: {name} has no {value}"
        self.options[name] = value


class Layout:
    """Takes down what is drawn: a list of (function, arguments, layout), in order, for all sub-layouts together."""

    def __init__(self, parent=None):
        self.__dict__.update(calls=parent.calls if parent else [], parent=parent, state={})

    def __setattr__(self, name, value):
        assert name in LAYOUT.properties, f"UILayout has no {name}"
        self.state[name] = value

    def is_grey(self):
        return not (self.state.get("enabled", True) and self.state.get("active", True)) or (
            self.parent is not None and self.parent.is_grey()
        )

    def __getattr__(self, function):
        if function in self.state:
            return self.state[function]
        parameters = LAYOUT.functions[function].parameters

        def call(*values, **named):
            names = [p.identifier for p in parameters if not p.is_output]
            arguments = dict(zip(names, values, strict=False)) | named
            assert set(arguments) <= set(names), f"{function}: {set(arguments) - set(names)}"
            if "icon" in arguments:
                assert arguments["icon"] in parameters["icon"].enum_items.keys(), arguments["icon"]
            if "data" in arguments:
                shown = arguments["property"]
                assert shown in arguments["data"].bl_rna.properties, f"{arguments['data']} has no {shown}"
            if "search_data" in arguments:
                assert arguments["search_property"] in arguments["search_data"].bl_rna.properties
            self.calls.append((function, arguments, self))
            if function == "operator":
                arguments["button"] = Button(arguments["operator"])
                return arguments["button"]
            return Layout(self) if parameters and any(p.is_output for p in parameters) else None

        return call

    def texts(self):
        return [a.get("text", "") for f, a, _ in self.calls if f in ("label", "operator", "progress") and a.get("text")]

    def properties(self):
        return [(a["property"], layout) for f, a, layout in self.calls if f in ("prop", "prop_search")]

    def buttons(self, idname):
        return [
            (a["button"].options, layout) for f, a, layout in self.calls if f == "operator" and a["operator"] == idname
        ]


def draw(name, what="draw"):
    """Draw a panel of the current context; returns the layout."""
    panel = getattr(bpy.types, name)
    functions = {}
    for cls in reversed(panel.__mro__):
        functions |= {n: f for n, f in vars(cls).items() if isinstance(f, FunctionType)}
    drawn = type("Drawn", (), functions)()
    drawn.layout = Layout()
    getattr(drawn, what)(bpy.context)
    return drawn.layout


@pytest.fixture
def garment(make):
    obj = make.cloth(make.grid())
    bpy.context.view_layer.objects.active = obj
    yield obj
    session = bpy.context.window_manager.taffeta
    session.baking = False
    session.problems.clear()
    if bpy.context.object and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")


# Settings


def test_settings_of_the_scene_are_those_of_the_solver(scene):
    for name, value in Settings()._asdict().items():
        if name == "guard_bodies":  # the garments' Quality decides
            continue
        shown = getattr(scene.taffeta, name)
        assert tuple(shown) == value if isinstance(value, tuple) else shown == pytest.approx(value)


@pytest.mark.parametrize("name", MAPPED)
def test_a_mapped_property_has_all_its_fields(make, name):
    group = getattr(make.grid().taffeta_cloth, name)
    assert group.source == "UNIFORM"
    assert group.value == pytest.approx(ROWS[name].default)
    assert group.minimum <= group.maximum
    assert not (group.vertex_group or group.image or group.uv_map or group.attribute or group.invert)
    items = group.bl_rna.properties["source"].enum_items.keys()
    assert items == ["UNIFORM", "GROUP", "IMAGE", "ATTRIBUTE"]


def test_defaults_are_those_agreed(make):
    cloth = make.grid().taffeta_cloth
    assert (cloth.enabled, cloth.layer, cloth.self_collision, cloth.quality) == (False, 0, True, "FINAL")
    values = {name: pytest.approx(getattr(cloth, name).value) for name in MAPPED}
    assert values == dict(zip(MAPPED, (0.0, 0.15, 0.002, 2000.0, 100.0, 1e-5, 2.0, 0.3, 0.0, 0.0), strict=True))


SETTINGS = [(cls, name) for cls in properties.CLASSES for name in cls.__annotations__]


@pytest.mark.parametrize(("owner", "name"), SETTINGS, ids=lambda v: getattr(v, "__name__", v))
def test_each_setting_has_a_name_and_a_tooltip(owner, name):
    prop = owner.bl_rna.properties[name]
    if prop.type == "POINTER" and prop.fixed_type.identifier.startswith("Taffeta"):
        return  # the settings of a mapped property, which are tested themselves
    assert prop.name and len(prop.description) > 9
    assert not prop.description.endswith("."), "Blender adds the full stop"


@pytest.mark.parametrize(("owner", "name"), SETTINGS, ids=lambda v: getattr(v, "__name__", v))
def test_each_number_has_a_range_with_its_default_inside(owner, name):
    prop = owner.bl_rna.properties[name]
    if prop.type in ("FLOAT", "INT"):
        assert prop.hard_min <= prop.soft_min < prop.soft_max <= prop.hard_max
        assert prop.hard_min <= prop.default <= prop.hard_max


@pytest.mark.parametrize("name", [n for n in MAPPED if ROWS[n].symbol])
def test_each_tooltip_names_the_unit(name):
    symbol = {"m": "metres"}.get(ROWS[name].symbol, ROWS[name].symbol)
    assert symbol in ROWS[name].tooltip


@pytest.mark.parametrize("scale", [1.0, 0.01, 1000.0])
def test_lengths_are_shown_true_in_any_unit_scale(scene, make, scale):
    """Blender displays stored value * unit scale; 2 mm must read 2 mm."""
    scene.unit_settings.scale_length = scale
    thickness = make.grid().taffeta_cloth.thickness
    assert thickness.value_shown * scale == pytest.approx(0.002)
    thickness.value_shown = 0.005 / scale
    assert thickness.value == pytest.approx(0.005)
    scene.taffeta.wind_shown = (3.0 / scale, 0.0, 0.0)
    assert scene.taffeta.wind[0] == pytest.approx(3.0)
    assert rows.shown(bpy.context, thickness, "value") == ("value" if scale == 1.0 else "value_shown")


def test_without_units_numbers_are_shown_as_they_are(scene):
    scene.unit_settings.system, scene.unit_settings.scale_length = "NONE", 0.01
    assert units.shown_factor() == 1.0


def test_the_bending_of_silk_can_be_read_and_typed(make):
    """Blender's fields show six decimals at most."""
    bending = make.grid().taffeta_cloth.bending_stiffness
    bending.value = 8e-7
    assert rows.shown(bpy.context, bending, "value") == "value_shown"
    assert bending.value_shown == pytest.approx(0.8)
    bending.value_shown = 12.5
    assert bending.value == pytest.approx(1.25e-5)


def test_setting_something_tells_blender(garment):
    """Preflight and overlay wait for Blender to say that an object changed."""
    seen = []

    def look(_scene, depsgraph):
        seen.extend(update.id.name for update in depsgraph.updates)

    bpy.context.view_layer.update()
    bpy.app.handlers.depsgraph_update_post.append(look)
    try:
        garment.taffeta_cloth.mass.value = 0.3
        bpy.context.view_layer.update()
        assert garment.name in seen
        seen.clear()
        garment.taffeta_cloth.stale = "a note"
        bpy.context.view_layer.update()
        assert garment.name not in seen
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(look)


def test_settings_survive_saving_and_copying(garment, tmp_path):
    garment.taffeta_cloth.shear_stiffness.maximum = 321.0
    garment.taffeta_cloth.shear_stiffness.invert = True
    bpy.context.scene.taffeta.preroll = 7
    copy = garment.copy()
    bpy.context.scene.collection.objects.link(copy)
    copy.taffeta_cloth.layer = 3
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    first, second = bpy.data.objects["Cloth"].taffeta_cloth, bpy.data.objects["Cloth.001"].taffeta_cloth
    assert first.shear_stiffness.maximum == second.shear_stiffness.maximum == pytest.approx(321.0)
    assert first.shear_stiffness.invert and first.enabled
    assert (first.layer, second.layer) == (0, 3)
    assert bpy.context.scene.taffeta.preroll == 7


@pytest.mark.parametrize("was_cloth", [True, False])
def test_settings_can_be_overridden_on_a_linked_character(make, tmp_path, was_cloth):
    """Cloth already in the library, or made cloth in the shot; saved and opened twice."""
    garment = make.grid()
    garment.taffeta_cloth.enabled = was_cloth
    bpy.context.view_layer.objects.active = garment
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (there, here):
        here.objects = there.objects
    linked = here.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    bpy.context.view_layer.objects.active = linked
    assert not bpy.ops.taffeta.paint.poll() and not bpy.ops.taffeta.cloth_add.poll()
    own = linked.override_create(remap_local_usages=True)
    own.taffeta_cloth.enabled = True
    own.taffeta_cloth.mass.value = 0.44
    own.taffeta_cloth.quality = "PREVIEW"
    for _ in range(2):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
        own = next(obj for obj in bpy.data.objects if obj.override_library)
    assert own.taffeta_cloth.enabled
    assert own.taffeta_cloth.mass.value == pytest.approx(0.44)
    assert own.taffeta_cloth.quality == "PREVIEW"


# Panels


@pytest.mark.parametrize("name", PANELS)
def test_each_panel_draws_what_blender_knows(garment, name):
    layout = draw(name)
    assert layout.calls
    assert "draw_header_preset" not in vars(getattr(bpy.types, name)) or draw(name, "draw_header_preset").calls


@pytest.mark.parametrize("name", PANELS)
def test_panels_appear_on_cloth_alone(garment, make, name):
    panel = getattr(bpy.types, name)
    assert panel.poll(bpy.context)
    garment.taffeta_cloth.enabled = False
    assert not panel.poll(bpy.context)


def test_collider_panels_appear_on_colliders(garment, make):
    assert not bpy.types.TAFFETA_PT_collider.poll(bpy.context)
    bpy.context.view_layer.objects.active = make.collider(make.ball())
    assert bpy.types.TAFFETA_PT_collider.poll(bpy.context)
    assert [name for name, _ in draw("TAFFETA_PT_collider").properties()] == ["aura", "friction", "restitution"]
    assert draw("TAFFETA_PT_collider_motion").buttons("taffeta.sequence_import")
    bpy.context.object.hide_viewport = True
    assert any("Disabled in viewports" in text for text in draw("TAFFETA_PT_collider").texts())


def test_collision_groups_have_rows_and_a_sign_for_a_missing_one(garment):
    layout = draw("TAFFETA_PT_cloth_collision")
    rows = [name for name, _ in layout.properties()]
    assert rows[:4] == ["self_collision", "self_group", "body_group", "collision_collection"]
    assert not any(grey.is_grey() for name, grey in layout.properties() if name in ("self_group", "body_group"))
    garment.taffeta_cloth.self_collision = False
    greys = {name: place.is_grey() for name, place in draw("TAFFETA_PT_cloth_collision").properties()}
    assert greys["self_group"] and not greys["body_group"]

    def signs():
        calls = draw("TAFFETA_PT_cloth_collision").calls
        return [arguments for function, arguments, _ in calls if arguments.get("icon") == "ERROR"]

    assert signs() == []
    garment.taffeta_cloth.body_group = "gone"
    assert len(signs()) == 1


def test_every_mapped_property_is_drawn_once(garment):
    drawn = [draw("TAFFETA_PT_cloth_" + part) for part in ("fabric", "pins", "sewing")]
    painted = [options["prop"] for layout in drawn for options, _ in layout.buttons("taffeta.paint")]
    assert sorted(painted) == sorted(MAPPED)
    eyes = [options["show"] for layout in drawn for options, _ in layout.buttons("taffeta.overlay")]
    assert sorted(eyes) == sorted((*MAPPED, "STRETCH"))


def test_a_uniform_property_is_one_value(garment):
    layout = Layout()
    rows.mapped(layout, bpy.context, garment, "mass")
    assert [name for name, _ in layout.properties()] == ["value", "source"]
    assert "Mass (kg/m²)" in layout.texts()


@pytest.mark.parametrize(
    ("source", "pickers"),
    [("GROUP", ["vertex_group"]), ("IMAGE", ["image", "uv_map"]), ("ATTRIBUTE", ["attribute"])],
)
def test_a_mapped_one_has_a_range_and_its_pickers(garment, source, pickers):
    garment.taffeta_cloth.mass.source = source
    layout = Layout()
    rows.mapped(layout, bpy.context, garment, "mass")
    assert [name for name, _ in layout.properties()] == ["minimum", "maximum", "invert", "source", *pickers]
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


def test_the_buttons_that_need_a_bake_say_why_they_are_grey(garment):
    layout = draw("TAFFETA_PT_bake")
    bake, resume, again = layout.buttons("taffeta.bake")
    assert not bake[1].is_grey() and bake[0] == {}
    assert resume[1].is_grey() and resume[0] == {"resume": True}
    assert again[1].is_grey() and again[0] == {"from_frame": 1}
    for verb in ("free", "export"):
        assert layout.buttons(f"taffeta.{verb}")[0][1].is_grey()
    assert "Nothing baked yet" in layout.texts()


def test_a_bake_makes_them_work(garment):
    garment.taffeta_cloth.cache_path = "//taffeta_cache/Cloth.pc2"
    garment.taffeta_cloth.stale = "Cloth was baked before you changed Mass"
    bpy.context.scene.frame_set(6)
    layout = draw("TAFFETA_PT_bake")
    _, resume, again = layout.buttons("taffeta.bake")
    assert not resume[1].is_grey() and not again[1].is_grey()
    assert again[0] == {"from_frame": 6}
    assert "Nothing baked yet" not in layout.texts()
    assert "Cloth was baked before you changed Mass" in " ".join(layout.texts())


def test_a_running_bake_shows_its_progress_and_locks_the_settings(garment):
    session = bpy.context.window_manager.taffeta
    session.baking, session.progress, session.status = True, 0.37, "Frame 37 of 100, 12 s left"
    layout = draw("TAFFETA_PT_bake")
    bars = [arguments for function, arguments, _ in layout.calls if function == "progress"]
    assert bars[0]["factor"] == pytest.approx(0.37) and bars[0]["text"] == session.status
    assert not layout.buttons("taffeta.bake")
    assert all(layout.is_grey() for _, layout in draw("TAFFETA_PT_cloth_fabric").properties())
    assert any("bake is running" in text for text in draw("TAFFETA_PT_cloth").texts())


def test_preflight_lists_each_problem_with_its_remedy(garment):
    session = bpy.context.window_manager.taffeta
    session.checked = True
    assert "Ready to bake" in draw("TAFFETA_PT_preflight").texts()
    problem = session.problems.add()
    problem.severity, problem.object_name = "WARNING", "Cloth"
    problem.sentence, problem.remedy = "Cloth crosses Body at the start", "Pull it out"
    problem.selectable = True
    layout = draw("TAFFETA_PT_preflight")
    assert "Cloth crosses Body at the start" in " ".join(layout.texts()) and "Pull it out" in layout.texts()
    assert layout.buttons("taffeta.select_problem")[0][0] == {"object": "Cloth"}
    assert any("1 to look at" in text for text in draw("TAFFETA_PT_cloth").texts())


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
    assert "Silk" not in " ".join(draw("TAFFETA_PT_cloth_fabric").texts())
    note = session.fabrics.add()
    note.name, note.sentence = garment.name, "Silk: for edges up to 7.0 mm. This mesh has 25 mm"
    layout = draw("TAFFETA_PT_cloth_fabric")
    assert note.sentence in " ".join(layout.texts()) and not layout.buttons("taffeta.subdivide")
    note.verbs = "taffeta.subdivide"
    assert draw("TAFFETA_PT_cloth_fabric").buttons("taffeta.subdivide")[0][0] == {"object": "Cloth"}
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
    assert not draw("TAFFETA_PT_cloth").buttons("taffeta.paint_done")
    bpy.ops.taffeta.paint(prop="friction")
    layout = draw("TAFFETA_PT_cloth")
    assert layout.buttons("taffeta.paint_done")
    assert "Painting Friction" in layout.texts()
    bpy.ops.taffeta.paint(prop="damping", mode="IMAGE")
    assert "Painting Damping" in draw("TAFFETA_PT_cloth").texts()


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


def greys(layout):
    return [call for call in layout.calls if call[0] in ("prop", "prop_search", "operator") and call[2].is_grey()]


@pytest.mark.parametrize("name", PANELS)
def test_what_is_grey_says_why(garment, name):
    layout = draw(name)
    if greys(layout):
        assert any(a.get("icon") == "INFO" for f, a, _ in layout.calls if f == "label")


def test_dynamics_are_those_of_the_solver_and_tell_what_they_are_for():
    assert tuple(item[0] for item in choices.DYNAMICS) == DYNAMICS
    assert all(len(item[2].split()) > 8 for item in choices.DYNAMICS)


def test_broad_phases_are_those_of_the_solver_and_tell_what_they_are_for():
    assert tuple(item[0] for item in choices.BROAD_PHASES) == BROAD_PHASES
    assert all(len(item[2].split()) > 8 for item in choices.BROAD_PHASES)


def test_cloth_contacts_are_those_of_the_solver_and_the_field_asks_for_its_cell(scene):
    assert tuple(item[0] for item in choices.CLOTH_CONTACTS) == CLOTH_CONTACTS
    assert all(len(item[2].split()) > 8 for item in choices.CLOTH_CONTACTS)
    shown = {}
    for name in CLOTH_CONTACTS:
        scene.taffeta.cloth_contact = name
        shown[name] = "field_cell" in [a.get("property") for _, a, _ in draw("TAFFETA_PT_advanced").calls]
    assert shown == {name: name in ("VELOCITY_FIELD", "BOTH") for name in CLOTH_CONTACTS}


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
