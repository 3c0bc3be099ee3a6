# SPDX-License-Identifier: GPL-3.0-or-later
"""How much cloth passes through itself, other cloth and bodies, counted by ipctk and by no code of Taffeta.

A crossing is an edge of one side that goes through a triangle of the other and shares no vertex with it; a piece of
cloth poked by a corner makes two or more. Bodies that cross themselves or each other do not count.
"""

from typing import NamedTuple

import ipctk
import numpy as np

AT_ONCE = 200_000  # pairs that are looked at together
DOUBT = 1e-9  # part of a pair's size to the third power below which a volume may be zero


class Crossings(NamedTuple):
    """Edge-triangle pairs, by whom they belong to."""

    cloth_self: int  # within one garment
    cloth_cloth: int  # between garments
    cloth_body: int  # an edge of cloth through a body, or of a body through cloth


def edges_of(triangles):
    """The edges of triangles, each once, (e, 2)."""
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]).astype(np.int64)
    first, last, count = sides.min(axis=1), sides.max(axis=1), sides.max(initial=0) + 1
    return np.stack(np.divmod(np.unique(first * count + last), count), axis=1)


def may_cross(edge, face):
    """(k,) False where an edge (k, 2, 3) clearly misses a triangle (k, 3, 3): most pairs, so that few are left to ipctk.

    It does if both ends are on one side of the triangle's plane, or if the triangle's sides pass the edge's line on
    both sides, by the signs of volumes of tetrahedra (Segura and Feito 2001); or if both ends are beyond one of the
    triangle's sides, as seen along its normal, which tells where all lie in one plane.
    """
    (p, q), (a, b, c) = edge.transpose(1, 0, 2), face.transpose(1, 0, 2)
    ends = np.stack([_volume(a, b, c, p), _volume(a, b, c, q)])
    sides = np.stack([_volume(p, q, a, b), _volume(p, q, b, c), _volume(p, q, c, a)])
    corners = np.concatenate([edge, face], axis=1)
    size = (corners.max(axis=1) - corners.min(axis=1)).max(axis=1)
    zero = DOUBT * size**3
    apart = (ends > zero).all(axis=0) | (ends < -zero).all(axis=0)
    apart |= (sides > zero).any(axis=0) & (sides < -zero).any(axis=0)
    left = np.flatnonzero(~apart)
    p, q, normal = p[left], q[left], np.cross(b[left] - a[left], c[left] - a[left])
    for first, second in ((a, b), (b, c), (c, a)):
        out = np.cross(second[left] - first[left], normal)
        beyond = [np.einsum("ij,ij->i", out, end - first[left]) > DOUBT * size[left] ** 4 for end in (p, q)]
        apart[left] |= beyond[0] & beyond[1]
    return ~apart


def _volume(a, b, c, d):
    """(k,) six times the volume of tetrahedra, with the sign of their turn."""
    return np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a)


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
    near = np.array([(pair.edge_id, pair.face_id) for pair in broad.detect_edge_face_candidates()]).reshape(-1, 2)
    for first in range(0, len(near), AT_ONCE):
        edge, face = edges[near[first : first + AT_ONCE, 0]], faces[near[first : first + AT_ONCE, 1]]
        doubtful = may_cross(points[edge], points[face]) & ~(edge[:, :, None] == face[:, None, :]).any(axis=(1, 2))
        for one, other in zip(edge[doubtful], face[doubtful], strict=True):
            if ipctk.is_edge_intersecting_triangle(*points[one], *points[other]):
                which, whose = owner[one[0]], owner[other[0]]
                counts[2 if which < 0 or whose < 0 else int(which != whose)] += which >= 0 or whose >= 0
    return Crossings(*map(int, counts))


def count_in(cloth, x, colliders=()):
    """Count the crossings of a `Cloth` at x (relative to its origin) with the colliders where their frame ends."""
    bodies = [(collider.x[-1] - cloth.origin, collider.triangles) for collider in colliders]
    return count_crossings(x, cloth.triangles, cloth.garment, bodies)


def count_worn(garments, positions, bodies=()):
    """Count the crossings of garments of `solver.untangle.nest` at other positions (n, 3) each, and with bodies."""
    starts = np.cumsum([0] + [len(x) for x in positions])
    triangles = np.concatenate([g.triangles + s for g, s in zip(garments, starts, strict=False)])
    owner = np.repeat(np.arange(len(garments)), np.diff(starts))
    return count_crossings(np.concatenate(positions), triangles, owner, [(b.x, b.triangles) for b in bodies])
