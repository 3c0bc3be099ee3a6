# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics tab, below Taffeta Cloth > More: what some garments need."""

import bpy

from .cloth import FABRIC_AT_FIRST
from .mapped import FABRIC, THREADS
from .rows import SubPanel, group_search, mapped, named, prop, scene_settings, sentences, settings_layout, why
from .translations import CONTEXT


class TAFFETA_PT_cloth_details(SubPanel, bpy.types.Panel):
    """The rest of what the garment is made of"""

    bl_label = "Fabric Details"

    def draw(self, context):
        layout = settings_layout(self, context)
        session = context.window_manager.taffeta
        stretch = session.overlay == "STRETCH"
        button = layout.operator(
            "taffeta.overlay", text="Show Current Stretch", icon="HIDE_OFF" if stretch else "HIDE_ON", depress=stretch
        )
        button.show = "STRETCH"
        for name in FABRIC:
            if name not in FABRIC_AT_FIRST:
                mapped(layout, context, context.object, name)
        cloth = context.object.taffeta_cloth
        layout.prop(cloth, "restitution")
        layout.operator("taffeta.fabric_modulus").object = context.object.name
        layout.prop(cloth, "model")
        is_rigid = cloth.model == "RIGID"
        has_threads = cloth.model not in ("SPRINGS", "RIGID")
        active = {"poisson": cloth.model == "MEMBRANE", "stiffening": cloth.strain_limit > 0.0}
        for name in THREADS:
            row = layout.row()
            row.enabled = has_threads or (not is_rigid and name in ("strain_limit", "stiffening"))
            row.active = active.get(name, True)
            row.prop(cloth, name)
        if is_rigid:
            why(layout, "What is rigid has no stiffness: Mass, Thickness and Friction count")
        elif cloth.model != "MEMBRANE":
            why(layout, "Narrowing needs Membrane" if has_threads else "Springs know no warp and weft")
        if note := session.fabrics.get(context.object.name):
            sentences(layout, context, note.sentence, "MATCLOTH")
            for verb in note.verbs.split():
                layout.operator(verb).object = note.name


class TAFFETA_PT_cloth_holds(SubPanel, bpy.types.Panel):
    """What holds the garment besides its pins"""

    bl_label = "Attachments and Blending"

    def draw(self, context):
        layout = settings_layout(self, context)
        cloth = context.object.taffeta_cloth
        row = layout.row(align=True)
        row.operator("taffeta.attach", text="Attach", icon="PINNED")
        row.operator("taffeta.detach", text="Detach", text_ctxt=CONTEXT, icon="UNPINNED")
        layout.operator("taffeta.trim_add", icon="DOT")
        for index, entry in enumerate(cloth.attachments):
            box = layout.box()
            row = box.row(align=True)
            row.prop(entry, "body", text="")
            row.operator("taffeta.detach", text="", icon="X").index = index
            for name in ("weight", "stiffness", "breaking_force"):
                box.prop(entry, name)
            row = box.row()
            row.active = entry.stiffness > 0.0
            row.prop(entry, "damping")
        mapped(layout, context, context.object, "blend")
        layout.prop(cloth, "blend_stiffness")
        layout.prop(cloth, "blend_damping")
        layout.prop(cloth.ride, "felt")
        layout.prop(cloth.ride, "object")
        if cloth.ride.object is not None and cloth.ride.object.type == "ARMATURE":
            layout.prop_search(cloth.ride, "bone", cloth.ride.object.data, "bones")


