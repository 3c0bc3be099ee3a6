# SPDX-License-Identifier: GPL-3.0-or-later
"""The cloth of Blender 5.2's node assets, *Cloth Dynamics (Experimental)*: extended position-based dynamics that keep cloth
off bodies, not off itself or other cloth.

At its best: the garment's kilograms per square metre, 20 substeps instead of 5, no damping, and as far from bodies as
Taffeta's cloth.
"""

from pathlib import Path

import bpy

WHO = "Cloth Dynamics of 5.2, at its best"
FILE = "assets/nodes/geometry_nodes_dynamics_assets.blend"
CLOTH, COLLIDER = "Cloth Dynamics (Experimental)", "Collider"
SUBSTEPS = 20


def path():
    """Where Blender has the assets, or None."""
    found = Path(bpy.utils.system_resource("DATAFILES")) / FILE
    return found if found.exists() else None


def furnish(scene, garments):
    """Give bodies and garments the assets.

    Raises OSError where this Blender has none.
    """
    if path() is None:
        raise OSError("This Blender has no Cloth Dynamics: it comes with 5.2")
    with bpy.data.libraries.load(str(path()), link=False) as (_, wanted):
        wanted.node_groups = [CLOTH, COLLIDER]
    cloth, collider = wanted.node_groups
    effectors = bpy.data.collections.new("Effectors")
    for obj in scene.objects:
        if obj.taffeta_collider.enabled:
            effectors.objects.link(obj)
            _add(obj, collider, {"Deforming": True, "Friction": obj.taffeta_collider.friction})
    for obj in garments:
        area = sum(polygon.area for polygon in obj.data.polygons)
        ours, aura = obj.taffeta_cloth, max(other.taffeta_collider.aura for other in effectors.objects)
        values = {
            "Substeps": SUBSTEPS,
            "Linear Damping": 0.0,
            "Collision Radius": aura,
            "Friction": ours.friction.value,
        }
        values |= {"Mass": ours.mass.value * area / len(obj.data.vertices), "Effectors Collection": effectors}
        inputs = _add(obj, cloth, values)
        if ours.pin.source == "GROUP":
            inputs["Pin Group"].type, inputs["Pin Group"].attribute_name = "ATTRIBUTE", ours.pin.vertex_group


def _add(obj, group, values):
    """Add a node group to an object as its last modifier; returns its inputs by name."""
    modifier = obj.modifiers.new(group.name, "NODES")
    modifier.node_group = group
    sockets = [item for item in group.interface.items_tree if item.item_type == "SOCKET" and item.in_out == "INPUT"]
    inputs = {
        socket.name: getattr(modifier.properties.inputs, socket.identifier)
        for socket in sockets
        if hasattr(modifier.properties.inputs, socket.identifier)
    }
    for name, value in values.items():
        inputs[name].value = value
    return inputs
