# SPDX-License-Identifier: GPL-3.0-or-later
"""Which settings are animated: by keyframes or drivers, of the object itself or of what it hangs on."""

import math
import re
from collections.abc import Iterator

import bpy
import numpy as np

from ...solver.model import Settings
from .carriers import links
from .map_makers import makes, map_name
from .modifier_stack import rigs, simulated

ATTACHMENTS = "taffeta_cloth.attachments"  # data path of the list
OVERSHOOT = "BACK", "ELASTIC"  # ways from key to key that leave their values, wherever handles are


def actions_of(owner: bpy.types.ID) -> Iterator[tuple[bpy.types.Action, bpy.types.ActionSlot]]:
    """The actions that animate an object, scene or shape key, with the slot of each that is its own; those of strips in its
    Nonlinear Animation, too.
    """
    data = owner.animation_data
    if data is None:
        return
    if data.action is not None and data.action_slot is not None:
        yield data.action, data.action_slot
    waiting = [strip for track in data.nla_tracks if not track.mute for strip in track.strips]
    while waiting:
        strip = waiting.pop(0)
        waiting += strip.strips  # of a meta strip
        if strip.action is not None and strip.action_slot is not None and not strip.mute:
            yield strip.action, strip.action_slot


def curves_in(action: bpy.types.Action, slot: bpy.types.ActionSlot) -> Iterator[bpy.types.FCurve]:
    """The curves that an action has for one of its slots."""
    for bag in (bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags):
        if bag.slot_handle == slot.handle:
            yield from bag.fcurves


def curves(owner: bpy.types.ID) -> Iterator[bpy.types.FCurve]:
    """The curves that animate an object, scene or shape key."""
    for action, slot in actions_of(owner):
        yield from curves_in(action, slot)


def span(curve: bpy.types.FCurve) -> float:
    """How far apart any two values of a curve can be: those of its keys and their handles, between which it stays; infinity where
    it may leave them.
    """
    points = curve.keyframe_points
    leaves = curve.modifiers or (curve.extrapolation == "LINEAR" and len(points) > 1)
    if leaves or not len(points) or any(point.interpolation in OVERSHOOT for point in points):
        return math.inf
    values = np.empty((3, 2 * len(points)), np.float32)
    for name, row in zip(("co", "handle_left", "handle_right"), values, strict=True):
        points.foreach_get(name, row)
    return float(np.ptp(values[:, 1::2]))


def our_drivers(owner: bpy.types.ID) -> list[bpy.types.FCurve]:
    """The drivers of Taffeta's settings of an object or a scene."""
    drivers = owner.animation_data.drivers if owner.animation_data else ()
    return [curve for curve in drivers if curve.data_path.startswith("taffeta")]


def targets_of(driver: bpy.types.FCurve) -> Iterator[tuple[bpy.types.DriverTarget, bpy.types.ID]]:
    """What a driver looks at: its targets, and the objects or other data that these are parts of."""
    for target in (target for variable in driver.driver.variables for target in variable.targets):
        if target.id is not None:
            yield target, target.id


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
    """Whether an object moves or changes its shape: by itself, by what carries it, by shape keys, or by a rig, also one whose
    bones follow another.
    """
    waiting, seen = [(obj, False)], set()
    while waiting:
        one, posed = waiting.pop()
        if moves(one) or _changes_shape(one):
            return True
        for link in links(one, rigs(one), posed):
            if link not in seen:  # rigs may look at each other
                seen.add(link)
                waiting.append(link)
    return False


def _changes_shape(obj) -> bool:
    """Whether shape keys or a file of positions do so."""
    keys = getattr(obj.data, "shape_keys", None)
    if keys is not None and keys.animation_data is not None:
        return True
    return any(modifier.type in {"MESH_CACHE", "MESH_SEQUENCE_CACHE"} for modifier in rigs(obj))


def keyed_settings(scene: bpy.types.Scene) -> list[str]:
    """Names of the solver's settings that are sampled in every frame, because they are animated."""
    paths = keyed(scene)
    return [name for name in Settings._fields if f"taffeta.{name}" in paths]


def is_moving_map(obj: bpy.types.Object, name: str) -> bool:
    """Whether the map of one of a garment's mapped properties may be another one in each frame."""
    mapped = getattr(obj.taffeta_cloth, name)
    if mapped.source == "IMAGE":
        return mapped.image is not None and mapped.image.source in ("SEQUENCE", "MOVIE")
    wanted = map_name(mapped)
    if not wanted:
        return False
    if mapped.source == "ATTRIBUTE" and obj.data.animation_data is not None:
        return True
    own = list(obj.modifiers)
    return any(makes(modifier, wanted) for modifier in own[: len(own) - len(simulated(obj))] if modifier.show_viewport)


def pin_moves(obj: bpy.types.Object) -> bool:
    """Whether how firmly a garment is pinned, or attached, is animated, and sampled in every frame."""
    return map_moves(obj, "pin") or any(path.startswith(ATTACHMENTS + "[") for path in keyed(obj))


def map_moves(obj: bpy.types.Object, name: str) -> bool:
    """Whether one of a garment's mapped properties is animated: its numbers, or the map itself."""
    return any(path.startswith(f"taffeta_cloth.{name}.") for path in keyed(obj)) or is_moving_map(obj, name)


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
