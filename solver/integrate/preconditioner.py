# SPDX-License-Identifier: GPL-3.0-or-later
"""The preconditioner, which carries a load across the whole cloth at once: pieces of it that move and turn as one.

Conjugate gradients pass a force on by one spring an iteration; a garment is many springs wide. So the residual is
also looked at through ever larger groups of particles (`tree`), each of which may move and turn as one piece: with P_c what the
six numbers of such a motion do to the particles of group c, and A_c = P_c^T S A S P_c, the answer is

    z = S (4 D^-1 + sum over all groups of P_c A_c^-1 P_c^T) S r

(an additive multilevel preconditioner on aggregates: Bramble, Pasciak and Xu 1990; for cloth: Wu, Wang and Wang 2022; rigid
motions as what aggregates do: Vanek, Mandel and Brezina 1996). There are half as many groups from level to level, so
the blocks of all of them take as much as two to four vectors. Of A, what resists alike in all directions counts as if nothing were
held, and cloth on cloth in D alone. That they turn is what bent cloth needs: it gives way without becoming longer only where pieces of it
turn, and pieces that are moved alone would stretch all springs between them (docs/steps.md, What a solve leaves).

A node of two pieces of cloth does not answer, so that what one pulls with moves no other (`tree.answering`). The point of reference of a
node is its first particle: the first half of a node has the same, unless it is empty. A node feels what crosses its
border, so its block is the sum of its halves' without what these count of the pairs between them (`_take_back`).
"""

import numpy as np

from ..kernel import mat6
from ..kernel.jit import fused_inner
from ..kernel.mat3 import CREASED, FREE, HELD, KINEMATIC, first_row, keep_free, times, write
from ..kernel.vec4 import broadcast, broadcast_lane, cross, dot, lane, load, store, sum_xyz, vec4, xyz
from .system import ALONG

OWN_SHARE = 4.0  # of a particle's own answer, for each of its groups has one as large: a tenth fewer iterations
ONE = np.uintp(1)


