# SPDX-License-Identifier: GPL-3.0-or-later
"""3D view's header: the Taffeta popover, what the viewport shows of cloth; nothing of it is saved.

`WindowManager.taffeta_show` holds its switches, the overlay (`operators/overlay`) reads them.
"""

import bpy
from bpy.props import BoolProperty, PointerProperty

from .mapped import ROWS
from .translations import translated


def _look_again(_group, context):
    """Have Blender evaluate, so that the overlay's handlers look."""
    if context.scene is not None:
        context.scene.update_tag()


# fmt: off
class TaffetaShow(bpy.types.PropertyGroup):
    """What of the cloth is drawn over the viewport."""

    pins: BoolProperty(
        name="Pins", update=_look_again,
        description="Points where the cloth is held: large and green where it follows its animation, smaller where it is "
        "pulled towards it",
    )
    seams: BoolProperty(
        name="Seams", update=_look_again,
        description="Threads that sew, orange while their seam gapes by more than the cloth is thick, and edges that are "
        "marked as seams",
    )
    pleats: BoolProperty(
        name="Pleats", update=_look_again,
        description="Edges that are pleats: bright where they stand out on the side of the normals, dark where on the other",
    )
    elastic: BoolProperty(
        name="Elastic", update=_look_again,
        description="Edges onto which elastic is sewn: orange where they are drawn in, bright where the cloth is drawn flat",
    )
    thickness: BoolProperty(
        name="Thickness", update=_look_again,
        description="A shell on both sides of the cloth, half of Thickness away: where two shells meet, layers touch",
    )
    aura: BoolProperty(
        name="Aura of Bodies", update=_look_again,
        description="The shell around each Taffeta Collider that cloth is kept out of",
    )
    contacts: BoolProperty(
        name="Contacts and Pinches", update=_look_again,
        description="Points of the cloth that touch something now: blue a body, within the aura and half of Thickness, yellow cloth, within "
        "half of both Thicknesses; red: points that bodies pinched between them at some time of the bake",
    )
    frames: BoolProperty(
        name="Baked Frames in Timeline", default=True, update=_look_again,
        description="A bar at the foot of the timeline over the frames that are kept: above the active garment's, below "
        "those that all garments have",
    )
# fmt: on


class TAFFETA_PT_show(bpy.types.Panel):
    """What the viewport shows of cloth"""

    bl_label = "Taffeta"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_ui_units_x = 12

    def draw(self, context):
        layout, show = self.layout, context.window_manager.taffeta_show
        shown = context.window_manager.taffeta.overlay
        layout.label(text="Colours on the cloth")
        row = layout.row(align=True)
        stretch = row.operator("taffeta.overlay", text="Stretch and Compression", depress=shown == "STRETCH")
        stretch.show = "STRETCH"
        row = layout.row(align=True)
        label = f"{translated('Map')}: {translated(ROWS[shown].label)}" if shown in ROWS else "Map"
        row.operator_menu_enum("taffeta.overlay", "show", text=label)
        if shown != "NONE":
            row.operator("taffeta.overlay", text="", icon="X").show = shown
            layout.label(text="While another map is painted: as lines", icon="INFO")
        layout.separator()
        layout.label(text="Marks")
        column = layout.column(align=True)
        for name in ("pins", "seams", "pleats", "elastic", "thickness", "aura", "contacts"):
            column.prop(show, name)
        layout.separator()
        layout.prop(show, "frames")


def header_button(self, context):
    """The popover's button beside the menus, which narrow views show too, where a scene has cloth: notes say so at once,
    however many objects there are."""
    if context.window_manager.taffeta.fabrics:
        self.layout.popover("TAFFETA_PT_show", text="Taffeta", icon="MATCLOTH")


def register():
    """Register the switches, and put the popover into the header."""
    bpy.utils.register_class(TaffetaShow)
    bpy.utils.register_class(TAFFETA_PT_show)
    bpy.types.WindowManager.taffeta_show = PointerProperty(type=TaffetaShow, options={"SKIP_SAVE"})
    bpy.types.VIEW3D_MT_editor_menus.append(header_button)


def unregister():
    """Undo `register`."""
    bpy.types.VIEW3D_MT_editor_menus.remove(header_button)
    del bpy.types.WindowManager.taffeta_show
    bpy.utils.unregister_class(TAFFETA_PT_show)
    bpy.utils.unregister_class(TaffetaShow)
