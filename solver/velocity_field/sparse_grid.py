# SPDX-License-Identifier: GPL-3.0-or-later
"""A sparse grid of cells round the cloth (Buffet 2021, 3.2): small tiles of cells, found by a hash table.

A tile is 4 x 4 x 4 cells; a cell has the number of the grid's node at its lowest corner. A particle touches the 3 x 3 x 3
cells round its own one, whose corners are 4 x 4 x 4 nodes; all of them have a slot here, and nothing else has.
"""

from typing import NamedTuple

import numpy as np

from ..kernel.jit import counted_inner, counted_njit, inner

TILE_BITS = 2  # of a cell's place within its tile, on each axis
TILE_MASK = (1 << TILE_BITS) - 1
TILE_SIDE = 1 << TILE_BITS  # cells
TILE_SLOTS = TILE_SIDE**3
TOUCHED_NODES = 4  # on each axis, by a particle
KEY_BITS = 21  # of a tile's place in its key, on each axis
FARTHEST_TILE = 1 << (KEY_BITS - 1)  # from the origin, beyond which there is no grid
FIRST_TILES = 512  # that there is room for at first


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
    """The key of tile (i, j, k); adding `_step_up` goes one tile up."""
    return ((i + FARTHEST_TILE) << 2 * KEY_BITS) | ((j + FARTHEST_TILE) << KEY_BITS) | (k + FARTHEST_TILE)


@inner
def _step_up(corner):
    """What leads from a tile's key to that of the one ahead, in the order of bits x, y, z."""
    return ((corner >> 2) << 2 * KEY_BITS) + (((corner >> 1) & 1) << KEY_BITS) + (corner & 1)


def unpack(key: np.ndarray) -> np.ndarray:
    """Places (tiles, 3) of tiles by their keys."""
    shifts = 2 * KEY_BITS, KEY_BITS, 0
    return np.stack([(key >> shift) & ((1 << KEY_BITS) - 1) for shift in shifts], axis=1) - FARTHEST_TILE


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
    return np.int64(ahead[tile, tile_ahead(i, j, k)]) * TILE_SLOTS + slot_in_tile(i, j, k)


@inner
def tile_ahead(i, j, k):
    """In which of the eight tiles ahead cell (i, j, k) is, counted from a tile's corner."""
    return (i >> TILE_BITS) * 4 + (j >> TILE_BITS) * 2 + (k >> TILE_BITS)


@inner
def slot_in_tile(i, j, k):
    """The slot of cell (i, j, k) within its tile."""
    return ((i & TILE_MASK) * TILE_SIDE + (j & TILE_MASK)) * TILE_SIDE + (k & TILE_MASK)


@counted_njit
def _lay_tiles(x, area, step, tile, within, part):
    """Place particles and make the tiles that they need; returns keys, table and neighbours of the tiles.
    # outputs: tile, within, part
    """
    count, keys, table = 0, np.empty(FIRST_TILES, np.int64), np.full(2 * FIRST_TILES, -1, np.int32)
    last, current = np.int64(-1), 0  # the tile of the particle before
    known = np.zeros(FIRST_TILES, np.int32)  # bits of the extents round a tile that are there
    for p in range(len(x)):
        tile[p] = -1
        if area[p] <= 0.0:
            continue
        first, extent = 0, 0
        for axis in range(3):
            scaled = min(max(x[p, axis] / step, -3.0 * FARTHEST_TILE), 3.0 * FARTHEST_TILE)
            cell = np.int64(np.floor(scaled))
            part[p, axis], low = scaled - cell, cell - 1
            within[p, axis] = low & TILE_MASK
            first = (first << KEY_BITS) | ((low >> TILE_BITS) + FARTHEST_TILE)
            extent = extent << 1 | ((low & TILE_MASK) + TOUCHED_NODES - 1) >> TILE_BITS
        if first != last:
            last, current = first, table[find(first, table, keys)]
        if current >= 0 and (known[current] >> extent) & 1:
            tile[p] = current
            continue
        for corner in range(8):
            if corner & ~extent:
                continue
            key = first + _step_up(corner)
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
            key = keys[t] + _step_up(corner)
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
