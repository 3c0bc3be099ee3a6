# SPDX-License-Identifier: GPL-3.0-or-later
"""Counters that threads share in compiled code, and what a thread does that waits for one."""

import ctypes
import sys

from llvmlite import ir
from llvmlite.binding import add_symbol
from numba import types
from numba.extending import intrinsic

HINT_YIELD = 1  # of ARM's hints
COUNTER_STRIDE = 16  # int64 a counter: two processors never write into the same line of their caches


def yielding() -> str:
    """Name by which compiled code finds the system's function that offers the processor to another thread.

    Windows has no POSIX `sched_yield`, and LLVM ends the process at a name that it does not find.
    """
    if sys.platform != "win32":
        return "sched_yield"
    name = "SwitchToThread"
    add_symbol(name, ctypes.cast(getattr(ctypes.windll.kernel32, name), ctypes.c_void_p).value)
    return name


yield_processor = types.ExternalFunction(yielding(), types.int32())


def _address(context, builder, kind, board, place):
    """Where in memory board[place] is."""
    return builder.gep(context.make_array(kind)(context, builder, board).data, [place])


def _changing(operation):
    """Code that changes board[place] by an operation of LLVM in one go, and returns what was there before."""

    def code(context, builder, signature, arguments):
        board, place, number = arguments
        at = _address(context, builder, signature.args[0], board, place)
        return builder.atomic_rmw(operation, at, number, "seq_cst")

    return code


@intrinsic
def fetch_add(typing, board, place, number):
    """Add a number to board[place]; returns what was there before."""
    return types.int64(board, types.int64, types.int64), _changing("add")


@intrinsic
def fetch_or(typing, board, place, bits):
    """Set bits in board[place]; returns what was there before."""
    return types.int64(board, types.int64, types.int64), _changing("or")


@intrinsic
def exchange(typing, board, place, number):
    """board[place] becomes a number; returns what was there before."""
    return types.int64(board, types.int64, types.int64), _changing("xchg")


@intrinsic
def load_counter(typing, board, place):
    """board[place] as the other threads have left it."""

    def code(context, builder, signature, arguments):
        return builder.load_atomic(_address(context, builder, signature.args[0], *arguments), "seq_cst", 8)

    return types.int64(board, types.int64), code


@intrinsic
def pause(typing):
    """Let the processor rest for some cycles, which another thread of its may have then; nothing where it has no word for that."""

    def code(context, builder, signature, arguments):
        triple, number = builder.module.triple, ir.IntType(32)
        if "x86_64" in triple:
            kind = ir.FunctionType(ir.VoidType(), ())
            builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", (), kind), ())
        elif "aarch64" in triple or "arm64" in triple:
            kind = ir.FunctionType(ir.VoidType(), [number])
            builder.call(builder.module.declare_intrinsic("llvm.aarch64.hint", (), kind), [number(HINT_YIELD)])
        return context.get_dummy_value()

    return types.none(), code
