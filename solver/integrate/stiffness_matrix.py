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

Particles are numbered anew, as the leaves of the `preconditioner`'s tree are: what a thread has is a branch, end to end in
memory. Vectors are Vec4s (`kernel.vec4`): three numbers and a 0. In what follows `s` is `system.Scratch`.
"""

from math import sqrt

import numpy as np

from ..elastic.bending import SHORTEST_BEND, Bending, hinge_numbers, opening
from ..elastic.springs import (
    Springs,
    couplings,
    linearise,
    others_pull,
    spring_numbers,
    tauten,
    tautening,
)
from ..geometry.seams import same_places
from ..geometry.topology import both_ways, edge_keys, starts
from ..kernel.jit import fused_inner
from ..kernel.mat3 import write
from ..kernel.memory import together
from ..kernel.vec4 import broadcast, broadcast_lane, dot, lane, load, store, sum_xyz, vec4, xyz
from .system import (
    ALONG,
    BEND,
    BEND_DAMPING,
    CORNER_BITS,
    HINGE_BITS,
    NEIGHBOUR_SLOT,
    NEIGHBOUR_SPRING,
    StiffnessMatrix,
)
from .tree import answering, by_node, first_slots, hosted, pieces_of, smallest_common

ROW_STEP = 4  # entries


def lay_out(cloth):
    """`StiffnessMatrix` of a cloth: a few sorts of all pairs that feel each other."""
    count = len(cloth.mass)
    order = np.argsort(cloth.leaf, kind="stable").astype(np.int32)
    slot = np.empty(count, np.int32)
    slot[order] = np.arange(count, dtype=np.int32)
    leaf, stencils, edges = cloth.leaf[order], slot[cloth.bend_stencils], slot[cloth.edges]
    hinge = hinge_numbers(cloth)
    spring_bend, far_keys, far_bend = _bending(edges, stencils, cloth.bend_weight, hinge, count)
    near_start, near, which = both_ways(*edges.T.astype(np.int64), count)
    node_first, piece = first_slots(leaf), hosted(leaf, pieces_of(edges, count), np.unique(edges))
    spring_start, node_springs = by_node(smallest_common(*leaf[edges].T), len(node_first) - 1)
    far_start, far, one = both_ways(far_keys // count, far_keys % count, count)
    far_start, far, far_bend = _in_step(far_start, far, far_bend[one])
    node_far_start, node_far = _far_pairs(far_start, far, leaf, len(node_first) - 1)
    bent = (cloth.rest_angle != 0.0) | (cloth.bend_damping > 0.0)
    ends = stencils[bent].ravel()
    weight = cloth.bend_weight
    if not bent.all():  # what is the same is not twice in memory
        weight, hinge = weight[bent], Bending(*(numbers[bent] for numbers in hinge))
    matrix = StiffnessMatrix(
        order, slot, edges, np.zeros(0), spring_bend, tautening(cloth), *couplings(cloth), near_start, np.stack([near, which], axis=1), far_start, far,
        far_bend, stencils[bent], np.zeros(0), np.zeros(0), starts(ends, count),
        np.argsort(ends, kind="stable").astype(np.int32), node_first, np.stack([spring_start, node_far_start], axis=1),
        node_springs, node_far, answering(leaf, piece), piece, _coupled(piece, stencils),
    )  # fmt: skip
    spring, hinge = (
        kind(*map(np.ascontiguousarray, each)) for kind, each in ((Springs, spring_numbers(cloth)), (Bending, hinge))
    )
    return StiffnessMatrix(*together(matrix))._replace(spring=spring, weight=np.ascontiguousarray(weight), hinge=hinge)


def _in_step(start, far, far_bend):
    """Far entries, with rows made longer by entries of their own particle, which add nothing.

    Rows are then shorter or longer than the commonest by whole steps of `ROW_STEP`: a processor that guesses wrongly
    where each row ends loses as much time as two entries take.
    """
    length = np.diff(start)
    longer = length + (np.bincount(length).argmax() - length) % ROW_STEP
    longer_start = np.concatenate([[0], np.cumsum(longer)]).astype(start.dtype)
    place = np.arange(len(far)) + np.repeat(longer_start[:-1] - start[:-1], length)
    entry, bend = np.repeat(np.arange(len(length), dtype=far.dtype), longer), np.zeros((longer_start[-1], 2))
    entry[place], bend[place] = far, far_bend
    return longer_start, entry, bend


def _coupled(piece, stencils):
    """(p,) int32, the first of the pieces that hinges (h, 4) of slots join with each; piece : (n,) of slots"""
    ends, count = piece[stencils], int(piece.max(initial=-1)) + 1
    apart = np.unique(ends[(ends != ends[:, :1]).any(axis=1)], axis=0)
    first, own = same_places(apart[:, [0, 0, 0]].ravel(), apart[:, 1:].ravel(), count)
    return first[own].astype(np.int32)


def _far_pairs(start, far, leaf, nodes):
    """(m + 1,) first of each node's far pairs, and these, (q / 2, 3): both slots and one of their entries."""
    row = np.repeat(np.arange(len(leaf)), np.diff(start))
    entry = np.flatnonzero(far > row)
    pairs = np.stack([row[entry], far[entry], entry], axis=1).astype(np.int32)
    first, order = by_node(smallest_common(*leaf[pairs[:, :2]].T), nodes)
    return first, pairs[order]


