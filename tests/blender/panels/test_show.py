# SPDX-License-Identifier: GPL-3.0-or-later
"""The Taffeta popover of the 3D view, and the picker of fabrics: what they draw."""

from types import FunctionType, SimpleNamespace

import bpy
import pytest
from taffeta.panels import fabric, show

LAYOUT = bpy.types.UILayout.bl_rna


class Layout:
    """Takes down (function, arguments, button) of all that is drawn; what Blender does not know is refused."""

    def __init__(self, calls):
        self.calls = calls

    def __getattr__(self, function):
        parameters = [p for p in LAYOUT.functions[function].parameters if not p.is_output]

        def call(*values, **named):
            given = dict(zip([p.identifier for p in parameters], values, strict=False)) | named
            assert set(given) <= {p.identifier for p in parameters}, function
            if "data" in given:
                assert given["property"] in given["data"].bl_rna.properties
            button = SimpleNamespace()
            self.calls.append((function, given, button))
            return button if function == "operator" else Layout(self.calls)

        return call


def drawn(draw, owner=None):
    """What draw(owner, context) puts into the owner's layout."""
    calls = []
    members = {n: f for n, f in vars(owner).items() if isinstance(f, FunctionType)} if owner else {}
    panel = type("Drawn", (), members)()
    panel.layout = Layout(calls)
    draw(panel, bpy.context)
    return calls


def of(calls, function, name):
    return [arguments[name] for what, arguments, _ in calls if what == function]


@pytest.fixture
def garment(make):
    obj = make.cloth(make.grid())
    bpy.context.view_layer.objects.active = obj
    yield obj
    bpy.context.window_manager.taffeta.fabrics.clear()
    bpy.context.window_manager.taffeta.overlay = "NONE"


def test_the_popover_has_what_the_viewport_can_show(garment):
    def buttons(calls):
        return [b.show for what, a, b in calls if what == "operator" and a["operator"] == "taffeta.overlay"]

    panel, session = bpy.types.TAFFETA_PT_show, bpy.context.window_manager.taffeta
    calls = drawn(panel.draw, panel)
    switches = bpy.context.window_manager.taffeta_show.bl_rna.properties.keys()
    assert {*of(calls, "prop", "property"), "name", "rna_type"} == set(switches)
    assert buttons(calls) == ["STRETCH"] and of(calls, "operator_menu_enum", "text") == ["Map"]
    session.overlay = "mass"
    calls = drawn(panel.draw, panel)
    assert buttons(calls) == ["STRETCH", "mass"], "and one to hide it"
    assert of(calls, "operator_menu_enum", "text") == ["Map: Mass"]


def test_the_header_has_the_popover_where_there_is_cloth(garment):
    fabrics = bpy.context.window_manager.taffeta.fabrics
    fabrics.clear()
    assert of(drawn(show.header_button), "popover", "panel") == []
    fabrics.add().name = garment.name
    assert of(drawn(show.header_button), "popover", "panel") == ["TAFFETA_PT_show"]


def test_the_picker_shows_the_picture_and_the_name(garment):
    def name():
        calls = drawn(lambda panel, context: fabric.draw_picker(panel.layout, context))
        assert of(calls, "template_icon_view", "property") == ["choice"]
        assert of(calls, "operator", "operator") == ["taffeta.fabric_save", "taffeta.fabric_library"]
        return of(calls, "label", "text")

    assert name() == ["A fabric of its own"]
    garment.taffeta_fabric.chosen = "Silk"
    assert name() == ["Silk"]
    note = bpy.context.window_manager.taffeta.fabrics.add()
    note.name, note.fabric = garment.name, "Silk, changed"
    assert name() == ["Silk, changed"]


def test_the_asset_browser_offers_our_fabrics_alone():
    def menu(path):
        calls = []
        asset = SimpleNamespace(name="Silk", full_library_path=path)
        fabric.asset_menu(SimpleNamespace(layout=Layout(calls)), SimpleNamespace(asset=asset))
        return [b.fabric for what, _, b in calls if what == "operator"]

    assert menu(f"{fabric.LIBRARY_FOLDER}/fabrics.blend") == ["Silk"]
    assert menu("/somewhere/fabrics.blend") == menu("") == []
