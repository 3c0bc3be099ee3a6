# SPDX-License-Identifier: GPL-3.0-or-later
"""Spatial hash: which boxes overlap, in time proportional to their number (Teschner et al. 2003; Kelager 2006).

Space is cut into cubes a little larger than a box. A box is entered in every cube that it touches; the cubes are
folded into a table of `size` buckets by

    (i p1 xor j p2 xor k p3) mod size,   p1 = 73856093, p2 = 19349663, p3 = 83492791

and two boxes are compared only within a cube, and only in the lowest cube that both touch, so that each pair comes
once. Each entry keeps its cube, so two cubes in one bucket do not meet. The order of the pairs depends on the boxes
alone.
"""

import numpy as np

from ..jit import njit

LARGEST_SPAN = 24  # cubes along the longest side of the largest box: a few large boxes must not fill the table
CELL_BITS = 20  # cubes are numbered with this many bits per axis


@njit
def _overlaps_kernel(boxes, cells, group, meets_itself, bucket_start, entry_box, entry_cell, pairs):
    """Pairs of overlapping boxes; returns how many there are, also beyond the room in `pairs`.

    Reads 24 bytes of `cells` a comparison in a cube and 96 of `boxes` for those that meet there.
    # outputs: bucket_start, entry_box, entry_cell (scratch), pairs
    """
    mask = len(bucket_start) - 2
    for sweep in range(2):  # count, then fill
        for box in range(len(cells)):
            for i in range(cells[box, 0], cells[box, 3] + 1):
                for j in range(cells[box, 1], cells[box, 4] + 1):
                    for k in range(cells[box, 2], cells[box, 5] + 1):
                        bucket = ((i * 73856093) ^ (j * 19349663) ^ (k * 83492791)) & mask
                        if sweep == 0:
                            bucket_start[bucket + 1] += 1
                        else:
                            slot = bucket_start[bucket]
                            entry_box[slot] = box
                            entry_cell[slot] = (i << 40) | (j << 20) | k
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
            for second in range(first + 1, end):
                if entry_cell[second] != cell:
                    continue
                b = entry_box[second]
                i = max(cells[a, 0], cells[b, 0])
                j = max(cells[a, 1], cells[b, 1])
                k = max(cells[a, 2], cells[b, 2])
                if (np.int64(i) << 40) | (np.int64(j) << 20) | np.int64(k) != cell:
                    continue
                if boxes[a, 0] > boxes[b, 3] or boxes[b, 0] > boxes[a, 3]:
                    continue
                if boxes[a, 1] > boxes[b, 4] or boxes[b, 1] > boxes[a, 4]:
                    continue
                if boxes[a, 2] > boxes[b, 5] or boxes[b, 2] > boxes[a, 5]:
                    continue
                if group[a] == group[b] and not meets_itself[group[a]]:
                    continue
                if count < len(pairs):
                    pairs[count, 0] = a
                    pairs[count, 1] = b
                count += 1
        begin = end
    return count


def overlaps(boxes: np.ndarray, group: np.ndarray, meets_itself: np.ndarray) -> np.ndarray:
    """All pairs of overlapping boxes.

    Parameters
    ----------
    boxes : (b, 6) lowest corner, then highest corner. A box that is not finite overlaps nothing.
    group : (b,) int32, the group of each box
    meets_itself : (g,) bool, whether boxes of the same group are to be paired

    Returns
    -------
    (p, 2) int32, each pair once, in an order that the boxes alone decide
    """
    finite = np.isfinite(boxes).all(axis=1)
    if not finite.any():
        return np.empty((0, 2), np.int32)
    cells = _cells(boxes, finite)
    entry_count = int(np.prod(cells[:, 3:] - cells[:, :3] + 1, axis=1, dtype=np.int64).sum())
    bucket_count = 1 << max(4, int(entry_count).bit_length())
    entry_box, entry_cell = np.empty(entry_count, np.int32), np.empty(entry_count, np.int64)
    pairs = np.empty((16 * len(boxes) + 64, 2), np.int32)
    while True:
        bucket_start = np.zeros(bucket_count + 1, np.int32)
        count = _overlaps_kernel(boxes, cells, group, meets_itself, bucket_start, entry_box, entry_cell, pairs)
        if count <= len(pairs):
            return pairs[:count]
        pairs = np.empty((count, 2), np.int32)


def _cells(boxes: np.ndarray, finite: np.ndarray) -> np.ndarray:
    """Cubes (b, 6) int64 that each box touches, first and last per axis; last before first where not finite."""
    low, high = boxes[finite, :3].min(axis=0), boxes[finite, 3:].max(axis=0)
    extent = (boxes[finite, 3:] - boxes[finite, :3]).max(axis=1)
    cell = max(extent.mean(), extent.max() / LARGEST_SPAN, (high - low).max() / (1 << (CELL_BITS - 1)), 1e-30)
    cells = np.zeros((len(boxes), 6), np.int64)
    cells[:, 3:] = -1
    cells[finite] = (boxes[finite] - np.tile(low, 2)) / cell
    return cells
