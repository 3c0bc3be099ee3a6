# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep Pose: what a live simulation left becomes a shape key of the garments, or their rest shape."""

import bpy
from bpy.props import EnumProperty

from .live import simulation
from .playback.cache_modifier import mesh_shown_sentence, show_bake
from .read.participants import find_object
from .read.sampling import posed
from .read.shape_key import make_rest, place, refuse_shared

POSE_KEY = "Taffeta Pose"  # shape key that keeps a pose


def keep(result: str) -> list[bpy.types.Object]:
    """Make the kept pose a shape key of each garment ("KEY"), or its rest shape ("REST"), and show it.

    Returns
    -------
    the garments whose bake hid it: viewports show their meshes now

    Raises
    ------
    ValueError
        Nothing is kept, or a garment cannot take it: a sentence with a remedy.
    """
    pose = simulation.kept()
    scene = bpy.data.scenes.get(pose.scene) if pose is not None else None
    if scene is None:
        raise ValueError("There is no pose to keep; play live first, and stop where the cloth lies well")
    objects = [find_object(uid, name) for uid, name, _ in pose.garments]
    for obj, (_, name, x) in zip(objects, pose.garments, strict=True):
        refuse_shared(obj)
        if len(obj.data.vertices) != len(x):
            raise ValueError(f"{name} was edited since it was simulated; play live again")
    with posed(scene, objects, ()):
        scene.frame_set(pose.frame)
        for obj, (_, _, x) in zip(objects, pose.garments, strict=True):
            moved = place(scene, obj, POSE_KEY, x)
            if result == "REST":
                make_rest(obj, POSE_KEY, moved)
    return [obj for obj in objects if show_bake(obj, False)]


class TAFFETA_OT_keep_pose(bpy.types.Operator):
    """Keep what the cloth looked like when the live simulation ended"""

    bl_idname = "taffeta.keep_pose"
    bl_label = "Keep Pose"
    bl_options = {"REGISTER", "UNDO"}

    result: EnumProperty(
        name="As", default="KEY",
        items=(
            ("KEY", "Shape Key", f"Keep the garments as they are and add a shape key, {POSE_KEY}"),
            ("REST", "Rest Shape", "Change the garments themselves: lengths are measured in the new shape"),
        ),
        description="Where the pose goes",
    )  # fmt: skip

    @classmethod
    def poll(cls, context):
        if simulation.running() is not None or simulation.kept() is None:
            cls.poll_message_set("Play live first, and stop where the cloth lies well")
            return False
        return True

    def execute(self, context):
        try:
            hidden = keep(self.result)
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if hidden:
            self.report({"INFO"}, mesh_shown_sentence(hidden))
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_keep_pose,))
