# SPDX-License-Identifier: GPL-3.0-or-later
"""Broad phase by a bounding volume hierarchy: which boxes overlap, by halves of halves of them (van den Bergen 1997;
Lauterbach et al. 2009).

Boxes are put in order once for all, group after group along a Morton curve through their centres: neighbours in that
order are neighbours in the cloth, and stay so however it moves. The hierarchy is an implicit binary tree: nodes 2 k and
2 k + 1 are below node k, each leaf is a box. A call fits the nodes' boxes anew to what is below them, leaves first, and
goes down from pairs of nodes that overlap and whose groups meet to the pairs below them; from some level
on, threads share them. Which pairs that finds depends on the boxes alone, and they come sorted, as those of
`spatial_hash` do: a bake has the same bits with either.

Milliseconds of one thread a call, those of `spatial_hash` in brackets: draped sheets of 101 x 101 vertices 1.0 (1.7),
201 x 201 3.8 (5.8); the same and a body for the guard 1.1 (2.4) and 1.9 (6.5); heaps of 8 and 20 T-shirts of 6,020
triangles 11 (24) and 31 (105). The order is made in 0.5 to 4, once.
"""

from typing import NamedTuple

import numpy as np

from ..kernel.jit import folded, njit
from ..kernel.memo import remembered
from ..kernel.threads import cut, joined, on_threads
from .boxes import HIGH, in_order

SERIAL_LEVELS = 7  # above those that threads share
SMALLEST_NODE_PART = 256  # pairs of nodes there: fewer are done before another thread wakes up
FEWEST_FOUND = 1024  # pairs that there is room for at first, and besides
FOUND_OF_ONE = 5  # those of each box that is asked for
EVERY_BOX = np.zeros(0, np.bool_)  # is asked for
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
def _fit_kernel(boxes, name, of, nodes, asked):
    """Put boxes round what is below nodes, and find those below which a box is asked for (`of`, (b,), or (0,): all are); what is
    not finite touches nothing.
    # outputs: nodes (2 leaves, 6), asked (2 leaves,)
    """
    leaf_count = len(name) // 2
    for node in range(2 * leaf_count - 1, 0, -1):
        if node < leaf_count:
            asked[node] = asked[2 * node] | asked[2 * node + 1]
            for low in range(3):
                high = low + HIGH
                nodes[node, low] = min(nodes[2 * node, low], nodes[2 * node + 1, low])
                nodes[node, high] = max(nodes[2 * node, high], nodes[2 * node + 1, high])
            continue
        box, total = name[node], 0.0
        asked[node] = box >= 0 and (len(of) == 0 or of[box])
        for column in range(2 * HIGH):
            nodes[node, column] = boxes[box, column] if box >= 0 else np.inf
            total += nodes[node, column]
        if not np.isfinite(total):
            for low in range(3):
                nodes[node, low], nodes[node, low + HIGH] = np.inf, -np.inf


@folded
def _go_below(one, other, size, bvh, nodes, asked, all_meet, meets, below):
    """Put those pairs of nodes below two that overlap, whose groups meet, and of which one is asked for, into `below` (k, 2) from
    place `size` on; returns where they end.

    Four tests of 7 comparisons and 96 bytes each, without branches: half of all tests succeed.
    """
    apart, above_leaves = one != other, 4 * one < len(bvh.name)
    for k in range(4):
        a, b = 2 * one + (k >> 1), 2 * other + (k & 1)
        here = (apart | (k == 1) | ((k != 2) & above_leaves)) & (asked[a] | asked[b])
        for low in range(3):
            high = low + HIGH
            here &= (nodes[a, low] <= nodes[b, high]) & (nodes[b, low] <= nodes[a, high])
        if not all_meet:
            group, another = bvh.groups[a, 0], bvh.groups[b, 0]
            here &= (bvh.groups[a, 1] != group) | (bvh.groups[b, 1] != another) | meets[group, another]
        below[size, 0], below[size, 1] = a, b
        size += here
    return size


@njit
def _descend_kernel(above, levels, bvh, nodes, asked, all_meet, meets, levelled, found):
    """From pairs of nodes to all pairs below them so many levels down; returns how many there are, or -1 where there may be
    more than there is room for.
    # outputs: found (k, 2) names of nodes; levelled (2, m, 2) scratch: pairs of a level, and of that below it
    """
    count, about = 0, (bvh, nodes, asked, all_meet, meets)
    for seed in range(len(above)):
        levelled[0, 0, 0], levelled[0, 0, 1], size = above[seed, 0], above[seed, 1], 1
        for level in range(levels - 1):
            here, below, pairs, size = levelled[level & 1], levelled[(level + 1) & 1], size, 0
            if 4 * pairs > len(here):
                return -1
            for pair in range(pairs):
                size = _go_below(here[pair, 0], here[pair, 1], size, *about, below)
        last = levelled[(levels - 1) & 1]
        if count + 4 * size > len(found):
            return -1
        for pair in range(size):
            count = _go_below(last[pair, 0], last[pair, 1], count, *about, found)
    for pair in range(count):
        found[pair, 0], found[pair, 1] = bvh.name[found[pair, 0]], bvh.name[found[pair, 1]]
    return count


def bvh_overlaps(boxes: np.ndarray, group: np.ndarray, meets: np.ndarray, of: np.ndarray = EVERY_BOX) -> np.ndarray:
    """All pairs of overlapping boxes, as `hash_overlaps`; or only pairs of those boxes that are asked for (b,)."""
    if len(boxes) < 2:
        return np.empty((0, 2), np.int32)
    bvh = bvh_of(boxes, group)
    nodes, asked = np.empty((len(bvh.name), 6)), np.empty(len(bvh.name), np.bool_)
    _fit_kernel(boxes, bvh.name, of, nodes, asked)
    levels, all_meet = len(bvh.name).bit_length() - 2, bool(meets.all())
    most = FEWEST_FOUND + FOUND_OF_ONE * (int(np.count_nonzero(of)) if len(of) else len(boxes))

    def descend(above, levels, room):
        while True:
            levelled, found = np.empty((2, room, 2), np.int32), np.empty((room, 2), np.int32)
            count = _descend_kernel(above, levels, bvh, nodes, asked, all_meet, meets, levelled, found)
            if count >= 0:
                return found[:count]
            room *= 2

    pairs = descend(np.ones((1, 2), np.int32), min(levels, SERIAL_LEVELS), FEWEST_FOUND)
    if levels > SERIAL_LEVELS and len(pairs):
        ranges, below = cut(len(pairs), SMALLEST_NODE_PART), levels - SERIAL_LEVELS
        room = most // len(ranges)
        pairs = joined(on_threads(lambda _, first, last: descend(pairs[first:last], below, room), ranges))
    return in_order(pairs, len(boxes))
