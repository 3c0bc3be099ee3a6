# SPDX-License-Identifier: GPL-3.0-or-later
"""Which points of cloth touch a body, other cloth, or the cloth itself, as the viewport shows them."""

import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree
from mathutils.geometry import closest_point_on_tri

NEAR = 1.05  # contact distances within which a point counts as touching: a bake leaves it a little outside
REST_GAP = (
    0.9  # rest distances within which points of one garment touch at most, as `solver.contact.cloth.proximity` has it
)


def of_body(x: np.ndarray, body: np.ndarray, triangles: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """(n,) bool: points x (n, 3) of cloth nearer to the surface of a body (m, 3) than `reach` (n,), in one unit."""
    near, points = np.zeros(len(x), bool), _boxed(x, body, triangles, NEAR * reach.max(initial=0.0))
    if not len(points):
        return near
    tree = BVHTree.FromPolygons(body.tolist(), triangles.tolist(), all_triangles=True)
    for point in points:
        near[point] = tree.find_nearest(x[point], float(NEAR * reach[point]))[0] is not None
    return near


def of_cloth(x, half, other, triangles, other_half, rest=None) -> np.ndarray:
    """(n,) bool: points x (n, 3) nearer to the triangles (t, 3) of a cloth `other` (m, 3) than half of both thicknesses.

    half, other_half : (n,), (m,), half of the thickness, in the unit of x.
    rest : where `other` is the cloth of x itself, its points at rest (n, 3): neighbours are near there, too, and touch when
        they are nearer than that.
    """
    near, most = np.zeros(len(x), bool), NEAR * (half + other_half.max(initial=0.0))
    points = _boxed(x, other, triangles, most.max(initial=0.0))
    if not len(points):
        return near
    tree = BVHTree.FromPolygons(other.tolist(), triangles.tolist(), all_triangles=True)
    distance_of = other_half[triangles].mean(axis=1)
    corners = None if rest is None else triangles.tolist()
    for point in points:
        for _, _, triangle, distance in tree.find_nearest_range(x[point], float(most[point])):
            contact = half[point] + distance_of[triangle]
            if rest is not None:
                contact = min(contact, REST_GAP * _rest_distance(rest, int(point), corners[triangle]))
            if distance < NEAR * contact:
                near[point] = True
                break
    return near


def _boxed(x, other, triangles, margin) -> np.ndarray:
    """Indices of the points of x in the box of other, wider by `margin`; none where that has no triangles."""
    if not len(triangles):
        return np.empty(0, np.int64)
    return np.flatnonzero(((x > other.min(axis=0) - margin) & (x < other.max(axis=0) + margin)).all(axis=1))


def _rest_distance(rest, point, triangle) -> float:
    """How far a point is from a triangle at rest; 0 from its own ones."""
    if point in triangle:
        return 0.0
    at = Vector(rest[point])
    return (closest_point_on_tri(at, *(Vector(rest[corner]) for corner in triangle)) - at).length
