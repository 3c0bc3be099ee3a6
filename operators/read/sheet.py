# SPDX-License-Identifier: GPL-3.0-or-later
"""A garment's mesh as the sheet of cloth that it stands for: doubled seams are welded, and a closed shell, front and back at a
nearly even distance, is the one sheet in its middle. Lines in it are kept where a mesh is made anew: borders, seams, pleats, elastic.

A shell is told by rays: from the middle of each face straight inwards to the far side. Where most of its area meets faces that
look the other way, at nearly the same distance, and that is small beside the shell's extent, it is cloth with a thickness.
"""

from typing import NamedTuple

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from . import arrays, bands, pleats, tear_lines
from .mesh_io import check_finite, metres_per_unit, rest_positions

FACING_AWAY = -0.7  # cosine between the normals of two sides that belong together, at most
NEAR_MEDIAN = 2.0  # factor by which a shell's thickness may vary
SHELL_SHARE = 0.8  # of its area that has such a far side, at least
THIN = 0.1  # of the side of a square as large as one sheet of it: a shell's thickness at most
START = 1e-3  # of a face's size, that a ray begins below it


class Sheet(NamedTuple):
    """A surface, with the vertices of the garment's mesh."""

    x: np.ndarray  # (n, 3) [m], from `origin`: at rest; of a shell, moved to its middle
    triangles: np.ndarray  # (t, 3) that make up the sheet
    source: np.ndarray  # (t,) which of the mesh's triangles each is
    lines: np.ndarray  # (l, 2) edges that stay lines of a mesh made anew; of a shell, also of its other side
    origin: np.ndarray  # (3,) [m] in the world
    thickness: float  # [m] of the shells among it; 0 where there is none


def sheet_of(obj: bpy.types.Object, scene: bpy.types.Scene) -> Sheet:
    """The sheet of a garment at rest, in the size that it has in the world.

    Raises
    ------
    ValueError
        It has no faces with an area, an edge of more than two, or marks that cannot be read: names the object and the remedy.
    """
    from ...solver.geometry.topology import border_edges, clean_faces

    world = rest_positions(obj, obj, metres_per_unit(scene))
    check_finite(obj.name, world, "in its mesh")
    origin = world.mean(axis=0) if len(world) else np.zeros(3)
    x = world - origin
    triangles = arrays.triangulated(obj.data)[0]
    place = _places(obj, triangles, x)
    triangles = place[triangles]
    faces = clean_faces(x, triangles) if len(triangles) else None
    if faces is None or not len(faces.triangles):
        raise ValueError(f"{obj.name} has no faces with an area, so there is nothing to make a cage of; add some")
    shared = np.unique(_sides(faces.triangles, len(x))[0], return_counts=True)[1]
    if (shared > 2).any():
        raise ValueError(
            f"{obj.name} has {int((shared > 2).sum()):,} edges of more than two faces; take them apart in Edit Mode "
            "(Select > All by Trait > Non Manifold), then make the cage"
        )
    triangles, x, thickness = _middle(faces.triangles, x)
    source = _source(faces, triangles)
    marked = (read(obj.name, obj.data) for read in (pleats.read_pleats, bands.read_bands))
    lines = [arrays.seam_edges(obj.data), *(marks.edges for marks in marked if marks is not None)]
    lines = np.concatenate((place[np.concatenate(lines)], border_edges(triangles)))
    return Sheet(x, triangles, source, lines, origin, thickness)


def _places(obj, triangles, x):
    """Which vertex each one is (n,), where seams are doubled and tear lines cut: a sheet is whole along both."""
    from ...solver.geometry.tear_lines import find_joints
    from ...solver.geometry.weld import find_twins

    place = find_joints(x, *tear_lines.marked(obj.data)).place
    if len(triangles) and obj.taffeta_cloth.weld > 0.0:
        twins = find_twins(place[triangles], x, obj.taffeta_cloth.weld)
        first = np.arange(len(x))
        first[twins[:, 0]] = twins[:, 1]
        place = first[place]
    return place


def _source(faces, triangles):
    """Which of the mesh's triangles each one is."""
    known = {tuple(corners): int(index) for corners, index in zip(faces.triangles.tolist(), faces.kept, strict=True)}
    return np.array([known[tuple(corners)] for corners in triangles.tolist()], int)


def _sides(triangles, count):
    """One number an edge for each side of triangles, and whose side it is, (3 t,)."""
    ends = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2).astype(np.int64)
    return ends.min(axis=1) * count + ends.max(axis=1), np.repeat(np.arange(len(triangles)), 3)