def _bending(edges, stencils, weight, hinge, count):
    """(e, 2) what hinges add between the ends of springs; keys and (q, 2) numbers of all other pairs."""
    one, other = np.triu_indices(4, 1)
    share = (
        -(weight[:, one] * weight[:, other])[:, :, None] * np.stack([hinge.stiffness, hinge.damping], axis=1)[:, None]
    )
    bend_keys = edge_keys(np.stack([stencils[:, one], stencils[:, other]], axis=2).reshape(-1, 2), count)
    keys, place = np.unique(bend_keys, return_inverse=True)
    bend = np.zeros((len(keys), 2))
    for column in (BEND, BEND_DAMPING):
        bend[:, column] = np.bincount(place.ravel(), share[..., column].ravel(), minlength=len(keys))
    # of several springs between the same two particles the first has what hinges add
    spring_keys, first = np.unique(edge_keys(edges, count), return_index=True)
    at = np.searchsorted(spring_keys, keys)
    is_near = np.append(spring_keys, -1)[at] == keys
    of_spring = np.zeros((len(edges), 2))
    of_spring[first[at[is_near]]] = bend[is_near]
    return of_spring, keys[~is_near], bend[~is_near]


@fused_inner
def measure_springs(first, last, matrix, s, rate, bend_rate, damped):
    """Springs first to last at s.x, having gone s.displacement in the substep; rate [1/s] is 1 / dt,
    bend_rate that of bending (`system.Target.loss`), damped: see `springs`.

    s.lengthening is that of all springs (`springs.lengthen`); unused without couplings. # outputs: s.link, s.secant
    """
    x, displacement = s.x, s.displacement
    for e in range(np.uintp(first), np.uintp(last)):
        i, j = np.uintp(matrix.edges[e, 0]), np.uintp(matrix.edges[e, 1])
        d, w = load(x, j) - load(x, i), load(displacement, j) - load(displacement, i)
        rest, k = matrix.spring.rest[e], matrix.spring.stiffness[e]
        c, bound = rate * matrix.spring.damping[e], matrix.spring.bound[e]
        others = others_pull(e, matrix, s.lengthening)
        k, bound, others = tauten(d, w, rest, k, bound, others, damped, e, matrix.taut)
        pull, h, a = linearise(d, w, rest, k, c, bound, others, damped)
        b = matrix.spring_bend[e, BEND] + bend_rate * matrix.spring_bend[e, BEND_DAMPING]
        store(s.link, e, h + vec4(0.0, 0.0, 0.0, a + b))
        s.secant[e] = pull + matrix.spring_bend[e, BEND]


@fused_inner
def turn_hinges(first, last, matrix, s, rate):
    """What is not linear of hinges first to last: one vector t [J/m] each; the force on particle i is K_i t - k K_i L.

    About 70 flops and 300 bytes a hinge. # output: s.turns
    """
    x, displacement = s.x, s.displacement
    for h in range(np.uintp(first), np.uintp(last)):
        a, b = np.uintp(matrix.stencils[h, 0]), np.uintp(matrix.stencils[h, 1])
        c, d = np.uintp(matrix.stencils[h, 2]), np.uintp(matrix.stencils[h, 3])
        weight = load(matrix.weight, h)
        ka, kb, kc, kd = (
            broadcast_lane(weight, 0),
            broadcast_lane(weight, 1),
            broadcast_lane(weight, 2),
            broadcast_lane(weight, 3),
        )
        bend = ka * load(x, a) + kb * load(x, b) + (kc * load(x, c) + kd * load(x, d))
        bent = ka * load(displacement, a) + kb * load(displacement, b)
        bent = bent + (kc * load(displacement, c) + kd * load(displacement, d))
        rest = matrix.hinge.rest[h]
        scale = 1.0 / max(lane(dot(bend, bend), 0), SHORTEST_BEND * SHORTEST_BEND)
        pull = -rate * matrix.hinge.damping[h] * scale * lane(dot(bend, bent), 0)
        if rest != 0.0:
            lx, ly, lz = lane(bend, 0), lane(bend, 1), lane(bend, 2)
            turn = 1.0 if lane(weight, 2) * lane(weight, 3) > 0.0 else -1.0
            rest, lx, ly, lz = opening(x, a, b, c, d, lx, ly, lz, rest, sqrt(scale), turn)
            pull, bend = matrix.hinge.stiffness[h] * rest + pull / sqrt(scale), vec4(lx, ly, lz, 0.0)
        store(s.turns, h, broadcast(pull) * bend)


