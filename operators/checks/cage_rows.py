# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the preflight list about cages: garments that want one, whose cage is gone, that do not follow it, or share it."""

from collections.abc import Iterator

from ...panels.cage import garments_of
from ..read.cage import MODIFIER_NAME, counts
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


def _caged(shot: Shot):
    """Garments that follow a cage, and that: pairs; None where it is not in the scene."""
    for obj in shot.scene.objects:
        modifier = obj.modifiers.get(MODIFIER_NAME) if obj.type == "MESH" else None
        if modifier is not None and modifier.type == "SURFACE_DEFORM":
            cage = obj.taffeta_cage.cage
            yield obj, cage if cage is not None and cage.name in shot.scene.objects else None


def _gone(shot: Shot) -> Iterator[Problem]:
    """Garments that follow what is not in the scene."""
    for obj, cage in _caged(shot):
        if cage is None:
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name} is to follow a cage that is not in the scene, so nothing simulates it",
                "Undo what deleted the cage, or simulate the garment itself again",
                ("taffeta.cage_remove",),
            )


def _unbound(shot: Shot) -> Iterator[Problem]:
    """Garments that stand still, because their mesh was edited, or take other vertices of their cage for those that they knew."""
    for obj, cage in _caged(shot):
        bound = tuple(obj.taffeta_cage.bound)
        if cage is None or not any(bound) or bound == counts(obj, cage) or "EDIT" in (obj.mode, cage.mode):
            continue
        sentence = f"{obj.name} was bound to its cage {cage.name} before one of their meshes was edited: it stands still, or goes astray"
        yield Problem("WARNING", obj.name, sentence, "Bind it again, or undo the edit", ("taffeta.fix_cage",))


def _shared(shot: Shot) -> Iterator[Problem]:
    """Duplicates of a garment, which follow its cage and have none of their own."""
    for obj, cage in _caged(shot):
        first = garments_of(cage)[0] if cage is not None else obj
        if obj != first:
            yield Problem(
                "INFO",
                obj.name,
                f"{obj.name} follows the cage of {first.name}, {cage.name}: it moves as that does, and meets nothing by itself",
                "Remove the cage of it, which leaves that of the other, and make one of its own",
                ("taffeta.cage_remove",),
            )


CAGE_CHECKS = (_heavy, _gone, _unbound, _shared)
