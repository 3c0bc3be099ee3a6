# SPDX-License-Identifier: GPL-3.0-or-later
"""Where velocities are constrained (Buffet 2021, 3.3.1): the crowded cells, their corners, the particles between these.

A cell is crowded where more than one layer is in it and all of its corners have cloth beside them. Its rate is the
directional divergence of the velocity at the corners (3.4.3, eq. 3.8), T : grad v with T the mean of n n^T: how fast
the gaps in it open, per length of gap, averaged over the layers; cloth that slides or turns has none. The gradient is
that of the trilinear field, averaged over the cell, so that a row of the system has eight corners, opposite ones with
opposite signs: the motion of the whole has a rate of exactly zero, whatever T is.
"""

from typing import NamedTuple

import numpy as np

from ..kernel.jit import counted_njit, njit
from ..kernel.vec4 import store, vec4
from .density import DENSITY, XX, XY, XZ, YY, YZ, ZZ
from .sparse_grid import TILE_BITS, TILE_MASK, TILE_SLOTS, Grid, slot, tile_ahead

CROWDED = 1.1  # layers from which a cell counts: one sheet that bends has up to that
UNTOUCHED, TOUCHED = -1, -2  # in place of a node's number, before it has one
NOBODY, SEVERAL = -3, -2  # beside a node, in place of the one rigid garment that is; -1: cloth


class Cells(NamedTuple):
    """The crowded cells, in the order of their slots."""

    nodes: np.ndarray  # (c, 8) uint32 corners, in the order of bits x, y, z
    rows: np.ndarray  # (4 c, 4) [1/m] what corners 7, 6, 5, 4 add to the rate; 0, 1, 2, 3 take it off
    density: np.ndarray  # (c,) layers


class Nodes(NamedTuple):
    """Corners of crowded cells, then those that only their particles touch: these have no say."""

    slots: np.ndarray  # (k,) int64 where they are in the grid
    crowded_count: int  # how many of them belong to cells
    particles: np.ndarray  # (p,) uint32 that touch corners of crowded cells
    corners: np.ndarray  # (p, 8) uint32 the nodes round each of them
    parts: np.ndarray  # (p, 8) what it gives to and takes from each: trilinear, their sum is 1


def find_cells(grid: Grid, layers: np.ndarray) -> tuple[Cells, Nodes]:
    """Crowded cells, and their nodes, from `density.rasterise`."""
    number = np.full(len(layers), UNTOUCHED, np.int32)
    _mark(grid, number)
    most = int(np.count_nonzero(layers[:, DENSITY] > CROWDED))
    cells = Cells(np.empty((most, 8), np.uint32), np.empty((4 * most, 4)), np.empty(most))
    count, crowded = _collect(grid, layers, number, *cells)
    cells = Cells(cells.nodes[:count], cells.rows[: 4 * count], cells.density[:count])
    around = np.empty(len(grid.tile) if count else 0, np.uint32)
    corners, parts = np.empty((len(around), 8), np.uint32), np.empty((len(around), 8))
    found, total = _surround(grid, number, crowded, around, corners, parts)
    slots = np.empty(total, np.int64)
    used = np.flatnonzero(number >= 0)
    slots[number[used]] = used
    return cells, Nodes(slots, crowded, around[:found], corners[:found], parts[:found])


def clear_own(grid: Grid, rigid: np.ndarray, layers: np.ndarray) -> None:
    """Take the layers out of cells beside which nothing is but one rigid garment: within itself no gap can close.

    rigid : (n,) the garment of a particle if it is rigid, else -1
    # outputs: layers
    """
    _clear(grid, rigid.astype(np.int32), np.full(len(layers), NOBODY, np.int32), layers)


@njit
def _clear(grid, rigid, beside, layers):
    """See `clear_own`. # outputs: layers; scratch: beside (s,)"""
    tile, within, ahead = grid.tile, grid.within, grid.ahead
    for p in range(len(tile)):
        if tile[p] >= 0:
            for q in range(8):
                i, j, k = within[p, 0] + 1 + (q >> 2), within[p, 1] + 1 + ((q >> 1) & 1), within[p, 2] + 1 + (q & 1)
                s = slot(ahead, tile[p], i, j, k)
                beside[s] = rigid[p] if beside[s] == NOBODY or beside[s] == rigid[p] else SEVERAL
    for s in range(len(layers)):
        if layers[s, DENSITY] <= CROWDED:
            continue
        t, own = s // TILE_SLOTS, beside[s]
        i, j, k = s >> 2 * TILE_BITS & TILE_MASK, s >> TILE_BITS & TILE_MASK, s & TILE_MASK
        for q in range(8):
            x, y, z = i + (q >> 2), j + ((q >> 1) & 1), k + (q & 1)
            if ahead[t, tile_ahead(x, y, z)] < 0 or beside[slot(ahead, t, x, y, z)] != own:
                own = SEVERAL
        for column in range(layers.shape[1] if own >= 0 else 0):
            layers[s, column] = 0.0


