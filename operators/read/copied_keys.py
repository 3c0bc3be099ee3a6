# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyframes and drivers of single numbers that another data-block has, too, copied to it."""

from collections.abc import Iterable, Mapping

import bpy
import numpy as np

from .keyed import curves_in, targets_of

NUMBERS = {"co": 2, "handle_left": 2, "handle_right": 2, "amplitude": 1, "back": 1, "period": 1}  # how many a key has
KINDS = "interpolation", "easing", "handle_left_type", "handle_right_type"  # before handles, which they would move


def copy(
    source: bpy.types.ID, target: bpy.types.ID, prefixes: Iterable[str], instead: Mapping[bpy.types.ID, bpy.types.ID]
) -> None:
    """Give `target` the keyframes of the action of `source`, and its drivers, whose data paths begin so.

    instead : what drivers are to look at in the place of what they look at
    """
    data, begins = source.animation_data, tuple(prefixes)
    if data is None or not begins:
        return
    if data.action is not None and data.action_slot is not None:
        for curve in list(curves_in(data.action, data.action_slot)):
            if curve.data_path.startswith(begins) and len(curve.keyframe_points):
                _copy_curve(curve, target)
    for driver in data.drivers:
        if driver.data_path.startswith(begins):
            own = target.animation_data_create().drivers.from_existing(src_driver=driver)
            for looked_at, owner in targets_of(own):
                looked_at.id = instead.get(owner, owner)


def _copy_curve(curve, target) -> None:
    path, points = curve.data_path, curve.keyframe_points
    target.keyframe_insert(path, frame=points[0].co.x)
    data = target.animation_data
    fill(curve, next(one for one in curves_in(data.action, data.action_slot) if one.data_path == path))


def fill(curve: bpy.types.FCurve, own: bpy.types.FCurve) -> None:
    """Make a curve like another one."""
    points = curve.keyframe_points
    own.keyframe_points.clear()
    own.keyframe_points.add(len(points))
    for name in KINDS:
        values = np.empty(len(points), np.int32)
        points.foreach_get(name, values)
        own.keyframe_points.foreach_set(name, values)
    for name, width in NUMBERS.items():
        values = np.empty(width * len(points), np.float32)
        points.foreach_get(name, values)
        own.keyframe_points.foreach_set(name, values)
    own.extrapolation, own.mute, own.auto_smoothing = curve.extrapolation, curve.mute, curve.auto_smoothing
    for modifier in list(own.modifiers):  # Cycles, where the preferences give them to new curves
        own.modifiers.remove(modifier)
    for modifier in curve.modifiers:
        copy_settings(modifier, own.modifiers.new(modifier.type))
    own.update()


def copy_settings(source: bpy.types.bpy_struct, own: bpy.types.bpy_struct, without: Iterable[str] = ()) -> None:
    """Give a modifier or a strip the settings of another one."""
    for prop in source.bl_rna.properties:
        is_value = prop.type in {"BOOLEAN", "INT", "FLOAT", "ENUM", "STRING"}
        if is_value and not prop.is_readonly and prop.identifier not in without:
            setattr(own, prop.identifier, getattr(source, prop.identifier))
