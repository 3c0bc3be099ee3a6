# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth: which of the active pairs a sweep of the response has to look at, without a look at all of them.

A pair is close once its particles may bring it closer than its contact distance before one of them is out: before it has gone
farther than it was allowed to. Then pairs are listed anew, and only those of the particles that are out need to be looked at.
`Links` tell which these are.
"""

import math
from typing import NamedTuple

import numpy as np

from ...geometry.ccd import closest_pair, corners_of, weighted_sum
from ...kernel.jit import folded, inner
from ...kernel.listed import listing, make_ends
from .reach import Reach, farther, gone_by

DIRECTION_GAP = (
    1e-6  # part of the contact distance from which on a pair shows its direction, else the remembered counts
)
LISTED_SWEEPS = 4.0  # sweeps that a list of what is close is to last for, and
LISTED_PART = 0.01  # part of the margin that any particle may go by besides


class Links(NamedTuple):
    """Which active pairs a particle is in, as chains through these."""

    first: np.ndarray  # (n,) int32 link of each particle, or -1
    next: np.ndarray  # (4 k,) int32 the one after each link, four of which are an active pair's, or -1


class Scratch(NamedTuple):
    """What the response keeps from sweep to sweep."""

    close: np.ndarray  # (k,) int32 places in `Reach.active` of pairs that may touch soon
    ends: np.ndarray  # as of `listed.make_ends`
    is_close: np.ndarray  # (k,) bool the same
    spare: np.ndarray  # (n,) [m] what particles may go until others may touch
    allowed: np.ndarray  # (n,) [m] what they may have gone then, in all
    swept: np.ndarray  # (n,) [m] what they had gone before the last sweep
    is_out: np.ndarray  # (n,) bool those that have gone farther than was allowed
    links: Links  # once pairs have been listed twice
    progress: np.ndarray  # (7,) `SWEEP` to `IS_LINKED`


# What `Scratch.progress` tells: sweeps that are done, as many at most, how deep pairs were when last compared [contact
# distances], whether that was all, how many touched in the first, how many pairs are listed, whether there are links.
SWEEP, END, DEPTH, IS_OVER, FIRST_TOUCHED, LISTED, IS_LINKED = range(7)


def make_scratch(reach: Reach, sweeps: int) -> Scratch:
    """`Scratch` of a response of so many sweeps, at most: all particles are out."""
    count, size, progress = len(reach.active), len(reach.moved), np.zeros(IS_LINKED + 1)
    progress[END], links = sweeps, Links(np.empty(size, np.int32), np.empty(4 * count, np.int32))
    listed = np.empty(count, np.int32), make_ends(count), np.zeros(count, np.bool_)
    return Scratch(*listed, *np.empty((2, size)), reach.moved.copy(), np.ones(size, np.bool_), links, progress)


@inner
def list_close(board, pairs, reach, margin, x, scratch):
    """List those of the active pairs that are close with particles at x (n, 3) [m], in their order. margin : [m] as in `reach`
    # outputs: pairs.through, reach.bound; scratch
    """
    progress = scratch.progress
    _allow(reach.moved, LISTED_PART * margin, scratch)
    if progress[SWEEP] == 0.0:
        about = pairs, reach, x, scratch
        progress[LISTED] = _look_at_all(board, len(reach.active), scratch.close, scratch.ends, about)
        return
    if not progress[IS_LINKED]:
        _link(pairs, reach, scratch.links)
        progress[IS_LINKED] = True
    _look_around(pairs, reach, x, scratch)


@inner
def _allow(moved, least, scratch):
    """Let particles that are out go on by `LISTED_SWEEPS` times what they went in the last sweep, and by `least` [m] besides.
    # outputs: scratch.spare, scratch.allowed
    """
    for i in range(len(moved)):
        if scratch.is_out[i]:
            scratch.allowed[i] = moved[i] + least + LISTED_SWEEPS * (moved[i] - scratch.swept[i])
        scratch.spare[i] = scratch.allowed[i] - moved[i]


@listing
def _look_at_all(turn, pairs, reach, x, scratch):
    """`_comes_close`, where all particles are out. # outputs: as there; scratch.is_close"""
    is_close = _comes_close(turn, pairs, reach, x, scratch)
    scratch.is_close[turn] = is_close
    return is_close


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
    room = reach.bound[pair] - gone
    if room >= enough:
        return False
    pairs.through[pair] &= scratch.progress[SWEEP] > 0.0
    if room > DIRECTION_GAP * pairs.distance[pair]:
        wa, wb, wc, wd = closest_pair(is_edge_pair, x, a, b, c, d)
        nx, ny, nz = weighted_sum(x, a, b, c, d, wa, wb, wc, wd)
        room = max(room, math.sqrt(nx * nx + ny * ny + nz * nz))
        reach.bound[pair] = room + gone
    return not room >= enough


@inner
def _link(pairs, reach, links):
    """Chain the active pairs of each particle, the last first. 40 bytes a pair. # outputs: links"""
    for i in range(len(links.first)):
        links.first[i] = -1
    for turn in range(len(reach.active)):
        for corner in range(4):
            i = np.uintp(pairs.stencils[reach.active[turn], corner])
            links.next[4 * turn + corner], links.first[i] = links.first[i], 4 * turn + corner


@inner
def _look_around(pairs, reach, x, scratch):
    """List more of the pairs of each particle that is out. 8 bytes of each of them, and what `_comes_close` reads of those that are not
    listed; a byte of any pair where one is found.
    # outputs: as of `_comes_close`; scratch.close, scratch.is_close
    """
    is_close, links, found = scratch.is_close, scratch.links, False
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
        scratch.progress[LISTED] = count


@inner
def went_out(moved, scratch):
    """Whether a particle has gone farther than was allowed. # outputs: scratch.is_out"""
    any_out = False
    for i in range(len(moved)):
        scratch.is_out[i] = moved[i] > scratch.allowed[i]
        any_out |= scratch.is_out[i]
    return any_out
