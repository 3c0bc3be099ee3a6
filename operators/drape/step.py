# SPDX-License-Identifier: GPL-3.0-or-later
"""A step of cloth that is draped, as a worker takes it: plain arrays in, plain arrays out."""

from dataclasses import dataclass

from ...solver.model import Cloth, FrameInput, Settings, State
from ..bake.job import FAILURES


@dataclass
class Step:
    """A step under way. A worker calls `run` and nothing else; the state is the step's own."""

    cloth: Cloth
    state: State
    frame_input: FrameInput
    settings: Settings
    number: int
    epoch: int  # of the drape: it has another one by now, and does not want the result
    error: str = ""

    def run(self) -> None:
        """Simulate; what goes wrong is a sentence in `error`."""
        from ...solver.step import advance  # here, because it imports numba

        try:
            advance(self.cloth, self.state, self.frame_input, self.number, self.settings)
        except FAILURES as error:
            self.error = str(error)
