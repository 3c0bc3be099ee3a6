# SPDX-License-Identifier: GPL-3.0-or-later
"""Who draws the bodies' images of a bake: the graphics card or the processor. What comes of the bake is the same.

    main thread    without a window, playing live:  step.advance ─► draw: pack ─► the card ─► put in order
    worker         beside a window:                 step.advance ─► draw: pack ─► an errand ─► put in order
    main thread    each tick of the window                                        answer: the card

Blender's `gpu` module works on the main thread alone. So a worker leaves an errand and waits; what nobody has begun in time
the processor draws. In the first frames both draw and are timed: *Automatic* goes on with the card if that costs little, and
waits for the window no longer than what is left of a tenth of a frame.
"""

import queue
import threading
import time
from collections import Counter

CHOICES = AUTOMATIC, CARD, PROCESSOR = "AUTOMATIC", "CARD", "PROCESSOR"
TRIED_FRAMES = 2  # that both draw, after the first, which compiles
MOST_SHARE = 0.1  # of a frame, that images may cost
#: [s] that a worker waits at first for the window to begin an image
PATIENCE = {AUTOMATIC: 0.02, CARD: 0.25, PROCESSOR: 0.0}
GIVES_UP = RuntimeError, SystemError, ReferenceError, ValueError, MemoryError  # what Blender raises when a card cannot


class Errand:
    """An image that a worker waits for: what the card is given, and gives back."""

    def __init__(self, packed, raster):
        self.given = packed, raster
        self.left = time.perf_counter()  # [s] when
        self.hits = None  # stays None if the card gave up
        self.done = threading.Event()


class NotDrawn(RuntimeError):
    """The card gave up, or the window was busy."""


class Images:
    """Who draws the bodies' images of one bake, how many each has drawn, and what that cost.

    `open`, `answer` and `close` belong to the main thread, the rest to whoever simulates.
    """

    def __init__(self, choice: str, has_bodies: bool = True):
        self.choice, self.has_bodies = choice, has_bodies
        self.device = ""  # what the card is called, if there is one
        self.refused = ""  # why the processor draws instead, as the end of a sentence
        self.counts = Counter()  # images by CARD and PROCESSOR, and "LATE": those the window did not begin in time
        self.tries: list[Counter] = []  # [s] of each frame that was tried out, by CARD, PROCESSOR and "FRAME"
        self.waited = 0.0  # [s] for the window, in the whole bake
        self.tried = -1  # frames; the first does not count
        self.gave_up = False  # whether a card that drew could not go on
        self._frame = 0
        self._drawing = Counter()  # [s] of the frame that is simulated, by CARD and PROCESSOR
        self._drawn = 0  # images of that frame
        self._patience = PATIENCE[choice]  # [s]; of AUTOMATIC, what a frame like the last has left
        self._errands: queue.SimpleQueue[Errand] = queue.SimpleQueue()
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
                    f"Body Images is Graphics Card, but {reason}; choose Automatic in Advanced, the bake is the same"
                ) from reason

    def close(self) -> None:
        """Free what the card holds; images that are wanted afterwards come from the processor."""
        self._is_open, self._renderer = False, None

    def advance(self, cloth, state, frame_input, frame, settings, go_on=lambda: True):
        """As `step.advance`, with images by whoever draws."""
        from ...solver.step import advance  # here, because it imports numba

        self._frame, self._drawn = frame, 0
        self._drawing.clear()
        began, waited = time.perf_counter(), self.waited
        report = advance(cloth, state, frame_input, frame, settings, self.draw, go_on)
        seconds = time.perf_counter() - began - (self.waited - waited)
        if self.choice == AUTOMATIC and self._drawn:
            card = max(self._drawing[CARD], self._milliseconds(CARD) / 1000.0)
            self._patience = max(0.0, MOST_SHARE * seconds - card) / self._drawn
        self._look_back(seconds)
        return report

    def draw(self, trajectories, triangles, near, low, high, resolution: int):
        """As `solver.ldi.rasterise.render_motion`."""
        from ...solver.ldi.rasterise import render_motion  # here, because it imports numba

        what = trajectories, triangles, near, low, high, resolution
        if not len(near):
            return render_motion(*what)
        self._drawn += 1
        image = self._by_card(*what) if self.on_card else None
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

    def answer(self, patience: float = 0.0) -> None:
        """Draw what a worker waits for, or will within `patience` [s]; on the main thread, often."""
        try:
            errand = self._errands.get(timeout=patience) if patience and self._frame else self._errands.get_nowait()
        except queue.Empty:
            return
        try:
            self.waited += time.perf_counter() - errand.left
            errand.hits = self._draw_now(*errand.given)
        finally:
            errand.done.set()

    def figures(self) -> dict:
        """What the report says, as JSON can hold it; empty where nothing was drawn."""
        if not self.counts:
            return {}
        card, processor = self.counts[CARD], self.counts[PROCESSOR]
        result = {"by": self.words(), "images_by_card": card, "images_by_processor": processor}
        if self.counts["LATE"]:
            result["images_late"] = self.counts["LATE"]
        if self.waited and card:
            result["wait_milliseconds"] = round(1000.0 * self.waited / (card + self.counts["LATE"]), 3)
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
        """The card's image; None if it gives up or the window is busy."""
        from ...solver.ldi.texels import render_by

        began, waited = time.perf_counter(), self.waited
        try:
            image = render_by(self._hits, *what)
        except NotDrawn:
            return None
        self._drawing[CARD] += time.perf_counter() - began - (self.waited - waited)
        return image

    def _hits(self, packed, raster):
        """What the card gives back, asked of the main thread where this is another."""
        if threading.current_thread() is threading.main_thread():
            hits = self._draw_now(packed, raster)
        else:
            errand = Errand(packed, raster)
            self._errands.put(errand)
            self._wait_for(errand)
            hits = errand.hits
        if hits is None:
            raise NotDrawn
        return hits

    def _wait_for(self, errand: Errand) -> None:
        """Until it is done; what nobody has begun in time is taken back."""
        if errand.done.wait(self._patience):
            return
        try:
            self._errands.get_nowait()
        except queue.Empty:  # it is being drawn
            errand.done.wait()
            return
        self.counts["LATE"] += 1
        self.waited += time.perf_counter() - errand.left

    def _draw_now(self, packed, raster):
        try:
            if self._renderer is None:
                from ...gpu_ldi.motion import MotionRenderer

                self._renderer = MotionRenderer()
            return self._renderer.draw(packed, raster)
        except GIVES_UP as error:  # its words alone: with its traceback, textures would be freed on the worker's thread
            self._renderer = None
            reason = (str(error).strip().splitlines() or [type(error).__name__])[-1]
            self._give_up(f"the graphics card gave up ({reason})")
            return None

    def _give_up(self, why: str) -> None:
        self.refused, self.gave_up = f"{why} in frame {self._frame}", True

    def _look_back(self, seconds: float) -> None:
        """After a frame that took so long [s], waiting left out: try out, and judge once. What was late tells nothing."""
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
