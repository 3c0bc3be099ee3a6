# SPDX-License-Identifier: GPL-3.0-or-later
"""Quads as Blender shows them: one that is folded sharply it cuts along the other diagonal than was simulated.

A quad a, b, c, d is drawn as the triangles a, b, c and a, c, d, but as a, b, d and b, c, d where b and d lie on one side of the first
diagonal, or the fold along it is sharper than a right angle (`is_quad_flip_v3_first_third_fast` of Blender's math_geom). It looks
anew in every frame. So cloth in a tight fold may be seen to pass through what it does not touch.
"""

from typing import NamedTuple

import numpy as np

from .crossings import count_crossings_of, find_crossings
from .geometry.topology import MOST_CUBED

CUTS = ((0, 1, 2), (0, 2, 3)), ((0, 1, 3), (1, 2, 3))  # of a quad, from its first or its second corner


class Quads(NamedTuple):
    """Faces of four corners of which the solver has both halves."""

    corners: np.ndarray  # (q, 4) particles, in order round the face
    halves: np.ndarray  # (q, 2) their triangles
    is_first: np.ndarray  # (q,) bool: whether they are cut from the first to the third corner


class Fold(NamedTuple):
    """A frame as it may be looked at later."""

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
    a, b, c, d = x[quads.corners.T]
    ab, ac, ad = b - a, c - a, d - a
    one, other, along, square = (np.einsum("ij,ij->i", *both) for both in ((ab, ac), (ad, ac), (ab, ad), (ac, ac)))
    flips = along * square > one * other  # the two halves' normals, one of them turned, have an acute angle
    return flips == quads.is_first


def as_shown(triangles, quads, x):
    """Triangles (t, 3) as Blender shows them at x (n, 3) [m]."""
    return _cut_otherwise(triangles, quads, np.flatnonzero(shown_otherwise(quads, x)))


def _cut_otherwise(triangles, quads, chosen):
    """Triangles (t, 3), of which those of `chosen` quads (c,) are cut along the other diagonal."""
    found = triangles.copy()
    a, b, c, d = quads.corners[chosen].T
    is_first, (one, other) = quads.is_first[chosen, None], quads.halves[chosen].T
    found[one] = np.where(is_first, np.stack([a, b, d], axis=1), np.stack([a, b, c], axis=1))
    found[other] = np.where(is_first, np.stack([b, c, d], axis=1), np.stack([a, c, d], axis=1))
    return found


class Folds:
    """Looks for the frame in which most seems to pass through where quads are shown otherwise; `crossings` tells what."""

    def __init__(self, garments):
        """The garments of a bake, in order."""
        self.garments, self.quads, self.most, self.worst = garments, None, 0, None

    def look(self, cloth, x, frame, colliders):
        """Note a frame; arguments as of `Doubts.look`."""
        if self.quads is None:
            self.quads = find_quads(self.garments, cloth.triangles)
        chosen = np.flatnonzero(shown_otherwise(self.quads, x))
        if not len(chosen):
            return
        halves = self.quads.halves[chosen].ravel()
        shown = cloth._replace(triangles=_cut_otherwise(cloth.triangles, self.quads, chosen))
        count = count_crossings_of(shown, x, colliders, halves) - count_crossings_of(cloth, x, colliders, halves)
        if count > self.most:
            self.most, self.worst = count, Fold(cloth, x.copy(), frame, colliders)

    def crossings(self):
        """(k, 2) as `find_crossings` of the worst frame as shown, (m, 2) as simulated, and its `Fold`; None where nothing only seems to
        pass through.
        """
        if self.worst is None:
            return None
        cloth, x, _, colliders = self.worst
        shown = cloth._replace(triangles=as_shown(cloth.triangles, self.quads, x))
        return find_crossings(shown, x, colliders)[0], find_crossings(cloth, x, colliders)[0], self.worst
