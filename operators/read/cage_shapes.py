# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cage has come to by hand, a rest shape of its own and shape keys, handed down to its garment: what follows the cage at rest
has the same shapes."""

from typing import NamedTuple

import bpy
import numpy as np

from . import copied_keys, copied_strips
from .arrays import key_positions, positions
from .cage import MODIFIER_NAME, at_rest
from .shape_key import make_rest, refuse_shared
from .shown import shown_positions
from .write_back import set_key

RESHAPED = 2e-4  # of a garment's size by which its cage takes it elsewhere at rest, if that has a rest shape of its own


class Shapes(NamedTuple):
    """What only a cage has."""

    rest: (
        np.ndarray | None
    )  # (n, 3) [Blender units, object space] how far its rest shape takes the garment's vertices; None where it has none
    names: list[str]  # of its shape keys


def shapes_of(obj: bpy.types.Object, cage: bpy.types.Object) -> Shapes:
    """What a cage has and its garment has not."""
    moved = _follow(obj, cage, 0)
    size = float(np.ptp(positions(obj.data), axis=0).max(initial=0.0))
    keys, known = cage.data.shape_keys, obj.data.shape_keys
    names = [key.name for key in keys.key_blocks if key != keys.reference_key] if keys else []
    names = [name for name in names if known is None or name not in known.key_blocks]
    return Shapes(moved if np.abs(moved).max(initial=0.0) > RESHAPED * size else None, names)


def hand_down(obj: bpy.types.Object, cage: bpy.types.Object, shapes: Shapes) -> None:
    """Give a garment the rest shape and the shape keys that only its cage has, with their keyframes, strips and drivers, while it follows that.

    Raises
    ------
    ValueError
        Its mesh cannot take them: a sentence, and nothing is changed.
    """
    if shapes.rest is None and not shapes.names:
        return
    refuse_shared(obj)
    own = cage.data.shape_keys.key_blocks if shapes.names else {}
    rest, there = _follow(obj, cage, 0), {name: _follow(obj, cage, own.find(name)) for name in shapes.names}
    if shapes.rest is not None:
        make_rest(obj, "", shapes.rest)
    for name in shapes.names:
        if obj.data.shape_keys is None:
            obj.shape_key_add(name="Basis", from_mix=False)
        key, of_cage = obj.shape_key_add(name=name, from_mix=False), own[name]
        key.slider_min, key.slider_max = of_cage.slider_min, of_cage.slider_max
        key.value, key.mute = of_cage.value, of_cage.mute
        set_key(key, key_positions(obj.data.shape_keys.reference_key) + there[name] - rest)
    if shapes.names:
        prefixes = [f'key_blocks["{bpy.utils.escape_identifier(name)}"].' for name in shapes.names]
        keys, of_cage = obj.data.shape_keys, cage.data.shape_keys
        with copied_strips.none_tweaked(of_cage):
            copied_keys.copy(of_cage, keys, prefixes, {cage: obj, cage.data: obj.data, of_cage: keys})
            copied_strips.copy(of_cage, keys, tuple(prefixes))


def _follow(obj, cage, index: int) -> np.ndarray:
    """(n, 3) [Blender units, object space] how far a garment's vertices go with one of its cage's shape keys, by number, at rest."""
    modifier = obj.modifiers[MODIFIER_NAME]
    with at_rest((obj,), modifier), at_rest((cage,), None, index):
        x = shown_positions(obj, bpy.context.evaluated_depsgraph_get())
    return x.astype(float) - positions(obj.data)
