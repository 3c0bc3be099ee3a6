# SPDX-License-Identifier: GPL-3.0-or-later
"""Symmetric 3 x 3 blocks, six numbers each: xx, xy, xz, yy, yz, zz."""

import numpy as np

from .jit import fused_inner


@fused_inner
def add_row(blocks, i, a, hx, hy, hz):
    """Add a I + h h^T to the symmetric 3 x 3 block i of (m, 6): xx, xy, xz, yy, yz, zz."""
    blocks[i, 0] += a + hx * hx
    blocks[i, 1] += hx * hy
    blocks[i, 2] += hx * hz
    blocks[i, 3] += a + hy * hy
    blocks[i, 4] += hy * hz
    blocks[i, 5] += a + hz * hz


@fused_inner
def add_product(blocks, i, a, gx, gy, gz, hx, hy, hz):
    """Add 2 a I + g h^T + h g^T to block i."""
    blocks[i, 0] += 2.0 * (a + gx * hx)
    blocks[i, 1] += gx * hy + gy * hx
    blocks[i, 2] += gx * hz + gz * hx
    blocks[i, 3] += 2.0 * (a + gy * hy)
    blocks[i, 4] += gy * hz + gz * hy
    blocks[i, 5] += 2.0 * (a + gz * hz)


@fused_inner
def keep_free(kind, normal, i, x, y, z):
    """The part of a vector along which particle i is free: all, all but the normal (kind 1), nothing (kind 2)."""
    if kind == 0:
        return x, y, z
    if kind == 1:
        along = x * normal[i, 0] + y * normal[i, 1] + z * normal[i, 2]
        return x - along * normal[i, 0], y - along * normal[i, 1], z - along * normal[i, 2]
    return 0.0, 0.0, 0.0


@fused_inner
def invert(first, last, blocks):
    """Invert symmetric positive definite 3 x 3 blocks first to last of (m, 6) in place; a block of zeros stays."""
    for i in range(np.uintp(first), np.uintp(last)):
        a, b, c, d, e, f = blocks[i, 0], blocks[i, 1], blocks[i, 2], blocks[i, 3], blocks[i, 4], blocks[i, 5]
        p, q, r = d * f - e * e, c * e - b * f, b * e - c * d
        determinant = a * p + b * q + c * r
        if determinant > 0.0:
            s = 1.0 / determinant
            blocks[i, 0], blocks[i, 1], blocks[i, 2] = s * p, s * q, s * r
            blocks[i, 3], blocks[i, 4], blocks[i, 5] = s * (a * f - c * c), s * (b * c - a * e), s * (a * d - b * b)
