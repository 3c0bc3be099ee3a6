# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics tab: the button that adds Taffeta, the Taffeta Cloth panel, and what belongs to one garment."""

import bpy

from .fabric import TAFFETA_PT_fabric_presets, draw_picker
from .mapped import FABRIC, ROWS, THREADS
from .rows import PhysicsPanel, group_search, mapped, painted_property, prop, sentences, settings_layout, why


def add_buttons(self, context):
    """Rows below Blender's own physics buttons."""
    obj = context.object
    if obj is None or obj.type != "MESH":
        return
    row = self.layout.row(align=True)
    for settings, label, verb, icon in (
        (obj.taffeta_cloth, "Taffeta Cloth", "cloth", "MOD_CLOTH"),
        (obj.taffeta_collider, "Taffeta Collider", "collider", "MOD_PHYSICS"),
    ):
        action = "remove" if settings.enabled else "add"
        row.operator(f"taffeta.{verb}_{action}", text=label, icon="X" if settings.enabled else icon)
    if bpy.ops.taffeta.convert.poll():
        self.layout.operator("taffeta.convert", icon="MOD_CLOTH")


class TAFFETA_PT_cloth(PhysicsPanel, bpy.types.Panel):
    """The garment's main panel"""

    bl_label = "Taffeta Cloth"

    def draw_header_preset(self, context):
        TAFFETA_PT_fabric_presets.draw_panel_header(self.layout)

    def draw(self, context):
        layout = settings_layout(self, context)
        obj = context.object
        cloth = obj.taffeta_cloth
        if painting := painted_property(obj):
            row = layout.row()
            row.label(text=f"Painting {ROWS[painting].label}", icon="BRUSH_DATA")
            row.operator("taffeta.paint_done", text="Done", icon="CHECKMARK")
        if context.window_manager.taffeta.baking:
            why(layout, "A bake is running: settings are locked until it ends")
        doubts = [p.severity for p in context.window_manager.taffeta.problems if p.severity != "INFO"]
        if doubts:
            worst = "CANCEL" if "ERROR" in doubts else "ERROR"
            layout.label(text=f"{len(doubts)} to look at before you bake: see Preflight", icon=worst)
        layout.prop(cloth, "quality", expand=True)
        layout.prop_search(cloth, "uv_map", obj.data, "uv_layers", icon="GROUP_UVS")
        layout.prop(cloth, "layer")


class TAFFETA_PT_cloth_fabric(PhysicsPanel, bpy.types.Panel):
    """What the garment is made of"""

    bl_label = "Fabric"
    bl_parent_id = "TAFFETA_PT_cloth"

    def draw(self, context):
        layout = settings_layout(self, context)
        draw_picker(layout, context)
        if note := context.window_manager.taffeta.fabrics.get(context.object.name):
            sentences(layout, context, note.sentence, "MATCLOTH")
            for verb in note.verbs.split():
                layout.operator(verb).object = note.name
        layout.prop(context.object.taffeta_cloth, "model")
        for name in FABRIC:
            mapped(layout, context, context.object, name)
        cloth = context.object.taffeta_cloth
        has_threads = cloth.model != "SPRINGS"
        active = {"poisson": cloth.model == "MEMBRANE", "stiffening": cloth.strain_limit > 0.0}
        for name in THREADS:
            row = layout.row()
            row.enabled = has_threads or name in ("strain_limit", "stiffening")
            row.active = active.get(name, True)
            row.prop(cloth, name)
        if cloth.model != "MEMBRANE":
            why(layout, "Poisson's ratio is of Membrane" if has_threads else "Springs know no warp and weft")
        session = context.window_manager.taffeta
        stretch = session.overlay == "STRETCH"
        button = layout.operator(
            "taffeta.overlay", text="Show Current Stretch", icon="HIDE_OFF" if stretch else "HIDE_ON", depress=stretch
        )
        button.show = "STRETCH"


class TAFFETA_PT_cloth_pins(PhysicsPanel, bpy.types.Panel):
    """Where the garment follows its own animation"""

    bl_label = "Pins"
    bl_parent_id = "TAFFETA_PT_cloth"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout = settings_layout(self, context)
        cloth = context.object.taffeta_cloth
        mapped(layout, context, context.object, "pin")
        mapped(layout, context, context.object, "pin_distance")
        row = layout.row()
        soft = cloth.pin.source != "UNIFORM" or 0.0 < cloth.pin.value < 1.0
        row.active = soft
        row.prop(context.scene.taffeta, "pin_rate", text="Soft Pin Rate (1/s)")
        if not soft:
            why(layout, "The rate is for pins between 0 and 1")


class TAFFETA_PT_cloth_sewing(PhysicsPanel, bpy.types.Panel):
    """How the garment is made from its mesh"""

    bl_label = "Sewing and Size"
    bl_parent_id = "TAFFETA_PT_cloth"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout = settings_layout(self, context)
        cloth = context.object.taffeta_cloth
        mapped(layout, context, context.object, "shrink")
        layout.prop(cloth, "sewing")
        column = layout.column()
        column.enabled = cloth.sewing
        column.prop(cloth, "sewing_time")
        column.prop(cloth, "sewing_force")
        if not cloth.sewing:
            why(layout, "Edges without a face keep their length")


class TAFFETA_PT_cloth_collision(PhysicsPanel, bpy.types.Panel):
    """What the garment collides with"""

    bl_label = "Collision"
    bl_parent_id = "TAFFETA_PT_cloth"

    def draw(self, context):
        layout = settings_layout(self, context)
        settings, obj = context.scene.taffeta, context.object
        cloth = obj.taffeta_cloth
        layout.prop(cloth, "self_collision")
        column = layout.column()
        column.enabled = cloth.self_collision
        group_search(column, obj, "self_group")
        group_search(layout, obj, "body_group")
        layout.prop(cloth, "collision_collection")
        prop(layout, context, settings, "cloth_restitution")
        layout.prop(settings, "collider_source")
        row = layout.row()
        row.enabled = settings.collider_source == "COLLECTION"
        row.prop(settings, "collider_collection")
        if settings.collider_source == "ALL":
            why(layout, "Every Taffeta Collider of the scene takes part")
        elif settings.collider_collection is None:
            layout.label(text="Choose a collection, or nothing collides", icon="ERROR")


CLASSES = (
    TAFFETA_PT_cloth,
    TAFFETA_PT_cloth_fabric,
    TAFFETA_PT_cloth_pins,
    TAFFETA_PT_cloth_sewing,
    TAFFETA_PT_cloth_collision,
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
