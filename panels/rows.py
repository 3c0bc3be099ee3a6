# SPDX-License-Identifier: GPL-3.0-or-later
"""How single rows are drawn: a mapped property, a length in any unit scale, a sentence with line breaks, a reason."""

import textwrap

import bpy

from .mapped import ROWS
from .translations import translated
from .units import shown_factor

# Widths of the region, in pixels of an unscaled screen, below which one number beside its label, its menu, brush and
# eye is cut off, and two are.
NARROW_VALUE, NARROW_RANGE = 300.0, 480.0


class PhysicsPanel:
    """Where every Taffeta panel stands, and that settings are locked while a bake reads them."""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"

    @classmethod
    def poll(cls, context):
        obj = context.object
        return obj is not None and obj.type == "MESH" and obj.taffeta_cloth.enabled


class SubPanel(PhysicsPanel):
    """Below More."""

    bl_parent_id = "TAFFETA_PT_more"
    bl_options = {"DEFAULT_CLOSED"}


def settings_layout(panel, context):
    """The panel's layout as Blender's own physics panels have it; greyed out while a bake runs.

    In a narrow panel a name stands in its number's field, where Blender gives it all the room that the digits leave.
    """
    layout = panel.layout
    layout.use_property_split = panel_width(context) >= NARROW_VALUE
    layout.use_property_decorate = False
    layout.enabled = not context.window_manager.taffeta.baking
    return layout


def shown(context, group, name: str) -> str:
    """Name of the property to draw for `name`: its twin where the scene's units are not plain SI, or too coarse."""
    twin = name + "_shown"
    if twin not in group.bl_rna.properties:
        return name
    same_unit = group.bl_rna.properties[name].unit == group.bl_rna.properties[twin].unit != "NONE"
    return name if same_unit and shown_factor() == 1.0 else twin


def prop(layout, context, group, name: str, text: str | None = None):
    """One property in true units."""
    if text is None:  # Blender's own label, which names the axes of a vector
        layout.prop(group, shown(context, group, name))
    else:
        layout.prop(group, shown(context, group, name), text=text)


def named(layout, context, group, name: str, search: tuple = (), **options):
    """A menu, or a field of words. In a narrow panel it stands below its name, to which Blender leaves a quarter of the width there.

    search : whose, and which, names there are to choose from; options : of Blender's layout
    """
    if panel_width(context) < NARROW_VALUE:
        layout = layout.column(align=True)
        shown = group.bl_rna.properties[name]
        layout.label(text=shown.name, text_ctxt=shown.translation_context)
        options["text"] = ""
    (layout.prop_search if search else layout.prop)(group, name, *search, **options)


def why(layout, sentence: str):
    """The reason why something above is greyed out."""
    column = layout.column()
    column.active = False
    sentences(column, bpy.context, sentence, "INFO")


def sentences(layout, context, text: str, icon: str = "NONE", width: float | None = None):
    """A sentence, in the window's language, broken into lines as wide as the panel; Blender's labels would cut it off.

    width : [pixels] of an unscaled screen, where it stands in a popover and not in the panel's region.
    """
    lines = textwrap.wrap(translated(text), max(24, int((width or panel_width(context)) / 7.5) - 6)) or [""]
    column = layout.column(align=True)
    column.scale_y = 0.8
    for i, line in enumerate(lines):
        column.label(text=line, icon=icon if i == 0 else ("BLANK1" if icon != "NONE" else "NONE"))


def scene_settings(layout, text: str):
    """A quiet button that goes to the Scene tab, where what is said of all garments stands."""
    button = layout.operator("wm.context_set_enum", text=text, icon="SCENE_DATA", emboss=False)
    button.data_path, button.value = "space_data.context", "SCENE"


def choice(layout, context, settings, name: str, items):
    """A menu, and the sentence of what is chosen in it."""
    named(layout, context, settings, name)
    sentences(layout, context, next(item[2] for item in items if item[0] == getattr(settings, name)))


def panel_width(context) -> float:
    """Width of the region in pixels of an unscaled screen; that of Blender's own layout where there is no window."""
    scale = context.preferences.system.ui_scale or 1.0  # 0 without a window
    return context.region.width / scale if context.region else 400.0


