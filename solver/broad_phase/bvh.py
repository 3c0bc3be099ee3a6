# SPDX-License-Identifier: GPL-3.0-or-later
"""Broad phase by a bounding volume hierarchy: which boxes overlap, by halves of halves of them (van den Bergen 1997;
Lauterbach et al. 2009).

Boxes are put in order once for all, group after group along a Morton curve through their centres: neighbours in that
order are neighbours in the cloth, and stay so however it moves. The hierarchy is an implicit binary tree: nodes 2 k and
2 k + 1 are below node k, each leaf is a box. A call fits the nodes' boxes anew to what is below them, leaves first, and
goes down level by level from pairs of nodes that overlap and whose groups meet to the pairs below them; from some level
on, threads share them. Which pairs that finds depends on the boxes alone, and they come sorted, as those of
`spatial_hash` do: a bake has the same bits with either.

Milliseconds of one thread a call, those of `spatial_hash` in brackets: draped sheets of 101 x 101 vertices 1.0 (1.7),
201 x 201 3.8 (5.8); the same and a body for the guard 1.1 (2.4) and 1.9 (6.5); heaps of 8 and 20 T-shirts of 6,020
triangles 11 (24) and 31 (105). The order is made in 0.5 to 4, once.
"""

from typing import NamedTuple

import numpy as np

from ..kernel.jit import njit
from ..kernel.memo import remembered
from ..kernel.threads import cut, joined, on_threads
from .boxes import HIGH, in_order

SERIAL_LEVELS = 7  # above those that threads share
SMALLEST_NODE_PART = 256  # pairs of nodes there: fewer are done before another thread wakes up
LAST_MORTON_CUBE = 1023.0  # along an axis of the Morton curve; numbers of cubes take 10 bits an axis


class Bvh(NamedTuple):
    """What stays as long as the boxes' groups do. Node 1 is the root; there are as many leaves as a power of two."""

    name: np.ndarray  # (2 leaves,) int32 a leaf's box, -1 where it has none; other nodes' own number
    groups: np.ndarray  # (2 leaves, 2) int32 lowest and highest group below a node


@remembered(4, lambda boxes, group: (group,))
def bvh_of(boxes: np.ndarray, group: np.ndarray) -> Bvh:
    """The hierarchy of boxes with these groups, as made at the first call with them: it finds all wherever boxes go."""
    return make_bvh(boxes, group)


def make_bvh(boxes: np.ndarray, group: np.ndarray) -> Bvh:
    """A hierarchy of boxes (b, 6) [m] of groups (b,), one at least."""
    count = len(boxes)
    order = np.argsort(_along_curve(boxes) | group.astype(np.int64) << 30)
    leaf_count = 1 << (count - 1).bit_length()
    name = np.arange(2 * leaf_count, dtype=np.int32)
    name[leaf_count:] = -1
    name[leaf_count : leaf_count + count] = order
    groups = np.empty((2 * leaf_count, 2), np.int32)
    groups[leaf_count:] = group[order[-1]]
    groups[leaf_count : leaf_count + count] = group[order, None]
    first = leaf_count // 2
    while first:
        below = groups[2 * first : 4 * first]
        groups[first : 2 * first, 0], groups[first : 2 * first, 1] = below[::2, 0], below[1::2, 1]
        first //= 2
    return Bvh(name, groups)


def _along_curve(boxes: np.ndarray) -> np.ndarray:
    """Where along a Morton curve the centres of boxes lie, below 2^30."""
    with np.errstate(invalid="ignore", over="ignore"):
        centres = np.nan_to_num((0.5 * boxes[:, :HIGH] + 0.5 * boxes[:, HIGH:]).T, posinf=0.0, neginf=0.0)
        room = np.minimum(centres - centres.min(axis=1, keepdims=True), 1e300)
    place = (room * (LAST_MORTON_CUBE / max(float(room.max()), 1e-300))).astype(np.uint32)
    for shift, mask in ((16, 0x030000FF), (8, 0x0300F00F), (4, 0x030C30C3), (2, 0x09249249)):
        place = (place | (place << shift)) & mask
    return place[0] << 2 | place[1] << 1 | place[2]


