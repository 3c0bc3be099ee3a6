# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranges for threads: what they are, whoever works."""

import weakref
from time import monotonic, sleep

import numpy as np
import pytest
from taffeta.solver.kernel import threads


def test_processors_that_are_spared_change_no_part(monkeypatch):
    """What is cut, and with it every bit, goes by the threads there are; who works, by what is left to others."""
    monkeypatch.setattr(threads, "thread_count", lambda: 4)
    ranges = threads.cut(4000, 10)
    try:
        for processors in (0, 1, 3, 0):
            threads.spare(processors)
            assert threads.cut(4000, 10) == ranges and threads.worker_count() == 4 - processors
            assert threads.on_threads(lambda *given: given, ranges) == [(k, *ends) for k, ends in enumerate(ranges)]
    finally:
        threads.spare(0)


def test_a_call_handed_over_gives_what_it_returns_or_raises():
    assert threads.hand_over(divmod, 7, 2).result() == (3, 1)
    with pytest.raises(ZeroDivisionError):
        threads.hand_over(divmod, 7, 0).result()
    assert threads.hand_over(divmod, 9, 2).result() == (4, 1)  # the thread goes on


def test_a_thread_that_waits_keeps_nothing_of_what_it_did():
    """Else the arrays of what it did last stay in memory until it does something else."""
    array = np.zeros(3)
    kept = weakref.ref(array)
    assert threads.hand_over(array.sum).result() == 0.0
    del array
    end = monotonic() + 10.0
    while kept() is not None and monotonic() < end:
        sleep(0.01)
    assert kept() is None


def test_what_is_taken_back_is_never_done():
    done = []
    task = threads.Task(done.append, 1)
    assert task.take_back() and not task.take_back()
    task.run()
    assert not done
    other = threads.Task(done.append, 2)
    other.run()
    assert not other.take_back() and done == [2]
