# SPDX-License-Identifier: GPL-3.0-or-later
"""A quilt with front, back and rim falls on a ball: a closed shell, which its cage simulates as the one sheet in its middle."""

import bpy
import numpy as np

from . import materials, sheet, solids, stage

FRAMES = (1, 100)
COUNT, SIDE, THICK = 85, 1.5, 0.007  # vertices along a side; [m], as much as edges of the cage can keep apart
PATCH, PUFF = 0.125, 1.2  # [m] side of a square between seams; part by which it is thicker in its middle
HEIGHT, RADIUS = 0.98, 0.4  # [m] of the quilt; of the ball
AURA = 0.012  # [m] of ball and ground: more than what half the quilt's thickness is, because that is how far its lining is below the cage
CAGE = 2000  # vertices
BLUE, CREAM, LINING = (0.10, 0.22, 0.42), (0.62, 0.52, 0.36), (0.45, 0.09, 0.06)  # linear colours


def add(context, collection):
    """Add a quilt of 14,450 vertices above a ball, and its cage, which Bake simulates; return what was made."""
    ball = sheet.collide(solids.sphere(collection, RADIUS, 0.5), aura=AURA)
    points, quads, pattern = _quilt()
    obj = sheet.add(collection, "Quilt", points, quads, pattern, materials.plain("Blue", BLUE, 0.8))
    for name, colour in (("Cream", CREAM), ("Lining", LINING)):
        obj.data.materials.append(materials.plain(name, colour, 0.8))
    patch = np.floor(pattern[quads].mean(axis=1) / PATCH).astype(int).sum(axis=1) % 2
    is_front = np.arange(len(quads)) < (COUNT - 1) ** 2
    obj.data.polygons.foreach_set("material_index", np.where(is_front, patch, 2).astype(np.int32))
    sheet.make_of(obj, mass=0.4, stretch_stiffness=2500.0, shear_stiffness=60.0, bending_stiffness=6.5e-4, damping=1.0)
    floor, camera = stage.furnish(context, collection, target=(0.0, 0.0, 0.42), lens=62.0)
    floor.taffeta_collider.aura = AURA
    bpy.ops.taffeta.cage_make(object=obj.name, vertices=CAGE)
    cage = obj.taffeta_cage.cage
    cage.data.materials.append(obj.data.materials[0])
    return stage.Example((cage,), (ball, floor), camera, FRAMES)


def _quilt():
    """Points (n, 3), quads (m, 4), pattern (n, 2) [m]: front, then back, then the rim between them."""
    line = np.linspace(-SIDE / 2, SIDE / 2, COUNT)
    u, v = (a.ravel() for a in np.meshgrid(line, line))
    waves = np.sin(np.pi * u / PATCH) * np.sin(np.pi * v / PATCH)
    half = 0.5 * THICK * (1.0 + PUFF * np.abs(waves))
    points = np.concatenate([np.column_stack((u, v, HEIGHT + side * half)) for side in (1.0, -1.0)])
    corner = (np.arange(COUNT - 1)[:, None] * COUNT + np.arange(COUNT - 1)).ravel()
    front = corner[:, None] + [0, 1, COUNT + 1, COUNT]
    number = np.arange(COUNT**2).reshape(COUNT, COUNT)
    ring = np.concatenate((number[0, :-1], number[:-1, -1], number[-1, :0:-1], number[:0:-1, 0]))
    after, back = np.roll(ring, -1), COUNT**2
    rim = np.column_stack((after, ring, ring + back, after + back))
    return points, np.concatenate((front, front[:, ::-1] + back, rim)), np.tile(np.column_stack((u, v)), (2, 1))
