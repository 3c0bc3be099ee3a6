# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of cloth on cloth in a solve (`contact.cloth.constraints.Stack`), shared by all threads.

A row has up to four particles, which several rows have: two threads may not add to one of them at a time, and the order in which they
add decides bits. So each part presses its own rows (h . p of what they resist), and after a barrier each adds up, for particles of its
own, the rows that end there: these are chained by particle, in the rows' order, once a solve.

In what follows `s` is `system.Scratch`, whose `rows` are a solve's own.
"""

from typing import NamedTuple

import numpy as np

from ..kernel.jit import fused_inner
from ..kernel.mat3 import add_product
from ..kernel.vec4 import broadcast, load, store, sum_xyz, vec4

ENDS = 4  # of a row


class Rows(NamedTuple):
    """Memory for the rows of a solve; an end is its row's number times `ENDS` and its place there."""

    slots: np.ndarray  # (k, 4) of its particles
    first: np.ndarray  # (n,) of each slot: the first of its ends, or -1
    after: np.ndarray  # (4 k,) the next end of the same slot, or -1
    resisted: np.ndarray  # (k,) [sqrt(N m)] h . d and what is short of the contact distance, at the first guess
    pressed: np.ndarray  # (k,) [sqrt(N m)] h . p along a direction


def make_rows(rows, count):
    """`Rows` of so many rows and particles."""
    return Rows(
        np.empty((rows, ENDS), np.int32),
        np.full(count if rows else 0, -1, np.int32),
        np.empty(ENDS * rows, np.int32),
        *np.empty((2, rows)),
    )


NO_ROWS = make_rows(0, 0)


@fused_inner
def chain(slot, stack, s):
    """Chain the ends of each particle. 20 bytes an end. # outputs: s.rows slots, first, after"""
    rows = s.rows
    for k in range(stack.stencils.shape[0] - 1, -1, -1):
        for place in range(ENDS - 1, -1, -1):
            i = np.uintp(slot[stack.stencils[k, place]])
            end = k * ENDS + place
            rows.slots[k, place], rows.after[end], rows.first[i] = i, rows.first[i], end


@fused_inner
def _along(k, vectors, stack, rows):
    """h . of row k and vectors (n, 4)."""
    total = vec4(0.0, 0.0, 0.0, 0.0)
    for place in range(ENDS):
        total = total + broadcast(stack.weight[k, place]) * load(vectors, np.uintp(rows.slots[k, place]))
    return sum_xyz(load(stack.row, k) * total)


@fused_inner
def resist(first, last, stack, s):
    """What rows first to last resist at the first guess. 40 flops and 300 bytes a row. # outputs: s.rows resisted, pressed"""
    rows = s.rows
    for k in range(np.uintp(first), np.uintp(last)):
        rows.resisted[k] = stack.room[k] + _along(k, s.displacement, stack, rows)
        rows.pressed[k] = _along(k, s.p, stack, rows)


@fused_inner
def press(first, last, stack, s):
    """What rows first to last resist along the direction s.p. 20 flops and 200 bytes a row. # outputs: s.rows.pressed"""
    rows = s.rows
    for k in range(np.uintp(first), np.uintp(last)):
        rows.pressed[k] = _along(k, s.p, stack, rows)


@fused_inner
def lay(first, last, stack, s):
    """What rows add to forces, to the image of the first direction and to the blocks of slots first to last.
    # added to: s.r, s.q, s.block
    """
    rows = s.rows
    for i in range(np.uintp(first), np.uintp(last)):
        end = rows.first[i]
        while end >= 0:
            k = np.uintp(end // ENDS)
            h, w = load(stack.row, k), stack.weight[k, np.uintp(end % ENDS)]
            store(s.r, i, load(s.r, i) - broadcast(w * rows.resisted[k]) * h)
            store(s.q, i, load(s.q, i) + broadcast(w * rows.pressed[k]) * h)
            add_product(s.block, i, 0.0, broadcast(0.5 * w * w) * h, h)
            end = rows.after[end]


@fused_inner
def push_back(first, last, stack, s):
    """Add the image H p of what rows were pressed by to slots first to last; returns their part of p . H p.
    20 flops and 60 bytes an end. # added to: s.q
    """
    product, rows = vec4(0.0, 0.0, 0.0, 0.0), s.rows
    for i in range(np.uintp(first), np.uintp(last)):
        end = rows.first[i]
        if end < 0:
            continue
        image = vec4(0.0, 0.0, 0.0, 0.0)
        while end >= 0:
            k = np.uintp(end // ENDS)
            image = image + broadcast(stack.weight[k, np.uintp(end % ENDS)] * rows.pressed[k]) * load(stack.row, k)
            end = rows.after[end]
        store(s.q, i, load(s.q, i) + image)
        product = product + load(s.p, i) * image
    return sum_xyz(product)
