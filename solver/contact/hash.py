# SPDX-License-Identifier: GPL-3.0-or-later
"""Spatial hash: which boxes overlap, in time proportional to their number (Teschner et al. 2003; Kelager 2006).

Space is cut into cubes somewhat larger than an average box. A box is entered in every cube that it touches; the cubes are
folded into a table of `size` buckets by

    (i p1 xor j p2 xor k p3) mod size,   p1 = 73856093, p2 = 19349663, p3 = 83492791

and two boxes are compared only within a cube, and only in the lowest cube that both touch, so that each pair comes
once. Each entry keeps its cube, so two cubes in one bucket do not meet. The order of the pairs depends on the boxes
alone.
"""

import math

import numpy as np

from ..jit import inner, njit

CELL = 1.5  # side of a cube over the mean side of a box
LARGEST_SPAN = 24  # cubes along the longest side of the largest box: a few large boxes must not fill the table
MOST_CELLS = 1 << 19  # cubes along an axis; their numbers take 20 bits


@inner
def bucket_of(i, j, k, mask):
    """The bucket of a cube, of mask + 1: a power of two."""
    return ((np.int64(i) * 73856093) ^ (np.int64(j) * 19349663) ^ (np.int64(k) * 83492791)) & mask


@inner
def enclose(ways, boxes, triangles, triangle):
    """Put a triangle's box round those of its corners."""
    a, b, c = triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2]
    for axis in range(3):
        boxes[triangle, axis] = min(ways[a, axis], min(ways[b, axis], ways[c, axis]))
        boxes[triangle, axis + 3] = max(ways[a, axis + 3], max(ways[b, axis + 3], ways[c, axis + 3]))


@inner
def touch(boxes, a, b, others, c, d):
    """Whether the box round boxes a and b and that round the others' c and d touch.

    No branches: the outcome of each comparison is a coin toss to the processor.
    """
    here = True
    for axis in range(3):
        here &= min(boxes[a, axis], boxes[b, axis]) <= max(others[c, axis + 3], others[d, axis + 3])
        here &= min(others[c, axis], others[d, axis]) <= max(boxes[a, axis + 3], boxes[b, axis + 3])
    return here


@inner
def span(boxes, ends, a, b, row, spans):
    """Keep the boxes round a and b at the start and at the end in a row of `spans` (k, 12)."""
    a, b = np.uintp(a), np.uintp(b)
    for axis in range(3):
        spans[row, axis], spans[row, axis + 3] = min(boxes[a, axis], boxes[b, axis]), min(ends[a, axis], ends[b, axis])
        spans[row, axis + 6] = max(boxes[a, axis + 3], boxes[b, axis + 3])
        spans[row, axis + 9] = max(ends[a, axis + 3], ends[b, axis + 3])


@inner
def touch_on_way(spans, i, others, k):
    """Whether what goes evenly from one box to another may touch: what is apart along one axis at the start and at the
    end, on the same side, is so all the time. What is not a number touches nothing.

    No branches: the outcome of each comparison is a coin toss to the processor.
    """
    i, k, here = np.uintp(i), np.uintp(k), True
    for axis in range(3):
        here &= (spans[i, axis] <= others[k, axis + 6]) | (spans[i, axis + 3] <= others[k, axis + 9])
        here &= (others[k, axis] <= spans[i, axis + 6]) | (others[k, axis + 3] <= spans[i, axis + 9])
    return here


@njit
def _cells_kernel(boxes, cells):
    """Number the cubes that each box touches; returns how many entries that makes.
    # outputs: cells (b, 6) int32, first and last per axis; last before first where a box is not finite
    """
    low0, low1, low2 = math.inf, math.inf, math.inf
    high, widest, sum_wide, finite_count = -math.inf, 0.0, 0.0, 0
    for box in range(len(boxes)):
        a0, a1, a2 = boxes[box, 0], boxes[box, 1], boxes[box, 2]
        b0, b1, b2 = boxes[box, 3], boxes[box, 4], boxes[box, 5]
        if math.isfinite(a0 + a1 + a2 + b0 + b1 + b2):
            wide = max(b0 - a0, max(b1 - a1, b2 - a2))
            widest = max(widest, wide)
            sum_wide += wide
            finite_count += 1
            low0, low1, low2 = min(low0, a0), min(low1, a1), min(low2, a2)
            high = max(max(high, b0), max(b1, b2))
    room = high - min(low0, low1, low2)
    scale = 1.0 / max(CELL * sum_wide / max(finite_count, 1), widest / LARGEST_SPAN, room / MOST_CELLS, 1e-30)
    entry_count = 0
    for box in range(len(boxes)):
        total = 0.0
        for axis in range(6):
            total += boxes[box, axis]
        if not math.isfinite(total):
            cells[box, 0], cells[box, 3] = 0, -1
            continue
        cells[box, 0], cells[box, 3] = (boxes[box, 0] - low0) * scale, (boxes[box, 3] - low0) * scale
        cells[box, 1], cells[box, 4] = (boxes[box, 1] - low1) * scale, (boxes[box, 4] - low1) * scale
        cells[box, 2], cells[box, 5] = (boxes[box, 2] - low2) * scale, (boxes[box, 5] - low2) * scale
        sides = cells[box, 3] - cells[box, 0] + 1, cells[box, 4] - cells[box, 1] + 1, cells[box, 5] - cells[box, 2] + 1
        entry_count += sides[0] * sides[1] * sides[2]
    return entry_count


