# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the preflight list about groups: those of collision that are gone or in which garments meet nothing, and maps that Dynamic Paint makes."""

from collections.abc import Iterator

from ..read.groups import MASKS, meet, met, missing
from ..read.map_makers import names_of_maps
from .problem import Problem, Shot


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


def _dynamic_paint(shot: Shot) -> Iterator[Problem]:
    """Maps that Dynamic Paint makes while the timeline plays, of which a bake sees what the mesh has."""
    for obj in shot.cloths:
        names = names_of_maps(obj)
        for modifier in obj.modifiers:
            canvas = modifier.canvas_settings if modifier.type == "DYNAMIC_PAINT" and modifier.show_viewport else None
            surfaces = [surface for surface in canvas.canvas_surfaces if surface.is_active] if canvas else []
            made = {name for surface in surfaces for name in (surface.output_name_a, surface.output_name_b)}
            for name in sorted(names & made):
                yield Problem(
                    "WARNING",
                    obj.name,
                    f"{obj.name}: {modifier.name} paints '{name}' while it plays, and the bake takes what the mesh has of it",
                    "Let Geometry Nodes before the simulation make that map, by how near a body is",
                )


GROUP_CHECKS = (_vertex_groups, _collections, _dynamic_paint)
