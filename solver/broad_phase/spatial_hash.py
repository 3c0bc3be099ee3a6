# SPDX-License-Identifier: GPL-3.0-or-later
"""Broad phase by a spatial hash: which boxes overlap, in time proportional to their number (Teschner et al. 2003;
Kelager 2006).

Space is cut into cubes somewhat larger than an average box. A box is entered in every cube that it touches; the cubes are
folded into a table of `size` buckets by

    (i p1 xor j p2 xor k p3) mod size,   p1 = 73856093, p2 = 19349663, p3 = 83492791

and two boxes are compared only within a cube, and only in the lowest cube that both touch, so that each pair comes
once. Each entry keeps its cube, so two cubes in one bucket do not meet. The order of the pairs depends on the boxes
alone.
"""

import math
from typing import NamedTuple

import numpy as np

from ..kernel.jit import inner, njit
from .boxes import HIGH, in_order, touch

CUBE_SIDE = 1.5  # side of a cube over the mean side of a box
LARGEST_SPAN = 24  # cubes along the longest side of the largest box: a few large boxes must not fill the table
MOST_CUBES = 1 << 19  # along an axis
CUBE_BITS = 20  # that their numbers take
SMALLEST_CUBE = 1e-30  # [m]


class Buckets(NamedTuple):
    """The table's entries, bucket after bucket."""

    end: np.ndarray  # (m + 1,) int32 how many there are up to the end of each bucket, and for a last one that is empty
    box: np.ndarray  # (e,) int32 an entry's box
    cube: np.ndarray  # (e,) int64 and its cube


@inner
def bucket_of(i, j, k, mask):
    """The bucket of a cube, of mask + 1: a power of two."""
    return ((np.int64(i) * 73856093) ^ (np.int64(j) * 19349663) ^ (np.int64(k) * 83492791)) & mask


@inner
def _is_finite(boxes, box):
    """Whether all of a box is."""
    total = 0.0
    for column in range(2 * HIGH):
        total += boxes[box, column]
    return math.isfinite(total)


@inner
def _cubes_per_metre(boxes, lowest):
    """How many cubes there are along a metre.
    # outputs: lowest (3,) [m] the corner from which they are counted
    """
    high, widest, sum_wide, finite_count = -math.inf, 0.0, 0.0, 0
    for axis in range(3):
        lowest[axis] = math.inf
    for box in range(len(boxes)):
        if _is_finite(boxes, box):
            wide = -math.inf
            for axis in range(3):
                wide = max(wide, boxes[box, axis + HIGH] - boxes[box, axis])
                lowest[axis] = min(lowest[axis], boxes[box, axis])
                high = max(high, boxes[box, axis + HIGH])
            widest = max(widest, wide)
            sum_wide += wide
            finite_count += 1
    room = high - min(lowest[0], min(lowest[1], lowest[2]))
    mean = CUBE_SIDE * sum_wide / max(finite_count, 1)
    return 1.0 / max(max(mean, widest / LARGEST_SPAN), max(room / MOST_CUBES, SMALLEST_CUBE))


@njit
def _cubes_kernel(boxes, cubes, lowest):
    """Number the cubes that each box touches; returns how many entries that makes.
    # outputs: cubes (b, 6) int32, first and last per axis; last before first where a box is not finite; lowest (3,)
    # scratch
    """
    scale = _cubes_per_metre(boxes, lowest)
    entry_count = 0
    for box in range(len(boxes)):
        if not _is_finite(boxes, box):
            cubes[box, 0], cubes[box, HIGH] = 0, -1
            continue
        entries = 1
        for axis in range(3):
            cubes[box, axis] = (boxes[box, axis] - lowest[axis]) * scale
            cubes[box, axis + HIGH] = (boxes[box, axis + HIGH] - lowest[axis]) * scale
            entries *= cubes[box, axis + HIGH] - cubes[box, axis] + 1
        entry_count += entries
    return entry_count


@inner
def _fill_buckets(cubes, buckets):
    """Enter boxes in the buckets of the cubes that they touch: filling moves each bucket's start to its end.
    # outputs: buckets, of which `end` is all zeros before
    """
    end, mask = buckets.end, len(buckets.end) - 2
    for is_filling in (False, True):  # count, then fill
        for box in range(len(cubes)):
            for i in range(cubes[box, 0], cubes[box, HIGH] + 1):
                for j in range(cubes[box, 1], cubes[box, 1 + HIGH] + 1):
                    for k in range(cubes[box, 2], cubes[box, 2 + HIGH] + 1):
                        bucket = bucket_of(i, j, k, mask)
                        if not is_filling:
                            end[bucket + 1] += 1
                        else:
                            slot = end[bucket]
                            buckets.box[slot] = box
                            buckets.cube[slot] = (
                                (np.int64(i) << 2 * CUBE_BITS) | (np.int64(j) << CUBE_BITS) | np.int64(k)
                            )
                            end[bucket] = slot + 1
        if not is_filling:
            for bucket in range(mask + 1):
                end[bucket + 1] += end[bucket]


@njit
def _pairs_kernel(boxes, cubes, group, meets, buckets, pairs):
    """Pairs of overlapping boxes; returns how many there are, also beyond the room in `pairs`.

    Reads 12 bytes an entry of a bucket, 48 more for those of one cube and 96 more if it is their lowest.
    # outputs: buckets, of which `end` is all zeros before; pairs (p, 2)
    """
    _fill_buckets(cubes, buckets)
    count, begin, mask = 0, 0, (1 << CUBE_BITS) - 1
    for bucket in range(len(buckets.end) - 1):
        end = buckets.end[bucket]
        for first in range(begin, end):
            a = buckets.box[first]
            cube = buckets.cube[first]
            i, j, k = cube >> 2 * CUBE_BITS, (cube >> CUBE_BITS) & mask, cube & mask
            at0, at1, at2 = cubes[a, 0] == i, cubes[a, 1] == j, cubes[a, 2] == k
            for second in range(first + 1, end):
                b = buckets.box[second]
                if buckets.cube[second] != cube or not meets[group[a], group[b]]:
                    continue
                here = (at0 | (cubes[b, 0] == i)) & (at1 | (cubes[b, 1] == j)) & (at2 | (cubes[b, 2] == k))
                here &= touch(boxes, a, a, boxes, b, b)
                if not here:
                    continue
                if count < len(pairs):
                    pairs[count, 0] = a
                    pairs[count, 1] = b
                count += 1
        begin = end
    return count


def hash_overlaps(boxes: np.ndarray, group: np.ndarray, meets: np.ndarray) -> np.ndarray:
    """All pairs of overlapping boxes.

    Parameters
    ----------
    boxes : (b, 6) lowest corner, then highest corner. A box that is not finite overlaps nothing.
    group : (b,) int32, the group of each box
    meets : (g, g) bool, which groups' boxes are to be paired with which

    Returns
    -------
    (p, 2) int32, each pair once, the lower number first, in order
    """
    cubes = np.zeros((len(boxes), 6), np.int32)
    entry_count = _cubes_kernel(boxes, cubes, np.empty(3))
    bucket_count = 1 << max(4, int(entry_count).bit_length())
    entries = np.empty(entry_count, np.int32), np.empty(entry_count, np.int64)
    count = 16 * len(boxes) + 64
    while True:
        pairs = np.empty((count, 2), np.int32)
        buckets = Buckets(np.zeros(bucket_count + 1, np.int32), *entries)
        count = _pairs_kernel(boxes, cubes, group, meets, buckets, pairs)
        if count <= len(pairs):
            return in_order(pairs[:count], len(boxes))
