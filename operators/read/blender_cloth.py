# SPDX-License-Identifier: GPL-3.0-or-later
"""What a garment and its bodies were told for Blender's own cloth, in Taffeta's terms: the Cloth modifier, and Cloth
Dynamics, the node asset that Blender has brought along from 5.2 on.

Both weigh every vertex alike, often as much as a stone, because that does not change how cloth falls. Cloth Dynamics says of an
edge how many metres a newton makes it longer, a fifth power of a slider. Edges that lie as far apart as they are long then
resist stretch, per metre of width, with the inverse of that [N/m].
"""

from typing import NamedTuple

import bpy
import numpy as np

from . import arrays
from .mesh_io import metres_per_unit, rest_positions

ASSET, COLLIDER = "Cloth Dynamics", "Collider"  # how the names of its node groups begin
HEAVIEST_CLOTH = 2.0  # [kg/m²] what weighs more is a number for the solver, and not the weight of any cloth
STRETCHINESS_POWER = 5


class Told(NamedTuple):
    """What was told; None: what a fabric knows better."""

    pin: str | float  # a vertex group, an attribute, or the same everywhere
    pin_inverted: bool = False
    density: float | None = None  # [kg/m²]
    stretch: float | None = None  # [N/m] of cloth that weighs `density`
    friction: float | None = None
    thickness: float | None = None  # [m]
    shrink: tuple[str, float, float] = (
        "",
        0.0,
        0.0,
    )  # a vertex group or "", and by what part where its weight is 0 and 1
    settings: dict[str, object] = {}  # of `taffeta_cloth`, as they are
    bodies: dict[bpy.types.Object, dict[str, float]] = {}  # settings of their `taffeta_collider`; lengths in m
    lost: tuple[str, ...] = ()  # what is not taken over


def simulator(obj: bpy.types.Object) -> bpy.types.Modifier | None:
    """The modifier by which Blender's own cloth moves an object, the first that is switched on; None without one."""
    return next((m for m in obj.modifiers if m.show_viewport and (m.type == "CLOTH" or _is_asset(m, ASSET))), None)


def told(obj: bpy.types.Object, scene: bpy.types.Scene) -> Told:
    """What `simulator(obj)`, which there must be, was told. A body that is linked from another file is among the `lost`."""
    modifier = simulator(obj)
    found = _of_modifier(obj, modifier, scene) if modifier.type == "CLOTH" else _of_asset(obj, modifier, scene)
    linked = [body.name for body in found.bodies if body.library is not None]
    return found._replace(
        bodies={body: values for body, values in found.bodies.items() if body.library is None},
        lost=(*found.lost, *(f"the collider {name}, which is linked" for name in linked)),
    )


def _is_asset(modifier, name) -> bool:
    """Whether a modifier is a node group of the asset's; only Blenders that have it know what it was told."""
    group = getattr(modifier, "node_group", None)
    return group is not None and group.name.startswith(name) and hasattr(modifier, "properties")


def _is_cloth(obj) -> bool:
    """Whether an object is cloth itself: cloths meet each other anyway."""
    return obj.taffeta_cloth.enabled or simulator(obj) is not None


def _density(obj, scene, mass: float) -> float:
    """[kg/m²] of cloth whose vertices weigh `mass` [kg]; infinite without faces."""
    x, (triangles, _) = rest_positions(obj, obj, metres_per_unit(scene)), arrays.triangulated(obj.data)
    sides = x[triangles[:, 1:]] - x[triangles[:, :1]]
    area = 0.5 * np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1).sum()
    return float(len(x) * mass / area) if area > 0.0 else np.inf


