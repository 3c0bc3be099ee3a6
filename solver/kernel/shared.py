# SPDX-License-Identifier: GPL-3.0-or-later
"""A range of a kernel shared by all threads that stand by, without a word of Python.

To wake a thread through Python takes 45 microseconds, and each then takes the kernel's arguments apart anew, under Python's
lock. Here threads stand by in compiled code (`stand_by`) and look at a board, on which a kernel posts the address of a
function, that of its arguments, and into how many parts the range is cut. All who see it take parts until none is left, who
posted it among them. It costs a microsecond or two, so that what takes ten is worth it.

    @shared(SMALLEST_PART)
    def lengthen(first, last, x, length):  # the items first..last, by nothing that others of them write
        ...

    lengthen(len(x), x, length)

A kernel of several such loops calls `share` itself, for each.

How a range is cut, and who does what, is the machine's affair and chance: no result may depend on it. What is summed over items is
cut by size alone (`phases`). One kernel is posted at a time; where two threads want to, the second does all itself.

The board: who posts owns it, writes what is to be done, and then makes the ticket odd. Who finds it odd says that it is inside, looks
whether the ticket is still that, and takes parts. When all are done the ticket is made even, and the arguments are let go of once
nobody is inside. All counters are read and changed in one order for all (seq_cst).
"""

from functools import partial, update_wrapper
from types import FunctionType

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .atomic import COUNTER_STRIDE, exchange, fetch_add, fetch_or, load_counter, pause, yield_processor
from .jit import folded, fused, fused_inner, inner, njit

_PLACES = range(0, 11 * COUNTER_STRIDE, COUNTER_STRIDE)
_OWNED, _TICKET, _TAKEN, _DONE, _INSIDE, _STANDING, _NUMBERS, _CALLED, _LARGEST, _WHAT, _END = _PLACES
_FUNCTION, _ARGUMENTS, _COUNT, _PARTS, _SMALLEST = range(_WHAT, _WHAT + 5)

WHOLE = np.iinfo(np.int64).max  # items that no range has
MOST_PARTS = 32  # of a range, so that 16 processors are even when some are late; a power of two, and bits of a counter
LOOKS_BEFORE_YIELD = 2000  # at a counter, before the processor is offered to another thread
PAUSES = 8  # between two looks of who stands by: what it shares its core with has more of that
LOOKS_BEFORE_OFFER = 500  # of who stands by, before it offers its processor to others
LOOKS_BEFORE_SLEEP = 10000  # looks, after which who stands by goes to sleep: some milliseconds

BOARD = np.zeros(_END, np.int64)  # of this process
BOARD[_SMALLEST] = WHOLE

_WORD, _BYTES = ir.IntType(64), ir.IntType(8).as_pointer()
_PART = ir.FunctionType(ir.VoidType(), [_BYTES, _WORD, _WORD, _WORD])


def _addresses_of(numbers):
    """An intrinsic that gives the addresses, for `_call`, of a function that calls `function(first, last, *arguments)`, with the
    thread's number in front if there are `numbers`, and of the arguments: good until the kernel ends that has asked.
    """

    @intrinsic
    def addresses(typing, function, arguments):
        kinds = (*[types.int64] * (numbers + 2), *arguments.types)
        function.get_call_type(typing, kinds, {})
        compiled = function.dispatcher.overloads[kinds]

        def code(context, builder, signature, values):
            kept = cgutils.alloca_once_value(builder, values[1])
            context.active_code_library.add_linking_library(compiled.library)
            name = builder.module.get_unique_name(f"part_of_{compiled.fndesc.mangled_name}")
            part = ir.Function(builder.module, _PART, name)
            part.linkage = "internal"
            inside = ir.IRBuilder(part.append_basic_block())
            given = inside.load(inside.bitcast(part.args[0], kept.type))
            given = cgutils.unpack_tuple(inside, given, len(arguments.types))
            called = context.declare_function(builder.module, compiled.fndesc)
            result, kinds = compiled.signature.return_type, compiled.signature.args
            context.call_conv.call_function(inside, called, result, kinds, [*part.args[2 - numbers :], *given])
            inside.ret_void()
            addresses = [builder.ptrtoint(part, _WORD), builder.ptrtoint(kept, _WORD)]
            return context.make_tuple(builder, signature.return_type, addresses)

        return types.UniTuple(types.int64, 2)(function, arguments), code

    return addresses


