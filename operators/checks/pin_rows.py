# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the preflight list about what holds and moves a garment: pins, and whether anything is animated at all."""

from collections.abc import Iterator

import numpy as np

from ..read import anchors, measures
from ..read.attach import carrier
from ..read.force_fields import emitters
from ..read.keyed import is_animated, keyed_settings, pin_moves
from ..read.mesh_io import check_evaluated
from ..read.participants import is_held
from ..read.ties import ties_of
from .problem import Problem, Shot


def _pins(shot: Shot) -> Iterator[Problem]:
    """Pins that pin nothing, or everything."""
    for obj in shot.cloths:
        pin = obj.taffeta_cloth.pin
        if pin_moves(obj):
            continue
        if pin.source != "GROUP" or pin.vertex_group not in obj.vertex_groups or not obj.data.vertices:
            if pin.source == "UNIFORM" and pin.value >= 1.0:
                yield Problem(
                    "WARNING",
                    obj.name,
                    f"{obj.name} is pinned everywhere: nothing is left to simulate",
                    "Lower Pin",
                    heavy=True,
                )
            continue
        values = _grouped(obj)
        if values.max() <= 0.0:
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name}: its pins hold nothing: no vertex of group '{pin.vertex_group}' has weight",
                "Paint the group where the cloth is to be held",
                heavy=True,
            )
        elif values.min() >= 1.0:
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name} is pinned everywhere: nothing is left to simulate",
                f"Paint group '{pin.vertex_group}' only where the cloth is to be held",
                heavy=True,
            )


def _grouped(obj) -> np.ndarray:
    """(n,) pin weights by the vertex group, which must exist."""
    pin = obj.taffeta_cloth.pin
    weights = measures.weights(obj, pin.vertex_group)
    return pin.minimum + (pin.maximum - pin.minimum) * (1.0 - weights if pin.invert else weights)


def _loose_parts(shot: Shot) -> Iterator[Problem]:
    """Buttons and pockets that nothing joins to their coat: they fall off in the first frame."""
    for obj in shot.cloths:
        count = _loose_count(obj)
        sentence = f"{obj.name} has {count} small parts that are joined to nothing and not pinned: what is not worn, as a belt, falls off"
        if count == 1:
            sentence = f"{obj.name} has 1 small part that is joined to nothing and not pinned: if it is not worn, as a belt, it falls off"
        if count:
            remedy = "Sew, pin or attach it, or separate it (P in Edit Mode, By Loose Parts) and press Add Trim"
            yield Problem("WARNING", obj.name, sentence, remedy)


def _loose_count(obj) -> int:
    """How many small parts of a garment nothing holds; 0 where that is not known, as where a map or keys may hold them."""
    cloth, pin, mesh = obj.taffeta_cloth, obj.taffeta_cloth.pin, obj.data
    if obj.mode == "EDIT" or not len(mesh.polygons) or cloth.model == "RIGID" or cloth.weld > 0.0 or pin_moves(obj):
        return 0
    part = measures.small_parts(mesh)
    if not (part >= 0).any() or pin.source not in ("UNIFORM", "GROUP") or (pin.source == "UNIFORM" and pin.value > 0.0):
        return 0
    held = anchors.numbers(mesh) > 0
    if pin.source == "GROUP" and pin.vertex_group in obj.vertex_groups:
        held |= _grouped(obj) > 0.0
    return len(np.setdiff1d(part[part >= 0], part[held]))


def _unattached(shot: Shot) -> Iterator[Problem]:
    """Pins that stay in the air when the body that they lie on goes away."""
    for obj in shot.cloths:
        if obj.data.polygons and (body := carrier(obj, shot.colliders, shot.depsgraph)) is not None:
            yield Problem(
                "WARNING",
                obj.name,
                f"{obj.name} is pinned beside {body.name}, which moves, but it is not animated: its pins stay where they are",
                f"Attach it to {body.name}, or give it an Armature modifier with the same bones",
                ("taffeta.fix_pins",),
                heavy=True,
            )


def _ties(shot: Shot) -> Iterator[Problem]:
    """Attachments to what is no more, or has another mesh than it had."""
    for obj in shot.cloths:
        try:
            for tie in ties_of(obj):
                body = obj.taffeta_cloth.attachments[tie.index].body
                check_evaluated(body, shot.depsgraph)
                count = len((body if body.taffeta_cloth.enabled else body.evaluated_get(shot.depsgraph)).data.vertices)
                if count != tie.vertex_count:
                    raise ValueError(
                        f"{obj.name} is attached to {body.name}, which has {count} vertices and had {tie.vertex_count} then; "
                        f"Attach it again, or take away what changes the mesh of {body.name}"
                    )
        except ValueError as error:
            sentence, _, remedy = str(error).partition("; ")
            yield Problem("ERROR", obj.name, sentence, remedy[:1].upper() + remedy[1:])


def _still(shot: Shot) -> Iterator[Problem]:
    """Scenes in which nothing happens, or next to nothing."""
    scene, settings = shot.scene, shot.scene.taffeta
    if not shot.cloths or keyed_settings(scene) or any(map(is_animated, (*shot.cloths, *shot.colliders))):
        return
    acts = any(obj.taffeta_cloth.pressure or obj.taffeta_cloth.sewing for obj in shot.cloths)
    pushes = any(
        map(any, (settings.wind, settings.constant_force, settings.random_force_min, settings.random_force_max))
    )
    if acts or pushes or any(True for _ in emitters(scene, shot.depsgraph.view_layer)):
        return
    if not scene.use_gravity or not any(scene.gravity):
        remedy = "Turn gravity on, or animate the body"
        sentence = "Nothing will move: nothing is animated, and there is neither gravity nor wind"
        yield Problem("WARNING", "", sentence, remedy, ("taffeta.fix_gravity",), heavy=True)
        return
    if not shot.colliders and all(map(is_held, shot.cloths)):  # what nothing holds falls, and on the others
        for obj in shot.cloths:
            sentence = f"{obj.name} only hangs from its pins: nothing is animated, and there is no wind"
            yield Problem("INFO", obj.name, sentence, "Animate the body or the pins, or set Wind, if it is to move")


PIN_CHECKS = (_pins, _loose_parts, _unattached, _ties, _still)