def _of_modifier(obj, modifier, scene) -> Told:
    cloth, collision, metres = modifier.settings, modifier.collision_settings, metres_per_unit(scene)
    inside = collision.collection.all_objects if collision.collection else scene.objects
    bodies = [body for body in inside if body.collision and body.collision.use and not _is_cloth(body)]
    auras = {body: metres * (collision.distance_min + body.collision.thickness_outer) for body in bodies}
    settings = {
        "self_collision": collision.use_self_collision,
        "self_group": collision.vertex_group_self_collisions,
        "body_group": collision.vertex_group_object_collisions,
        "collision_collection": collision.collection,
        "sewing": cloth.use_sewing_springs,
    }
    lost = {
        "stiffness and damping, which it knows of springs and not of fabrics": True,
        "friction": collision.use_collision,
        "pressure": cloth.use_pressure,
        "internal springs": cloth.use_internal_springs,
        "the sewing force": cloth.use_sewing_springs and cloth.sewing_force_max > 0.0,
        "the rest shape key": cloth.rest_shape_key not in (None, getattr(obj.data.shape_keys, "reference_key", None)),
        "weights of gravity and force fields": _are_weighed(cloth.effector_weights),
        "the dynamic mesh": cloth.use_dynamic_mesh,
        "the speed": cloth.time_scale != 1.0,
        "that it meets no colliders": not collision.use_collision,
    }
    return Told(
        pin=cloth.vertex_group_mass or 0.0,
        density=_density(obj, scene, cloth.mass),
        thickness=metres * collision.self_distance_min if collision.use_self_collision else None,
        shrink=(cloth.vertex_group_shrink, cloth.shrink_min, cloth.shrink_max),
        settings=settings,
        bodies={body: {"aura": aura} for body, aura in auras.items() if collision.use_collision},
        lost=tuple(name for name, is_lost in lost.items() if is_lost),
    )


def _are_weighed(weights) -> bool:
    """Whether cloth feels more or less of gravity or of a field than all of it."""
    parts = [p.identifier for p in weights.bl_rna.properties if p.type == "FLOAT"]
    return weights.collection is not None or any(getattr(weights, name) != 1.0 for name in parts)


def _of_asset(obj, modifier, scene) -> Told:
    values = _values(modifier)
    radius, softness = values["Collision Radius"], values["Stretchiness"]
    bodies, lost = _bodies(values["Effectors Collection"], radius, metres_per_unit(scene))
    own, none = values["Gravity"] or (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    pull = np.subtract(own, scene.gravity if scene.use_gravity else none)
    lost |= {
        "Bendiness": values["Bendiness"] > 0.0,
        "Linear Damping, for which there is the air here": values["Linear Damping"] > 0.0,
        "a gravity of its own": np.linalg.norm(pull) > 1e-3,
        "Tearing": values["Tearing"],
    }
    return Told(
        pin=values["Pin Group"],
        pin_inverted=values["Invert Pin Group"],
        density=_density(obj, scene, values["Mass"]),
        stretch=softness**-STRETCHINESS_POWER if softness > 0.0 else None,
        friction=values["Friction"],
        bodies=bodies,
        lost=tuple(name for name, is_lost in lost.items() if is_lost),
    )


def _bodies(collection, radius: float, metres: float):
    """Colliders among the asset's effectors, with settings, and what else there is, {name: True}."""
    bodies, lost = {}, {}
    for obj in collection.all_objects if collection else ():
        if _is_cloth(obj):
            continue
        modifier = next((m for m in obj.modifiers if m.show_viewport and _is_asset(m, COLLIDER)), None)
        values = _values(modifier) if modifier else {"Boundary": True}
        if obj.type == "MESH" and not values["Boundary"]:
            bodies[obj] = {"aura": metres * max(0.0, values["Margin"] + radius), "friction": values["Friction"]}
        else:
            lost[f"{obj.name}, which cloth is not kept out of"] = True
    return bodies, lost


def _values(modifier) -> dict[str, object]:
    """What the inputs of a node group are set to, by name; an attribute's name where one is set. Where a switch and what
    it switches have one name, False if it is off."""
    found = {}
    inputs = [item for item in modifier.node_group.interface.items_tree if getattr(item, "in_out", "") == "INPUT"]
    for item in inputs:
        socket = getattr(modifier.properties.inputs, item.identifier, None)
        if hasattr(socket, "value") and found.get(item.name) is not False:
            found[item.name] = socket.attribute_name if getattr(socket, "type", "") == "ATTRIBUTE" else socket.value
    return found
