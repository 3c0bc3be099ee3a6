# SPDX-License-Identifier: GPL-3.0-or-later
"""Corrections of a baked garment: what was sculpted at a frame, added behind the cache by Blender's own Geometry Nodes.

    Armature  [Taffeta Cache]  Correction 12  Correction 40  Subdivision  Solidify

Each correction is a modifier with a node group of its own, so that it plays, renders and exports without Taffeta:

    x' = x + weight fade(frame) (a t + b s + c n)

The vector (a, b, c) of each vertex is an attribute of the mesh [Blender units], along the vertex' normal n, the direction
s = n x e / |n x e| beside the edge e to a neighbour, and t = s x n. So it turns with the cloth. Where no edge leaves the
normal, it is along the object's axes. Vertices at one place, as the sides of a welded seam, have the directions of the first of
them: by their own, each side would go another way where the correction fades. `fade` is keyed in the node group: 1 at the frame, 0 from where it has faded.
Corrections of many frames add what a file says instead (`offsets`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import bpy
import numpy as np

from . import offsets
from .arrays import edges, first_at_place, positions, stored_values, vertex_normals
from .keyed import curves
from .modifier_stack import find_cache, index_of, is_inherited
from .write_back import set_values

FRAME, BEFORE, AFTER = "taffeta_frame", "taffeta_before", "taffeta_after"  # what a node group is told, and keeps
VERTICES, MUTED, UNFIT = "taffeta_vertices", "taffeta_muted", "taffeta_unfit"
FADE, WEIGHT, OFFSET, NEIGHBOUR, FIRST = "Fade", "Weight", "Offset", "Neighbour", "First"  # names of nodes
LEAST_SINE = 0.1  # of the angle between an edge and the normal for the edge to give a direction
NOWHERE = -1  # neighbour of a vertex whose offset is along the object's axes


class Frames(NamedTuple):
    """The directions of each vertex of a shape: axes (n, 3, 3), a row a direction t, s, n; neighbour (n,), or NOWHERE; first (n,),
    the first vertex at its place, whose directions they are."""

    axes: np.ndarray
    neighbour: np.ndarray
    first: np.ndarray


def corrections_of(obj: bpy.types.Object) -> list[bpy.types.NodesModifier]:
    """The corrections of a garment, in stack order."""
    return [m for m in obj.modifiers if m.type == "NODES" and m.node_group is not None and FRAME in m.node_group]


def unfit(obj: bpy.types.Object, modifier: bpy.types.NodesModifier) -> str:
    """Why a correction cannot be added to what the garment plays now; "" if it can."""
    tree = modifier.node_group
    made, now = tree[VERTICES], len(obj.data.vertices)
    if made != now:
        return f"Made for {made} vertices, the mesh has {now}: it is left out"
    return offsets.unfit(obj, tree, tree[FRAME]) if offsets.is_many(tree) and find_cache(obj) is not None else ""


def follow_cache(obj: bpy.types.Object) -> None:
    """Corrections stand right behind the cache, and show where it shows, unless they are muted or do not fit it."""
    cache = find_cache(obj)
    for place, modifier in enumerate(corrections_of(obj), start=1):
        tree, why = own_tree(obj, modifier), unfit(obj, modifier)
        if tree.library is None and tree.get(UNFIT, "") != why:
            tree[UNFIT] = why
        plays = cache is not None and not tree[MUTED] and not why
        modifier.show_viewport = plays and cache.show_viewport
        modifier.show_render = plays and cache.show_render
        if cache is not None and not is_inherited(obj, modifier):  # Blender does not move what is a library's
            before = index_of(obj, modifier) < index_of(obj, cache)
            obj.modifiers.move(index_of(obj, modifier), index_of(obj, cache) + place - before)


def part_duplicates(objects: Sequence[bpy.types.Object]) -> None:
    """Let corrections of these garments have node groups of their own, as `own_tree`, and those that stand first keep theirs: a weight
    that is set on a duplicate is its own then."""
    for obj in reversed(objects):
        for modifier in corrections_of(obj):
            own_tree(obj, modifier)


def own_tree(obj: bpy.types.Object, modifier: bpy.types.NodesModifier) -> bpy.types.NodeTree:
    """A correction's node group, of this garment alone: a duplicate shares its original's, and what is muted, keyed or found unfit
    there would be so here.
    """
    tree = modifier.node_group
    if tree.users - tree.use_fake_user < 2 or tree.library is not None or is_inherited(obj, modifier):
        return tree
    modifier.node_group = own = tree.copy()
    if own.animation_data is not None and (action := own.animation_data.action) is not None:
        slot = own.animation_data.action_slot.identifier
        own.animation_data.action = action.copy()
        own.animation_data.action_slot = own.animation_data.action.slots[slot]
    return own


def shown_shape(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> tuple[np.ndarray, Frames]:
    """Object-space vertices (n, 3) [Blender units] as evaluated now, and the directions of each."""
    mesh = obj.evaluated_get(depsgraph).data
    x = positions(mesh).astype(float)
    return x, _frames(x, vertex_normals(mesh).astype(float), edges(mesh))


def _frames(x, normal, ends) -> Frames:
    """Each vertex' directions: along its edge that leaves the normal most, the first of equal ones."""
    tail, head = np.concatenate((ends, ends[:, ::-1])).T
    along = x[head] - x[tail]
    length = np.linalg.norm(along, axis=1, keepdims=True)
    sine = np.linalg.norm(np.cross(normal[tail], along / np.where(length > 0.0, length, 1.0)), axis=1)
    order = np.lexsort((head, -sine, tail))
    vertices, first = np.unique(tail[order], return_index=True)
    best = order[first]
    useful = sine[best] > LEAST_SINE
    neighbour = np.full(len(x), NOWHERE, np.int32)
    neighbour[vertices[useful]] = head[best[useful]]
    axes = np.broadcast_to(np.eye(3), (len(x), 3, 3)).copy()
    turned = np.flatnonzero(neighbour != NOWHERE)
    n = normal[turned]
    side = np.cross(n, x[neighbour[turned]] - x[turned])
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    axes[turned] = np.stack((np.cross(side, n), side, n), axis=1)
    first = np.where(neighbour == NOWHERE, np.arange(len(x)), first_at_place(x))  # a loose vertex is of no seam
    return Frames(axes[first], neighbour[first], first)


