# SPDX-License-Identifier: GPL-3.0-or-later
"""Momentum and angular momentum of a piece of cloth that flies free (`pieces`), kept to rounding.

A projection is central about the place where it acts; the substep, and with it the velocity (x - x_prev) / dt, ends
elsewhere. The angular momentum at the end is sum m x_prev x x / dt, the one before the sweep sum m x_prev x x* / dt:
their difference is put back as a rotation of all particles about their centre, dx = w x (x_prev - centre) with I w the
lack. In a second of violent crumpling a sheet would lose 0.2 % without it.
"""

import numpy as np

from ..kernel.jit import fused, inner
from ..kernel.mat3 import CREASED, FREE, HELD, KINEMATIC

STRAIGHT_LINE = 1e-12  # determinant of the inertia over the cube of its trace, up to which particles lie on a line
ONE_DIRECTION = 1.0 - 1e-9  # cosine between normals up to which they count as one
BY_BODY, BY_CLOTH, BY_NOTHING = 0, 1, 2  # what holds a piece that no pin holds


@inner
def spin(x, x_prev, mass, members, start, stop):
    """sum m x_prev x x of the members `start` to `stop`, three floats [kg m2]. 15 flops and 60 bytes a particle."""
    lx = ly = lz = 0.0
    for k in range(np.uintp(start), np.uintp(stop)):
        i = np.uintp(members[k])
        m, px, py, pz = mass[i], x_prev[i, 0], x_prev[i, 1], x_prev[i, 2]
        qx, qy, qz = x[i, 0], x[i, 1], x[i, 2]
        lx, ly, lz = lx + m * (py * qz - pz * qy), ly + m * (pz * qx - px * qz), lz + m * (px * qy - py * qx)
    return lx, ly, lz


@inner
def balance(d, mass, members, start, stop):
    """Take the mean from the displacements d (n, 3) of the members `start` to `stop`: the centre of mass stays."""
    total = dx = dy = dz = 0.0
    for k in range(np.uintp(start), np.uintp(stop)):
        i = np.uintp(members[k])
        m = mass[i]
        total, dx, dy, dz = total + m, dx + m * d[i, 0], dy + m * d[i, 1], dz + m * d[i, 2]
    dx, dy, dz = dx / total, dy / total, dz / total
    for k in range(np.uintp(start), np.uintp(stop)):
        i = np.uintp(members[k])
        d[i, 0], d[i, 1], d[i, 2] = d[i, 0] - dx, d[i, 1] - dy, d[i, 2] - dz


@inner
def keep_spin(x, change, x_prev, mass, members, start, stop, lx, ly, lz):
    """Turn the members `start` to `stop` as a whole, in `change`, until the `spin` of x + change is (lx, ly, lz).

    50 flops and 100 bytes each.
    """
    now_x, now_y, now_z = spin(x, x_prev, mass, members, start, stop)
    add_x, add_y, add_z = spin(change, x_prev, mass, members, start, stop)
    lx, ly, lz = lx - now_x - add_x, ly - now_y - add_y, lz - now_z - add_z
    total = cx = cy = cz = 0.0
    for k in range(np.uintp(start), np.uintp(stop)):
        i = np.uintp(members[k])
        m = mass[i]
        total += m
        cx, cy, cz = cx + m * x_prev[i, 0], cy + m * x_prev[i, 1], cz + m * x_prev[i, 2]
    cx, cy, cz = cx / total, cy / total, cz / total
    xx = yy = zz = xy = xz = yz = 0.0
    for k in range(np.uintp(start), np.uintp(stop)):
        i = np.uintp(members[k])
        m, px, py, pz = mass[i], x_prev[i, 0], x_prev[i, 1], x_prev[i, 2]
        px, py, pz = px - cx, py - cy, pz - cz
        xx, yy, zz = xx + m * px * px, yy + m * py * py, zz + m * pz * pz
        xy, xz, yz = xy + m * px * py, xz + m * px * pz, yz + m * py * pz
    # Inertia tensor and the cofactors of its inverse.
    a, b, c, d, e, f = yy + zz, xx + zz, xx + yy, -xy, -xz, -yz
    ca, cb, cc = b * c - f * f, a * c - e * e, a * b - d * d
    cd, ce, cf = e * f - d * c, d * f - b * e, d * e - a * f
    determinant = a * ca + d * cd + e * ce
    if determinant <= STRAIGHT_LINE * (xx + yy + zz) ** 3:  # a straight line turns about itself
        return
    wx = (ca * lx + cd * ly + ce * lz) / determinant
    wy = (cd * lx + cb * ly + cf * lz) / determinant
    wz = (ce * lx + cf * ly + cc * lz) / determinant
    for k in range(np.uintp(start), np.uintp(stop)):
        i = np.uintp(members[k])
        px, py, pz = x_prev[i, 0] - cx, x_prev[i, 1] - cy, x_prev[i, 2] - cz
        change[i, 0] += wy * pz - wz * py
        change[i, 1] += wz * px - wx * pz
        change[i, 2] += wx * py - wy * px


