# SPDX-License-Identifier: GPL-3.0-or-later
"""Threads that share a kernel's parts: each part once, no phase before the last is over, one thread alone does them all."""

import numba
import numpy as np
import pytest
from taffeta.solver.kernel import phases
from taffeta.solver.kernel.threads import hand_over

PHASES, PARTS = 50, 4
kernel = numba.njit(nogil=True, _nrt=False)  # as `kernel.jit`: a crew's board is not counted


@kernel
def _share(board, times, sums):
    """Every part adds up what all parts of the phase before have written."""
    crew = phases.arrive(board, PARTS)
    for phase in range(1, PHASES):
        part = phases.take(crew, phase)
        while part < PARTS:
            times[phase, part] += 1
            for other in range(PARTS):
                sums[phase, part] += sums[phase - 1, other]
            part = phases.done(crew, phase)
        phases.barrier(crew, phase)


def shared(calls):
    board, times, sums = phases.make_board(PHASES), np.zeros((PHASES, PARTS), np.int64), np.zeros((PHASES, PARTS))
    sums[0] = 1.0
    others = [hand_over(_share, board, times, sums) for _ in range(calls - 1)]
    _share(board, times, sums)
    for other in others:
        other.result()
    return times, sums


@pytest.mark.parametrize("calls", [1, 2, 3])
def test_each_part_is_done_once_and_sees_the_phase_before(calls):
    for _ in range(20):
        times, sums = shared(calls)
        assert (times[1:] == 1).all()
        assert (sums == (4.0 ** np.arange(PHASES))[:, None]).all()


def test_one_who_comes_too_late_finds_nothing_to_do():
    board, times, sums = phases.make_board(PHASES), np.zeros((PHASES, PARTS), np.int64), np.zeros((PHASES, PARTS))
    for _ in range(2):
        _share(board, times, sums)
    assert (times[1:] == 1).all()


@kernel
def _homes(board, parts, homes):
    for thread in range(len(homes)):
        homes[thread] = phases.arrive(board, parts).home


def test_threads_begin_far_from_each_other():
    homes = np.zeros(9, np.int64)
    _homes(phases.make_board(1), 8, homes)
    assert homes.tolist() == [0, 4, 2, 6, 1, 5, 3, 7, 0]


@kernel
def _orders(board, parts, orders):
    """What two threads of one phase each take, turn by turn."""
    first, second = phases.arrive(board, parts), phases.arrive(board, parts)
    for turn in range(parts // 2):
        orders[0, turn], orders[1, turn] = phases.take(first, 0), phases.take(second, 0)
    return phases.take(first, 0), phases.take(second, 0)


def test_a_thread_keeps_to_its_parts_and_then_helps():
    orders = np.zeros((2, 4), np.int64)
    assert _orders(phases.make_board(1), 8, orders) == (8, 8), "none is left"
    assert orders.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]


@pytest.mark.parametrize(
    ("size", "parts"), [(1, 1), (511, 1), (512, 2), (1023, 2), (1024, 4), (10**6, phases.MOST_PHASE_PARTS)]
)
def test_parts_go_by_size_alone(size, parts):
    assert phases.part_count(size) == parts


def test_half_of_the_threads_work_where_others_want_the_processors(monkeypatch):
    """A thread that had its processor for a fifth of the time or for all of it, by a clock of ours: who looks in for a moment halves two
    calls, and who stays ever more of them.
    """
    crews, clock = [], {"own": 0.0, "wall": 0.0}
    monkeypatch.setattr(phases, "worker_count", lambda: 8)
    monkeypatch.setattr(phases, "_halved", [0])
    monkeypatch.setattr(phases, "_spell", [0])
    monkeypatch.setattr(phases, "thread_time", lambda: clock["own"])
    monkeypatch.setattr(phases, "perf_counter", lambda: clock["wall"])
    monkeypatch.setattr(phases, "muster", crews.append)

    def threads(share):
        def kernel(board, crew):
            clock["own"], clock["wall"] = clock["own"] + share, clock["wall"] + 1.0
            assert crew == crews[-1]

        phases.run(kernel, 8)
        return crews[-1]

    assert threads(1.0) == 8
    assert threads(0.2) == 8
    assert [threads(1.0) for _ in range(4)] == [4, 4, 8, 8]
    stays = [threads(0.2 if phases._halved[0] == 0 else 1.0) for _ in range(67)]
    assert stays == [8, *2 * [4], 8, *4 * [4], 8, *8 * [4], 8, *16 * [4], 8, *16 * [4], 8, *16 * [4]][:67]
    while phases._halved[0]:
        threads(1.0)
    assert [threads(1.0) for _ in range(5)] == [8] * 5
    assert threads(0.2) == 8
    assert [threads(1.0) for _ in range(3)] == [4, 4, 8], "forgotten"
    monkeypatch.setattr(phases, "FINEST_CLOCK", -1.0)  # a clock that tells nothing
    assert threads(0.2) == 8
    assert threads(1.0) == 8
