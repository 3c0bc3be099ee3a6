# SPDX-License-Identifier: GPL-3.0-or-later
"""The bar, what is open at first, and where the rest stands."""

from types import SimpleNamespace

import bpy
import pytest
from layouts import PHYSICS, SCENE, Layout, draw
from taffeta.panels import bar, preferences, rows, scene_tab


def bar_buttons():
    """Which buttons of the bar stand where, in order: (operator, options, whether grey)."""
    layout = draw("TAFFETA_PT_bar")
    return [
        (a["operator"], dict(a["button"].options), place.is_grey()) for f, a, place in layout.calls if f == "operator"
    ]


def test_the_buttons_that_need_a_bake_are_grey(garment):
    bake, live, drape, stop, resume, again, _ = bar_buttons()
    assert bake == ("taffeta.bake", {}, False) and live == ("taffeta.live", {}, False)
    assert drape == ("taffeta.drape", {}, False)
    assert stop == ("taffeta.stop", {}, True)
    assert resume == ("taffeta.bake", {"resume": True}, True)
    assert again == ("taffeta.bake", {"from_frame": 1}, True)
    layout = draw("TAFFETA_PT_bake")
    for verb in ("free", "export"):
        assert layout.buttons(f"taffeta.{verb}")[0][1].is_grey()
    assert "Nothing baked yet" in layout.texts()


def test_a_bake_makes_them_work(garment):
    garment.taffeta_cloth.cache_path = "//taffeta_cache/Cloth.pc2"
    garment.taffeta_cloth.stale = "Cloth was baked before you changed Mass"
    bpy.context.scene.frame_set(6)
    *_, resume, again, _ = bar_buttons()
    assert not resume[2] and not again[2]
    assert again[1] == {"from_frame": 6}
    layout = draw("TAFFETA_PT_bake")
    assert "Nothing baked yet" not in layout.texts()
    assert "Cloth was baked before you changed Mass" in " ".join(layout.texts())
    assert "Changed since it was baked" in draw("TAFFETA_PT_bar").texts()


@pytest.mark.parametrize(
    ("first", "last", "words", "share"),
    [(1, 10, "10 of 10 frames kept", 1.0), (11, 30, "10 of 20 frames kept", 0.5), (30, 40, "No frames kept", 0.0)],
)
def test_the_bar_counts_frames_of_the_range(garment, first, last, words, share):
    """The bake has frames 1 to 20."""
    note = bpy.context.window_manager.taffeta.fabrics.add()
    note.name, note.frame_start, note.frame_count = garment.name, 1, 20
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = first, last
    (bar_of_it,) = [a for f, a, _ in draw("TAFFETA_PT_bar").calls if f == "progress"]
    assert (bar_of_it["text"], bar_of_it["factor"]) == (words, pytest.approx(share))


@pytest.fixture(params=["nothing", "painting", "doubts", "stale", "baked", "baking", "live", "draping"])
def moment(request, garment):
    """The garment at one of the moments that a bar tells of."""
    session, cloth = bpy.context.window_manager.taffeta, garment.taffeta_cloth
    note = session.fabrics.add()
    note.name = garment.name
    if request.param == "painting":
        bpy.ops.taffeta.paint(prop="friction")
    elif request.param == "doubts":
        session.problems.add().severity = "WARNING"
    elif request.param == "stale":
        cloth.cache_path, cloth.stale = (
            "//a.pc2",
            "Cloth was baked before you changed Mass, which takes a long sentence to say",
        )
    elif request.param == "baked":
        cloth.cache_path, note.fabric = "//a.pc2", "Wool Suiting"
        note.frame_start, note.frame_count = 1, 7
    elif request.param == "baking":
        session.baking, session.progress, session.status = True, 0.4, "Frame 4 of 10, 12 s left"
    else:
        session.live, session.draping = request.param == "live", request.param == "draping"
    yield request.param
    session.live = session.draping = False
    session.fabrics.clear()


