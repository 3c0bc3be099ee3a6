# SPDX-License-Identifier: GPL-3.0-or-later
"""The stiffness matrix of a cloth, a row a particle, so that threads share it without treading on each other's toes.

Springs and hinges know their ends; a thread that adds up forces wants to know, for each particle, all that acts on it,
and to write there alone. So every spring is found twice, once from each end, and each row is filled and multiplied by
the thread that has the particle. A row's entry for the particle j is a symmetric block of three numbers by three,

    a I + h h^T + b I,

the spring's (`springs.linearise`), of one number and one vector, and what hinges with both particles in them add:
b = -sum k w_i w_j. A hinge's own force is linear in x but for the direction that its rest angle has (`bending.turn`).
So where no spring runs, an entry is one number: the far ones, behind the near.

Particles are numbered anew, as the tree's leaves are (`tree`): what a thread has is a branch, end to end in memory.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..elastic.bending import STRAIGHT, hinge_numbers, opening
from ..elastic.springs import couplings, linearise, others_pull, spring_numbers
from ..jit import fused_inner
from ..topology import both_ways, edge_keys, starts
from .tree import smallest_common


class Rows(NamedTuple):
    """What is the same in every substep; every index but `order` itself is of the new numbers, called slots."""

    order: np.ndarray  # (n,) particle of each slot
    slot: np.ndarray  # (n,) slot of each particle
    leaf: np.ndarray  # (n,) node of the tree that holds the slot
    edges: np.ndarray  # (e, 2) springs, as in `Cloth.edges`
    spring: np.ndarray  # (e, 6) `spring_numbers`; hinges' b [N/m] and of their damping [N s/m]
    couple_start: np.ndarray  # (e + 1,)
    couple: np.ndarray  # (2 c,) springs that a spring is coupled with
    coupling: np.ndarray  # (2 c,) [N/m]
    near_start: np.ndarray  # (n + 1,)
    near: np.ndarray  # (m, 3) slot at the other end of a spring, which spring, smallest node of the tree with both
    far_start: np.ndarray  # (n + 1,)
    far: np.ndarray  # (q,) in a hinge with it, but not at the end of a spring
    far_bend: np.ndarray  # (q, 2) b [N/m] and of damping [N s/m]
    stencils: np.ndarray  # (h, 4) hinges whose force has a part that is not linear
    weight: np.ndarray  # (h, 4) [1/m]
    hinge: np.ndarray  # (h, 3) 2 sin(rest angle / 2), stiffness [J], damping [J s]
    turn_start: np.ndarray  # (n + 1,)
    turn: np.ndarray  # (4 h,) hinges of a slot: 4 times the hinge, and which end of it
    node_bending: np.ndarray  # (m, 2) [N/m] and of damping [N s/m], resistance of the hinges to a node of the tree


def lay_out(cloth):
    """`Rows` of a cloth: a few sorts of all pairs that feel each other."""
    count = len(cloth.mass)
    order = np.argsort(cloth.leaf, kind="stable").astype(np.int32)
    slot = np.empty(count, np.int32)
    slot[order] = np.arange(count, dtype=np.int32)
    leaf, stencils, edges = cloth.leaf[order], slot[cloth.bend_stencils], slot[cloth.edges]
    hinge = hinge_numbers(cloth)
    spring, far_keys, far_bend = _with_bending(edges, spring_numbers(cloth), stencils, cloth.bend_weight, hinge, count)
    near_start, near, which = both_ways(*edges.T.astype(np.int64), count)
    meet = smallest_common(*leaf[edges].T).astype(np.int32)
    far_start, far, one = both_ways(far_keys // count, far_keys % count, count)
    bent = (cloth.rest_angle != 0.0) | (cloth.bend_damping > 0.0)
    ends = stencils[bent].ravel()
    weight = cloth.bend_weight if bent.all() else cloth.bend_weight[bent]  # not twice where it is the same
    return Rows(
        order, slot, leaf, edges, spring, *couplings(cloth), near_start, np.stack([near, which, meet[which]], axis=1), far_start, far,
        far_bend[one], stencils[bent], np.ascontiguousarray(weight), hinge[bent], starts(ends, count),
        np.argsort(ends, kind="stable").astype(np.int32), cloth.node_bending,
    )  # fmt: skip


def _with_bending(edges, spring, stencils, weight, hinge, count):
    """Springs' numbers (e, 6) with what hinges add between the same two; keys and (q, 2) numbers of all other pairs."""
    one, other = np.triu_indices(4, 1)
    share = -(weight[:, one] * weight[:, other])[:, :, None] * hinge[:, None, 1:]
    bend_keys = edge_keys(np.stack([stencils[:, one], stencils[:, other]], axis=2).reshape(-1, 2), count)
    keys, place = np.unique(bend_keys, return_inverse=True)
    bend = np.zeros((len(keys), 2))
    for kind in (0, 1):
        bend[:, kind] = np.bincount(place.ravel(), share[..., kind].ravel(), minlength=len(keys))
    # of several springs between the same two particles the first has what hinges add
    spring_keys, first = np.unique(edge_keys(edges, count), return_index=True)
    at = np.searchsorted(spring_keys, keys)
    is_near = np.append(spring_keys, -1)[at] == keys
    spring = np.concatenate([spring, np.zeros((len(spring), 2))], axis=1)
    spring[first[at[is_near]], 4:] = bend[is_near]
    return spring, keys[~is_near], bend[~is_near]


