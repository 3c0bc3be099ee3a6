# SPDX-License-Identifier: GPL-3.0-or-later
"""Show Values: the overlay on and off."""

import bpy

from ..panels.mapped import MAPPED, ROWS
from ..panels.translations import translated
from .overlay import draw_marks
from .overlay.draw import draw_legend, draw_pictures, forget
from .overlay.pictures import drawn, forget_values, refresh

STRETCH_TOLD = (
    "How far the cloth is stretched (orange) or compressed (blue) now, from -10 % to 10 %: at each point the strain of largest "
    "size in any direction, against its rest lengths. Again hides it"
)
_draw_handlers: list = []


class TAFFETA_OT_overlay(bpy.types.Operator):
    """Show the values on the garment in the viewport; again hides them"""

    bl_idname = "taffeta.overlay"
    bl_label = "Show Values on Cloth"

    show: bpy.props.EnumProperty(
        name="Show",
        items=(
            ("NONE", "None", "Nothing"),
            *((name, ROWS[name].label, f"Values of {ROWS[name].label}") for name in MAPPED),
            ("STRETCH", "Current Stretch", STRETCH_TOLD),
        ),
        default="STRETCH",
    )

    @classmethod
    def description(cls, _context, properties):
        """What the button shows, where its tooltip can say more than that it shows something."""
        return STRETCH_TOLD if properties.show == "STRETCH" else ""

    def execute(self, context):
        session = context.window_manager.taffeta
        session.overlay = "NONE" if session.overlay == self.show else self.show
        forget_values()
        refresh(context)
        _, legend = drawn()
        for sentence in legend.troubles if legend else ():
            self.report({"WARNING"}, translated(sentence))
        return {"FINISHED"}


def register():
    """Add the operator and the drawing."""
    bpy.utils.register_class(TAFFETA_OT_overlay)
    add = bpy.types.SpaceView3D.draw_handler_add
    _draw_handlers.append(add(draw_pictures, (), "WINDOW", "POST_VIEW"))
    _draw_handlers.append(add(draw_marks.draw_marks, (), "WINDOW", "POST_VIEW"))
    _draw_handlers.append(add(draw_legend, (), "WINDOW", "POST_PIXEL"))


def unregister():
    """Take them out again."""
    for handler in reversed(_draw_handlers):
        bpy.types.SpaceView3D.draw_handler_remove(handler, "WINDOW")
    _draw_handlers.clear()
    forget()
    draw_marks.forget()
    bpy.utils.unregister_class(TAFFETA_OT_overlay)
