# SPDX-License-Identifier: GPL-3.0-or-later
"""A binary tree over the particles of a cloth: groups of neighbours, halved from level to level.

Nodes are numbered as in a heap: 1 is all particles, the halves of node k are 2 k and 2 k + 1, and a particle lies in
its leaf and in all nodes that the leaf's number reaches by halving. In the order of their leaves, particles have slots:
those of a node are one after the other.
"""

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, dijkstra

from ..geometry.topology import starts

LEAF_PARTICLES = 12  # in a leaf at most, half as many at least where there are so many
SHORTEST_SPRING = 1e-12  # [m] that distances count
DISTANCE_STEPS = 1e5  # in a mean spring, to which distances are rounded
LANDMARKS = 4  # distances along the cloth to these are the coordinates that halving goes by


def grow(pairs, length, count):
    """(n,) int32, the leaf's number of each of `count` particles.

    pairs, length : (s, 2), (s,) [m] springs of all garments
    """
    depth = max(int(np.ceil(np.log2(max(count / LEAF_PARTICLES, 1)))), 0)
    return _halve(_coordinates(pairs, length, count), depth)


def first_slots(leaf):
    """(m + 1,) int32, the first slot of each node, and their end as that of node m; leaf : (n,) of slots, in order."""
    leaves = 1 << int(leaf[0]).bit_length() - 1
    node = np.arange(2 * leaves)
    height = leaves.bit_length() - np.frexp(np.maximum(node, 1))[1]
    return np.append(np.searchsorted(leaf, node << height), len(leaf)).astype(np.int32)


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
