# SPDX-License-Identifier: GPL-3.0-or-later
"""A binary tree over the particles: the preconditioner that carries a load across the whole cloth at once.

Conjugate gradients pass a force on by one spring an iteration; a garment is many springs wide. So the residual is
also looked at through ever larger groups of particles, each of which may move as one piece: with P_c the sum over
group c and A_c = P_c A P_c^T, the answer is z = D^-1 r + sum over all groups of P_c^T A_c^-1 P_c r (an additive
multilevel preconditioner on aggregates: Bramble, Pasciak and Xu 1990; for cloth: Wu, Wang and Wang 2022). Groups halve
from level to level, so all of them together cost as much as two vectors.

Nodes are numbered as in a heap: 1 is all particles, the halves of node k are 2 k and 2 k + 1, and a particle lies in
its leaf and in all nodes that the leaf's number reaches by halving.
"""

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, dijkstra

from ..geometry.topology import starts
from ..kernel.jit import fused_inner
from ..kernel.mat3 import CREASED, FREE, HELD, KINEMATIC, add, add_block, add_product, clear, invert, keep_free, times
from ..kernel.vec4 import broadcast, broadcast_lane, dot, lane, load, store, sum_xyz, vec4, xyz
from .system import ALONG, BEND, BEND_DAMPING, SIDE_BEND

LEAF_PARTICLES = 2  # in a leaf at most
SHORTEST_SPRING = 1e-12  # [m] that distances count
DISTANCE_STEPS = 1e5  # in a mean spring, to which distances are rounded
LANDMARKS = 4  # distances along the cloth to these are the coordinates that halving goes by


def grow(pairs, length, inv_mass, stencils, weight, stiffness):
    """The tree of a cloth.

    Parameters
    ----------
    pairs, length : (s, 2), (s,) [m] springs of all garments
    inv_mass : (n,)
    stencils, weight, stiffness : (h, 4), (h, 4) [1/m], (h, 2) [J] and of damping [J s], hinges

    Returns
    -------
    leaf : (n,) int32, the leaf's number
    node_bending : (m, 2) [N/m] and of damping [N s/m], how hinges resist a node that moves as one piece
    """
    count = len(inv_mass)
    depth = max(int(np.ceil(np.log2(max(count / LEAF_PARTICLES, 1)))), 0)
    leaf = _halve(_coordinates(pairs, length, count), depth)
    return leaf, _bending(leaf, depth, inv_mass > 0, stencils, weight, stiffness)


def _coordinates(pairs, length, count):
    """(n, k + 1): the connected piece, and distances along the cloth to landmarks far apart in it.

    Two layers that lie on each other are far apart in these, whatever their places in space are.
    """
    i, j = pairs.T
    graph = csr_matrix((np.maximum(length, SHORTEST_SPRING), (i, j)), shape=(count, count))
    pieces, piece = connected_components(graph, directed=False)
    first = np.unique(piece, return_index=True)[1]
    columns, nearest = [piece.astype(np.float64)], None
    # what is as far within rounding is as far
    scale = DISTANCE_STEPS * max(len(length), 1) / max(float(length.sum()), SHORTEST_SPRING)
    start = dijkstra(graph, directed=False, indices=first, min_only=True)
    for _ in range(LANDMARKS):
        far = np.round(scale * (start if nearest is None else nearest))
        # the farthest particle of each piece
        order = np.lexsort((far, piece))
        last = order[np.flatnonzero(np.diff(piece[order], append=pieces))]
        away = dijkstra(graph, directed=False, indices=last, min_only=True)
        columns.append(np.round(away * scale))
        nearest = away if nearest is None else np.minimum(nearest, away)
    return np.stack(columns, axis=1)


