# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of other releases of Taffeta: fingerprints of two releases are not comparable, settings that both have are."""

from pathlib import Path

import bpy

from ...solver.cache import recipe
from ..read import snapshot
from . import fingerprint


def changes(path: Path | None, scene: bpy.types.Scene, obj: bpy.types.Object) -> str:
    """Labels of the settings that a new bake would have otherwise than the one at `path`, as the end of a sentence; "" where all that
    both releases know is the same, or where the bake's settings were not kept."""
    if path is None or not recipe.is_kept(path):
        return ""
    try:
        settings = recipe.read(path).settings
    except ValueError:
        return ""
    return fingerprint.sentence(snapshot.differing(settings, scene, obj))
