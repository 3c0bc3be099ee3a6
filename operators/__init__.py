# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator presses: one file a verb, and `mesh_io`, the only border between Blender data and arrays."""

from . import (
    bake,
    command,
    export,
    free,
    live,
    overlay,
    paint,
    playback,
    preflight,
    preset,
    scenes,
    sequence,
    setup,
    untangle,
)  # fmt: skip

# In the order of registration; undone in reverse.
SUBMODULES = (
    playback, sequence, preflight, free, export, setup, preset, paint, overlay, scenes, untangle, bake, live, command,
)  # fmt: skip


def register():
    """Register every submodule in order; a failure raises."""
    for module in SUBMODULES:
        module.register()


def unregister():
    """Undo `register` in reverse order."""
    for module in reversed(SUBMODULES):
        module.unregister()
