# SPDX-License-Identifier: GPL-3.0-or-later
"""The Sewing switch, where a verb of Edit Mode turned it on: it goes back with the edges that Undo takes away.

Undo in Edit Mode brings back the mesh alone; the object's settings stay as they are. Elsewhere it brings back both.
"""

import bpy
from bpy.app.handlers import persistent

from .listen import listen, listen_no_more
from .sewn_edges import count

# Session-wide memory: by session_uid of each garment whose switch a verb turned on, or Undo off again, how many edges without a face
# it had before.
_on: dict[int, int] = {}
_off: dict[int, int] = {}


def turn_on(obj: bpy.types.Object, before: int) -> bool:
    """Turn a garment's Sewing on; whether it was off. before : how many edges without a face there were until now"""
    if obj.taffeta_cloth.sewing:
        return False
    obj.taffeta_cloth.sewing = True
    _on[obj.session_uid] = before
    return True


def _follow(known: dict[int, int], others: dict[int, int], is_on: bool) -> None:
    """Switch the garments in Edit Mode that are known and whose edges have come or gone, and know such among the others."""
    for obj in [obj for obj in bpy.data.objects if obj.session_uid in known]:
        before = known[obj.session_uid]
        if obj.type == "MESH" and (count(obj) > before) == is_on:
            if obj.mode == "EDIT":
                obj.taffeta_cloth.sewing = is_on
            others[obj.session_uid] = known.pop(obj.session_uid)


@persistent
def _undone(*_):
    _follow(_on, _off, is_on=False)


@persistent
def _redone(*_):
    _follow(_off, _on, is_on=True)


@persistent
def _forget(*_):
    _on.clear()
    _off.clear()


HANDLERS = (("undo_post", _undone), ("redo_post", _redone), ("load_post", _forget))


def register():
    """Watch for what Undo takes away."""
    listen(HANDLERS)


def unregister():
    """Stop watching."""
    listen_no_more(HANDLERS)
    _forget()
