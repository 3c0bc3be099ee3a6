# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers on a mesh's edges that operators mark: attributes, which Blender saves, copies, undoes and shows, and Geometry Nodes may
make, too.
"""

import zlib

import bpy
import numpy as np

from .arrays import stored_values
from .participants import refuse_linked

KINDS = "FLOAT", "INT", "BOOLEAN"  # of attributes that hold a number


def read(name: str, mesh: bpy.types.Mesh, attribute: str, whose: str) -> np.ndarray | None:
    """(e,) float64 of an attribute of the mesh of an object of this name; None where there is none. whose : who needs it, plural

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
            f"{name}: the attribute '{attribute}' holds {found.data_type} on {found.domain}, and {whose} need a float on "
            "edges; rename or remove it (Data tab > Attributes)"
        )
    return stored_values(found)[:, 0].astype(np.float64) if len(found.data) else np.zeros(0)


def checksum(mesh: bpy.types.Mesh, names: tuple[str, ...]) -> int:
    """Of attributes of these names."""
    total = 0
    for attribute in (mesh.attributes.get(name) for name in names):
        if attribute is not None and attribute.data_type in KINDS and len(attribute.data):
            total = zlib.crc32(stored_values(attribute), total)
    return total


def chosen(obj: bpy.types.Object) -> np.ndarray:
    """Numbers of the selected edges (k,), in Object Mode of those that were selected in Edit Mode last.

    Raises
    ------
    ValueError
        There is none, or they cannot be changed.
    """
    _refuse_linked(obj)
    selected = np.zeros(len(obj.data.edges), bool)
    obj.data.edges.foreach_get("select", selected)
    if not selected.any():
        raise ValueError(f"{obj.name} has no selected edge; select some in Edit Mode")
    return np.flatnonzero(selected)


def _refuse_linked(obj) -> None:
    refuse_linked(obj)
    if obj.data.library is not None:
        raise ValueError(f"{obj.name}: its mesh is linked from {obj.data.library.filepath}; make it local first")


def put(mesh: bpy.types.Mesh, name: str, which: np.ndarray, value: np.ndarray | float) -> None:
    """Give edges `which` (k,) a value of an attribute, which is made where there is none; in Object Mode.

    Raises
    ------
    ValueError
        The name is taken by something else: a sentence without the object.
    """
    attribute = mesh.attributes.get(name)
    if attribute is not None and (attribute.domain, attribute.data_type) != ("EDGE", "FLOAT"):
        raise ValueError(
            f"the attribute '{name}' is used for something else; rename or remove it (Data tab > Attributes)"
        )
    attribute = attribute or mesh.attributes.new(name, "FLOAT", "EDGE")
    values = stored_values(attribute)[:, 0]
    values[which] = value
    attribute.data.foreach_set("value", np.ascontiguousarray(values, np.float32))


def clear(obj: bpy.types.Object, names: tuple[str, ...], every: bool, mark: str) -> str:
    """Take marks of these names off the `chosen` edges of an object, or off all, in Object Mode; returns what was done. The last mark
    takes the attributes along. mark : what they are called, as "a pleat"

    Raises
    ------
    ValueError
        None of these edges has one, or they cannot be changed.
    """
    _refuse_linked(obj)
    mesh = obj.data
    which = np.arange(len(mesh.edges)) if every else chosen(obj)
    found = [mesh.attributes.get(name) for name in names]
    ours = [a for a in found if a is not None and a.domain == "EDGE" and a.data_type == "FLOAT" and len(a.data)]
    is_marked = np.zeros(len(mesh.edges), bool)
    for attribute in ours:
        is_marked |= stored_values(attribute)[:, 0] != 0.0
    if not (count := int(is_marked[which].sum())):
        edges = "its edges" if every else "its selected edges"
        raise ValueError(f"{obj.name}: none of {edges} is marked as {mark}")
    is_marked[which] = False
    for name in [attribute.name for attribute in ours]:  # Blender moves attributes when one is removed
        if is_marked.any():
            put(mesh, name, which, 0.0)
        else:
            mesh.attributes.remove(mesh.attributes[name])
    mesh.update()
    return f"{count} edges of {obj.name} are not marked as {mark} any more"
