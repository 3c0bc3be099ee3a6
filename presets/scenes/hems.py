# SPDX-License-Identifier: GPL-3.0-or-later
"""An example with seam allowances: two cloths of one cotton on balls, one of them as it was cut, the other with a hem."""

import numpy as np

from . import materials, sheet, solids, stage

FRAMES = (1, 100)
COUNT, SIDE, HEIGHT = 49, 1.2, 0.86  # vertices along a side; [m]
RADIUS, APART = 0.26, 0.72  # [m] of the balls; of each from the middle
HEM, LAYERS = 0.03, 4  # [m] wide, of so many layers


def hemmed_cloth(context, collection):
    """Add both cloths and their balls; return what was made."""
    cloths, balls = [], []
    for name, side in (("Raw Cloth", -1.0), ("Hemmed Cloth", 1.0)):
        ball = solids.sphere(collection, RADIUS, 0.5)
        ball.location.x = side * APART
        balls.append(ball)
        cloth = sheet.square(collection, name, COUNT, SIDE, HEIGHT, materials.woven("Cotton", inside=0.7), turn=0.3)
        cloth.location.x = side * APART
        sheet.make_of(cloth, mass=0.12, thickness=0.0015, bending_stiffness=2e-5, damping=1.0)
        cloths.append(cloth)
    _hem(cloths[1])
    floor, camera = stage.furnish(context, collection, (0.0, -4.2, 1.5), (0.0, 0.0, 0.42), 58.0)
    return stage.Example(tuple(cloths), (*balls, floor), camera, FRAMES)


def _hem(cloth):
    """Mark the rim as a seam, as *Edge > Mark Seam* does, and give it an allowance."""
    mesh = cloth.data
    faces = np.bincount(
        [edge for polygon in mesh.polygons for edge in _edges(mesh, polygon)], minlength=len(mesh.edges)
    )
    mesh.edges.foreach_set("use_seam", faces == 1)
    cloth.taffeta_cloth.seam_allowance, cloth.taffeta_cloth.seam_layers = HEM, LAYERS
    mesh.materials.append(materials.plain("Hem", (0.62, 0.52, 0.36), 0.9))
    uv = np.array([mesh.uv_layers["Pattern"].uv[polygon.loop_start].vector for polygon in mesh.polygons])
    inside = 0.5 * SIDE - np.abs(uv + 0.5 * SIDE / (COUNT - 1)).max(axis=1)
    mesh.polygons.foreach_set("material_index", (inside < HEM).astype(np.int32))


def _edges(mesh, polygon):
    return [mesh.loops[corner].edge_index for corner in polygon.loop_indices]
