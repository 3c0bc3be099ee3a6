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
from ...kernel.jit import folded, inner
from ...kernel.listed import listing, make_ends
from .reach import Reach, farther, gone_by

DIRECTION_GAP = (
    1e-6  # part of the contact distance from which on a pair shows its direction, else the remembered counts
)
FEW_OUT = 0.01  # of all particles: where no more are out, their pairs alone are looked at,
LOOKS_IF_FEW = 4  # at all that are active, before: to chain a particle's pairs takes as long as one
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
    links: Links  # once `LOOKS` have been enough
    progress: np.ndarray  # (7,) `SWEEP` to `LOOKS`


# What `Scratch.progress` tells: sweeps that are done, as many at most, how deep pairs were when last compared [contact
# distances], whether that was all, how many touched in the first, how many pairs are listed, how often few particles were out.
SWEEP, END, DEPTH, IS_OVER, FIRST_TOUCHED, LISTED, LOOKS = range(7)


def make_scratch(reach: Reach, sweeps: int) -> Scratch:
    """`Scratch` of a response of so many sweeps, at most: all particles are out."""
    count, size, progress = len(reach.active), len(reach.moved), np.zeros(LOOKS + 1)
    progress[END], links = sweeps, Links(np.empty(size, np.int32), np.empty(4 * count, np.int32))
    listed = np.empty(count, np.int32), make_ends(count), np.zeros(count, np.bool_)
    return Scratch(*listed, *np.empty((2, size)), reach.moved.copy(), np.ones(size, np.bool_), links, progress)


@inner
def list_close(board, pairs, reach, margin, x, scratch):
    """List those of the active pairs that are close with particles at x (n, 3) [m], in their order. margin : [m] as in `reach`
    # outputs: pairs.through, reach.bound; scratch
    """
    size, progress = len(reach.moved), scratch.progress
    is_few = _allow(reach.moved, LISTED_PART * margin, scratch) <= FEW_OUT * size
    progress[LOOKS] += is_few
    if not is_few or progress[LOOKS] <= LOOKS_IF_FEW:
        about = pairs, reach, x, scratch
        progress[LISTED] = _look_at_all(board, len(reach.active), scratch.close, scratch.ends, about)
        return
    if progress[LOOKS] == LOOKS_IF_FEW + 1:
        _link(pairs, reach, scratch.links)
    _look_around(pairs, reach, x, scratch)


@inner
def _allow(moved, least, scratch):
    """Let particles that are out go on by `LISTED_SWEEPS` times what they went in the last sweep, and by `least` [m] besides;
    returns how many are out.
    # outputs: scratch.spare, scratch.allowed
    """
    out = 0
    for i in range(len(moved)):
        if scratch.is_out[i]:
            out += 1
            scratch.allowed[i] = moved[i] + least + LISTED_SWEEPS * (moved[i] - scratch.swept[i])
        scratch.spare[i] = scratch.allowed[i] - moved[i]
    return out


@listing
def _look_at_all(turn, pairs, reach, x, scratch):
    """Whether an active pair was close, or a particle that is out may bring it closer than its contact distance before it has
    gone what it has to spare. Reads 17 bytes; what `_comes_close` does where a particle is out.
    # outputs: as of `_comes_close`; scratch.is_close
    """
    if scratch.is_close[turn]:
        return True
    a, b, c, d = corners_of(pairs.stencils, reach.active[turn])
    if not (scratch.is_out[a] or scratch.is_out[b] or scratch.is_out[c] or scratch.is_out[d]):
        return False
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
    """What `_look_at_all` does, where some are listed: it goes by the pairs of each particle that is out, and reads 9 bytes of any
    other pair where that finds one.
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
