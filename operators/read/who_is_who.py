# SPDX-License-Identifier: GPL-3.0-or-later
"""Which object is meant by a name of before, whatever it is called by now: a mark that it bears.

No pointer: Blender keeps an object in the file that something points to, so that what was deleted would still have its name.
"""

import uuid
from collections import Counter
from collections.abc import Iterable

import bpy


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
        bearers = [obj.name for obj in scene.objects if mark and obj.taffeta_mark == mark]
        if name in bearers or len(bearers) == 1:
            found[name] = name if name in bearers else bearers[0]
    before = {now: name for name, now in found.items()}
    for name in marks:
        if name not in found and name in before:
            raise ValueError(
                f"This take has settings for a {name} that is gone, and {before[name]} is called {name} now; add the take anew"
            )
    return found
