# SPDX-License-Identifier: GPL-3.0-or-later
"""What a check of the preflight list is given, and what it finds."""

from typing import NamedTuple

import bpy


class Problem(NamedTuple):
    """One thing that is wrong or doubtful."""

    severity: str  # ERROR: the bake would not start; WARNING: doubtful; INFO: good to know
    object: str  # name, or "" when it is about the scene
    sentence: str
    remedy: str
    verbs: tuple[str, ...] = ()  # operators that do what the remedy says, given the object's name
    heavy: bool = False  # a warning that Bake, pressed in a window, asks about first, as it does about errors
    alone: bool = False  # what else is found of the object is of the same fault, and not told
    filing: bool = False  # of where frames are kept, which what keeps none need not heed
    selects: str = ""  # what `taffeta.select_problem` selects of it, as `tangle_rows` has it; "" nothing


class Shot(NamedTuple):
    """What the checks look at."""

    scene: bpy.types.Scene
    depsgraph: bpy.types.Depsgraph
    cloths: list[bpy.types.Object]
    colliders: list[bpy.types.Object]