@njit
def _mark(grid, number):
    """Enter TOUCHED at nodes that a particle touches.
    # outputs: number
    """
    tile, within = grid.tile, grid.within
    for p in range(len(tile)):
        if tile[p] >= 0:
            for q in range(8):
                i, j, k = within[p, 0] + 1 + (q >> 2), within[p, 1] + 1 + ((q >> 1) & 1), within[p, 2] + 1 + (q & 1)
                number[slot(grid.ahead, tile[p], i, j, k)] = TOUCHED


@counted_njit
def _collect(grid, layers, number, nodes, rows, density):
    """Enter cells, and number their corners from 0 on; returns how many cells and corners there are.
    # outputs: number, nodes, rows, density
    """
    ahead, corner = grid.ahead, np.empty(8, np.int64)
    count, numbered = 0, 0
    for s in range(len(layers)):
        if layers[s, DENSITY] <= CROWDED:
            continue
        t, complete = s // TILE_SLOTS, True
        i, j, k = s >> 2 * TILE_BITS & TILE_MASK, s >> TILE_BITS & TILE_MASK, s & TILE_MASK
        for q in range(8):
            x, y, z = i + (q >> 2), j + ((q >> 1) & 1), k + (q & 1)
            if ahead[t, tile_ahead(x, y, z)] < 0:
                complete = False
                break
            corner[q] = slot(ahead, t, x, y, z)
            complete &= number[corner[q]] != UNTOUCHED
        if not complete:
            continue
        for q in range(8):
            if number[corner[q]] < 0:
                number[corner[q]] = numbered
                numbered += 1
            nodes[count, q] = number[corner[q]]
        scale = 0.25 / (grid.step * layers[s, DENSITY])
        xx, yy, zz = scale * layers[s, XX], scale * layers[s, YY], scale * layers[s, ZZ]
        yz, xz, xy = scale * layers[s, YZ], scale * layers[s, XZ], scale * layers[s, XY]
        for pair in range(4):
            y_sign, z_sign = 1.0 - 2.0 * (pair >> 1), 1.0 - 2.0 * (pair & 1)
            along_x, along_y = xx + y_sign * xy + z_sign * xz, xy + y_sign * yy + z_sign * yz
            store(rows, 4 * count + pair, vec4(along_x, along_y, xz + y_sign * yz + z_sign * zz, 0.0))
        density[count] = layers[s, DENSITY]
        count += 1
    return count, numbered


@njit
def _surround(grid, number, crowded, particles, corners, parts):
    """Collect the particles at numbered nodes, number what else they touch; returns how many of both there are then.
    # outputs: number, particles, corners, parts
    """
    tile, within, part = grid.tile, grid.within, grid.part
    count, numbered = 0, crowded
    for p in range(len(tile) if len(particles) else 0):
        if tile[p] < 0:
            continue
        near = False
        for q in range(8):
            i, j, k = within[p, 0] + 1 + (q >> 2), within[p, 1] + 1 + ((q >> 1) & 1), within[p, 2] + 1 + (q & 1)
            s = slot(grid.ahead, tile[p], i, j, k)
            near |= 0 <= number[s] < crowded
            corners[count, q] = s
        if not near:
            continue
        for q in range(8):
            s = np.int64(corners[count, q])
            if number[s] < 0:
                number[s] = numbered
                numbered += 1
            corners[count, q] = number[s]
            x = part[p, 0] if q >> 2 else 1.0 - part[p, 0]
            y = part[p, 1] if (q >> 1) & 1 else 1.0 - part[p, 1]
            z = part[p, 2] if q & 1 else 1.0 - part[p, 2]
            parts[count, q] = x * y * z
        particles[count] = p
        count += 1
    return count, numbered
