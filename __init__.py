# SPDX-License-Identifier: GPL-3.0-or-later
"""Taffeta: cloth simulation for Blender. Nothing of Blender, and no numba, is imported until Blender registers it."""


def register():
    """Add Taffeta's settings, panels and operators to Blender."""
    from . import operators, panels

    panels.register()
    operators.register()


def unregister():
    """Take everything out again, in reverse order."""
    from . import operators, panels

    operators.unregister()
    panels.unregister()