def _halve(place, depth):
    """Leaf of each particle: `depth` times every group is halved across its longest side, pieces first."""
    count = len(place)
    node = np.ones(count, dtype=np.int64)
    for _ in range(depth):
        order = np.argsort(node, kind="stable")
        starts = np.flatnonzero(np.diff(node[order], prepend=0))
        sorted_place = place[order]
        spread = np.maximum.reduceat(sorted_place, starts) - np.minimum.reduceat(sorted_place, starts)
        spread[:, 0] = np.where(spread[:, 0] > 0, np.inf, 0.0)
        sizes = np.diff(starts, append=count)
        axis = np.repeat(spread.argmax(axis=1), sizes)
        order = order[np.lexsort((sorted_place[np.arange(count), axis], node[order]))]
        rank = np.arange(count) - np.repeat(starts, sizes)
        node[order] = 2 * node[order] + (rank >= np.repeat((sizes + 1) // 2, sizes))
    return node.astype(np.int32)


def smallest_common(first, second):
    """The smallest nodes that hold both of two leaves (k,) each."""
    return first >> np.frexp(first ^ second)[1]


def by_node(node, count):
    """Things in the order of their nodes (k,), of `count`: (count + 1,) first of each node's, and (k,) which things."""
    return starts(node, count), np.argsort(node, kind="stable").astype(np.int32)


def _bending(leaf, depth, movable, stencils, weight, stiffness):
    """Sum over hinges of k (sum of the weights of the hinge's ends in the node)^2, (m, 2).

    A product of two ends' weights counts in the smallest node that holds both, and in all above it.
    """
    bending = np.zeros((2 << depth, 2))
    node, weight = leaf[stencils], np.where(movable[stencils], weight, 0.0)
    for one, other in zip(*np.triu_indices(4), strict=True):
        meet = smallest_common(node[:, one], node[:, other])
        share = (1.0 if one == other else 2.0) * weight[:, one] * weight[:, other]
        for column in (BEND, BEND_DAMPING):
            bending[:, column] += np.bincount(meet, share * stiffness[:, column], minlength=len(bending))
    low = 1 << depth
    while low > 1:
        low //= 2
        bending[low : 2 * low] += bending[2 * low : 4 * low : 2] + bending[2 * low + 1 : 4 * low : 2]
    return np.maximum(bending, 0.0)  # of a node that holds whole hinges alone, rounding may be left


@fused_inner
def fill_branch(branch, parts, matrix, s, rate):
    """Blocks of the groups of a branch, inverted, from those of the particles' springs and masses.

    50 flops and 60 bytes a spring; rate [1/s] is 1 / dt. # outputs: those of s.node_block, but the branch as a whole not
    inverted
    """
    kind, node_block = s.kind, s.node_block
    root, span = np.uintp(parts + branch), np.uintp(matrix.node_bending.shape[0] // 2 // parts)
    low, high = root * span, (root + np.uintp(1)) * span
    for k in range(low, high):
        clear(node_block, k)
    for i in range(np.uintp(s.slot_starts[branch]), np.uintp(s.slot_starts[branch + 1])):
        if kind[i] != KINEMATIC:
            _add_free(node_block, np.uintp(matrix.leaf[i]), s.block, i, kind[i], s.normal, s.mass[i])
    _take_springs(low, high, matrix, s)
    while low > root:
        low, high = low >> np.uintp(1), high >> np.uintp(1)
        for k in range(low, high):
            _add_halves(node_block, k)
        _take_springs(low, high, matrix, s)
    while low < np.uintp(matrix.node_bending.shape[0]):
        for k in range(low, high):
            if k != root:  # its parent needs it as it is
                invert(node_block, k, matrix.node_bending[k, BEND] + rate * matrix.node_bending[k, BEND_DAMPING])
        low, high = low << np.uintp(1), high << np.uintp(1)


@fused_inner
def _add_halves(node_block, k):
    clear(node_block, k)
    add_block(node_block, k, node_block, k << np.uintp(1))
    add_block(node_block, k, node_block, (k << np.uintp(1)) + np.uintp(1))


@fused_inner
def _add_free(node_block, k, block, i, kind, normal, mass):
    """Add particle i's block to node k, as far as the particle may move, and along its normal the inertia `mass` [N/m].

    S B S = B - n (B n)^T - (B n) n^T + (n . B n) n n^T. What a flat body holds has one normal, along which a node of it
    would have nothing but rounding: inverted, that is any number. The same of a crease, which has one way t that is free:
    S B S = (t . B t) t t^T.
    """
    if kind == CREASED:
        t = load(normal, i)
        along = dot(t, times(block, i, t)) - broadcast(mass)
        add_product(node_block, k, 0.5 * mass, broadcast(0.5) * along * t, t)
        return
    add_block(node_block, k, block, i)
    if kind == HELD:
        n = load(normal, i)
        image = times(block, i, n)
        add_product(node_block, k, 0.0, n, broadcast(0.5) * (dot(n, image) + broadcast(mass)) * n - image)


@fused_inner
def _take_springs(low, high, matrix, s):
    """Take back what the halves of nodes low to high count of the springs between them: a node moves as one piece and feels
    none. All nodes in one call, for which 300 numbers are handed on: that takes longer than a spring.
    """
    kind, normal, minus = s.kind, s.normal, broadcast(-1.0)
    for k in range(low, high):
        tension = 0.0
        xs = ys = zs = vec4(0.0, 0.0, 0.0, 0.0)
        for at in range(np.uintp(matrix.node_start[k]), np.uintp(matrix.node_start[k + np.uintp(1)])):
            e = np.uintp(matrix.node_springs[at])
            i, j = np.uintp(matrix.edges[e, 0]), np.uintp(matrix.edges[e, 1])
            h = load(s.link, e)
            if kind[i] == FREE and kind[j] == FREE:
                tension += lane(h, ALONG) - s.side[e, SIDE_BEND]
                f = g = h
            elif kind[i] != KINEMATIC and kind[j] != KINEMATIC:
                h = xyz(h)
                f, g = keep_free(kind[i], normal, i, h), keep_free(kind[j], normal, j, h)
            else:
                continue
            xs = xs + (broadcast_lane(f, 0) * g + broadcast_lane(g, 0) * f)
            ys = ys + (broadcast_lane(f, 1) * g + broadcast_lane(g, 1) * f)
            zs = zs + (broadcast_lane(f, 2) * g + broadcast_lane(g, 2) * f)
        add(s.node_block, k, -2.0 * tension, minus * xs, minus * ys, minus * zs)


@fused_inner
def fill_crown(parts, matrix, s, rate):
    """Blocks of the nodes above all branches and of the branches as a whole, inverted. # outputs: those of s.node_block"""
    node_block = s.node_block
    for above in range(parts - 1, 0, -1):
        k = np.uintp(above)
        _add_halves(node_block, k)
        _take_springs(k, k + np.uintp(1), matrix, s)
    for above in range(1, 2 * parts):
        k = np.uintp(above)
        invert(node_block, k, matrix.node_bending[k, BEND] + rate * matrix.node_bending[k, BEND_DAMPING])


@fused_inner
def gather_up(branch, parts, matrix, s):
    """Sums of S r over the groups of a branch: its slots, all groups below and in node parts + branch.

    # outputs: those of s.sums, and the node's own in s.crown
    """
    sums = s.sums
    root, span = np.uintp(parts + branch), np.uintp(sums.shape[0] // 2 // parts)
    low, high = root * span, (root + np.uintp(1)) * span
    for k in range(low, high):
        store(sums, k, vec4(0.0, 0.0, 0.0, 0.0))
    for i in range(np.uintp(s.slot_starts[branch]), np.uintp(s.slot_starts[branch + 1])):
        k = np.uintp(matrix.leaf[i])
        store(sums, k, load(sums, k) + keep_free(s.kind[i], s.normal, i, load(s.r, i)))
    while low > root:
        low, high = low >> np.uintp(1), high >> np.uintp(1)
        for k in range(low, high):
            child = k << np.uintp(1)
            store(sums, k, load(sums, child) + load(sums, child + np.uintp(1)))
    store(s.crown, np.uintp(branch), load(sums, root))


@fused_inner
def hand_down(branch, parts, matrix, s):
    """z = S (D^-1 + tree) S r in the slots of a branch, from sums of all branches; returns their part of z . r.

    s.block, s.node_block are inverse. # outputs: s.z; spoils the branch's sums.
    """
    sums, node_block = s.sums, s.node_block
    above = _from_crown((parts + branch) >> 1, parts, node_block, s.crown)
    root, size = np.uintp(parts + branch), np.uintp(sums.shape[0])
    store(sums, root, above + times(node_block, root, load(sums, root)))
    low, high = root << np.uintp(1), (root + np.uintp(1)) << np.uintp(1)
    while low < size:
        for k in range(low, high):
            store(sums, k, load(sums, k >> np.uintp(1)) + times(node_block, k, load(sums, k)))
        low, high = low << np.uintp(1), high << np.uintp(1)
    product = vec4(0.0, 0.0, 0.0, 0.0)
    for i in range(np.uintp(s.slot_starts[branch]), np.uintp(s.slot_starts[branch + 1])):
        left = load(s.r, i)
        found = load(sums, np.uintp(matrix.leaf[i])) + times(s.block, i, keep_free(s.kind[i], s.normal, i, left))
        found = keep_free(s.kind[i], s.normal, i, found)
        store(s.z, i, found)
        product = product + found * left
    return sum_xyz(product)


@fused_inner
def _from_crown(above, parts, node_block, crown):
    """What node `above`, which is above all branches, and those above it hand down."""
    found = vec4(0.0, 0.0, 0.0, 0.0)
    while above > 0:
        width = 1
        while 2 * width <= above:
            width *= 2
        share = parts // width
        held = vec4(0.0, 0.0, 0.0, 0.0)
        for each in range((above - width) * share, (above - width + 1) * share):
            held = held + load(crown, np.uintp(each))
        found = found + times(node_block, np.uintp(above), held)
        above >>= 1
    return found
