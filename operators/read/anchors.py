# SPDX-License-Identifier: GPL-3.0-or-later
"""Anchors: where on the triangles of another mesh vertices of a garment are tied to, kept in attributes of the garment's mesh.

An anchor is three vertices of that mesh, the barycentric weights of the second and the third, and an offset along the normal
of their triangle: a point that goes along with it wherever it is moved and however it is bent. So what is kept needs no copy
of the other mesh, and is saved, undone, duplicated and edited with the garment's own. Which of the garment's attachments a
vertex belongs to is a number, 0 for none; no two attachments in a file have the same, so that garments can be joined.

Blender mixes attributes where it cuts edges, and copies them with vertices. A sum tells what was mixed, which is tied to nothing;
the vertex that each was when it was tied tells copies.
"""

import zlib
from typing import NamedTuple

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from .arrays import stored_values

PREFIX = ".taffeta_tie"  # of the attributes' names; Blender shows none that begins with a dot
NUMBER, CORNERS, PLACE, SHARE = PREFIX, [f"{PREFIX}_{k}" for k in "abc"], f"{PREFIX}_place", f"{PREFIX}_share"
OWN, CHECK = f"{PREFIX}_own", f"{PREFIX}_check"  # which vertex it was when it was tied, and a sum of all whole numbers
ALL = NUMBER, *CORNERS, PLACE, SHARE, OWN, CHECK
LEAST_AREA = 1e-12  # of a triangle, in the square of its mesh's size: with less it has no normal


class Anchors(NamedTuple):
    """Where some vertices of a garment are tied to."""

    vertices: np.ndarray  # (m,) int32, of the garment
    corners: np.ndarray  # (m, 3) int32, of the other mesh
    place: np.ndarray  # (m, 3) weights of the second and third corner, and along the normal [m]: length of a thread
    share: np.ndarray  # (m,) in [0, 1]: how firmly, times the attachment's own weight


def nearest(x: np.ndarray, other: np.ndarray, triangles: np.ndarray, reach: float) -> tuple[np.ndarray, ...]:
    """For points x (m, 3) [m] the nearest triangles of a mesh, (t, 3), whose vertices are at `other` (k, 3) [m].

    Returns
    -------
    which : (f,) those of the points that have one within `reach` [m]
    corners : (f, 3) its vertices
    foot : (f, 3) weights of its second and third corner where the nearest point is, and how far that is [m]
    """
    a, b, c = (other[triangles[:, k]] for k in range(3))
    size = float(np.ptp(other, axis=0).max(initial=0.0))
    kept = np.linalg.norm(np.cross(b - a, c - a), axis=1) > 2.0 * LEAST_AREA * size * size
    triangles, centre = triangles[kept], other.mean(axis=0)
    # Blender's tree counts in float32: near the middle of the mesh that is exact enough anywhere in the world
    tree = BVHTree.FromPolygons((other - centre).tolist(), triangles.tolist(), all_triangles=True)
    found = [tree.find_nearest(point, reach) for point in (x - centre).tolist()]
    which = np.array([k for k, hit in enumerate(found) if hit[2] is not None], int)
    corners = triangles[[found[k][2] for k in which]].reshape(-1, 3)
    a, b, c = (other[corners[:, k]] for k in range(3))
    foot = np.array([found[k][0] for k in which], float).reshape(-1, 3) + centre
    uv = _weights(foot, a, b, c).clip(0.0, 1.0)
    foot = a + uv[:, :1] * (b - a) + uv[:, 1:] * (c - a)
    return which, corners, np.column_stack((uv, np.linalg.norm(x[which] - foot, axis=1)))


