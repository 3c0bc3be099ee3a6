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

import sys
from time import get_clock_info, perf_counter, thread_time
from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic

from .jit import inner
from .threads import hand_over, worker_count, yielding

COUNTER_STRIDE = 16  # int64 a counter: two processors never write into the same line of their caches
LOOKS_BEFORE_YIELD = 2000  # at a counter, before the processor is offered to another thread
SMALLEST_PHASE_PART = 256  # particles that are worth a part
MOST_PHASE_PARTS = 32  # so that 16 processors are even when some are late; a power of two, and bits of a counter

KEPT = 0.8  # of a call's time in which its thread has the processor; if it is less, others want it, too
HALVED_CALLS = 16  # that then go on half as many threads, before all are tried again
FINEST_CLOCK = 1e-5  # [s] of a thread's own clock that tells that; the one of Windows goes by 15 ms

_halved = [0]  # calls that are still to go on half as many threads

_yield_processor = types.ExternalFunction(yielding(), types.int32())


@intrinsic
def _fetch_add(typing, board, place):
    """Add 1 to board[place]; returns what was there before."""

    def code(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        at = builder.gep(array.data, [arguments[1]])
        return builder.atomic_rmw("add", at, context.get_constant(types.int64, 1), "seq_cst")

    return types.int64(board, types.int64), code


@intrinsic
def _load_counter(typing, board, place):
    """board[place] as the other threads have left it."""

    def code(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.load_atomic(builder.gep(array.data, [arguments[1]]), "seq_cst", 8)

    return types.int64(board, types.int64), code


@intrinsic
def _fetch_or(typing, board, place, bits):
    """Set bits in board[place]; returns what was there before."""

    def code(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        at = builder.gep(array.data, [arguments[1]])
        return builder.atomic_rmw("or", at, arguments[2], "seq_cst")

    return types.int64(board, types.int64, types.int64), code


class Crew(NamedTuple):
    """What a thread knows of all that run a kernel."""

    board: np.ndarray  # of `make_board`
    parts: int  # of a phase
    home: int  # the part that this thread begins with


@inner
def arrive(board, parts):
    """The `Crew` of one more thread: of two the first begins at the first part and the other in the middle, four at quarters,
    and so on.
    """
    number, home, step = _fetch_add(board, np.int64(len(board) - COUNTER_STRIDE)), 0, parts
    while number > 0 and step > 1:
        step >>= 1
        home += step * (number & 1)
        number >>= 1
    return Crew(board, parts, home)


@inner
def single(crew):
    """The same for phases of a single part."""
    return Crew(crew.board, 1, 0)


@inner
def take(crew, phase):
    """The next part of a phase that nobody has taken, from the thread's own on and round; as many as there are where none is
    left.
    """
    place = np.int64(2 * COUNTER_STRIDE * phase)
    taken = _load_counter(crew.board, place)
    for ahead in range(crew.parts):
        part = crew.home + ahead
        part -= crew.parts * (part >= crew.parts)
        bit = np.int64(1) << np.int64(part)
        if taken & bit == 0:
            taken = _fetch_or(crew.board, place, bit)
            if taken & bit == 0:
                return part
    return crew.parts


@inner
def done(crew, phase):
    """Say that a part is done, and take the next."""
    _fetch_add(crew.board, np.int64(2 * COUNTER_STRIDE * phase + COUNTER_STRIDE))
    return take(crew, phase)


if sys.platform == "win32":

    @inner
    def barrier(crew, phase):
        """Wait until all parts of a phase are done."""
        while _load_counter(crew.board, np.int64(2 * COUNTER_STRIDE * phase + COUNTER_STRIDE)) < crew.parts:
            pass

else:

    @inner
    def barrier(crew, phase):
        """Wait until all parts of a phase are done."""
        looks = 0
        while _load_counter(crew.board, np.int64(2 * COUNTER_STRIDE * phase + COUNTER_STRIDE)) < crew.parts:
            looks += 1
            if looks > LOOKS_BEFORE_YIELD:
                _yield_processor()


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


def run(kernel, parts, *arguments):
    """Call a kernel on as many threads as it has parts, or as work, or on half of these while the machine is busy; returns what
    this thread's call does.

    All is done then, though another thread may still find that out, and nobody waits for it: that would take longer than some
    phases.
    """
    crew = min(parts, worker_count())
    if _halved[0] > 0:
        crew, _halved[0] = (crew + 1) // 2, _halved[0] - 1
    if crew == 1:
        return kernel(*arguments)
    others = [hand_over(kernel, *arguments) for _ in range(crew - 1)]
    began, own = perf_counter(), thread_time()
    try:
        return kernel(*arguments)
    finally:
        if thread_time() - own < KEPT * (perf_counter() - began) and _tells_of_a_thread():
            _halved[0] = HALVED_CALLS
        for other in others:
            other.take_back()


def _tells_of_a_thread():
    """Whether a thread's own clock is fine enough to tell whether it had a processor."""
    return get_clock_info("thread_time").resolution <= FINEST_CLOCK
