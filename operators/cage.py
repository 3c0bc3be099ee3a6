# SPDX-License-Identifier: GPL-3.0-or-later
"""Make Cage: a coarser mesh with even edges is simulated instead of a heavy garment, which follows it. Remove Cage takes that back."""

from collections.abc import Generator, Iterator

import bpy
from bpy.props import BoolProperty, FloatProperty, IntProperty, StringProperty

from ..panels.cage import garment_of
from ..panels.mapped import MAPPED
from ..panels.translations import translated
from ..panels.units import length_text
from .checks import problem_list
from .live import turn
from .read import cage as cages
from .read import snapshot, zips
from .read.anchors import holding
from .read.arrays import sewing_edges
from .read.cage_shapes import hand_down, shapes_of
from .read.carry import follow_keys
from .read.carry_marks import left_out
from .read.correction import corrections_of
from .read.fabrics import most_thickness
from .read.modifier_stack import find_live
from .read.participants import chosen_cloth, colliders_of, refuse_linked, refuse_mode
from .read.screen import refused, words_of
from .read.sheet import Sheet
from .work.steps import Step, Steps
from .work.window import ObjectModeWork

LOOKED, MESHED = 0.05, 0.9  # shares of the work that are done then
AS_THICK = 0.99  # of a shell's thickness that a cage is to keep from itself


def making(scene: bpy.types.Scene, obj: bpy.types.Object, count: int, length: float) -> Steps:
    """Steps: let a cage be the cloth instead of a garment.

    count, length : as `read.cage.meshing` takes them

    Returns
    -------
    the cage, and the thickness [m] of the shell that the garment is, 0 if it is none

    Raises
    ------
    ValueError, RuntimeError
        The garment cannot have a cage: a sentence with a remedy, and all is as it was.
    """
    refuse(obj)
    yield Step("Looking at the garment")
    sheet = cages.surface_of(obj, scene)
    made = yield from stepped(cages.meshing(obj, sheet, count, length), (LOOKED, MESHED))
    yield Step("Handing the garment over to its cage", MESHED)
    cage = cages.add(obj, scene, sheet, made)
    hand_over(scene, obj, cage, sheet)
    return cage, sheet.thickness


def stepped(parts: Generator, shares: tuple[float, float]) -> Steps:
    """Steps of a mesh that is made in parts, from one share of all work to another; returns what they return."""
    first, last = shares
    try:
        while True:
            yield Step("Making the mesh", first + (last - first) * next(parts))
    except StopIteration as end:
        return end.value
    finally:
        parts.close()


def hand_over(scene: bpy.types.Scene, obj: bpy.types.Object, cage: bpy.types.Object, sheet: Sheet) -> None:
    """Let a cage that was just built be the cloth, and the garment follow it.

    Raises
    ------
    ValueError, RuntimeError
        The garment cannot follow it: the cage is gone, and all is as it was.
    """
    try:
        cages.bind(obj, cage)
    except (ValueError, RuntimeError):
        cages.discard(cage)
        raise
    cloth = cage.taffeta_cloth
    snapshot.copy(obj.taffeta_cloth, cloth)
    cage.taffeta_fabric.chosen = obj.taffeta_fabric.chosen
    cloth.enabled, obj.taffeta_cloth.enabled = True, False
    if sheet.thickness > 0.0:
        cloth.thickness.source, cloth.thickness.value = "UNIFORM", min(sheet.thickness, most_thickness(cage, scene))
        obj.taffeta_cage.thickness = cloth.thickness.value
    follow_keys(obj, cage)


def refuse(obj: bpy.types.Object) -> None:
    """Raise ValueError where a garment cannot have a cage."""
    turn.refuse()
    refuse_linked(obj)
    refuse_mode(obj)
    if garment_of(obj) is not None:
        raise ValueError(f"{obj.name} is a cage itself; remove it first if it is to be made anew")
    keys, cloth = obj.data.shape_keys, obj.taffeta_cloth
    if keys is not None and (not keys.use_relative or obj.show_only_shape_key):
        raise ValueError(f"{obj.name}: its shape keys are absolute or one is shown alone; switch that off (Data tab)")
    if cloth.sewing and len(zips.marked(obj.data)[0]):
        raise ValueError(
            f"{obj.name} has a zip, which a cage cannot have; simulate the garment itself, or make one piece of it by Clear Zip in Edit "
            "Mode, and try again"
        )
    if cloth.sewing and len(sewing_edges(obj.data)):
        raise ValueError(
            f"{obj.name} is still to be sewn; press Apply Sewing after a bake, or turn Sewing off, and try again"
        )
    if holding(obj):
        raise ValueError(
            f"{obj.name} is attached to a body or tacked; Detach it, make the cage, and attach that instead"
        )
    for other in bpy.data.objects:
        if other != obj and any(entry.body == obj for entry in holding(other)):
            raise ValueError(
                f"{other.name} is tacked to {obj.name}; Detach it, make the cage, and tack it to that instead"
            )
    if find_live(obj) is not None:
        raise ValueError(f"{obj.name} is played live; press Stop first")