@njit
def _overlaps_kernel(boxes, cells, group, meets, bucket_start, entry_box, entry_cell, pairs):
    """Pairs of overlapping boxes; returns how many there are, also beyond the room in `pairs`.

    Reads 12 bytes an entry of a bucket, 48 more for those of one cube and 96 more if it is their lowest.
    # outputs: bucket_start (zeros), entry_box, entry_cell (scratch), pairs
    """
    mask = len(bucket_start) - 2
    for sweep in range(2):  # count, then fill
        for box in range(len(cells)):
            for i in range(cells[box, 0], cells[box, 3] + 1):
                for j in range(cells[box, 1], cells[box, 4] + 1):
                    for k in range(cells[box, 2], cells[box, 5] + 1):
                        bucket = bucket_of(i, j, k, mask)
                        if sweep == 0:
                            bucket_start[bucket + 1] += 1
                        else:
                            slot = bucket_start[bucket]
                            entry_box[slot] = box
                            entry_cell[slot] = (np.int64(i) << 40) | (np.int64(j) << 20) | np.int64(k)
                            bucket_start[bucket] = slot + 1
        if sweep == 0:
            for bucket in range(mask + 1):
                bucket_start[bucket + 1] += bucket_start[bucket]
    # Filling moved each start to its end, which is the start of the next bucket.
    count = 0
    begin = 0
    for bucket in range(mask + 1):
        end = bucket_start[bucket]
        for first in range(begin, end):
            a = entry_box[first]
            cell = entry_cell[first]
            i, j, k = cell >> 40, (cell >> 20) & 0xFFFFF, cell & 0xFFFFF
            at0, at1, at2 = cells[a, 0] == i, cells[a, 1] == j, cells[a, 2] == k
            for second in range(first + 1, end):
                b = entry_box[second]
                if entry_cell[second] != cell or not meets[group[a], group[b]]:
                    continue
                here = (at0 | (cells[b, 0] == i)) & (at1 | (cells[b, 1] == j)) & (at2 | (cells[b, 2] == k))
                here &= touch(boxes, a, a, boxes, b, b)
                if not here:
                    continue
                if count < len(pairs):
                    pairs[count, 0] = a
                    pairs[count, 1] = b
                count += 1
        begin = end
    return count


@njit
def _sort_kernel(pairs, by_higher, start, out):
    """Sort pairs by the higher or the lower of their boxes; those that have it in common stay as they were.
    # outputs: start (b + 1,) zeros, out (p, 2), the lower box first
    """
    for pair in range(len(pairs)):
        a, b = pairs[pair, 0], pairs[pair, 1]
        start[(max(a, b) if by_higher else min(a, b)) + 1] += 1
    for box in range(len(start) - 1):
        start[box + 1] += start[box]
    for pair in range(len(pairs)):
        a, b = pairs[pair, 0], pairs[pair, 1]
        box = max(a, b) if by_higher else min(a, b)
        out[start[box], 0], out[start[box], 1] = min(a, b), max(a, b)
        start[box] += 1


def in_order(pairs: np.ndarray, box_count: int) -> np.ndarray:
    """Pairs (p, 2) of boxes, the lower one first, sorted by that and then by the other."""
    for by_higher in (True, False):
        pairs, given = np.empty_like(pairs), pairs
        _sort_kernel(given, by_higher, np.zeros(box_count + 1, np.int32), pairs)
    return pairs


def overlaps(boxes: np.ndarray, group: np.ndarray, meets: np.ndarray) -> np.ndarray:
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
    cells = np.zeros((len(boxes), 6), np.int32)
    entry_count = _cells_kernel(boxes, cells)
    bucket_count = 1 << max(4, int(entry_count).bit_length())
    entry_box, entry_cell = np.empty(entry_count, np.int32), np.empty(entry_count, np.int64)
    count = 16 * len(boxes) + 64
    while True:
        pairs = np.empty((count, 2), np.int32)
        bucket_start = np.zeros(bucket_count + 1, np.int32)
        count = _overlaps_kernel(boxes, cells, group, meets, bucket_start, entry_box, entry_cell, pairs)
        if count <= len(pairs):
            return in_order(pairs[:count], len(boxes))
