# SPDX-License-Identifier: GPL-3.0-or-later
"""What passes through what, as it lies: pairs of triangles that cross, found by boxes and decided in float64.

Two triangles cross if a side of one goes through the other; a side that begins at a corner of the other does not count,
so that neighbours may fold. What only touches does not cross.
"""

import numpy as np

from .broad_phase.boxes import boxes_round
from .broad_phase.bvh import bvh_overlaps
from .geometry.seams import same_places
from .kernel.jit import inner
from .kernel.shared import shared

SMALLEST_CROSSING_PART = 256  # pairs that another thread is asked for
NO_VOLUME = 1e-10  # of a pair's size to the third power: a volume that is none
NONE_HELD, SOME_HELD, ALL_HELD = range(3)  # how many corners of cloth pins hold
BODY = -1  # in the place of a garment the first body, below it the next


def find_crossings(cloth, x, colliders=()):
    """The crossings of cloth with itself and bodies, of those that a bake keeps apart.

    Parameters
    ----------
    cloth : Cloth
    x : (n, 3) [m] relative to its origin
    colliders : Colliders, taken where their frame ends

    Returns
    -------
    (k, 2) the garments of each pair of crossing triangles, the lower first; `BODY` - b for a triangle of body b. (k,) int8
    whether pins hold corners of cloth in the pair: `NONE_HELD`, `SOME_HELD`, or `ALL_HELD`, so that nothing could keep it apart
    """
    return locate_crossings(cloth, x, colliders)[:2]


def locate_crossings(cloth, x, colliders=()):
    """What `find_crossings` returns, and (k, 3, 3) [m] the corners of each pair's triangle of cloth, of the first if both are."""
    pairs, group, held = _look(cloth, x, colliders)
    found, garment_count = group[pairs], len(cloth.meets)
    found = np.where(found < garment_count, found, BODY - (found - garment_count))
    is_whole, is_cloth = (held[pairs] == ALL_HELD).all(axis=1), group[pairs] < garment_count
    is_part = ((held[pairs] > NONE_HELD) & is_cloth).any(axis=1)
    how_held = np.where(is_whole, ALL_HELD, np.where(is_part, SOME_HELD, NONE_HELD)).astype(np.int8)
    return np.sort(found, axis=1), how_held, x[cloth.triangles[pairs.min(axis=1)]]


def crossing_triangles(cloth, x):
    """(k, 2) triangles of cloth at x (n, 3) [m] that cross, of those that a bake keeps apart."""
    return _look(cloth, x, ())[0]


def _look(cloth, x, colliders):
    """(k, 2) pairs of triangles that cross, (t,) the garment or body of each, bodies last, and what pins hold of it."""
    bodies = [(body.x[-1] - cloth.origin, body.triangles) for body in colliders]
    starts = np.cumsum([len(x), *(len(points) for points, _ in bodies)])
    points = np.concatenate([x, *(points for points, _ in bodies)])
    faces = [_held_together(cloth, x), *(f + s for (_, f), s in zip(bodies, starts, strict=False))]
    faces = np.concatenate(faces).astype(np.int32)  # numpy 2 makes more of them, for which no kernel is compiled
    garment_count, body = len(cloth.meets), np.repeat(np.arange(len(bodies)), [len(p) for p, _ in bodies])
    group = np.concatenate([cloth.garment, garment_count + body])[faces[:, 0]].astype(np.int32)
    pairs = bvh_overlaps(boxes_round(points[faces]), group, _who_meets(cloth, colliders))
    pairs = pairs[_held_apart(cloth, faces, group, pairs)]
    pairs = pairs[cross(points, faces[pairs[:, 0]], faces[pairs[:, 1]])]
    held, corners = np.full(len(faces), ALL_HELD, np.int8), (cloth.inv_mass[cloth.triangles] == 0.0).sum(axis=1)
    held[: len(corners)] = np.select([corners == 3, corners > 0], [ALL_HELD, SOME_HELD], NONE_HELD)
    return pairs, group, held