def add(obj: bpy.types.Object, frame: int, before: int, after: int, moved: np.ndarray, directions: Frames):
    """A new correction behind the others that moves the vertices by `moved` (n, 3) [Blender units, object space] at
    `frame`; returns its modifier.

    before, after : [frames] within which it fades in and out
    """
    tree = bpy.data.node_groups.new(f"Correction {frame}", "GeometryNodeTree")
    tree[FRAME], tree[VERTICES], tree[MUTED] = frame, len(moved), False
    offset = obj.data.attributes.new(f"{tree.name} Offset", "FLOAT_VECTOR", "POINT")
    set_values(offset, np.einsum("nij,nj->ni", directions.axes, moved))
    names = {OFFSET: offset.name}
    numbers = {NEIGHBOUR: directions.neighbour}
    if (directions.first != np.arange(len(moved))).any():
        numbers[FIRST] = directions.first
    for name, values in numbers.items():
        attribute = obj.data.attributes.new(f"{tree.name} {name}", "INT", "POINT")
        names[name] = attribute.name
        set_values(attribute, values)
    _wire(tree, names)
    fade(tree, frame, before, after)
    modifier = obj.modifiers.new(tree.name, "NODES")
    modifier.node_group = tree
    follow_cache(obj)
    return modifier


def mend(obj: bpy.types.Object, modifier: bpy.types.NodesModifier, lacking: np.ndarray, directions: Frames) -> None:
    """Add what rounding left `lacking` (n, 3) [Blender units, object space] to a correction at its frame."""
    offset = obj.data.attributes[modifier.node_group.nodes[OFFSET].inputs["Name"].default_value]
    set_values(offset, stored_values(offset) + np.einsum("nij,nj->ni", directions.axes, lacking))
    obj.data.update()


def fade(tree: bpy.types.NodeTree, frame: int, before: int, after: int) -> None:
    """Key how much of a correction is seen: all at `frame`, nothing from `before` frames earlier and `after` later on."""
    tree[BEFORE], tree[AFTER] = before, after
    value = tree.nodes[FADE].outputs[0]
    path = value.path_from_id("default_value")
    for curve in curves(tree):  # another one may be of the weight, which is the animator's
        if curve.data_path == path:
            curve.keyframe_points.clear()
    for at, much in ((frame - before, 0.0), (frame, 1.0), (frame + after, 0.0)):
        value.default_value = much
        value.keyframe_insert("default_value", frame=at)
    for curve in curves(tree):
        if curve.data_path == path:
            for key in curve.keyframe_points:
                key.interpolation, key.handle_left_type, key.handle_right_type = (
                    "BEZIER",
                    "AUTO_CLAMPED",
                    "AUTO_CLAMPED",
                )
            curve.update()


def add_offsets(obj: bpy.types.Object, name: str, frames: range, path: str, made_of: str) -> bpy.types.NodesModifier:
    """A new correction behind the others that adds the offsets in the file at `path`, a sample each of `frames`."""
    tree = bpy.data.node_groups.new(name, "GeometryNodeTree")
    tree[FRAME], tree[offsets.LAST], tree[offsets.MADE_OF] = frames.start, frames.stop - 1, made_of
    tree[VERTICES], tree[MUTED] = len(obj.data.vertices), False
    source = offsets.make_source(f"{obj.name} {tree.name}", path, frames.start, len(obj.data.vertices))
    _wire_offsets(tree, source)
    modifier = obj.modifiers.new(tree.name, "NODES")
    modifier.node_group = tree
    follow_cache(obj)
    return modifier


