# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the preflight list about cages: garments that want one, and garments whose cage is gone."""

from collections.abc import Iterator

from ..read.cage import MODIFIER_NAME
from .problem import Problem, Shot

MANY_VERTICES = 40_000  # of a garment, above which a cage is offered


def _heavy(shot: Shot) -> Iterator[Problem]:
    """Garments that are finer than their folds need."""
    for obj in shot.cloths:
        count = len(obj.data.vertices)
        if count > MANY_VERTICES and obj.data.polygons:
            yield Problem(
                "INFO",
                obj.name,
                f"{obj.name} has {count:,} vertices, all of which are simulated",
                "Simulate a coarser mesh with even edges, which the garment follows",
                ("taffeta.cage_make",),
            )


def _gone(shot: Shot) -> Iterator[Problem]:
    """Garments that follow what is not in the scene."""
    for obj in shot.scene.objects:
        modifier = obj.modifiers.get(MODIFIER_NAME) if obj.type == "MESH" else None
        if modifier is None or modifier.type != "SURFACE_DEFORM":
            continue
        cage = obj.taffeta_cage.cage
        if cage is None or cage.name not in shot.scene.objects:
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name} is to follow a cage that is not in the scene, so nothing simulates it",
                "Undo what deleted the cage, or simulate the garment itself again",
                ("taffeta.cage_remove",),
            )


CAGE_CHECKS = (_heavy, _gone)
