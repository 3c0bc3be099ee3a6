# SPDX-License-Identifier: GPL-3.0-or-later
"""The Drape tool of the 3D view: its place in the toolbar, its keys, what its header shows, and its settings.

`WindowManager.taffeta_drape` holds the settings, `operators/drape_cloth` reads them; nothing of it is saved.
"""

import bpy
from bpy.props import EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

TOOL = "taffeta.drape"
PREFIX = "window_manager.taffeta_drape."
KEEPS = ("KEY", "Start Pose"), ("REST", "Rest Shape"), ("FURTHER", "Shape Key")
SEGMENTS = 48  # of the circle at the pointer
WHITE = 1.0, 1.0, 1.0, 0.8


# fmt: off
class TaffetaDrape(bpy.types.PropertyGroup):
    """How the hand that drapes is set."""

    radius: IntProperty(
        name="Radius", default=60, min=1, max=2000, soft_max=500, subtype="PIXEL",
        description="How far from the pointer cloth is taken hold of, on the screen: half as firmly at about half of that. F changes it",
    )
    strength: FloatProperty(
        name="Strength", default=1.0, min=0.01, max=4.0, soft_min=0.1, soft_max=2.0, subtype="FACTOR",
        description="How stiffly cloth is pulled, a pure number: at 1, what hangs from the hand sags by 2.5 cm. Never by more than "
        "ten times its weight. Shift F changes it",
    )
    speed: EnumProperty(
        name="Time", default="FULL",
        items=(
            ("PAUSE", "Pause", "Time stands still", "PAUSE", 0),
            ("FREEZE", "Freeze", "Nothing falls, swings or blows: cloth is moved by the hand alone", "FREEZE", 1),
            ("HALF", "Half", "Half as fast, and more careful", "PREV_KEYFRAME", 2),
            ("FULL", "Full", "Each step is half of a frame", "PLAY", 3),
        ),
        description="How time goes for the cloth. Space changes between Pause and what was before",
    )
    before: StringProperty(default="FULL", description="How time goes on after a pause")
# fmt: on


class TaffetaDrapeTool(bpy.types.WorkSpaceTool):
    """Drape cloth by hand while it is simulated, at the frame that is shown.
    • Drag pulls cloth.
    • Shift drag pins it where it is, Ctrl drag takes such pins off.
    • Alt drag smooths it.
    • Ctrl Z steps back through that, Space stops time, Esc leaves all as it was"""

    bl_space_type = "VIEW_3D"
    bl_context_mode = "OBJECT"
    bl_idname = TOOL
    bl_label = "Drape"
    bl_description = __doc__
    bl_icon = "ops.sculpt.cloth_filter"
    bl_cursor = "DEFAULT"
    bl_widget = "TAFFETA_GGT_drape"
    bl_keymap = (
        ("taffeta.drape", {"type": "LEFTMOUSE", "value": "PRESS", "any": True}, None),
        ("wm.radial_control", {"type": "F", "value": "PRESS"}, {"properties": [("data_path_primary", PREFIX + "radius")]}),
        (
            "wm.radial_control",
            {"type": "F", "value": "PRESS", "shift": True},
            {"properties": [("data_path_primary", PREFIX + "strength")]},
        ),
    )  # fmt: skip

    @staticmethod
    def draw_settings(context, layout, tool, extra=False):
        draw_header(context, layout)

    @staticmethod
    def draw_cursor(context, tool, xy):
        from gpu_extras.presets import draw_circle_2d

        draw_circle_2d(xy, WHITE, context.window_manager.taffeta_drape.radius, segments=SEGMENTS)


def draw_header(context, layout):
    """The hand, time, and what may become of the cloth."""
    drape, runs = context.window_manager.taffeta_drape, context.window_manager.taffeta.draping
    layout.prop(drape, "radius")
    layout.prop(drape, "strength", slider=True)
    row = layout.row(align=True)
    row.prop(drape, "speed", expand=True, icon_only=True)
    if not runs:
        layout.operator("taffeta.drape", text="Begin", icon="PLAY")
        return
    row = layout.row(align=True)
    row.operator("taffeta.drape_undo", text="", icon="LOOP_BACK")
    row.operator("taffeta.drape_redo", text="", icon="LOOP_FORWARDS")
    row = layout.row(align=True)
    row.label(text="Keep:")
    for result, text in KEEPS:
        row.operator("taffeta.drape_keep", text=text).result = result
    layout.operator("taffeta.stop", text="", icon="X")


def register():
    """Register the settings and the tool, which stands last in the toolbar of Object Mode."""
    bpy.utils.register_class(TaffetaDrape)
    bpy.types.WindowManager.taffeta_drape = PointerProperty(type=TaffetaDrape, options={"SKIP_SAVE"})
    bpy.utils.register_tool(TaffetaDrapeTool, separator=True)


def unregister():
    """Undo `register`."""
    bpy.utils.unregister_tool(TaffetaDrapeTool)
    del bpy.types.WindowManager.taffeta_drape
    bpy.utils.unregister_class(TaffetaDrape)
