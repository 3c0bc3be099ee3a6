# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the preflight list about what holds and moves a garment: pins, and whether anything is animated at all."""

from collections.abc import Iterator

from ..read import measures
from ..read.attach import carrier
from ..read.force_fields import emitters
from ..read.keyed import is_animated, keyed_settings, pin_moves
from ..read.mesh_io import check_evaluated
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
        weights = measures.weights(obj, pin.vertex_group)
        weights = 1.0 - weights if pin.invert else weights
        values = pin.minimum + (pin.maximum - pin.minimum) * weights
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
    for obj in shot.cloths if not shot.colliders else ():
        if obj.taffeta_cloth.pin.source != "UNIFORM" or obj.taffeta_cloth.pin.value > 0.0:
            sentence = f"{obj.name} only hangs from its pins: nothing is animated, and there is no wind"
            yield Problem("INFO", obj.name, sentence, "Animate the body or the pins, or set Wind, if it is to move")


PIN_CHECKS = (_pins, _unattached, _ties, _still)