@fused_inner
def linearise_rows(first, last, matrix, s, rate):
    """Rows first to last of the matrix A at s.x, and what goes with it, in one pass over the neighbours.

    # outputs: s.far_row; s.q = A p of the first direction s.p, s.block, s.across; added to: s.r, forces. About 25 flops
    # and 70 bytes an entry.
    """
    x, p, mass, is_odd = s.x, s.p, s.mass, s.is_odd
    for i in range(np.uintp(first), np.uintp(last)):
        own, here, pull, odd = load(p, i), load(x, i), load(s.r, i), is_odd[i]
        image = broadcast(mass[i]) * own
        xs = ys = zs = vec4(0.0, 0.0, 0.0, 0.0)
        across = 0.0
        for e in range(np.uintp(matrix.near_start[i]), np.uintp(matrix.near_start[i + 1])):
            j, k = np.uintp(matrix.near[e, NEIGHBOUR_SLOT]), np.uintp(matrix.near[e, NEIGHBOUR_SPRING])
            h = load(s.link, k)
            xs, ys, zs = xs + broadcast_lane(h, 0) * h, ys + broadcast_lane(h, 1) * h, zs + broadcast_lane(h, 2) * h
            across += lane(h, ALONG)
            pull = pull + broadcast(s.secant[k]) * (load(x, j) - here)
            if odd or is_odd[j]:
                d = own - load(p, j)
                image = image + (broadcast_lane(h, ALONG) * d + dot(h, d) * h)
        for e in range(np.uintp(matrix.far_start[i]), np.uintp(matrix.far_start[i + 1])):
            j, k_bend = np.uintp(matrix.far[e]), matrix.far_bend[e, BEND]
            b = k_bend + rate * matrix.far_bend[e, BEND_DAMPING]
            across += b
            s.far_row[e] = b
            pull = pull + broadcast(k_bend) * (load(x, j) - here)
            if odd or is_odd[j]:
                image = image + broadcast(b) * (own - load(p, j))
        for e in range(np.uintp(matrix.turn_start[i]), np.uintp(matrix.turn_start[i + 1])):
            code = np.uintp(matrix.turn[e])
            hinge = code >> HINGE_BITS
            pull = pull + broadcast(matrix.weight[hinge, code & CORNER_BITS]) * load(s.turns, hinge)
        store(s.r, i, pull)
        store(s.q, i, xyz(image))
        write(s.block, i, mass[i], xs, ys, zs)
        s.across[i] = across


@fused_inner
def multiply_rows(first, last, matrix, s):
    """s.q = A s.p in rows first to last; returns their part of p . q. 20 flops and 72 bytes a near entry, 6 and 44 a far.

    Three sums go side by side, for none to wait for the one before.
    """
    product, p = vec4(0.0, 0.0, 0.0, 0.0), s.p
    for i in range(np.uintp(first), np.uintp(last)):
        own = load(p, i)
        across, along, bent = broadcast(s.mass[i]) * own, vec4(0.0, 0.0, 0.0, 0.0), vec4(0.0, 0.0, 0.0, 0.0)
        for e in range(np.uintp(matrix.near_start[i]), np.uintp(matrix.near_start[i + 1])):
            d = own - load(p, np.uintp(matrix.near[e, NEIGHBOUR_SLOT]))
            h = load(s.link, np.uintp(matrix.near[e, NEIGHBOUR_SPRING]))
            across = across + broadcast_lane(h, ALONG) * d
            along = along + dot(h, d) * h
        for e in range(np.uintp(matrix.far_start[i]), np.uintp(matrix.far_start[i + 1])):
            bent = bent + broadcast(s.far_row[e]) * (own - load(p, np.uintp(matrix.far[e])))
        image = xyz(across + along + bent)
        store(s.q, i, image)
        product = product + own * image
    return sum_xyz(product)
