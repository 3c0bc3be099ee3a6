# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the preflight list about bodies and garments that a scene shows, though no bake sees them: as instances, or behind it."""

from collections import Counter
from collections.abc import Iterator, Sequence

import bpy

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


def _behind(shot: Shot) -> Iterator[Problem]:
    """Colliders and cloth of the scenes that this one shows behind it."""
    own, seen = {obj.session_uid for obj in shot.scene.objects}, set()
    behind = shot.scene.background_set
    while behind is not None and behind not in seen:
        seen.add(behind)
        for obj in sorted(behind.objects, key=lambda obj: obj.name):
            takes_part = obj.taffeta_cloth.enabled or obj.taffeta_collider.enabled
            if obj.type == "MESH" and takes_part and obj.session_uid not in own:
                yield Problem(
                    "WARNING",
                    "",
                    f"{obj.name} is shown by the Background Set {behind.name} only: no bake of this scene sees it",
                    f"Link it to {shot.scene.name}, too: Object > Link/Transfer Data > Link Objects to Scene",
                    heavy=True,
                )
        behind = behind.background_set


def copies(depsgraph: bpy.types.Depsgraph, bodies: Sequence[bpy.types.Object]) -> Iterator[Problem]:
    """Bodies of which instances are shown, by their own nodes and particles or by their parent. Looks at every instance of the scene."""
    known, counts, spread = {obj.session_uid: obj for obj in bodies}, Counter(), set()
    # A scene can have a million instances, of which none is a body's: these are not counted.
    for instance in depsgraph.object_instances if any(map(_may_be_copied, bodies)) else ():
        if not instance.is_instance or instance.parent is None:
            continue
        maker, shown = instance.parent.original, instance.object.original
        counts[maker.session_uid] += 1
        if maker.instance_type in {"VERTS", "FACES"} and shown.parent == maker:
            spread.add(shown.session_uid)
    for uid, obj in known.items():
        if uid in spread:
            sentence = f"{obj.name} is shown at each vertex or face of {obj.parent.name}, and no bake sees it there"
            remedy = f"Select {obj.parent.name} and make its instances real (Object > Apply > Make Instances Real)"
            yield Problem("WARNING", obj.name, sentence, remedy)
        if count := counts[uid]:
            shown = "an instance" if count == 1 else f"{count:,} instances"
            sentence = f"{obj.name} shows {shown} by its nodes or particles, which no bake sees"
            remedy = "End its nodes with Realize Instances if cloth is to keep off them"
            yield Problem("INFO", obj.name, sentence, remedy)


def _may_be_copied(body: bpy.types.Object) -> bool:
    """Whether a body may show instances, or be shown as some."""
    makes = any(modifier.type in {"NODES", "PARTICLE_SYSTEM"} for modifier in body.modifiers)
    return makes or (body.parent is not None and body.parent.instance_type in {"VERTS", "FACES"})


INSTANCE_CHECKS = (_instances, _behind)
