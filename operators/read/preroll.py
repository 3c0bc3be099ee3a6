# SPDX-License-Identifier: GPL-3.0-or-later
"""Pre-roll: frames that are simulated before the scene's first one, and not written, so that the cloth has settled.

They play the animation that the scene has before its start: a rest pose keyed 20 frames before the shot becomes the first
pose. A character without such keys, as motion capture mostly gives it, is brought from the rest pose of its armatures
to its first pose instead, if *From* says so: every vertex goes straight and starts and stops gently. Objects stay where
they are in the first frame.
"""

from contextlib import contextmanager

import bpy

from .dynamics import play_through


def rest_count(scene: bpy.types.Scene) -> int:
    """How many frames lead from the rest pose to the first frame; 0 if none do."""
    return scene.taffeta.preroll if scene.taffeta.preroll_from == "REST" else 0


def eased(share: float) -> float:
    """Part of the way after a share of the time, in [0, 1]: the speed is 0 at both ends."""
    return share * share * (3.0 - 2.0 * share)


@contextmanager
def at_start(scene: bpy.types.Scene):
    """Let the scene show what a bake starts from. The frame stays, the armatures' pose comes back."""
    first = scene.frame_start - scene.taffeta.preroll
    play_through(scene, first, scene.frame_start if rest_count(scene) else first)
    if not rest_count(scene):
        scene.frame_set(first)
        yield
        return
    with resting(scene):
        scene.frame_set(scene.frame_start)
        yield


@contextmanager
def resting(scene: bpy.types.Scene):
    """All armatures of the scene in their rest pose meanwhile."""
    armatures = {obj.data for obj in scene.objects if obj.type == "ARMATURE" and obj.data.pose_position == "POSE"}
    uids = [armature.session_uid for armature in armatures]
    try:
        for armature in armatures:
            armature.pose_position = "REST"
        yield
    finally:
        for armature in bpy.data.armatures:
            if armature.session_uid in uids:
                armature.pose_position = "POSE"
