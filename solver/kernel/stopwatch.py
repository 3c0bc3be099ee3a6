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
        self._seconds[task] += perf_counter() - began

    def read(self) -> dict[str, float]:
        """[s] by task, all of the time since the beginning."""
        return {self._first: perf_counter() - self._began - sum(self._seconds.values()), **self._seconds}


def timed(task: str) -> Callable:
    """Let the time that a function takes count for a task, on the `stopwatch` of its first argument."""

    def decorate(function):
        @wraps(function)
        def run(owner, *arguments):
            with owner.stopwatch.during(task):
                return function(owner, *arguments)

        return run

    return decorate
