# SPDX-License-Identifier: GPL-3.0-or-later
"""Long work in steps, which a window takes a few at a time and a script all at once.

Work is a generator of `Step`s. What it does between two of them happens on the main thread and takes a moment; what takes
longer and needs nothing of Blender is the step's `beside`, which a window leaves to another thread. Its result comes back
from the `yield`. Whoever stops closes the generator: what it holds open, it puts back then, and it changes nothing of
Blender's before its last step.
"""

import sys
import threading
import time
from collections.abc import Callable, Generator
from typing import NamedTuple

from ..bake.job import THREAD_HANDOVER


class Step(NamedTuple):
    """What is done next."""

    text: str  # for the status bar
    share: float = 0.0  # of all that is done before it
    beside: Callable[[Callable[[], bool]], object] | None = None  # called with a function that says whether to go on


Steps = Generator[Step, object, object]


def prepared(*parts: str) -> Steps:
    """Have these parts of `precompile` on the disk, compiled by other processes, and the compiler loaded, which takes
    seconds, too."""

    def prepare(go_on):
        from ...solver.precompile import compile_kernels

        compile_kernels(parts, go_on)

    yield Step("Preparing the solver (the first time a minute or two)", beside=prepare)


def by_shares(text: str, begun: float, found: Generator[float, None, object]) -> Steps:
    """Steps of work that needs nothing of Blender, some of it at a time: `found` yields what part of it is done, from where `begun`
    of all is; returns what that returns."""

    def take(_):
        try:
            return next(found), None
        except StopIteration as end:
            return 1.0, end.value

    share = 0.0
    while True:
        share, result = yield Step(text, begun + (1.0 - begun) * share, take)
        if result is not None:
            return result


def run_through(steps: Steps) -> object:
    """Take all steps at once, on this thread; returns what the generator returns."""
    found = None
    try:
        while True:
            step = steps.send(found)
            found = step.beside(lambda: True) if step.beside is not None else None
    except StopIteration as end:
        return end.value


class Run:
    """Steps that are taken a few at a time, on the main thread, and what of them runs beside it."""

    def __init__(self, steps: Steps):
        self._steps = steps
        self._thread: threading.Thread | None = None
        self._found, self._error = None, None  # by the thread
        self._stop = threading.Event()
        self._handover = sys.getswitchinterval()  # the user's
        self.step = Step("Beginning")
        self.result = None  # what the generator returned
        self.ended = False

    @property
    def stopped(self) -> bool:
        """Whether somebody has asked to stop."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Take no more steps; what runs beside ends as soon as it can."""
        self._stop.set()

    def go_on(self, seconds: float) -> bool:
        """Take steps for so long [s], one at least, but none while a thread runs; whether all has ended. Raises what they
        raise.
        """
        until, is_first = time.perf_counter() + seconds, True
        while not self.ended and self._is_free() and (is_first or time.perf_counter() < until):
            is_first = False
            try:
                self._take()
            except StopIteration as end:
                self.result, self.ended = end.value, True
            except BaseException:
                self.ended = True
                raise
        return self.ended

    def abandon(self) -> None:
        """End at once and for good: Blender quits or loads another file. A thread ends by itself."""
        self.stop()
        if self._thread is None and not self.ended:
            self._steps.close()
        sys.setswitchinterval(self._handover)
        self.ended = True

    def _is_free(self) -> bool:
        """Whether no thread runs (any more)."""
        if self._thread is None:
            return True
        if self._thread.is_alive():
            return False
        self._thread.join()
        self._thread = None
        sys.setswitchinterval(self._handover)
        return True

    def _take(self) -> None:
        found, error = self._found, self._error
        self._found = self._error = None
        if self.stopped:
            self._steps.close()
            raise StopIteration
        self.step = self._steps.throw(error) if error is not None else self._steps.send(found)
        if self.step.beside is not None:
            self._thread = threading.Thread(target=self._beside, args=(self.step.beside,), name="Taffeta work")
            sys.setswitchinterval(THREAD_HANDOVER)
            self._thread.start()

    def _beside(self, function) -> None:
        try:
            self._found = function(lambda: not self._stop.is_set())
        except BaseException as error:  # raised again where the generator waits for it
            self._error = error
