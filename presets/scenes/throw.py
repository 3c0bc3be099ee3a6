# SPDX-License-Identifier: GPL-3.0-or-later
"""A throw over the back of a chair, to be arranged by hand with Drape."""

import bmesh
import bpy
import numpy as np

from . import materials, sheet, solids, stage

FRAMES = (1, 100)
#: of the chair from the side: y to the back, z up [m]
OUTLINE = (-0.40, 0.02), (0.40, 0.02), (0.48, 0.85), (0.34, 0.87), (0.27, 0.45), (-0.40, 0.42)
HALF_WIDTH, ROUND = 0.36, 0.045  # [m]
COLUMNS, ROWS, WIDTH, LENGTH = 45, 57, 1.1, 1.4  # of the throw: vertices, [m]
BACK, ABOVE, TURN = 0.32, 0.91, 0.3  # [m] where its middle is, and [rad] how askew it lies


def add(context, collection):
    """Add a throw that lies flat on a chair's back; return what was made."""
    chair = solids.dress(collection, "Chair", _chair(), 0.0)
    points, quads, pattern = sheet.rectangle(COLUMNS, ROWS, WIDTH, LENGTH)
    along, across = np.array([np.cos(TURN), np.sin(TURN)]), np.array([-np.sin(TURN), np.cos(TURN)])
    points = np.column_stack([points[:, :2] @ np.column_stack([along, across]).T, np.full(len(points), ABOVE)])
    points[:, 1] += BACK
    cloth = sheet.add(collection, "Throw", points, quads, pattern, materials.woven("Throw Wool", inside=0.7))
    sheet.make_of(cloth, mass=0.25, thickness=0.004, stretch_stiffness=2500.0, damping=1.0, bending_stiffness=1.5e-4)
    floor, camera = stage.furnish(context, collection, (2.4, -3.4, 2.0), (0.0, 0.05, 0.45), 62.0)
    return stage.Example((cloth,), (chair, floor), camera, FRAMES)


def _chair():
    """A mesh of the outline, drawn out to both sides, with round edges."""
    mesh, shape = bpy.data.meshes.new("Chair"), bmesh.new()
    face = shape.faces.new([shape.verts.new((-HALF_WIDTH, y, z)) for y, z in OUTLINE])
    other = bmesh.ops.extrude_face_region(shape, geom=[face])["geom"]
    moved = [element for element in other if isinstance(element, bmesh.types.BMVert)]
    bmesh.ops.translate(shape, vec=(2.0 * HALF_WIDTH, 0.0, 0.0), verts=moved)
    bmesh.ops.bevel(shape, geom=shape.edges[:], offset=ROUND, segments=4, profile=0.5, affect="EDGES")
    bmesh.ops.recalc_face_normals(shape, faces=shape.faces[:])
    shape.to_mesh(mesh)
    shape.free()
    return solids.in_order(mesh)
