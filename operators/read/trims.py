# SPDX-License-Identifier: GPL-3.0-or-later
"""Trims: objects that follow three vertices of a garment by Blender's own parenting, and what the cloth below feels of them."""

import bpy
import numpy as np
from mathutils import Matrix

STIFFENED = "stretch_stiffness", "shear_stiffness", "bending_stiffness"


def trims_of(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """The trims that a garment carries, sorted by name."""
    found = [o for o in obj.children if o.taffeta_trim.enabled and o.parent_type in ("VERTEX", "VERTEX_3")]
    return sorted(found, key=lambda trim: trim.name)


def summary(obj: bpy.types.Object) -> list[list]:
    """What the cloth feels of its trims, as plain values."""
    numbers = "mass", "radius", "stiffening"
    return [[t.name, vertices_of(t), *(round(getattr(t.taffeta_trim, n), 7) for n in numbers)] for t in trims_of(obj)]


def vertices_of(trim: bpy.types.Object) -> list[int]:
    """The vertices of its garment that a trim follows: three, or one."""
    return list(trim.parent_vertices)[: 3 if trim.parent_type == "VERTEX_3" else 1]


def patch_of(trim: bpy.types.Object, x: np.ndarray) -> np.ndarray:
    """Vertices (m,) of the cloth, at rest at x (n, 3) [m], that carry a trim.

    Raises
    ------
    ValueError
        The garment lost the vertices that it follows.
    """
    followed = vertices_of(trim)
    if max(followed) >= len(x):
        raise ValueError(
            f"{trim.name} follows vertices that {trim.parent.name} has no more; put it on again (Add Trim)"
        )
    away = np.linalg.norm(x - x[followed].mean(axis=0), axis=1)
    return np.union1d(np.flatnonzero(away <= trim.taffeta_trim.radius), followed)


def loads(obj: bpy.types.Object, x: np.ndarray) -> np.ndarray | None:
    """(n,) [kg] that trims add to a garment at rest at x (n, 3) [m]; None without."""
    added = np.zeros(len(x))
    for trim in trims_of(obj):
        patch = patch_of(trim, x)
        added[patch] += trim.taffeta_trim.mass / len(patch)
    return added if added.any() else None


def stiffen(obj: bpy.types.Object, x: np.ndarray, values: dict[str, np.ndarray]) -> None:
    """Let a garment at rest at x (n, 3) [m] be stiffer where it carries trims. # outputs: stiffnesses among `values`"""
    names = [name for name in STIFFENED if name in values]
    for trim in trims_of(obj) if names else ():
        patch = patch_of(trim, x)
        for name in names:
            values[name] = values[name].copy()
            values[name][patch] *= trim.taffeta_trim.stiffening


def hang(trim: bpy.types.Object, obj: bpy.types.Object, vertices: list[int], view_layer: bpy.types.ViewLayer) -> None:
    """Let an object follow three vertices, with their frame, or one, by its place alone; it stays where it is now."""
    place = trim.matrix_world.copy()
    basis = trim.matrix_basis.copy()
    trim.parent, trim.parent_type = obj, "VERTEX_3" if len(vertices) == 3 else "VERTEX"
    trim.parent_vertices = (*vertices, 0, 0)[:3]
    trim.matrix_parent_inverse = Matrix()
    view_layer.update()
    carried = trim.matrix_world @ basis.inverted()
    trim.matrix_parent_inverse = carried.inverted() @ place @ basis.inverted()
    view_layer.update()


def take_off(trim: bpy.types.Object) -> None:
    """Let an object follow nothing; it stays where it is now."""
    place = trim.matrix_world.copy()
    trim.parent = None
    trim.matrix_world = place
