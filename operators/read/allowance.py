# SPDX-License-Identifier: GPL-3.0-or-later
"""Seam allowances: the strips beside a garment's seams in which its cloth lies in several layers.

Layers that are sewn along one line slide on each other when they bend, and then their energies add: n of them are n times as stiff
as one (Popper 1966, Mechanics of bending of fiber assemblies, the limit of no friction; that of no sliding is n^3).
"""

import zlib

import bpy
import numpy as np

from ...solver.geometry.allowance import beside, filled
from .arrays import seam_edges, seams, triangulated

LAYERED = "mass", "thickness", "stretch_stiffness", "shear_stiffness", "bending_stiffness"


def sewn_vertices(obj: bpy.types.Object) -> np.ndarray:
    """(n,) bool: the vertices of a garment's seams, of those that are sewn and of edges that are marked as seams."""
    mesh = obj.data
    sewn = np.zeros(len(mesh.vertices), bool)
    if obj.taffeta_cloth.sewing:
        sewn[seams(mesh)] = True
    sewn[seam_edges(mesh)] = True
    return sewn


def checksum(obj: bpy.types.Object) -> int | None:
    """Of what is marked as seams of a garment; None without an allowance."""
    return zlib.crc32(sewn_vertices(obj)) if obj.taffeta_cloth.seam_allowance > 0.0 else None


def fold_in(obj: bpy.types.Object, x: np.ndarray, values: dict[str, np.ndarray]) -> None:
    """Let a garment at rest at x (n, 3) [m] be as many times as heavy, thick and stiff beside its seams as it has layers there.
    # outputs: those of `LAYERED` among `values`"""
    cloth, names = obj.taffeta_cloth, [name for name in LAYERED if name in values]
    if not names or cloth.seam_allowance <= 0.0:
        return
    triangles = triangulated(obj.data)[0]
    layers = beside(x, triangles, filled(triangles, sewn_vertices(obj)), cloth.seam_allowance)
    for name in names:
        values[name] = values[name] * (1.0 + (cloth.seam_layers - 1) * layers)
