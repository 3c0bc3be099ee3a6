# SPDX-License-Identifier: GPL-3.0-or-later
"""Pleats as two attributes of a mesh's edges, which Blender saves, copies, undoes and shows, and Geometry Nodes may make.

`ANGLE` [rad], above 0 a mountain on the side of the normals, below 0 a valley; `STIFFNESS`, times as stiff as the cloth is, 0
where no pleat is. Without the second, each edge with an angle is a pleat as stiff as the cloth.
"""

import zlib

import bpy
import numpy as np

from ...solver.model import Pleats
from .arrays import edges, stored_values

ANGLE, STIFFNESS = "pleat_angle", "pleat_stiffness"
KINDS = "FLOAT", "INT", "BOOLEAN"  # of attributes that hold a number


def _values(name: str, mesh: bpy.types.Mesh, attribute: str) -> np.ndarray | None:
    """(e,) float64 of an attribute; None where there is none.

    Raises
    ------
    ValueError
        It is none of numbers on edges: names object and remedy.
    """
    found = mesh.attributes.get(attribute)
    if found is None:
        return None
    if found.domain != "EDGE" or found.data_type not in KINDS:
        raise ValueError(
            f"{name}: the attribute '{attribute}' holds {found.data_type} on {found.domain}, and pleats need a float on "
            "edges; rename or remove it (Data tab > Attributes)"
        )
    return stored_values(found)[:, 0].astype(np.float64) if len(found.data) else np.zeros(0)


def read_pleats(name: str, mesh: bpy.types.Mesh) -> Pleats | None:
    """The pleats of the mesh of an object of this name, or of its evaluated mesh; None where it has none."""
    angle, stiffness = (_values(name, mesh, attribute) for attribute in (ANGLE, STIFFNESS))
    if angle is None and stiffness is None:
        return None
    angle = np.zeros_like(stiffness) if angle is None else angle
    stiffness = (angle != 0.0).astype(np.float64) if stiffness is None else stiffness
    marked = stiffness != 0.0
    if not marked.any():
        return None
    return Pleats(edges(mesh)[marked], angle[marked], stiffness[marked])


def checksum(mesh: bpy.types.Mesh) -> int:
    """Of both attributes."""
    known, total = [mesh.attributes.get(name) for name in (ANGLE, STIFFNESS)], 0
    for attribute in known:
        if attribute is not None and attribute.data_type in KINDS and len(attribute.data):
            total = zlib.crc32(stored_values(attribute), total)
    return total


def selected_edges(mesh: bpy.types.Mesh) -> np.ndarray:
    """Whether each edge is selected, (e,) bool; in Object Mode what was selected in Edit Mode last."""
    chosen = np.zeros(len(mesh.edges), bool)
    mesh.edges.foreach_get("select", chosen)
    return chosen


def mark(mesh: bpy.types.Mesh, chosen: np.ndarray, angle: np.ndarray, stiffness: float) -> None:
    """Make pleats of the chosen edges (k,), of the angles (k,) [rad]; in Object Mode."""
    _put(mesh, ANGLE, chosen, angle)
    _put(mesh, STIFFNESS, chosen, stiffness)
    mesh.update()


def clear(mesh: bpy.types.Mesh, chosen: np.ndarray) -> int:
    """Let the chosen edges (k,) be no pleats any more; returns how many were. In Object Mode. The last one takes the attributes along."""
    found = [mesh.attributes.get(name) for name in (ANGLE, STIFFNESS)]
    ours = [a for a in found if a is not None and a.domain == "EDGE" and a.data_type == "FLOAT" and len(a.data)]
    is_pleat = np.zeros(len(mesh.edges), bool)
    for attribute in ours:
        is_pleat |= stored_values(attribute)[:, 0] != 0.0
    count = int(is_pleat[chosen].sum())
    is_pleat[chosen] = False
    names = [attribute.name for attribute in ours]  # Blender moves attributes when one is removed
    for name in names:
        if is_pleat.any():
            _put(mesh, name, chosen, 0.0)
        else:
            mesh.attributes.remove(mesh.attributes[name])
    mesh.update()
    return count


def _put(mesh, name, chosen, value):
    attribute = mesh.attributes.get(name)
    if attribute is not None and (attribute.domain, attribute.data_type) != ("EDGE", "FLOAT"):
        raise ValueError(
            f"the attribute '{name}' is used for something else; rename or remove it (Data tab > Attributes)"
        )
    attribute = attribute or mesh.attributes.new(name, "FLOAT", "EDGE")
    values = stored_values(attribute)[:, 0]
    values[chosen] = value
    attribute.data.foreach_set("value", np.ascontiguousarray(values, np.float32))
