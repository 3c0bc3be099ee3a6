# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a mesh's edges are to be, by what baked frames show: short where cloth is bent, wants to fold, or lies on what is bent.

After Narain, Samii and O'Brien 2012, Adaptive Anisotropic Remeshing for Cloth Simulation, section 3: along an edge the normal is
to turn by the same angle everywhere, so edges are as long as that angle over the curvature. Ours have no direction, what
they need is the most of all frames, and which angle it is a count of vertices decides.

    need (n,) [1/m] of a frame ─► the most of all frames ─► spread ─► lengths (n,) [m]: clipped, graded, as many as asked for
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from ..geometry.curvature import Hinges, cells, curvature, hinges
from ..geometry.strain import principal_strains

GRADE = 0.3  # by which edges may become longer along a way that is as long as they are
FOLD_EDGES = 4.0  # of the shortest fold that a mesh can show
HALVINGS = 60  # of the angle's range
WIDEST = 1e6  # of the needs: what needs less is as if it needed this part of the most


class Measured(NamedTuple):
    """A mesh whose frames are measured."""

    rest: np.ndarray  # (n, 3) [m]
    hinges: Hinges
    edge: np.ndarray  # (n,) [m] mean length of the edges about each vertex


def measured(rest: np.ndarray, triangles: np.ndarray) -> Measured:
    """A mesh of triangles (t, 3), at rest at `rest` (n, 3) [m]."""
    ends = _edges(triangles)
    length = np.linalg.norm(rest[ends[:, 1]] - rest[ends[:, 0]], axis=1)
    return Measured(rest, hinges(rest, triangles), _mean(ends, length, len(rest)))


def bent(x: np.ndarray, mesh: Measured) -> np.ndarray:
    """(n,) [1/m] what a frame x (n, 3) [m] needs because it is bent: its curvature."""
    return curvature(x, mesh.hinges)


def compressed(x: np.ndarray, mesh: Measured) -> np.ndarray:
    """(n,) [1/m] what a frame x (n, 3) [m] needs because cloth has less area than at rest, which it would avoid by a fold if the mesh
    were fine enough: the curvature of that fold. Area, because threads that turn against each other compress nothing.

    A sine of height a and wavelength w is shorter than it is along itself by a part e = (pi a / w)^2, and curved by
    a (2 pi / w)^2 at most, which is 4 pi sqrt(e) / w. The shortest wave that the mesh shows has `FOLD_EDGES` edges.
    """
    triangles, joints = mesh.hinges.triangles, mesh.hinges
    lost = np.maximum(1.0 - (1.0 + principal_strains(x, mesh.rest, triangles)).prod(axis=1), 0.0)
    total = np.bincount(triangles.ravel(), np.repeat(lost * joints.area / 3.0, 3), len(x))
    lost = np.where(joints.cell > 0.0, total / np.maximum(joints.cell, 1e-300), 0.0)
    return 4.0 * np.pi * np.sqrt(lost) / (FOLD_EDGES * np.maximum(mesh.edge, 1e-300))


def spread(need: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Needs (n,) without what one vertex has alone: the mean of each and its neighbours' mean."""
    ends = _edges(triangles)
    about = np.zeros_like(need)
    np.add.at(about, ends[:, 0], need[ends[:, 1]])
    np.add.at(about, ends[:, 1], need[ends[:, 0]])
    count = np.bincount(ends.ravel(), minlength=len(need))
    return np.where(count > 0, 0.5 * (need + about / np.maximum(count, 1)), need)


def lengths(
    need: np.ndarray, x: np.ndarray, triangles: np.ndarray, count: int, bounds: tuple[float, float]
) -> np.ndarray:
    """(n,) [m] how long edges are to be about each vertex of a surface x (n, 3) [m], triangles (t, 3), so that a mesh of it has
    about `count` vertices: an angle over `need` (n,) [1/m], within `bounds` [m], and graded.

    A vertex has the area of two equilateral triangles. Where no angle makes so many, all edges have one of the bounds.
    """
    cell, shortest, longest = cells(x, triangles), *bounds
    need = np.maximum(need, max(float(need.max(initial=0.0)), 1e-300) / WIDEST)
    low, high = np.log(shortest * need.min()), np.log(longest * need.max())
    graph = graph_of(x, triangles)
    for _ in range(HALVINGS):
        angle = 0.5 * (low + high)
        found = graded(np.clip(np.exp(angle) / need, shortest, longest), graph)
        if high - low < 1e-4:
            break
        if (2.0 / np.sqrt(3.0) * cell / found**2).sum() > count:
            low = angle
        else:
            high = angle
    return found


def graded(length: np.ndarray, graph: coo_array) -> np.ndarray:
    """Lengths (n,) [m], none longer than any other one plus `GRADE` times how far away that is along the edges of a `graph` (n, n) [m]
    (Persson 2006, Mesh Size Functions for Implicit Geometries and PDE-Based Gradient Limiting, section 2).

    That is the shortest way from a source that each vertex hangs on by its length.
    """
    count = len(length)
    whole = coo_array(
        (
            np.concatenate((GRADE * graph.data, length)),
            (np.append(graph.row, np.full(count, count)), np.append(graph.col, np.arange(count))),
        ),
        shape=(count + 1, count + 1),
    )
    return dijkstra(whole.tocsr(), directed=True, indices=count)[:count]


def graph_of(x: np.ndarray, triangles: np.ndarray) -> coo_array:
    """(n, n) [m] how long the edges of triangles (t, 3) of x (n, 3) [m] are, both ways."""
    ends = _edges(triangles)
    size = np.maximum(np.linalg.norm(x[ends[:, 1]] - x[ends[:, 0]], axis=1), 1e-12)
    there, back = np.concatenate((ends, ends[:, ::-1])).T
    return coo_array((np.concatenate((size, size)), (there, back)), shape=(len(x), len(x)))


def _edges(triangles):
    """(e, 2) each edge of triangles once."""
    sides = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    return np.unique(sides, axis=0)


def _mean(ends, value, count):
    """(n,) mean of a value (e,) of edges at each of their ends; 0 without any."""
    total = np.bincount(ends.ravel(), np.repeat(value, 2), count)
    return total / np.maximum(np.bincount(ends.ravel(), minlength=count), 1)
