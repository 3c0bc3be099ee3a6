# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies on the grid (Buffet 2021, 3.2.1): nodes beside their surface go with it.

The thesis gives voxels just outside a body the body's velocity with a weight without bound. Here a node within a cell
of a triangle has the velocity of its nearest point with a mass that falls with the distance, `HEAVY` times that of a
layer of cloth where it touches. That bodies keep cloth outside is not left to the field: `contact.body` sees to it.
"""

import math

import numpy as np

from ..contact.distance import closest_on_triangle
from ..jit import inner, njit
from ..threads import cut, on_threads
from .grid import TILE, find, pack

HEAVY = 100.0  # masses of the cloth beside a node
REACH = 1.0  # cells from a surface within which nodes go with it
SMALLEST_PART = 16  # tiles that a thread takes


def rasterise(grid, wanted, triangles, x, v, mass: float, friction: float, solid, grip) -> None:
    """Enter the bodies' mass, momentum and friction at the grid's slots.

    Parameters
    ----------
    wanted : (s,) bool: slots that may be entered
    triangles, x, v : (t, 3), (m, 3) [m], (m, 3) [m/s] of a body
    mass : [kg] of a layer of cloth in a cell
    solid, grip : (s, 4) [kg], [kg m/s] and (s,), added to in place
    """
    busy = wanted.reshape(-1, TILE).any(axis=1)
    tiles = np.flatnonzero(busy)

    def part(_, start, stop):  # every thread has tiles of its own, into which nobody else writes
        own = np.zeros_like(busy)
        own[tiles[start:stop]] = True
        places = grid.step, grid.key, grid.table, *_bounds(grid.key[own]), wanted, own
        _enter(*places, triangles, x, v, HEAVY * mass, friction, solid, grip, np.empty((2, 3), np.int64))

    if len(tiles):
        on_threads(part, cut(len(tiles), SMALLEST_PART))


def _bounds(key):
    """The lowest and highest tile on each axis."""
    places = np.stack([(key >> shift) & ((1 << 21) - 1) for shift in (42, 21, 0)], axis=1) - (1 << 20)
    return places.min(axis=0), places.max(axis=0)


@inner
def _enter_node(at, px, py, pz, a, b, c, x, v, reach, heavy, friction, solid, grip):
    """Enter triangle (a, b, c) at a node at (px, py, pz) [m], if that is in reach [m].
    # outputs: solid, grip
    """
    wa, wb, wc, _ = closest_on_triangle(
        px, py, pz, x[a, 0], x[a, 1], x[a, 2], x[b, 0], x[b, 1], x[b, 2], x[c, 0], x[c, 1], x[c, 2]
    )
    dx = wa * x[a, 0] + wb * x[b, 0] + wc * x[c, 0] - px
    dy = wa * x[a, 1] + wb * x[b, 1] + wc * x[c, 1] - py
    dz = wa * x[a, 2] + wb * x[b, 2] + wc * x[c, 2] - pz
    left = 1.0 - math.sqrt(dx * dx + dy * dy + dz * dz) / reach
    if left > 0.0:
        solid[at, 0] += heavy * left
        for axis in range(3):
            solid[at, 1 + axis] += heavy * left * (wa * v[a, axis] + wb * v[b, axis] + wc * v[c, axis])
        grip[at] = max(grip[at], friction)


@njit
def _enter(step, keys, table, low, high, wanted, busy, triangles, x, v, heavy, friction, solid, grip, box):
    """Of each triangle the tiles in its box, of these the nodes in reach.
    # outputs: solid, grip; scratch: box (2, 3)
    """
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        outside = False
        for axis in range(3):
            least = min(x[a, axis], x[b, axis], x[c, axis]) / step - REACH
            most = max(x[a, axis], x[b, axis], x[c, axis]) / step + REACH
            outside |= most < 4.0 * low[axis] or least > 4.0 * high[axis] + 4.0
            box[0, axis] = math.ceil(min(max(least, 4.0 * low[axis]), 4.0 * high[axis] + 4.0))
            box[1, axis] = math.floor(max(min(most, 4.0 * high[axis] + 3.0), 4.0 * low[axis] - 1.0))
        if outside:
            continue
        ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        wx, wy, wz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
        thick = REACH * step * math.sqrt(nx * nx + ny * ny + nz * nz)
        for i in range(box[0, 0] >> 2, (box[1, 0] >> 2) + 1):
            for j in range(box[0, 1] >> 2, (box[1, 1] >> 2) + 1):
                for k in range(box[0, 2] >> 2, (box[1, 2] >> 2) + 1):
                    tile = table[find(pack(i, j, k), table, keys)]
                    if tile < 0 or not busy[tile]:
                        continue
                    for gx in range(max(box[0, 0], 4 * i), min(box[1, 0], 4 * i + 3) + 1):
                        for gy in range(max(box[0, 1], 4 * j), min(box[1, 1], 4 * j + 3) + 1):
                            for gz in range(max(box[0, 2], 4 * k), min(box[1, 2], 4 * k + 3) + 1):
                                at = tile * TILE + (gx & 3) * 16 + (gy & 3) * 4 + (gz & 3)
                                if not wanted[at]:
                                    continue
                                px, py, pz = gx * step, gy * step, gz * step
                                off = nx * (px - x[a, 0]) + ny * (py - x[a, 1]) + nz * (pz - x[a, 2])
                                if abs(off) <= thick:
                                    near = at, px, py, pz, a, b, c
                                    _enter_node(*near, x, v, REACH * step, heavy, friction, solid, grip)
