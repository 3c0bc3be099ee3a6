# SPDX-License-Identifier: GPL-3.0-or-later
"""Cages: the coarser mesh that is simulated for a heavy garment, `Object.taffeta_cage`, and where it is made and removed."""

import bpy
from bpy.props import CollectionProperty, FloatProperty, IntVectorProperty, PointerProperty, StringProperty

from .mapped import OVERRIDE
from .rows import PhysicsPanel, SubPanel, sentences, settings_layout, why
from .scene import draw_problem


class TaffetaCageMesh(bpy.types.PropertyGroup):
    """A mesh that a cage had, of which there may be bakes."""

    mesh: PointerProperty(type=bpy.types.Mesh, name="Mesh", override=OVERRIDE, description="As it was before")


class TaffetaCageSettings(bpy.types.PropertyGroup):
    """What a garment knows of the cage that it follows, and a cage of what it was."""

    cage: PointerProperty(
        type=bpy.types.Object, name="Cage", override=OVERRIDE, description="The mesh that is simulated for this garment"
    )
    muted: StringProperty(
        name="Muted", override=OVERRIDE, description="Modifiers that the cage has instead, and how they were shown"
    )
    thickness: FloatProperty(
        name="Thickness",
        override=OVERRIDE,
        description="In metres, that the cage was given; 0 where the garment's is kept",
    )
    bound: IntVectorProperty(
        name="Bound",
        size=2,
        override=OVERRIDE,
        description="Vertices of the garment and of its cage when they were bound; 0 where nobody counted",
    )
    kept: CollectionProperty(
        type=TaffetaCageMesh, name="Meshes", override=OVERRIDE, description="That the cage had before it was refined"
    )


def garments_of(cage: bpy.types.Object) -> list[bpy.types.Object]:
    """The garments that follow a cage, duplicates as well; none for what is no cage."""
    return [obj for obj in bpy.data.objects if obj.taffeta_cage.cage == cage and obj.type == "MESH"]


def garment_of(cage: bpy.types.Object) -> bpy.types.Object | None:
    """The first of `garments_of`; None for what is no cage."""
    return next(iter(garments_of(cage)), None)


class TAFFETA_PT_cloth_cage(SubPanel, bpy.types.Panel):
    """A coarser mesh to simulate"""

    bl_label = "Cage"

    def draw(self, context):
        layout = settings_layout(self, context)
        garment = garment_of(context.object)
        if garment is None:
            layout.operator("taffeta.cage_make", icon="MOD_MESHDEFORM").object = context.object.name
            at_once = layout.operator("taffeta.cage_make", text="Make Cage and Bake", icon="PLAY")
            at_once.object, at_once.bake = context.object.name, True
            why(layout, f"The mesh has {len(context.object.data.vertices):,} vertices")
            _refine(layout, context)
            return
        sentences(
            layout, context, f"{garment.name} follows this cage, and is what renders and exports", "MOD_MESHDEFORM"
        )
        _refine(layout, context)
        layout.operator("taffeta.cage_remove", icon="X").object = garment.name


def _refine(layout, context):
    """The button that makes the cage anew by what was baked, and why it cannot be pressed."""
    row = layout.row()
    row.enabled = any(
        item.garment == context.object.name and item.plays for item in context.window_manager.taffeta.bakes
    )
    row.operator("taffeta.cage_refine", icon="MOD_REMESH").object = context.object.name
    if not row.enabled:
        why(layout, "Bake first: the bake shows where it folds")


class TAFFETA_PT_caged(PhysicsPanel, bpy.types.Panel):
    """What a garment follows that is not simulated itself"""

    bl_label = "Taffeta Cage"

    @classmethod
    def poll(cls, context):
        obj = context.object
        return obj is not None and obj.type == "MESH" and obj.taffeta_cage.cage is not None

    def draw(self, context):
        layout = settings_layout(self, context)
        obj = context.object
        sentences(
            layout, context, f"{obj.taffeta_cage.cage.name} is simulated for it; Bake and Export work on both", "INFO"
        )
        for problem in context.window_manager.taffeta.problems:  # the list itself stands in the tab of the cage
            if problem.object_name == obj.name:
                draw_problem(layout, context, problem)
        layout.operator("taffeta.bake", icon="RENDER_ANIMATION")
        layout.operator("taffeta.cage_select", icon="RESTRICT_SELECT_OFF").object = obj.name
        layout.operator("taffeta.cage_remove", icon="X").object = obj.name


CLASSES = (TaffetaCageMesh, TaffetaCageSettings, TAFFETA_PT_cloth_cage, TAFFETA_PT_caged)


def register():
    """Register the panels, and hang the settings on objects."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.taffeta_cage = PointerProperty(type=TaffetaCageSettings, override=OVERRIDE)


def unregister():
    """Undo `register`; what a .blend stored stays in the file."""
    del bpy.types.Object.taffeta_cage
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