@fused_inner
def measure_springs(first, last, rows, x, gone, rate, calm, longer, link):
    """Springs first to last at x, having gone `gone` (n, 3) [m] in the substep; rate [1/s] is 1 / dt.

    calm : see `springs`.
    longer (e,) [m] is how much longer than at rest all springs are (`springs.lengthen`); unused without couplings.
    # output: link (e, 6): h, a (see `springs.linearise`), b of hinges, all of the force over the way between the ends
    """
    for e in range(np.uintp(first), np.uintp(last)):
        i, j = np.uintp(rows.edges[e, 0]), np.uintp(rows.edges[e, 1])
        pull, hx, hy, hz, a = linearise(
            x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2],
            gone[j, 0] - gone[i, 0], gone[j, 1] - gone[i, 1], gone[j, 2] - gone[i, 2],
            rows.spring[e, 0], rows.spring[e, 1], rate * rows.spring[e, 2], rows.spring[e, 3],
            others_pull(e, rows.couple_start, rows.couple, rows.coupling, longer), calm,
        )  # fmt: skip
        link[e, 0], link[e, 1], link[e, 2], link[e, 3] = hx, hy, hz, a
        link[e, 4], link[e, 5] = rows.spring[e, 4] + rate * rows.spring[e, 5], pull + rows.spring[e, 4]


@fused_inner
def turn_hinges(first, last, rows, x, gone, rate, turns):
    """What is not linear of hinges first to last: one vector t [J/m] each; the force on particle i is K_i t - k K_i L.

    About 70 flops and 300 bytes a hinge. # output: turns (h, 3)
    """
    for h in range(np.uintp(first), np.uintp(last)):
        a, b = np.uintp(rows.stencils[h, 0]), np.uintp(rows.stencils[h, 1])
        c, d = np.uintp(rows.stencils[h, 2]), np.uintp(rows.stencils[h, 3])
        ka, kb, kc, kd = rows.weight[h, 0], rows.weight[h, 1], rows.weight[h, 2], rows.weight[h, 3]
        lx = ka * x[a, 0] + kb * x[b, 0] + kc * x[c, 0] + kd * x[d, 0]
        ly = ka * x[a, 1] + kb * x[b, 1] + kc * x[c, 1] + kd * x[d, 1]
        lz = ka * x[a, 2] + kb * x[b, 2] + kc * x[c, 2] + kd * x[d, 2]
        wx = ka * gone[a, 0] + kb * gone[b, 0] + kc * gone[c, 0] + kd * gone[d, 0]
        wy = ka * gone[a, 1] + kb * gone[b, 1] + kc * gone[c, 1] + kd * gone[d, 1]
        wz = ka * gone[a, 2] + kb * gone[b, 2] + kc * gone[c, 2] + kd * gone[d, 2]
        rest = rows.hinge[h, 0]
        scale = 1.0 / max(lx * lx + ly * ly + lz * lz, STRAIGHT * STRAIGHT)
        pull = -rate * rows.hinge[h, 2] * scale * (lx * wx + ly * wy + lz * wz)
        if rest != 0.0:
            rest, lx, ly, lz = opening(x, a, b, c, d, lx, ly, lz, rest, sqrt(scale))
            pull = rows.hinge[h, 1] * rest + pull / sqrt(scale)
        turns[h, 0], turns[h, 1], turns[h, 2] = pull * lx, pull * ly, pull * lz


