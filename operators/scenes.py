# SPDX-License-Identifier: GPL-3.0-or-later
"""Add an example scene: a collection of its own with garment, bodies, ground, light and camera, ready to bake."""

import bpy

from .setup import begin_compiling

# The examples need scipy and build their meshes with some effort: they are imported when one is asked for.
EXAMPLES = (
    ("poncho", "Poncho", "A walking mannequin with a poncho that falls onto its shoulders"),
    ("skirt", "Skirt", "A walking mannequin with a skirt pinned to its hips"),
    ("sheet_on_sphere", "Sheet on Sphere", "A square sheet falls on a sphere"),
    ("sheet_on_torus", "Sheet on Torus", "A square sheet falls on a torus"),
    ("two_sheets", "Two Sheets", "Two sheets fall on a sphere, one onto the other"),
    ("flag", "Flag", "A flag on its pole in a breeze"),
    ("two_sheets_on_spheres", "Two Sheets on Spheres", "Two sheets fall over five spheres, one onto the other"),
    ("ball_through_sheets", "Ball through Sheets", "A ball drags two sheets through a ring"),
    ("bowl", "Bowl", "T-shirts fall into a bowl that turns to and fro: a heap, kept apart by a velocity field"),
    ("washing_machine", "Washing Machine", "T-shirts tumble in a turning drum, kept apart by a velocity field"),
    ("deformed_torus", "Deformed Torus", "A sheet hangs over the thin ends of a deformed torus"),
    ("plate", "Plate", "A sheet on an open plate that turns over"),
    ("dryer", "Dryer", "A sheet tumbles in the drum of a dryer"),
    ("twisted_knot", "Twisted Knot", "A sheet on a knot that is lifted and lowered"),
    ("rotation", "Rotation", "A sheet on a leaning torus that turns"),
    ("clock", "Clock", "A sheet on a torus stretched in a direction that goes round"),
    ("wings", "Wings", "A sheet on a deformed torus that beats its ends like wings"),
    ("grow", "Grow", "A sheet on a sphere that grows and shrinks"),
    ("twist", "Twist", "A sheet on a deformed torus that is twisted to and fro"),
    ("drum", "Drum", "A sheet on an open plate that swings like the skin of a drum"),
)
HEAPS = "bowl", "washing_machine"


def add(context, name, count=0):
    """Add the example scene `name` to the current scene in a new collection; return its `presets.scenes` Example.

    count : how many garments fall, where there can be more or less of them; 0: as many as the example has.

    Sets the scene's frame range, 24 frames/s and the metre as unit. Raises ValueError for an unknown name and a scene without a number of garments.
    """
    from ..presets import scenes

    if name not in scenes.SCENES:
        raise ValueError(f'There is no example scene "{name}"; there are {", ".join(scenes.SCENES)}.')
    if count and name not in HEAPS:
        raise ValueError(f'"{name}" has no number of garments; these have one: {", ".join(HEAPS)}.')
    scene = context.scene
    collection = bpy.data.collections.new(dict((n, label) for n, label, _ in EXAMPLES)[name])
    scene.collection.children.link(collection)
    scene.render.fps, scene.render.fps_base = 24, 1.0
    scene.unit_settings.scale_length = 1.0
    scene.frame_set(1)
    example = scenes.SCENES[name](context, collection, **({"count": count} if count else {}))
    scene.frame_start, scene.frame_end = example.frames
    scene.frame_set(example.frames[0])
    return example


class TAFFETA_OT_scene_add(bpy.types.Operator):
    """Add a small finished scene to look at, bake and take apart"""

    bl_idname = "taffeta.scene_add"
    bl_label = "Add Example Scene"
    bl_options = {"REGISTER", "UNDO"}

    name: bpy.props.EnumProperty(name="Scene", description="Which example to add", items=EXAMPLES, default="poncho")
    count: bpy.props.IntProperty(
        name="Garments", default=0, min=0, max=1000, soft_max=100,
        description="How many T-shirts fall, in Bowl and Washing Machine; 0 takes as many as the example has",
    )  # fmt: skip

    @classmethod
    def poll(cls, context):
        if context.mode != "OBJECT":
            cls.poll_message_set("Switch to Object mode first")
            return False
        return True

    def execute(self, context):
        try:
            example = add(context, self.name, self.count)
        except (ValueError, RuntimeError) as problem:
            self.report({"ERROR"}, str(problem))
            return {"CANCELLED"}
        for obj in context.view_layer.objects:
            obj.select_set(obj in example.cloths)
        context.view_layer.objects.active = example.cloths[0]
        begin_compiling()
        first, last = example.frames
        self.report({"INFO"}, f"{self.name} added, frames {first} to {last} at 24 frames/s; press Bake")
        return {"FINISHED"}


def _menu(self, context):
    self.layout.operator_menu_enum(TAFFETA_OT_scene_add.bl_idname, "name", text="Taffeta Example", icon="MOD_CLOTH")


def register():
    """Register the operator and list it in the viewport's Add menu."""
    bpy.utils.register_class(TAFFETA_OT_scene_add)
    bpy.types.VIEW3D_MT_add.append(_menu)


def unregister():
    """Undo `register`."""
    bpy.types.VIEW3D_MT_add.remove(_menu)
    bpy.utils.unregister_class(TAFFETA_OT_scene_add)