def mapped(layout, context, obj, name: str):
    """A mapped property: its value, or Min and Max; where it comes from; a brush and an eye. Maps add a line.

    In a narrow panel the numbers have a line of their own, on which every digit can be read.
    """
    row_of_table = ROWS[name]
    group = getattr(obj.taffeta_cloth, name)
    label, symbol = translated(row_of_table.label), row_of_table.shown_symbol
    if symbol or (row_of_table.symbol and row_of_table.unit == "NONE"):
        label += f" ({symbol or row_of_table.symbol})"
    column = layout.column(align=True)
    uniform = group.source == "UNIFORM"
    if panel_width(context) < (NARROW_VALUE if uniform else NARROW_RANGE):
        buttons = column.row(align=True)
        buttons.label(text=label)
        _numbers(column.row(align=True), context, group, uniform)
    else:
        buttons = _labelled(column, label)
        _numbers(buttons, context, group, uniform)
    buttons.prop(group, "source", text="", icon_only=True)
    brush = buttons.operator("taffeta.paint", text="", icon="BRUSH_DATA")
    brush.prop = name
    brush.mode = "IMAGE" if group.source == "IMAGE" else "GROUP"
    eye_shown = context.window_manager.taffeta.overlay == name
    eye = buttons.operator("taffeta.overlay", text="", icon="HIDE_OFF" if eye_shown else "HIDE_ON", depress=eye_shown)
    eye.show = name
    if not uniform:
        _map_picker(_labelled(column, ""), obj, group)


def _numbers(fields, context, group, uniform):
    """One value, or Min and Max and what swaps them."""
    if uniform:
        prop(fields, context, group, "value", "")
    else:
        prop(fields, context, group, "minimum", "")
        prop(fields, context, group, "maximum", "")
        fields.prop(group, "invert", text="", icon="ARROW_LEFTRIGHT")


def _labelled(column, text):
    """Blender's split of label and fields, but with room for several fields."""
    split = column.split(factor=0.36, align=True)
    left = split.row()
    left.alignment = "RIGHT"
    left.label(text=text)
    return split.row(align=True)


def _map_picker(row, obj, group):
    """Choose the group, image and UV map, or attribute; a sign where the name is not there (any more)."""
    if group.source == "GROUP":
        _search(row, group, "vertex_group", obj, "vertex_groups", group.vertex_group not in obj.vertex_groups)
    elif group.source == "IMAGE":
        row.prop(group, "image", text="")
        layers = obj.data.uv_layers
        missing = group.uv_map not in layers if group.uv_map else not layers
        _search(row, group, "uv_map", obj.data, "uv_layers", missing or group.image is None)
    else:
        _search(row, group, "attribute", obj.data, "attributes", group.attribute not in obj.data.attributes)


def _search(row, group, name, owner, names, missing):
    """A field to choose a name from a list. Search fields do not turn red, so a sign stands beside it."""
    row.prop_search(group, name, owner, names, text="")
    if missing:
        row.label(text="", icon="ERROR")


def group_search(layout, obj, name: str):
    """A field for one of the object's vertex groups, or none; a sign where that is not there (any more)."""
    group = getattr(obj.taffeta_cloth, name)
    row = layout.row(align=True)
    named(row, bpy.context, obj.taffeta_cloth, name, (obj, "vertex_groups"))
    if group and group not in obj.vertex_groups:
        row.label(text="", icon="ERROR")


def painted_property(obj: bpy.types.Object) -> str:
    """Name of the mapped property whose map is being painted on `obj`, or ""."""
    cloth = obj.taffeta_cloth
    if obj.mode == "WEIGHT_PAINT" and obj.vertex_groups.active is not None:
        active = obj.vertex_groups.active.name
        found = (n for n in ROWS if (g := getattr(cloth, n)).source == "GROUP" and g.vertex_group == active)
    elif obj.mode == "TEXTURE_PAINT":
        canvas = bpy.context.scene.tool_settings.image_paint.canvas
        found = (n for n in ROWS if (g := getattr(cloth, n)).source == "IMAGE" and canvas and g.image == canvas)
    else:
        return ""
    return next(found, "")
