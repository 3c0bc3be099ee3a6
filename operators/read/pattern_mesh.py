# SPDX-License-Identifier: GPL-3.0-or-later
"""A garment's mesh from the arrays of its pattern."""

import bpy
import numpy as np

from ...solver.geometry.topology import edge_keys
from . import pleats
from .arrays import corner_vertex, edges

UV_MAP = "Pattern"


def add(collection, name: str, made, panels: list[str], metres: float) -> bpy.types.Object:
    """An object with the mesh of a pattern, at the world's origin: a vertex group for each panel, its pattern in metres as UV map.

    Parameters
    ----------
    collection : where the object goes
    made : `patterns.panel_mesh.PatternMesh`
    panels : their names
    metres : a Blender unit's length [m]
    """
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata((made.x / metres).tolist(), made.seams.tolist(), made.triangles.tolist())
    mesh.shade_smooth()
    layer = mesh.uv_layers.new(name=UV_MAP)
    layer.uv.foreach_set("vector", made.flat[corner_vertex(mesh)].astype(np.float32).ravel())
    if len(made.folds):
        count = len(made.x)
        is_fold = np.isin(edge_keys(edges(mesh), count), edge_keys(made.folds, count))
        pleats.mark(mesh, np.flatnonzero(is_fold), 0.0, 1.0)
        for kind in (mesh.vertices, mesh.edges, mesh.polygons):
            kind.foreach_set("select", np.zeros(len(kind), bool))
        mesh.edges.foreach_set("select", is_fold)
        at = np.zeros(count, bool)
        at[made.folds] = True
        mesh.vertices.foreach_set("select", at)
    obj = bpy.data.objects.new(name, mesh)
    collection.objects.link(obj)
    for number, panel in enumerate(panels):
        obj.vertex_groups.new(name=panel).add(np.flatnonzero(made.panel == number).tolist(), 1.0, "REPLACE")
    return obj
