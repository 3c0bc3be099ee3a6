# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose turn it is: one simulation at a time is shown in viewports without a bake; and what the last looked like."""

from collections.abc import Callable
from typing import NamedTuple

import bpy
import numpy as np

from ..bake import job as jobs
from ..bake.order import read_order
from ..read.participants import find_object, refuse_linked


class Kept(NamedTuple):
    """What the garments looked like when a simulation ended."""

    scene: str
    frame: int
    garments: list[tuple[int, str, np.ndarray]]  # uid, name, world positions (n, 3) [m]


_end: Callable[[], None] | None = None  # ends the one whose turn it is
_kept: Kept | None = None


def refuse() -> None:
    """Raise ValueError where something simulates already: a sentence with a remedy."""
    if jobs.running() or _end is not None:
        raise ValueError("A simulation is under way; wait for it or press Stop")


def order_of(scene: bpy.types.Scene) -> tuple[jobs.Order, list[bpy.types.Object]]:
    """What is to be simulated, as for a bake, and the garments' objects.

    Raises
    ------
    ValueError
        Something simulates already, or is wrong with the scene: a sentence with a remedy.
    """
    refuse()
    order = read_order(scene, kept=False)
    objects = [find_object(known.uid, known.name) for known in order.garment_objects]
    for obj in objects:
        refuse_linked(obj)
    return order, objects


def take(end: Callable[[], None]) -> None:
    """It is somebody's turn, who leaves all as it was when `end` is called, and gives it back."""
    global _end
    _end = end


def give_back(order: jobs.Order, frame: int, cloth: NamedTuple, x: np.ndarray) -> None:
    """The turn is over; where the particles were last, x (n, 3) [m], is kept aside for `taffeta.keep_pose`."""
    global _end, _kept
    bounds = zip(cloth.garment_start[:-1], cloth.garment_start[1:], order.garment_objects, strict=True)
    places = x + cloth.origin
    garments = [(known.uid, known.name, places[first:last].copy()) for first, last, known in bounds]
    _end, _kept = None, Kept(order.scene, frame, garments)


def end() -> None:
    """End what is shown, if anything is, as if it was stopped."""
    if _end is not None:
        _end()


def is_taken() -> bool:
    """Whether a simulation is shown now."""
    return _end is not None


def kept() -> Kept | None:
    """What the last simulation left, if its garments are still there."""
    known = {obj.session_uid for obj in bpy.data.objects}
    return _kept if _kept is not None and all(uid in known for uid, _, _ in _kept.garments) else None


def forget() -> None:
    """Keep nothing any more."""
    global _kept
    _kept = None
