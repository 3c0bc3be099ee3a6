# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth: which of the active pairs a sweep of the response has to look at, without a look at all of them.

A pair is close once its particles may bring it closer than its contact distance before one of them is out: before it has gone
farther than it was allowed to. Then pairs are listed anew, and only those of the particles that are out need to be looked at.
Where few are, `Links` tell which these are.
"""

import math
from typing import NamedTuple

import numpy as np

from ...geometry.ccd import closest_pair, corners_of, weighted_sum
from ...kernel.jit import folded, inner, njit
from ...kernel.threads import cut, on_threads
from .proximity import PairList
from .reach import Reach, farther, gone_by

DIRECTION_GAP = (
    1e-6  # part of the contact distance from which on a pair shows its direction, else the remembered counts
)
SMALLEST_LOOK_PART = 4096  # pairs: fewer are looked at before another thread wakes up
FEW_OUT = 0.01  # of all particles: where no more are out, their pairs alone are looked at,
LOOKS_IF_FEW = 4  # at all that are active, before: to chain a particle's pairs takes as long as one
LISTED_SWEEPS = 4.0  # sweeps that a list of what is close is to last for, and
LISTED_PART = 0.01  # part of the margin that any particle may go by besides


class Links(NamedTuple):
    """Which active pairs a particle is in, as chains through these."""

    first: np.ndarray  # (n,) int32 link of each particle, or -1; none: `NO_LINKS`
    next: np.ndarray  # (4 k,) int32 the one after each link, four of which are an active pair's, or -1


NO_LINKS = Links(*np.zeros((2, 0), np.int32))


class Scratch(NamedTuple):
    """What the response keeps from sweep to sweep."""

    close: np.ndarray  # (k,) int32 places in `Reach.active` of pairs that may touch soon
    is_close: np.ndarray  # (k,) bool the same
    spare: np.ndarray  # (n,) [m] what particles may go until others may touch
    allowed: np.ndarray  # (n,) [m] what they may have gone then, in all
    swept: np.ndarray  # (n,) [m] what they had gone before the last sweep
    is_out: np.ndarray  # (n,) bool those that have gone farther than was allowed
    progress: np.ndarray  # (5,) `SWEEP` to `FIRST_TOUCHED`


# What `Scratch.progress` tells: sweeps that are done, as many at most, how deep pairs were when last compared [contact
# distances], whether that was all, and how many touched in the first.
SWEEP, END, DEPTH, IS_OVER, FIRST_TOUCHED = range(5)


class Listed(NamedTuple):
    """Which pairs are close."""

    count: int  # of `Scratch.close`
    links: Links
    few: int  # times that few particles were out


NONE_LISTED = Listed(0, NO_LINKS, 0)


def make_scratch(reach: Reach, sweeps: int) -> Scratch:
    """`Scratch` of a response of so many sweeps, at most: all particles are out."""
    count, size, progress = len(reach.active), len(reach.moved), np.array([0.0, sweeps, 0.0, 0.0, 0.0])
    listed = np.empty(count, np.int32), np.zeros(count, np.bool_)
    return Scratch(*listed, *np.empty((2, size)), reach.moved.copy(), np.ones(size, np.bool_), progress)


def list_close(before: Listed, pairs: PairList, reach: Reach, margin: float, x: np.ndarray, scratch: Scratch) -> Listed:
    """List those of the active pairs that are close with particles at x (n, 3) [m], in their order. margin : [m] as in `reach`
    # outputs: pairs.through, reach.bound; scratch
    """
    size, (count, links, few) = len(x), before
    allow_kernel(reach.moved, LISTED_PART * margin, scratch)
    is_few = np.count_nonzero(scratch.is_out) <= FEW_OUT * size
    few += is_few
    if not is_few or few <= LOOKS_IF_FEW:
        return Listed(_look_at_all(pairs, reach, x, scratch), links, few)
    if links is NO_LINKS:
        links = Links(np.empty(size, np.int32), np.empty(4 * len(reach.active), np.int32))
        link_kernel(pairs, reach, links)
    return Listed(look_around_kernel(count, links, pairs, reach, x, scratch), links, few)


def _look_at_all(pairs: PairList, reach: Reach, x: np.ndarray, scratch: Scratch) -> int:
    """`list_close` by a look at all active pairs; returns how many are close."""
    ranges = cut(len(reach.active), SMALLEST_LOOK_PART)
    ends = on_threads(lambda _, first, last: look_kernel(first, last, pairs, reach, x, scratch), ranges)
    close, count = scratch.close, ends[0]
    for (first, _), end in zip(ranges[1:], ends[1:], strict=True):
        close[count : count + end - first] = close[first:end]
        count += end - first
    return count


@njit
def allow_kernel(moved, least, scratch):
    """Let particles that are out go on by `LISTED_SWEEPS` times what they went in the last sweep, and by `least` [m] besides.
    # outputs: scratch.spare, scratch.allowed
    """
    for i in range(len(moved)):
        if scratch.is_out[i]:
            scratch.allowed[i] = moved[i] + least + LISTED_SWEEPS * (moved[i] - scratch.swept[i])
        scratch.spare[i] = scratch.allowed[i] - moved[i]


@njit
def look_kernel(first, last, pairs, reach, x, scratch):
    """List in `scratch.close`, from place `first` on, those of the active pairs first..last that were close, or that a particle
    that is out may bring closer than their contact distance before it has gone what it has to spare; returns the place
    behind the last of them.

    Reads 17 bytes of a pair; what `_comes_close` does where a particle is out.
    # outputs: as of `_comes_close`; scratch.close
    """
    is_out, is_close, place = scratch.is_out, scratch.is_close, first
    for turn in range(first, last):
        if not is_close[turn]:
            a, b, c, d = corners_of(pairs.stencils, reach.active[turn])
            if not (is_out[a] or is_out[b] or is_out[c] or is_out[d]):
                continue
            is_close[turn] = _comes_close(turn, pairs, reach, x, scratch)
        scratch.close[place] = turn
        place += is_close[turn]
    return place


@folded
def _comes_close(turn, pairs, reach, x, scratch):
    """Whether an active pair may come closer than its contact distance before its particles have gone what they have to spare.

    Reads 70 bytes; 96 of positions, 100 flops, where what its particles have gone since it was last measured does not tell.
    # outputs: pairs.through, before the first sweep; reach.bound
    """
    pair = reach.active[turn]
    a, b, c, d = corners_of(pairs.stencils, pair)
    gone, is_edge_pair = gone_by(reach.moved, a, b, c, d), pairs.is_edge_pair[pair]
    enough = pairs.distance[pair] + farther(scratch.spare, is_edge_pair, a, b, c, d)
    room = reach.bound[turn] - gone
    if room >= enough:
        return False
    pairs.through[pair] &= scratch.progress[SWEEP] > 0.0
    if room > DIRECTION_GAP * pairs.distance[pair]:
        wa, wb, wc, wd = closest_pair(is_edge_pair, x, a, b, c, d)
        nx, ny, nz = weighted_sum(x, a, b, c, d, wa, wb, wc, wd)
        room = max(room, math.sqrt(nx * nx + ny * ny + nz * nz))
        reach.bound[turn] = room + gone
    return not room >= enough


@njit
def link_kernel(pairs, reach, links):
    """Chain the active pairs of each particle, the last first. 40 bytes a pair. # outputs: links"""
    for i in range(len(links.first)):
        links.first[i] = -1
    for turn in range(len(reach.active)):
        for corner in range(4):
            i = np.uintp(pairs.stencils[reach.active[turn], corner])
            links.next[4 * turn + corner], links.first[i] = links.first[i], 4 * turn + corner


@njit
def look_around_kernel(count, links, pairs, reach, x, scratch):
    """What `look_kernel` does, with all active pairs, `count` of which are listed: it goes by the pairs of each particle
    that is out, and reads 9 bytes of any other pair where that finds one.
    # outputs: as of `_comes_close`; scratch.close, scratch.is_close
    """
    is_close, found = scratch.is_close, False
    for i in range(len(links.first)):
        link = links.first[i] if scratch.is_out[i] else -1
        while link >= 0:
            turn = link >> 2
            if not is_close[turn] and _comes_close(turn, pairs, reach, x, scratch):
                is_close[turn] = found = True
            link = links.next[link]
    if found:
        count = 0
        for turn in range(len(is_close)):
            scratch.close[count] = turn
            count += is_close[turn]
    return count


@inner
def went_out(moved, scratch):
    """Whether a particle has gone farther than was allowed. # outputs: scratch.is_out"""
    any_out = False
    for i in range(len(moved)):
        scratch.is_out[i] = moved[i] > scratch.allowed[i]
        any_out |= scratch.is_out[i]
    return any_out
