# SPDX-License-Identifier: GPL-3.0-or-later
"""Symmetric 3 x 3 blocks in an array (3 m, 4): three rows each, as Vec4s whose last number is 0."""

import numpy as np

from .jit import fused_inner
from .vec4 import broadcast, broadcast_lane, dot, lane, load, store, vec4, xyz

#: how a particle may move: everywhere, but along its normal, not at all, along its normal alone
FREE, HELD, KINEMATIC, CREASED = 0, 1, 2, 3
_TWO, _THREE = np.uintp(2), np.uintp(3)


@fused_inner
def first_row(i):
    """Where block i begins."""
    return _THREE * np.uintp(i)


@fused_inner
def write(blocks, i, a, x, y, z):
    """Block i becomes a I and these rows, of which the first three numbers count."""
    at = first_row(i)
    store(blocks, at, xyz(x) + vec4(a, 0.0, 0.0, 0.0))
    store(blocks, at + np.uintp(1), xyz(y) + vec4(0.0, a, 0.0, 0.0))
    store(blocks, at + _TWO, xyz(z) + vec4(0.0, 0.0, a, 0.0))


@fused_inner
def add(blocks, i, a, x, y, z):
    """Add a I and these rows, of which the first three numbers count, to block i."""
    at = first_row(i)
    write(blocks, i, a, load(blocks, at) + x, load(blocks, at + np.uintp(1)) + y, load(blocks, at + _TWO) + z)


@fused_inner
def add_product(blocks, i, a, g, h):
    """Add 2 a I + g h^T + h g^T to block i."""
    x, y, z = (
        broadcast_lane(g, 0) * h + broadcast_lane(h, 0) * g,
        broadcast_lane(g, 1) * h + broadcast_lane(h, 1) * g,
        broadcast_lane(g, 2) * h + broadcast_lane(h, 2) * g,
    )
    add(blocks, i, 2.0 * a, x, y, z)


@fused_inner
def times(blocks, i, v):
    """Block i times a vector."""
    at = first_row(i)
    first = broadcast_lane(v, 0) * load(blocks, at) + broadcast_lane(v, 1) * load(blocks, at + np.uintp(1))
    return first + broadcast_lane(v, 2) * load(blocks, at + _TWO)


@fused_inner
def inverse(x, y, z):
    """Rows of the inverse of a positive definite block of these rows; of one whose determinant is not above 0, three of zeros."""
    a, b, c, d, e, f = lane(x, 0), lane(x, 1), lane(x, 2), lane(y, 1), lane(y, 2), lane(z, 2)
    p, q, r = d * f - e * e, c * e - b * f, b * e - c * d
    determinant = a * p + b * q + c * r
    s, t = broadcast(1.0 / determinant if determinant > 0.0 else 0.0), b * c - a * e
    return s * vec4(p, q, r, 0.0), s * vec4(q, a * f - c * c, t, 0.0), s * vec4(r, t, a * d - b * b, 0.0)


@fused_inner
def invert(blocks, i):
    """Invert block i, which is positive definite, in place; a block of zeros stays."""
    at = first_row(i)
    x, y, z = inverse(load(blocks, at), load(blocks, at + np.uintp(1)), load(blocks, at + _TWO))
    write(blocks, i, 0.0, x, y, z)


@fused_inner
def keep_free(kind, normal, i, v):
    """The part of a vector along which i is free, by its kind: all (FREE), all but the normal (HELD), nothing (KINEMATIC) or
    what is along the normal (CREASED).
    """
    if kind == FREE:
        return v
    if kind == HELD:
        n = load(normal, i)
        return v - dot(v, n) * n
    if kind == CREASED:
        t = load(normal, i)
        return dot(v, t) * t
    return vec4(0.0, 0.0, 0.0, 0.0)