class TAFFETA_PT_cloth_sewing(SubPanel, bpy.types.Panel):
    """How the garment is made from its mesh"""

    bl_label = "Sewing and Size"

    def draw(self, context):
        layout = settings_layout(self, context)
        cloth = context.object.taffeta_cloth
        mapped(layout, context, context.object, "shrink")
        row = layout.row()
        row.active = bool(cloth.uv_map)
        row.prop(cloth, "pattern_size")
        layout.prop(cloth, "weld")
        layout.prop(cloth, "sewing")
        column = layout.column()
        column.enabled = cloth.sewing
        column.prop(cloth, "sewing_time")
        column.prop(cloth, "sewing_speed")
        column.prop(cloth, "sewing_force")
        column.prop(cloth, "seam_bending")
        if not cloth.sewing:
            why(layout, "Edges without a face keep their length")
        prop(layout, context, cloth, "seam_allowance")
        row = layout.row()
        row.active = cloth.seam_allowance > 0.0
        row.prop(cloth, "seam_layers")
        column = layout.column(align=True)
        row = column.row(align=True)
        row.active = bool(cloth.uv_map)
        row.operator("taffeta.panels_arrange").object = context.object.name
        column.operator("taffeta.sew")
        column.operator("taffeta.sewing_apply").object = context.object.name
        column = layout.column(align=True)
        column.operator("taffeta.zip_mark")
        column.operator("taffeta.zip_clear")
        row = layout.row()
        row.active = "taffeta_zip" in context.object.data.attributes and cloth.sewing
        row.prop(cloth, "zip_open")
        if not row.active:
            why(layout, "No seam is marked as a zip, or Sewing is off")


class TAFFETA_PT_cloth_elastic(SubPanel, bpy.types.Panel):
    """Elastic that is sewn into the garment, painted and by edge"""

    bl_label = "Elastic"

    def draw(self, context):
        layout = settings_layout(self, context)
        cloth = context.object.taffeta_cloth
        mapped(layout, context, context.object, "elastic")
        is_painted = cloth.elastic.source != "UNIFORM" or cloth.elastic.value > 0.0
        column = layout.column()
        column.active = is_painted
        column.prop(cloth, "elastic_length")
        column.prop(cloth, "elastic_along", text="Along")
        column = layout.column(align=True)
        column.operator("taffeta.elastic_mark")
        column.operator("taffeta.elastic_clear")
        row = layout.row()
        row.active = is_painted or "elastic_tension" in context.object.data.attributes
        row.prop(cloth, "band_pull")
        if not row.active:
            why(layout, "No elastic is painted, and no edge marked as such")


class TAFFETA_PT_cloth_tearing(SubPanel, bpy.types.Panel):
    """Where and how the garment tears"""

    bl_label = "Tearing"

    def draw(self, context):
        layout = settings_layout(self, context)
        column = layout.column(align=True)
        column.operator("taffeta.tear_mark")
        column.operator("taffeta.tear_free")
        column.operator("taffeta.tear_clear")
        column = layout.column()
        column.active = "taffeta_tear" in context.object.data.attributes
        for name in ("hold", "run_on", "most", "piece"):
            column.prop(context.object.taffeta_cloth.tear, name)
        if not column.active:
            why(layout, "No edge is marked as a tear line")


class TAFFETA_PT_cloth_masks(SubPanel, bpy.types.Panel):
    """What of the garment collides, and with what"""

    bl_label = "Collides Only With"

    def draw(self, context):
        layout = settings_layout(self, context)
        obj = context.object
        cloth = obj.taffeta_cloth
        column = layout.column()
        column.enabled = cloth.self_collision
        group_search(column, obj, "self_group")
        if not cloth.self_collision:
            why(layout, "Self-Collision is off")
        group_search(layout, obj, "body_group")
        named(layout, context, cloth, "collision_collection")
        scene_settings(layout, "All colliders: Scene tab")


class TAFFETA_PT_cloth_forces(SubPanel, bpy.types.Panel):
    """What pushes this garment alone"""

    bl_label = "Pressure and Fields"

    def draw(self, context):
        layout = settings_layout(self, context)
        cloth = context.object.taffeta_cloth
        layout.prop(cloth, "pressure")
        row = layout.row()
        row.active = cloth.pressure != 0.0
        row.prop(cloth, "target_volume")
        if not row.active:
            why(layout, "Without Pressure, no volume is aimed at")
        layout.prop(cloth, "field_weight")
        scene_settings(layout, "Wind: Scene tab")


register, unregister = bpy.utils.register_classes_factory(
    (
        TAFFETA_PT_cloth_details,
        TAFFETA_PT_cloth_holds,
        TAFFETA_PT_cloth_sewing,
        TAFFETA_PT_cloth_elastic,
        TAFFETA_PT_cloth_tearing,
        TAFFETA_PT_cloth_masks,
        TAFFETA_PT_cloth_forces,
    )
)
