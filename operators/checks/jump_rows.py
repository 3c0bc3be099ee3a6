# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the preflight list about what keys move from one place to another within a frame: cloth that hangs on it is drawn out."""

import math
from collections.abc import Iterator

import bpy
import numpy as np

from ...panels.units import length_text
from ..read.carriers import hung_on
from ..read.keyed import curves_in, span
from ..read.mesh_io import metres_per_unit
from .problem import Problem

STEPS = 3  # keys that hold still until the next, from which on they are how all is animated, and no cut
SUDDEN = 4.0  # times as far as in the frames before and behind, from which on it is a jump and no quick motion
MOST_FRAMES = 20_000  # that are looked at


def jumps(scene: bpy.types.Scene, cloths: list[bpy.types.Object], bodies: list[bpy.types.Object]) -> Iterator[Problem]:
    """Objects, and bones, that jump by more than the largest garment is wide; by the keys of their locations alone."""
    wide = max((max(obj.dimensions) for obj in cloths), default=0.0)
    frames = np.arange(scene.frame_start, min(scene.frame_end, scene.frame_start + MOST_FRAMES) + 1)
    if wide <= 0.0 or len(frames) < 2:
        return
    for obj in hung_on([*cloths, *bodies]):
        tracks = [(own, scale, bone) for own, scale, bone in _tracks(obj) if scale * math.hypot(*map(span, own)) > wide]
        jumping = ((*_jump(own, scale, frames), bone, own) for own, scale, bone in tracks)
        far, frame, bone, own = max(jumping, default=(0.0, 0, "", []), key=lambda found: found[:3])
        if far <= wide:
            continue
        who = f"{obj.name}'s bone {bone}" if bone else obj.name
        if any(map(_is_stepped, own)):
            yield Problem(
                "WARNING",
                obj.name,
                f"{who} holds still at each key and jumps to the next, up to {length_text(far * metres_per_unit(scene))}, in frame {frame}: cloth that "
                "hangs on it is drawn out at each, and what it hits is thrown",
                "Give its keys Bezier or Linear interpolation before you bake (T, in the Graph Editor)",
            )
        else:
            yield Problem(
                "WARNING",
                obj.name,
                f"{who} jumps {length_text(far * metres_per_unit(scene))} from frame {frame - 1} to {frame}, by its keys: cloth that hangs on "
                "it is drawn out, and what it hits is thrown",
                "Let it travel over more frames, or end the range there and bake what comes after as a shot of its own",
            )


def _tracks(obj) -> Iterator[tuple[list[bpy.types.FCurve], float, str]]:
    """Curves that move an object, or one of its bones, along axes; Blender units in a unit of theirs; and the bone's name."""
    data = obj.animation_data
    if (
        data is None
        or data.action is None
        or data.action_slot is None
        or data.action_influence == 0.0
        or any(not track.mute for track in data.nla_tracks)
    ):
        return
    found = {}
    for curve in curves_in(data.action, data.action_slot):
        owner, _, name = curve.data_path.rpartition("location")
        if not name and not _is_mute(curve) and (not owner or owner.startswith("pose.bones[")):
            found.setdefault(owner, []).append(curve)
    for owner, own in found.items():
        if not owner:
            yield own, _scale(obj.parent.matrix_world @ obj.matrix_parent_inverse) if obj.parent else 1.0, ""
        elif (bone := _bone(obj, owner)) is not None and not _is_pole(bone):
            yield own, _scale(obj.matrix_world), bone.name


def _is_mute(curve) -> bool:
    return curve.mute or (curve.group is not None and curve.group.mute)


def _scale(matrix) -> float:
    return float(np.mean(np.abs(matrix.to_scale())))


def _bone(obj, owner: str) -> bpy.types.PoseBone | None:
    """The bone that curves are of; None where it is gone, and they lie in the action still."""
    try:
        return obj.path_resolve(owner.removesuffix("."))
    except ValueError:
        return None


def _is_pole(bone) -> bool:
    """Whether a bone does no more than turn the knees or elbows of others to it; animators move such from here to there."""
    rig = bone.id_data
    found = [constraint for other in rig.pose.bones for constraint in other.constraints]
    points = [(c.pole_target, c.pole_subtarget) for c in found if c.type == "IK"]
    leads = bone.bone.use_deform or bone.children or any(getattr(c, "subtarget", "") == bone.name for c in found)
    return (rig, bone.name) in points and not leads


def _jump(own, scale, frames) -> tuple[float, int]:
    """How far a track goes most suddenly within a frame [Blender units], 0 if it does not, and which that is."""
    x = scale * np.array([[curve.evaluate(frame) for frame in frames.tolist()] for curve in own])
    step = np.linalg.norm(np.diff(x, axis=1), axis=0)
    beside = np.maximum(np.append(0.0, step[:-1]), np.append(step[1:], 0.0))
    step[step < SUDDEN * beside] = 0.0
    at = int(step.argmax())
    return float(step[at]), int(frames[at + 1])


def _is_stepped(curve) -> bool:
    """Whether most keys of a curve hold still until the next, as in blocking and in animation on twos, or a modifier makes it so."""
    holding = [point.interpolation == "CONSTANT" for point in curve.keyframe_points[:-1]]
    is_made = any(modifier.type == "STEPPED" and not modifier.mute for modifier in curve.modifiers)
    return is_made or sum(holding) >= max(STEPS, len(holding) / 2)
