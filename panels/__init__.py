# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator sees: every setting (`properties`) and the Physics tab. Calls operators by bl_idname only."""

from . import bakes, cloth, collider, fabric, layers, properties, scene, session, show, shown, takes

# Properties first: the panels show them. Undone in reverse.
SUBMODULES = (properties, session, fabric, cloth, layers, scene, bakes, takes, collider, show, shown)


def register():
    """Register every submodule in order; a failure raises."""
    for module in SUBMODULES:
        module.register()


def unregister():
    """Undo `register` in reverse order."""
    for module in reversed(SUBMODULES):
        module.unregister()
