# SPDX-License-Identifier: GPL-3.0-or-later
"""Strips of the Nonlinear Animation that animate what another data-block has, too, copied to it.

Strips of a meta strip stand alone then, as they play; transitions between strips, and sounds, are none of numbers.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from . import copied_keys
from .keyed import curves_in

ACTIVE = "action_blend_type", "action_extrapolation", "action_influence"  # how the action lies over the strips
RANGES = "action_frame_start", "action_frame_end", "scale", "repeat"  # of the action, before where the strip lies
TIMES = "frame_start", "frame_end"


@contextmanager
def none_tweaked(owner: bpy.types.ID) -> Iterator[None]:
    """Leave a strip that is tweaked, whose action Blender gives for the one that lies over all strips."""
    data = owner.animation_data
    is_tweaked = data is not None and data.use_tweak_mode
    if is_tweaked:
        data.use_tweak_mode = False
    try:
        yield
    finally:
        if is_tweaked:
            data.use_tweak_mode = True


def copy(source: bpy.types.ID, target: bpy.types.ID, begins: tuple[str, ...]) -> None:
    """Give `target` the strips of `source` that animate data paths which begin so, each track as one of its own."""
    data, own, actions = source.animation_data, target.animation_data, {}
    if data is None:
        return
    known = len(own.nla_tracks) if own is not None else 0
    for track in data.nla_tracks:
        own_track = None
        for strip in _in_order(track.strips):
            action = _action_of(strip, begins, actions)
            if action is None:
                continue
            if own_track is None:
                own_track = target.animation_data_create().nla_tracks.new()
                own_track.name, own_track.mute, own_track.lock = track.name, track.mute, track.lock
            _copy_strip(strip, own_track, action)
        if own_track is not None and track.is_solo:
            own_track.is_solo = True
    own = target.animation_data
    if not known and own is not None and len(own.nla_tracks):
        own.use_nla = data.use_nla
        for name in ACTIVE:
            setattr(own, name, getattr(data, name))


def _in_order(strips) -> Iterator[bpy.types.NlaStrip]:
    """Strips, and those of meta strips in their place; none of a meta strip that is muted."""
    for strip in strips:
        if strip.type == "META" and not strip.mute:
            yield from _in_order(strip.strips)
        elif strip.type == "CLIP":
            yield strip


def _action_of(strip, begins, actions) -> bpy.types.Action | None:
    """A copy of a strip's action without the curves that begin otherwise, the same for all its strips; None where nothing is left."""
    if strip.action is None or strip.action_slot is None:
        return None
    known = strip.action, strip.action_slot.handle
    if known not in actions:
        actions[known] = None
        if any(curve.data_path.startswith(begins) for curve in curves_in(strip.action, strip.action_slot)):
            actions[known] = strip.action.copy()
            _keep(actions[known], known[1], begins)
    return actions[known]


def _keep(action, handle, begins) -> None:
    """Take everything out of an action but the curves of a slot that begin so."""
    for slot in [slot for slot in action.slots if slot.handle != handle]:
        action.slots.remove(slot)
    for bag in [bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]:
        for curve in [curve for curve in bag.fcurves if not curve.data_path.startswith(begins)]:
            bag.fcurves.remove(curve)


def _copy_strip(strip, track, action) -> None:
    own = track.strips.new(strip.name, round(strip.frame_start), action)
    own.action_slot = action.slots[0]
    own.use_sync_length = False  # which would make it as long as its curves, that are fewer now
    for name in (*RANGES, *TIMES):
        setattr(own, name, getattr(strip, name))
    copied_keys.copy_settings(strip, own, {*RANGES, *TIMES, "use_sync_length", "name"})
    for curve in strip.fcurves:  # of its influence, and of its time
        copied_keys.fill(curve, own.fcurves.find(curve.data_path))
    for modifier in strip.modifiers:
        copied_keys.copy_settings(modifier, own.modifiers.new(modifier.type))
