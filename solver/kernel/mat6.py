# SPDX-License-Identifier: GPL-3.0-or-later
"""How a piece that may move and turn resists: symmetric 6 x 6 blocks in an array (12 m, 4).

A piece goes with v [m] at a point of reference and turns by w [rad] about it: a particle that is off by o goes v + w x o. Of
what pulls at it there is the force f [N] and the moment t [N m] about the same point. A block

    [ P    Q ]
    [ Q^T  R ]

is four blocks of three rows, Vec4s whose last number is 0: P, Q, Q^T and R. Q^T is there for `answer`, once a block is
inverse; until then the three others count. Arrays of (v, w) or (f, t) are (2 m, 4), two rows each.
"""

import numpy as np

from .jit import fused_inner
from .mat3 import inverse
from .vec4 import broadcast, broadcast_lane, cross, lane, load, store, vec4

SOFTEST_TURN = 1e-10  # of the sum of a piece's resistances to turning, that of a turn which moves nothing, as about a line of particles
_ONE, _TWO = np.uintp(1), np.uintp(2)
_P, _Q, _QT, _R, _ROWS = np.uintp(0), np.uintp(3), np.uintp(6), np.uintp(9), np.uintp(12)


@fused_inner
def clear(blocks, k):
    """Zeros in block k."""
    for row in range(_ROWS * k, _ROWS * k + _ROWS):
        store(blocks, row, vec4(0.0, 0.0, 0.0, 0.0))


@fused_inner
def _add_rows(blocks, at, x, y, z):
    """Add to three rows."""
    store(blocks, at, load(blocks, at) + x)
    store(blocks, at + _ONE, load(blocks, at + _ONE) + y)
    store(blocks, at + _TWO, load(blocks, at + _TWO) + z)


@fused_inner
def add_at(blocks, k, o, x, y, z):
    """Add what a particle that is off by o, and resists by the block of rows x, y and z, makes block k resist.

    P += B, Q += B [o]^T and R += [o] B [o]^T, with [o] v = o x v.
    """
    at = _ROWS * k
    _add_rows(blocks, at + _P, x, y, z)
    x, y, z = cross(o, x), cross(o, y), cross(o, z)
    _add_rows(blocks, at + _Q, x, y, z)
    a, b, c = broadcast_lane(o, 0), broadcast_lane(o, 1), broadcast_lane(o, 2)
    _add_rows(blocks, at + _R, b * z - c * y, c * x - a * z, a * y - b * x)


@fused_inner
def add_moved(blocks, k, child, o):
    """Add block `child`, whose point of reference is off by o from that of block k."""
    at, of = _ROWS * k, _ROWS * child
    px, py, pz = load(blocks, of + _P), load(blocks, of + _P + _ONE), load(blocks, of + _P + _TWO)
    qx, qy, qz = load(blocks, of + _Q), load(blocks, of + _Q + _ONE), load(blocks, of + _Q + _TWO)
    rx, ry, rz = load(blocks, of + _R), load(blocks, of + _R + _ONE), load(blocks, of + _R + _TWO)
    # R' = R + Q^T [o]^T + [o] Q', with Q' = Q + P [o]^T
    rx = rx + cross(o, vec4(lane(qx, 0), lane(qy, 0), lane(qz, 0), 0.0))
    ry = ry + cross(o, vec4(lane(qx, 1), lane(qy, 1), lane(qz, 1), 0.0))
    rz = rz + cross(o, vec4(lane(qx, 2), lane(qy, 2), lane(qz, 2), 0.0))
    qx, qy, qz = qx + cross(o, px), qy + cross(o, py), qz + cross(o, pz)
    a, b, c = broadcast_lane(o, 0), broadcast_lane(o, 1), broadcast_lane(o, 2)
    _add_rows(blocks, at + _P, px, py, pz)
    _add_rows(blocks, at + _Q, qx, qy, qz)
    _add_rows(blocks, at + _R, rx + b * qz - c * qy, ry + c * qx - a * qz, rz + a * qy - b * qx)


@fused_inner
def take_isotropic(blocks, k, a, first, second):
    """Take back from block k what pairs of particles resist by a I each, that are in the piece with both ends.

    Parameters
    ----------
    a : sum of the pairs' a
    first : Vec4, sum of a (o_i + o_j), o being how far the ends are off
    second : three Vec4s, rows of the sum of a (o_i o_j^T + o_j o_i^T)
    """
    at, (x, y, z) = _ROWS * k, second
    twice, trace = 2.0 * a, lane(x, 0) + lane(y, 1) + lane(z, 2)
    fx, fy, fz = lane(first, 0), lane(first, 1), lane(first, 2)
    _add_rows(blocks, at + _P, vec4(-twice, 0.0, 0.0, 0.0), vec4(0.0, -twice, 0.0, 0.0), vec4(0.0, 0.0, -twice, 0.0))
    _add_rows(blocks, at + _Q, vec4(0.0, -fz, fy, 0.0), vec4(fz, 0.0, -fx, 0.0), vec4(-fy, fx, 0.0, 0.0))
    x, y, z = x - vec4(trace, 0.0, 0.0, 0.0), y - vec4(0.0, trace, 0.0, 0.0), z - vec4(0.0, 0.0, trace, 0.0)
    _add_rows(blocks, at + _R, x, y, z)


