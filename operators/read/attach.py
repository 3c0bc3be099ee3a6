# SPDX-License-Identifier: GPL-3.0-or-later
"""Garments that are pinned beside a body that moves: which one carries them, and how they are hung on it."""

from collections.abc import Sequence

import bpy
import numpy as np

from . import measures
from .anchors import holding
from .keyed import is_animated, moves, pin_moves
from .modifier_stack import cache_index, index_of, rigs
from .shape_key import refuse_shared

MOST_PINS = 40  # vertices of which the distance to a body is measured
BESIDE = 0.1  # of a garment's longest side: how far from the body its pins may be and still lie on it
MODIFIER_NAME = "Attached to Body"


def carrier(
    obj: bpy.types.Object, bodies: Sequence[bpy.types.Object], depsgraph: bpy.types.Depsgraph
) -> bpy.types.Object | None:
    """The body that moves beside the pins of a garment that is not animated itself; None where there is none."""
    pin = obj.taffeta_cloth.pin
    if (
        pin.source != "GROUP"
        or pin.vertex_group not in obj.vertex_groups
        or pin_moves(obj)
        or is_animated(obj)
        or rigs(obj)
        or holding(obj)
    ):
        return None
    moving = [body for body in bodies if is_animated(body) and body.data.polygons and body.mode == "OBJECT"]
    if not moving or obj.mode != "OBJECT":
        return None
    weights = measures.weights(obj, pin.vertex_group)
    pinned = np.flatnonzero((1.0 - weights if pin.invert else weights) > 0.0)
    pinned = pinned[:: 1 + len(pinned) // MOST_PINS].tolist()
    points = [obj.matrix_world @ obj.data.vertices[index].co for index in pinned]
    if not points:
        return None
    distances = [_distance(body.evaluated_get(depsgraph), points) for body in moving]
    nearest = int(np.argmin(distances))
    return moving[nearest] if distances[nearest] <= BESIDE * max(obj.dimensions) else None


def nearest_body(
    obj: bpy.types.Object, bodies: Sequence[bpy.types.Object], depsgraph: bpy.types.Depsgraph
) -> bpy.types.Object | None:
    """The body that lies nearest to a garment's vertices in the mean; None where there is none."""
    count = len(obj.data.vertices)
    points = [obj.matrix_world @ obj.data.vertices[i].co for i in range(0, count, 1 + count // MOST_PINS)]
    bodies = [body for body in bodies if body.data.polygons and body.mode == "OBJECT"]
    distances = [_distance(body.evaluated_get(depsgraph), points) for body in bodies] if points else []
    return bodies[int(np.argmin(distances))] if distances and min(distances) < np.inf else None


def _distance(body, points) -> float:
    """Mean distance of points to an evaluated body; inf where it has no shape, as one that is disabled in viewports."""
    if not body.is_evaluated or not body.data.polygons or not body.matrix_world.determinant():
        return np.inf
    into, total = body.matrix_world.inverted(), 0.0
    for point in points:
        found, place, _, _ = body.closest_point_on_mesh(into @ point)
        if not found:
            return np.inf
        total += (body.matrix_world @ place - point).length
    return total / len(points) if np.isfinite(total) else np.inf


def attach(obj: bpy.types.Object, body: bpy.types.Object) -> str:
    """Let a garment's own pose follow a body as both are now; returns what was done.

    A body that only goes and turns becomes its parent; one that bends carries it by a Surface Deform modifier.

    Raises
    ------
    ValueError
        Blender cannot bind it to that body, or it hangs on something else already.
    """
    refuse_shared(obj)
    if not rigs(body) and not (body.data.shape_keys and body.data.shape_keys.animation_data):
        if obj.parent is not None:
            raise ValueError(f"{obj.name} has the parent {obj.parent.name} already; parent that to {body.name} instead")
        if not moves(body) or not body.matrix_world.determinant():
            raise ValueError(f"{body.name} cannot carry {obj.name}; give {obj.name} an Armature modifier")
        obj.parent = body
        obj.matrix_parent_inverse = body.matrix_world.inverted()
        return f"{obj.name} is parented to {body.name}: its pins go along"
    modifier = obj.modifiers.new(MODIFIER_NAME, "SURFACE_DEFORM")
    modifier.target = body
    obj.modifiers.move(index_of(obj, modifier), max(0, cache_index(obj) - 1))
    with bpy.context.temp_override(object=obj, active_object=obj):
        bpy.ops.object.surfacedeform_bind(modifier=modifier.name)
    if not modifier.is_bound:
        obj.modifiers.remove(modifier)
        raise ValueError(
            f"{obj.name} cannot be bound to {body.name}, which has edges of more than two faces or faces that are not "
            "convex; give it an Armature modifier with the body's bones"
        )
    return f"{obj.name} follows {body.name} by its modifier {modifier.name}"
