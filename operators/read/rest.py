# SPDX-License-Identifier: GPL-3.0-or-later
"""What a garment strives for and keeps, from Blender: a second rest shape, and how bending and stretch stay."""

import zlib
from collections.abc import Sequence
from typing import NamedTuple

import bpy
import numpy as np

from .arrays import key_positions
from .keyed import keyed

NUMBERS = "bend_yield", "bend_rate", "stretch_yield", "stretch_rate"
RATES = "bend_rate", "stretch_rate"
PATH = "taffeta_cloth.rest."


class RestNow(NamedTuple):
    """What a frame says of a garment's rest shape."""

    blend: float  # 0 its own rest shape, 1 the second one
    yields: tuple[float, ...]  # a row of `FrameInput.yields`


def second_key(obj: bpy.types.Object) -> bpy.types.ShapeKey | None:
    """The shape key that is a garment's second rest shape; None where it has none.

    Raises
    ------
    ValueError
        There is no such shape key: names the object and the remedy.
    """
    name = obj.taffeta_cloth.rest.key
    if not name:
        return None
    keys = obj.data.shape_keys.key_blocks if obj.data.shape_keys else ()
    found = next((key for key in keys if key.name == name), None)
    if found is None:
        known = ", ".join(key.name for key in keys) or "none"
        raise ValueError(
            f"{obj.name}: there is no shape key '{name}' for its second rest shape (it has {known}); choose one or leave "
            "it empty"
        )
    return found


def yields(obj: bpy.types.Object) -> bool:
    """Whether bending or stretch of a garment stays at any time: a rate is above 0, or animated."""
    rest, paths = obj.taffeta_cloth.rest, keyed(obj)
    return any(getattr(rest, name) > 0.0 or PATH + name in paths for name in RATES)


def rest_now(obj: bpy.types.Object, evaluated: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> RestNow:
    """A garment's `RestNow` as the dependency graph shows it."""
    settings, blend = evaluated.taffeta_cloth.rest, 0.0
    if (key := second_key(obj)) is not None:
        blend = float(obj.data.shape_keys.evaluated_get(depsgraph).key_blocks[key.name].value)
    return RestNow(blend, tuple(float(getattr(settings, name)) for name in NUMBERS))


def rest_inputs(garments: Sequence[RestNow]) -> dict[str, object]:
    """The fields of `FrameInput` about rest shapes; none where no garment says anything."""
    found: dict[str, object] = {}
    if any(now.blend for now in garments):
        found["rest_blend"] = tuple(now.blend for now in garments)
    if any(now.yields[NUMBERS.index(name)] for now in garments for name in RATES):
        found["yields"] = np.array([now.yields for now in garments], float)
    return found


def summary(obj: bpy.types.Object) -> list:
    """What a garment is built with: its second rest shape, and whether it yields."""
    name = obj.taffeta_cloth.rest.key
    keys = obj.data.shape_keys.key_blocks if obj.data.shape_keys else {}
    return [name, zlib.crc32(key_positions(keys[name])) if name in keys else None, yields(obj)]


def prints(obj: bpy.types.Object) -> dict[str, object]:
    """A garment's settings of these by the words that an animator knows, without what is animated."""
    rest, paths = obj.taffeta_cloth.rest, keyed(obj)
    numbers = [None if PATH + name in paths else round(getattr(rest, name), 6) for name in NUMBERS]
    return {"Second Rest Shape": summary(obj)[:2], "Plasticity": numbers}
