# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of wedges' bakes among the shot's own, which no later bake of a wedge changes."""

from pathlib import Path

import bpy

from ..solver.cache import about, moves
from ..solver.cache import wedge as wedges
from ..solver.cache.names import older_bakes, older_name
from ..solver.cache.trash import size_of
from . import wedge_table
from .bakes import play
from .playback.bake_files import bake_paths, refuse_long, told_of
from .playback.owners import cache_file, owner_in


def keep_adopted(scene: bpy.types.Scene, cloths: list[bpy.types.Object]) -> int:
    """Let garments that play a wedge's bake play a copy of it among the shot's own.

    Returns the bytes that were copied: none of what was copied before.

    Raises
    ------
    ValueError, OSError
        It cannot be copied: a sentence, and the garment plays what it played.
    """
    copied = 0
    for obj, own in zip(cloths, bake_paths(scene, cloths), strict=True):
        path = cache_file(obj)
        if path is None or obj.library or own.parent == path.parent or wedges.shot_folder(path.parent) == path.parent:
            continue
        place, is_there = place_of(own, path)
        if not is_there:
            refuse_long(place)
            if not moves.copy_frames(path, place, owner_in(place.parent)):
                raise ValueError(f"{obj.name} has no whole frame in {path}; bake that wedge again")
            copied += size_of([place])
        play(obj, told_of(place))
    return copied


def place_of(own: Path, path: Path) -> tuple[Path, bool]:
    """Where a copy of the bake at `path` lies among those of a garment that bakes to `own`, or would; and whether it does."""
    for place in (own, *older_bakes(own)):
        if moves.present(place) and is_same(place, path):
            return place, True
    return older_name(own) if moves.present(own) else own, False


def is_same(one: Path, other: Path) -> bool:
    """Whether one bake is a copy of the other."""
    return about.read(one) == about.read(other) and wedge_table.are_same_frames(one, other)
