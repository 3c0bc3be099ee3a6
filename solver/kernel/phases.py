# SPDX-License-Identifier: GPL-3.0-or-later
"""Several threads in one kernel, with a barrier between its phases.

A kernel that runs for a tenth of a millisecond a phase has no time to ask Python for threads. So all threads run the
same kernel from start to end, and at each phase take its parts, one after the other, until none is left; then they wait
until all parts are done. Each begins at a part of its own, the same in every phase, which its processor's cache so still
has, and goes on to what the others have left: a thread that comes late, or never, is not missed. Which thread does what is
chance, but how many parts there are goes by the size of the work alone, and sums over parts are made in their order: the
same bits on every run, and on any number of threads. A part whose thread the system has put aside keeps all others waiting;
where others want the processors, too, half as many threads get further.

    crew = arrive(board, parts)
    ...
    phase += 1
    part = take(crew, phase)
    while part < parts:
        ...                       # what belongs to this part, written nowhere else
        part = done(crew, phase)
    barrier(crew, phase)
"""

from time import get_clock_info, perf_counter, thread_time
from typing import NamedTuple

import numpy as np

from .atomic import COUNTER_STRIDE, fetch_add
from .jit import inner
from .shared import BOARD, home_of, take_part, wait_for
from .threads import muster, worker_count

SMALLEST_PHASE_PART = 256  # particles that are worth a part
MOST_PHASE_PARTS = 32  # so that 16 processors are even when some are late; a power of two, and bits of a counter

KEPT = 0.8  # of a call's time in which its thread has the processor; if it is less, others want it, too
FEWEST_HALVED, MOST_HALVED = 2, 16  # calls that then go on half as many threads, before all are tried again
FINEST_CLOCK = 1e-5  # [s] of a thread's own clock that tells that; the one of Windows goes by 15 ms

_halved = [0]  # calls that are still to go on half as many threads
_spell = [0]  # how many these were, or would be


class Crew(NamedTuple):
    """What a thread knows of all that run a kernel."""

    board: np.ndarray  # of `make_board`
    parts: int  # of a phase
    home: int  # the part that this thread begins with


@inner
def arrive(board, parts):
    """The `Crew` of one more thread, which begins at a part of its own (`shared.home_of`)."""
    number = fetch_add(board, np.int64(len(board) - COUNTER_STRIDE), np.int64(1))
    return Crew(board, parts, home_of(number, parts))


@inner
def single(crew):
    """The same for phases of a single part."""
    return Crew(crew.board, 1, 0)


@inner
def take(crew, phase):
    """The next part of a phase that nobody has taken, from the thread's own on and round; as many as there are where none is
    left.
    """
    return take_part(crew.board, np.int64(2 * COUNTER_STRIDE * phase), crew.home, crew.parts)


@inner
def done(crew, phase):
    """Say that a part is done, and take the next."""
    fetch_add(crew.board, np.int64(2 * COUNTER_STRIDE * phase + COUNTER_STRIDE), np.int64(1))
    return take(crew, phase)


@inner
def barrier(crew, phase):
    """Wait until all parts of a phase are done."""
    wait_for(crew.board, np.int64(2 * COUNTER_STRIDE * phase + COUNTER_STRIDE), np.int64(crew.parts))


def make_board(phases):
    """Counters of a kernel with so many phases, all of them at zero: of each what is taken, a bit a part, and how many are
    done, and last how many threads have come.
    """
    return np.zeros(2 * COUNTER_STRIDE * (phases + 1) + COUNTER_STRIDE, np.int64)


def part_count(size):
    """Parts that so many particles are cut into, whatever the machine: a power of two."""
    parts = 1
    while parts < MOST_PHASE_PARTS and size >= 2 * parts * SMALLEST_PHASE_PART:
        parts *= 2
    return parts


def crew_of(parts):
    """How many threads share so many parts: as many, or as work, or half of these while the machine is busy."""
    workers = worker_count()
    return min(parts, (workers + 1) // 2 if _halved[0] > 0 else workers)


def run(kernel, parts, *arguments):
    """Call kernel(board, crew, *arguments), which shares itself among the crew of so many parts (`shared.share_among`).

    Where others want the processors again and again, half as many threads go on for twice as many calls each time. A program that
    looks in for a moment costs two calls.
    """
    crew, is_whole = crew_of(parts), _halved[0] == 0
    _halved[0] = max(_halved[0] - 1, 0)
    muster(crew)
    began, own = perf_counter(), thread_time()
    kernel(BOARD, crew, *arguments)
    kept = thread_time() - own
    if crew > 1 and kept < KEPT * (perf_counter() - began) and _tells_of_a_thread():
        _halved[0] = _spell[0] = min(max(2 * _spell[0], FEWEST_HALVED), MOST_HALVED)
    elif is_whole:
        _spell[0] //= 2


def _tells_of_a_thread():
    """Whether a thread's own clock is fine enough to tell whether it had a processor."""
    return get_clock_info("thread_time").resolution <= FINEST_CLOCK
