# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes that were set aside when something else was baked in their place.

Nothing is ever deleted unasked, so they pile up: the panel says how many there are and what room they take.
"""

from pathlib import Path

import bpy

from ..solver.cache.names import older_bakes, parts, safe_name
from . import playback
from .checks import cache_folder


def own_older(obj: bpy.types.Object, scene: bpy.types.Scene) -> list[Path]:
    """Bakes of this garment that were set aside, whether or not one plays now.

    None of another .blend's, nor of the garment that this one is a copy of.
    """
    path = playback.cache_file(obj)
    own = cache_folder(scene) / f"{safe_name(obj.taffeta_cloth.cache_name or obj.name)}.pc2"
    if path is None or playback.shared_with(obj):
        path = own
    return [older for older in older_bakes(path) if not playback.is_foreign(older)]


def told(paths: list[Path]) -> str:
    """How many bakes these are, and the room they take."""
    size = sum(part.stat().st_size for path in paths for part in parts(path) if part.is_file())
    room = f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"
    return f"{len(paths)} older {'bake' if len(paths) == 1 else 'bakes'} ({room})"
