# SPDX-License-Identifier: GPL-3.0-or-later
"""What shows a live simulation on a garment: a Mesh Cache where its bake would stand, which plays one frame from a file.

The file lies in Blender's own temporary folder and is written anew in each frame. Meshes stay as they are. What is
switched off behind the modifier is noted with the garment, so that it comes back whatever becomes of the session: a
file that Blender saved by itself, and an undo to a step in the middle, bring the modifier and the note together.
"""

from pathlib import Path

import bpy
import numpy as np

from ...solver.cache import pc2
from ..read.modifier_stack import LIVE_NAME, find_live, index_of, simulated

FILES = "taffeta_live_{}.pc2"  # in Blender's temporary folder, one a garment


def add(obj: bpy.types.Object) -> None:
    """The modifier, not shown yet; what stands behind it is switched off."""
    behind = simulated(obj)
    at = index_of(obj, behind[0]) if behind else len(obj.modifiers)
    shown = [modifier for modifier in behind if modifier.show_viewport]
    obj.taffeta_cloth.muted = "\n".join(modifier.name for modifier in shown)
    for modifier in shown:
        modifier.show_viewport = False
    modifier = obj.modifiers.new(LIVE_NAME, "MESH_CACHE")
    modifier.show_viewport = modifier.show_render = False
    modifier.cache_format, modifier.filepath = "PC2", str(_file(obj))
    obj.modifiers.move(index_of(obj, modifier), at)


def write(obj: bpy.types.Object, x: np.ndarray) -> None:
    """Let the modifier put the vertices at x (n, 3) [Blender units, object space] when it is shown the next time."""
    pc2.write(_file(obj), x[None], 0.0)


def remove_all() -> None:
    """Take the modifier off all objects, copies that were made meanwhile, too, switch on again what stood behind it, and
    delete the files."""
    for obj in bpy.data.objects:
        if obj.type == "MESH" and obj.library is None and (modifier := find_live(obj)) is not None:
            obj.modifiers.remove(modifier)
            for name in obj.taffeta_cloth.muted.splitlines():
                if name in obj.modifiers:
                    obj.modifiers[name].show_viewport = True
            obj.taffeta_cloth.muted = ""
    for path in Path(bpy.app.tempdir).glob(FILES.format("*")):
        path.unlink(missing_ok=True)


def _file(obj) -> Path:
    return Path(bpy.app.tempdir) / FILES.format(obj.session_uid)