def _held_together(cloth, x):
    """The triangles of cloth with one corner in the place of those that seams and tear lines hold together: which lie on each
    other.
    """
    one, other = (
        cloth.edges[cloth.seams].T
        if cloth.tears is None
        else np.concatenate([cloth.edges[cloth.seams], cloth.tears.joints]).T
    )
    same = (x[one] == x[other]).all(axis=1)
    first, own = same_places(one[same], other[same], len(x))
    return first[own][cloth.triangles].astype(np.int32)


def _who_meets(cloth, colliders):
    """(g + b, g + b) bool: which garments and bodies are kept apart."""
    count = len(cloth.meets)
    meets = np.zeros((count + len(colliders),) * 2, bool)
    meets[:count, :count] = cloth.meets
    for index, body in enumerate(colliders, count):
        meets[index, :count] = meets[:count, index] = True if body.meets is None else body.meets
    return meets


def _held_apart(cloth, faces, group, pairs):
    """(k,) False where a triangle of cloth is left out of what the pair is kept apart by."""
    count = len(cloth.meets)
    is_cloth = group < count
    of_itself, of_bodies = (np.ones(len(faces), bool) for _ in range(2))
    of_itself[is_cloth] = cloth.meets_itself[faces[is_cloth]].all(axis=1)
    of_bodies[is_cloth] = cloth.meets_bodies[faces[is_cloth]].all(axis=1)
    a, b = pairs.T
    with_body = ~is_cloth[a] | ~is_cloth[b]
    own = group[a] == group[b]
    return (~with_body | (of_bodies[a] & of_bodies[b])) & (~own | (of_itself[a] & of_itself[b]))


def cross(x, one, other):
    """(k,) whether triangles (k, 3) cross, of vertices x (n, 3); sides that have a corner in common do not count."""
    found = np.empty(len(one), np.bool_)
    cross_kernel(len(one), x, one, other, found)
    return found


@shared(SMALLEST_CROSSING_PART)
def cross_kernel(first, last, x, one, other, found):
    """`cross` of the pairs first..last. 170 bytes and up to 600 flops a pair. # outputs: found"""
    for pair in range(first, last):
        found[pair] = _any_side(x, one, other, pair) or _any_side(x, other, one, pair)


@inner
def _any_side(x, sides, faces, pair):
    """Whether a side of a triangle goes through the other of the pair."""
    a, b, c = faces[pair, 0], faces[pair, 1], faces[pair, 2]
    for k in range(3):
        p, q = sides[pair, k], sides[pair, (k + 1) % 3]
        common = p == a or p == b or p == c or q == a or q == b or q == c
        if not common and _goes_through(x, p, q, a, b, c):
            return True
    return False


@inner
def _goes_through(x, p, q, a, b, c):
    """Whether a segment pq goes through a triangle abc, by the signs of volumes (Segura and Feito 2001).

    In cloth that lies quite flat those of both ends are rounding, which is no sign. One of them may be: a body's corner can lie
    in the plane of the cloth that it goes through.
    """
    above, below = _volume(x, a, b, c, p), _volume(x, a, b, c, q)
    if not above * below < 0.0:
        return False
    size = 0.0
    for axis in range(3):
        low = min(x[p, axis], x[q, axis], x[a, axis], x[b, axis], x[c, axis])
        size = max(size, max(x[p, axis], x[q, axis], x[a, axis], x[b, axis], x[c, axis]) - low)
    if not max(abs(above), abs(below)) > NO_VOLUME * size * size * size:
        return False
    first, second, third = _volume(x, p, q, a, b), _volume(x, p, q, b, c), _volume(x, p, q, c, a)
    return (first > 0.0 and second > 0.0 and third > 0.0) or (first < 0.0 and second < 0.0 and third < 0.0)


@inner
def _volume(x, a, b, c, d):
    """Six times the volume of a tetrahedron, with the sign of its turn."""
    ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    wx, wy, wz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    dx, dy, dz = x[d, 0] - x[a, 0], x[d, 1] - x[a, 1], x[d, 2] - x[a, 2]
    return (uy * wz - uz * wy) * dx + (uz * wx - ux * wz) * dy + (ux * wy - uy * wx) * dz
