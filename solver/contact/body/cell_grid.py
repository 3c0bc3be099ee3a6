# SPDX-License-Identifier: GPL-3.0-or-later
"""Where bodies and cloth can be in an interval of time: a coarse grid over the domain, a byte a cell.

Most of a body is far from the cloth, and most of the cloth far from bodies. A cell knows whether the way of a triangle
touches it (CELL_BODY), whether one touches it or one of its 26 neighbours (CELL_NEAR), and whether cloth is expected within
reach, so that all triangles that touch the cell are drawn (CELL_DRAWN). A point outside CELL_NEAR cells meets nothing, wherever
it strays; a point that asks in a cell with CELL_BODY but not CELL_DRAWN has come where nobody expected it: it is lost, and the
image is drawn anew.

Everything is seen from the frame of reference that moves with the cloth (`bulk`, see `motion`). The grid has a layer of
cells more on every side, so that neighbours need no bounds.
"""

from typing import NamedTuple

import numpy as np

from ...kernel.jit import counted_njit, inner

CELL_BODY, CELL_NEAR, CELL_DRAWN = 1, 2, 4  # flags
DOMAIN_CELLS = 40  # cells along the domain's longest side


class Box(NamedTuple):
    """What lies between two corners."""

    low: np.ndarray  # (3,) [m]
    high: np.ndarray  # (3,) [m]


class Cells(NamedTuple):
    """A grid of cells."""

    flags: np.ndarray  # (c,) uint8 of CELL_BODY, CELL_NEAR, CELL_DRAWN
    low: np.ndarray  # (3,) [m] corner of the domain; the layer round it lies below
    size: float  # [m] side of a cell, no less than two auras
    shape: np.ndarray  # (3,) cells along each axis, the layer included


def make_cells(domain: Box, aura: float) -> Cells:
    """Cells over a domain: nothing is in them."""
    low, high = domain
    extent = high - low
    size = max(float(extent.max()) / DOMAIN_CELLS, 2.0 * aura, 1e-9)
    shape = np.clip(np.nan_to_num(extent / size), 0, DOMAIN_CELLS).astype(np.int64) + 3
    return Cells(np.zeros(int(shape.prod()), np.uint8), low.copy(), size, shape)


def spread(cells: Cells, flag: int, rounds: int = 1) -> None:
    """Give a flag to the neighbours of the cells that have it."""
    for step in (1, int(cells.shape[2]), int(cells.shape[1] * cells.shape[2])) * rounds:
        have = cells.flags & flag
        cells.flags[step:] |= have[:-step]
        cells.flags[:-step] |= have[step:]


@inner
def cell_of(cells, x, y, z):
    """The cell of a point, or -1 outside the domain."""
    low, size, shape = cells.low, cells.size, cells.shape
    i, j, k = np.floor((x - low[0]) / size), np.floor((y - low[1]) / size), np.floor((z - low[2]) / size)
    if 0.0 <= i <= shape[0] - 3.0 and 0.0 <= j <= shape[1] - 3.0 and 0.0 <= k <= shape[2] - 3.0:
        return ((int(i) + 1) * int(shape[1]) + int(j) + 1) * int(shape[2]) + int(k) + 1
    return -1


@inner
def clipped(cells, axis, near, far):
    """First and last cell, of those inside the domain along an axis, between two coordinates."""
    low, size, count = cells.low[axis], cells.size, cells.shape[axis]
    first, last = np.floor((near - low) / size), np.floor((far - low) / size)
    return int(between(first, 0.0, count - 2.0)) + 1, int(between(last, -1.0, count - 3.0)) + 1


@inner
def between(value, low, high):
    """A float kept in low..high before it becomes an integer; low if it is none."""
    if value > high:
        return high
    return value if value >= low else low


@inner
def _mark_round(cells, x, y, z, deep):
    """Set CELL_DRAWN within `deep` [m] of a point along each axis."""
    i0, i1 = clipped(cells, 0, x - deep, x + deep)
    j0, j1 = clipped(cells, 1, y - deep, y + deep)
    k0, k1 = clipped(cells, 2, z - deep, z + deep)
    for column in range(i0, i1 + 1):
        for row in range(j0, j1 + 1):
            for cell in range(k0, k1 + 1):
                cells.flags[(column * cells.shape[1] + row) * cells.shape[2] + cell] |= CELL_DRAWN


@counted_njit
def mark_cloth(x, v, samples, place, deep, tau, seconds, bulk, cells):
    """Set CELL_DRAWN along the ways of all points from tau to the interval's end, in steps of a cell at most.

    Points are the particles and then the `samples` between three of them. One inside a body (`place`) can look for a
    way out as far as `deep` [m]. 40 flops and 100 bytes a point.
    """
    parents, weight = samples.parents, samples.weight
    at, step = np.empty(3), np.empty(3)
    for p in range(len(x) + len(parents)):
        i, j, k, a, b, c = p, p, p, 1.0, 0.0, 0.0
        if p >= len(x):
            s = p - len(x)
            i, j, k, a, b, c = parents[s, 0], parents[s, 1], parents[s, 2], weight[s, 0], weight[s, 1], weight[s, 2]
            if a < 0.0:  # nowhere
                continue
        longest = 0.0
        for axis in range(3):
            at[axis] = a * x[i, axis] + b * x[j, axis] + c * x[k, axis] - (tau - 0.5) * bulk[axis]
            speed = a * v[i, axis] + b * v[j, axis] + c * v[k, axis]
            step[axis] = (1.0 - tau) * (seconds * speed - bulk[axis])
            longest = max(longest, abs(step[axis]))
        count = int(min(longest / cells.size, 2.0 * DOMAIN_CELLS)) + 1
        for s in range(count + 1):
            part = s / count
            u, w, z = at[0] + part * step[0], at[1] + part * step[1], at[2] + part * step[2]
            if place[p] > 0:
                _mark_round(cells, u, w, z, deep)
                continue
            cell = cell_of(cells, u, w, z)
            if cell >= 0:
                cells.flags[cell] |= CELL_DRAWN
