# SPDX-License-Identifier: GPL-3.0-or-later
"""Which object is meant by a name of before, whatever it is called by now: by a mark that it bears (`panels.marks`), or as long as
Blender runs by its session uid.
"""

import uuid
from collections import Counter
from collections.abc import Iterable

import bpy

from ...panels.marks import bearer


def marked(scene: bpy.types.Scene, names: Iterable[str]) -> dict[str, str]:
    """The marks of objects of a scene, by their names. Who has none gets one, and duplicates, which have their original's, get others."""
    bearers = Counter(obj.taffeta_mark for obj in scene.objects)
    marks = {}
    for name in names:
        obj = scene.objects[name]
        if not obj.taffeta_mark or bearers[obj.taffeta_mark] > 1:
            obj.taffeta_mark = uuid.uuid4().hex
        marks[name] = obj.taffeta_mark
    return marks


def called_now(scene: bpy.types.Scene, marks: dict[str, str]) -> dict[str, str]:
    """What the objects of a scene that have these marks are called by now, by the names of before; none where that is not known.

    Raises
    ------
    ValueError
        One is gone, and another one of them has its name: a sentence.
    """
    found = {}
    for name, mark in marks.items():
        now = bearer(scene, mark, name)
        if now is not None:
            found[name] = now
    before = {now: name for name, now in found.items()}
    for name in marks:
        if name not in found and name in before:
            raise ValueError(
                f"This take has settings for a {name} that is gone, and {before[name]} is called {name} now; add the take anew"
            )
    return found


def uids(scene: bpy.types.Scene, names: Iterable[str]) -> dict[str, int]:
    """The session uids of objects of a scene, by their names."""
    return {name: scene.objects[name].session_uid for name in names}


def of_uids(scene: bpy.types.Scene, known: dict[str, int]) -> dict[str, str]:
    """What the objects that have these uids are called by now, by the names of before; without those that are gone."""
    now = {obj.session_uid: obj.name for obj in scene.objects}
    return {name: now[uid] for name, uid in known.items() if uid in now}
