# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a particle of a crowd may slide: along all layers that are beside it, and not only along its own.

A particle that goes with the field along its own normal alone slides along its own layer. Where layers lie on each other,
that passes none of them. Where two cross, or a fold leans on what it lies on, the way along the one leads through the other:
a heap at rest, whose layers creep a little, sews itself together so. (Buffet 2021, 3.1, moves everything with the field
alone, and nothing slides on anything.)

The mean T of n n^T in a particle's cell says how the layers there face. Its eigenvalue along a direction is the part of them
that bar it: one across layers that are parallel, a half across each of two that cross at right angles. What of a motion is
barred is (1 - (1 - T^2)^8) of it: nine tenths where half of the layers bar the way,
six tenths where a third do, hardly any where less than a tenth do,
as of a sheet that bends within its cells. Nothing is held more firmly than `transfer.MOST_HELD`: of cloth that tumbles in a
drum single edges got longer by a third, where folds were held that all else pulled at.
"""

from ..kernel.jit import fused, fused_inner
from .density import DENSITY, XX, XY, XZ, YY, YZ, ZZ
from .sparse_grid import slot

SQUARINGS = 3  # of 1 - T^2: two to the power of that many times it is taken off


@fused_inner
def _square(xx, yy, zz, yz, xz, xy):
    """The square of a symmetric matrix."""
    return (
        xx * xx + xy * xy + xz * xz,
        xy * xy + yy * yy + yz * yz,
        xz * xz + yz * yz + zz * zz,
        xy * xz + yy * yz + yz * zz,
        xx * xz + xy * yz + xz * zz,
        xx * xy + xy * yy + xz * yz,
    )


@fused
def find_barred(grid, layers, particles, barred):
    """What part of a particle's motion along x, y, z other layers bar: a symmetric matrix.

    layers : (s, 8) from `density.rasterise`; particles : (p,)
    # outputs: barred (p, 6) xx, yy, zz, yz, xz, xy
    """
    for at in range(len(particles)):
        p = particles[at]
        s = slot(grid.ahead, grid.tile[p], grid.within[p, 0] + 1, grid.within[p, 1] + 1, grid.within[p, 2] + 1)
        part = 1.0 / max(layers[s, DENSITY], 1e-300)
        xx, yy, zz = part * layers[s, XX], part * layers[s, YY], part * layers[s, ZZ]
        yz, xz, xy = part * layers[s, YZ], part * layers[s, XZ], part * layers[s, XY]
        xx, yy, zz, yz, xz, xy = _square(xx, yy, zz, yz, xz, xy)
        xx, yy, zz, yz, xz, xy = 1.0 - xx, 1.0 - yy, 1.0 - zz, -yz, -xz, -xy
        for _ in range(SQUARINGS):
            xx, yy, zz, yz, xz, xy = _square(xx, yy, zz, yz, xz, xy)
        barred[at, 0], barred[at, 1], barred[at, 2] = 1.0 - xx, 1.0 - yy, 1.0 - zz
        barred[at, 3], barred[at, 4], barred[at, 5] = -yz, -xz, -xy
