# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics tab: the button that adds Taffeta, and the Taffeta Cloth panel: what every garment needs; the rest below More."""

import bpy

from .fabric import draw_picker
from .rows import NARROW_VALUE, PhysicsPanel, mapped, named, panel_width, scene_settings, settings_layout

# What an animator asks of a fabric first; `more` has the rest.
FABRIC_AT_FIRST = "mass", "stretch_stiffness", "bending_stiffness", "thickness"


def add_buttons(self, context):
    """Rows below Blender's own physics buttons."""
    obj = context.object
    if obj is None or obj.type != "MESH":
        return
    row = self.layout.row(align=True)
    narrow = panel_width(context) < NARROW_VALUE  # there words need the room of icons, and what is on looks pressed
    for settings, label, verb, icon in (
        (obj.taffeta_cloth, "Taffeta Cloth", "cloth", "MOD_CLOTH"),
        (obj.taffeta_collider, "Taffeta Collider", "collider", "MOD_PHYSICS"),
    ):
        is_on = settings.enabled
        icon = "NONE" if narrow else "X" if is_on else icon
        row.operator(f"taffeta.{verb}_{'remove' if is_on else 'add'}", text=label, icon=icon, depress=narrow and is_on)
    if not obj.taffeta_cloth.enabled:  # else below the bar, which this would move
        _convert_button(self.layout)


def _convert_button(layout):
    """Where Blender's own cloth moves the mesh."""
    if bpy.ops.taffeta.convert.poll():
        layout.operator("taffeta.convert", icon="MOD_CLOTH")


class TAFFETA_PT_cloth(PhysicsPanel, bpy.types.Panel):
    """The garment's main panel"""

    bl_label = "Taffeta Cloth"

    def draw(self, context):
        _convert_button(self.layout)


class TAFFETA_PT_cloth_pins(PhysicsPanel, bpy.types.Panel):
    """Where the garment follows its own animation"""

    bl_label = "Pins"  # before the fabric, which the bar names and changes: a low window shows no more than one of them
    bl_parent_id = "TAFFETA_PT_cloth"

    def draw(self, context):
        layout = settings_layout(self, context)
        mapped(layout, context, context.object, "pin")
        mapped(layout, context, context.object, "pin_distance")


class TAFFETA_PT_cloth_fabric(PhysicsPanel, bpy.types.Panel):
    """What the garment is made of"""

    bl_label = "Fabric"
    bl_parent_id = "TAFFETA_PT_cloth"

    def draw(self, context):
        layout = settings_layout(self, context)
        draw_picker(layout, context)
        for name in FABRIC_AT_FIRST:
            mapped(layout, context, context.object, name)


class TAFFETA_PT_cloth_collision(PhysicsPanel, bpy.types.Panel):
    """What the garment collides with"""

    bl_label = "Collision"
    bl_parent_id = "TAFFETA_PT_cloth"

    def draw(self, context):
        layout = settings_layout(self, context)
        layout.prop(context.object.taffeta_cloth, "self_collision")
        scene_settings(layout, "Steps, wind, colliders: Scene tab")


class TAFFETA_PT_more(PhysicsPanel, bpy.types.Panel):
    """What many shots do without"""

    bl_label = "More"
    bl_parent_id = "TAFFETA_PT_cloth"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout = settings_layout(self, context)
        obj = context.object
        named(layout, context, obj.taffeta_cloth, "uv_map", (obj.data, "uv_layers"), icon="GROUP_UVS")


CLASSES = (
    TAFFETA_PT_cloth,
    TAFFETA_PT_cloth_pins,
    TAFFETA_PT_cloth_fabric,
    TAFFETA_PT_cloth_collision,
    TAFFETA_PT_more,
)
_register, _unregister = bpy.utils.register_classes_factory(CLASSES)


def register():
    """Register the panels and put the buttons among Blender's physics buttons."""
    _register()
    bpy.types.PHYSICS_PT_add.append(add_buttons)


def unregister():
    """Undo `register`."""
    bpy.types.PHYSICS_PT_add.remove(add_buttons)
    _unregister()