def test_the_bar_has_the_same_rows_whatever_happens(moment):
    """Kind and place of everything that is drawn, texts and greys aside: nothing comes, goes or grows."""
    layout = draw("TAFFETA_PT_bar")
    shape = [
        (f, a.get("operator") or a.get("panel") or a.get("property"), len(a.get("text", "")) < 30)
        for f, a, _ in layout.calls
    ]
    assert shape == [
        ("column", None, True), ("row", None, True), ("row", None, True), ("operator", "taffeta.bake", True),
        ("operator", "taffeta.live", True), ("operator", "taffeta.drape", True), ("row", None, True), ("operator", "taffeta.stop", True), ("split", None, True),
        ("operator", "taffeta.bake", True), ("operator", "taffeta.bake", True), ("progress", None, True),
        ("split", None, True), ("popover", "TAFFETA_PT_fabric_presets", True), ("row", None, True),
        ("prop", "quality", True), ("split", None, True), ("label", None, True), ("row", None, True), ("row", None, True),
        ("operator", "taffeta.paint_done", True), ("popover", "TAFFETA_PT_preflight", True),
    ]  # fmt: skip


def test_no_button_of_the_bar_does_one_thing_now_and_another_then(moment):
    """A second click where Bake, Play Live or Drape was never starts or stops the other; Stop alone works while one runs."""
    *verbs, done = bar_buttons()
    assert [verb for verb, _, _ in verbs] == [
        "taffeta.bake",
        "taffeta.live",
        "taffeta.drape",
        "taffeta.stop",
        "taffeta.bake",
        "taffeta.bake",
    ]
    greys, busy = [grey for _, _, grey in verbs], moment in ("baking", "live", "draping")
    baked = moment in ("stale", "baked")
    assert greys == [busy, busy, busy, not busy, not baked, not baked]
    assert done[2] == (moment != "painting")


def test_the_bar_tells_fabric_frames_and_what_matters_most(moment):
    texts = draw("TAFFETA_PT_bar").texts()
    said = {
        "nothing": "Nothing baked yet", "painting": "Painting Friction", "doubts": "1 warning before you bake",
        "stale": "Changed since it was baked", "baked": "Baked", "baking": "Settings are locked",
        "live": "Live: nothing is kept", "draping": "Draping: Keep is in the view",
    }  # fmt: skip
    assert said[moment] in texts
    told = {"baked": "7 of 10 frames kept", "baking": "Frame 4 of 10, 12 s left"}
    assert told.get(moment, "No frames kept") in texts


def test_the_bar_knows_the_fabric_before_the_list_is_made(garment):
    """As the panel *Fabric* does: a bake that is begun at once holds the list up."""

    def named():
        return next(a["text"] for f, a, _ in draw("TAFFETA_PT_bar").calls if f == "popover")

    assert named() == "Own Fabric"
    garment.taffeta_fabric.chosen = "Silk"
    assert named() == "Silk"
    note = bpy.context.window_manager.taffeta.fabrics.add()
    note.name, note.fabric = garment.name, "Silk, changed"
    assert named() == "Silk, changed"


def test_the_bar_stands_above_all_panels_with_a_header():
    assert "HIDE_HEADER" in bpy.types.TAFFETA_PT_bar.bl_options


def test_what_is_open_at_first_is_short(garment):
    opened = [p for p in PHYSICS if "DEFAULT_CLOSED" not in getattr(getattr(bpy.types, p), "bl_options", ())]
    assert opened == [
        "TAFFETA_PT_" + name for name in ("bar", "cloth", "cloth_pins", "cloth_fabric", "cloth_collision")
    ]
    assert len([name for p in opened for name, _ in draw(p).properties() if name not in ("source", "quality")]) == 7


def test_what_belongs_to_the_scene_stands_in_the_scene_tab_alone(garment):
    settings = set(bpy.types.Scene.bl_rna.properties["taffeta"].fixed_type.properties.keys()) - {"rna_type", "name"}
    here = {name for panel in PHYSICS for name, _ in draw(panel).properties()}
    assert not here & {n for n in settings if not n.endswith("_shown")} - {"quality"}
    bpy.context.scene.taffeta.dynamics, bpy.context.scene.taffeta.cloth_contact = "IMPLICIT_THETA", "VELOCITY_FIELD"
    there = {name for panel in SCENE for name, _ in draw(panel).properties()}
    expert = set(scene_tab.EXPERT)
    assert {n for n in settings if not n.endswith("_shown")} - expert <= there


