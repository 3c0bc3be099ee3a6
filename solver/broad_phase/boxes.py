# SPDX-License-Identifier: GPL-3.0-or-later
"""Axis-aligned boxes, as the broad phase compares them: which touch, and which may touch on their way from one place to
another.

A box is a row of six numbers, the lowest corner and then, from column `HIGH` on, the highest.
"""

from typing import NamedTuple

import numpy as np

from ..kernel.jit import inner, njit
from ..kernel.shared import shared

HIGH = 3  # column of a box (6,) where its highest corner begins
#: columns of a swept box where its lowest corner begins at the start and at the end, its highest at the start and at the end
LOW_START, LOW_END, HIGH_START, HIGH_END = 0, 3, 6, 9
SWEPT_BOX = 12  # columns
SMALLEST_BOXES_PART = 1024  # boxes that another thread is asked for


class SweptBoxes(NamedTuple):
    """Boxes that go evenly from one place to another."""

    start: np.ndarray  # (k, 6) [m] lowest corner first
    end: np.ndarray  # (k, 6) [m]


def boxes_round(corners: np.ndarray) -> np.ndarray:
    """(k, 6) [m] round triangles of these corners (k, 3, 3) [m]."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]  # a third of the time that an axis of three takes
    return np.concatenate([np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)], axis=1)


def beside(boxes: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(k,) bool: which boxes (k, 6) [m] reach into the one from `low` to `high` (3,) [m]."""
    return ((boxes[:, :HIGH] <= high) & (boxes[:, HIGH:] >= low)).all(axis=1)


def empty_boxes(count: int, kind: type = np.float64) -> SweptBoxes:
    """Room for so many."""
    return SweptBoxes(*np.empty((2, count, 6), kind))


def still_boxes(boxes: np.ndarray) -> SweptBoxes:
    """Boxes (k, 6) [m] that hold for all the time."""
    return SweptBoxes(boxes, boxes)


def swept(boxes: SweptBoxes) -> np.ndarray:
    """Boxes (k, 6) [m] of where these get all the time."""
    all_the_time = np.empty_like(boxes.start)
    swept_kernel(len(all_the_time), boxes.start, boxes.end, all_the_time)
    return all_the_time


@shared(SMALLEST_BOXES_PART)
def swept_kernel(first, last, start, end, boxes):
    """`swept` of the boxes first..last. 150 bytes each. # outputs: boxes (k, 6)"""
    for box in range(np.uintp(first), np.uintp(last)):
        for low in range(3):
            high = low + HIGH
            lowest, highest = start[box, low], start[box, high]
            if not lowest < end[box, low] and lowest == lowest:  # what is not a number stays so
                lowest = end[box, low]
            if not highest > end[box, high] and highest == highest:
                highest = end[box, high]
            boxes[box, low], boxes[box, high] = lowest, highest


@inner
def enclose(boxes, triangle_boxes, triangles, triangle):
    """Put a triangle's box round those of its corners.
    # outputs: triangle_boxes (t, 6)
    """
    a, b, c = triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2]
    for low in range(3):
        high = low + HIGH
        triangle_boxes[triangle, low] = min(boxes[a, low], min(boxes[b, low], boxes[c, low]))
        triangle_boxes[triangle, high] = max(boxes[a, high], max(boxes[b, high], boxes[c, high]))


@inner
def touch(boxes, a, b, others, c, d):
    """Whether the box round boxes a and b and that round the others' c and d touch.

    No branches: the outcome of each comparison is a coin toss to the processor.
    """
    here = True
    for low in range(3):
        high = low + HIGH
        here &= min(boxes[a, low], boxes[b, low]) <= max(others[c, high], others[d, high])
        here &= min(others[c, low], others[d, low]) <= max(boxes[a, high], boxes[b, high])
    return here


@inner
def span(boxes, a, b, row, spans):
    """Keep the box round swept boxes a and b in a row of `spans` (k, SWEPT_BOX)."""
    a, b = np.uintp(a), np.uintp(b)
    start, end = boxes.start, boxes.end
    for axis in range(3):
        spans[row, axis + LOW_START] = min(start[a, axis], start[b, axis])
        spans[row, axis + LOW_END] = min(end[a, axis], end[b, axis])
        spans[row, axis + HIGH_START] = max(start[a, axis + HIGH], start[b, axis + HIGH])
        spans[row, axis + HIGH_END] = max(end[a, axis + HIGH], end[b, axis + HIGH])


@inner
def may_touch(spans, i, others, k):
    """Whether what goes evenly from one box to another may touch: what is apart along one axis at the start and at the
    end, on the same side, is so all the time. What is not a number touches nothing.

    No branches: the outcome of each comparison is a coin toss to the processor.
    """
    i, k, here = np.uintp(i), np.uintp(k), True
    for axis in range(3):
        before, after = others[k, axis + HIGH_START], others[k, axis + HIGH_END]
        here &= (spans[i, axis + LOW_START] <= before) | (spans[i, axis + LOW_END] <= after)
        before, after = spans[i, axis + HIGH_START], spans[i, axis + HIGH_END]
        here &= (others[k, axis + LOW_START] <= before) | (others[k, axis + LOW_END] <= after)
    return here


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
