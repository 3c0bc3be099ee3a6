# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake, pressed in a window, asks first where the list has errors, or warnings of which the bake would be in vain."""

import bpy

from ...panels.translations import translated
from .problem import Problem
from .problem_list import hold_ups, show

ICONS = {"ERROR": "ERROR", "WARNING": "QUESTION"}
MOST_SHOWN = 6  # problems in the menu; the panel lists all


def asks(context: bpy.types.Context, options: dict) -> bool:
    """Whether something holds the bake up; then a menu with a button a fault, and Bake Anyway, is shown.

    options : of `taffeta.bake`, as it was pressed.
    """
    found = hold_ups(context.scene)
    if not found:
        return False
    show(context.scene)
    context.window_manager.popup_menu(
        lambda menu, _: draw(menu.layout, found, options), title=translated("Before Baking"), icon="ERROR"
    )
    return True


def draw(layout: bpy.types.UILayout, found: list[Problem], options: dict) -> None:
    """A line a fault with the buttons that mend it, and Bake Anyway."""
    for problem in found[:MOST_SHOWN]:
        layout.label(text=translated(problem.sentence), icon=ICONS[problem.severity])
        for verb in problem.verbs:
            layout.operator(verb).object = problem.object
    if len(found) > MOST_SHOWN:
        layout.label(text=translated(f"and {len(found) - MOST_SHOWN} more, in the Preflight panel"))
    layout.separator()
    button = layout.operator("taffeta.bake", text="Bake Anyway", icon="RENDER_ANIMATION")
    button.anyway = True
    for name, value in options.items():
        setattr(button, name, value)
