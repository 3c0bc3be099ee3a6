# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the preflight list about garments that a modifier makes in part, as Mirror and Array do: behind the simulation."""

from collections.abc import Iterator

import bpy

from ..read.modifier_stack import makers, rebuilders_before_rig, refining_before
from .problem import Problem, Shot

APPLY = ("taffeta.fix_makers",)


def obstacle(obj: bpy.types.Object, maker: bpy.types.Modifier) -> str:
    """What to do instead where Blender cannot apply a modifier, or would apply it to another shape; "" where it can."""
    if obj.override_library is not None or obj.data.library is not None:
        return f"Apply {maker.name} in the file that {obj.name} is linked from"
    if obj.data.shape_keys is not None:
        return f"Delete the shape keys of {obj.name}, with which Blender cannot apply {maker.name}, and apply it"
    if obj.data.users > 1:
        return (
            f"Make the mesh of {obj.name} single (Object > Relations > Make Single User > Object & Data), "
            f"and apply {maker.name}"
        )
    if before := refining_before(obj, maker):
        return f"Move {maker.name} of {obj.name} above {before}, and apply it there"
    return ""


def making(obj: bpy.types.Object) -> tuple[str, tuple[str, ...]]:
    """Remedy and verbs for a garment's first maker; ("", ()) without one."""
    for maker in makers(obj):
        hindered = obstacle(obj, maker)
        return hindered or f"Apply {maker.name}", () if hindered else APPLY
    return "", ()


def _makers(shot: Shot) -> Iterator[Problem]:
    """Modifiers that make a part of a garment, of which the bake knows nothing."""
    for obj in shot.cloths:
        rigs = {maker: rig for maker, rig in reversed(rebuilders_before_rig(obj))}
        for maker in makers(obj):
            hindered = obstacle(obj, maker)
            remedy, verbs = hindered or f"Apply {maker.name}, so that all of it is cloth", () if hindered else APPLY
            rig = rigs.get(maker.name)
            if rig is not None:
                sentence = f"{obj.name}: {maker.name} makes a part of it before {rig} moves it, and only what is modelled is simulated"
                yield Problem("ERROR", obj.name, sentence, remedy, verbs)
            else:
                sentence = f"{obj.name}: {maker.name} makes a part of it, but only what is modelled is simulated"
                yield Problem("WARNING", obj.name, sentence, remedy, verbs, heavy=maker.type != "ARRAY")


def _behind_a_cage(shot: Shot) -> Iterator[Problem]:
    """The same of garments that follow a cage, which was made of what is modelled."""
    for obj in shot.scene.objects:
        for maker in makers(obj) if obj.type == "MESH" and obj.taffeta_cage.cage in shot.cloths else ():
            sentence = f"{obj.name}: {maker.name} makes a part of it, but only what is modelled is simulated"
            remedy = f"Remove the cage of {obj.name}, apply {maker.name}, and make the cage anew"
            yield Problem("WARNING", obj.name, sentence, remedy, heavy=maker.type != "ARRAY")


MAKER_CHECKS = (_makers, _behind_a_cage)
