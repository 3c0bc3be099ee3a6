# SPDX-License-Identifier: GPL-3.0-or-later
"""Quads as Blender shows them: one that is folded sharply it cuts along the other diagonal than was simulated.

A quad a, b, c, d is drawn as the triangles a, b, c and a, c, d, but as a, b, d and b, c, d where b and d lie on one side of the first
diagonal, or the fold along it is sharper than a right angle (`is_quad_flip_v3_first_third_fast` of Blender's math_geom). It looks
anew in every frame. So cloth in a tight fold may be seen to pass through what it does not touch.
"""

from typing import NamedTuple

import numpy as np

from .crossings import find_crossings
from .geometry.topology import MOST_CUBED
from .kernel.shared import shared

KEPT_FOLDS = 4  # frames that are looked at closer at the end of a bake: those in which most quads are shown otherwise
SMALLEST_QUADS_PART = 1024  # quads that another thread is asked for
CUTS = ((0, 1, 2), (0, 2, 3)), ((0, 1, 3), (1, 2, 3))  # of a quad, from its first or its second corner


class Quads(NamedTuple):
    """Faces of four corners of which the solver has both halves."""

    corners: np.ndarray  # (q, 4) particles, in order round the face
    halves: np.ndarray  # (q, 2) their triangles
    is_first: np.ndarray  # (q,) bool: whether they are cut from the first to the third corner


class Fold(NamedTuple):
    """A frame as it may be looked at later."""

    count: int  # quads that are shown otherwise
    cloth: object
    x: np.ndarray  # (n, 3) [m]
    frame: int
    colliders: tuple


def find_quads(garments, triangles):
    """The `Quads` of garments, whose vertices are the particles in order, among the triangles (t, 3) that are simulated."""
    starts = np.cumsum([0, *(len(garment.x) for garment in garments)])
    faces = [np.asarray(g.quads, np.int64).reshape(-1, 4) + s for g, s in zip(garments, starts, strict=False)]
    corners = np.concatenate([np.zeros((0, 4), np.int64), *faces])
    if starts[-1] >= MOST_CUBED or not len(triangles):
        corners = corners[:0]
    keys = _keys(triangles, starts[-1])
    order = np.argsort(keys)
    (first, is_first), (second, is_second) = (_halves(corners, cut, keys, order, starts[-1]) for cut in CUTS)
    known = is_first | is_second
    return Quads(corners[known], np.where(is_first[:, None], first, second)[known], is_first[known])


def _halves(corners, cut, keys, order, count):
    """(q, 2) the triangles of quads that are cut so, and (q,) whether there are both."""
    wanted = np.stack([_keys(corners[:, half], count) for half in cut], axis=1)
    if not len(wanted):
        return np.zeros((0, 2), np.int64), np.zeros(0, bool)
    found = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
    return found, (keys[found] == wanted).all(axis=1)


def _keys(triangles, count):
    """(t,) int64 keys of triangles (t, 3) of `count` vertices, the same in whatever order their corners are."""
    low, middle, high = np.sort(np.asarray(triangles, np.int64), axis=1).T
    return (low * count + middle) * count + high


def shown_otherwise(quads, x):
    """(q,) bool: which quads with corners at x (n, 3) [m] Blender cuts otherwise than they are simulated."""
    found = np.empty(len(quads.corners), np.bool_)
    _otherwise_kernel(len(found), quads.corners, quads.is_first, x, found)
    return found


@shared(SMALLEST_QUADS_PART)
def _otherwise_kernel(first, last, corners, is_first, x, found):
    """`shown_otherwise` of the quads first..last. 150 bytes and 40 flops each. # outputs: found (q,)"""
    for q in range(first, last):
        a, b, c, d = corners[q, 0], corners[q, 1], corners[q, 2], corners[q, 3]
        one = other = along = square = 0.0
        for axis in range(3):
            ab, ac, ad = x[b, axis] - x[a, axis], x[c, axis] - x[a, axis], x[d, axis] - x[a, axis]
            one, other, along, square = one + ab * ac, other + ad * ac, along + ab * ad, square + ac * ac
        # the two halves' normals, one of them turned, have an acute angle: it flips
        found[q] = (along * square > one * other) == is_first[q]


def as_shown(triangles, quads, x):
    """Triangles (t, 3) as Blender shows them at x (n, 3) [m]."""
    chosen, found = np.flatnonzero(shown_otherwise(quads, x)), triangles.copy()
    a, b, c, d = quads.corners[chosen].T
    is_first, (one, other) = quads.is_first[chosen, None], quads.halves[chosen].T
    found[one] = np.where(is_first, np.stack([a, b, d], axis=1), np.stack([a, b, c], axis=1))
    found[other] = np.where(is_first, np.stack([b, c, d], axis=1), np.stack([a, c, d], axis=1))
    return found


class Folds:
    """Keeps the frames in which most quads are shown otherwise; `crossings` tells in which of them most only seems to pass through."""

    def __init__(self, garments):
        """The garments of a bake, in order."""
        self.garments, self.quads, self.kept = garments, None, []

    def look(self, cloth, x, frame, colliders):
        """Note a frame; arguments as of `Doubts.look`."""
        if self.quads is None:
            self.quads = find_quads(self.garments, cloth.triangles)
        count = int(np.count_nonzero(shown_otherwise(self.quads, x)))
        if count > (self.kept[-1].count if len(self.kept) == KEPT_FOLDS else 0):
            fold = Fold(count, cloth, x.copy(), frame, colliders)
            self.kept = sorted([*self.kept, fold], key=lambda known: -known.count)[:KEPT_FOLDS]

    def crossings(self):
        """(k, 2) as `find_crossings` of the worst of these frames as shown, (m, 2) as simulated, and its `Fold`; None where nothing only
        seems to pass through.
        """
        most, worst = 0, None
        for fold in self.kept:
            shown = fold.cloth._replace(triangles=as_shown(fold.cloth.triangles, self.quads, fold.x))
            as_drawn, simulated = (find_crossings(cloth, fold.x, fold.colliders)[0] for cloth in (shown, fold.cloth))
            if len(as_drawn) - len(simulated) > most:
                most, worst = len(as_drawn) - len(simulated), (as_drawn, simulated, fold)
        return worst
