# SPDX-License-Identifier: GPL-3.0-or-later
"""Several threads in one kernel, with a barrier between its phases.

A kernel that runs for a tenth of a millisecond a phase has no time to ask Python for threads. So all threads run the
same kernel from start to end, and at each phase take its parts by number, one after the other, until none is left; then
they wait until all parts are done. A thread that comes late, or never, is not missed: the others take its parts. Which
thread does what is chance, but how many parts there are goes by the size of the work alone, and sums over parts are made in
their order: the same bits on every run, and on any number of threads.

    phase += 1
    part = take(board, phase)
    while part < parts:
        ...                       # what belongs to this part, written nowhere else
        part = done(board, phase)
    barrier(board, phase, parts)
"""

import sys

import numpy as np
from numba import types
from numba.extending import intrinsic

from .jit import inner
from .threads import hand_over, worker_count, yielding

COUNTER_STRIDE = 16  # int64 a counter: two processors never write into the same line of their caches
LOOKS_BEFORE_YIELD = 2000  # at a counter, before the processor is offered to another thread
SMALLEST_PHASE_PART = 256  # particles that are worth a part
MOST_PHASE_PARTS = 32  # so that 16 processors are even when some are late; a power of two

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


@inner
def take(board, phase):
    """The next part of a phase that nobody has taken; as many or more than there are where none is left."""
    return _fetch_add(board, np.int64(2 * COUNTER_STRIDE * phase))


@inner
def done(board, phase):
    """Say that a part is done, and take the next."""
    _fetch_add(board, np.int64(2 * COUNTER_STRIDE * phase + COUNTER_STRIDE))
    return _fetch_add(board, np.int64(2 * COUNTER_STRIDE * phase))


if sys.platform == "win32":

    @inner
    def barrier(board, phase, parts):
        """Wait until all parts of a phase are done."""
        while _load_counter(board, np.int64(2 * COUNTER_STRIDE * phase + COUNTER_STRIDE)) < parts:
            pass

else:

    @inner
    def barrier(board, phase, parts):
        """Wait until all parts of a phase are done."""
        looks = 0
        while _load_counter(board, np.int64(2 * COUNTER_STRIDE * phase + COUNTER_STRIDE)) < parts:
            looks += 1
            if looks > LOOKS_BEFORE_YIELD:
                _yield_processor()


def make_board(phases):
    """Counters of a kernel with so many phases, all of them at zero."""
    return np.zeros(2 * COUNTER_STRIDE * (phases + 1), np.int64)


def part_count(size):
    """Parts that so many particles are cut into, whatever the machine: a power of two."""
    parts = 1
    while parts < MOST_PHASE_PARTS and size >= 2 * parts * SMALLEST_PHASE_PART:
        parts *= 2
    return parts


def run(kernel, parts, *arguments):
    """Call a kernel on as many threads as it has parts, or as work; returns what this thread's call does."""
    others = [hand_over(kernel, *arguments) for _ in range(min(parts, worker_count()) - 1)]
    try:
        return kernel(*arguments)
    finally:
        for other in others:
            if not other.take_back():
                other.result()
