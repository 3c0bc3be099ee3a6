# SPDX-License-Identifier: GPL-3.0-or-later
"""Pleats as two attributes of a mesh's edges.

`ANGLE` [rad], above 0 a mountain on the side of the normals, below 0 a valley; `STIFFNESS`, times as stiff as the cloth is, 0
where no pleat is. Without the second, each edge with an angle is a pleat as stiff as the cloth.
"""

import bpy
import numpy as np

from ...solver.model import Pleats
from . import edge_values
from .arrays import edges

NAMES = ANGLE, STIFFNESS = "pleat_angle", "pleat_stiffness"


def read_pleats(name: str, mesh: bpy.types.Mesh) -> Pleats | None:
    """The pleats of the mesh of an object of this name, or of its evaluated mesh; None where it has none."""
    angle, stiffness = (edge_values.read(name, mesh, attribute, "marked pleats") for attribute in NAMES)
    if angle is None and stiffness is None:
        return None
    angle = np.zeros_like(stiffness) if angle is None else angle
    stiffness = (angle != 0.0).astype(np.float64) if stiffness is None else stiffness
    marked = stiffness != 0.0
    if not marked.any():
        return None
    return Pleats(edges(mesh)[marked], angle[marked], stiffness[marked])


def mark(mesh: bpy.types.Mesh, chosen: np.ndarray, angle: np.ndarray, stiffness: np.ndarray | float) -> None:
    """Make pleats of the chosen edges (k,), of the angles (k,) [rad]; in Object Mode."""
    edge_values.put(mesh, ANGLE, chosen, angle)
    edge_values.put(mesh, STIFFNESS, chosen, stiffness)
    mesh.update()
