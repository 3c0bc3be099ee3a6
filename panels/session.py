# SPDX-License-Identifier: GPL-3.0-or-later
"""`WindowManager.taffeta`: what lives as long as the window and is never saved. Operators write it, panels read it.

A running bake sets `baking`, `progress` and `status`; the preflight fills `problems`; `overlay` names what is drawn.
"""

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from .mapped import TABLE


# fmt: off
class TaffetaProblem(bpy.types.PropertyGroup):
    """One line of the preflight list."""

    severity: EnumProperty(
        items=(("ERROR", "Error", "The bake would not start"), ("WARNING", "Warning", "Doubtful"),
               ("INFO", "Note", "Good to know")),
    )
    object_name: StringProperty()
    sentence: StringProperty()
    remedy: StringProperty()
    selectable: BoolProperty(description="taffeta.select_problem can show the vertices that it is about")
    verbs: StringProperty(description="Operators that help, which take the object's name, with blanks between")


class TaffetaNote(bpy.types.PropertyGroup):
    """Something to say of a garment (its name)."""

    sentence: StringProperty()
    verbs: StringProperty(description="As those of a problem")
    fabric: StringProperty(description="The name of its fabric alone; empty if it is of none that is known")
    frame_count: IntProperty(description="Frames of its bake that are on the disk")


class TaffetaSession(bpy.types.PropertyGroup):
    """The state of the window; nothing of it is saved."""

    baking: BoolProperty(description="A bake is running")
    live: BoolProperty(description="The cloth is simulated while the timeline plays")
    progress: FloatProperty(subtype="FACTOR", min=0.0, max=1.0, description="Share of the running bake that is done")
    status: StringProperty(description="What the running bake does and how long it will take")
    problems: CollectionProperty(type=TaffetaProblem)
    older: CollectionProperty(type=TaffetaNote, description="Bakes that were set aside, and the room they take")
    fabrics: CollectionProperty(type=TaffetaNote, description="What garments are made of, and for which meshes that holds")
    checked: BoolProperty(description="The preflight list has been made at least once")
    overlay: EnumProperty(
        name="Overlay", default="NONE",
        items=(
            ("NONE", "None", "No overlay", 0),
            *((row.name, row.label, f"Show {row.label.lower()} on the garment", i + 1) for i, row in enumerate(TABLE)),
            ("STRETCH", "Current Stretch", "Show how far the cloth is stretched now, against its rest lengths", 64),
        ),
    )
# fmt: on


CLASSES = (TaffetaProblem, TaffetaNote, TaffetaSession)


def register():
    """Register the session's state and hang it on the window manager."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.WindowManager.taffeta = PointerProperty(type=TaffetaSession, options={"SKIP_SAVE"})


def unregister():
    """Take it off again."""
    del bpy.types.WindowManager.taffeta
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
