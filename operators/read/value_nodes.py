# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of simulated cloth as attributes of its points, for geometry nodes and shaders, by Blender's own Geometry Nodes.

    Armature  [Taffeta Cache]  Corrections  [Taffeta Values]  Subdivision

They are computed from where the vertices are, so they belong to whatever frame is shown or rendered, need no room on the disk,
and play without Taffeta. Of an edge of length l, at rest l0, in metres: strain e = l / l0 - 1; of each point the mean over its
edges of max(e, 0), max(-e, 0) and of the angle between the faces at an edge; how near the nearest body is; and how little room bodies
leave along the normal, on both sides together.
"""

from collections.abc import Iterable
from typing import NamedTuple

import bpy
import numpy as np

from .arrays import edges
from .correction import corrections_of
from .mesh_io import metres_per_unit, rest_positions
from .modifier_stack import cache_index, find_cache, index_of
from .write_back import set_numbers

NAME = "Taffeta Values"
REST = "taffeta_rest_length"  # [m] of each edge
STRETCH, COMPRESSION, FOLD = "taffeta_stretch", "taffeta_compression", "taffeta_fold"
CONTACT, PINCH = "taffeta_contact", "taffeta_pinch"
NAMES = STRETCH, COMPRESSION, FOLD, CONTACT, PINCH
FAR = 2.0  # contact distances at which contact has faded to 0


class Near(NamedTuple):
    """A body, and the distance at which the garment touches it."""

    body: bpy.types.Object
    distance: float  # [m]


def values_of(obj: bpy.types.Object) -> bpy.types.NodesModifier | None:
    """The modifier that gives a garment its values, if it has one."""
    modifier = obj.modifiers.get(NAME)
    return modifier if modifier is not None and modifier.type == "NODES" else None


def add(obj: bpy.types.Object, scene: bpy.types.Scene, bodies: Iterable[Near]) -> bpy.types.NodesModifier:
    """Give a garment the values, or measure anew what they are measured against: rest lengths, and which bodies there are."""
    metres = metres_per_unit(scene)
    _keep_rest(obj, metres)
    modifier = values_of(obj)
    if modifier is not None and modifier.node_group is not None and modifier.node_group.users == 1:
        bpy.data.node_groups.remove(modifier.node_group)
    tree = bpy.data.node_groups.new(f"{obj.name} Values", "GeometryNodeTree")
    scale = [metres * factor for factor in obj.matrix_world.to_scale()]
    _wire(tree, scale, bodies)
    if modifier is None:
        modifier = obj.modifiers.new(NAME, "NODES")
        cache = find_cache(obj)
        place = cache_index(obj) if cache is None else index_of(obj, cache) + 1 + len(corrections_of(obj))
        obj.modifiers.move(index_of(obj, modifier), min(place, len(obj.modifiers) - 1))
    modifier.node_group = tree
    return modifier


def _keep_rest(obj, metres: float) -> None:
    """Each edge's length at rest [m], as a bake measures it, as an attribute of the mesh."""
    x, ends = rest_positions(obj, obj, metres), edges(obj.data)
    kept = obj.data.attributes.get(REST)
    if kept is not None and (kept.data_type, kept.domain) != ("FLOAT", "EDGE"):
        obj.data.attributes.remove(kept)
        kept = None
    kept = kept or obj.data.attributes.new(REST, "FLOAT", "EDGE")
    set_numbers(kept, np.linalg.norm(x[ends[:, 1]] - x[ends[:, 0]], axis=1))
    obj.data.update()


def _wire(tree, scale, bodies) -> None:
    """The nodes of the equations above."""
    tree.is_modifier = True
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    strain = _strain(tree, scale)
    angle = tree.nodes.new("GeometryNodeInputMeshEdgeAngle").outputs["Unsigned Angle"]
    values = {
        STRETCH: _of_edges(tree, _math(tree, "MAXIMUM", strain, 0.0)),
        COMPRESSION: _of_edges(tree, _math(tree, "MAXIMUM", _math(tree, "MULTIPLY", strain, -1.0), 0.0)),
        FOLD: _of_edges(tree, angle),
        CONTACT: _contact(tree, scale, bodies),
        PINCH: _pinch(tree, scale, bodies),
    }
    geometry = tree.nodes.new("NodeGroupInput").outputs[0]
    for name, value in values.items():
        store = tree.nodes.new("GeometryNodeStoreNamedAttribute")
        store.data_type, store.domain = "FLOAT", "POINT"
        store.inputs["Name"].default_value = name
        tree.links.new(geometry, store.inputs["Geometry"])
        _give(tree, value, next(socket for socket in store.inputs if socket.name == "Value" and socket.enabled))
        geometry = store.outputs["Geometry"]
    tree.links.new(geometry, tree.nodes.new("NodeGroupOutput").inputs[0])


