# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges that sew, in a mesh that is being edited: the lines that are selected, and the threads that are added between them."""

import bmesh
import bpy
import numpy as np

from .mesh_io import world_matrix


def selected(obj: bpy.types.Object) -> tuple[np.ndarray, np.ndarray]:
    """World positions (n, 3) of an object's vertices in Edit Mode, and the selected edges of faces, (k, 2)."""
    work = bmesh.from_edit_mesh(obj.data)
    matrix = world_matrix(obj, 1.0)
    x = np.array([vertex.co for vertex in work.verts], float).reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
    work.verts.index_update()
    ends = [[v.index for v in edge.verts] for edge in work.edges if edge.select and edge.link_faces]
    return x, np.array(ends, int).reshape(-1, 2)


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
