# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranges for threads: what they are, whoever works."""

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