@njit
def _fit_kernel(boxes, name, nodes):
    """Put boxes round what is below nodes; what is not finite touches nothing.
    # outputs: nodes (2 leaves, 6)
    """
    leaf_count = len(name) // 2
    for node in range(2 * leaf_count - 1, 0, -1):
        if node < leaf_count:
            for low in range(3):
                high = low + HIGH
                nodes[node, low] = min(nodes[2 * node, low], nodes[2 * node + 1, low])
                nodes[node, high] = max(nodes[2 * node, high], nodes[2 * node + 1, high])
            continue
        box, total = name[node], 0.0
        for column in range(2 * HIGH):
            nodes[node, column] = boxes[box, column] if box >= 0 else np.inf
            total += nodes[node, column]
        if not np.isfinite(total):
            for low in range(3):
                nodes[node, low], nodes[node, low + HIGH] = np.inf, -np.inf


@njit
def _descend_kernel(above, bvh, nodes, asked, is_last, all_meet, meets, below):
    """From pairs of overlapping nodes to those of the nodes below them of which one is asked for; returns how many there
    are.

    A pair's four tests are 7 comparisons and 96 bytes each, without branches: half of all tests succeed.
    # outputs: below (4 a, 2)
    """
    name, groups = bvh
    count = 0
    for pair in range(len(above)):
        apart = above[pair, 0] != above[pair, 1]
        for k in range(4):
            a, b = 2 * above[pair, 0] + (k >> 1), 2 * above[pair, 1] + (k & 1)
            here = apart | (k == 1) | ((k != 2) & (not is_last))
            here &= asked[a] | asked[b]
            for low in range(3):
                high = low + HIGH
                here &= (nodes[a, low] <= nodes[b, high]) & (nodes[b, low] <= nodes[a, high])
            if not all_meet:
                group, other = groups[a, 0], groups[b, 0]
                here &= (groups[a, 1] != group) | (groups[b, 1] != other) | meets[group, other]
            below[count, 0], below[count, 1] = name[a], name[b]
            count += here
    return count


def _asked_nodes(bvh: Bvh, of: np.ndarray | None) -> np.ndarray:
    """(2 leaves,) bool: nodes with boxes below that are asked for."""
    if of is None:
        return np.ones(len(bvh.name), np.bool_)
    first = len(bvh.name) // 2
    asked = np.empty(2 * first, np.bool_)
    asked[first:] = (bvh.name[first:] >= 0) & of[bvh.name[first:]]
    while first > 1:
        asked[first // 2 : first] = asked[first : 2 * first : 2] | asked[first + 1 : 2 * first : 2]
        first //= 2
    return asked


def bvh_overlaps(boxes: np.ndarray, group: np.ndarray, meets: np.ndarray, of: np.ndarray | None = None) -> np.ndarray:
    """All pairs of overlapping boxes, as `hash_overlaps`; or only pairs of those boxes that are asked for (b,)."""
    if len(boxes) < 2:
        return np.empty((0, 2), np.int32)
    bvh = bvh_of(boxes, group)
    nodes = np.empty((len(bvh.name), 6))
    _fit_kernel(boxes, bvh.name, nodes)
    asked = _asked_nodes(bvh, of)
    level_count, all_meet = len(bvh.name).bit_length() - 2, bool(meets.all())

    def descend(pairs, first, last):
        for level in range(first, last):
            below = np.empty((4 * len(pairs), 2), np.int32)
            is_last = level == level_count - 1
            pairs = below[: _descend_kernel(pairs, bvh, nodes, asked, is_last, all_meet, meets, below)]
        return pairs

    shared = min(level_count, SERIAL_LEVELS)
    pairs = descend(np.ones((1, 2), np.int32), 0, shared)
    ranges = cut(len(pairs), SMALLEST_NODE_PART)
    return in_order(joined(on_threads(lambda _, a, b: descend(pairs[a:b], shared, level_count), ranges)), len(boxes))
