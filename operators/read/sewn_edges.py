# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges that sew: the lines that are selected in Edit Mode, the threads that are added between them, and their welding."""

import bmesh
import bpy
import numpy as np

from .arrays import sewing_edges
from .mesh_io import world_matrix
from .write_back import set_positions


def selected(obj: bpy.types.Object) -> tuple[np.ndarray, np.ndarray]:
    """World positions (n, 3) of an object's vertices in Edit Mode, and the selected edges of faces, (k, 2)."""
    work = bmesh.from_edit_mesh(obj.data)
    matrix = world_matrix(obj, 1.0)
    x = np.array([vertex.co for vertex in work.verts], float).reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
    work.verts.index_update()
    ends = [[v.index for v in edge.verts] for edge in work.edges if edge.select and edge.link_faces]
    return x, np.array(ends, int).reshape(-1, 2)


def count(obj: bpy.types.Object) -> int:
    """How many edges of an object have no face, as it is in its mode."""
    if obj.mode != "EDIT":
        return len(sewing_edges(obj.data))
    return sum(edge.is_wire for edge in bmesh.from_edit_mesh(obj.data).edges)


def has_active(obj: bpy.types.Object, line: np.ndarray) -> bool:
    """Whether what was selected last in an object's Edit Mode lies on a line of vertices (k,)."""
    active = bmesh.from_edit_mesh(obj.data).select_history.active
    own = (
        active.verts
        if isinstance(active, bmesh.types.BMEdge)
        else [active]
        if isinstance(active, bmesh.types.BMVert)
        else []
    )
    return bool(own) and all(vertex.index in line for vertex in own)


def sew(obj: bpy.types.Object, pairs: np.ndarray) -> int:
    """Add an edge without a face between each of the pairs (s, 2), where none is; returns how many."""
    work, added = bmesh.from_edit_mesh(obj.data), 0
    work.verts.ensure_lookup_table()
    for pair in pairs.tolist():
        ends = [work.verts[index] for index in pair]
        if work.edges.get(ends) is None:
            work.edges.new(ends).select_set(True)
            added += 1
    bmesh.update_edit_mesh(obj.data, loop_triangles=False, destructive=True)
    return added


def weld(mesh: bpy.types.Mesh, x: np.ndarray, pairs: np.ndarray) -> None:
    """Give a mesh the positions x (n, 3) [Blender units, object space] and make one vertex of each of the `pairs` (s, 2).

    UV maps, vertex groups and materials come along; shape keys must be gone. Edges that were borders are marked as seams.
    """
    set_positions(mesh, x)
    place = np.arange(len(x))
    for one, other in np.sort(pairs, axis=1).tolist():
        place[place == place[other]] = place[one]
    work = bmesh.new()
    try:
        work.from_mesh(mesh)
        work.verts.ensure_lookup_table()
        sewn = set(pairs.ravel().tolist())
        for edge in work.edges:
            edge.tag = edge.is_boundary and all(vertex.index in sewn for vertex in edge.verts)
        target = {work.verts[k]: work.verts[place[k]] for k in np.flatnonzero(place != np.arange(len(x))).tolist()}
        bmesh.ops.weld_verts(work, targetmap=target)
        for edge in work.edges:
            edge.seam |= edge.tag and not edge.is_boundary
        work.to_mesh(mesh)
    finally:
        work.free()
    mesh.update()