_addresses, _numbered_addresses = _addresses_of(0), _addresses_of(1)


@intrinsic
def _call(typing, function, arguments, number, first, last):
    """Call what has these addresses, as the thread of a number, for the items first..last."""

    def code(context, builder, signature, values):
        part, given = builder.inttoptr(values[0], _PART.as_pointer()), builder.inttoptr(values[1], _BYTES)
        builder.call(part, [given, *values[2:]])
        return context.get_dummy_value()

    return types.none(*[types.int64] * 5), code


@inner
def home_of(number, parts):
    """The part that a thread begins with, which its processor's cache may still have: of two the first at the first part and the
    other in the middle, four at quarters, and so on.
    """
    home, step = 0, parts
    while number > 0 and step > 1:
        step >>= 1
        home += step * (number & 1)
        number >>= 1
    return home


@inner
def take_part(board, place, home, parts):
    """The next part that nobody has taken by board[place], from a thread's own on and round; as many as there are where none is
    left.
    """
    taken = load_counter(board, place)
    for ahead in range(parts):
        part = home + ahead
        part -= parts * (part >= parts)
        bit = np.int64(1) << np.int64(part)
        if taken & bit == 0:
            taken = fetch_or(board, place, bit)
            if taken & bit == 0:
                return part
    return parts


@inner
def wait_for(board, place, number):
    """Wait until board[place] is a number."""
    looks = 0
    while load_counter(board, place) != number:
        looks += 1
        pause()
        if looks > LOOKS_BEFORE_YIELD:
            yield_processor()


