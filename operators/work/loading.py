# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver made ready beside the window, for a simulation that is shown at once."""

import threading

import bpy

from ...solver import precompile
from ...solver.model import Settings

PREPARING = "Preparing the solver (the first time a minute or two)… Esc stops"


class Loader:
    """Has the kernels that a scene needs compiled, and then loaded here, in a thread."""

    def __init__(self, scene: bpy.types.Scene):
        self._stopped = threading.Event()
        about = scene.taffeta
        parts = precompile.parts_of(Settings(cloth_contact=about.cloth_contact, untangle_each=about.untangle_each))
        self._thread = threading.Thread(target=self._load, args=(parts,), name="Taffeta kernels")
        self._thread.start()

    def is_busy(self) -> bool:
        """Whether the solver is not ready yet."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Nobody needs it any more."""
        self._stopped.set()

    def _load(self, parts):
        if precompile.compile_kernels(parts, lambda: not self._stopped.is_set()):
            for part in parts:
                precompile.PARTS[part].compile()
