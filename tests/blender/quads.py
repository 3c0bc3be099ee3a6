# SPDX-License-Identifier: GPL-3.0-or-later
"""A strip of quads as cloth, lines of edges selected on it, and what the solver is given of it."""

import bpy
import numpy as np
from taffeta.operators.read import mesh_io

COLUMNS, ROWS, CELL = 9, 3, 0.05


def strip_of(make, name="Strip", **settings):
    """A strip of quads in the plane z = 0 along x, pinned nowhere."""
    i, j = np.meshgrid(np.arange(COLUMNS), np.arange(ROWS), indexing="ij")
    x = np.column_stack((CELL * i.ravel(), CELL * j.ravel(), np.zeros(COLUMNS * ROWS)))
    index = np.arange(COLUMNS * ROWS).reshape(COLUMNS, ROWS)
    faces = np.stack([index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]], axis=-1).reshape(-1, 4)
    obj = make.cloth(make.mesh(name, x, faces), **settings)
    bpy.context.view_layer.objects.active = obj
    return obj


def select(obj, columns):
    """Select in Edit Mode the edges of these lines across the strip."""
    for vertex in obj.data.vertices:
        vertex.select = vertex.index // ROWS in columns
    for edge in obj.data.edges:
        a, b = edge.vertices
        edge.select = a // ROWS == b // ROWS and a // ROWS in columns
    for face in obj.data.polygons:
        face.select = False
    bpy.context.tool_settings.mesh_select_mode = (False, True, False)  # before, or Blender selects what lies between
    bpy.ops.object.mode_set(mode="EDIT")


def read(obj):
    return mesh_io.read_garment(obj, bpy.context.evaluated_depsgraph_get(), bpy.context.scene)
