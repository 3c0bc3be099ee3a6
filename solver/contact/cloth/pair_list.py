# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of pairs of cloth and cloth: put together from what ranges of pairs of triangles have found, and pairs that leave them."""

import math
from typing import NamedTuple

import numpy as np

from ...geometry.ccd import corners_of
from ...kernel.jit import inner
from ...kernel.shared import shared

SMALLEST_DROPPED_PART = 4096  # pairs that another thread is asked for
SMALLEST_GATHERED_PART = 1  # ranges that another thread is asked for


class PairList(NamedTuple):
    """Pairs of cloth that may meet, as the kernels read them."""

    stencils: np.ndarray  # (p, 4) int32: particle and triangle, or the ends of two edges
    is_edge_pair: np.ndarray  # (p,) bool
    distance: np.ndarray  # (p,) [m] contact distance
    friction: np.ndarray  # (p,) coefficient
    gap: np.ndarray  # (p,) [m] distance when detected
    closing: np.ndarray  # (p,) [m/s] speed at which the gap closes at most on the trajectories of then
    normal: np.ndarray  # (p, 3) unit vector from the triangle (second edge) to the particle (first edge); changes
    through: np.ndarray  # (p,) bool: one side was through the other when last looked at; changes
    pulled: np.ndarray  # (p,) bool: it would have had to pull in the last solve (`constraints`); changes


def empty_pairs(count: int) -> PairList:
    """Room for so many."""
    numbers = (np.empty(count) for _ in range(4))
    flags = (np.empty(count, np.bool_) for _ in range(2))
    return PairList(np.empty((count, 4), np.int32), np.empty(count, np.bool_), *numbers, np.empty((count, 3)), *flags)


@shared(SMALLEST_DROPPED_PART)
def drop_kernel(first, last, is_out, pairs):
    """Take their contact distance from those of the pairs first..last that have a particle that is out (n,), so that nobody looks
    at them any more. 20 bytes a pair. # outputs: pairs.gap, pairs.distance
    """
    for pair in range(first, last):
        a, b, c, d = corners_of(pairs.stencils, pair)
        if is_out[a] | is_out[b] | is_out[c] | is_out[d]:
            pairs.gap[pair], pairs.distance[pair] = math.inf, -math.inf


@shared(SMALLEST_GATHERED_PART)
def gather_kernel(first, last, found, counts, places, kept):
    """Put what was found of the ranges first..last where it belongs: what can move from places[:, 0] on, the rest, in order, from
    places[:, 1] on. 75 bytes a pair, twice. # outputs: kept
    """
    size = len(found.gap) // len(counts)
    for k in range(first, last):
        for place in range(counts[k, 0]):
            _put(found, size * k + place, kept, places[k, 0] + place)
        for place in range(counts[k, 1]):
            _put(found, size * k + size - 1 - place, kept, places[k, 1] + place)


@inner
def _put(found, place, kept, to):
    """Copy a pair. # outputs: kept"""
    for k in range(4):
        kept.stencils[to, k] = found.stencils[place, k]
    for axis in range(3):
        kept.normal[to, axis] = found.normal[place, axis]
    kept.is_edge_pair[to], kept.distance[to] = found.is_edge_pair[place], found.distance[place]
    kept.friction[to], kept.gap[to], kept.closing[to] = found.friction[place], found.gap[place], found.closing[place]
    kept.through[to], kept.pulled[to] = False, False


def gathered(rounds: list) -> tuple[PairList, int]:
    """All that was found in rounds, (first pair of triangles, room, counts) of each range, in the order of the pairs of triangles;
    how many of it can move.
    """
    counts = np.concatenate([count[:, :2] for _, _, count in rounds])
    order = np.argsort(np.concatenate([begin for begin, _, _ in rounds]))
    ends = np.cumsum(counts[order].T.ravel())  # those that can move first
    places = np.empty_like(counts)
    places[order] = (ends - counts[order].T.ravel()).reshape(2, -1).T
    kept, first = empty_pairs(int(ends[-1])), 0
    for _, found, count in rounds:
        gather_kernel(len(count), found, count, places[first : first + len(count)], kept)
        first += len(count)
    return kept, int(ends[len(order) - 1])


def joined(batches: list) -> PairList:
    """All batches, (pairs, how many of them can move) each; emptied, so that but one array at a time is in memory twice."""
    if len(batches) < 2:
        return batches[0][0] if batches else empty_pairs(0)
    lists, moving = zip(*batches, strict=True)
    columns = [list(column) for column in zip(*lists, strict=True)]
    del lists
    batches.clear()
    return PairList(*(_in_order(columns.pop(0), moving) for _ in PairList._fields))


def _in_order(arrays: list, moving: tuple) -> np.ndarray:
    """The first `moving` of each of the arrays, and then the rest of each."""
    halves = [np.split(array, [count]) for array, count in zip(arrays, moving, strict=True)]
    return np.concatenate([half[k] for k in (0, 1) for half in halves])
