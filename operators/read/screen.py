# SPDX-License-Identifier: GPL-3.0-or-later
"""What is on the screen: its mode, the first 3D view, what an operator says, and editors that are to be drawn anew."""

import bpy

from ...panels.translations import translated
from ...solver.cache.files import in_words


class InObjectMode:
    """What operators are that work in Object Mode alone: in others Blender's data is not what is shown."""

    @classmethod
    def poll(cls, context):
        """Say why not."""
        if context.mode != "OBJECT":
            cls.poll_message_set("Switch to Object Mode first")
            return False
        return True


def words_of(error: Exception) -> str:
    """What an error says, also one of Blender's operators: a RuntimeError with what they have reported."""
    return in_words(error).removeprefix("Error: ").strip()


def refused(operator: bpy.types.Operator, error: Exception) -> set[str]:
    """Say why an operator has not done what was asked for; returns what its `execute` then returns."""
    operator.report({"ERROR"}, translated(words_of(error)))
    return {"CANCELLED"}


def view3d(context: bpy.types.Context) -> tuple[bpy.types.Area, bpy.types.Region] | None:
    """The first 3D view of the window and its main region; None where there is none, as without a window."""
    areas = getattr(context.screen, "areas", ())
    area = next((area for area in areas if area.type == "VIEW_3D"), None)
    return area and (area, next(region for region in area.regions if region.type == "WINDOW"))


def redraw(context: bpy.types.Context, *kinds: str) -> None:
    """Have all editors of these kinds drawn anew, in all windows, or all editors."""
    for area in (area for window in context.window_manager.windows for area in window.screen.areas):
        if not kinds or area.type in kinds:
            area.tag_redraw()
