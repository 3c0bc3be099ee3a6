# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator sees: every setting (`properties`) the Physics tab, and the Taffeta panel of the Scene tab. Calls operators by bl_idname only."""

from . import (
    bakes,
    bar,
    cage,
    cloth,
    collider,
    correct,
    drape,
    fabric,
    layers,
    marks,
    more,
    preferences,
    properties,
    rest_shape,
    scene,
    scene_tab,
    session,
    show,
    shown,
    takes,
    translations,
    trim,
    wedges,
)

# Properties first: the panels show them. Below More, panels stand in this order. Undone in reverse.
SUBMODULES = (
    translations, preferences, properties, session, fabric, bar, cloth, scene, bakes, marks, takes, wedges, correct, more, cage, rest_shape, layers, scene_tab, collider, trim, show, shown,
    drape,
)  # fmt: skip


def register():
    """Register every submodule in order; a failure raises."""
    for module in SUBMODULES:
        module.register()


def unregister():
    """Undo `register` in reverse order."""
    for module in reversed(SUBMODULES):
        module.unregister()
