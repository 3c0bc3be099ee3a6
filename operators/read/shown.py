# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a garment's vertices are as the viewport shows it now, cache, rig and all."""

import bmesh
import bpy
import numpy as np

from .arrays import positions


def shown_positions(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
    """Where the garment's vertices are now, (n, 3) float32 in object space.

    When a modifier behind the cache changes the number of vertices (Subdivision), the mesh as it was before that.

    Raises
    ------
    ValueError
        A modifier changes the vertices before anything else moves them, or the mesh is in Edit Mode.
    """
    if obj.mode == "EDIT":
        raise ValueError(f"{obj.name}: the overlay comes back when you leave Edit Mode")
    count = len(obj.data.vertices)
    evaluated = obj.evaluated_get(depsgraph)
    if len(evaluated.data.vertices) == count:
        return positions(evaluated.data)
    cage = bmesh.new()
    try:
        cage.from_object(obj, depsgraph, cage=True)
        if len(cage.verts) != count:
            raise ValueError(
                f"{obj.name}: a modifier changes its vertices; move it to the end of the stack to see values"
            )
        return np.array([vertex.co for vertex in cage.verts], np.float32).reshape(-1, 3)
    finally:
        cage.free()
