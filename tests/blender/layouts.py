# SPDX-License-Identifier: GPL-3.0-or-later
"""Layouts that take down what a panel draws and hold every call against Blender's own description."""

from types import FunctionType

import bpy

LAYOUT = bpy.types.UILayout.bl_rna
# Panels of a garment, in the order in which they stand.
PHYSICS = [
    "TAFFETA_PT_bar",
    "TAFFETA_PT_cloth",
    "TAFFETA_PT_cloth_pins",
    "TAFFETA_PT_cloth_fabric",
    "TAFFETA_PT_cloth_collision",
    "TAFFETA_PT_more",
    "TAFFETA_PT_preflight",
    "TAFFETA_PT_bake",
    "TAFFETA_PT_report",
    "TAFFETA_PT_bakes",
    "TAFFETA_PT_takes",
    "TAFFETA_PT_corrections",
    "TAFFETA_PT_cloth_details",
    "TAFFETA_PT_cloth_sewing",
    "TAFFETA_PT_cloth_elastic",
    "TAFFETA_PT_cloth_masks",
    "TAFFETA_PT_cloth_forces",
    "TAFFETA_PT_cloth_rest",
    "TAFFETA_PT_layers",
]
SCENE = [
    "TAFFETA_PT_scene",
    "TAFFETA_PT_scene_cache",
    "TAFFETA_PT_forces",
    "TAFFETA_PT_scene_collision",
    "TAFFETA_PT_advanced",
]
PANELS = PHYSICS + SCENE


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


def draw(name, what="draw", is_popover=False):
    """Draw a panel of the current context; returns the layout."""
    panel = getattr(bpy.types, name)
    functions = {}
    for cls in reversed(panel.__mro__):
        functions |= {n: f for n, f in vars(cls).items() if isinstance(f, FunctionType)}
    drawn = type("Drawn", (), functions)()
    drawn.layout, drawn.is_popover = Layout(), is_popover
    getattr(drawn, what)(bpy.context)
    return drawn.layout
