# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks that objects bear, by which takes and wedges know them whatever they are called by now: `Object.taffeta_mark`.

No pointers: Blender keeps an object in the file that something points to, so that what was deleted would still have its name.
"""

import bpy
from bpy.props import StringProperty

from .mapped import OVERRIDE


def bearer(scene: bpy.types.Scene, mark: str, before: str) -> str | None:
    """What the object of a scene that bears a mark is called by now; None where that is not known. Of duplicates, which bear their
    original's until they are marked themselves, the one that is called as `before`.
    """
    names = [obj.name for obj in scene.objects if mark and obj.taffeta_mark == mark]
    if before in names:
        return before
    return names[0] if len(names) == 1 else None


def register():
    """Let objects bear marks."""
    bpy.types.Object.taffeta_mark = StringProperty(
        description="By which takes and wedges know it", options={"HIDDEN"}, override=OVERRIDE
    )


def unregister():
    """Take them away."""
    del bpy.types.Object.taffeta_mark
