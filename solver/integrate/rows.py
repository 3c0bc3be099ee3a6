# SPDX-License-Identifier: GPL-3.0-or-later
"""The stiffness matrix of a cloth, a row a particle, so that threads share it without treading on each other's toes.

Springs and hinges know their ends; a thread that adds up forces wants to know, for each particle, all that acts on it,
and to write there alone. So every spring is found twice, once from each end, and each row is summed and multiplied by
the thread that has the particle; its numbers are kept once. A row's entry for the particle j is a symmetric block of
three numbers by three,

    a I + h h^T + b I,

the spring's (`springs.linearise`), of one number and one vector, and what hinges with both particles in them add:
b = -sum k w_i w_j. A hinge's own force is linear in x but for the direction that its rest angle has (`bending.turn`).
So where no spring runs, an entry is one number: the far ones, behind the near.

Particles are numbered anew, as the tree's leaves are (`tree`): what a thread has is a branch, end to end in memory.
Vectors are Quads (`quads`): three numbers and a 0.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..blocks import write
from ..elastic.bending import STRAIGHT, hinge_numbers, opening
from ..elastic.springs import couplings, linearise, others_pull, spring_numbers, tauten, tautening
from ..jit import fused_inner
from ..quads import dot, every, flat, load, part, quad, spread, store, total
from ..topology import both_ways, edge_keys, starts
from .tree import by_node, smallest_common


class Rows(NamedTuple):
    """What is the same in every substep; every index but `order` itself is of the new numbers, called slots."""

    order: np.ndarray  # (n,) particle of each slot
    slot: np.ndarray  # (n,) slot of each particle
    leaf: np.ndarray  # (n,) node of the tree that holds the slot
    edges: np.ndarray  # (e, 2) springs, as in `Cloth.edges`
    spring: np.ndarray  # (e, 6) `spring_numbers`; hinges' b [N/m] and of their damping [N s/m]
    taut: np.ndarray  # (e, 2) `springs.tautening`, or (0, 2)
    couple_start: np.ndarray  # (e + 1,)
    couple: np.ndarray  # (2 c,) springs that a spring is coupled with
    coupling: np.ndarray  # (2 c,) [N/m]
    near_start: np.ndarray  # (n + 1,)
    near: np.ndarray  # (m, 2) slot at the other end of a spring, and which spring
    far_start: np.ndarray  # (n + 1,)
    far: np.ndarray  # (q,) in a hinge with it, but not at the end of a spring
    far_bend: np.ndarray  # (q, 2) b [N/m] and of damping [N s/m]
    stencils: np.ndarray  # (h, 4) hinges whose force has a part that is not linear
    weight: np.ndarray  # (h, 4) [1/m]
    hinge: np.ndarray  # (h, 3) 2 sin(rest angle / 2), stiffness [J], damping [J s]
    turn_start: np.ndarray  # (n + 1,)
    turn: np.ndarray  # (4 h,) hinges of a slot: 4 times the hinge, and which end of it
    node_start: np.ndarray  # (m + 1,)
    node_springs: np.ndarray  # (e,) springs of a node of the tree: it is the smallest that holds both ends
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
    of_node = by_node(smallest_common(*leaf[edges].T), len(cloth.node_bending))
    far_start, far, one = both_ways(far_keys // count, far_keys % count, count)
    bent = (cloth.rest_angle != 0.0) | (cloth.bend_damping > 0.0)
    ends = stencils[bent].ravel()
    weight = cloth.bend_weight if bent.all() else cloth.bend_weight[bent]  # not twice where it is the same
    return Rows(
        order, slot, leaf, edges, spring, tautening(cloth), *couplings(cloth), near_start, np.stack([near, which], axis=1), far_start, far,
        far_bend[one], stencils[bent], np.ascontiguousarray(weight), hinge[bent], starts(ends, count),
        np.argsort(ends, kind="stable").astype(np.int32), *of_node, cloth.node_bending,
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
def measure_springs(first, last, rows, x, gone, rate, calm, longer, link, side):
    """Springs first to last at x, having gone `gone` (n, 4) [m] in the substep; rate [1/s] is 1 / dt.

    calm : see `springs`.
    longer (e,) [m] is how much longer than at rest all springs are (`springs.lengthen`); unused without couplings.
    # outputs: link (e, 4): h (see `springs.linearise`), and a + b with b of hinges; side (e, 2): all of the force over
    the way between the ends, and b
    """
    for e in range(np.uintp(first), np.uintp(last)):
        i, j = np.uintp(rows.edges[e, 0]), np.uintp(rows.edges[e, 1])
        d, w = load(x, j) - load(x, i), load(gone, j) - load(gone, i)
        rest, k, c, bound = rows.spring[e, 0], rows.spring[e, 1], rate * rows.spring[e, 2], rows.spring[e, 3]
        others = others_pull(e, rows.couple_start, rows.couple, rows.coupling, longer)
        k, bound, others = tauten(d, w, rest, k, bound, others, calm, e, rows.taut)
        pull, h, a = linearise(d, w, rest, k, c, bound, others, calm)
        b = rows.spring[e, 4] + rate * rows.spring[e, 5]
        store(link, e, h + quad(0.0, 0.0, 0.0, a + b))
        side[e, 0], side[e, 1] = pull + rows.spring[e, 4], b


@fused_inner
def turn_hinges(first, last, rows, x, gone, rate, turns):
    """What is not linear of hinges first to last: one vector t [J/m] each; the force on particle i is K_i t - k K_i L.

    About 70 flops and 300 bytes a hinge. # output: turns (h, 4)
    """
    for h in range(np.uintp(first), np.uintp(last)):
        a, b = np.uintp(rows.stencils[h, 0]), np.uintp(rows.stencils[h, 1])
        c, d = np.uintp(rows.stencils[h, 2]), np.uintp(rows.stencils[h, 3])
        weight = load(rows.weight, h)
        ka, kb, kc, kd = every(weight, 0), every(weight, 1), every(weight, 2), every(weight, 3)
        bend = ka * load(x, a) + kb * load(x, b) + (kc * load(x, c) + kd * load(x, d))
        bent = ka * load(gone, a) + kb * load(gone, b) + (kc * load(gone, c) + kd * load(gone, d))
        rest = rows.hinge[h, 0]
        scale = 1.0 / max(part(dot(bend, bend), 0), STRAIGHT * STRAIGHT)
        pull = -rate * rows.hinge[h, 2] * scale * part(dot(bend, bent), 0)
        if rest != 0.0:
            lx, ly, lz = part(bend, 0), part(bend, 1), part(bend, 2)
            rest, lx, ly, lz = opening(x, a, b, c, d, lx, ly, lz, rest, sqrt(scale))
            pull, bend = rows.hinge[h, 1] * rest + pull / sqrt(scale), quad(lx, ly, lz, 0.0)
        store(turns, h, spread(pull) * bend)


@fused_inner
def linearise_rows(first, last, rows, x, link, side, turns, p, odd, mass, rate, far_row, r, q, block, bend):
    """Rows first to last of the matrix A at x, and what goes with it, in one pass over the neighbours.

    p : (n, 4) [m] first direction; odd (n,) bool, where it is not the same as of most particles
    # outputs: far_row (q,); q = A p, block (3 n, 4) of springs and mass, bend (n,) of hinges [N/m]; added
    # to: r (n, 4), forces. About 25 flops and 70 bytes an entry.
    """
    for i in range(np.uintp(first), np.uintp(last)):
        own, here, pull, is_odd = load(p, i), load(x, i), load(r, i), odd[i]
        image = spread(mass[i]) * own
        xs = ys = zs = quad(0.0, 0.0, 0.0, 0.0)
        tension, bending = mass[i], 0.0
        for e in range(np.uintp(rows.near_start[i]), np.uintp(rows.near_start[i + 1])):
            j, k = np.uintp(rows.near[e, 0]), np.uintp(rows.near[e, 1])
            h, b = load(link, k), side[k, 1]
            xs, ys, zs = xs + every(h, 0) * h, ys + every(h, 1) * h, zs + every(h, 2) * h
            tension += part(h, 3) - b
            bending += b
            pull = pull + spread(side[k, 0]) * (load(x, j) - here)
            if is_odd or odd[j]:
                d = own - load(p, j)
                image = image + (every(h, 3) * d + dot(h, d) * h)
        for e in range(np.uintp(rows.far_start[i]), np.uintp(rows.far_start[i + 1])):
            j, k_bend = np.uintp(rows.far[e]), rows.far_bend[e, 0]
            b = k_bend + rate * rows.far_bend[e, 1]
            bending += b
            far_row[e] = b
            pull = pull + spread(k_bend) * (load(x, j) - here)
            if is_odd or odd[j]:
                image = image + spread(b) * (own - load(p, j))
        for e in range(np.uintp(rows.turn_start[i]), np.uintp(rows.turn_start[i + 1])):
            code = np.uintp(rows.turn[e])
            hinge = code >> np.uintp(2)
            pull = pull + spread(rows.weight[hinge, code & np.uintp(3)]) * load(turns, hinge)
        store(r, i, pull)
        store(q, i, flat(image))
        write(block, i, tension, xs, ys, zs)
        bend[i] = bending


@fused_inner
def multiply_rows(first, last, rows, mass, link, far_row, p, q):
    """q = A p in rows first to last; returns their part of p . q. 20 flops and 72 bytes a near entry, 6 and 44 a far.

    Three sums go side by side, for none to wait for the one before.
    """
    product = quad(0.0, 0.0, 0.0, 0.0)
    for i in range(np.uintp(first), np.uintp(last)):
        own = load(p, i)
        across, along, bent = spread(mass[i]) * own, quad(0.0, 0.0, 0.0, 0.0), quad(0.0, 0.0, 0.0, 0.0)
        for e in range(np.uintp(rows.near_start[i]), np.uintp(rows.near_start[i + 1])):
            d, h = own - load(p, np.uintp(rows.near[e, 0])), load(link, np.uintp(rows.near[e, 1]))
            across = across + every(h, 3) * d
            along = along + dot(h, d) * h
        for e in range(np.uintp(rows.far_start[i]), np.uintp(rows.far_start[i + 1])):
            bent = bent + spread(far_row[e]) * (own - load(p, np.uintp(rows.far[e])))
        image = flat(across + along + bent)
        store(q, i, image)
        product = product + own * image
    return total(product)
