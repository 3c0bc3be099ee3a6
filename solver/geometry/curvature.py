# SPDX-License-Identifier: GPL-3.0-or-later
"""How much a mesh is curved about each of its vertices, by the angles between its faces."""

from typing import NamedTuple

import numpy as np

from ..kernel.functions import symmetric_axes
from .adjacency import topology

UPPER = (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)  # entries that tell a symmetric matrix


class Hinges(NamedTuple):
    """Where faces meet, and how large they are at rest."""

    triangles: np.ndarray  # (t, 3)
    faces: np.ndarray  # (h, 2) two faces beside each other
    ends: np.ndarray  # (h, 2) vertices of their edge, as the first face runs along it
    length: np.ndarray  # (h,) [m] of the edge at rest
    area: np.ndarray  # (t,) [m2] at rest
    cell: np.ndarray  # (n,) [m2] a third of the faces about each vertex, at rest


def hinges(rest: np.ndarray, triangles: np.ndarray) -> Hinges:
    """The hinges of triangles (t, 3) of vertices that are at `rest` (n, 3) [m]."""
    neighbour = topology(triangles, len(rest)).neighbour
    face, side = np.nonzero(neighbour > np.arange(len(triangles))[:, None])
    faces = np.column_stack((face, neighbour[face, side]))
    ends = np.column_stack((triangles[face, side], triangles[face, (side + 1) % 3]))
    length = _norm(rest[ends[:, 1]] - rest[ends[:, 0]])
    return Hinges(triangles, faces, ends, length, areas(rest, triangles), cells(rest, triangles))


def areas(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(t,) [m2] areas of triangles (t, 3) of vertices x (n, 3) [m]."""
    return 0.5 * _norm(_across(x, triangles))


def cells(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """(n,) [m2] a third of the area of the triangles (t, 3) about each vertex of x (n, 3) [m]."""
    return np.bincount(triangles.ravel(), np.repeat(areas(x, triangles) / 3.0, 3), len(x))


def curvature(x: np.ndarray, found: Hinges) -> np.ndarray:
    """(n,) [1/m] the greater of the two principal curvatures about each vertex of a mesh bent to x (n, 3) [m], as a size.

    Along an edge a mesh is bent by the angle between its faces, and across it by nothing. The sum of that over a piece of the
    mesh, as a matrix, over the area of the piece is the curvature there (Cohen-Steiner and Morvan 2003, Restricted Delaunay
    Triangulations and Normal Cycle, section 4). The piece is a vertex's cell, with half of each edge. Lengths and areas are those
    at rest, so that nothing grows where cloth is crushed. 0 where a vertex has no faces.
    """
    normal = _across(x, found.triangles)
    normal /= np.maximum(_norm(normal), 1e-300)[:, None]
    one, other = normal[found.faces[:, 0]], normal[found.faces[:, 1]]
    along = x[found.ends[:, 1]] - x[found.ends[:, 0]]
    along /= np.maximum(_norm(along), 1e-300)[:, None]
    angle = np.arctan2(np.einsum("ij,ij->i", np.cross(one, other), along), np.einsum("ij,ij->i", one, other))
    weight = np.repeat(0.5 * angle * found.length, 2)
    bend = np.empty((len(x), 3, 3))
    for i, j in UPPER:
        entry = np.bincount(found.ends.ravel(), weight * np.repeat(along[:, i] * along[:, j], 2), len(x))
        bend[:, i, j] = bend[:, j, i] = entry
    size = np.abs(symmetric_axes(bend)[0]).max(axis=1, initial=0.0)
    return np.where(found.cell > 0.0, size / np.maximum(found.cell, 1e-300), 0.0)


def _across(x, triangles):
    """(t, 3) [m2] normals of triangles, twice as long as their areas are large."""
    a, b, c = (x[triangles[:, k]] for k in range(3))
    return np.cross(b - a, c - a)


def _norm(a):
    return np.sqrt(np.einsum("ij,ij->i", a, a))
