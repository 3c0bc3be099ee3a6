# SPDX-License-Identifier: GPL-3.0-or-later
"""Which settings are animated: by keyframes or drivers, of the object itself or of what it hangs on."""

from collections.abc import Iterator

import bpy


def curves(owner: bpy.types.ID) -> Iterator[bpy.types.FCurve]:
    """The curves of an object's, scene's or shape key's action."""
    action = owner.animation_data.action if owner.animation_data else None
    if action is not None:
        for bag in (bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags):
            yield from bag.fcurves


def keyed(owner: bpy.types.ID) -> set[str]:
    """Data paths, like "taffeta.wind", that keyframes or drivers of `owner` set anew in every frame."""
    drivers = owner.animation_data.drivers if owner.animation_data else ()
    return {curve.data_path for curve in (*curves(owner), *drivers)}


def moves(obj: bpy.types.Object) -> bool:
    """Whether an object, or what it is parented to, has animation or constraints of any kind."""
    while obj is not None:
        if obj.animation_data is not None or len(obj.constraints):
            return True
        obj = obj.parent
    return False
