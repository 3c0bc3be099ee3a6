# SPDX-License-Identifier: GPL-3.0-or-later
"""Who draws the bodies' images of a bake: the graphics card or the processor. What comes of the bake is the same.

    main thread    without a window, playing live:  step.advance ─► draw: the card
    main thread    each tick of the window:         draw_ahead: the card, of frames that are sampled (`ahead`)
    worker         beside a window:                 step.advance ─► draw: what was drawn ahead, or the processor

Blender's `gpu` module works on the main thread alone, and a worker waits for nobody. In the first frames that have an image
by the card both draw and are timed: *Automatic* goes on with the card if that costs little.
"""

import threading
import time
from collections import Counter

from .ahead import Ahead

CHOICES = AUTOMATIC, CARD, PROCESSOR = "AUTOMATIC", "CARD", "PROCESSOR"
TRIED_FRAMES = 2  # that both draw, after the first, which compiles
MOST_SHARE = 0.1  # of a frame, that images may cost
LEAST_PIXEL = 1e-9  # [m] where bodies and cloth share no room
GIVES_UP = RuntimeError, SystemError, ReferenceError, ValueError, MemoryError  # what Blender raises when a card cannot


class NotDrawn(RuntimeError):
    """The card gave up."""


class Images:
    """Who draws the bodies' images of one bake, how many each has drawn, and what that cost.

    `open`, `expect`, `draw_ahead` and `close` belong to the main thread, the rest to whoever simulates.
    """

    def __init__(self, choice: str, has_bodies: bool = True):
        self.choice, self.has_bodies = choice, has_bodies
        self.device = ""  # what the card is called, if there is one
        self.refused = ""  # why the processor draws instead, as the end of a sentence
        self.counts = Counter()  # images by CARD and PROCESSOR; of these "LATE" and "MISSED", see `_ahead_of_time`
        self.tries: list[Counter] = []  # [s] of each frame that was tried out, by CARD, PROCESSOR and "FRAME"
        self.tried = -1  # frames; the first does not count
        self.gave_up = False  # whether a card that drew could not go on
        self._frame = 0
        self._drawing = Counter()  # [s] of the frame that is simulated, by CARD and PROCESSOR
        self._ahead = Ahead()
        self._renderer = None  # gpu_ldi.motion.MotionRenderer, made with the first image
        self._is_open = False

    @property
    def on_card(self) -> bool:
        """Whether the graphics card draws, as far as is known by now."""
        return self._is_open and not self.refused

    def open(self) -> None:
        """Look for a graphics card, before the bake. ValueError: it was asked for, and there is none."""
        if self.choice == PROCESSOR or not self.has_bodies:
            return
        from ...gpu_ldi.context import NoGraphics, ensure_context  # here: without a context, nobody needs it

        try:
            self.device = ensure_context()
            self._is_open = True
        except NoGraphics as reason:
            self.refused = str(reason)
            if self.choice == CARD:
                raise ValueError(
                    f"Body Images is Graphics Card, but {reason}; choose Automatic in the Scene tab, the bake is the same"
                ) from reason

    def close(self) -> None:
        """Free what the card holds; images that are wanted afterwards come from the processor."""
        self._is_open, self._renderer, self._ahead = False, None, Ahead()

    def expect(self, frame: int, frame_input, waiting: int) -> None:
        """A frame has been sampled; so many of the last have not reached the worker."""
        if self.on_card:
            self._ahead.expect(frame, frame_input, waiting)

    def draw_ahead(self, seconds: float) -> float:
        """Draw images of coming frames for so long [s], or one that takes longer; on the main thread, often. Returns how long."""
        began = time.perf_counter()
        try:
            while self.on_card and self._ahead.draw_next(self._render) and time.perf_counter() < began + seconds:
                pass
        except NotDrawn:  # the report knows
            pass
        if not self.on_card:
            self._ahead = Ahead()
        return time.perf_counter() - began

    def advance(self, cloth, state, frame_input, frame, settings, go_on=lambda: True):
        """As `step.advance`, with images by whoever draws."""
        from ...solver.step import advance  # here, because it imports numba

        self._frame = frame
        self._drawing.clear()
        if self.on_card and not _on_main_thread():
            self._ahead.begin(frame, cloth, state)
        began = time.perf_counter()
        report = advance(cloth, state, frame_input, frame, settings, self.draw, go_on)
        self._look_back(time.perf_counter() - began)
        return report

    def draw(self, trajectories, triangles, near, low, high, resolution: int):
        """As `solver.ldi.rasterise.render_motion`."""
        from ...solver.ldi.rasterise import render_motion  # here, because it imports numba

        what = trajectories, triangles, near, low, high, resolution
        if not len(near):
            return render_motion(*what)
        image = None
        if self.on_card:
            image = self._by_card(*what) if _on_main_thread() else self._ahead_of_time(*what)
        if image is not None and len(image.depth) and not 0 <= self.tried < TRIED_FRAMES:
            self.counts[CARD] += 1
            return image
        began = time.perf_counter()
        drawn = render_motion(*what)
        self._drawing[PROCESSOR] += time.perf_counter() - began
        if image is not None and len(drawn.depth) and not len(image.depth):
            self._give_up("the graphics card gave back an empty image")
            image = None
        self.counts[PROCESSOR if image is None else CARD] += 1
        return drawn if image is None else image

    def figures(self) -> dict:
        """What the report says, as JSON can hold it; empty where nothing was drawn."""
        if not self.counts:
            return {}
        card, processor = self.counts[CARD], self.counts[PROCESSOR]
        result = {"by": self.words(), "images_by_card": card, "images_by_processor": processor}
        late, missed = self.counts["LATE"], self.counts["MISSED"]
        result |= {name: count for name, count in (("images_late", late), ("images_missed", missed)) if count}
        if self.tried > 0:
            names = {CARD: "card_milliseconds", PROCESSOR: "processor_milliseconds", "FRAME": "frame_milliseconds"}
            times = {name: self._milliseconds(kind) for kind, name in names.items()}
            result |= {name: round(milliseconds, 3) for name, milliseconds in times.items() if milliseconds}
        return result

    def words(self) -> str:
        """Who draws, and why."""
        if self.choice == PROCESSOR:
            return "processor, as chosen"
        if self.refused or not self.device:
            return f"processor, because {self.refused or 'nobody has looked for a graphics card'}"
        if self.choice == CARD:
            return f"graphics card, as chosen ({self.device})"
        why = "that costs less than a tenth of a frame" if self.tried == TRIED_FRAMES else "there is one"
        return f"graphics card, because {why} ({self.device})"

    def _milliseconds(self, kind: str) -> float:
        """The least of the frames that were tried out: other programs may have been busy in one of them."""
        return 1000.0 * min((seconds[kind] for seconds in self.tries), default=0.0)

    def _by_card(self, *what):
        """The card's image; None if it gives up."""
        began = time.perf_counter()
        try:
            return self._render(*what)
        except NotDrawn:
            return None
        finally:
            self._drawing[CARD] += time.perf_counter() - began

    def _ahead_of_time(self, trajectories, triangles, near, low, high, resolution):
        """The image that the window has drawn; None where it is LATE, or MISSED some of what the cloth can meet now."""
        from ...solver.contact.body.ahead import Scene  # here, because they import numba
        from ...solver.ldi.ahead import taken_out

        began = time.perf_counter()
        pixel = max(float((high - low).max()) / resolution, LEAST_PIXEL)
        self._ahead.scene = Scene(triangles, len(trajectories.middle), pixel)
        drawn = self._ahead.drawn(self._frame)
        if drawn is None:
            self.counts["LATE"] += 1
            return None
        image = taken_out(drawn.image, trajectories, triangles, near, low, high)
        if image is None:
            self.counts["MISSED"] += 1
            return None
        self._drawing[CARD] += drawn.seconds + time.perf_counter() - began
        return image

    def _render(self, *what):
        """As `draw`, by the card, on the main thread; NotDrawn if it gives up."""
        try:
            if self._renderer is None:
                from ...gpu_ldi.motion import MotionRenderer

                self._renderer = MotionRenderer()
            return self._renderer.render_motion(*what)
        except GIVES_UP as error:
            self._renderer = None
            reason = (str(error).strip().splitlines() or [type(error).__name__])[-1]
            self._give_up(f"the graphics card gave up ({reason})")
            raise NotDrawn from None

    def _give_up(self, why: str) -> None:
        self.refused, self.gave_up = f"{why} in frame {self._frame}", True

    def _look_back(self, seconds: float) -> None:
        """After a frame that took so long [s]: try out, and judge once. What the card did not draw tells nothing."""
        if self.tried == TRIED_FRAMES or not self._drawing or (self.on_card and not self._drawing[CARD]):
            return
        if self.tried >= 0:
            twice = self._drawing[PROCESSOR] if self._drawing[CARD] else 0.0
            self.tries.append(self._drawing + Counter({"FRAME": seconds - twice}))
        self.tried += 1
        if self.tried == TRIED_FRAMES and self.on_card and self.choice == AUTOMATIC:
            self._judge()

    def _judge(self) -> None:
        """Let the processor draw if the card takes too much of a frame."""
        card, frame = self._milliseconds(CARD), self._milliseconds("FRAME")
        if card > MOST_SHARE * frame:
            self.refused = f"images by {self.device} would take {card:.1f} of {frame:.1f} ms a frame, more than a tenth"


def _on_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
