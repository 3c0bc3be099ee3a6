# SPDX-License-Identifier: GPL-3.0-or-later
"""Two ways to look up: to whom something belongs, and whether a number is among others."""

from .jit import inner


@inner
def first_of(parent, i):
    """The first of the set that i belongs to, in a forest of parents. Ways there are halved as they are gone (Tarjan and van
    Leeuwen 1984). # outputs: parent
    """
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@inner
def is_among(keys, key):
    """Is a number one of these, which ascend?"""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < len(keys) and keys[low] == key
