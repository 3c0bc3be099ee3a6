# SPDX-License-Identifier: GPL-3.0-or-later
"""The Physics tab in German: settings, buttons, sentences with numbers in them, the preflight list."""

import runpy
from importlib import import_module
from pathlib import Path

import bpy

TOLD = runpy.run_path(str(Path(__file__).with_name("narrow.py")))
window, area = TOLD["window"], TOLD["area"]
MORE = ("more", "cloth_details", "cloth_holds", "cloth_sewing", "cloth_elastic", "cloth_tearing", "cloth_masks", "cloth_forces",
        "cloth_rest", "cloth_cage")  # fmt: skip
SCENE = "scene", "forces", "scene_collision", "scene_cache", "advanced"
PACKAGE = "bl_ext.user_default.taffeta"


def inside():
    """A context in which an operator believes that it was pressed in the Physics tab."""
    place = area("PROPERTIES")
    region = next(region for region in place.regions if region.type == "WINDOW")
    return bpy.context.temp_override(window=window(), screen=window().screen, area=place, region=region)


def narrow(shoot, tab):
    """Pictures of all that a narrow tab shows: nothing asks whether names are cut there, so somebody has to look."""
    tab.type = "OUTLINER"  # which panels are open there, is settled
    TOLD["open_for_good"](*MORE, *SCENE)
    view = area("VIEW_3D")
    with bpy.context.temp_override(window=window(), screen=window().screen, area=view, region=view.regions[-1]):
        bpy.ops.screen.area_split(direction="VERTICAL", factor=1.0 - TOLD["NARROW"] / view.width)
    yield 1.0
    found = [area for area in window().screen.areas if area.type == "VIEW_3D"]
    tab = min(found, key=lambda area: abs(area.width - TOLD["NARROW"]))
    tab.type = "PROPERTIES"
    yield 1.5
    for context in ("PHYSICS", "SCENE"):
        tab.spaces.active.context = context
        yield 2.5
        shoot(f"narrow_{context.lower()}")


def story(shoot, press, drag, result, out):
    """Blender in German, a garment, its tab from the top to the end, then English again."""
    view = bpy.context.preferences.view
    view.language = "de_DE"
    view.use_translate_tooltips = view.use_translate_interface = view.use_translate_reports = True
    place = area("VIEW_3D")
    with bpy.context.temp_override(window=window(), screen=window().screen, area=place, region=place.regions[-1]):
        bpy.ops.screen.area_split(direction="VERTICAL", factor=0.5)
    yield 1.0
    tab = max((a for a in window().screen.areas if a.type == "VIEW_3D"), key=lambda a: a.x)
    tab.type = "PROPERTIES"
    yield 1.5
    obj = TOLD["dress"]()
    obj.name = "Rock"
    tab.spaces.active.context = "PHYSICS"
    yield 2.0
    shoot("tab")
    with inside():
        bpy.ops.wm.call_panel(name="TAFFETA_PT_preflight", keep_open=True)
    yield 1.5
    shoot("preflight")
    press("Escape")
    yield 0.5
    translations, words = import_module(PACKAGE + ".panels.translations"), bpy.app.translations
    problems = [item.sentence for item in bpy.context.window_manager.taffeta.problems]
    result["german"] = {
        "locale": words.locale,
        "setting": words.pgettext_iface("Self-Collision"),
        "button": words.pgettext_iface("Play Live", "Operator"),
        "own word of Blender": words.pgettext_iface("Friction"),
        "sentence": translations.translated("Rock has no faces"),
        "in our sense": [
            words.pgettext_iface(word, translations.CONTEXT) for word in ("Drag", "Stretch", "Layers", "Free")
        ],
        "in Blender's sense": words.pgettext_iface("Drag"),
        "label of a row": translations.translated("Mass"),
        "problems": [(english, translations.translated(english)) for english in problems],
    }
    yield from narrow(shoot, tab)
    view.use_translate_interface = False
    result["english"] = translations.translated("Rock has no faces"), words.pgettext_iface("Self-Collision")
    yield 0.5
