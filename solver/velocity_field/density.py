# SPDX-License-Identifier: GPL-3.0-or-later
"""How many layers of cloth are in a cell, and which way they face (Buffet 2021, 3.2.2).

The thesis scatters samples over the triangles and adds up Gaussians, wide along the surface and as thin as the cloth
across it. Here the particles are the samples, with the normal and the third of the area of their triangles, and each
Gaussian is weighed by that area over its own, so that one flat sheet has density 1 however it is meshed; particles on a
border count for what is missing beyond it, or borders would go through sheets unseen. Across, a Gaussian is as wide as
along: thinner ones slip through between the cells' centres (with 0.62 cells for 0.75, two sheets on a ball had 320
crowded cells for 441, and crossed). They begin at the cloth's surfaces, half its thickness from the particles: thick
layers stop that much farther apart. What is anisotropic is what the density does: the directions that layers face go
into the mean of n n^T, which does not care which side of a sheet is its front. It is of rank one where all layers are
parallel, a third of unity where they face anywhere.

In place of exp(-q) stands (1 - q / 4)^4, which ends at q = 4, inside of the cells that the particle touches.
"""

import math

import numpy as np

from ..kernel.jit import fused, njit
from .sparse_grid import TILE_SLOTS, Grid, slot_in_tile, tile_ahead

KERNEL_WIDTH = 0.75  # cells: its end is 1.5 cells away
BORDER_AREAS = 2.4  # times its area that a particle on a border counts for
AREA = 3  # column of `facing`, after the normal
DENSITY, XX, YY, ZZ, YZ, XZ, XY = range(7)  # columns of `layers`, of eight


def measure(cloth, x: np.ndarray) -> np.ndarray:
    """(n, 4) normal of length 1 and area [m2] of each particle; the area is 0 for one in no triangle."""
    facing = np.zeros((len(x), 4))
    _face(x, cloth.triangles, facing, np.zeros(len(x), np.int64))
    return facing


def rasterise(grid: Grid, facing: np.ndarray, thickness=0.0) -> np.ndarray:
    """(s, 8) of each cell: layers, 1 for a single sheet; as many times xx, yy, zz, yz, xz, xy of the mean n n^T; 0.

    thickness : (n,) [m], or a number
    """
    layers = np.zeros((len(grid.key) * TILE_SLOTS, 8))
    _rasterise(grid, facing, np.zeros(len(facing)) + 0.5 / grid.step * thickness, layers)
    return layers


def evened(layers: np.ndarray) -> np.ndarray:
    """The same layers (s, 8), as if they faced anywhere alike: a cell's rate is the divergence then, in all directions."""
    layers = layers.copy()
    layers[:, XX : ZZ + 1] = layers[:, DENSITY, None]
    layers[:, YZ:] = 0.0
    return layers


@njit
def _face(x, triangles, facing, ends):
    """Sum normals and areas over the triangles of particles, and make normals of length 1.

    Round a particle inside the cloth each neighbour comes next as often as it comes before: `ends` is zero there.
    # outputs: facing; scratch: ends (n,)
    """
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        wx, wy, wz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
        area = math.sqrt(nx * nx + ny * ny + nz * nz) / 6.0
        for p in (a, b, c):
            facing[p, 0] += nx
            facing[p, 1] += ny
            facing[p, 2] += nz
            facing[p, AREA] += area
        ends[a], ends[b], ends[c] = ends[a] + c - b, ends[b] + a - c, ends[c] + b - a
    for p in range(len(x)):
        if ends[p] != 0:
            facing[p, AREA] *= BORDER_AREAS
        length = math.sqrt(facing[p, 0] ** 2 + facing[p, 1] ** 2 + facing[p, 2] ** 2)
        for axis in range(3):
            facing[p, axis] /= max(length, 1e-300)


@fused
def _rasterise(grid, facing, half, layers):
    """27 cells, 35 flops each, of every particle; half (n,) its thickness [cells].
    # outputs: layers
    """
    tile, within, part, step = grid.tile, grid.within, grid.part, grid.step
    narrow = 0.25 / (KERNEL_WIDTH * KERNEL_WIDTH)
    for p in range(len(tile)):
        if tile[p] < 0:
            continue
        t = np.uint32(tile[p])
        nx, ny, nz = facing[p, 0], facing[p, 1], facing[p, 2]
        weight = facing[p, AREA] / (0.8 * math.pi * KERNEL_WIDTH * KERNEL_WIDTH * step * step)
        for i in range(3):
            x, dx = within[p, 0] + i, i - 0.5 - part[p, 0]
            for j in range(3):
                y, dy = within[p, 1] + j, j - 0.5 - part[p, 1]
                for k in range(3):
                    z, dz = within[p, 2] + k, k - 0.5 - part[p, 2]
                    deep = abs(dx * nx + dy * ny + dz * nz)
                    outside = max(deep - half[p], 0.0)
                    left = 1.0 - narrow * (dx * dx + dy * dy + dz * dz - deep * deep + outside * outside)
                    if left <= 0.0:
                        continue
                    s = np.uint32(grid.ahead[t, np.uint32(tile_ahead(x, y, z))] * TILE_SLOTS + slot_in_tile(x, y, z))
                    share = weight * left * left * left * left
                    layers[s, DENSITY] += share
                    layers[s, XX] += share * nx * nx
                    layers[s, YY] += share * ny * ny
                    layers[s, ZZ] += share * nz * nz
                    layers[s, YZ] += share * ny * nz
                    layers[s, XZ] += share * nx * nz
                    layers[s, XY] += share * nx * ny
