# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth Dynamics, the node asset that Blender has brought along from 5.2 on, put on the garments and bodies of a scene.

At its defaults it gets no more than it cannot do without: its pins, its colliders, and whether these deform. At its best
it has the garment's kilograms per square metre, the distances and frictions of Taffeta's garment and body, limp cloth, four
times the substeps, and no damping where the scene has no air. (Its Bendiness of 0 holds folds as hard as edges: such cloth
stretches more.)

It takes for rest whatever shape it is given in a frame. A garment of which an armature moves the held vertices alone would
grow with each step of the wearer; so, at its best, it is given the garment as modelled, and its own constraint for pins
gets the places from a posed copy.
"""

from pathlib import Path

import bpy

BEST, DEFAULTS = "Cloth Dynamics, at its best", "Cloth Dynamics, defaults"
CLOTH, COLLIDER, PINS = "Cloth Dynamics (Experimental)", "Collider", "Pin Positions"  # node groups of the asset's file
FILE = "geometry_nodes_dynamics_assets.blend"
SUBSTEPS, LIMP = 20, 1.0  # a frame; its Bendiness at most


def library():
    """The asset's file, or None before Blender 5.2."""
    path = Path(bpy.utils.resource_path("LOCAL"), "datafiles", "assets", "nodes", FILE)
    return path if path.exists() else None


def furnish(garments, bodies, who):
    """Give bodies and garments the asset's modifiers. Garments do not meet: an inner one that is given as a body, deforming
    and open as it is, tears the outer one to and fro.
    """
    effectors = bpy.data.collections.new("Effectors")
    bpy.context.scene.collection.children.link(effectors)
    for body in bodies:
        ours = {"Margin": body.taffeta_collider.aura, "Friction": body.taffeta_collider.friction} if who == BEST else {}
        give(body, COLLIDER, {"Deforming": bool(body.modifiers)} | ours)
        effectors.objects.link(body)
    for garment in garments:
        dress(garment, effectors, who)


def dress(obj, effectors, who):
    """Make a garment cloth that meets what is in a collection."""
    ours = obj.taffeta_cloth
    values = {"Effectors Collection": effectors} | (_best(obj) if who == BEST else {})
    group = ours.pin.vertex_group if ours.pin.source == "GROUP" else ""
    if who == BEST and group and any(modifier.type == "ARMATURE" for modifier in obj.modifiers):
        modifier = obj.modifiers.new("Cloth Dynamics", "NODES")
        modifier.node_group = _pinned(_posed(obj), group, values)
    else:
        give(obj, CLOTH, values | ({"Pin Group": group} if group else {}))


def _best(obj):
    """What it is told of a garment at its best; its mass is that of a vertex [kg]."""
    ours, area = obj.taffeta_cloth, sum(polygon.area for polygon in obj.data.polygons)
    still = {"Linear Damping": 0.0} if bpy.context.scene.taffeta.air_drag == 0.0 else {}
    return still | {
        "Substeps": SUBSTEPS,
        "Bendiness": LIMP,
        "Mass": ours.mass.value * area / len(obj.data.vertices),
        "Friction": ours.friction.value,
        "Collision Radius": ours.thickness.value,
    }


def _group(name):
    """A node group of the asset's file, one copy for all."""
    if name not in bpy.data.node_groups:
        with bpy.data.libraries.load(str(library())) as (_, into):
            into.node_groups = [name]
    return bpy.data.node_groups[name]


def give(obj, name, values):
    """Put a node group of the asset's on an object, with values by its sockets' names."""
    modifier = obj.modifiers.new(name, "NODES")
    modifier.node_group = _group(name)
    tell(modifier, values)


def tell(modifier, values):
    """Set inputs of a node group on an object; a text is the name of an attribute."""
    names = {item.name: item.identifier for item in modifier.node_group.interface.items_tree if hasattr(item, "in_out")}
    for name, value in values.items():
        socket = getattr(modifier.properties.inputs, names[name])
        if isinstance(value, str):
            socket.type, socket.attribute_name = "ATTRIBUTE", value
        else:
            socket.value = value


def _posed(obj):
    """A copy that keeps the armature, which the garment gives away; nobody sees it."""
    posed = obj.copy()
    posed.name, posed.hide_render, posed.taffeta_cloth.enabled = f"{obj.name}, posed", True, False
    bpy.context.scene.collection.objects.link(posed)
    for modifier in [modifier for modifier in obj.modifiers if modifier.type == "ARMATURE"]:
        obj.modifiers.remove(modifier)
    return posed


def _pinned(posed, group, values):
    """A node group in which the asset simulates a mesh whose vertices of a group are where those of `posed` are."""
    tree = bpy.data.node_groups.new("Pinned Cloth", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")

    def node(kind, group="", **links):
        made = tree.nodes.new(kind)
        if group:
            made.node_tree = _group(group)
        for name, socket in links.items():
            tree.links.new(socket, made.inputs[name])
        return made

    info = node("GeometryNodeObjectInfo")
    info.inputs["Object"].default_value = posed
    index, position = node("GeometryNodeInputIndex").outputs[0], node("GeometryNodeInputPosition").outputs[0]
    place = tree.nodes.new("GeometryNodeSampleIndex")
    place.data_type = "FLOAT_VECTOR"
    for name, socket in {"Geometry": info.outputs["Geometry"], "Value": position, "Index": index}.items():
        tree.links.new(socket, place.inputs[name])
    world = node("FunctionNodeTransformPoint", Vector=place.outputs[0], Transform=info.outputs["Transform"]).outputs[0]
    held = node("GeometryNodeInputNamedAttribute")
    held.inputs["Name"].default_value = group
    pins = node("GeometryNodeGroup", PINS, Position=world, Selection=held.outputs["Attribute"])
    bundle = tree.nodes.new("NodeCombineBundle")
    bundle.bundle_items.new("BUNDLE", "Pins")
    tree.links.new(pins.outputs[0], bundle.inputs["Pins"])
    given = node("NodeGroupInput").outputs["Geometry"]
    cloth = node("GeometryNodeGroup", CLOTH, Geometry=given, Effectors=bundle.outputs[0])
    for name, value in values.items():
        cloth.inputs[name].default_value = value
    node("NodeGroupOutput", Geometry=cloth.outputs["Geometry"])
    return tree