def remove(obj: bpy.types.Object, modifier: bpy.types.NodesModifier) -> None:
    """Delete a correction with its attributes, or its object, unless another object plays it, too."""
    tree = modifier.node_group
    nodes = [tree.nodes[node] for node in (OFFSET, NEIGHBOUR, FIRST) if node in tree.nodes]
    names = [node.inputs["Name"].default_value for node in nodes]
    source = offsets.source_of(tree)
    obj.modifiers.remove(modifier)
    if tree.users:
        return
    action = tree.animation_data.action if tree.animation_data else None
    bpy.data.node_groups.remove(tree)
    if action is not None and not action.users:
        bpy.data.actions.remove(action)
    if source is not None and not source.users:  # that of a duplicate reads it, too
        offsets.delete_source(source)
    for name in names if obj.data.users == 1 else ():
        if name in obj.data.attributes:
            obj.data.attributes.remove(obj.data.attributes[name])


def _wire(tree, names: dict[str, str]) -> None:
    """The nodes of the equation above; names : of the attributes that they read, by the nodes'."""
    geometry, nodes, link = _begin(tree), tree.nodes, tree.links.new
    place, normal = nodes.new("GeometryNodeInputPosition").outputs[0], nodes.new("GeometryNodeInputNormal").outputs
    offset = _attribute(tree, OFFSET, "FLOAT_VECTOR", names[OFFSET])
    neighbour = _attribute(tree, NEIGHBOUR, "INT", names[NEIGHBOUR])
    n = normal["True Normal"]
    if FIRST in names:
        n = _sampled(tree, geometry, n, _attribute(tree, FIRST, "INT", names[FIRST]))
    edge = _vector(tree, "SUBTRACT", _sampled(tree, geometry, place, neighbour), place)
    side = _vector(tree, "NORMALIZE", _vector(tree, "CROSS_PRODUCT", n, edge))
    parts = nodes.new("ShaderNodeSeparateXYZ")
    link(offset, parts.inputs[0])
    axes = _vector(tree, "CROSS_PRODUCT", side, n), side, n
    a, b, c = (_scaled(tree, axis, part) for axis, part in zip(axes, parts.outputs, strict=True))
    turned = nodes.new("GeometryNodeSwitch")
    turned.input_type = "VECTOR"
    has_edge = nodes.new("ShaderNodeMath")
    has_edge.operation = "GREATER_THAN"
    has_edge.inputs[1].default_value = NOWHERE + 0.5
    link(neighbour, has_edge.inputs[0])
    turned_by = _vector(tree, "ADD", _vector(tree, "ADD", a, b), c)
    for name, source in (("Switch", has_edge.outputs[0]), ("False", offset), ("True", turned_by)):
        link(source, turned.inputs[name])
    _end(tree, geometry, turned.outputs[0], (WEIGHT, FADE))


def _wire_offsets(tree, source) -> None:
    """The nodes that add what the vertices of `source` are."""
    geometry, nodes = _begin(tree), tree.nodes
    read = nodes.new("GeometryNodeObjectInfo")
    read.name = read.label = offsets.SOURCE
    read.inputs["Object"].default_value = source
    which = nodes.new("GeometryNodeInputPosition").outputs[0], nodes.new("GeometryNodeInputIndex").outputs[0]
    _end(tree, geometry, _sampled(tree, read.outputs["Geometry"], *which), (WEIGHT,))


def _begin(tree):
    """What geometry goes in and out; the one that goes in."""
    tree.is_modifier = True
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    return tree.nodes.new("NodeGroupInput").outputs[0]


def _end(tree, geometry, moved, factors) -> None:
    """Each vertex goes where it is moved, times numbers with these names."""
    nodes, link = tree.nodes, tree.links.new
    for name in factors:
        much = nodes.new("ShaderNodeValue")
        much.name = much.label = name
        much.outputs[0].default_value = 1.0
        moved = _scaled(tree, moved, much.outputs[0])
    put, out = nodes.new("GeometryNodeSetPosition"), nodes.new("NodeGroupOutput")
    link(geometry, put.inputs["Geometry"])
    link(moved, put.inputs["Offset"])
    link(put.outputs[0], out.inputs[0])


def _attribute(tree, name, kind, attribute):
    """A node that reads an attribute of the mesh; its output."""
    node = tree.nodes.new("GeometryNodeInputNamedAttribute")
    node.name = node.label = name
    node.data_type = kind
    node.inputs["Name"].default_value = attribute
    return next(socket for socket in node.outputs if socket.enabled)


def _sampled(tree, geometry, vector, index):
    """A node that reads a vector at another vertex; its output."""
    node = tree.nodes.new("GeometryNodeSampleIndex")
    node.data_type, node.domain = "FLOAT_VECTOR", "POINT"
    for socket, source in zip(node.inputs, (geometry, vector, index), strict=True):
        tree.links.new(source, socket)
    return node.outputs[0]


def _vector(tree, operation, *sources):
    """A node of vector arithmetic; its output."""
    node = tree.nodes.new("ShaderNodeVectorMath")
    node.operation = operation
    for socket, source in zip(node.inputs, sources, strict=False):
        tree.links.new(source, socket)
    return node.outputs[0]


def _scaled(tree, vector, much):
    """A vector times a number."""
    node = tree.nodes.new("ShaderNodeVectorMath")
    node.operation = "SCALE"
    tree.links.new(vector, node.inputs[0])
    tree.links.new(much, node.inputs["Scale"])
    return node.outputs[0]
