# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that are disabled in viewports, enabled for a while: Blender does not evaluate them otherwise.

Keys and drivers may disable an object anew in each frame, in the midst of a shot. Theirs are muted meanwhile.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import bpy

from .keyed import actions_of, curves_in

PATH = "hide_viewport"
DRIVER = 0  # in the place of the action that a curve belongs to

Writer = tuple[int, int]  # session uids of an object, and of the action in which it is disabled


@contextmanager
def unhidden(objects: Iterable[bpy.types.Object]):
    """Enable these in viewports meanwhile, whatever keys and drivers say.

    Objects and curves are looked up again at the end, so that an undo in between does no harm.
    """
    objects = list(objects)
    hidden = {obj.session_uid for obj in objects if obj.hide_viewport}
    silenced = {writer for writer, curve in _writers(objects) if not curve.mute}
    try:
        _set_mute(silenced, mute=True)
        _set_hidden(hidden, hide=False)
        yield
    finally:
        _set_mute(silenced, mute=False)
        _set_hidden(hidden, hide=True)


def _writers(objects: Iterable[bpy.types.Object]) -> Iterator[tuple[Writer, bpy.types.FCurve]]:
    """The curves and drivers that disable objects."""
    for obj in objects:
        for action, slot in actions_of(obj):
            yield from (
                ((obj.session_uid, action.session_uid), curve) for curve in curves_in(action, slot) if _hides(curve)
            )
        drivers = obj.animation_data.drivers if obj.animation_data else ()
        yield from (((obj.session_uid, DRIVER), curve) for curve in drivers if _hides(curve))


def _hides(curve: bpy.types.FCurve) -> bool:
    return curve.data_path == PATH


def _set_mute(silenced: set[Writer], mute: bool) -> None:
    uids = {uid for uid, _ in silenced}
    if uids:
        for writer, curve in _writers(obj for obj in bpy.data.objects if obj.session_uid in uids):
            if writer in silenced:
                curve.mute = mute


def _set_hidden(uids: set[int], hide: bool) -> None:
    if uids:
        for obj in bpy.data.objects:
            if obj.session_uid in uids:
                obj.hide_viewport = hide
