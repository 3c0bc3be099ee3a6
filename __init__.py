# SPDX-License-Identifier: GPL-3.0-or-later
"""Taffeta: cloth simulation for Blender. Nothing of Blender, and no numba, is imported until Blender registers it.

`bake` is for scripts (docs/python.md); all else goes by `bpy.ops.taffeta`.
"""

import atexit


def register():
    """Add Taffeta's settings, panels and operators to Blender."""
    import bpy

    from . import operators, panels

    panels.register()
    operators.register()
    if bpy.app.module:  # Blender itself switches add-ons off when it ends; as a module, 4.5 crashes on what is left
        atexit.register(unregister)


def unregister():
    """Take everything out again, in reverse order."""
    from . import operators, panels

    atexit.unregister(unregister)
    operators.unregister()
    panels.unregister()


def bake(objects=None, frames=None, on_frame=None, **options):
    """Bake cloth from a script, and return where the frames lie: see `operators.scripted.bake`, whose arguments these are."""
    from .operators import scripted

    return scripted.bake(objects, frames, on_frame, **options)