def remove(obj: bpy.types.Object) -> tuple[str, str]:
    """Let a garment be simulated itself again, with the settings and shapes that its cage has by now.

    Returns
    -------
    the end of a sentence about the shapes, and a sentence about what goes with the cage that was made by hand; "" where there are none
    """
    noted, cloth = obj.taffeta_cage, obj.taffeta_cloth
    cage, made = noted.cage if noted.cage != obj else None, noted.thickness
    others = [o for o in bpy.data.objects if o != obj and o.taffeta_cage.cage == cage]
    kept, lost = "", []
    if cage is not None:
        kept, lost = _shapes_taken_over(obj, cage)
        _take_back(obj, cage, made)
    cages.let_go(obj)
    cloth.enabled = True
    if cage is None or cage.library is not None or others:
        return kept, ""
    name, lost = cage.name, [modifier.name for modifier in corrections_of(cage)] + lost
    cages.discard(cage)
    return kept, f"{name} is deleted with what only it had: {', '.join(lost)}; undo that to keep it" if lost else ""


def _shapes_taken_over(obj, cage) -> tuple[str, list[str]]:
    """Give a garment the shapes that its cage was draped into: the end of a sentence about them, and names of those that it cannot have."""
    shapes = shapes_of(obj, cage)
    names = (["Rest Shape"] if shapes.rest is not None else []) + shapes.names
    try:
        hand_down(obj, cage, shapes)
    except ValueError:  # its mesh is not its own
        return "", names
    return f"; it has taken over what its cage was draped into: {', '.join(names)}" if names else "", []


def _take_back(obj, cage, made):
    """Settings of the cage; its maps where the garment has them, too; its thickness unless that is what it was given."""
    cloth, now = obj.taffeta_cloth, cage.taffeta_cloth
    own = [name for name in MAPPED if _is_lost(obj, getattr(now, name))]
    if made > 0.0 and now.thickness.source == "UNIFORM" and now.thickness.value == made:
        own.append("thickness")
    snapshot.copy(now, cloth, without=own)
    obj.taffeta_fabric.chosen = cage.taffeta_fabric.chosen


def _is_lost(obj, mapped) -> bool:
    """The map of a setting goes with the cage."""
    if mapped.source == "GROUP":
        return mapped.vertex_group not in obj.vertex_groups
    return mapped.source == "ATTRIBUTE" and mapped.attribute not in obj.data.attributes


def show(context: bpy.types.Context, obj: bpy.types.Object) -> None:
    """Make an object the active one, and the only one that is selected."""
    for other in context.selected_objects:
        other.select_set(False)
    if obj.name in context.view_layer.objects:
        context.view_layer.objects.active = obj
        obj.select_set(True)


class TAFFETA_OT_cage_make(ObjectModeWork, bpy.types.Operator):
    """Simulate a coarser mesh with even edges, which the garment follows by Blender's own Surface Deform. A closed shell, front \
and back, becomes one sheet. The garment's mesh stays as it is"""

    bl_idname = "taffeta.cage_make"
    bl_label = "Make Cage"
    bl_description = " ".join(__doc__.split())
    bl_options = {"REGISTER", "UNDO"}

    object: StringProperty(name="Garment", description="Name of the garment; empty takes the active one")
    vertices: IntProperty(
        name="Vertices", default=10_000, min=cages.LEAST_VERTICES, max=cages.MOST_VERTICES, soft_min=500, soft_max=40_000,
        description="About how many vertices the cage has, and no more than the garment",
    )  # fmt: skip
    edge_length: FloatProperty(
        name="Edge Length", default=0.0, min=0.0, max=1e3, soft_max=0.1, precision=4, step=0.1,
        description="Of the cage's edges, in metres; 0 takes what Vertices make of it",
    )  # fmt: skip
    bake: BoolProperty(name="Bake", default=False, description="Bake the cage right away", options={"SKIP_SAVE"})

    def steps(self, context):
        obj = chosen_cloth(context, self.object)
        count = len(obj.data.vertices)
        try:
            cage, thickness = yield from making(context.scene, obj, self.vertices, self.edge_length)
        except RuntimeError as error:  # of Blender's own operator
            raise ValueError(words_of(error)) from error
        shell = f", one sheet of the shell that is {length_text(thickness)} thick" if thickness > 0.0 else ""
        made = f"{cage.name} has {len(cage.data.vertices):,} vertices instead of {count:,}{shell}"
        self.report({"INFO"}, translated(made if self.bake else f"{made}; bake it"))
        for sentence in _doubts(context.scene, obj, cage, thickness):
            self.report({"WARNING"}, translated(sentence))
        tell_left_out(self, obj, cage)
        show(context, cage)
        look_again(context)
        if self.bake:
            try:
                bpy.ops.taffeta.bake("EXEC_DEFAULT" if bpy.app.background else "INVOKE_DEFAULT", object=cage.name)
            except RuntimeError as error:  # what it has reported, translated; the cage is there
                refused(self, error)
        return {"FINISHED"}


