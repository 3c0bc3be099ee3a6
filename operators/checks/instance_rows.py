# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the preflight list about bodies and garments that a scene only shows as instances of a collection."""

from collections.abc import Iterator

from ..read.participants import instanced
from .problem import Problem, Shot


def _instances(shot: Shot) -> Iterator[Problem]:
    """Colliders and cloth that are seen, but in no collection of the scene."""
    for empty, obj in instanced(shot.scene):
        if not (obj.taffeta_cloth.enabled or obj.taffeta_collider.enabled):
            continue
        if obj.taffeta_cloth.enabled:
            sentence = f"{empty.name} shows {obj.name}, which is cloth, as an instance only: no bake sees it"
        else:
            sentence = f"{empty.name} shows {obj.name}, which is a collider, as an instance only: no bake sees it"
        if empty.instance_collection.library is not None:
            remedy = f"Make a library override of {empty.name} (Object > Library Override > Make)"
        else:
            remedy = f"Select {empty.name} and make its instances real (Object > Apply > Make Instances Real)"
        yield Problem("WARNING", empty.name, sentence, remedy, heavy=True)


INSTANCE_CHECKS = (_instances,)
