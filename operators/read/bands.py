# SPDX-License-Identifier: GPL-3.0-or-later
"""Elastic bands as two attributes of a mesh's edges: `LENGTH`, the part of the edge that the elastic strives for, and `TENSION` [N],
which it pulls with where the edge has its full length; 0 where no elastic is. And those of a painted map.
"""

import bpy
import numpy as np

from ...solver.model import Bands, Garment
from . import edge_values
from .arrays import edges

NAMES = LENGTH, TENSION = "elastic_length", "elastic_tension"


def read_bands(name: str, mesh: bpy.types.Mesh) -> Bands | None:
    """The elastic bands of the mesh of an object of this name, or of its evaluated mesh; None where it has none.

    Raises
    ------
    ValueError
        One of both attributes alone is there, or is none of numbers on edges: names object and remedy.
    """
    length, tension = (edge_values.read(name, mesh, attribute, "elastic bands") for attribute in NAMES)
    if length is None and tension is None:
        return None
    if length is None or tension is None:
        there, lacking = NAMES if tension is None else NAMES[::-1]
        raise ValueError(f"{name} has the attribute '{there}' without '{lacking}'; mark its elastic anew, or remove it")
    marked = (length != 0.0) | (tension != 0.0)
    return Bands(edges(mesh)[marked], length[marked], tension[marked]) if marked.any() else None


def garment_bands(obj: bpy.types.Object, mesh: bpy.types.Mesh, garment: Garment, tension: np.ndarray) -> Bands | None:
    """All elastic of a garment: that of its mesh, or of its evaluated mesh, and what is painted, a tension (n,) [N/m]; where an edge has
    both, it is as it is marked. None where there is none.

    Raises
    ------
    ValueError
        What is marked or painted cannot be: names object and remedy.
    """
    marked, settings = read_bands(obj.name, mesh), obj.taffeta_cloth
    if not tension.any():
        return marked
    from ...solver.elastic.painted_bands import painted_bands  # here, because it needs numba

    painted = painted_bands(garment, tension, settings.elastic_length, settings.elastic_along)
    if marked is None or painted is None:
        return marked or painted
    return Bands(*(np.concatenate(both) for both in zip(marked, painted, strict=True)))


def mark(mesh: bpy.types.Mesh, chosen: np.ndarray, length: np.ndarray | float, tension: np.ndarray | float) -> None:
    """Sew elastic onto the chosen edges (k,); in Object Mode."""
    edge_values.put(mesh, LENGTH, chosen, length)
    edge_values.put(mesh, TENSION, chosen, tension)
    mesh.update()
