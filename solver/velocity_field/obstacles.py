# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies on the grid (Buffet 2021, 3.2.1): nodes beside their surface go with it.

The thesis gives voxels just outside a body the body's velocity with a weight without bound. Here a node within a cell
of a triangle has the velocity of its nearest point with a mass that falls with the distance, `SOLID_LAYERS` times that of a
layer of cloth where it touches. That holds along the body's normal: what slides along it is held back by friction, which
`contact.body` knows, and the layers above it by theirs. That bodies keep cloth outside is not left to the field either.

While a grid lasts its nodes stay with the cloth, and so with the points of bodies that they were beside. Where a body turns
the velocity of these points turns with it, and so does that of the nodes (`go_on`). With the velocity of the first substep
the wall of a drum kept what lay in it from going round: in four substeps 9 cm/s too straight on, so that shirts were pressed
into the wall, and one panel went through the other.
"""

import math
from typing import NamedTuple

import numpy as np

from ..geometry.distance import closest_on_triangle
from ..kernel.jit import inner, njit
from ..kernel.threads import cut, on_threads
from .sparse_grid import TILE_BITS, TILE_SIDE, TILE_SLOTS, find, pack, slot_in_tile, unpack

SOLID_LAYERS = 100.0  # masses of a layer of cloth that a body has beside a node
SOLID_REACH = 1.0  # cells from a surface within which nodes go with it
SMALLEST_AREA = 1e-300  # [m2] of a triangle that has a normal
SMALLEST_TILES = 16  # that a thread takes
# columns of what is solid at the grid's slots, all but the mass the first of three; the normal weighed by mass, either way; what
# the momentum would change by in a whole frame
SOLID_MASS, SOLID_MOMENTUM, SOLID_NORMAL, SOLID_CHANGE = 0, 1, 4, 7
SOLID_COLUMNS = 10


class _Body(NamedTuple):
    """What of a body goes to the nodes beside it."""

    triangles: np.ndarray  # (t, 3)
    x: np.ndarray  # (m, 3) [m]
    v: np.ndarray  # (m, 3) [m/s]
    change: np.ndarray  # (m, 3) [m/s] of it in a whole frame
    mass: float  # [kg] at a node that it touches
    friction: float


class _Tiles(NamedTuple):
    """The tiles that a thread enters bodies at."""

    step: float  # [m] side of a cell
    key: np.ndarray  # (tiles,) of all tiles, with the next as in `Grid`
    table: np.ndarray
    low: np.ndarray  # (3,) lowest place of the thread's own
    high: np.ndarray  # (3,) highest
    wanted: np.ndarray  # (s,) bool: slots that may be entered
    own: np.ndarray  # (tiles,) bool: whether a tile is the thread's own


def go_on(solid: np.ndarray, time: float) -> None:
    """Have bodies at nodes go on for a time, in parts of the frame.
    # outputs: solid (k, SOLID_COLUMNS)
    """
    momentum = solid[:, SOLID_MOMENTUM : SOLID_MOMENTUM + 3]
    momentum += time * solid[:, SOLID_CHANGE : SOLID_CHANGE + 3]


def rasterise(grid, wanted, triangles, x, v, change, mass: float, friction: float, solid, grip) -> None:
    """Enter the bodies' mass, momentum and friction at the grid's slots.

    Parameters
    ----------
    wanted : (s,) bool: slots that may be entered
    triangles, x, v, change : (t, 3), (m, 3) [m], (m, 3) [m/s] of a body, and of v in a whole frame
    mass : [kg] of a layer of cloth in a cell
    solid, grip : (s, SOLID_COLUMNS) [kg], [kg m/s], [kg], [kg m/s] and (s,), added to in place
    """
    busy = wanted.reshape(-1, TILE_SLOTS).any(axis=1)
    body = _Body(triangles, x, v, change, SOLID_LAYERS * mass, friction)
    tiles = np.flatnonzero(busy)

    def part(_, start, stop):  # every thread has tiles of its own, into which nobody else writes
        own = np.zeros_like(busy)
        own[tiles[start:stop]] = True
        places = unpack(grid.key[own])
        mine = _Tiles(grid.step, grid.key, grid.table, places.min(axis=0), places.max(axis=0), wanted, own)
        _enter(mine, body, solid, grip, np.empty((2, 3), np.int64))

    if len(tiles):
        on_threads(part, cut(len(tiles), SMALLEST_TILES))


@inner
def _enter_node(at, px, py, pz, a, b, c, normal, body, reach, solid, grip):
    """Enter triangle (a, b, c) of a body, with a unit normal, at a node at (px, py, pz) [m], if that is in reach [m].
    # outputs: solid, grip
    """
    x, v, change = body.x, body.v, body.change
    wa, wb, wc, _ = closest_on_triangle(
        px, py, pz, x[a, 0], x[a, 1], x[a, 2], x[b, 0], x[b, 1], x[b, 2], x[c, 0], x[c, 1], x[c, 2]
    )
    dx = wa * x[a, 0] + wb * x[b, 0] + wc * x[c, 0] - px
    dy = wa * x[a, 1] + wb * x[b, 1] + wc * x[c, 1] - py
    dz = wa * x[a, 2] + wb * x[b, 2] + wc * x[c, 2] - pz
    left = 1.0 - math.sqrt(dx * dx + dy * dy + dz * dz) / reach
    if left > 0.0:
        solid[at, SOLID_MASS] += body.mass * left
        along = 0.0
        for axis in range(3):
            along += normal[axis] * solid[at, SOLID_NORMAL + axis]
        for axis in range(3):
            solid[at, SOLID_NORMAL + axis] += math.copysign(body.mass * left, along) * normal[axis]
            solid[at, SOLID_MOMENTUM + axis] += body.mass * left * (wa * v[a, axis] + wb * v[b, axis] + wc * v[c, axis])
            later = wa * change[a, axis] + wb * change[b, axis] + wc * change[c, axis]
            solid[at, SOLID_CHANGE + axis] += body.mass * left * later
        grip[at] = max(grip[at], body.friction)


@inner
def _find_box(tiles, x, a, b, c, box):
    """The nodes within reach of a triangle, as far as they are in the box of the own tiles; whether there are any, as there
    are of none that is not finite.
    # outputs: box (2, 3)
    """
    step, low, high = tiles.step, tiles.low, tiles.high
    outside = False
    for axis in range(3):
        if not math.isfinite(x[a, axis] + x[b, axis] + x[c, axis]):
            return False
        least = min(x[a, axis], x[b, axis], x[c, axis]) / step - SOLID_REACH
        most = max(x[a, axis], x[b, axis], x[c, axis]) / step + SOLID_REACH
        first, end = float(TILE_SIDE) * low[axis], float(TILE_SIDE) * high[axis] + TILE_SIDE
        outside |= most < first or least > end
        box[0, axis] = math.ceil(min(max(least, first), end))
        box[1, axis] = math.floor(max(min(most, end - 1.0), first - 1.0))
    return not outside


@njit
def _enter(tiles, body, solid, grip, box):
    """Of each triangle the tiles in its box, of these the nodes in reach.
    # outputs: solid, grip; scratch: box (2, 3)
    """
    x, step, reach = body.x, tiles.step, SOLID_REACH * tiles.step
    for t in range(len(body.triangles)):
        a, b, c = body.triangles[t, 0], body.triangles[t, 1], body.triangles[t, 2]
        if not _find_box(tiles, x, a, b, c, box):
            continue
        ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        wx, wy, wz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
        size = math.sqrt(nx * nx + ny * ny + nz * nz)
        thick, unit = reach * size, 1.0 / max(size, SMALLEST_AREA)
        normal = unit * nx, unit * ny, unit * nz
        for i in range(box[0, 0] >> TILE_BITS, (box[1, 0] >> TILE_BITS) + 1):
            for j in range(box[0, 1] >> TILE_BITS, (box[1, 1] >> TILE_BITS) + 1):
                for k in range(box[0, 2] >> TILE_BITS, (box[1, 2] >> TILE_BITS) + 1):
                    tile = tiles.table[find(pack(i, j, k), tiles.table, tiles.key)]
                    if tile < 0 or not tiles.own[tile]:
                        continue
                    for gx in range(max(box[0, 0], TILE_SIDE * i), min(box[1, 0] + 1, TILE_SIDE * (i + 1))):
                        for gy in range(max(box[0, 1], TILE_SIDE * j), min(box[1, 1] + 1, TILE_SIDE * (j + 1))):
                            for gz in range(max(box[0, 2], TILE_SIDE * k), min(box[1, 2] + 1, TILE_SIDE * (k + 1))):
                                at = tile * TILE_SLOTS + slot_in_tile(gx, gy, gz)
                                if not tiles.wanted[at]:
                                    continue
                                px, py, pz = gx * step, gy * step, gz * step
                                off = nx * (px - x[a, 0]) + ny * (py - x[a, 1]) + nz * (pz - x[a, 2])
                                if abs(off) <= thick:
                                    _enter_node(at, px, py, pz, a, b, c, normal, body, reach, solid, grip)
