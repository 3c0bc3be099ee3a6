# SPDX-License-Identifier: GPL-3.0-or-later
"""Scene tab: the Taffeta panel, what holds for all garments of a bake, and stands nowhere else."""

import bpy

from .choices import BODY_IMAGES, BODY_SEARCHES, BROAD_PHASES, CLOTH_CONTACTS, DYNAMICS
from .preferences import expert
from .rows import choice, named, prop, sentences, settings_layout, why
from .translations import CONTEXT

# How the solver works inside, for whoever asks for it in the preferences.
EXPERT = (
    "dynamics", "theta", "broad_phase", "tolerance", "neighbour_reach", "max_speed", "ldi_resolution", "body_images",
    "body_search",
)  # fmt: skip


class ScenePanel:
    """Where each of them stands: in scenes that have cloth."""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "scene"

    @classmethod
    def poll(cls, context):
        return any(obj.type == "MESH" and obj.taffeta_cloth.enabled for obj in context.scene.objects)


class SceneSubPanel(ScenePanel):
    """Below the Taffeta panel."""

    bl_parent_id = "TAFFETA_PT_scene"


class TAFFETA_PT_scene(ScenePanel, bpy.types.Panel):
    """How carefully all cloth of the scene is baked"""

    bl_label = "Taffeta"

    def draw(self, context):
        layout = settings_layout(self, context)
        for name in ("small_steps", "substeps", "substeps_preview", "iterations", "sleep_speed"):
            prop(layout, context, context.scene.taffeta, name)


class TAFFETA_PT_forces(SceneSubPanel, bpy.types.Panel):
    """What moves the cloth besides bodies"""

    bl_label = "Wind and Forces"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout = settings_layout(self, context)
        scene, settings = context.scene, context.scene.taffeta
        for name in ("wind", "air_density", "air_drag", "air_lift"):
            prop(layout, context, settings, name)
        row = layout.row()
        row.active = scene.use_gravity
        row.prop(scene, "gravity")
        if not scene.use_gravity:
            why(layout, "Gravity is off in the Scene tab")
        for name in ("constant_force", "random_force_min", "random_force_max"):
            prop(layout, context, settings, name)
        row = layout.row()
        row.active = tuple(settings.random_force_min) != tuple(settings.random_force_max)
        row.prop(settings, "seed")
        if not row.active:
            why(layout, "Random Force Min equals Max: there is no chance in it")
        prop(layout, context, settings, "pin_rate")


class TAFFETA_PT_scene_collision(SceneSubPanel, bpy.types.Panel):
    """What all garments collide with"""

    bl_label = "Collision"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout = settings_layout(self, context)
        settings = context.scene.taffeta
        named(layout, context, settings, "collider_source")
        row = layout.row()
        row.enabled = settings.collider_source == "COLLECTION"
        named(row, context, settings, "collider_collection")
        if settings.collider_source == "ALL":
            why(layout, "Every Taffeta Collider of the scene takes part")
        elif settings.collider_collection is None:
            layout.label(text="Choose a collection, or nothing collides", icon="ERROR")
        choice(layout, context, settings, "cloth_contact", CLOTH_CONTACTS)
        if settings.cloth_contact in ("VELOCITY_FIELD", "BOTH"):
            layout.prop(settings, "field_cell")
            layout.prop(settings, "field_isotropic")
        if settings.cloth_contact not in ("PAIRS", "BOTH"):
            layout.prop(settings, "untangle_each")
        prop(layout, context, settings, "cloth_restitution")


class TAFFETA_PT_scene_cache(SceneSubPanel, bpy.types.Panel):
    """Which frames are baked, and where to"""

    bl_label = "Frames and Cache"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        layout, scene = settings_layout(self, context), context.scene
        row = layout.row(align=True)
        row.prop(scene, "frame_start", text="Frames", text_ctxt=CONTEXT)
        row.prop(scene, "frame_end", text="")
        layout.prop(scene.taffeta, "preroll")
        row = layout.row()
        row.enabled = scene.taffeta.preroll > 0
        row.prop(scene.taffeta, "preroll_from")
        if not row.enabled:
            why(layout, "Without Pre-Roll, the bake begins with the first frame")
        named(layout, context, scene.taffeta, "cache_folder")
        if not bpy.data.filepath and scene.taffeta.cache_folder.startswith("//"):
            sentences(layout, context, "The file is not saved: bakes go to the temporary folder until it is", "INFO")


class TAFFETA_PT_advanced(SceneSubPanel, bpy.types.Panel):
    """How the solver works inside; shown when the preferences ask for expert settings, or a file has other than the defaults"""

    bl_label = "Expert"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return ScenePanel.poll.__func__(cls, context) and (expert(context) or bool(changed(context.scene.taffeta)))

    def draw(self, context):
        layout = settings_layout(self, context)
        settings = context.scene.taffeta
        names = EXPERT if expert(context) else changed(settings)
        menus = {"dynamics": DYNAMICS, "broad_phase": BROAD_PHASES}
        menus |= {"body_images": BODY_IMAGES, "body_search": BODY_SEARCHES}
        for name in names:
            if name in menus:
                choice(layout, context, settings, name, menus[name])
            elif name != "theta" or settings.dynamics == "IMPLICIT_THETA":
                prop(layout, context, settings, name)
        if not expert(context):
            sentences(
                layout,
                context,
                "This file sets these. Show Expert Settings, in Taffeta's preferences, shows all",
                "INFO",
            )


def changed(settings) -> list[str]:
    """Names of the expert settings that are not at their defaults in this file."""
    return [name for name in EXPERT if getattr(settings, name) != settings.bl_rna.properties[name].default]


register, unregister = bpy.utils.register_classes_factory(
    (TAFFETA_PT_scene, TAFFETA_PT_scene_cache, TAFFETA_PT_forces, TAFFETA_PT_scene_collision, TAFFETA_PT_advanced)
)
