# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of those of many items that a kernel has to look at again, in their order, found by all threads that stand by.

    @listing
    def is_near(item, gap, most):
        return gap[item] < most

    count = is_near(board, len(gap), listed, ends, (gap, most))     # inside a kernel: listed[:count]

Items come in blocks, by size alone. Each block lists its own from its own place on, and then they are closed up.
"""

import numpy as np

from .jit import folded, inner
from .shared import share

LISTED_BLOCK = 1024  # items
SMALLEST_LISTED_PART = 2  # blocks that another thread is asked for


def make_ends(count: int) -> np.ndarray:
    """Where the lists of so many items' blocks end."""
    return np.empty(-(-count // LISTED_BLOCK), np.int64)


def listing(is_listed):
    """Compile is_listed(item, *arguments), which may write what belongs to that item alone, as a part of kernels:
    list_items(board, count, listed, ends, arguments) lists those of the items 0..count for which it holds, and returns how
    many these are. listed : (count,) int32; ends : of `make_ends`
    """
    asked = folded(is_listed)

    @inner
    def list_blocks(first, last, count, listed, ends, arguments):
        for block in range(first, last):
            start = block * LISTED_BLOCK
            end = start
            for item in range(start, min(start + LISTED_BLOCK, count)):
                listed[end] = item
                end += asked(item, *arguments)
            ends[block] = end

    @inner
    def list_items(board, count, listed, ends, arguments):
        blocks, end = -(-count // LISTED_BLOCK), 0
        share(board, list_blocks, blocks, SMALLEST_LISTED_PART, (count, listed, ends, arguments))
        for block in range(blocks):
            for place in range(block * LISTED_BLOCK, ends[block]):
                listed[end] = listed[place]
                end += 1
        return end

    return list_items
