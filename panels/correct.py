# SPDX-License-Identifier: GPL-3.0-or-later
"""What was corrected after a bake: the list, below More; what stands above the mesh that is sculpted; and
`Object.taffeta_correcting`, which that mesh remembers."""

import bpy
from bpy.props import IntProperty, PointerProperty

from .rows import SubPanel, sentences, settings_layout, why


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


class TAFFETA_PT_corrections(SubPanel, bpy.types.Panel):
    """What is added to the bake by hand"""

    bl_label = "Corrections"

    def draw(self, context):
        layout = settings_layout(self, context)
        obj = context.object
        layout.operator("taffeta.correct_frame", icon="SCULPTMODE_HLT")
        found = [
            modifier
            for modifier in obj.modifiers
            if modifier.type == "NODES" and modifier.node_group is not None and "taffeta_frame" in modifier.node_group
        ]
        for index, modifier in enumerate(found):
            tree = modifier.node_group
            row = layout.row(align=True)
            row.prop(modifier, "name", text="")
            row.label(text=str(tree["taffeta_frame"]))
            row.prop(tree.nodes["Weight"].outputs[0], "default_value", text="")
            row.operator("taffeta.correction_fade", text="", icon="IPO_EASE_IN_OUT").index = index
            icon = "HIDE_ON" if tree["taffeta_muted"] else "HIDE_OFF"
            row.operator("taffeta.correction_mute", text="", icon=icon).index = index
            row.operator("taffeta.correction_remove", text="", icon="X").index = index
            if tree["taffeta_vertices"] != len(obj.data.vertices):
                made, now = tree["taffeta_vertices"], len(obj.data.vertices)
                sentences(layout, context, f"Made for {made} vertices, the mesh has {now}: it is left out", "ERROR")
        if not found:
            why(layout, "Go to a baked frame that is to look different")


def draw_header(self, context):
    """In the 3D view, while a frame is corrected: what ends that."""
    obj = context.object
    if obj is None or obj.taffeta_correcting.garment is None:
        return
    noted = obj.taffeta_correcting
    row = self.layout.row(align=True)
    row.label(text=f"{noted.garment.name}, frame {noted.frame}", icon="SCULPTMODE_HLT")
    row.prop(noted, "before")
    row.prop(noted, "after")
    row.operator("taffeta.correct_done", icon="CHECKMARK")
    row.operator("taffeta.correct_cancel", icon="X")


CLASSES = (TaffetaCorrecting, TAFFETA_PT_corrections)


def register():
    """Register the panel, hang the memory on objects, and add to the 3D view's header."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.taffeta_correcting = PointerProperty(type=TaffetaCorrecting)
    bpy.types.VIEW3D_HT_header.append(draw_header)


def unregister():
    """Take them off; what a .blend stored in them stays in the file."""
    bpy.types.VIEW3D_HT_header.remove(draw_header)
    del bpy.types.Object.taffeta_correcting
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
