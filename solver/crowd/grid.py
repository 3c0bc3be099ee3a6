# SPDX-License-Identifier: GPL-3.0-or-later
"""A sparse grid of cells round the cloth (Buffet 2021, 3.2): small tiles of cells, found by a hash table.

A tile is 4 x 4 x 4 cells; a cell has the number of the grid's node at its lowest corner. A particle touches the 3 x 3 x 3
cells round its own one, whose corners are 4 x 4 x 4 nodes; all of them have a slot here, and nothing else has.
"""

from typing import NamedTuple

import numpy as np

from ..jit import counted_inner, counted_njit, inner

TILE = 64  # slots of a tile
FAR = 1 << 20  # tiles from the origin beyond which there is no grid


class Grid(NamedTuple):
    """Where particles lie. Slot 64 t + 16 i + 4 j + k is cell and node (i, j, k) of tile t."""

    step: float  # [m] side of a cell
    tile: np.ndarray  # (n,) int32 tile of the lowest cell that a particle touches; -1: it is in no triangle
    within: np.ndarray  # (n, 3) int32 that cell in its tile, 0 to 3
    part: np.ndarray  # (n, 3) where in its own cell the particle is, 0 to 1
    key: np.ndarray  # (tiles,) int64 place of a tile, packed
    table: np.ndarray  # (size,) int32 tiles by hash of their key; -1: none
    ahead: np.ndarray  # (tiles, 8) int32 the tile itself and those one up, in the order of bits x, y, z; -1: none


def make_grid(x: np.ndarray, area: np.ndarray, step: float) -> Grid:
    """The grid round particles at x (n, 3) [m] whose area is not zero, with cells of side `step` [m]."""
    tile, within, part = np.empty(len(x), np.int32), np.empty((len(x), 3), np.int32), np.empty((len(x), 3))
    return Grid(step, tile, within, part, *_lay_tiles(x, area, step, tile, within, part))


@inner
def pack(i, j, k):
    """The key of tile (i, j, k); adding (1 << 42), (1 << 21) or 1 goes one tile up."""
    return ((i + FAR) << 42) | ((j + FAR) << 21) | (k + FAR)


@inner
def find(key, table, keys):
    """Where in the table a tile is, or would be."""
    mask = len(table) - 1
    place = ((key * 0x9E3779B97F4A7C1) >> 20) & mask
    while table[place] >= 0 and keys[table[place]] != key:
        place = (place + 1) & mask
    return place


@inner
def slot(ahead, tile, i, j, k):
    """The slot of cell or node (i, j, k), each 0 to 7, counted from a tile's corner."""
    return np.int64(ahead[tile, (i >> 2) * 4 + (j >> 2) * 2 + (k >> 2)]) * TILE + (i & 3) * 16 + (j & 3) * 4 + (k & 3)


@counted_njit
def _lay_tiles(x, area, step, tile, within, part):
    """Place particles and make the tiles that they need; returns keys, table and neighbours of the tiles.
    # outputs: tile, within, part
    """
    count, keys, table = 0, np.empty(512, np.int64), np.full(1024, -1, np.int32)
    last, current = np.int64(-1), 0  # the tile of the particle before
    known = np.zeros(512, np.int32)  # bits of the extents round a tile that are there
    for p in range(len(x)):
        tile[p] = -1
        if area[p] <= 0.0:
            continue
        first, extent = 0, 0
        for axis in range(3):
            scaled = min(max(x[p, axis] / step, -3.0 * FAR), 3.0 * FAR)
            cell = np.int64(np.floor(scaled))
            part[p, axis], low = scaled - cell, cell - 1
            within[p, axis] = low & 3
            first = (first << 21) | ((low >> 2) + FAR)
            extent = extent << 1 | ((low & 3) + 3) >> 2
        if first != last:
            last, current = first, table[find(first, table, keys)]
        if current >= 0 and (known[current] >> extent) & 1:
            tile[p] = current
            continue
        for corner in range(8):
            if corner & ~extent:
                continue
            key = first + ((corner >> 2) << 42) + (((corner >> 1) & 1) << 21) + (corner & 1)
            place = find(key, table, keys)
            if table[place] < 0:
                table[place], keys[count] = count, key
                count += 1
                if 2 * count >= len(table):
                    table, keys, known = _grown(keys, known, count)
                    place = find(key, table, keys)
            if corner == 0:
                current = table[place]
        known[current] |= 1 << extent
        tile[p] = current
    ahead = np.empty((count, 8), np.int32)
    for t in range(count):
        for corner in range(8):
            key = keys[t] + ((corner >> 2) << 42) + (((corner >> 1) & 1) << 21) + (corner & 1)
            ahead[t, corner] = table[find(key, table, keys)]
    return keys[:count].copy(), table, ahead


@counted_inner
def _grown(keys, known, count):
    """A table of four times the size, and room for what is known of as many tiles as it may hold."""
    table, more, bits = np.full(8 * count, -1, np.int32), np.empty(4 * count, np.int64), np.zeros(4 * count, np.int32)
    for t in range(count):
        more[t], bits[t] = keys[t], known[t]
    for t in range(count):
        table[find(keys[t], table, more)] = t
    return table, more, bits
