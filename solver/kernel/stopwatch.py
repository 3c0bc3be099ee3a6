# SPDX-License-Identifier: GPL-3.0-or-later
"""Seconds by task, told apart where functions begin and end, so that no formula has to be interrupted for a clock."""

from collections.abc import Callable
from contextlib import contextmanager
from functools import wraps
from time import perf_counter


class Stopwatch:
    """Seconds of each task since it was made; what is no other task's time is that of the first."""

    def __init__(self, first: str, *others: str):
        self._first = first
        self._seconds = dict.fromkeys(others, 0.0)
        self._began = perf_counter()

    @contextmanager
    def during(self, task: str):
        """Let the time until the end of a `with` count for a task."""
        began = perf_counter()
        yield
        self.add(task, perf_counter() - began)

    def add(self, task: str, seconds: float) -> None:
        """Let some time [s] that has passed count for a task."""
        self._seconds[task] += seconds

    def read(self) -> dict[str, float]:
        """[s] by task, all of the time since the beginning."""
        return {self._first: perf_counter() - self._began - sum(self._seconds.values()), **self._seconds}


def timed(task: str) -> Callable:
    """Let the time that a function takes count for a task, on the `stopwatch` of its first argument."""

    def decorate(function):
        @wraps(function)
        def run(owner, *arguments):  # not `during`, which costs as much as some of what is timed
            began = perf_counter()
            result = function(owner, *arguments)
            owner.stopwatch.add(task, perf_counter() - began)
            return result

        return run

    return decorate