@fused_inner
def take_rows(blocks, k, p, q, r):
    """Take three rows each of P, Q and R back from block k."""
    at, minus = _ROWS * k, broadcast(-1.0)
    _add_rows(blocks, at + _P, minus * p[0], minus * p[1], minus * p[2])
    _add_rows(blocks, at + _Q, minus * q[0], minus * q[1], minus * q[2])
    _add_rows(blocks, at + _R, minus * r[0], minus * r[1], minus * r[2])


@fused_inner
def invert(blocks, k):
    """Invert block k in place; a turn that nothing but rounding resists is resisted by `SOFTEST_TURN`. A block of zeros stays. Some
    300 flops.

    With N = P^-1 Q and S = R - Q^T N, the inverse is P^-1 + N S^-1 N^T, -N S^-1 and S^-1.
    """
    at = _ROWS * k
    qx, qy, qz = load(blocks, at + _Q), load(blocks, at + _Q + _ONE), load(blocks, at + _Q + _TWO)
    rx, ry, rz = load(blocks, at + _R), load(blocks, at + _R + _ONE), load(blocks, at + _R + _TWO)
    px, py, pz = inverse(load(blocks, at + _P), load(blocks, at + _P + _ONE), load(blocks, at + _P + _TWO))
    nx, ny, nz = _product(px, qx, qy, qz), _product(py, qx, qy, qz), _product(pz, qx, qy, qz)
    soft = SOFTEST_TURN * (lane(rx, 0) + lane(ry, 1) + lane(rz, 2))
    sx = rx - (broadcast_lane(qx, 0) * nx + broadcast_lane(qy, 0) * ny + broadcast_lane(qz, 0) * nz)
    sy = ry - (broadcast_lane(qx, 1) * nx + broadcast_lane(qy, 1) * ny + broadcast_lane(qz, 1) * nz)
    sz = rz - (broadcast_lane(qx, 2) * nx + broadcast_lane(qy, 2) * ny + broadcast_lane(qz, 2) * nz)
    sx, sy, sz = inverse(sx + vec4(soft, 0.0, 0.0, 0.0), sy + vec4(0.0, soft, 0.0, 0.0), sz + vec4(0.0, 0.0, soft, 0.0))
    # U = N S^-1
    ux, uy, uz = _product(nx, sx, sy, sz), _product(ny, sx, sy, sz), _product(nz, sx, sy, sz)
    tx = vec4(lane(nx, 0), lane(ny, 0), lane(nz, 0), 0.0)
    ty = vec4(lane(nx, 1), lane(ny, 1), lane(nz, 1), 0.0)
    tz = vec4(lane(nx, 2), lane(ny, 2), lane(nz, 2), 0.0)
    store(blocks, at + _P, px + _product(ux, tx, ty, tz))
    store(blocks, at + _P + _ONE, py + _product(uy, tx, ty, tz))
    store(blocks, at + _P + _TWO, pz + _product(uz, tx, ty, tz))
    minus = broadcast(-1.0)
    store(blocks, at + _Q, minus * ux)
    store(blocks, at + _Q + _ONE, minus * uy)
    store(blocks, at + _Q + _TWO, minus * uz)
    store(blocks, at + _QT, minus * vec4(lane(ux, 0), lane(uy, 0), lane(uz, 0), 0.0))
    store(blocks, at + _QT + _ONE, minus * vec4(lane(ux, 1), lane(uy, 1), lane(uz, 1), 0.0))
    store(blocks, at + _QT + _TWO, minus * vec4(lane(ux, 2), lane(uy, 2), lane(uz, 2), 0.0))
    store(blocks, at + _R, sx)
    store(blocks, at + _R + _ONE, sy)
    store(blocks, at + _R + _TWO, sz)


@fused_inner
def _product(v, x, y, z):
    """v^T times the rows x, y and z."""
    return broadcast_lane(v, 0) * x + broadcast_lane(v, 1) * y + broadcast_lane(v, 2) * z


@fused_inner
def answer(blocks, k, f, t):
    """(v, w): block k, which is inverse, times (f, t). 72 flops and 416 bytes."""
    at = _ROWS * k
    v = _product(f, load(blocks, at + _P), load(blocks, at + _P + _ONE), load(blocks, at + _P + _TWO))
    v = v + _product(t, load(blocks, at + _QT), load(blocks, at + _QT + _ONE), load(blocks, at + _QT + _TWO))
    w = _product(f, load(blocks, at + _Q), load(blocks, at + _Q + _ONE), load(blocks, at + _Q + _TWO))
    w = w + _product(t, load(blocks, at + _R), load(blocks, at + _R + _ONE), load(blocks, at + _R + _TWO))
    return v, w