def above(x: np.ndarray, other: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """`Anchors.place` (m, 3) of points x (m, 3) [m] over triangles: exact, also beside them, with weights beyond 0 and 1."""
    a, b, c = (other[corners[:, k]] for k in range(3))
    normal = _normals(a, b, c)
    offset = np.einsum("ij,ij->i", x - a, normal)
    return np.column_stack((_weights(x - offset[:, None] * normal, a, b, c), offset))


def points(anchors: Anchors, other: np.ndarray) -> np.ndarray:
    """(m, 3) [m] where anchors are while the vertices of the other mesh are at `other` (k, 3) [m]."""
    a, b, c = (other[anchors.corners[:, k]] for k in range(3))
    u, v, offset = anchors.place.T[:, :, None]
    return a + u * (b - a) + v * (c - a) + offset * _normals(a, b, c)


def _weights(p, a, b, c):
    """(m, 2) barycentric weights of b and c of points in the planes of triangles (Ericson 2005, 3.4)."""
    one, other, way = b - a, c - a, p - a
    d00, d01, d11, d20, d21 = (
        np.einsum("ij,ij->i", *two) for two in ((one, one), (one, other), (other, other), (way, one), (way, other))
    )
    size = d00 * d11 - d01 * d01
    return np.column_stack((d11 * d20 - d01 * d21, d00 * d21 - d01 * d20)) / size[:, None]


def _normals(a, b, c):
    """Unit normals of triangles, 0 where they have none."""
    normal = np.cross(b - a, c - a)
    size = np.linalg.norm(normal, axis=1, keepdims=True)
    return np.divide(normal, size, out=np.zeros_like(normal), where=size > 0.0)


def numbers(mesh: bpy.types.Mesh) -> np.ndarray:
    """(n,) int32 which attachment each vertex belongs to, 0 none."""
    attribute = mesh.attributes.get(NUMBER)
    if attribute is None or attribute.domain != "POINT" or attribute.data_type != "INT":
        return np.zeros(len(mesh.vertices), np.int32)
    found, rest = stored_values(attribute)[:, 0], [mesh.attributes.get(name) for name in (*CORNERS, OWN, CHECK)]
    if None in rest:
        return found
    *known, check = (stored_values(each)[:, 0] for each in rest)
    return np.where(_sum(found, *known) == check, found, 0).astype(np.int32)


def holding(obj: bpy.types.Object) -> list:
    """An object's attachments that vertices belong to; in Edit Mode, where Blender does not tell, all of them."""
    entries = obj.taffeta_cloth.attachments
    if obj.mode == "EDIT" or not len(entries):
        return list(entries)
    known = set(numbers(obj.data).tolist())
    return [entry for entry in entries if entry.number in known]


def _sum(*numbers):
    """(n,) int32 of whole numbers (n,), below 2**24, which Blender can mix with itself without rounding it."""
    total = np.zeros(len(numbers[0]), np.uint64)
    for each in numbers:  # Knuth's multiplicative hash, in turns
        total = (total ^ each.astype(np.uint64)) * np.uint64(11400714819323198485)
    return (total >> np.uint64(40)).astype(np.int32)


def copies(mesh: bpy.types.Mesh, number: int) -> int:
    """How many vertices of an attachment were copied from others of it after these were tied."""
    attribute = mesh.attributes.get(OWN)
    if attribute is None:
        return 0
    own = stored_values(attribute)[numbers(mesh) == number]
    return len(own) - len(np.unique(own))


def read(mesh: bpy.types.Mesh, number: int) -> Anchors:
    """The anchors of one attachment; none where its attributes were taken away."""
    vertices = np.flatnonzero(numbers(mesh) == number).astype(np.int32)
    found = [mesh.attributes.get(name) for name in (*CORNERS, PLACE, SHARE)]
    if None in found:
        vertices = vertices[:0]
        return Anchors(vertices, np.zeros((0, 3), np.int32), np.zeros((0, 3)), np.zeros(0))
    *corners, place, share = (stored_values(attribute)[vertices] for attribute in found)
    corners = np.concatenate(corners, axis=1).astype(np.int32)
    return Anchors(vertices, corners, place.astype(np.float64), share[:, 0].astype(np.float64))


def checksum(mesh: bpy.types.Mesh) -> int:
    """Of all that the mesh knows of what its vertices are tied to."""
    known = [mesh.attributes.get(name) for name in ALL]
    total = 0
    for attribute in known:
        if attribute is not None and len(attribute.data):
            total = zlib.crc32(stored_values(attribute), total)
    return total


def write(mesh: bpy.types.Mesh, number: int, anchors: Anchors) -> None:
    """Tie vertices to what they are near; whatever they were tied to before, they are no more."""
    _put(mesh, NUMBER, "INT", anchors.vertices, np.full(len(anchors.vertices), number))
    for name, corner in zip(CORNERS, anchors.corners.T, strict=True):
        _put(mesh, name, "INT", anchors.vertices, corner)
    _put(mesh, PLACE, "FLOAT_VECTOR", anchors.vertices, anchors.place)
    _put(mesh, SHARE, "FLOAT", anchors.vertices, anchors.share)
    _put(mesh, OWN, "INT", anchors.vertices, anchors.vertices)
    whole = np.full(len(anchors.vertices), number), *anchors.corners.T, anchors.vertices
    _put(mesh, CHECK, "INT", anchors.vertices, _sum(*whole))
    mesh.update()


def let_go(mesh: bpy.types.Mesh, vertices: np.ndarray) -> None:
    """Tie these vertices (m,) to nothing; without any that is tied, the attributes go."""
    if NUMBER in mesh.attributes:
        _put(mesh, NUMBER, "INT", vertices, np.zeros(len(vertices)))
    if not numbers(mesh).any():
        for name in ALL:
            if name in mesh.attributes:
                mesh.attributes.remove(mesh.attributes[name])
    mesh.update()


def _put(mesh, name, data_type, vertices, values):
    """Values of an attribute at some vertices; the others keep theirs, or get 0."""
    attribute = mesh.attributes.get(name)
    if attribute is not None and (attribute.data_type, attribute.domain) != (data_type, "POINT"):
        mesh.attributes.remove(attribute)
        attribute = None
    attribute = attribute or mesh.attributes.new(name, data_type, "POINT")
    whole = stored_values(attribute)
    whole[vertices] = np.reshape(values, (len(vertices), -1))
    attribute.data.foreach_set(
        "vector" if data_type == "FLOAT_VECTOR" else "value", np.ascontiguousarray(whole).ravel()
    )
