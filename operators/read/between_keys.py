# SPDX-License-Identifier: GPL-3.0-or-later
"""What of an animation is not its keys: how curves go from one to the next, and how strips of the Nonlinear Animation play them."""

import zlib

import bpy
import numpy as np

PLAIN = frozenset(("BOOLEAN", "INT", "FLOAT", "ENUM"))
LOOKS = frozenset(("active", "is_valid", "select", "show_expanded"))  # of modifiers of curves, that move nothing
BEZIER = 2  # how Blender numbers ways between keys: constant, linear, by handles, and then those that ease
BY_HAND = 0, 3  # Free and Aligned: handles of the other kinds follow from the keys
STRIP = (
    "frame_start", "frame_end", "action_frame_start", "action_frame_end", "scale", "repeat", "blend_type", "extrapolation",
    "use_reverse", "blend_in", "blend_out",
)  # fmt: skip


def curve_sum(curve: bpy.types.FCurve) -> int:
    """Checksum of how a curve goes between its keys and beyond: handles, easing, modifiers, and whether it is muted."""
    points = curve.keyframe_points
    kinds = _whole(points, "interpolation")
    checksum = zlib.crc32(kinds)
    if (kinds == BEZIER).any():
        for side in ("handle_left", "handle_right"):
            handles = _whole(points, f"{side}_type")
            checksum = zlib.crc32(handles, checksum)
            by_hand = np.isin(handles, BY_HAND)
            if by_hand.any():
                places = _numbers(points, side, 2)[by_hand]
                checksum = zlib.crc32(places.round(4) + 0.0, checksum)
    if (kinds > BEZIER).any():
        checksum = zlib.crc32(_whole(points, "easing"), checksum)
        for name in ("amplitude", "back", "period"):
            checksum = zlib.crc32(_numbers(points, name, 1), checksum)
    modifiers = [[modifier.type, _plain(modifier)] for modifier in curve.modifiers]
    return zlib.crc32(f"{curve.mute} {curve.extrapolation} {curve.auto_smoothing} {modifiers}".encode(), checksum)


def _numbers(points, name, width) -> np.ndarray:
    values = np.empty((len(points), width), np.float32)
    points.foreach_get(name, values.ravel())
    return values


def _whole(points, name) -> np.ndarray:
    values = np.empty(len(points), np.int32)
    points.foreach_get(name, values)
    return values


def _plain(owner) -> list:
    """Plain values of a modifier of a curve."""
    found = []
    for prop in owner.bl_rna.properties:
        if prop.type in PLAIN and prop.identifier not in LOOKS:
            value = getattr(owner, prop.identifier)
            found.append(np.ravel(value).round(6).tolist() if getattr(prop, "is_array", False) else value)
    return found


def strips_text(owner: bpy.types.ID) -> str:
    """When and how much the strips of an object, scene or shape key play, as text; "" without any."""
    data = owner.animation_data
    tracks = [track for track in data.nla_tracks if not track.mute] if data is not None else []
    found = [[track.is_solo, [_strip(strip) for strip in track.strips]] for track in tracks]
    return f"{found} {data.action_influence:.6g} {data.action_blend_type} {data.use_nla}" if found else ""


def _strip(strip) -> list:
    """A strip, and those in it."""
    influence = None if strip.use_animated_influence else round(strip.influence, 6)
    values = [getattr(strip, name) for name in STRIP]
    inner = [_strip(part) for part in strip.strips]
    return [*(round(value, 4) if isinstance(value, float) else value for value in values), influence, strip.mute, inner]
