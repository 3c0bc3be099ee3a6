# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of garments and bodies that are animated: found once before a bake, and read once a frame.

What is not animated is not looked at again. What is goes one way: Blender's numbers and maps as they are in the frame make a
`Garment` of that frame, and the solver makes its cloth of that (`solver.refit`). A body that does not collide in a frame is
left out of it.
"""

from typing import NamedTuple

import bpy
import numpy as np

from ...panels.mapped import FABRIC, THREADS
from ...solver.model import Garment
from .allowance import fold_in
from .keyed import keyed, map_moves
from .maps import read_map
from .trims import stiffen

MAPS = (*FABRIC, "shrink")  # mapped properties that a garment is built from
NUMBERS = (
    "self_collision",
    "sewing_time",
    "sewing_speed",
    "sewing_force",
    "seam_bending",
    "band_pull",
    "restitution",
    *THREADS,
)  # the other settings
BODY_NUMBERS = ("collides", "aura", "friction", "restitution", "viscosity")


class Told(NamedTuple):
    """What frames tell anew of a garment."""

    maps: tuple[str, ...] = ()  # of `MAPS`
    numbers: tuple[str, ...] = ()  # of `NUMBERS`


def told_of(obj: bpy.types.Object) -> Told:
    """What of a garment is animated."""
    paths = keyed(obj)
    return Told(
        tuple(name for name in MAPS if map_moves(obj, name)),
        tuple(name for name in NUMBERS if f"taffeta_cloth.{name}" in paths),
    )


def garments_now(objects: dict[int, bpy.types.Object], cloths, placed, frame: int) -> tuple[Garment, ...] | None:
    """The garments as they are now; None where all of them are as they were built.

    objects : by uid; cloths : `sampling.GarmentObject`s; placed : their objects as evaluated
    """
    if not any(any(known.told) for known in cloths):
        return None
    now = [
        garment_now(known.garment, known.told, objects[known.uid], evaluated, frame)
        if any(known.told)
        else known.garment
        for known, evaluated in zip(cloths, placed, strict=True)
    ]
    return tuple(now) if any(one is not known.garment for one, known in zip(now, cloths, strict=True)) else None


def garment_now(known: Garment, told: Told, obj: bpy.types.Object, evaluated: bpy.types.Object, frame: int) -> Garment:
    """A garment with what is animated as it is now; itself, where that is as it was.

    Raises
    ------
    ValueError
        A map is missing, or holds what is no number: names object, property and remedy.
    """
    cloth = evaluated.taffeta_cloth
    values = {name: read_map(obj, getattr(cloth, name), evaluated.data, frame) for name in told.maps}
    stiffen(obj, known.x, values)
    fold_in(obj, known.x, values)
    if known.twins is not None:
        from ...solver.geometry.weld import mean_of_twins  # here, because it imports scipy

        values = {name: mean_of_twins(known.twins, value) for name, value in values.items()}
    values = {name: value for name, value in values.items() if not np.array_equal(value, getattr(known, name))}
    numbers = {name: number(cloth, name) for name in told.numbers}
    values |= {name: value for name, value in numbers.items() if value != getattr(known, name)}
    return known._replace(**values) if values else known


def number(cloth: bpy.types.PropertyGroup, name: str) -> float | bool:
    """One of `NUMBERS` as the solver takes it: without a limit, sewing pulls with any force."""
    value = getattr(cloth, name)
    return (value or np.inf) if name == "sewing_force" else value


def body_told(obj: bpy.types.Object) -> bool:
    """Whether any of a body's `BODY_NUMBERS` is animated."""
    paths = keyed(obj)
    return any(f"taffeta_collider.{name}" in paths for name in BODY_NUMBERS)


def body_numbers(obj: bpy.types.Object) -> dict[str, float | bool]:
    """A body's settings that may be animated, as they are now; obj may be evaluated."""
    return {name: getattr(obj.taffeta_collider, name) for name in BODY_NUMBERS}
