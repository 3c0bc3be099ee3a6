# SPDX-License-Identifier: GPL-3.0-or-later
"""Having Blender call functions when something happens: pairs of the name of a list of `bpy.app.handlers` and a function."""

from collections.abc import Callable, Sequence

import bpy

Handlers = Sequence[tuple[str, Callable]]


def listen(handlers: Handlers) -> None:
    """Have them called, those first that stand first."""
    for name, handler in handlers:
        getattr(bpy.app.handlers, name).append(handler)


def listen_no_more(handlers: Handlers) -> None:
    """Undo `listen`; what is not persistent Blender has taken away itself where another file was opened."""
    for name, handler in handlers:
        if handler in getattr(bpy.app.handlers, name):
            getattr(bpy.app.handlers, name).remove(handler)
