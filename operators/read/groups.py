# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision groups: who meets whom, by the collections and vertex groups that garments name."""

from collections.abc import Sequence

import bpy
import numpy as np

from ...panels.translations import translated
from .maps import weights_in

MASKS = {"self_group": "meets_itself", "body_group": "meets_bodies"}  # setting: entry of the solver's garment


def masks(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> dict[str, np.ndarray | None]:
    """What the solver's garment has to say which vertices collide; `mesh` is obj.data or its evaluated mesh.

    As in Blender, vertices that have any weight in the group are left out.

    Raises
    ------
    ValueError
        A vertex group is missing: names object, setting and remedy.
    """
    found = {}
    for name, field in MASKS.items():
        if lack := missing(obj, name):
            raise ValueError(f"{lack}; choose another one, or none")
        group = getattr(obj.taffeta_cloth, name)
        found[field] = weights_in(obj, group, mesh) == 0.0 if group else None
    return found


def missing(obj: bpy.types.Object, name: str) -> str:
    """A sentence if the vertex group that a setting of the garment names is not there, else ""."""
    group, label = getattr(obj.taffeta_cloth, name), translated(obj.taffeta_cloth.bl_rna.properties[name].name)
    return (
        f"{obj.name}, {label}: there is no vertex group '{group}'" if group and group not in obj.vertex_groups else ""
    )


def met(obj: bpy.types.Object, others: Sequence[bpy.types.Object]) -> tuple[bool, ...] | None:
    """Whether a garment is to meet each of the others; None: all of them."""
    chosen = obj.taffeta_cloth.collision_collection
    if chosen is None:
        return None
    inside = {other.session_uid for other in chosen.all_objects}
    return tuple(other.session_uid in inside for other in others)


def met_by(body: bpy.types.Object, cloths: Sequence[bpy.types.Object]) -> tuple[bool, ...] | None:
    """Whether each garment is to meet a body; None: all do. A body that is cloth, too, has to be willing, as it is to others."""
    found = [met(obj, (body,)) for obj in cloths]
    if body.taffeta_cloth.enabled and body.taffeta_cloth.collision_collection is not None:
        return tuple(meet(obj, body) for obj in cloths)
    return tuple(each is None or each[0] for each in found) if any(found) else None


def meet(one: bpy.types.Object, other: bpy.types.Object) -> bool:
    """Whether a garment is to meet itself, a body or another garment, which has to be willing, too."""
    if one == other:
        return one.taffeta_cloth.self_collision
    sides = [met(one, (other,)), met(other, (one,)) if other.taffeta_cloth.enabled else None]
    return all(side is None or side[0] for side in sides)
