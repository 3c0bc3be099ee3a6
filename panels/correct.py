# SPDX-License-Identifier: GPL-3.0-or-later
"""What was corrected after a bake: the list, below More; what stands beside the mesh that is sculpted; and
`Object.taffeta_correcting`, which that mesh remembers."""

import bpy
from bpy.props import IntProperty, PointerProperty

from .rows import PhysicsPanel, SubPanel, sentences, settings_layout, why
from .translations import translated


class TaffetaCorrecting(bpy.types.PropertyGroup):
    """What the object that is sculpted knows of its garment."""

    garment: PointerProperty(
        type=bpy.types.Object, name="Garment", description="The garment whose bake this object corrects"
    )
    frame: IntProperty(name="Frame", description="The frame that it shows")
    before: IntProperty(
        name="Fade In",
        default=5,
        min=1,
        max=10_000,
        soft_max=50,
        description="Frames before, within which the correction fades in; 1 shows none of it there",
    )
    after: IntProperty(
        name="Fade Out",
        default=5,
        min=1,
        max=10_000,
        soft_max=50,
        description="Frames after, within which the correction fades out; 1 shows none of it there",
    )


def is_correcting(obj: bpy.types.Object) -> bool:
    """Whether an object was made to be sculpted; its garment may have been deleted since."""
    return obj.taffeta_correcting.is_property_set("frame")


def corrected_by(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The garment that such an object corrects; None where it was deleted, also where Blender keeps it until the file is saved."""
    garment = obj.taffeta_correcting.garment
    return garment if garment is not None and garment.users_scene else None


class TAFFETA_PT_corrections(SubPanel, bpy.types.Panel):
    """What is added to the bake by hand"""

    bl_label = "Corrections"

    def draw(self, context):
        layout = settings_layout(self, context)
        obj = context.object
        layout.operator("taffeta.correct_frame", icon="SCULPTMODE_HLT")
        layout.operator("taffeta.push_out", icon="MOD_SHRINKWRAP")
        layout.operator("taffeta.untangle_frames", icon="MOD_CLOTH")
        smooth = layout.row(align=True)
        smooth.operator("taffeta.smooth_in_time", icon="MOD_TIME")
        smooth.operator("taffeta.smooth_in_space", icon="MOD_SMOOTH")
        found = [
            modifier
            for modifier in obj.modifiers
            if modifier.type == "NODES" and modifier.node_group is not None and "taffeta_frame" in modifier.node_group
        ]
        for index, modifier in enumerate(found):
            tree = modifier.node_group
            row = layout.row(align=True)
            row.prop(modifier, "name", text="")
            is_many = "taffeta_last" in tree
            if not is_many:
                row.label(text=str(tree["taffeta_frame"]))
            row.prop(tree.nodes["Weight"].outputs[0], "default_value", text="")
            if not is_many:
                row.operator("taffeta.correction_fade", text="", icon="IPO_EASE_IN_OUT").index = index
            icon = "HIDE_ON" if tree["taffeta_muted"] else "HIDE_OFF"
            row.operator("taffeta.correction_mute", text="", icon=icon).index = index
            row.operator("taffeta.correction_remove", text="", icon="X").index = index
            if sentence := tree.get("taffeta_unfit", ""):
                sentences(layout, context, sentence, "ERROR")
        if not found:
            why(layout, "Sculpt a baked frame, or work on many")


class TAFFETA_PT_correcting(PhysicsPanel, bpy.types.Panel):
    """What is being sculpted, and what ends that: in the tab where it was begun"""

    bl_label = "Correcting a Bake"

    @classmethod
    def poll(cls, context):
        return context.object is not None and is_correcting(context.object)

    def draw(self, context):
        layout = settings_layout(self, context)
        noted, garment = context.object.taffeta_correcting, corrected_by(context.object)
        if garment is None:
            sentences(layout, context, f"The garment that {context.object.name} corrects was deleted", "ERROR")
        else:
            layout.label(text=translated(f"{garment.name}, frame {noted.frame}"), icon="SCULPTMODE_HLT")
        column = layout.column(align=True)
        column.prop(noted, "before")
        column.prop(noted, "after")
        _ends(layout.row(align=True))


def _ends(row):
    """The buttons that end a correction."""
    row.operator("taffeta.correct_done", text="Done", icon="CHECKMARK")
    row.operator("taffeta.correct_cancel", text="Cancel", icon="X")


def draw_header(self, context):
    """In the 3D view, while a frame is corrected: what ends that, left of all else, where no view is too narrow for it."""
    obj = context.object
    if obj is not None and is_correcting(obj):
        _ends(self.layout.row(align=True))


CLASSES = (TaffetaCorrecting, TAFFETA_PT_corrections, TAFFETA_PT_correcting)


def register():
    """Register the panel, hang the memory on objects, and add to the 3D view's header."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.taffeta_correcting = PointerProperty(type=TaffetaCorrecting)
    bpy.types.VIEW3D_HT_header.prepend(draw_header)


def unregister():
    """Take them off; what a .blend stored in them stays in the file."""
    bpy.types.VIEW3D_HT_header.remove(draw_header)
    del bpy.types.Object.taffeta_correcting
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
