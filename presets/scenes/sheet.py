# SPDX-License-Identifier: GPL-3.0-or-later
"""Garments cut from grids: positions, quads and a pattern in metres; and what they are made of."""

import bpy
import numpy as np
from mathutils import Matrix


def rectangle(columns, rows, width, depth, hole=0, hole_radius=0.0):
    """Return points (n, 3), quads (m, 4) and pattern (n, 2), all metres, of a flat sheet in the plane z = 0.

    `columns` and `rows` count vertices; both odd when there is a hole. A hole leaves out the vertices within `hole`
    columns and rows of the middle; its rim is rounded to `hole_radius` [m] and the next three rings ease out of it.
    """
    j, i = np.mgrid[0:rows, 0:columns]
    step = np.array([width / (columns - 1), depth / (rows - 1)])
    grid = np.stack([i.ravel() - (columns - 1) / 2, j.ravel() - (rows - 1) / 2], 1)
    flat = grid * step
    if hole:
        ring = np.abs(grid).max(1)
        keep = ring > hole
        ease = np.clip((ring - hole - 1) / 3.0, 0.0, 1.0)[:, None]
        # A square ring becomes a circle with its vertices evenly round it.
        minor, major = np.sort(np.abs(grid), 1).T
        turn = np.pi / 4.0 * minor / np.maximum(major, 1e-9)
        first, second = np.cos(turn), np.sin(turn)
        wide = np.abs(grid[:, 0]) >= np.abs(grid[:, 1])
        circle = np.sign(grid) * np.stack([np.where(wide, first, second), np.where(wide, second, first)], 1)
        flat = ease * flat + (1.0 - ease) * circle * (hole_radius + (ring[:, None] - hole - 1) * step.mean())
    else:
        keep = np.ones(len(grid), bool)
    number = np.cumsum(keep) - 1
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    quads = corner[:, None] + [0, 1, columns + 1, columns]
    quads = quads[keep[quads].all(1)]
    flat = flat[keep]
    return np.column_stack([flat, np.zeros(len(flat))]), number[quads], flat


def tube(columns, rows, rings):
    """Return points (n, 3), quads (m, 4) and pattern per quad corner (m, 4, 2) [m] of a closed tube round the z axis.

    `rings` are rows of (height, half width along x, half width along y, shift along y) [m], evenly interpolated to
    `rows` rows from first to last; `columns` counts vertices round.
    """
    rings = np.asarray(rings, float)
    at = np.linspace(0.0, 1.0, rows)
    height, wide, deep, shift = (np.interp(at, np.linspace(0.0, 1.0, len(rings)), c) for c in rings.T)
    angle = np.arange(columns) / columns * 2.0 * np.pi
    x = wide[:, None] * np.cos(angle)
    y = shift[:, None] + deep[:, None] * np.sin(angle)
    points = np.stack([x, y, np.repeat(height[:, None], columns, 1)], -1)
    quads, pattern = [], []
    girth = np.linalg.norm(np.roll(points, -1, 1) - points, axis=2).sum(1)
    down = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=2).mean(1))])
    for j in range(rows - 1):
        for i in range(columns):
            k = (i + 1) % columns
            quads.append((j * columns + i, (j + 1) * columns + i, (j + 1) * columns + k, j * columns + k))
            pattern.append(
                [(girth[r] * c / columns, -down[r]) for r, c in ((j, i), (j + 1, i), (j + 1, i + 1), (j, i + 1))]
            )
    return points.reshape(-1, 3), np.array(quads), np.array(pattern)


def add(collection, name, points, quads, pattern, material, seams=None):
    """Add a garment to a collection; return the object. `pattern` is per point (n, 2) or per quad corner (m, 4, 2); `seams`
    (s, 2) are points that sewing edges join.
    """
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points.tolist(), [] if seams is None else seams.tolist(), quads.tolist())
    mesh.shade_smooth()
    mesh.materials.append(material)
    layer = mesh.uv_layers.new(name="Pattern")
    corners = pattern if pattern.ndim == 3 else pattern[quads]
    layer.uv.foreach_set("vector", corners.astype(np.float32).ravel())
    obj = bpy.data.objects.new(name, mesh)
    collection.objects.link(obj)
    obj.taffeta_cloth.enabled = True
    obj.taffeta_cloth.uv_map = "Pattern"
    return obj


def square(collection, name, count, side, height, material, turn=0.0, stretch=(1.0, 1.0)):
    """Add a square garment of count x count vertices at a height [m], turned by `turn` [rad]; return the object.

    `stretch` makes an oblong of it: factors of its side along x and y.
    """
    points, quads, pattern = rectangle(count, count, side * stretch[0], side * stretch[1])
    points = points @ np.array(Matrix.Rotation(turn, 3, "Z")).T + [0.0, 0.0, height]
    obj = add(collection, name, points, quads, pattern, material)
    make_of(obj, mass=0.15, thickness=0.003, stretch_stiffness=2500.0, shear_stiffness=60.0)
    return obj


def make_of(obj, **values):
    """Set mapped properties of a garment, each to one number: mass=0.2, friction=0.4, ..."""
    for name, value in values.items():
        getattr(obj.taffeta_cloth, name).value = value


def paint_group(obj, name, weights):
    """Add a vertex group with these weights (n,) to an object."""
    group = obj.vertex_groups.new(name=name)
    for weight in np.unique(weights[weights > 0.0]):
        group.add(np.flatnonzero(weights == weight).tolist(), float(weight), "REPLACE")


def map_group(obj, prop, group, minimum, maximum):
    """Let a vertex group vary a mapped property between two values."""
    mapped = getattr(obj.taffeta_cloth, prop)
    mapped.source, mapped.vertex_group, mapped.minimum, mapped.maximum = "GROUP", group, minimum, maximum


def map_image(obj, prop, image, uv_map, minimum, maximum):
    """Let an image, laid on by a UV map, vary a mapped property between two values."""
    mapped = getattr(obj.taffeta_cloth, prop)
    mapped.source, mapped.image, mapped.uv_map = "IMAGE", image, uv_map
    mapped.minimum, mapped.maximum = minimum, maximum


def collide(obj, aura=0.005, friction=0.4):
    """Make an object a body that cloth is kept out of."""
    obj.taffeta_collider.enabled = True
    obj.taffeta_collider.aura, obj.taffeta_collider.friction = aura, friction
    return obj
