# SPDX-License-Identifier: GPL-3.0-or-later
"""Modifiers that make maps: Geometry Nodes that store an attribute or a vertex group, and those that edit weights.

What they make may be another map in each frame. They belong before the simulation where a garment names what they make.
"""

from collections.abc import Iterator

import bpy

from ...panels.mapped import MAPPED

GROUP_NAMES = {  # modifier: its setting that names the group whose weights it makes
    "VERTEX_WEIGHT_EDIT": "vertex_group",
    "VERTEX_WEIGHT_MIX": "vertex_group_a",
    "VERTEX_WEIGHT_PROXIMITY": "vertex_group",
}
STORES = "GeometryNodeStoreNamedAttribute"
MOST_DEPTH = 32  # of node groups in each other


def makes(modifier: bpy.types.Modifier, name: str) -> bool:
    """Whether a modifier may make, or change, the vertex group or attribute of this name."""
    if modifier.type in GROUP_NAMES:
        return getattr(modifier, GROUP_NAMES[modifier.type]) == name
    if modifier.type != "NODES" or modifier.node_group is None:
        return False
    tree = modifier.node_group
    outputs = (i for i in tree.interface.items_tree if i.item_type == "SOCKET" and i.in_out == "OUTPUT")
    if any(_output_name(modifier, item.identifier) == name for item in outputs):
        return True
    return any(stored is None or stored == name for stored in _stored(tree))


def _output_name(modifier, identifier: str) -> str:
    """What a modifier's output is stored as; "" where it is not."""
    if hasattr(modifier, "properties"):  # from Blender 5.2 on
        return getattr(getattr(modifier.properties.outputs, identifier, None), "attribute_name", "")
    found = modifier.get(f"{identifier}_attribute_name", "")
    return found if isinstance(found, str) else ""


def _stored(tree: bpy.types.NodeTree, depth: int = 0) -> Iterator[str | None]:
    """The names that a tree stores attributes under; None for one that it computes or is given."""
    for node in tree.nodes if depth < MOST_DEPTH else ():
        if node.bl_idname == STORES and not node.mute:
            socket = node.inputs["Name"]
            yield None if socket.is_linked else socket.default_value
        elif node.type == "GROUP" and node.node_tree is not None and not node.mute:
            yield from _stored(node.node_tree, depth + 1)


def makes_a_map(obj: bpy.types.Object, modifier: bpy.types.Modifier) -> bool:
    """Whether a modifier makes what a garment's settings name as a map."""
    if modifier.type not in GROUP_NAMES and modifier.type != "NODES":
        return False
    return any(makes(modifier, name) for name in names_of_maps(obj))


def names_of_maps(obj: bpy.types.Object) -> set[str]:
    """The vertex groups and attributes that a garment's mapped properties name."""
    groups = (getattr(obj.taffeta_cloth, name) for name in MAPPED)
    found = {map_name(mapped) for mapped in groups} if obj.taffeta_cloth.enabled else set()
    return found - {""}


def map_name(mapped: bpy.types.PropertyGroup) -> str:
    """The vertex group or attribute that a mapped property names; "" where it names none."""
    if mapped.source == "GROUP":
        return mapped.vertex_group
    return mapped.attribute if mapped.source == "ATTRIBUTE" else ""
