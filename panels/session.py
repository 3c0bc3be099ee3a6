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
    selects: StringProperty(description="Which vertices taffeta.select_problem can show that it is about; empty for none")
    verbs: StringProperty(description="Operators that help, which take the object's name, with blanks between")


class TaffetaNote(bpy.types.PropertyGroup):
    """Something to say of a garment (its name)."""

    sentence: StringProperty()
    fabric: StringProperty(description="Name of what the garment is made of, and whether it was changed; empty if it is of no known one")
    verbs: StringProperty(description="As those of a problem")
    frame_start: IntProperty(description="The first frame of its bake that is on the disk")
    frame_count: IntProperty(description="Frames of its bake that are on the disk")


class TaffetaBake(bpy.types.PropertyGroup):
    """A bake that lies on the disk: of a garment (its name), or in the trash."""

    garment: StringProperty(description="Whose list it stands in; empty in the trash")
    label: StringProperty()
    about: StringProperty(description="When it was made, the digest of its settings, the room it takes")
    note: StringProperty()
    changed: StringProperty(description="What of the scene is another now than it was made of; empty if nothing is")
    is_of_another_release: BoolProperty(description="Another release of Taffeta has baked it")
    restorable: BoolProperty(description="The settings that it was made of lie beside it")
    path: StringProperty(description="Its .pc2 file")
    frame_start: IntProperty()
    frame_count: IntProperty()
    plays: BoolProperty(description="The garment shows it now")
    fits: BoolProperty(description="It is of a mesh with as many vertices")
    maker: StringProperty(description="The other .blend that it is of; empty if it is of this one")


class TaffetaSession(bpy.types.PropertyGroup):
    """The state of the window; nothing of it is saved."""

    baking: BoolProperty(description="A bake is running")
    live: BoolProperty(description="The cloth is simulated while the timeline plays")
    draping: BoolProperty(description="The cloth is simulated at a stopped frame, to be arranged by hand")
    live_end: EnumProperty(
        name="At the End",
        items=(
            ("ANEW", "Begin Anew", "At the end of the timeline the cloth begins anew, from its own pose at the start"),
            ("GO_ON", "Go On", "At the end of the timeline the cloth goes on with the folds that it has: for a body that "
             "stands still, or whose last frame leads to its first"),
        ),
        description="What cloth that is played live does when the timeline goes from its end to its start",
    )
    progress: FloatProperty(subtype="FACTOR", min=0.0, max=1.0, description="Share of the running bake that is done")
    status: StringProperty(description="What the running bake does and how long it will take")
    problems: CollectionProperty(type=TaffetaProblem)
    bakes: CollectionProperty(type=TaffetaBake, description="What lies on the disk for each garment, and in the trash")
    trash: StringProperty(description="The room that the trash takes")
    fabrics: CollectionProperty(type=TaffetaNote, description="What garments are made of, and for which meshes that holds")
    checked: BoolProperty(description="The preflight list has been made at least once")
    overlay: EnumProperty(
        name="Overlay", default="NONE",
        items=(
            ("NONE", "None", "No overlay", 0),
            *((row.name, row.label, f"Show {row.label.lower()} on the garment", i + 1) for i, row in enumerate(TABLE)),
            ("STRETCH", "Current Stretch", "How far the cloth is stretched or compressed now, against its rest lengths: at "
             "each point the strain of largest size in any direction, from -10 % to 10 %", 64),
        ),
    )
# fmt: on


CLASSES = (TaffetaProblem, TaffetaNote, TaffetaBake, TaffetaSession)


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