def _doubts(scene: bpy.types.Scene, obj: bpy.types.Object, cage: bpy.types.Object, shell: float) -> Iterator[str]:
    """Whether a cage is of use to its garment, and what it does not keep in the middle of a shell of this thickness [m], 0 if that
    is none."""
    if fewer := cages.count_to_ask(obj, cage):
        yield f"{cage.name} is hardly coarser than {obj.name}, and bakes hardly faster; undo that, and choose {fewer:,} Vertices"
    kept, half = cage.taffeta_cloth.thickness.value, 0.5 * shell
    if kept < AS_THICK * shell:
        yield (
            f"{cage.name} keeps {1000 * kept:.3g} mm from itself, for its edges allow no more: where it folds, the shell of "
            f"{length_text(shell)} may cross itself; make it with a larger Edge Length"
        )
    near = [body.name for body in colliders_of(scene, [cage]) if body.taffeta_collider.aura < half]
    if near:
        yield (
            f"The lining is {length_text(half)} nearer to {', '.join(near)} than the cage: give a Distance of more than that"
        )


def tell_left_out(operator: bpy.types.Operator, obj: bpy.types.Object, cage: bpy.types.Object) -> None:
    """Report what is marked on a garment and not on the cage that was just made."""
    for sentence in left_out(obj, cage):
        operator.report({"WARNING"}, sentence)


def look_again(context: bpy.types.Context) -> None:
    """Make the preflight list anew where it is shown."""
    context.view_layer.update()
    if context.window_manager.taffeta.checked:
        problem_list.show(context.scene)


class _Caged:
    """Works on a garment that follows a cage, or on that cage."""

    object: StringProperty(name="Garment", description="Name of the garment or its cage; empty takes the active one")

    def _garment(self, context):
        obj = context.scene.objects.get(self.object) if self.object else context.view_layer.objects.active
        garment = (garment_of(obj) or obj) if obj is not None else None
        if garment is None or garment.type != "MESH" or cages.MODIFIER_NAME not in garment.modifiers:
            name = obj.name if obj else self.object
            told = f"{name} follows no cage" if name else "Nothing is active"
            raise ValueError(f"{told}; select a garment that follows one, or its cage")
        return garment


class TAFFETA_OT_cage_remove(_Caged, bpy.types.Operator):
    """Simulate the garment itself again, with the settings that the cage has now, and delete the cage. What was baked of it \
stays on disk"""

    bl_idname = "taffeta.cage_remove"
    bl_label = "Remove Cage"
    bl_description = " ".join(__doc__.split())
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context):
        try:
            turn.refuse()
            obj = self._garment(context)
            refuse_linked(obj)
            if any(each.mode != "OBJECT" for each in (obj, obj.taffeta_cage.cage) if each is not None):
                raise ValueError(f"{obj.name} or its cage is not in Object Mode; go back to that first")
            kept, lost = remove(obj)
        except ValueError as error:
            return refused(self, error)
        self.report({"INFO"}, translated(f"{obj.name} is simulated itself again{kept}"))
        if lost:
            self.report({"WARNING"}, translated(lost))
        show(context, obj)
        look_again(context)
        return {"FINISHED"}


class TAFFETA_OT_cage_select(_Caged, bpy.types.Operator):
    """Go to the cage of the garment, which has its cloth settings"""

    bl_idname = "taffeta.cage_select"
    bl_label = "Select Cage"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context):
        try:
            cage = self._garment(context).taffeta_cage.cage
            if cage is None or cage.name not in context.view_layer.objects:
                raise ValueError("The cage is not in this view layer; undo what deleted it, or press Remove Cage")
        except ValueError as error:
            return refused(self, error)
        show(context, cage)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (TAFFETA_OT_cage_make, TAFFETA_OT_cage_remove, TAFFETA_OT_cage_select)
)
