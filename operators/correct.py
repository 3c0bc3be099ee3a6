# SPDX-License-Identifier: GPL-3.0-or-later
"""Correct This Frame: the baked garment as it looks at a frame becomes an object that is sculpted, or edited in any other way;
Done makes the difference a correction (`read.correction`), Cancel leaves all as it was.

The garment itself is hidden meanwhile and not touched, so that whatever becomes of the object harms no bake.
"""

from contextlib import contextmanager

import bpy
import numpy as np
from bpy.props import IntProperty

from ..panels.correct import corrected_by, is_correcting
from ..panels.translations import translated
from .live import turn
from .read import correction
from .read.arrays import positions, stored_values
from .read.participants import refuse_linked
from .read.sampling import depsgraph_of
from .read.screen import refused
from .read.write_back import set_values
from .work.baked import as_corrected, baked_frames, refuse, refuse_hidden

BAKED = "Taffeta Baked"  # attribute: where the vertices were before they were sculpted
UNCHANGED = 1e-7  # of the garment's size: what moves less was not sculpted
LARGEST_FADE = 10_000  # [frames]


@contextmanager
def _corrected(scene, obj, frame: int):
    """The garment at a frame, with its corrections and without what stands behind them."""
    with as_corrected(scene, obj):
        scene.frame_set(frame)
        yield


