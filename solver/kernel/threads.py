# SPDX-License-Identifier: GPL-3.0-or-later
"""Serial kernels on several threads: cheaper to compile than numba's parallel ones, and safe from any Python thread.

A kernel that releases the GIL and writes only what belongs to its own range runs on one range per thread. What it finds for one
item depends on no other item of its range, and ranges are joined in their order: results have the same bits on every run and
on any number of threads. What is summed over items is cut by `phases` instead, by size alone.
"""

import atexit
from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread

import numba
import numpy as np

from .shared import BOARD, LOOKS_BEFORE_SLEEP, call_away, forget_calls, limit, missing, stand_by, standing

_waiting: list[SimpleQueue] = []  # of tasks; None ends a thread
_others: list[Thread] = []  # that wait there
_spared = [0]  # processors that are left to others
_gate = Lock()  # through which one goes at a time who makes threads, hands them something or sends them home


class Task:
    """A call that another thread begins, or nobody. Half as dear as a `concurrent.futures.Future`, of which a small shot
    wants a thousand a second.
    """

    def __init__(self, function: Callable, *arguments):
        self._call = function, arguments
        self._begun, self._ended = Lock(), Lock()
        self._result = self._error = None
        self._ended.acquire()

    def run(self) -> None:
        """Do it, unless it was begun or taken back."""
        if not self._begun.acquire(False):
            return
        function, arguments = self._call
        try:
            self._result = function(*arguments)
        except BaseException as error:  # raised again where the result is asked for
            self._error = error
        self._ended.release()

    def take_back(self) -> bool:
        """Whether nobody has begun it; then nobody will."""
        return self._begun.acquire(False)

    def result(self):
        """What it returned, or raise what it raised; done here if nobody has begun it, else waited for."""
        self.run()
        self._ended.acquire()
        if self._error is not None:
            raise self._error
        return self._result


def _work(tasks: SimpleQueue) -> None:
    """What each of the other threads does: tasks, and between these parts of what kernels post."""
    while (task := tasks.get()) is not None:
        task.run()
        del task  # and with it the arrays that it was about, while this thread waits
        while tasks.empty() and stand_by(BOARD, LOOKS_BEFORE_SLEEP):
            pass


def thread_count() -> int:
    """Threads that numba was told to use (NUMBA_NUM_THREADS). No result depends on it."""
    return numba.config.NUMBA_NUM_THREADS


def worker_count() -> int:
    """Threads that work, this one included."""
    return max(1, thread_count() - _spared[0])


def spare(processors: int) -> None:
    """Leave processors to others from now on: one to a window, so that it stays alive. No result depends on it."""
    if processors != _spared[0]:
        _spared[0] = processors
        send_home()


@atexit.register  # Blender 5.2 crashes where a thread outlives Python
def send_home() -> None:
    """End the other threads, after what they have begun."""
    with _gate:
        others, waiting = list(_others), list(_waiting)
        _others.clear()
        _waiting.clear()
        for _ in others:
            waiting[0].put(None)
    if others:
        call_away(BOARD, len(others))
    for thread in others:
        thread.join()
    forget_calls()


def hand_over(function: Callable, *arguments) -> Task:
    """Have another thread call a function."""
    task = Task(function, *arguments)
    with _gate:
        _tasks().put(task)
    if standing():
        call_away(BOARD, 1)
    return task


def muster(crew: int) -> None:
    """Have so many threads share what kernels post (`shared`), this one included, as far as there are so many; those that nobody
    needs for some milliseconds go to sleep.
    """
    limit(min(crew, worker_count()) - 1)
    if missing() > 0:
        with _gate:
            tasks = _tasks()
            for _ in range(missing() - tasks.qsize()):
                tasks.put(Task(standing))  # comes back at once, to stand by


def _tasks() -> SimpleQueue:
    """Where the other threads wait, which are made when they are first needed."""
    if not _waiting:
        _waiting.append(SimpleQueue())
        for number in range(max(1, worker_count() - 1)):
            _others.append(Thread(target=_work, args=(_waiting[0],), name=f"taffeta {number}", daemon=True))
            _others[-1].start()
    return _waiting[0]


def cut(count: int, smallest: int) -> list[tuple[int, int]]:
    """Even ranges of 0..count, one per thread, none shorter than `smallest` unless it is the only one."""
    if count < 2 * smallest:
        return [(0, count)]
    parts = max(1, min(thread_count(), count // max(smallest, 1)))
    edges = [count * part // parts for part in range(parts + 1)]
    return list(zip(edges[:-1], edges[1:], strict=True))


def on_threads(function: Callable, ranges: list[tuple[int, int]]) -> list:
    """[function(part, first, last) for each range], on as many threads as work; the caller's takes the first."""
    if len(ranges) == 1:
        return [function(0, *ranges[0])]
    if worker_count() == 1:
        return [function(part, *ends) for part, ends in enumerate(ranges)]
    others = [hand_over(function, part, *ranges[part]) for part in range(1, len(ranges))]
    return [function(0, *ranges[0]), *(other.result() for other in others)]


def over(count: int, smallest: int, kernel: Callable, *arguments) -> list:
    """[kernel(first, last, *arguments) for each of even ranges of 0..count], none shorter than `smallest`, on all threads."""
    ranges = cut(count, smallest)
    if len(ranges) == 1:
        return [kernel(0, count, *arguments)]
    return on_threads(lambda _, first, last: kernel(first, last, *arguments), ranges)


def joined(parts: list) -> np.ndarray:
    """Arrays of all ranges end to end."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def each_joined(parts: list) -> list[np.ndarray]:
    """The same of tuples of arrays: the first ones end to end, the second ones, and so on."""
    return parts[0] if len(parts) == 1 else [joined(arrays) for arrays in zip(*parts, strict=True)]
