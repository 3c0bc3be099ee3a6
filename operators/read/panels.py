# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels of a garment: its pieces of cloth as they are cut, and where they stand."""

from typing import NamedTuple

import bpy
import numpy as np

from . import arrays, pattern_size
from .mesh_io import metres_per_unit, world_matrix, world_positions
from .write_back import set_positions

OFF_SCALE = 0.05  # part by which edges may be longer in the mesh than in a pattern that is said to be in metres


class Panel(NamedTuple):
    """A piece of cloth of a garment."""

    name: str  # of its vertex group, or its number
    vertices: np.ndarray  # (k,) of the garment
    flat: np.ndarray  # (k, 2) [m] as it is cut, seen from outside: to the right, up along the warp
    triangles: np.ndarray  # (t, 3) of its own vertices
    rim: np.ndarray  # (r,) of its own vertices, those of its border
    area: float  # [m2]


def read(obj: bpy.types.Object, metres: float) -> list[Panel]:
    """The panels of a garment, in order of their first vertices.

    Raises
    ------
    ValueError
        It has no pattern, or one that is not in metres: a sentence with a remedy.
    """
    flat, lack = pattern_size.in_pattern(obj)
    if flat is None:
        raise ValueError(lack)
    flat = np.column_stack([-flat[:, 1], flat[:, 0]])  # the warp runs along u, so that panels lie on their side
    triangles = arrays.triangulated(obj.data)[0]
    _refuse_other_scale(obj, flat, triangles, metres)
    number = _pieces(len(flat), triangles)
    rim = np.zeros(len(flat), bool)
    ends, count = np.unique(
        np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0, return_counts=True
    )
    rim[ends[count == 1]] = True
    names, found = _names(obj, number), []
    for piece in range(number.max() + 1):
        vertices = np.flatnonzero(number == piece)
        place = np.full(len(flat), -1)
        place[vertices] = np.arange(len(vertices))
        own = place[triangles[number[triangles[:, 0]] == piece]]
        a, b, c = (flat[vertices][own[:, k]] for k in range(3))
        area = 0.5 * np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]).sum()
        found.append(Panel(names[piece], vertices, flat[vertices], own, np.flatnonzero(rim[vertices]), float(area)))
    return found


def _refuse_other_scale(obj, flat, triangles, metres) -> None:
    """Where the mesh tells how large the cloth is, its pattern has to agree."""
    if obj.taffeta_cloth.pattern_size:
        return
    x = arrays.positions(obj.data).astype(float) @ world_matrix(obj, metres)[:3, :3].T
    sides = triangles[:, [0, 1]]
    long, cut = (np.linalg.norm(places[sides[:, 0]] - places[sides[:, 1]], axis=1) for places in (x, flat))
    if not abs(np.median(long) / max(np.median(cut), 1e-12) - 1.0) < OFF_SCALE:
        raise ValueError(
            f"{obj.name}: a unit of its UV map {obj.taffeta_cloth.uv_map} is {np.median(long) / max(np.median(cut), 1e-12):.3g} m; scale the map "
            "until it is a metre, or switch Size from Pattern on"
        )


def _pieces(count: int, triangles: np.ndarray) -> np.ndarray:
    """(n,) number of the piece that each vertex is in."""
    from scipy.sparse import coo_array  # here, because it takes long to import
    from scipy.sparse.csgraph import connected_components

    ends = triangles[:, [0, 1, 1, 2]].reshape(-1, 2)
    graph = coo_array((np.ones(len(ends), np.int8), tuple(ends.T)), shape=(count, count))
    return connected_components(graph, directed=False)[1]


def _names(obj, number: np.ndarray) -> list[str]:
    """Of each piece the smallest vertex group that all of it is in, else its number."""
    count = number.max() + 1
    size, names, smallest = np.bincount(number), [f"Panel {k + 1}" for k in range(count)], np.full(count, np.inf)
    for index, (vertices, _) in arrays.group_weights(obj.data).items():
        inside = np.bincount(number[vertices], minlength=count)
        for piece in np.flatnonzero(inside == size):
            if len(vertices) < smallest[piece]:
                names[piece], smallest[piece] = obj.vertex_groups[index].name, len(vertices)
    return names


def surface(obj: bpy.types.Object, depsgraph, scene) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 3) [m] and triangles (t, 3) of a body as it is posed now."""
    evaluated = obj.evaluated_get(depsgraph)
    return world_positions(evaluated, metres_per_unit(scene)), arrays.triangulated(evaluated.data)[0].astype(np.int64)


def stand(obj: bpy.types.Object, metres: float, panels: list[Panel], places: list[np.ndarray | None]) -> None:
    """Move the panels of a garment to their `places`, (k, 3) [m] each in the world; None stays."""
    x = arrays.positions(obj.data).astype(float)
    matrix = np.linalg.inv(world_matrix(obj, metres))
    for panel, place in zip(panels, places, strict=True):
        if place is not None:
            x[panel.vertices] = place @ matrix[:3, :3].T + matrix[:3, 3]
    set_positions(obj.data, x)
    obj.data.update()