def open_of(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The object that is being sculpted for a garment, or is itself."""
    if obj.taffeta_correcting.garment is not None:
        return obj
    return next(
        (other for other in bpy.data.objects if other.taffeta_correcting.garment == obj and other.users_scene), None
    )


def _refuse(scene, obj, frame: int) -> None:
    """Raise ValueError, with a remedy, where a garment's bake cannot be corrected at a frame."""
    turn.refuse()
    refuse(obj)
    baked = baked_frames(obj)
    if frame not in baked:
        raise ValueError(f"{obj.name}: frame {frame} is not baked; go to one from {baked.start} to {baked.stop - 1}")


def begin(context, obj: bpy.types.Object, before: int, after: int) -> bpy.types.Object:
    """Make the object to sculpt, show it instead of the garment, and go to Sculpt Mode on it.

    Raises
    ------
    ValueError
        There is no bake to correct at the current frame, or it is being corrected.
    """
    scene, frame = context.scene, context.scene.frame_current
    _refuse(scene, obj, frame)
    if (other := open_of(obj)) is not None:
        raise ValueError(f"{obj.name} is being corrected: select {other.name}, and press Done or Cancel there")
    refuse_hidden(obj)
    with _corrected(scene, obj, frame):
        depsgraph = depsgraph_of(scene)
        evaluated = obj.evaluated_get(depsgraph)
        mesh = bpy.data.meshes.new_from_object(evaluated, preserve_all_data_layers=True, depsgraph=depsgraph)
        matrix = evaluated.matrix_world.copy()
    if len(mesh.vertices) != len(obj.data.vertices):
        bpy.data.meshes.remove(mesh)
        raise ValueError(f"{obj.name}: a modifier before its corrections changes its vertices; move it behind them")
    mesh.name = f"{obj.name} Frame {frame}"
    sculpted = bpy.data.objects.new(mesh.name, mesh)
    scene.collection.objects.link(sculpted)  # which no view layer leaves out
    sculpted.matrix_world = matrix
    sculpted.lock_location = sculpted.lock_rotation = sculpted.lock_scale = (True, True, True)
    set_values(mesh.attributes.new(BAKED, "FLOAT_VECTOR", "POINT"), positions(mesh))
    sculpted.shape_key_add(name="Baked", from_mix=False)
    sculpted.shape_key_add(name="Correction", from_mix=False).value = 1.0
    sculpted.active_shape_key_index = 1
    noted = sculpted.taffeta_correcting
    noted.garment, noted.frame, noted.before, noted.after = obj, frame, before, after
    _select(context, sculpted)
    obj.hide_set(True)
    bpy.ops.object.mode_set(mode="SCULPT")
    return sculpted


def _select(context, obj) -> None:
    """Make an object the active one, and the only one that is selected; in Object Mode."""
    if context.object is not None and context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for other in context.selected_objects:
        other.select_set(False)
    context.view_layer.objects.active = obj
    obj.select_set(True)


def end(context, sculpted: bpy.types.Object) -> bpy.types.Object | None:
    """Delete the object that was sculpted and show its garment again, which is returned; None where it was deleted, too."""
    obj = corrected_by(sculpted)
    _object_mode(context, sculpted)
    mesh = sculpted.data
    bpy.data.objects.remove(sculpted)
    if not mesh.users:
        bpy.data.meshes.remove(mesh)
    if obj is not None and obj.name in context.view_layer.objects:
        obj.hide_set(False)
        _select(context, obj)
    return obj


def _object_mode(context, sculpted) -> None:
    """Leave Sculpt or Edit Mode, which keep what was done to themselves."""
    if sculpted.mode != "OBJECT":
        context.view_layer.objects.active = sculpted
        bpy.ops.object.mode_set(mode="OBJECT")


def take_over(context, sculpted: bpy.types.Object) -> bpy.types.NodesModifier | None:
    """Make what was sculpted a correction of the garment; None if nothing was. The object stays.

    Raises
    ------
    ValueError
        The bake cannot be corrected any more, its garment was deleted, or the object has other vertices.
    """
    noted, scene = sculpted.taffeta_correcting, context.scene
    obj, frame = corrected_by(sculpted), noted.frame
    if obj is None:
        raise ValueError(f"The garment that {sculpted.name} corrects was deleted; undo that, or press Cancel")
    _refuse(scene, obj, frame)
    _object_mode(context, sculpted)
    x = positions(sculpted.evaluated_get(depsgraph_of(scene)).data).astype(float)
    start = sculpted.data.attributes.get(BAKED)
    if start is None or not len(x) == len(start.data) == len(obj.data.vertices):
        raise ValueError(
            f"{sculpted.name} has {len(x)} vertices, {obj.name} {len(obj.data.vertices)}: a correction moves vertices "
            "and makes none; undo what changed their number, or press Cancel"
        )
    moved = x - stored_values(start)
    if not np.abs(moved).max(initial=0.0) > UNCHANGED * np.ptp(x, axis=0).max(initial=0.0):
        return None
    if not np.isfinite(moved).all():
        raise ValueError(f"{sculpted.name} has vertices that are nowhere; undo that, or press Cancel")
    obj.hide_set(False)
    refuse_hidden(obj)
    with _corrected(scene, obj, frame):
        shown, directions = correction.shown_shape(obj, depsgraph_of(scene))
        modifier = correction.add(obj, frame, noted.before, noted.after, moved, directions)
        got, _ = correction.shown_shape(obj, depsgraph_of(scene))
        correction.mend(obj, modifier, shown + moved - got, directions)
    return modifier


def _chosen(context, index: int) -> tuple[bpy.types.Object, bpy.types.NodesModifier]:
    """The active garment, and the correction with that number in its list."""
    turn.refuse()
    obj = context.object
    refuse_linked(obj)
    found = correction.corrections_of(obj)
    if not 0 <= index < len(found):
        raise ValueError(f"{obj.name} has no correction {index}; it has {len(found)}")
    return obj, found[index]


class CorrectVerb:
    """What all share: undo, and a sentence where something cannot be done."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        obj = context.object
        if obj is None or obj.type != "MESH" or not cls.works_on(obj):
            cls.poll_message_set(cls.needs)
            return False
        return True

    @staticmethod
    def works_on(obj):
        return obj.taffeta_cloth.enabled

    needs = "Select a Taffeta Cloth"

    def execute(self, context):
        try:
            self.work(context)
        except (ValueError, OSError) as error:
            return refused(self, error)
        return {"FINISHED"}


class OfSculpted(CorrectVerb):
    """On the object that is sculpted."""

    needs = "Select the object that Correct This Frame made"

    @staticmethod
    def works_on(obj):
        return is_correcting(obj)


class Fading:
    """Within how many frames a correction fades."""

    before: IntProperty(
        name="Fade In",
        default=5,
        min=1,
        max=LARGEST_FADE,
        soft_max=50,
        description="Frames before, within which it fades in; 1 shows none of it there",
    )
    after: IntProperty(
        name="Fade Out",
        default=5,
        min=1,
        max=LARGEST_FADE,
        soft_max=50,
        description="Frames after, within which it fades out; 1 shows none of it there",
    )


class TAFFETA_OT_correct_frame(Fading, CorrectVerb, bpy.types.Operator):
    """Sculpt the baked garment as it looks at this frame. The bake stays as it is: what you change is added to it, and fades
    over the frames before and after"""

    bl_idname = "taffeta.correct_frame"
    bl_label = "Correct This Frame"
    bl_description = " ".join(__doc__.split())

    def work(self, context):
        begin(context, context.object, self.before, self.after)


class TAFFETA_OT_correct_done(OfSculpted, bpy.types.Operator):
    """Add what you sculpted to the bake, and show the garment again"""

    bl_idname = "taffeta.correct_done"
    bl_label = "Finish Correction"

    def work(self, context):
        sculpted = context.object
        modifier = take_over(context, sculpted)
        frame = sculpted.taffeta_correcting.frame
        obj = end(context, sculpted)
        told = "nothing was changed" if modifier is None else f"{modifier.name} is added to the bake"
        self.report({"INFO"}, translated(f"{obj.name}, frame {frame}: {told}"))


class TAFFETA_OT_correct_cancel(OfSculpted, bpy.types.Operator):
    """Throw away what you sculpted, and show the garment as it was"""

    bl_idname = "taffeta.correct_cancel"
    bl_label = "Cancel Correction"

    def work(self, context):
        end(context, context.object)


class Listed(CorrectVerb):
    """On a correction of the list."""

    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    index: IntProperty(name="Correction", min=0, description="Its number in the list, from 0")


class TAFFETA_OT_correction_remove(Listed, bpy.types.Operator):
    """Delete this correction; the bake shows there as it is"""

    bl_idname = "taffeta.correction_remove"
    bl_label = "Delete Correction"

    def work(self, context):
        correction.remove(*_chosen(context, self.index))


class TAFFETA_OT_correction_mute(Listed, bpy.types.Operator):
    """Leave this correction out, or show it again, in viewports, renders and exports"""

    bl_idname = "taffeta.correction_mute"
    bl_label = "Mute Correction"

    def work(self, context):
        obj, modifier = _chosen(context, self.index)
        tree = correction.own_tree(obj, modifier)
        tree[correction.MUTED] = not tree[correction.MUTED]
        correction.follow_cache(obj)


class TAFFETA_OT_correction_fade(Listed, Fading, bpy.types.Operator):
    """Key anew within how many frames this correction fades in and out; its keys can be changed by hand, too"""

    bl_idname = "taffeta.correction_fade"
    bl_label = "Fade Correction"

    def invoke(self, context, event):
        found = correction.corrections_of(context.object)
        if self.index < len(found):
            tree = found[self.index].node_group
            self.before, self.after = tree[correction.BEFORE], tree[correction.AFTER]
        return context.window_manager.invoke_props_dialog(self)

    def work(self, context):
        obj, modifier = _chosen(context, self.index)
        if correction.FADE not in modifier.node_group.nodes:
            raise ValueError(
                f"{modifier.name} is of many frames, and was faded when it was made; key its weight, or make it again with another Fade"
            )
        tree = correction.own_tree(obj, modifier)
        correction.fade(tree, tree[correction.FRAME], self.before, self.after)


register, unregister = bpy.utils.register_classes_factory(
    (
        TAFFETA_OT_correct_frame,
        TAFFETA_OT_correct_done,
        TAFFETA_OT_correct_cancel,
        TAFFETA_OT_correction_remove,
        TAFFETA_OT_correction_mute,
        TAFFETA_OT_correction_fade,
    )
)