def _strain(tree, scale):
    """Of each edge, l / l0 - 1; 0 where nothing is known of its length at rest."""
    ends = tree.nodes.new("GeometryNodeInputMeshEdgeVertices").outputs
    along, scaled, length = (tree.nodes.new("ShaderNodeVectorMath") for _ in range(3))
    along.operation, scaled.operation, length.operation = "SUBTRACT", "MULTIPLY", "LENGTH"
    tree.links.new(ends["Position 2"], along.inputs[0])
    tree.links.new(ends["Position 1"], along.inputs[1])
    tree.links.new(along.outputs[0], scaled.inputs[0])
    scaled.inputs[1].default_value = scale
    tree.links.new(scaled.outputs[0], length.inputs[0])
    rest = tree.nodes.new("GeometryNodeInputNamedAttribute")
    rest.data_type = "FLOAT"
    rest.inputs["Name"].default_value = REST
    rest = next(socket for socket in rest.outputs if socket.enabled)
    strain = _math(tree, "SUBTRACT", _math(tree, "DIVIDE", length.outputs["Value"], rest), 1.0)
    return _math(tree, "MULTIPLY", strain, _math(tree, "GREATER_THAN", rest, 0.0))


def _contact(tree, scale, bodies):
    """Of each point, 1 where it is as near to a body as it may come, falling to 0 at `FAR` times that."""
    size = float(np.mean(np.abs(scale)))
    most = 0.0
    for body, distance in bodies:
        near = tree.nodes.new("GeometryNodeProximity")
        near.target_element = "FACES"
        tree.links.new(_geometry(tree, body), near.inputs[0])
        away = _math(tree, "DIVIDE", near.outputs["Distance"], distance / size)
        touch = _math(tree, "SUBTRACT", FAR, away)
        touch.node.use_clamp = True
        most = touch if most == 0.0 else _math(tree, "MAXIMUM", most, touch)
    return most


def _pinch(tree, scale, bodies):
    """Of each point, 1 where bodies leave the cloth no room: on both sides together, along its normal, at most the two distances
    at which it touches; falling to 0 at `FAR` times that.
    """
    if not bodies:
        return 0.0
    size, normal = float(np.mean(np.abs(scale))), tree.nodes.new("GeometryNodeInputNormal").outputs["Normal"]
    rooms = []
    for way in (1.0, -1.0):
        turned = tree.nodes.new("ShaderNodeVectorMath")
        turned.operation = "SCALE"
        turned.inputs["Scale"].default_value = way
        tree.links.new(normal, turned.inputs[0])
        room = 2.0 * FAR  # contact distances: on this side there is nothing
        for body, distance in bodies:
            ray = tree.nodes.new("GeometryNodeRaycast")
            tree.links.new(_geometry(tree, body), ray.inputs["Target Geometry"])
            tree.links.new(turned.outputs[0], ray.inputs["Ray Direction"])
            ray.inputs["Ray Length"].default_value = 2.0 * FAR * distance / size
            away = _math(tree, "DIVIDE", ray.outputs["Hit Distance"], distance / size)
            missed = _math(tree, "SUBTRACT", 2.0 * FAR, _math(tree, "MULTIPLY", ray.outputs["Is Hit"], 2.0 * FAR))
            room = _math(tree, "MINIMUM", room, _math(tree, "ADD", away, missed))
        rooms.append(room)
    pinch = _math(tree, "SUBTRACT", FAR, _math(tree, "MULTIPLY", _math(tree, "ADD", *rooms), 0.5))
    pinch.node.use_clamp = True
    return pinch


def _geometry(tree, body):
    """The surface of a body as the garment has it."""
    read = tree.nodes.new("GeometryNodeObjectInfo")
    read.transform_space = "RELATIVE"
    read.inputs["Object"].default_value = body
    return read.outputs["Geometry"]


def _of_edges(tree, value):
    """Of each point the mean of its edges' values."""
    node = tree.nodes.new("GeometryNodeFieldOnDomain")
    node.data_type, node.domain = "FLOAT", "EDGE"
    tree.links.new(value, node.inputs[0])
    return node.outputs[0]


def _math(tree, operation, *values):
    """A node of arithmetic on sockets and numbers; its output."""
    node = tree.nodes.new("ShaderNodeMath")
    node.operation = operation
    for value, socket in zip(values, node.inputs, strict=False):
        _give(tree, value, socket)
    return node.outputs[0]


def _give(tree, value, socket) -> None:
    """A socket or a number into a socket."""
    if isinstance(value, float):
        socket.default_value = value
    else:
        tree.links.new(value, socket)