def _parts(triangles, count):
    """Which part, connected by edges, each triangle belongs to, (t,)."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    keys, of = _sides(triangles, count)
    order = np.argsort(keys, kind="stable")
    keys, of = keys[order], of[order]
    same = np.flatnonzero(keys[1:] == keys[:-1])
    links = coo_matrix((np.ones(len(same)), (of[same], of[same + 1])), shape=(len(triangles),) * 2)
    return connected_components(links, directed=False)[1]


def _middle(triangles, x):
    """The triangles of which each shell is given by one side, moved to its middle; (triangles, x, thickness [m])."""
    parts, kept, x = _parts(triangles, len(x)), [], x.copy()
    thickness, weight = [], []
    for part in range(parts.max() + 1):
        own = triangles[parts == part]
        found = _shell(own, x)
        if found is None:
            kept.append(own)
            continue
        front, vertices, middle, thick = found
        x[vertices] = middle
        kept.append(front)
        thickness.append(thick)
        weight.append(_areas(front, x)[0].sum())
    kept = np.concatenate(kept)
    if 2.0 * sum(weight) < _areas(kept, x)[0].sum():  # buttons on a garment are not what it is made of
        return kept, x, 0.0
    return kept, x, float(np.average(thickness, weights=weight))


def _areas(triangles, x):
    """Areas (t,) [m2] and unit normals (t, 3) of triangles."""
    a, b, c = (x[triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    size = np.linalg.norm(normal, axis=1)
    return 0.5 * size, normal / np.maximum(size, 1e-300)[:, None]


def _shell(triangles, x):
    """One side of a closed shell: its triangles, their vertices, where the middle is for these, and the thickness [m]; None
    where the part is no shell."""
    keys = _sides(triangles, len(x))[0]
    if (np.unique(keys, return_counts=True)[1] != 2).any():
        return None
    area, normal = _areas(triangles, x)
    volume = np.einsum("ij,ij->", x[triangles[:, 0]], np.cross(x[triangles[:, 1]], x[triangles[:, 2]]))
    across = _across(triangles, x, normal if volume > 0.0 else -normal, area)
    extent = np.sqrt(0.5 * area.sum())
    seen = np.isfinite(across)
    if area[seen].sum() < SHELL_SHARE * area.sum():
        return None
    thick = _median(across[seen], area[seen])
    flat = seen & (across < NEAR_MEDIAN * thick) & (across > thick / NEAR_MEDIAN)
    if thick > THIN * extent or area[flat].sum() < SHELL_SHARE * area.sum():
        return None
    sides = _two_sides(triangles, len(x), flat, area)
    if sides is None:
        return None
    front, back = (triangles[side] for side in sides)
    vertices, others = np.unique(front), np.unique(back)
    if len(np.intersect1d(vertices, others)) > 0.1 * len(vertices):
        return None
    tree = BVHTree.FromPolygons(x.tolist(), back.tolist(), all_triangles=True)
    far = np.array([tree.find_nearest(point)[0] for point in x[vertices].tolist()], float)
    return front, vertices, 0.5 * (x[vertices] + far), thick


def _across(triangles, x, normal, area):
    """How far it is from each triangle inwards to one that looks the other way, (t,) [m]; inf where there is none."""
    tree = BVHTree.FromPolygons(x.tolist(), triangles.tolist(), all_triangles=True)
    step = START * np.sqrt(area)
    start = x[triangles].mean(axis=1) - step[:, None] * normal
    across = np.full(len(triangles), np.inf)
    for k, (point, direction) in enumerate(zip(start.tolist(), (-normal).tolist(), strict=True)):
        _, _, hit, distance = tree.ray_cast(point, direction)
        if hit is not None and normal[hit] @ normal[k] < FACING_AWAY:
            across[k] = distance + step[k]
    return across


def _median(values, weights):
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return float(values[order[np.searchsorted(total, 0.5 * total[-1])]])


def _two_sides(triangles, count, flat, area):
    """Which triangles are the front and which the back of a shell, (t,) bool each; None where it has not two sides. Small parts
    that lie within one side, and no rim, belong to it."""
    side = np.full(len(triangles), -1)
    chosen = np.flatnonzero(flat)
    parts = _parts(triangles[chosen], count)
    size = np.bincount(parts, weights=area[chosen])
    if len(size) < 2:
        return None
    largest = np.argsort(-size, kind="stable")[:2]
    if size[largest[1]] < 0.5 * SHELL_SHARE * 0.5 * area.sum():
        return None
    for number, part in enumerate(largest):
        side[chosen[parts == part]] = number
    rest = np.flatnonzero(side < 0)
    if len(rest):
        parts = _parts(triangles[rest], count)
        touches = [np.isin(triangles[rest], triangles[side == number]).any(axis=1) for number in (0, 1)]
        near = [np.bincount(parts, weights=touch) > 0 for touch in touches]
        for number in (0, 1):
            side[rest[(near[number] & ~near[1 - number])[parts]]] = number
    return side == 0, side == 1
