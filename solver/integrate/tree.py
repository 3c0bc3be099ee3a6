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

from ..blocks import add_product, invert, keep_free
from ..jit import fused_inner

LEAF = 2  # particles in a leaf at most
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


def smallest_common(first, second):
    """The smallest nodes that hold both of two leaves (k,) each."""
    return first >> np.frexp(first ^ second)[1]


def _bending(leaf, depth, movable, stencils, weight, stiffness):
    """Sum over hinges of k (sum of the weights of the hinge's ends in the node)^2, (m, 2).

    A product of two ends' weights counts in the smallest node that holds both, and in all above it.
    """
    bending = np.zeros((2 << depth, 2))
    node, weight = leaf[stencils], np.where(movable[stencils], weight, 0.0)
    for one, other in zip(*np.triu_indices(4), strict=True):
        meet = smallest_common(node[:, one], node[:, other])
        share = (1.0 if one == other else 2.0) * weight[:, one] * weight[:, other]
        for kind in (0, 1):
            bending[:, kind] += np.bincount(meet, share * stiffness[:, kind], minlength=len(bending))
    low = 1 << depth
    while low > 1:
        low //= 2
        bending[low : 2 * low] += bending[2 * low : 4 * low : 2] + bending[2 * low + 1 : 4 * low : 2]
    return np.maximum(bending, 0.0)  # of a node that holds whole hinges alone, rounding may be left