@fused_inner
def fill_branch(branch, parts, matrix, s):
    """Blocks of the groups of a branch, inverse but for that of the branch as a whole.

    A particle takes 120 flops, a spring 170 and 130 bytes, another pair 50. # outputs: those of s.node_block; s.block, all of
    what is on the diagonal, as far as particles may move; nothing in s.crown, for a branch without particles is never gathered
    """
    node_block = s.node_block
    for row in range(np.uintp(2 * branch), np.uintp(2 * branch + 2)):
        store(s.crown, row, vec4(0.0, 0.0, 0.0, 0.0))
    root, span = np.uintp(parts + branch), np.uintp(s.sums.shape[0] // 4 // parts)
    low, high = root * span, (root + ONE) * span
    for k in range(low, high):
        mat6.clear(node_block, k)
        base = load(s.x, np.uintp(matrix.node_first[k]))
        for i in range(np.uintp(matrix.node_first[k]), np.uintp(matrix.node_first[k + ONE])):
            if s.kind[i] != KINEMATIC:
                _add_particle(node_block, k, load(s.x, i) - base, s, i)
    _take_back(low, high, matrix, s)
    while low > root:
        low, high = low >> ONE, high >> ONE
        for k in range(low, high):
            _join_halves(k, matrix, s)
        _take_back(low, high, matrix, s)
    while low < np.uintp(s.sums.shape[0] // 2):
        for k in range(low, high):
            if k != root:  # its parent needs it as it is
                _invert(k, matrix, s)
        low, high = low << ONE, high << ONE


@fused_inner
def _offset(node, other, matrix, s):
    """[m] from the point of reference of a node to that of another."""
    return load(s.x, np.uintp(matrix.node_first[other])) - load(s.x, np.uintp(matrix.node_first[node]))


@fused_inner
def _join_halves(k, matrix, s):
    first = k << ONE
    mat6.clear(s.node_block, k)
    mat6.add_moved(s.node_block, k, first, vec4(0.0, 0.0, 0.0, 0.0))
    mat6.add_moved(s.node_block, k, first + ONE, _offset(k, first + ONE, matrix, s))


@fused_inner
def _add_particle(node_block, k, o, s, i):
    """Add particle i, which is off by o, to node k: its block as far as it may move, and its inertia along what holds it. So
    its own block becomes, too.

    S B S = B - n (B n)^T - (B n) n^T + (n . B n) n n^T. What a flat body holds has one normal, along which a node of it
    would have nothing but rounding: inverted, that is any number. The same of a crease, which has one way t that is free:
    S B S = (t . B t) t t^T.
    """
    at, kind, mass, across = first_row(i), s.kind[i], s.mass[i], s.across[i]
    x, y, z = load(s.block, at), load(s.block, at + ONE), load(s.block, at + np.uintp(2))
    if kind == CREASED:
        t = load(s.normal, i)
        far = broadcast(lane(dot(t, times(s.block, i, t)), 0) - mass) * t
        x, y, z, across = (
            broadcast_lane(t, 0) * far,
            broadcast_lane(t, 1) * far,
            broadcast_lane(t, 2) * far,
            across + mass,
        )
    elif kind == HELD:
        n = load(s.normal, i)
        image = times(s.block, i, n)
        near = broadcast(0.5) * (dot(n, image) + broadcast(mass)) * n - image
        x = x + broadcast_lane(n, 0) * near + broadcast_lane(near, 0) * n
        y = y + broadcast_lane(n, 1) * near + broadcast_lane(near, 1) * n
        z = z + broadcast_lane(n, 2) * near + broadcast_lane(near, 2) * n
    x, y, z = x + vec4(across, 0.0, 0.0, 0.0), y + vec4(0.0, across, 0.0, 0.0), z + vec4(0.0, 0.0, across, 0.0)
    write(s.block, i, 0.0, x, y, z)
    mat6.add_at(node_block, k, o, x, y, z)


@fused_inner
def _take_back(low, high, matrix, s):
    """Take back what nodes low to high count twice of the pairs that are in them and not in one of their halves.

    What pairs resist alike in all directions is counted as if nothing were held: a piece that a body holds moves along it as
    one, though normals differ a little. All nodes in one call, for which 300 numbers are handed on: that takes longer
    than a spring.
    """
    kind, normal, x, nothing = s.kind, s.normal, s.x, vec4(0.0, 0.0, 0.0, 0.0)
    for k in range(low, high):
        base, isotropic = load(x, np.uintp(matrix.node_first[k])), 0.0
        first, m = nothing, (nothing, nothing, nothing)
        for at in range(np.uintp(matrix.node_start[k, 1]), np.uintp(matrix.node_start[k + ONE, 1])):
            i, j = np.uintp(matrix.node_far[at, 0]), np.uintp(matrix.node_far[at, 1])
            if kind[i] != KINEMATIC and kind[j] != KINEMATIC:
                a, o, q = s.far_row[matrix.node_far[at, 2]], load(x, i) - base, load(x, j) - base
                isotropic += a
                first = first + broadcast(a) * (o + q)
                o = broadcast(a) * o
                m = _add_products(m, o, q, q, o)
        p, c, r = (nothing, nothing, nothing), (nothing, nothing, nothing), (nothing, nothing, nothing)
        for at in range(np.uintp(matrix.node_start[k, 0]), np.uintp(matrix.node_start[k + ONE, 0])):
            e = np.uintp(matrix.node_springs[at])
            i, j = np.uintp(matrix.edges[e, 0]), np.uintp(matrix.edges[e, 1])
            if kind[i] == KINEMATIC or kind[j] == KINEMATIC:
                continue
            h, o, q = load(s.link, e), load(x, i) - base, load(x, j) - base
            a = lane(h, ALONG)
            isotropic += a
            first = first + broadcast(a) * (o + q)
            f = g = xyz(h)
            if kind[i] != FREE or kind[j] != FREE:
                f, g = keep_free(kind[i], normal, i, f), keep_free(kind[j], normal, j, g)
            u, w = cross(o, f), cross(q, g)
            o = broadcast(a) * o
            m = _add_products(m, o, q, q, o)
            p, c, r = _add_products(p, f, g, g, f), _add_products(c, f, w, g, u), _add_products(r, u, w, w, u)
        mat6.take_rows(s.node_block, k, p, c, r)
        mat6.take_isotropic(s.node_block, k, isotropic, first, m)


@fused_inner
def _add_products(rows, a, b, c, d):
    """Three rows and a b^T + c d^T."""
    return (
        rows[0] + (broadcast_lane(a, 0) * b + broadcast_lane(c, 0) * d),
        rows[1] + (broadcast_lane(a, 1) * b + broadcast_lane(c, 1) * d),
        rows[2] + (broadcast_lane(a, 2) * b + broadcast_lane(c, 2) * d),
    )


@fused_inner
def fill_crown(parts, matrix, s):
    """Blocks of the nodes above all branches and of the branches as a whole, inverse. # outputs: those of s.node_block"""
    for above in range(parts - 1, 0, -1):
        k = np.uintp(above)
        _join_halves(k, matrix, s)
        _take_back(k, k + ONE, matrix, s)
    for above in range(1, 2 * parts):
        _invert(np.uintp(above), matrix, s)


@fused_inner
def _invert(k, matrix, s):
    """Make the block of a node inverse, or nothing of it where it does not answer."""
    if matrix.answers[k]:
        mat6.invert(s.node_block, k)
    else:
        mat6.clear(s.node_block, k)


@fused_inner
def gather_up(branch, parts, matrix, s):
    """Force and moment of S r on the groups of a branch: all groups below, and node parts + branch.

    # outputs: those of s.sums, and the node's own in s.crown
    """
    sums, x = s.sums, s.x
    root, span = np.uintp(parts + branch), np.uintp(sums.shape[0] // 4 // parts)
    low, high = root * span, (root + ONE) * span
    for k in range(low, high):
        base = load(x, np.uintp(matrix.node_first[k]))
        force = moment = vec4(0.0, 0.0, 0.0, 0.0)
        for i in range(np.uintp(matrix.node_first[k]), np.uintp(matrix.node_first[k + ONE])):
            pull = keep_free(s.kind[i], s.normal, i, load(s.r, i))
            force, moment = force + pull, moment + cross(load(x, i) - base, pull)
        store(sums, k << ONE, force)
        store(sums, (k << ONE) + ONE, moment)
    while low > root:
        low, high = low >> ONE, high >> ONE
        for k in range(low, high):
            child = k << np.uintp(2)  # row of the first half
            force, moment = load(sums, child), load(sums, child + ONE)
            other = load(sums, child + np.uintp(2))
            moment = moment + load(sums, child + np.uintp(3)) + cross(_offset(k, (k << ONE) + ONE, matrix, s), other)
            store(sums, k << ONE, force + other)
            store(sums, (k << ONE) + ONE, moment)
    at = np.uintp(branch) << ONE
    store(s.crown, at, load(sums, root << ONE))
    store(s.crown, at + ONE, load(sums, (root << ONE) + ONE))


@fused_inner
def hand_down(branch, parts, matrix, s):
    """z = S (4 D^-1 + tree) S r in the slots of a branch, from sums of all branches; returns their part of z . r, and of what of
    it is the particles' own answer.

    s.block, s.node_block are inverse. # outputs: s.z; spoils the branch's sums.
    """
    sums, x, node_block = s.sums, s.x, s.node_block
    root, nodes = np.uintp(parts + branch), np.uintp(sums.shape[0] // 2)
    v, w = _from_crown(root, parts, matrix, s)
    _move(root, v, w, node_block, sums)
    low, high = root << ONE, (root + ONE) << ONE
    while low < nodes:
        for k in range(low, high):
            above = k >> ONE
            v, w = load(sums, above << ONE), load(sums, (above << ONE) + ONE)
            _move(k, v + cross(w, _offset(above, k, matrix, s)), w, node_block, sums)
        low, high = low << ONE, high << ONE
    product = alone = vec4(0.0, 0.0, 0.0, 0.0)
    for k in range(low >> ONE, high >> ONE):
        base = load(x, np.uintp(matrix.node_first[k]))
        v, w = load(sums, k << ONE), load(sums, (k << ONE) + ONE)
        for i in range(np.uintp(matrix.node_first[k]), np.uintp(matrix.node_first[k + ONE])):
            left = keep_free(s.kind[i], s.normal, i, load(s.r, i))
            own = times(s.block, i, left)
            found = v + cross(w, load(x, i) - base) + broadcast(OWN_SHARE) * own
            found = keep_free(s.kind[i], s.normal, i, found)
            store(s.z, i, found)
            product, alone = product + found * left, alone + own * left
    return sum_xyz(product), sum_xyz(alone)


@fused_inner
def _move(k, v, w, node_block, sums):
    """What pulls at node k becomes how it moves: by (v, w) with the nodes above it, and by its own answer."""
    at = k << ONE
    own, turn = mat6.answer(node_block, k, load(sums, at), load(sums, at + ONE))
    store(sums, at, v + own)
    store(sums, at + ONE, w + turn)


@fused_inner
def _from_crown(root, parts, matrix, s):
    """(v, w) by which the nodes above all branches move the branch `root`."""
    v = w = vec4(0.0, 0.0, 0.0, 0.0)
    above, share = root >> ONE, np.uintp(2)  # branches below it
    while above > np.uintp(0):
        force = moment = vec4(0.0, 0.0, 0.0, 0.0)
        for branch in range(above * share, (above + ONE) * share):
            at = (branch - np.uintp(parts)) << ONE
            pull = load(s.crown, at)
            force = force + pull
            moment = moment + load(s.crown, at + ONE) + cross(_offset(above, branch, matrix, s), pull)
        own, turn = mat6.answer(s.node_block, above, force, moment)
        v, w = v + own + cross(turn, _offset(above, root, matrix, s)), w + turn
        above, share = above >> ONE, share << ONE
    return v, w
