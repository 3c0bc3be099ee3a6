# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the preflight list about rigs that were left where they move nothing: in Edit Mode, or in the Rest Position."""

from collections.abc import Iterator

import bpy

from ..read.carriers import armatures_of
from ..read.keyed import moves
from .problem import Problem, Shot


def _left_still(shot: Shot) -> Iterator[Problem]:
    """Armatures that would move a garment or a body, and do not as they are now."""
    if not any(map(_rests, bpy.data.armatures)):  # nearly always: nobody is asked what hangs on what
        return
    moved = {}
    for obj in (*shot.cloths, *shot.colliders):
        for rig in armatures_of(obj):
            moved.setdefault(rig, set()).add(obj.name)
    for rig in sorted(filter(lambda rig: _rests(rig.data), moved), key=lambda rig: rig.name):
        names = ", ".join(sorted(moved[rig]))
        if rig.data.is_editmode:
            sentence = f"{rig.name} is in Edit Mode, and does not move {names}"
            remedy = f"Leave it: select {rig.name} and press Tab"
        else:
            sentence = f"{rig.name} shows its Rest Position, and does not move {names}"
            remedy = f"Set {rig.name} to Pose Position in its Data tab, Pose"
        yield Problem("WARNING", rig.name, sentence, remedy, heavy=rig.data.is_editmode or moves(rig))


def _rests(armature: bpy.types.Armature) -> bool:
    """Whether Blender shows no pose of an armature."""
    return armature.is_editmode or armature.pose_position == "REST"


RIG_CHECKS = (_left_still,)
