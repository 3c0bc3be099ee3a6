# SPDX-License-Identifier: GPL-3.0-or-later
"""How much cloth passes through itself, other cloth and bodies, counted by ipctk and by no code of Taffeta.

A crossing is an edge of one side that goes through a triangle of the other and shares no vertex with it; a piece of
cloth poked by a corner makes two or more. Bodies that cross themselves or each other do not count.
"""

from typing import NamedTuple

import ipctk
import numpy as np


class Crossings(NamedTuple):
    """Edge-triangle pairs, by whom they belong to."""

    cloth_self: int  # within one garment
    cloth_cloth: int  # between garments
    cloth_body: int  # an edge of cloth through a body, or of a body through cloth


def edges_of(triangles):
    """The edges of triangles, each once, (e, 2)."""
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    return np.unique(np.sort(sides, axis=1), axis=0)


def count_crossings(x, triangles, garment, bodies=()):
    """Count the crossings of positions.

    Parameters
    ----------
    x : (n, 3) positions of all cloth
    triangles : (t, 3) of cloth
    garment : (n,) the garment of each particle
    bodies : pairs of positions (m, 3) and triangles (k, 3), in the same space as x
    """
    points, faces, owner = [np.asarray(x, float)], [np.asarray(triangles)], [np.asarray(garment)]
    for body_x, body_triangles in bodies:
        faces.append(np.asarray(body_triangles).reshape(-1, 3) + sum(map(len, points)))
        points.append(np.asarray(body_x, float))
        owner.append(np.full(len(body_x), -1))
    points, owner = np.concatenate(points), np.concatenate(owner)
    faces = np.concatenate(faces).astype(np.int32)
    edges = edges_of(faces).astype(np.int32)
    broad = ipctk.LBVH()
    broad.can_vertices_collide = ipctk.make_static_obstacle_filter(len(x))
    broad.build(np.asfortranarray(points), np.asfortranarray(edges), np.asfortranarray(faces))
    counts = [0, 0, 0]
    for near in broad.detect_edge_face_candidates():
        edge, face = edges[near.edge_id], faces[near.face_id]
        if not set(edge.tolist()) & set(face.tolist()) and ipctk.is_edge_intersecting_triangle(
            *points[edge], *points[face]
        ):
            first, second = owner[edge[0]], owner[face[0]]
            counts[2 if first < 0 or second < 0 else int(first != second)] += first >= 0 or second >= 0
    return Crossings(*map(int, counts))


def count_in(cloth, x, colliders=()):
    """Count the crossings of a `Cloth` at x (relative to its origin) with the colliders where their frame ends."""
    bodies = [(collider.x[-1] - cloth.origin, collider.triangles) for collider in colliders]
    return count_crossings(x, cloth.triangles, cloth.garment, bodies)