def test_expert_settings_are_drawn_if_a_preference_asks_or_a_file_has_them(garment, monkeypatch):
    settings = bpy.context.scene.taffeta
    assert not bpy.types.TAFFETA_PT_advanced.poll(bpy.context)
    settings.dynamics = "VERLET"
    assert bpy.types.TAFFETA_PT_advanced.poll(bpy.context)
    assert [name for name, _ in draw("TAFFETA_PT_advanced").properties()] == ["dynamics"]
    settings.dynamics = "IMPLICIT_THETA"
    monkeypatch.setattr(scene_tab, "expert", lambda context: True)
    assert [name for name, _ in draw("TAFFETA_PT_advanced").properties()] == list(scene_tab.EXPERT)


def test_the_preference_is_that_of_the_package_and_off_without_one():
    assert preferences.PACKAGE == "taffeta" and preferences.TaffetaPreferences.bl_idname == "taffeta"
    assert not preferences.expert(bpy.context)
    addon = SimpleNamespace(preferences=SimpleNamespace(expert=True))
    context = SimpleNamespace(preferences=SimpleNamespace(addons={"taffeta": addon}))
    assert preferences.expert(context)
    addon.preferences = None
    assert not preferences.expert(context)


@pytest.mark.parametrize(("width", "lines"), [(280, 2), (299, 2), (301, 1), (500, 1)])
def test_in_a_narrow_panel_a_number_has_a_line_of_its_own(garment, monkeypatch, width, lines):
    monkeypatch.setattr(rows, "panel_width", lambda context: width)
    layout = Layout()
    rows.mapped(layout, bpy.context, garment, "shear_stiffness")
    fields = dict(layout.properties())
    assert (fields["value"] is not fields["source"]) == (lines == 2)
    garment.taffeta_cloth.shear_stiffness.source = "GROUP"
    layout = Layout()
    rows.mapped(layout, bpy.context, garment, "shear_stiffness")
    fields = dict(layout.properties())
    assert fields["minimum"] is fields["maximum"]
    assert (fields["minimum"] is not fields["source"]) == (width < 480)


def test_in_a_narrow_panel_the_words_of_the_bar_have_the_room_of_its_icons(moment, monkeypatch):
    """At 1366 pixels Blender's tab has 204: 26 letters in a row of its own, and the numbers are at the end of sentences."""
    monkeypatch.setattr(bar, "panel_width", lambda context: 204.0)
    bpy.context.scene.frame_set(120)
    layout = draw("TAFFETA_PT_bar")
    icons = [a.get("icon", "NONE") for f, a, _ in layout.calls if f in ("operator", "label")]
    doubts = {"doubts": ["ERROR"], "stale": ["ERROR"]}.get(moment, [])
    assert [icon for icon in icons if icon != "NONE"] == doubts
    assert "Re-Bake from 120" in layout.texts()
    assert "Live" in layout.texts() and "Play Live" not in layout.texts()
    said = {"doubts": "1 warning", "stale": "Changed since"}
    assert moment not in said or said[moment] in layout.texts()


def test_more_has_its_panels_in_the_order_in_which_one_asks(garment):
    labels = [getattr(bpy.types, name).bl_label for name in PHYSICS[6:]]
    assert labels == [
        "Preflight", "Bake and Export", "Report", "Bakes", "Queue", "Corrections", "Fabric Details", "Sewing and Size", "Elastic", "Collides Only With",
        "Pressure and Fields", "Rest Shape and Pleats", "Layers",
    ]  # fmt: skip
    parents = {name: getattr(bpy.types, name).bl_parent_id for name in PHYSICS[6:]}
    assert parents.pop("TAFFETA_PT_takes") == "TAFFETA_PT_bakes" and set(parents.values()) == {"TAFFETA_PT_more"}
