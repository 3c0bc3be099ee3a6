# SPDX-License-Identifier: GPL-3.0-or-later
"""Physics tab: the Taffeta Collider panel of a body that cloth is kept out of."""

import bpy

from .rows import PhysicsPanel, prop, sentences, settings_layout, why


class ColliderPanel(PhysicsPanel):
    """Shown on meshes whose Taffeta Collider is on."""

    @classmethod
    def poll(cls, context):
        obj = context.object
        return obj is not None and obj.type == "MESH" and obj.taffeta_collider.enabled


class TAFFETA_PT_collider(ColliderPanel, bpy.types.Panel):
    """The body's main panel"""

    bl_label = "Taffeta Collider"

    def draw(self, context):
        layout = settings_layout(self, context)
        collider = context.object.taffeta_collider
        for name in ("collides", "aura", "friction", "viscosity", "restitution"):
            prop(layout, context, collider, name)
        if context.object.taffeta_cloth.enabled:
            why(
                layout,
                "For cloth that Bake Selected Only bakes without it; cloths that are baked together collide anyway",
            )
        if context.object.hide_viewport:
            why(layout, "Disabled in viewports: Blender does not animate it, so cloth would meet its rest shape")


class TAFFETA_PT_collider_motion(ColliderPanel, bpy.types.Panel):
    """How the body's motion is read"""

    bl_label = "Motion"
    bl_parent_id = "TAFFETA_PT_collider"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout = settings_layout(self, context)
        collider = context.object.taffeta_collider
        layout.prop(collider, "single_frame_samples")
        if collider.single_frame_samples == 0:
            why(layout, "0 chooses by the body's speed")
        if collider.sequence:
            sentences(layout, context, f"Imported from {collider.sequence}", "FILE_CACHE")
        layout.operator("taffeta.sequence_import", text="Import OBJ Sequence as Collider", icon="IMPORT")


register, unregister = bpy.utils.register_classes_factory((TAFFETA_PT_collider, TAFFETA_PT_collider_motion))
