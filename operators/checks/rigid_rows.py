# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the preflight list about rigid garments: what they cannot do, so that a bake would refuse it."""

from collections.abc import Iterator

from ...solver.elastic.rigid import RIGID_DYNAMICS
from ..read.anchors import holding
from .problem import Problem, Shot


def is_rigid(obj) -> bool:
    """Whether a garment keeps its shape."""
    return obj.taffeta_cloth.model == "RIGID"


def _rigid(shot: Shot) -> Iterator[Problem]:
    """Rigid garments in other ways than the velocity field, or held by something."""
    settings = shot.scene.taffeta
    for obj in filter(is_rigid, shot.cloths):
        name, cloth = obj.name, obj.taffeta_cloth
        if settings.cloth_contact != "VELOCITY_FIELD":
            remedy = "Set Cloth on Cloth to Velocity Field in the Scene tab, or choose another Model in Fabric Details"
            yield Problem("ERROR", name, f"{name} is rigid, which the velocity field alone can move", remedy)
        if settings.dynamics not in RIGID_DYNAMICS:
            remedy = "Set Dynamics to Linearly Implicit, or choose another Model in Fabric Details"
            yield Problem("ERROR", name, f"{name} is rigid, which these dynamics cannot move", remedy)
        is_pinned = any(mapped.source != "UNIFORM" or mapped.value > 0.0 for mapped in (cloth.pin, cloth.pin_distance))
        if is_pinned or holding(obj):
            remedy = "Clear its Pin, Max Distance and Attachments, or make it a collider that is animated"
            yield Problem("ERROR", name, f"{name} is rigid and can be neither pinned nor attached", remedy)
        if cloth.sewing:
            remedy = "Switch Sewing off, or choose another Model in Fabric Details"
            yield Problem("ERROR", name, f"{name} is rigid and cannot be sewn", remedy)


RIGID_CHECKS = (_rigid,)
