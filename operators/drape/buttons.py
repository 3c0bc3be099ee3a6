# SPDX-License-Identifier: GPL-3.0-or-later
"""The tool's gizmo: buttons at the foot of the 3D view, as its header may be hidden or far away."""

import bpy

from . import session
from .view import View, is_tool

#: operator and icon of each button, from left to right
BUTTONS = ("taffeta.drape_undo", "LOOP_BACK"), ("taffeta.drape_pause", "PAUSE"), ("taffeta.drape_redo", "LOOP_FORWARDS")
GAP, HEIGHT, SIZE = 42.0, 48.0, 16.0  # points: between two, above the edge of the view, radius
REACH = 1.25  # radii from the middle of a button that belong to it


def places(region: bpy.types.Region) -> list[tuple[float, float]]:
    """Pixels of the region where the middle of each button is."""
    unit, middle = bpy.context.preferences.system.ui_scale, 0.5 * (len(BUTTONS) - 1)
    return [(0.5 * region.width + (k - middle) * GAP * unit, HEIGHT * unit) for k in range(len(BUTTONS))]


def holds(view: View) -> bool:
    """Whether the pointer is over a button."""
    reach = REACH * SIZE * bpy.context.preferences.system.ui_scale
    x, y = view.pointer
    return any((x - a) ** 2 + (y - b) ** 2 < reach * reach for a, b in places(view.region))


class TAFFETA_GGT_drape(bpy.types.GizmoGroup):
    """Undo, pause and redo, while cloth is draped"""

    bl_idname = "TAFFETA_GGT_drape"
    bl_label = "Drape"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"PERSISTENT", "SCALE", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context):
        return session.running() is not None and is_tool(context)

    def setup(self, context):
        for operator, icon in BUTTONS:
            button = self.gizmos.new("GIZMO_GT_button_2d")
            button.target_set_operator(operator)
            button.icon, button.scale_basis = icon, SIZE
            button.draw_options = {"BACKDROP", "OUTLINE"}
            button.color, button.alpha = (0.1, 0.1, 0.1), 0.6
            button.color_highlight, button.alpha_highlight = (0.4, 0.4, 0.4), 0.9

    def draw_prepare(self, context):
        paused = context.window_manager.taffeta_drape.speed == session.PAUSE
        for button, (_, icon), (x, y) in zip(self.gizmos, BUTTONS, places(context.region), strict=True):
            button.icon = "PLAY" if icon == "PAUSE" and paused else icon
            button.matrix_basis[0][3], button.matrix_basis[1][3] = x, y
