# SPDX-License-Identifier: GPL-3.0-or-later
"""Which settings are animated: by keyframes or drivers, of the object itself or of what it hangs on."""

import re
from collections.abc import Iterator

import bpy

from ...solver.model import Settings
from .modifier_stack import rigs

ATTACHMENTS = "taffeta_cloth.attachments"  # data path of the list


def curves(owner: bpy.types.ID) -> Iterator[bpy.types.FCurve]:
    """The curves of an object's, scene's or shape key's action."""
    action = owner.animation_data.action if owner.animation_data else None
    if action is not None:
        for bag in (bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags):
            yield from bag.fcurves


def keyed(owner: bpy.types.ID) -> set[str]:
    """Data paths, like "taffeta.wind", that keyframes or drivers of `owner` set anew in every frame."""
    drivers = owner.animation_data.drivers if owner.animation_data else ()
    return {curve.data_path.removesuffix("_shown") for curve in (*curves(owner), *drivers)}  # see panels/units.py


def moves(obj: bpy.types.Object) -> bool:
    """Whether an object, or what it is parented to, has animation or constraints of any kind."""
    while obj is not None:
        if obj.animation_data is not None or len(obj.constraints):
            return True
        obj = obj.parent
    return False


def is_animated(obj: bpy.types.Object) -> bool:
    """Whether an object moves or changes its shape: by itself, by what carries it, by shape keys, or by a rig."""
    keys = obj.data.shape_keys if obj.type == "MESH" else None
    if moves(obj) or keys is not None and keys.animation_data is not None:
        return True
    return any(_carries(modifier) for modifier in rigs(obj))


def _carries(modifier: bpy.types.Modifier) -> bool:
    """Whether a rig may move its mesh: a file of positions does, another object does if it is animated itself."""
    carrier = getattr(modifier, "object", None) or getattr(modifier, "target", None)
    if carrier is None:
        return modifier.type in {"MESH_CACHE", "MESH_SEQUENCE_CACHE"}
    return is_animated(carrier)


def keyed_settings(scene: bpy.types.Scene) -> list[str]:
    """Names of the solver's settings that are sampled in every frame, because they are animated."""
    paths = keyed(scene)
    return [name for name in Settings._fields if f"taffeta.{name}" in paths]


def pin_moves(obj: bpy.types.Object) -> bool:
    """Whether how firmly a garment is pinned, or attached, is animated, and sampled in every frame."""
    return any(path.startswith(("taffeta_cloth.pin.", ATTACHMENTS + "[")) for path in keyed(obj))


def map_moves(obj: bpy.types.Object, name: str) -> bool:
    """Whether the numbers of one of a garment's mapped properties are animated."""
    return any(path.startswith(f"taffeta_cloth.{name}.") for path in keyed(obj))


def drop_keys(obj: bpy.types.Object, removed: int) -> None:
    """Take the keyframes and drivers of a garment's attachment away before it is removed, and let those of the ones behind it
    go with them."""
    if obj.animation_data is None:
        return
    action = obj.animation_data.action
    bags = [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags] if action else []
    for found in (*(bag.fcurves for bag in bags), obj.animation_data.drivers):
        for curve in list(found):
            index = re.match(re.escape(ATTACHMENTS) + r"\[(\d+)\]", curve.data_path)
            if index and int(index[1]) == removed:
                found.remove(curve)
            elif index and int(index[1]) > removed:
                curve.data_path = f"{ATTACHMENTS}[{int(index[1]) - 1}]" + curve.data_path[index.end() :]
