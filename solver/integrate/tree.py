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

from ..blocks import invert, keep_free
from ..jit import fused_inner

LEAF = 2  # particles in a leaf at most
LANDMARKS = 4  # distances along the cloth to these are the coordinates that halving goes by


def grow(pairs, length, inv_mass, stencils, weight, stiffness):
    """The tree of a cloth.

    Parameters
    ----------
    pairs, length : (s, 2), (s,) [m] springs of all garments
    inv_mass : (n,)
    stencils, weight, stiffness : (h, 4), (h, 4) [1/m], (h,) [J] hinges

    Returns
    -------
    leaf : (n,) int32, the leaf's number
    node_bending : (m,) [N/m] how hinges resist a node that moves as one piece
    """
    count = len(inv_mass)
    depth = max(int(np.ceil(np.log2(max(count / LEAF, 1)))), 0)
    leaf = _halve(_coordinates(pairs, length, count), depth)
    return leaf, _bending(leaf, depth, inv_mass > 0, stencils, weight, stiffness)


def _coordinates(pairs, length, count):
    """(n, k + 1): the connected piece, and distances along the cloth to landmarks far apart in it.

    Two layers that lie on each other are far apart in these, whatever their places in space are.
    """
    i, j = pairs.T
    graph = csr_matrix((np.maximum(length, 1e-12), (i, j)), shape=(count, count))
    pieces, piece = connected_components(graph, directed=False)
    first = np.unique(piece, return_index=True)[1]
    columns, nearest = [piece.astype(np.float64)], None
    scale = 1e5 * max(len(length), 1) / max(float(length.sum()), 1e-12)  # what is as far within rounding is as far
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


def _bending(leaf, depth, movable, stencils, weight, stiffness):
    """Sum over hinges of k (sum of the weights of the hinge's ends in the node)^2, (m,)."""
    bending = np.zeros(2 << depth)
    node, weight = leaf[stencils], np.where(movable[stencils], weight, 0.0)
    rigid = movable[stencils].all(axis=1)
    while len(node):
        for end in range(4):
            same = node == node[:, end : end + 1]
            total = np.einsum("hk,hk->h", weight, same)
            first = ~same[:, :end].any(axis=1)
            bending += np.bincount(node[first, end], (stiffness * total**2)[first], minlength=len(bending))
        # weights sum to zero: a hinge that lies in one node resists nothing from there on
        kept = (node[:, 0] > 1) & ~(rigid & (node == node[:, :1]).all(axis=1))
        node, weight, stiffness, rigid = node[kept] >> 1, weight[kept], stiffness[kept], rigid[kept]
    return bending


@fused_inner
def fill_nodes(block, node_block, node_rate, leaf, kind, normal):
    """Blocks of the nodes from those of the particles, which hold springs and masses only, and inverted.

    `node_block` comes with what the springs told the nodes (`linearise_springs`); node_rate (m,) [N/m] is bending.
    """
    for i in range(np.uintp(block.shape[0])):
        k = np.uintp(leaf[i])
        a, b, c, d, e, f = block[i, 0], block[i, 1], block[i, 2], block[i, 3], block[i, 4], block[i, 5]
        if kind[i] == 1:  # S B S = B - n (B n)^T - (B n) n^T + (n . B n) n n^T
            nx, ny, nz = normal[i, 0], normal[i, 1], normal[i, 2]
            x, y, z = a * nx + b * ny + c * nz, b * nx + d * ny + e * nz, c * nx + e * ny + f * nz
            half = 0.5 * (x * nx + y * ny + z * nz)
            x, y, z = x - half * nx, y - half * ny, z - half * nz
            a, b, c = a - 2.0 * nx * x, b - nx * y - ny * x, c - nx * z - nz * x
            d, e, f = d - 2.0 * ny * y, e - ny * z - nz * y, f - 2.0 * nz * z
        if kind[i] != 2:
            node_block[k, 0] += a
            node_block[k, 1] += b
            node_block[k, 2] += c
            node_block[k, 3] += d
            node_block[k, 4] += e
            node_block[k, 5] += f
    for k in range(node_block.shape[0] // 2 - 1, 0, -1):
        for axis in range(6):
            node_block[k, axis] += node_block[2 * k, axis] + node_block[2 * k + 1, axis]
    for k in range(np.uintp(node_block.shape[0])):
        node_block[k, 0] += node_rate[k]
        node_block[k, 3] += node_rate[k]
        node_block[k, 5] += node_rate[k]
    invert(node_block)


@fused_inner
def precondition(block, node_block, leaf, kind, normal, r, z, sums):
    """z = S (D^-1 + tree) S r, where S keeps what is free to move; returns z . r. About 60 flops and 200 bytes each.

    block (n, 6), node_block (m, 6) inverse; kind (n,), normal (n, 3) as in `contact.support.Support`; sums (m, 3) scratch.
    """
    for k in range(np.uintp(sums.shape[0])):
        sums[k, 0], sums[k, 1], sums[k, 2] = 0.0, 0.0, 0.0
    for i in range(np.uintp(r.shape[0])):
        rx, ry, rz = r[i, 0], r[i, 1], r[i, 2]
        if kind[i] != 0:
            rx, ry, rz = keep_free(kind[i], normal, i, rx, ry, rz)
        z[i, 0], z[i, 1], z[i, 2] = rx, ry, rz
        k = np.uintp(leaf[i])
        sums[k, 0], sums[k, 1], sums[k, 2] = sums[k, 0] + rx, sums[k, 1] + ry, sums[k, 2] + rz
    for k in range(sums.shape[0] // 2 - 1, 0, -1):
        for axis in range(3):
            sums[k, axis] = sums[2 * k, axis] + sums[2 * k + 1, axis]
    for k in range(np.uintp(1), np.uintp(sums.shape[0])):
        a, b, c = node_block[k, 0], node_block[k, 1], node_block[k, 2]
        d, e, f = node_block[k, 3], node_block[k, 4], node_block[k, 5]
        x, y, w, above = sums[k, 0], sums[k, 1], sums[k, 2], k >> np.uintp(1)
        sums[k, 0] = sums[above, 0] + a * x + b * y + c * w
        sums[k, 1] = sums[above, 1] + b * x + d * y + e * w
        sums[k, 2] = sums[above, 2] + c * x + e * y + f * w
    product = 0.0
    for i in range(np.uintp(r.shape[0])):
        a, b, c, d, e, f = block[i, 0], block[i, 1], block[i, 2], block[i, 3], block[i, 4], block[i, 5]
        x, y, w, k = z[i, 0], z[i, 1], z[i, 2], np.uintp(leaf[i])
        zx = sums[k, 0] + a * x + b * y + c * w
        zy = sums[k, 1] + b * x + d * y + e * w
        zz = sums[k, 2] + c * x + e * y + f * w
        if kind[i] != 0:
            zx, zy, zz = keep_free(kind[i], normal, i, zx, zy, zz)
        z[i, 0], z[i, 1], z[i, 2] = zx, zy, zz
        product += zx * r[i, 0] + zy * r[i, 1] + zz * r[i, 2]
    return product