@fused_inner
def fill_branch(first, last, part, parts, rows, rate, link, block, kind, normal, node_block, crown_block):
    """Blocks (m, 6) of the groups of a branch, inverted, from those of the particles' springs and masses.

    A group that moves as one piece does not feel the springs inside: the smallest group that holds both ends is told
    what its two halves counted too much. 50 flops an entry; kind by slot, normal by particle; rate [1/s] is
    1 / dt. # outputs: those of node_block; crown_block (parts, parts, 6) what the branch adds to the nodes above it, and itself
    """
    root, span = np.uintp(parts + part), np.uintp(node_block.shape[0] // 2 // parts)
    low, high = root, root + np.uintp(1)
    while True:
        for k in range(low, high):
            for axis in range(6):
                node_block[k, axis] = 0.0
        if low == root * span:
            break
        low, high = low << np.uintp(1), high << np.uintp(1)
    for above in range(parts):
        for axis in range(6):
            crown_block[part, above, axis] = 0.0
    for i in range(np.uintp(first), np.uintp(last)):
        if kind[i] == 2:
            continue
        n = np.uintp(rows.order[i])
        _add_held(node_block, np.uintp(rows.leaf[i]), block, i, kind[i], normal, n)
        for entry in range(np.uintp(rows.near_start[i]), np.uintp(rows.near_start[i + 1])):
            j = np.uintp(rows.near[entry, 0])
            if j < i or kind[j] == 2:
                continue
            k, meet = np.uintp(rows.near[entry, 1]), np.uintp(rows.near[entry, 2])
            hx, hy, hz, a = link[k, 0], link[k, 1], link[k, 2], link[k, 3]
            gx, gy, gz, fx, fy, fz = -hx, -hy, -hz, hx, hy, hz
            if kind[i] != 0 or kind[j] != 0:
                gx, gy, gz = keep_free(kind[i], normal, n, gx, gy, gz)
                fx, fy, fz = keep_free(kind[j], normal, np.uintp(rows.order[j]), fx, fy, fz)
                a = 0.0
            if meet < root:
                add_product(crown_block[part], meet, -a, gx, gy, gz, fx, fy, fz)
            else:
                add_product(node_block, meet, -a, gx, gy, gz, fx, fy, fz)
    while low > root:
        low, high = low >> np.uintp(1), high >> np.uintp(1)
        for k in range(low, high):
            for axis in range(6):
                node_block[k, axis] += node_block[2 * k, axis] + node_block[2 * k + 1, axis]
    for axis in range(6):
        crown_block[part, 0, axis] = node_block[root, axis]
    while low < np.uintp(node_block.shape[0]):
        for k in range(low, high):
            bending = rows.node_bending[k, 0] + rate * rows.node_bending[k, 1]
            node_block[k, 0] += bending
            node_block[k, 3] += bending
            node_block[k, 5] += bending
        invert(low, high, node_block)
        low, high = low << np.uintp(1), high << np.uintp(1)


@fused_inner
def _add_held(node_block, k, block, i, kind, normal, n):
    """Add particle i's block to node k, as far as the particle may move.

    S B S = B - n (B n)^T - (B n) n^T + (n . B n) n n^T.
    """
    a, b, c, d, e, f = block[i, 0], block[i, 1], block[i, 2], block[i, 3], block[i, 4], block[i, 5]
    if kind == 1:
        nx, ny, nz = normal[n, 0], normal[n, 1], normal[n, 2]
        x, y, z = a * nx + b * ny + c * nz, b * nx + d * ny + e * nz, c * nx + e * ny + f * nz
        half = 0.5 * (x * nx + y * ny + z * nz)
        x, y, z = x - half * nx, y - half * ny, z - half * nz
        a, b, c = a - 2.0 * nx * x, b - nx * y - ny * x, c - nx * z - nz * x
        d, e, f = d - 2.0 * ny * y, e - ny * z - nz * y, f - 2.0 * nz * z
    node_block[k, 0], node_block[k, 1], node_block[k, 2] = (
        node_block[k, 0] + a,
        node_block[k, 1] + b,
        node_block[k, 2] + c,
    )
    node_block[k, 3], node_block[k, 4], node_block[k, 5] = (
        node_block[k, 3] + d,
        node_block[k, 4] + e,
        node_block[k, 5] + f,
    )


@fused_inner
def fill_crown(parts, rows, rate, crown_block, node_block):
    """Blocks of the nodes above all branches, inverted."""
    for k in range(parts - 1, 0, -1):
        for axis in range(6):
            total = 0.0
            for child in range(2 * k, 2 * k + 2):
                total += crown_block[child - parts, 0, axis] if child >= parts else node_block[child, axis]
            for part in range(parts):
                total += crown_block[part, k, axis]
            node_block[k, axis] = total
    for k in range(1, parts):
        bending = rows.node_bending[k, 0] + rate * rows.node_bending[k, 1]
        node_block[k, 0] += bending
        node_block[k, 3] += bending
        node_block[k, 5] += bending
    invert(1, parts, node_block)


@fused_inner
def gather_up(first, last, part, parts, rows, kind, normal, r, sums, crown):
    """Sums of S r over the groups of a branch: slots first to last, all groups below and in node parts + part.

    kind by slot, normal by particle. # outputs: those of sums (m, 3), and the node's own in crown (parts, 3)
    """
    root, span = np.uintp(parts + part), np.uintp(sums.shape[0] // 2 // parts)
    low, high = root * span, (root + np.uintp(1)) * span
    for k in range(low, high):
        sums[k, 0], sums[k, 1], sums[k, 2] = 0.0, 0.0, 0.0
    for i in range(np.uintp(first), np.uintp(last)):
        rx, ry, rz = r[i, 0], r[i, 1], r[i, 2]
        if kind[i] != 0:
            rx, ry, rz = keep_free(kind[i], normal, np.uintp(rows.order[i]), rx, ry, rz)
        k = np.uintp(rows.leaf[i])
        sums[k, 0], sums[k, 1], sums[k, 2] = sums[k, 0] + rx, sums[k, 1] + ry, sums[k, 2] + rz
    while low > root:
        low, high = low >> np.uintp(1), high >> np.uintp(1)
        for k in range(low, high):
            for axis in range(3):
                sums[k, axis] = sums[2 * k, axis] + sums[2 * k + 1, axis]
    crown[part, 0], crown[part, 1], crown[part, 2] = sums[root, 0], sums[root, 1], sums[root, 2]


@fused_inner
def hand_down(first, last, part, parts, rows, block, node_block, kind, normal, r, z, sums, crown):
    """z = S (D^-1 + tree) S r in slots first to last, from sums of all branches; returns their part of z . r.

    block (n, 6), node_block (m, 6) inverse; kind by slot, normal by particle. # outputs: z; spoils the branch's sums.
    """
    ox = oy = oz = 0.0
    above = (parts + part) >> 1
    while above > 0:
        width = 1
        while 2 * width <= above:
            width *= 2
        share = parts // width
        x = y = w = 0.0
        for branch in range((above - width) * share, (above - width + 1) * share):
            x, y, w = x + crown[branch, 0], y + crown[branch, 1], w + crown[branch, 2]
        ox += node_block[above, 0] * x + node_block[above, 1] * y + node_block[above, 2] * w
        oy += node_block[above, 1] * x + node_block[above, 3] * y + node_block[above, 4] * w
        oz += node_block[above, 2] * x + node_block[above, 4] * y + node_block[above, 5] * w
        above >>= 1
    low, high, size = np.uintp(parts + part), np.uintp(parts + part + 1), np.uintp(sums.shape[0])
    top = True
    while low < size:
        for k in range(low, high):
            a, b, c = node_block[k, 0], node_block[k, 1], node_block[k, 2]
            d, e, f = node_block[k, 3], node_block[k, 4], node_block[k, 5]
            x, y, w = sums[k, 0], sums[k, 1], sums[k, 2]
            if not top:
                above = k >> np.uintp(1)
                ox, oy, oz = sums[above, 0], sums[above, 1], sums[above, 2]
            sums[k, 0] = ox + a * x + b * y + c * w
            sums[k, 1] = oy + b * x + d * y + e * w
            sums[k, 2] = oz + c * x + e * y + f * w
        low, high, top = low << np.uintp(1), high << np.uintp(1), False
    product = 0.0
    for i in range(np.uintp(first), np.uintp(last)):
        rx, ry, rz, n = r[i, 0], r[i, 1], r[i, 2], np.uintp(rows.order[i])
        if kind[i] != 0:
            rx, ry, rz = keep_free(kind[i], normal, n, rx, ry, rz)
        a, b, c, d, e, f = block[i, 0], block[i, 1], block[i, 2], block[i, 3], block[i, 4], block[i, 5]
        k = np.uintp(rows.leaf[i])
        zx = sums[k, 0] + a * rx + b * ry + c * rz
        zy = sums[k, 1] + b * rx + d * ry + e * rz
        zz = sums[k, 2] + c * rx + e * ry + f * rz
        if kind[i] != 0:
            zx, zy, zz = keep_free(kind[i], normal, n, zx, zy, zz)
        z[i, 0], z[i, 1], z[i, 2] = zx, zy, zz
        product += zx * r[i, 0] + zy * r[i, 1] + zz * r[i, 2]
    return product
