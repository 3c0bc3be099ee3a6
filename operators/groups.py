# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision groups: who meets whom, by the collections and vertex groups that garments name; and what is amiss there."""

from collections.abc import Iterator, Sequence

import bpy
import numpy as np

from .maps import weights_in
from .problem import Problem, Shot

MASKS = {"self_group": "meets_itself", "body_group": "meets_bodies"}  # setting: field of the solver's garment


def masks(obj: bpy.types.Object, mesh: bpy.types.Mesh) -> dict[str, np.ndarray | None]:
    """Fields of the solver's garment that say which vertices collide; `mesh` is obj.data or its evaluated mesh.

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
    group, label = getattr(obj.taffeta_cloth, name), obj.taffeta_cloth.bl_rna.properties[name].name
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
    """Whether each garment is to meet a body; None: all do."""
    found = [met(obj, (body,)) for obj in cloths]
    return tuple(each is None or each[0] for each in found) if any(found) else None


def meet(one: bpy.types.Object, other: bpy.types.Object) -> bool:
    """Whether a garment is to meet itself, a body or another garment, which has to be willing, too."""
    if one == other:
        return one.taffeta_cloth.self_collision
    sides = [met(one, (other,)), met(other, (one,)) if other.taffeta_cloth.enabled else None]
    return all(side is None or side[0] for side in sides)


def _vertex_groups(shot: Shot) -> Iterator[Problem]:
    """Vertex groups that are gone."""
    for obj in shot.cloths:
        for name in MASKS:
            if lack := missing(obj, name):
                yield Problem("ERROR", obj.name, lack, "Choose another one, or none")


def _collections(shot: Shot) -> Iterator[Problem]:
    """Garments that none of the bake's colliders would hold, and those of which one meets the other in vain."""
    for obj in shot.cloths:
        if shot.colliders and not any(met(obj, shot.colliders) or (True,)):
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name} meets no collider: its Collision Collection, "
                f"{obj.taffeta_cloth.collision_collection.name}, has none",
                "Link the body to that collection, or choose another one, or none",
            )
        for other, is_met in zip(shot.cloths, met(obj, shot.cloths) or (), strict=False):
            if is_met and other != obj and not meet(obj, other):
                yield Problem(
                    "INFO",
                    obj.name,
                    f"{obj.name} is to meet {other.name}, but is not in the Collision Collection of {other.name}: they "
                    "pass through each other",
                    f"Link {obj.name} to {other.taffeta_cloth.collision_collection.name} if they are to collide",
                )


GROUP_CHECKS = (_vertex_groups, _collections)
