# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth: which of the pairs may touch, by how far particles have gone since a pair was measured."""

import math
from typing import NamedTuple

import numpy as np

from ...geometry.ccd import corners_of
from ...kernel.jit import inner, njit
from ...kernel.listed import listing
from ...kernel.shared import shared

SMALLEST_MOVING_PART = 1024  # particles that another thread is asked for


class Reach(NamedTuple):
    """Which pairs may touch, as long as no particle is farther than half a margin from where it was."""

    x: np.ndarray  # (n, 3) [m] where particles were when this was found out
    last: np.ndarray  # (n, 3) [m] where they were when last looked at
    moved: np.ndarray  # (n,) [m] how far they have gone till then, back and forth
    active: np.ndarray  # (k,) int32 pairs that had less room than their contact distance and the margin
    bound: (
        np.ndarray
    )  # (p,) [m] the distance of these at least when last measured, plus what their particles had gone by then


@inner
def farther(deviation, is_edge_pair, a, b, c, d):
    """How much closer [m] a pair can be than if no particle of it had a deviation (n,) [m]."""
    if is_edge_pair:
        return max(deviation[a], deviation[b]) + max(deviation[c], deviation[d])
    return deviation[a] + max(deviation[b], max(deviation[c], deviation[d]))


@njit
def reachable_kernel(board, first, count, pairs, deviation, elapsed, margin, moved, active, bound, ends):
    """List those of `count` pairs from the first on that particles with a deviation (n,) [m] may bring closer than their contact
    distance and a margin [m]; returns how many. 30 bytes a pair and 32 of `deviation`.

    moved : (n,) as in `Reach`
    # outputs: active (count,) their numbers; bound as in `Reach`; ends scratch
    """
    found = _list_reachable(board, count, active, ends, (first, pairs, deviation, elapsed, margin, moved, bound))
    for turn in range(found if first > 0 else 0):
        active[turn] += first
    return found


@listing
def _list_reachable(item, first, pairs, deviation, elapsed, margin, moved, bound):
    pair = first + item
    a, b, c, d = corners_of(pairs.stencils, pair)
    aside = farther(deviation, pairs.is_edge_pair[pair], a, b, c, d)
    room = pairs.gap[pair] - elapsed * pairs.closing[pair] - aside
    bound[pair] = room + gone_by(moved, a, b, c, d)
    return not room >= pairs.distance[pair] + margin


@inner
def gone_by(moved, a, b, c, d):
    """What the particles of a pair have gone, all together."""
    return (moved[a] + moved[b]) + (moved[c] + moved[d])


def has_moved(reach, x, margin: float) -> bool:
    """Count how far particles have gone to x (n, 3) [m] since they were last looked at; returns whether one is farther than half
    a margin [m] from where it was when `reach` was found, or nowhere. # outputs: reach.moved
    """
    is_far = np.zeros(1, np.bool_)
    moved_kernel(len(x), x, reach, 0.25 * margin * margin, is_far)
    return bool(is_far[0])


@shared(SMALLEST_MOVING_PART)
def moved_kernel(first, last, x, reach, most, is_far):
    """`has_moved`; most : [m2] the square of how far they may be. 130 bytes a particle. # outputs: reach.moved, is_far (1,)"""
    found = False
    for i in range(np.uintp(first), np.uintp(last)):
        dx, dy, dz = x[i, 0] - reach.last[i, 0], x[i, 1] - reach.last[i, 1], x[i, 2] - reach.last[i, 2]
        reach.moved[i] += math.sqrt(dx * dx + dy * dy + dz * dz)
        dx, dy, dz = x[i, 0] - reach.x[i, 0], x[i, 1] - reach.x[i, 1], x[i, 2] - reach.x[i, 2]
        found |= not dx * dx + dy * dy + dz * dz <= most
    if found:
        is_far[0] = True