@fused
def find_what_holds(free, kind, stencils, held_by, falls):
    """What acts on pieces that no pin holds: a body, other cloth or nothing.

    free : `pieces.Pieces`; kind (n,) and stencils (k, 4) : of `Support` and `Stack`
    # outputs: held_by (f,), falls (n,)
    """
    for g in range(held_by.shape[0]):
        held_by[g] = BY_NOTHING
    for k in range(np.uintp(stencils.shape[0])):
        one, other = free.piece[stencils[k, 0]], free.piece[stencils[k, 3]]
        if one != other:
            if one >= 0:
                held_by[one] = BY_CLOTH
            if other >= 0:
                held_by[other] = BY_CLOTH
    for k in range(np.uintp(free.members.shape[0])):
        i = np.uintp(free.members[k])
        if kind[i] != FREE:
            held_by[free.piece[i]] = BY_BODY
    for k in range(np.uintp(free.members.shape[0])):
        i = np.uintp(free.members[k])
        falls[i] = held_by[free.piece[i]] == BY_NOTHING


@inner
def _slide(d, mass, support, rate, members, start, stop):
    """`slide_as_wholes` of the members `start` to `stop`. 20 flops and 74 bytes each."""
    kind, normal, tangential, drag = support.kind, support.normal, support.tangential, support.drag
    nx = ny = nz = weight = dx = dy = dz = 0.0
    for k in range(np.uintp(start), np.uintp(stop)):
        i = np.uintp(members[k])
        if kind[i] == KINEMATIC or kind[i] == CREASED:
            return
        if kind[i] == HELD:
            if nx == ny == nz == 0.0:
                nx, ny, nz = normal[i, 0], normal[i, 1], normal[i, 2]
            if nx * normal[i, 0] + ny * normal[i, 1] + nz * normal[i, 2] < ONE_DIRECTION:
                return
        m, c = rate * mass[i], drag[i]
        weight += m + c
        dx += m * d[i, 0] + c * (d[i, 0] - tangential[i, 0])
        dy += m * d[i, 1] + c * (d[i, 1] - tangential[i, 1])
        dz += m * d[i, 2] + c * (d[i, 2] - tangential[i, 2])
    along = nx * dx + ny * dy + nz * dz
    dx, dy, dz = (dx - along * nx) / weight, (dy - along * ny) / weight, (dz - along * nz) / weight
    for k in range(np.uintp(start), np.uintp(stop)):
        i = np.uintp(members[k])
        d[i, 0], d[i, 1], d[i, 2] = d[i, 0] - dx, d[i, 1] - dy, d[i, 2] - dz


@fused
def slide_as_wholes(d, mass, support, rate, free, held_by):
    """Pieces that bodies hold along one direction, as a floor does, go across it as their inertia and the bodies' friction
    let a whole go. The rest would be momentum out of nothing: what the solve has left undone, and what other cloth pushes,
    of which that one keeps its place (`add_correction`).

    d (n, 3) [m] the correction, changes; support : `contact.body.constraints.Support`; rate [1/s2] one over the square of
    the step; free and held_by as in `find_what_holds`.
    """
    for g in range(held_by.shape[0]):
        if held_by[g] == BY_BODY:
            _slide(d, mass, support, rate, free.members, free.starts[g], free.starts[g + 1])


@fused
def add_correction(x, x_prev, mass, d, free, held_by):
    """x += d; pieces on which nothing acts from outside keep momentum and angular momentum to rounding.

    One that touches other cloth keeps its place as a whole, too: what holds it up there is left to the response, whose
    friction goes by what it pushes with. But it may turn. d (n, 3) [m]; free and held_by as in `find_what_holds`.
    """
    members = free.members
    for g in range(held_by.shape[0]):
        start, stop = free.starts[g], free.starts[g + 1]
        if held_by[g] == BY_BODY:
            continue
        lx, ly, lz = spin(x, x_prev, mass, members, start, stop)
        balance(d, mass, members, start, stop)
        if held_by[g] == BY_NOTHING:
            keep_spin(x, d, x_prev, mass, members, start, stop, lx, ly, lz)
    for i in range(np.uintp(x.shape[0])):
        x[i, 0], x[i, 1], x[i, 2] = x[i, 0] + d[i, 0], x[i, 1] + d[i, 1], x[i, 2] + d[i, 2]
