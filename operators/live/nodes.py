# SPDX-License-Identifier: GPL-3.0-or-later
"""What shows a live simulation on a garment: a Geometry Nodes modifier where its cache would stand."""

import bpy

from ..read.mesh_io import OWN_POSE
from ..read.modifier_stack import cache_index

LIVE_NAME = "Taffeta Live"  # modifier and node group
SIMULATED = "taffeta_live"  # attribute: where the simulation wants the vertices, object space


def modifier_of(obj: bpy.types.Object) -> bpy.types.NodesModifier | None:
    """The modifier that shows the simulation on a garment, if it has one."""
    return obj.modifiers.get(LIVE_NAME)


def add_nodes(obj: bpy.types.Object) -> None:
    """A modifier where the cache belongs: keep the pose in `OWN_POSE`, then take the positions of `SIMULATED`."""
    tree = bpy.data.node_groups.new(LIVE_NAME, "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    kinds = "NodeGroupInput", "GeometryNodeStoreNamedAttribute", "GeometryNodeSetPosition", "NodeGroupOutput"
    nodes = [tree.nodes.new(kind) for kind in kinds]
    for one, other in zip(nodes[:-1], nodes[1:], strict=True):
        tree.links.new(one.outputs[0], other.inputs[0])
    store, move = nodes[1:3]
    store.data_type, store.domain = "FLOAT_VECTOR", "POINT"
    store.inputs["Name"].default_value = OWN_POSE
    tree.links.new(tree.nodes.new("GeometryNodeInputPosition").outputs[0], store.inputs["Value"])
    wanted = tree.nodes.new("GeometryNodeInputNamedAttribute")
    wanted.data_type = "FLOAT_VECTOR"
    wanted.inputs["Name"].default_value = SIMULATED
    tree.links.new(next(socket for socket in wanted.outputs if socket.enabled), move.inputs["Position"])
    at = cache_index(obj)
    modifier = obj.modifiers.new(LIVE_NAME, "NODES")
    modifier.node_group, modifier.show_render = tree, False
    obj.modifiers.move(len(obj.modifiers) - 1, at)


def remove_nodes(obj: bpy.types.Object) -> None:
    """Take the modifier and its attribute off a garment."""
    modifier = modifier_of(obj)
    if modifier is not None:
        tree = modifier.node_group
        obj.modifiers.remove(modifier)
        if tree is not None and tree.users == 0:
            bpy.data.node_groups.remove(tree)
    values = obj.data.attributes.get(SIMULATED)
    if values is not None:
        obj.data.attributes.remove(values)