@fused_inner
def linearise_rows(first, last, rows, x, link, turns, p, odd, mass, rate, row, far_row, r, q, block, bend):
    """Rows first to last of the matrix A at x, and what goes with it, in one pass over the neighbours.

    p : (n, 3) [m] first direction; odd (n,) bool, where it is not the same as of most particles
    # outputs: row (m, 4), far_row (q,); q = A p, block (n, 6) of springs and mass, bend (n,) of hinges [N/m]; added
    # to: r (n, 3), forces. About 25 flops and 90 bytes an entry.
    """
    for i in range(np.uintp(first), np.uintp(last)):
        xi, yi, zi, m, is_odd = x[i, 0], x[i, 1], x[i, 2], mass[i], odd[i]
        rx, ry, rz = r[i, 0], r[i, 1], r[i, 2]
        qx, qy, qz = m * p[i, 0], m * p[i, 1], m * p[i, 2]
        xx, xy, xz, yy, yz, zz = m, 0.0, 0.0, m, 0.0, m
        own = 0.0
        for e in range(np.uintp(rows.near_start[i]), np.uintp(rows.near_start[i + 1])):
            j, k = np.uintp(rows.near[e, 0]), np.uintp(rows.near[e, 1])
            hx, hy, hz, a, b, pull = link[k, 0], link[k, 1], link[k, 2], link[k, 3], link[k, 4], link[k, 5]
            xx, xy, xz = xx + (a + hx * hx), xy + hx * hy, xz + hx * hz
            yy, yz, zz = yy + (a + hy * hy), yz + hy * hz, zz + (a + hz * hz)
            own += b
            a += b
            row[e, 0], row[e, 1], row[e, 2], row[e, 3] = hx, hy, hz, a
            rx, ry, rz = rx + pull * (x[j, 0] - xi), ry + pull * (x[j, 1] - yi), rz + pull * (x[j, 2] - zi)
            if is_odd or odd[j]:
                ux, uy, uz = p[i, 0] - p[j, 0], p[i, 1] - p[j, 1], p[i, 2] - p[j, 2]
                along = hx * ux + hy * uy + hz * uz
                qx, qy, qz = qx + a * ux + along * hx, qy + a * uy + along * hy, qz + a * uz + along * hz
        for e in range(np.uintp(rows.far_start[i]), np.uintp(rows.far_start[i + 1])):
            j, k_bend = np.uintp(rows.far[e]), rows.far_bend[e, 0]
            b = k_bend + rate * rows.far_bend[e, 1]
            own += b
            far_row[e] = b
            rx, ry, rz = rx + k_bend * (x[j, 0] - xi), ry + k_bend * (x[j, 1] - yi), rz + k_bend * (x[j, 2] - zi)
            if is_odd or odd[j]:
                qx, qy = qx + b * (p[i, 0] - p[j, 0]), qy + b * (p[i, 1] - p[j, 1])
                qz += b * (p[i, 2] - p[j, 2])
        for e in range(np.uintp(rows.turn_start[i]), np.uintp(rows.turn_start[i + 1])):
            code = np.uintp(rows.turn[e])
            h = code >> np.uintp(2)
            w = rows.weight[h, code & np.uintp(3)]
            rx, ry, rz = rx + w * turns[h, 0], ry + w * turns[h, 1], rz + w * turns[h, 2]
        r[i, 0], r[i, 1], r[i, 2] = rx, ry, rz
        q[i, 0], q[i, 1], q[i, 2] = qx, qy, qz
        block[i, 0], block[i, 1], block[i, 2] = xx, xy, xz
        block[i, 3], block[i, 4], block[i, 5] = yy, yz, zz
        bend[i] = own


@fused_inner
def multiply_rows(first, last, rows, mass, row, far_row, p, q):
    """q = A p in rows first to last; returns their part of p . q. 20 flops and 60 bytes a near entry, 6 and 36 a far."""
    product = 0.0
    for i in range(np.uintp(first), np.uintp(last)):
        px, py, pz = p[i, 0], p[i, 1], p[i, 2]
        m = mass[i]
        qx, qy, qz = m * px, m * py, m * pz
        for e in range(np.uintp(rows.near_start[i]), np.uintp(rows.near_start[i + 1])):
            j = np.uintp(rows.near[e, 0])
            dx, dy, dz = px - p[j, 0], py - p[j, 1], pz - p[j, 2]
            hx, hy, hz, a = row[e, 0], row[e, 1], row[e, 2], row[e, 3]
            along = hx * dx + hy * dy + hz * dz
            qx, qy, qz = qx + (a * dx + along * hx), qy + (a * dy + along * hy), qz + (a * dz + along * hz)
        for e in range(np.uintp(rows.far_start[i]), np.uintp(rows.far_start[i + 1])):
            j = np.uintp(rows.far[e])
            b = far_row[e]
            qx, qy, qz = qx + b * (px - p[j, 0]), qy + b * (py - p[j, 1]), qz + b * (pz - p[j, 2])
        q[i, 0], q[i, 1], q[i, 2] = qx, qy, qz
        product += px * qx + py * qy + pz * qz
    return product
