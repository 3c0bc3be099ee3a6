# SPDX-License-Identifier: GPL-3.0-or-later
"""Which armatures pose an object: by a modifier, a bone as parent, a constraint, or by what any of these hang on."""

from collections.abc import Iterator

import bpy

from .modifier_stack import rigs


def armatures_of(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """The armatures whose pose moves or deforms an object; not those that it merely goes along with as a whole."""
    waiting, seen = [(obj, False)], set()
    while waiting:
        for link in _carriers(*waiting.pop()):
            if link not in seen:
                seen.add(link)
                waiting.append(link)
    return sorted((one for one, by_pose in seen if by_pose and one.type == "ARMATURE"), key=lambda one: one.name)


def _carriers(obj: bpy.types.Object, posed: bool) -> Iterator[tuple[bpy.types.Object, bool]]:
    """What an object hangs on, and whether on its pose; of an armature whose pose counts (`posed`) also what its bones do."""
    if obj.parent is not None:
        yield obj.parent, obj.parent_type in {"ARMATURE", "BONE"}
    for modifier in rigs(obj) if obj.type != "ARMATURE" else ():
        carrier = getattr(modifier, "object", None) or getattr(modifier, "target", None)
        if carrier is not None:
            yield carrier, modifier.type == "ARMATURE" or bool(getattr(modifier, "subtarget", ""))
    yield from _targets(obj.constraints)
    for bone in obj.pose.bones if posed and obj.pose is not None else ():
        yield from _targets(bone.constraints)


def _targets(constraints) -> Iterator[tuple[bpy.types.Object, bool]]:
    """What constraints look at, and whether at a bone of it."""
    for constraint in constraints:
        for link in (constraint, *getattr(constraint, "targets", ())) if not constraint.mute else ():
            if getattr(link, "target", None) is not None:
                yield link.target, bool(getattr(link, "subtarget", ""))
