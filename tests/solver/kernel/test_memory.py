# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays in one piece of memory: apart from each other, at the beginning of cache lines."""

import numpy as np
from taffeta.solver.kernel.memory import CACHE_LINE, empty_together, together

KINDS = [((5, 4), np.float64), ((3,), np.int8), ((0, 2), np.float32), ((7, 4), np.float32), ((2,), np.bool_)]


def test_each_has_a_place_of_its_own():
    arrays = empty_together(KINDS)
    assert [(array.shape, array.dtype.type) for array in arrays] == KINDS
    for number, array in enumerate(arrays):
        array[...] = number % 2
    assert all((array == number % 2).all() for number, array in enumerate(arrays))
    assert all(array.ctypes.data % CACHE_LINE == 0 and array.flags.c_contiguous for array in arrays if array.size)
    assert not any(np.shares_memory(one, other) for one, other in zip(arrays, arrays[1:], strict=False))


def test_what_is_used_in_turns_shares_a_place_behind_the_rest():
    kinds, one, other = KINDS[:2], KINDS[2:], [((9, 4), np.float64), ((1,), np.int32)]
    arrays = empty_together(kinds, one, other)
    assert [(array.shape, array.dtype.type) for array in arrays] == [*kinds, *one, *other]
    assert all(array.ctypes.data % CACHE_LINE == 0 for array in arrays if array.size)
    assert arrays[3].ctypes.data == arrays[5].ctypes.data
    assert arrays[0].base.nbytes == len(arrays[0].base) == CACHE_LINE * (1 + 3 + 1 + 5 + 1)
    assert not any(np.shares_memory(array, turn) for array in arrays[:2] for turn in arrays[2:])


def test_copies_hold_the_same():
    rng = np.random.default_rng(3)
    given = [rng.normal(size=(6, 3)), np.arange(5, dtype=np.int32), np.zeros((0, 4))]
    copies = together(given)
    assert all((copy == array).all() and copy.dtype == array.dtype for copy, array in zip(copies, given, strict=True))
    assert not any(np.shares_memory(copy, array) for copy, array in zip(copies, given, strict=True))
