# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep Pose: what playing live or draping left becomes the pose that garments start from, their rest shape, or a shape key."""

from itertools import chain, count

import bpy
from bpy.props import EnumProperty

from ..panels.translations import translated
from .live import turn
from .playback.cache_modifier import mesh_shown_sentence, show_bake
from .read.participants import find_object
from .read.sampling import posed
from .read.screen import refused
from .read.shape_key import make_rest, place, refuse_shared

POSE_KEY = "Taffeta Pose"  # shape key that keeps a pose
FURTHER_KEY = "Drape {frame}"  # and those that only lie ready

RESULTS = (
    (
        "KEY",
        "Start Pose",
        f"Cloth starts as it lies now, at rest in the shape that it had: a shape key, {POSE_KEY}, that is on",
    ),
    ("REST", "Rest Shape", "Change the garments themselves: lengths are measured in the new shape"),
    ("FURTHER", "Shape Key", "A further shape key that is off: nothing else changes; raise its value to see it"),
)


def keep(result: str) -> list[bpy.types.Object]:
    """Make the kept pose what each garment starts from, by a shape key that is on ("KEY"), or its rest shape ("REST"), and
    show it; or a further shape key that is off ("FURTHER").

    Returns
    -------
    the garments whose bake hid it: viewports show their meshes now

    Raises
    ------
    ValueError
        Nothing is kept, or a garment cannot take it: a sentence with a remedy.
    """
    pose = turn.kept()
    scene = bpy.data.scenes.get(pose.scene) if pose is not None else None
    if scene is None:
        raise ValueError("There is no pose to keep; play live or drape first, and stop where the cloth lies well")
    objects = [find_object(uid, name) for uid, name, _ in pose.garments]
    for obj, (_, name, x) in zip(objects, pose.garments, strict=True):
        refuse_shared(obj)
        if len(obj.data.vertices) != len(x):
            raise ValueError(f"{name} was edited since it was simulated; play live or drape again")
    with posed(scene, objects, ()):
        scene.frame_set(pose.frame)
        for obj, (_, _, x) in zip(objects, pose.garments, strict=True):
            name = _unused(obj, FURTHER_KEY.format(frame=pose.frame)) if result == "FURTHER" else POSE_KEY
            moved = place(scene, obj, name, x)
            if result == "REST":
                make_rest(obj, name, moved)
            elif result == "FURTHER":
                obj.data.shape_keys.key_blocks[name].value = 0.0
    if result == "FURTHER":
        return []
    return [obj for obj in objects if show_bake(obj, shown=False)]


def _unused(obj, name):
    """The name, or with a number if the garment has a shape key of that name."""
    keys = obj.data.shape_keys
    taken = set(keys.key_blocks.keys()) if keys else set()
    return next(each for each in chain([name], (f"{name}.{k:03d}" for k in count(1))) if each not in taken)


def keep_and_tell(operator: bpy.types.Operator, result: str) -> set[str]:
    """As `keep`, for an operator: tells what went wrong, or what viewports show now; returns its result."""
    try:
        hidden = keep(result)
    except ValueError as error:
        return refused(operator, error)
    if hidden:
        operator.report({"INFO"}, translated(mesh_shown_sentence(hidden)))
    return {"FINISHED"}


class TAFFETA_OT_keep_pose(bpy.types.Operator):
    """Keep what the cloth looked like when it was last played live or draped"""

    bl_idname = "taffeta.keep_pose"
    bl_label = "Keep Pose"
    bl_options = {"REGISTER", "UNDO"}

    result: EnumProperty(name="As", default="KEY", items=RESULTS, description="Where the pose goes")

    @classmethod
    def poll(cls, context):
        if turn.is_taken() or turn.kept() is None:
            cls.poll_message_set("Play live or drape first, and stop where the cloth lies well")
            return False
        return True

    def execute(self, context):
        return keep_and_tell(self, self.result)


register, unregister = bpy.utils.register_classes_factory((TAFFETA_OT_keep_pose,))
