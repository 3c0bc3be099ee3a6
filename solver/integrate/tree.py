# SPDX-License-Identifier: GPL-3.0-or-later
"""A binary tree over the particles of a cloth: groups of neighbours, halved from level to level.

Nodes are numbered as in a heap: 1 is all particles, the halves of node k are 2 k and 2 k + 1, and a particle lies in
its leaf and in all nodes that the leaf's number reaches by halving. In the order of their leaves, particles have slots:
those of a node are one after the other.

What springs join is a piece, and no leaf has particles of two: a node that has is halved between pieces. So a small piece, as a ribbon
beside a dress, has nodes of its own up to the whole of it, and none of these is answered for by one of the dress (`answering`).
What is small enough for a leaf before the others are goes on to the second half, and the first one is empty.
"""

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from ..geometry.seams import same_places
from ..geometry.topology import starts
from ..kernel import phases

LEAF_PARTICLES = 12  # in a leaf at most, half as many at least where there are so many
SHORTEST_SPRING = 1e-12  # [m] that distances count
DISTANCE_STEPS = 1e5  # in a mean spring, to which distances are rounded
LANDMARKS = 4  # distances along the cloth to these are the coordinates that halving goes by


def grow(pairs, length, count):
    """(n,) int32, the leaf's number of each of `count` particles.

    pairs, length : (s, 2), (s,) [m] springs of all garments; particles that have none are spread over the leaves of
        the largest piece, with which `pieces_of` has them
    """
    piece, joined, parts = pieces_of(pairs, count), np.unique(pairs), phases.part_count(count)
    leaf, hosts = np.empty(count, np.int32), np.arange(parts, 2 * parts)
    if len(joined):
        leaf[joined] = _halve(_coordinates(np.searchsorted(joined, pairs), length, piece[joined]), parts)
        hosts = np.unique(leaf[joined[piece[joined] == piece.max()]])
    loose = np.setdiff1d(np.arange(count), joined)
    leaf[loose] = hosts[np.arange(len(loose)) * len(hosts) // max(len(loose), 1)]
    return leaf


def pieces_of(pairs, count):
    """(n,) int32 which piece each particle is of that springs join: the smallest first, so that these are near each other, then in the
    order of their first ones. What has no spring, as what is pinned among pinned, goes with the largest.
    """
    first, own = same_places(*pairs.T, count)
    size = np.bincount(own)
    number = np.argsort(np.lexsort((first, size))) - np.count_nonzero(size == 1)
    return np.where(size > 1, number, max(number.max(), 0))[own].astype(np.int32)


def first_slots(leaf):
    """(m + 1,) int32, the first slot of each node, and their end as that of node m; leaf : (n,) of slots, in order."""
    return np.append(_bounds(leaf)[0], len(leaf)).astype(np.int32)


def hosted(leaf, piece, joined):
    """(n,) pieces of slots, what has no spring being of its leaf's, or the one before: it moves with no spring's end, and takes no
    node its piece. leaf, piece : (n,) of slots, in order; joined : slots that have springs
    """
    own = np.full(int(leaf.max()) + 1, -1, piece.dtype)
    own[leaf[joined]] = piece[joined]
    is_joined = np.zeros(len(leaf), np.bool_)
    is_joined[joined] = True
    found = np.where(is_joined, piece, own[leaf])
    known = np.maximum.accumulate(np.where(found >= 0, np.arange(len(found)), -1))
    return np.where(known >= 0, found[known], piece.max(initial=0)).astype(piece.dtype)


def answering(leaf, piece):
    """(m,) bool: nodes of one piece that have more of it than either half; leaf, piece : (n,) of slots, in order"""
    first, end = _bounds(leaf)
    size, half = end - first, len(first) // 2
    change = np.cumsum(np.diff(piece, prepend=piece[0]) != 0)  # of a tree that is older than its pins there may be any
    is_one = (size > 0) & (change[np.minimum(first, len(leaf) - 1)] == change[end - 1])
    is_one[1:half] &= (size[2::2] > 0) & (size[3::2] > 0)
    return is_one


def _bounds(leaf):
    """First slot and end of each node."""
    leaves = 1 << int(leaf[0]).bit_length() - 1
    node = np.arange(2 * leaves)
    height = leaves.bit_length() - np.frexp(np.maximum(node, 1))[1]
    return np.searchsorted(leaf, node << height), np.searchsorted(leaf, (node + 1) << height)


def _coordinates(pairs, length, piece):
    """(n, k + 1): the piece (n,), and distances along the cloth to landmarks far apart in it.

    Two layers that lie on each other are far apart in these, whatever their places in space are.
    """
    graph = csr_matrix((np.maximum(length, SHORTEST_SPRING), tuple(pairs.T)), shape=2 * (len(piece),))
    pieces, first = piece.max() + 1, np.unique(piece, return_index=True)[1]
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


def _halve(place, least):
    """Leaf of each particle, of at least so many leaves: every group is halved across its longest side, or between pieces, until all are
    small and of one piece. The last leaf is never empty: the point of reference of an empty node is the first slot behind it.
    """
    count, single = len(place), not np.ptp(place[:, 0])
    node = np.ones(count, dtype=np.int64)
    while True:
        order = np.argsort(node, kind="stable")
        starts = np.flatnonzero(np.diff(node[order], prepend=0))
        sorted_place = place[order]
        spread = np.maximum.reduceat(sorted_place, starts) - np.minimum.reduceat(sorted_place, starts)
        sizes, is_mixed = np.diff(starts, append=count), spread[:, 0] > 0
        if not (is_mixed | (sizes > LEAF_PARTICLES)).any() and node.max() >= least:
            return node.astype(np.int32)
        spread[:, 0] = np.where(is_mixed, np.inf, 0.0)
        axis = np.repeat(spread.argmax(axis=1), sizes)
        order = order[np.lexsort((sorted_place[np.arange(count), axis], node[order]))]
        is_halved = (single & (sizes > 1)) | is_mixed | (sizes > LEAF_PARTICLES)
        middle = np.where(is_halved, (sizes + 1) // 2, 0)
        if not single:
            _move_to_borders(middle, place[order, 0], starts, sizes)
        rank = np.arange(count) - np.repeat(starts, sizes)
        node[order] = 2 * node[order] + (rank >= np.repeat(middle, sizes))


def _move_to_borders(middle, piece, starts, sizes):
    """Let groups of several pieces end their first half at the border that is nearest to the middle.

    piece : (n,) of all, group by group, in order. # output: middle (g,)
    """
    border = np.flatnonzero(np.diff(piece)) + 1
    group = np.searchsorted(starts, border, side="right") - 1
    inside = border > starts[group]
    border, group = border[inside], group[inside]
    rank = border - starts[group]
    order = np.lexsort((np.abs(2 * rank - sizes[group]), group))
    nearest = order[np.flatnonzero(np.diff(group[order], prepend=-1))]
    middle[group[nearest]] = rank[nearest]


def smallest_common(first, second):
    """The smallest nodes that hold both of two leaves (k,) each."""
    return first >> np.frexp(first ^ second)[1]


def by_node(node, count):
    """Things in the order of their nodes (k,), of `count`: (count + 1,) first of each node's, and (k,) which things."""
    return starts(node, count), np.argsort(node, kind="stable").astype(np.int32)
