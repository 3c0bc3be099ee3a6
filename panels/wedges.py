# SPDX-License-Identifier: GPL-3.0-or-later
"""Wedges: `Scene.taffeta_wedges`, settings with the values to try, and `WindowManager.taffeta_wedges`, what is baked of them;
their panel below the list of bakes. What is baked, operators list.
"""

import bpy
from bpy.props import BoolProperty, CollectionProperty, IntProperty, StringProperty

from .marks import bearer
from .rows import SubPanel, sentences, settings_layout, why


class TaffetaWedge(bpy.types.PropertyGroup):
    """A setting (its path is `name`, as it was listed) and the values that are to be tried."""

    values: StringProperty(description="Numbers or words with commas between, SI")
    mark: StringProperty(description="That of the object whose setting it is, whatever that is called by now")
    owners: StringProperty(description="What that was called when it was listed, then when it was baked, a line each")

    def owner(self) -> str | None:
        """What the object is called now whose setting it is; None where that is not known, and for the scene."""
        return bearer(self.id_data, self.mark, self.owners.partition("\n")[0])

    def path(self) -> str:
        """The path of the setting, by what its object is called now."""
        now = self.owner()
        return self.name if now is None else now + self.name[len(self.owners.partition("\n")[0]) :]


class TaffetaBakedWedge(bpy.types.PropertyGroup):
    """A wedge that lies on the disk (`name`)."""

    settings: StringProperty(description="What it sets")
    figures: StringProperty(description="Time, stretch, roughness, crossings")
    frame_count: IntProperty()
    plays: BoolProperty(description="The garments play it now")


class TAFFETA_PT_wedges(SubPanel, bpy.types.Panel):
    """Settings with several values: each combination is baked beside the shot, to compare"""

    bl_label = "Wedges"
    bl_parent_id = "TAFFETA_PT_bakes"

    def draw(self, context):
        layout = settings_layout(self, context)
        asked = context.scene.taffeta_wedges
        for index, entry in enumerate(asked):
            row = layout.row(align=True)
            row.label(text=entry.path(), icon="PRESET")
            row.label(text=entry.values)
            row.operator("taffeta.wedge_remove", text="", icon="X").index = index
        row = layout.row(align=True)
        row.operator("taffeta.wedge_add", icon="ADD")
        bake = row.row(align=True)
        bake.enabled = len(asked) > 0
        bake.operator("taffeta.wedges_bake", icon="RENDER_ANIMATION")
        row.operator("taffeta.wedges_list", text="", icon="FILE_REFRESH")
        if not asked:
            why(layout, "A wedge is a setting and the values to try")
        for item in context.window_manager.taffeta_wedges:
            box = layout.box().column(align=True)
            row = box.row(align=True)
            row.label(text=item.settings, icon="RADIOBUT_ON" if item.plays else "RADIOBUT_OFF")
            row.operator("taffeta.wedge_adopt", text="Adopt").wedge = item.name
            column = box.column(align=True)
            column.active = False
            sentences(column, context, item.figures)


CLASSES = (TaffetaWedge, TaffetaBakedWedge, TAFFETA_PT_wedges)


def register():
    """Register the panel and hang the lists where they belong."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Scene.taffeta_wedges = CollectionProperty(type=TaffetaWedge)
    bpy.types.WindowManager.taffeta_wedges = CollectionProperty(type=TaffetaBakedWedge, options={"SKIP_SAVE"})


def unregister():
    """Take them off; what a .blend stored in them stays in the file."""
    del bpy.types.WindowManager.taffeta_wedges
    del bpy.types.Scene.taffeta_wedges
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
