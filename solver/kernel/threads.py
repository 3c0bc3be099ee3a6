# SPDX-License-Identifier: GPL-3.0-or-later
"""Serial kernels on several threads: cheaper to compile than numba's parallel ones, and safe from any Python thread.

A kernel that releases the GIL and writes only what belongs to its own range runs on one range per thread. The ranges
depend on the work alone, never on timing, so results have the same bits on every run.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np

_pool: list[ThreadPoolExecutor] = []
_spared = [0]  # processors that are left to others


def thread_count() -> int:
    """Threads that numba was told to use (NUMBA_NUM_THREADS): what work is cut by, and with it the result's bits."""
    return numba.config.NUMBA_NUM_THREADS


def worker_count() -> int:
    """Threads that work, this one included."""
    return max(1, thread_count() - _spared[0])


def spare(processors: int) -> None:
    """Leave processors to others from now on: one to a window, so that it stays alive. No result depends on it."""
    if processors != _spared[0]:
        _spared[0] = processors
        while _pool:
            _pool.pop().shutdown(wait=False)


def pool() -> ThreadPoolExecutor:
    """The other threads, made when they are first needed."""
    if not _pool:
        _pool.append(ThreadPoolExecutor(max(1, worker_count() - 1), thread_name_prefix="taffeta"))
    return _pool[0]


def cut(count: int, smallest: int) -> list[tuple[int, int]]:
    """Even ranges of 0..count, one per thread, none shorter than `smallest` unless it is the only one."""
    parts = max(1, min(thread_count(), count // max(smallest, 1)))
    if parts == 1:
        return [(0, count)]
    edges = [count * part // parts for part in range(parts + 1)]
    return list(zip(edges[:-1], edges[1:], strict=True))


def on_threads(function: Callable, ranges: list[tuple[int, int]]) -> list:
    """[function(part, first, last) for each range], on as many threads as work; the caller's takes the first."""
    if len(ranges) == 1 or worker_count() == 1:
        return [function(part, *ends) for part, ends in enumerate(ranges)]
    others = [pool().submit(function, part, *ranges[part]) for part in range(1, len(ranges))]
    return [function(0, *ranges[0]), *(other.result() for other in others)]


def joined(parts: list) -> np.ndarray:
    """Arrays of all ranges end to end."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