@inner
def _take_parts(board, number, function, arguments, count, parts):
    """What the thread of a number, 0 for who posted it, does of what is posted."""
    home = home_of(number, parts)
    part = take_part(board, _TAKEN, home, parts)
    while part < parts:
        _call(function, arguments, number, count * part // parts, count * (part + 1) // parts)
        fetch_add(board, _DONE, 1)
        part = take_part(board, _TAKEN, home, parts)


@inner
def _offer(board, function, arguments, count, parts):
    """`_post` if anybody stands by; else it is not worth it."""
    _post(board, function, arguments, count, parts if load_counter(board, _STANDING) > 0 else 1)


@inner
def _post(board, function, arguments, count, parts):
    """Have all parts of a range done by all who stand by or come meanwhile; comes back when nobody needs the arguments any more."""
    if parts < 2 or board[_LARGEST] == 0 or exchange(board, _OWNED, 1) != 0:
        _call(function, arguments, 0, 0, count)
        return
    board[_FUNCTION], board[_ARGUMENTS], board[_COUNT], board[_PARTS] = function, arguments, count, parts
    board[_TAKEN], board[_DONE] = 0, 0
    fetch_add(board, _TICKET, 1)  # odd while it is there
    _take_parts(board, 0, function, arguments, count, parts)
    wait_for(board, _DONE, parts)
    fetch_add(board, _TICKET, 1)
    wait_for(board, _INSIDE, 0)
    exchange(board, _OWNED, 0)


@inner
def _part_count(board, count, smallest):
    parts, smallest = 1, min(smallest, board[_SMALLEST])
    while parts < MOST_PARTS and count >= 2 * parts * smallest:
        parts *= 2
    return parts


# These are folded, so that the function that is handed on is no value when a kernel runs: numba from 0.68 on gives it as the address of
# an object of Python, and keeps no such kernel on the disk.
@folded
def share(board, function, count, smallest, arguments):
    """function(first, last, *arguments) for parts of 0..count, none of fewer items than `smallest` unless it is the only one."""
    address, given = _addresses(function, arguments)
    _offer(board, address, given, count, _part_count(board, count, smallest))


@folded
def share_numbered(board, function, count, smallest, arguments):
    """`share` of function(number, first, last, *arguments), with numbers of threads below `MOST_PARTS`: no two that work at a
    time have the same.
    """
    address, given = _numbered_addresses(function, arguments)
    _offer(board, address, given, count, _part_count(board, count, smallest))


@folded
def share_among(board, function, crew, arguments):
    """function(first, last, *arguments) on so many threads, those among them that are woken just now. For those that do not come in
    time it is called, too, when there is nothing left to do.
    """
    address, given = _addresses(function, arguments)
    _post(board, address, given, crew, crew)


def shared(smallest):
    """Compile function(first, last, *arguments) as a kernel(count, *arguments), that shares 0..count among all threads that stand
    by, in parts of no fewer items than `smallest`. It returns nothing and makes no arrays.
    """
    return lambda function: _shared(function, inner(function), smallest, njit)


def shared_fused(smallest):
    """`shared` with products and sums rounded once, as in `jit.fused`."""
    return lambda function: _shared(function, fused_inner(function), smallest, fused)


def _entry(board, count, *arguments):
    share(board, part, count, smallest, arguments)  # noqa: F821, what `_shared` gives it


def _shared(function, part, smallest, compiled):
    """The entry under the name and at the place of `function`, where numba looks whether its code is new."""
    about = function.__code__
    code = _entry.__code__.replace(
        co_filename=about.co_filename, co_firstlineno=about.co_firstlineno, co_name=about.co_name
    )
    entry = FunctionType(code, {"share": share, "part": part, "smallest": smallest}, function.__name__)
    entry.__module__, entry.__qualname__ = function.__module__, function.__qualname__
    return update_wrapper(partial(compiled(entry), BOARD), function)


@inner
def _take_number(board):
    """The least number from 1 on that no other thread has; `MOST_PARTS` if all are taken."""
    for number in range(1, MOST_PARTS):
        bit = np.int64(1) << np.int64(number)
        if fetch_or(board, _NUMBERS, bit) & bit == 0:
            return number
    return MOST_PARTS


@inner
def _is_called(board):
    """Whether somebody was called away, and nobody else has gone."""
    if load_counter(board, _CALLED) <= 0:
        return False
    if fetch_add(board, _CALLED, -1) > 0:
        return True
    fetch_add(board, _CALLED, 1)
    return False


@njit
def stand_by(board, most):
    """Take parts of what is posted, until this thread is called away, or nothing was posted for so many looks at the board, or
    fewer threads may work; returns whether it was called.
    """
    number, looks, last, called = _take_number(board), 0, 0, False
    if number == MOST_PARTS:  # who is one too many has nothing to take
        return False
    fetch_add(board, _STANDING, 1)
    while looks < most and number <= load_counter(board, _LARGEST) and not called:
        ticket = load_counter(board, _TICKET)
        if ticket & 1 and ticket != last:
            last, all_taken = ticket, (np.int64(1) << board[_PARTS]) - 1
            if load_counter(board, _TAKEN) != all_taken:  # else who posted need not wait for this thread, too
                fetch_add(board, _INSIDE, 1)
                if load_counter(board, _TICKET) == ticket:
                    _take_parts(board, number, board[_FUNCTION], board[_ARGUMENTS], board[_COUNT], board[_PARTS])
                fetch_add(board, _INSIDE, -1)
                looks = 0
            continue
        looks += 1
        for _ in range(PAUSES):
            pause()
        if looks > LOOKS_BEFORE_OFFER:
            yield_processor()
        called = _is_called(board)
    fetch_add(board, _STANDING, -1)
    fetch_add(board, _NUMBERS, -(np.int64(1) << np.int64(number)))
    return called


@njit
def call_away(board, threads):
    """Have so many of those that stand by come back from there."""
    fetch_add(board, _CALLED, threads)


def forget_calls() -> None:
    """After the threads that were called away have ended."""
    BOARD[_CALLED] = 0


def standing() -> int:
    """How many threads stand by."""
    return int(BOARD[_STANDING])


def missing() -> int:
    """How many more may."""
    return int(BOARD[_LARGEST] - BOARD[_STANDING])


def share_from(items: int = WHOLE) -> None:
    """Cut ranges of twice so many items, however large the parts are that kernels think worth it; for tests."""
    BOARD[_SMALLEST] = items


def limit(others: int) -> None:
    """How many threads may take parts beside who posts; no more than there are parts for."""
    BOARD[_LARGEST] = min(others, MOST_PARTS - 1)
