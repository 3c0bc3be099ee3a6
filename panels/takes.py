# SPDX-License-Identifier: GPL-3.0-or-later
"""`Scene.taffeta_takes`: takes that wait to be baked one after another, and their panel below the list of bakes."""

import bpy
from bpy.props import CollectionProperty, IntProperty, StringProperty

from .rows import SubPanel, sentences, settings_layout, why


class TaffetaTakeOf(bpy.types.PropertyGroup):
    """A garment or collider whose settings a take has, by the name that it had (`name`)."""

    mark: StringProperty(description="The mark that it bears, whatever it is called by now")


class TaffetaTake(bpy.types.PropertyGroup):
    """The settings of a scene and its garments under a name (`name`)."""

    settings: StringProperty(description="All settings of Taffeta, painted maps, and the frame range, as JSON")
    members: CollectionProperty(type=TaffetaTakeOf, description="Whose settings they are")
    frame_start: IntProperty(description="First frame")
    frame_end: IntProperty(description="Last frame")
    outcome: StringProperty(description="What became of it when it was baked last")


class TAFFETA_PT_takes(SubPanel, bpy.types.Panel):
    """What is to be baked one after another, as over night"""

    bl_label = "Queue"
    bl_parent_id = "TAFFETA_PT_bakes"

    def draw(self, context):
        layout = settings_layout(self, context)
        takes = context.scene.taffeta_takes
        for index, take in enumerate(takes):
            row = layout.row(align=True)
            row.label(text=take.name, icon="SEQUENCE", translate=False)
            row.label(text=f"{take.frame_start} – {take.frame_end}")
            row.operator("taffeta.take_show", text="", icon="HIDE_OFF").index = index
            row.operator("taffeta.take_remove", text="", icon="X").index = index
            if take.outcome:
                sentences(layout, context, take.outcome, "INFO")
        row = layout.row(align=True)
        row.operator("taffeta.take_add", icon="ADD")
        bake = row.row(align=True)
        bake.enabled = len(takes) > 0
        bake.operator("taffeta.takes_bake", icon="RENDER_ANIMATION")
        if not takes:
            why(layout, "A take is all settings as they are now, under a name")


CLASSES = (TaffetaTakeOf, TaffetaTake, TAFFETA_PT_takes)


def register():
    """Register the panel, and hang the takes on scenes."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Scene.taffeta_takes = CollectionProperty(type=TaffetaTake)


def unregister():
    """Take them off; what a .blend stored in them stays in the file."""
    del bpy.types.Scene.taffeta_takes
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
