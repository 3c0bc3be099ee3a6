# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranges that threads share in compiled code: each part once, whoever stands by, and nobody is waited for in vain."""

import threading
import time

import numba
import numpy as np
import pytest
from taffeta.solver.kernel import shared, threads
from taffeta.solver.kernel.atomic import fetch_add

kernel = numba.njit(nogil=True, _nrt=False)  # as `kernel.jit`, but not kept on the disk
COUNT, LONG = 1000, 10_000  # items; what one of them takes, in steps


@kernel
def _add(first, last, x, times, calls):
    fetch_add(calls, np.int64(0), np.int64(1))
    for i in range(first, last):
        times[i] += 1
        x[i] = np.sqrt(x[i] + i)


@kernel
def _added(board, count, smallest, x, times, calls):
    shared.share(board, _add, count, smallest, (x, times, calls))


@kernel
def _note(number, first, last, numbers, busy, together):
    if fetch_add(busy, number, 1) != 0:
        fetch_add(together, np.int64(0), np.int64(1))
    for i in range(first, last):
        numbers[i] = number
        for _ in range(LONG):
            fetch_add(together, np.int64(1), np.int64(1))
    fetch_add(busy, number, -1)


@kernel
def _noted(board, numbers, busy, together):
    shared.share_numbered(board, _note, len(numbers), 1, (numbers, busy, together))


@kernel
def _wait_for_another(_first, _last, inside, looks):
    """Each that comes in waits for a second one, for so many looks."""
    fetch_add(inside, np.int64(0), np.int64(1))
    for _ in range(looks):
        if fetch_add(inside, np.int64(0), np.int64(0)) > 1:
            return


@kernel
def _among(board, crew, inside, looks):
    shared.share_among(board, _wait_for_another, crew, (inside, looks))


@pytest.fixture
def crew(monkeypatch):
    """Have so many threads work, and see them stand by."""

    def begin(count):
        threads.send_home()
        monkeypatch.setattr(threads, "thread_count", lambda: count)
        threads.muster(count)
        until(lambda: shared.standing() == count - 1)

    yield begin
    threads.send_home()
    assert shared.standing() == 0


def until(holds, crew=None):
    for _ in range(2000):
        if holds():
            return
        threads.muster(threads.thread_count() if crew is None else crew)
        time.sleep(0.001)
    assert holds()


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_each_item_is_done_once(count, crew):
    crew(count)
    for size in (0, 1, 2, 31, 64, COUNT):
        for _ in range(50):
            x, times, calls = np.arange(size, dtype=float), np.zeros(size, np.int64), np.zeros(1, np.int64)
            _added(shared.BOARD, size, 1, x, times, calls)
            assert (times == 1).all() and calls[0] <= shared.MOST_PARTS
            assert (x == np.sqrt(2.0 * np.arange(size))).all()


def test_no_part_is_smaller_than_it_may_be(crew):
    crew(3)
    x, times, calls = np.ones(COUNT), np.zeros(COUNT, np.int64), np.zeros(1, np.int64)
    _added(shared.BOARD, COUNT, 300, x, times, calls)
    assert calls[0] in (1, 2)


def test_others_take_part(crew):
    crew(3)
    numbers, seen = np.full(64, -1), set()

    def have_all():
        _noted(shared.BOARD, numbers, np.zeros(3, np.int64), np.zeros(2, np.int64))
        seen.update(numbers.tolist())
        return seen == {0, 1, 2}

    until(have_all)


def test_no_two_at_work_have_one_number(crew):
    crew(4)
    for _ in range(20):
        together = np.zeros(2, np.int64)
        _noted(shared.BOARD, np.full(64, -1), np.zeros(4, np.int64), together)
        assert together.tolist() == [0, 64 * LONG]


def test_who_comes_second_to_the_board_does_all_itself(crew):
    """Two threads of Python that post at a time, while others stand by."""
    crew(3)
    wrong = []

    def post():
        for _ in range(300):
            x, times, calls = np.zeros(COUNT), np.zeros(COUNT, np.int64), np.zeros(1, np.int64)
            _added(shared.BOARD, COUNT, 10, x, times, calls)
            if not (times == 1).all():
                wrong.append(times)

    others = [threading.Thread(target=post) for _ in range(2)]
    for other in others:
        other.start()
    post()
    for other in others:
        other.join()
    assert not wrong


def test_those_that_are_too_many_leave(crew):
    crew(4)
    until(lambda: shared.standing() == 1, 2)
    until(lambda: shared.standing() == 3, 4)


def test_who_waits_in_vain_goes_to_sleep_and_can_be_woken(crew):
    crew(2)
    for _ in range(2000):
        if not shared.standing():
            break
        time.sleep(0.001)
    assert not shared.standing()
    assert threads.hand_over(divmod, 7, 2).result() == (3, 1)
    until(lambda: shared.standing() == 1)


def test_who_stands_by_takes_tasks(crew):
    """The caller sleeps meanwhile, so that another thread has to do it."""
    crew(2)
    for _ in range(20):
        task = threads.hand_over(threading.current_thread)
        time.sleep(0.02)
        assert task.result().name == "taffeta 0"
        threads.muster(2)


@shared.shared(8)
def _halve(first, last, x):
    """Half of each."""
    for i in range(np.uintp(first), np.uintp(last)):
        x[i] *= 0.5


@shared.shared_fused(8)
def _grow(first, last, x, pair):
    for i in range(np.uintp(first), np.uintp(last)):
        x[i] += pair[0] * pair[1][i]


@pytest.mark.parametrize("count", [1, 3])
def test_a_shared_kernel_is_called_with_its_count(count, crew):
    crew(count)
    x = np.arange(100.0)
    _halve(100, x)
    _grow(100, x, (2.0, np.ones(100)))
    _halve(50, x)
    whole = 0.5 * np.arange(100.0) + 2.0
    assert (x[:50] == 0.5 * whole[:50]).all() and (x[50:] == whole[50:]).all()
    assert _halve.__doc__ == "Half of each." and _halve.__name__ == "_halve"


def test_threads_are_sent_home_while_others_are_called():
    """By two threads of Python, as by a bake that ends while something else goes on: nobody waits for ever."""
    ends = time.monotonic() + 1.0

    def call():
        while time.monotonic() < ends:
            threads.muster(4)
            assert threads.hand_over(divmod, 7, 2).result() == (3, 1)

    caller = threading.Thread(target=call, daemon=True)
    caller.start()
    while time.monotonic() < ends:
        threads.send_home()
    caller.join(30.0)
    assert not caller.is_alive()
    threads.send_home()


def test_more_threads_than_parts_stay_away(monkeypatch):
    monkeypatch.setattr(threads, "thread_count", lambda: 100)
    threads.send_home()
    try:
        until(lambda: shared.standing() >= shared.MOST_PARTS // 2)
        for _ in range(100):
            threads.muster(100)
            assert shared.standing() < shared.MOST_PARTS
    finally:
        threads.send_home()
    assert shared.standing() == 0


def test_who_is_woken_in_the_middle_of_a_call_comes_in(crew):
    """Solves of a large garment take longer than others stay awake for nothing: none of them had a second thread, once all slept."""
    crew(2)
    _among(shared.BOARD, 1, np.ones(1, np.int64), 1)  # compiled
    for _ in range(2000):
        if not shared.standing():
            break
        time.sleep(0.001)
    assert not shared.standing()
    inside, began = np.zeros(1, np.int64), time.perf_counter()
    threads.muster(2)
    _among(shared.BOARD, 2, inside, 40_000_000)
    assert inside[0] == 2 and time.perf_counter() - began < 10.0, "nobody came"
