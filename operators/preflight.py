# SPDX-License-Identifier: GPL-3.0-or-later
"""Check Before Baking: look thoroughly for what could spoil a bake, and select the vertices that do."""

from contextlib import contextmanager

import bpy

from ..panels.translations import translated
from .bake import job as jobs
from .checks import tangle_rows
from .checks.problem_list import look_thoroughly, show
from .read.write_back import select_only
from .work.steps import Step, prepared
from .work.window import LongWork

WHICH = (
    (tangle_rows.CROSSING, "Crossing", "Those that cross something or are inside a body"),
    (
        tangle_rows.NARROW,
        "Without Room",
        "Those that lie between two bodies without the room that their Distances ask for",
    ),
)
SELECTED = {
    tangle_rows.CROSSING: "{} vertices of {} selected, which cross something or are inside a body",
    tangle_rows.NARROW: "{} vertices of {} selected, which lack room between two bodies",
}
LIKELY_COUNT = 10  # looks that a check takes: how many, it knows at its end only


class TAFFETA_OT_preflight(LongWork, bpy.types.Operator):
    """Look for everything that could spoil the bake, crossings and cloth inside bodies at the first frame included"""

    bl_idname = "taffeta.preflight"
    bl_label = "Check Before Baking"
    bl_options = {"REGISTER"}

    def steps(self, context):
        jobs.refuse_another()
        yield from prepared("inside")
        with _not_editing(context):
            for count, text in enumerate(look_thoroughly(context.scene), 1):
                yield Step(text, count / (count + LIKELY_COUNT))
        found = show(context.scene)
        for problem in found:
            words = ". ".join(translated(text) for text in (problem.sentence, problem.remedy) if text)
            self.report({"WARNING"} if problem.severity != "INFO" else {"INFO"}, words)
        if not found:
            self.report({"INFO"}, "Nothing wrong found")
        return {"FINISHED"}


@contextmanager
def _not_editing(context):
    """Out of Edit Mode meanwhile: Blender evaluates no mesh that is being edited."""
    editing = context.mode == "EDIT_MESH"
    if editing:
        bpy.ops.object.mode_set(mode="OBJECT")
    try:
        yield
    finally:
        if editing:
            bpy.ops.object.mode_set(mode="EDIT")


class TAFFETA_OT_select_problem(bpy.types.Operator):
    """Select the vertices that cross something or are inside a body, or those that lack room, in Edit Mode"""

    bl_idname = "taffeta.select_problem"
    bl_label = "Select Crossing Vertices"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    object: bpy.props.StringProperty(name="Object", description="Garment; empty takes the active object")
    which: bpy.props.EnumProperty(name="Which", items=WHICH, description="Which of its vertices")

    def execute(self, context):
        name = self.object or getattr(context.view_layer.objects.active, "name", "")
        obj = context.view_layer.objects.get(name)
        vertices = tangle_rows.kept_vertices(context.scene, name, self.which)
        if obj is None or vertices is None:
            self.report(
                {"ERROR"},
                translated(f"{name or 'No object'}: no such vertices are known; press Check Before Baking first"),
            )
            return {"CANCELLED"}
        if len(obj.data.vertices) <= vertices.max():
            self.report({"ERROR"}, translated(f"{name} was edited since; press Check Before Baking again"))
            return {"CANCELLED"}
        select_vertices(context, obj, vertices)
        self.report({"INFO"}, translated(SELECTED[self.which].format(len(vertices), name)))
        return {"FINISHED"}


def select_vertices(context: bpy.types.Context, obj: bpy.types.Object, vertices) -> None:
    """Make `obj` active in Edit Mode with exactly these vertices selected."""
    if context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for other in context.selected_objects:
        other.select_set(False)
    obj.hide_set(False)
    obj.select_set(True)
    context.view_layer.objects.active = obj
    select_only(obj.data, vertices)
    context.tool_settings.mesh_select_mode = (True, False, False)
    bpy.ops.object.mode_set(mode="EDIT")


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_preflight, TAFFETA_OT_select_problem))
