# SPDX-License-Identifier: GPL-3.0-or-later
"""Images of coming frames: what is known of these, and what a window has drawn while a worker simulates."""

import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from ...solver.model import LDI, FrameInput

FRAMES_AHEAD = 4  # of the one that is simulated: the farther, the wider must an image be


class Drawn(NamedTuple):
    """An image of a coming frame."""

    image: object  # solver.ldi.ahead.WideImage
    seconds: float  # that it took


class Ahead:
    """Coming frames and their images. `expect` and `draw_next` belong to the main thread, the rest to the worker."""

    def __init__(self):
        self.scene = None  # solver.contact.body.ahead.Scene, of the last image that was wanted
        self._seen = None  # solver.contact.body.ahead.Seen: the cloth when the frame that is simulated began
        self._coming: deque[tuple[int, FrameInput]] = deque()  # not drawn yet
        self._drawn: dict[int, Drawn] = {}  # by frame

    def expect(self, frame: int, frame_input: FrameInput, waiting: int) -> None:
        """A frame has been sampled; so many of the last have not reached the worker."""
        self._coming.append((frame, frame_input))
        while len(self._coming) > waiting:  # frames that are on disk already pass without being simulated
            self._coming.popleft()

    def draw_next(self, render: Callable[..., LDI]) -> bool:
        """Draw the next image, if it is time for it; whether it was.

        render : as `rasterise.render_motion`
        """
        seen, scene = self._seen, self.scene
        while seen is not None and self._coming and self._coming[0][0] <= seen.frame:
            self._coming.popleft()
        if seen is None or scene is None or not self._coming or self._coming[0][0] > seen.frame + FRAMES_AHEAD:
            return False
        from ...solver.contact.body.ahead import draw_ahead  # here, because it imports numba

        frame, frame_input = self._coming.popleft()
        began = time.perf_counter()
        image = draw_ahead(render, seen, frame, frame_input, scene)
        if image is not None:
            self._drawn[frame] = Drawn(image, time.perf_counter() - began)
        return True

    def begin(self, frame: int, cloth, state) -> None:
        """A frame is about to be simulated; images of those before are forgotten."""
        from ...solver.contact.body.ahead import see  # here, because it imports numba

        self._seen = see(frame, cloth, state, self._seen)
        for earlier in [known for known in list(self._drawn) if known < frame]:
            del self._drawn[earlier]

    def drawn(self, frame: int) -> Drawn | None:
        """The image of a frame; None where there is none."""
        return self._drawn.get(frame)
