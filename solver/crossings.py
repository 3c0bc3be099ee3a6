# SPDX-License-Identifier: GPL-3.0-or-later
"""What passes through what, as it lies: pairs of triangles that cross, found by boxes and decided in float64.

Two triangles cross if a side of one goes through the other; a side that begins at a corner of the other does not count,
so that neighbours may fold. What only touches does not cross.
"""

import numpy as np

from .broad_phase.bvh import bvh_overlaps
from .geometry.seams import same_places

AT_ONCE = 100_000  # pairs that are looked at together: about 100 MB
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
    faces = np.concatenate([_held_together(cloth, x), *(f + s for (_, f), s in zip(bodies, starts, strict=False))])
    garment_count, body = len(cloth.meets), np.repeat(np.arange(len(bodies)), [len(p) for p, _ in bodies])
    group = np.concatenate([cloth.garment, garment_count + body])[faces[:, 0]].astype(np.int32)
    corners = points[faces]
    boxes = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    pairs = bvh_overlaps(boxes, group, _who_meets(cloth, colliders))
    pairs = pairs[_held_apart(cloth, faces, group, pairs)]
    parts = range(0, len(pairs), AT_ONCE)
    crossing = [cross(points, faces[pairs[k : k + AT_ONCE, 0]], faces[pairs[k : k + AT_ONCE, 1]]) for k in parts]
    pairs = pairs[np.concatenate(crossing)] if crossing else np.empty((0, 2), np.int32)
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
    found = np.zeros(len(one), bool)
    for sides, faces in ((one, other), (other, one)):
        for k in range(3):
            p, q = sides[:, k], sides[:, (k + 1) % 3]
            apart = ((p[:, None] != faces) & (q[:, None] != faces)).all(axis=1) & ~found
            here = np.flatnonzero(apart)
            found[here] = _goes_through(x[p[here]], x[q[here]], *x[faces[here]].transpose(1, 0, 2))
    return found


def _goes_through(p, q, a, b, c):
    """(k,) whether segments pq go through triangles abc, by the signs of volumes (Segura and Feito 2001).

    In cloth that lies quite flat those of both ends are rounding, which is no sign. One of them may be: a body's corner can lie
    in the plane of the cloth that it goes through.
    """
    corners = np.stack([p, q, a, b, c])
    zero = NO_VOLUME * (corners.max(axis=0) - corners.min(axis=0)).max(axis=1) ** 3
    above, below = _volume(a, b, c, p), _volume(a, b, c, q)
    turns = np.stack([_volume(p, q, a, b), _volume(p, q, b, c), _volume(p, q, c, a)])
    parted = (above * below < 0.0) & (np.maximum(np.abs(above), np.abs(below)) > zero)
    return parted & ((turns > 0.0).all(axis=0) | (turns < 0.0).all(axis=0))


def _volume(a, b, c, d):
    """(k,) six times the volume of tetrahedra, with the sign of their turn."""
    return np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a)
