# SPDX-License-Identifier: GPL-3.0-or-later
"""What undo goes back to while cloth is draped, and redo forth: where the cloth was before each stroke, and what held it."""

from typing import NamedTuple

import numpy as np

from ...solver.model import State

MOST_BYTES = 256_000_000  # of what undo goes back to; one stroke at least


class Past(NamedTuple):
    """How it was; arrays of its own."""

    state: State
    pinned: np.ndarray  # (n,) by hand
    places: np.ndarray  # (n, 3) [m] where

    @property
    def size(self) -> int:
        """Bytes, about."""
        return 2 * self.state.x.nbytes + self.places.nbytes + self.pinned.nbytes


class History:
    """Strokes to go back through and forth."""

    def __init__(self):
        self._undo: list[Past] = []
        self._redo: list[Past] = []

    def remember(self, now: Past) -> None:
        """A stroke begins; what was undone before cannot be redone any more."""
        self._undo.append(now)
        self._redo.clear()
        del self._undo[: -max(1, MOST_BYTES // now.size)]

    def forget(self) -> None:
        """Nothing came of the stroke."""
        self._undo.pop()

    def back(self, now: Past) -> Past | None:
        """How it was before the last stroke; None where there is none."""
        return _turn(self._undo, self._redo, now)

    def forth(self, now: Past) -> Past | None:
        """How it was before the last undo."""
        return _turn(self._redo, self._undo, now)


def _turn(there, back, now):
    if not there:
        return None
    back.append(now)
    return there.pop()
