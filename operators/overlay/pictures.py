# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay shows on each garment, and when it is looked at anew.

Pictures are made when Blender has evaluated something, never while it draws. They hold arrays and no Blender data, so
undo cannot break them.
"""

from typing import NamedTuple

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ...panels.mapped import MAPPED, ROWS
from ..read import maps
from ..read.arrays import positions, triangulated
from ..read.keyed import map_moves
from ..read.listen import listen, listen_no_more
from ..read.participants import cloths_of, visible_cloths
from ..read.screen import redraw
from ..read.shown import shown_positions
from . import colours

STRETCH_TITLE = "Compressed (blue), stretched (orange)"


class Picture(NamedTuple):
    """What is drawn on one garment."""

    name: str
    matrix: tuple  # 4 rows of 4: object to world
    x: np.ndarray  # (n, 3) float32, object space
    triangles: np.ndarray  # (t, 3) int32
    values: np.ndarray  # (n,) in the property's unit


class Legend(NamedTuple):
    """What the colours mean."""

    title: str
    symbol: str
    low: float
    high: float
    stations: np.ndarray
    troubles: tuple[str, ...]  # sentences about garments that cannot be shown


# The one picture of the session; replaced as a whole. Map values and triangles are kept by session uid between changes.
_drawn: tuple[tuple[Picture, ...], Legend | None] = ((), None)
_looked_at: set[int] = set()  # session uids of the cloths of which it was made, or said why there is none
_values: dict[int, np.ndarray] = {}
_triangles: dict[int, np.ndarray] = {}


def pictures(view_layer, depsgraph, show: str) -> tuple[tuple[Picture, ...], Legend]:
    """Pictures of every visible cloth of a view layer, and their common legend.

    show : a name of `panels.mapped.MAPPED`, or "STRETCH".
    """
    found, troubles = [], []
    for obj in visible_cloths(view_layer):
        try:
            found.append(_picture(obj, depsgraph, show))
        except ValueError as error:
            troubles.append(str(error))
    return tuple(found), _legend(found, show, tuple(troubles))


def _picture(obj, depsgraph, show) -> Picture:
    x = shown_positions(obj, depsgraph)
    uid = obj.session_uid
    if uid not in _triangles:
        _triangles[uid], _ = triangulated(obj.data)
    if show == "STRETCH":
        values = _stretch(obj, x, _triangles[uid])
    else:
        if uid not in _values:
            mapped = getattr(obj.taffeta_cloth, show)
            _values[uid] = maps.read_map(obj, mapped, _mesh_with(obj, depsgraph, mapped))
        values = _values[uid]
    matrix = tuple(tuple(row) for row in obj.matrix_world)
    return Picture(obj.name, matrix, x, _triangles[uid], values)


def _mesh_with(obj, depsgraph, mapped) -> bpy.types.Mesh:
    """The mesh that has a map: the object's own, or as evaluated where modifiers make the attribute."""
    evaluated = obj.evaluated_get(depsgraph).data
    is_made = mapped.source == "ATTRIBUTE" and mapped.attribute not in obj.data.attributes
    return evaluated if is_made and len(evaluated.vertices) == len(obj.data.vertices) else obj.data


def _stretch(obj, x, triangles) -> np.ndarray:
    """Strain of largest size around each vertex against the rest lengths of the mesh, both in world size."""
    size = np.array(obj.matrix_world.to_3x3()).T
    return colours.vertex_strain(x @ size, positions(obj.data) @ size, triangles)


def _legend(found, show, troubles) -> Legend:
    if show == "STRETCH":
        return Legend(STRETCH_TITLE, "%", *colours.STRETCH_RANGE, colours.DIVERGING, troubles)
    row = ROWS[show]
    values = [p.values for p in found if p.values.size]
    low = min((float(v.min()) for v in values), default=0.0)
    high = max((float(v.max()) for v in values), default=0.0)
    return Legend(row.label, row.symbol, low, high, colours.SEQUENTIAL, troubles)


def refresh(context) -> None:
    """Make the pictures anew from the scene as it is, and have the viewports drawn."""
    global _drawn, _looked_at
    _looked_at = {obj.session_uid for obj in visible_cloths(context.view_layer)}
    show = context.window_manager.taffeta.overlay
    if show == "NONE":
        _forget()
    else:
        _drawn = pictures(context.view_layer, context.evaluated_depsgraph_get(), show)
    redraw(context, "VIEW_3D")


def _forget() -> None:
    """No pictures, and nothing kept."""
    global _drawn
    _drawn = ((), None)
    _values.clear()
    _triangles.clear()


def drawn() -> tuple[tuple[Picture, ...], Legend | None]:
    """What the viewports show now; for tests and scripts."""
    return _drawn


def update_allowed() -> bool:
    """May the scene be looked at? Not while a bake moves it about, nor in a render's own thread."""
    session = getattr(bpy.context.window_manager, "taffeta", None)
    return (
        session is not None
        and not session.baking
        and not bpy.app.is_job_running("RENDER")
        and bpy.context.view_layer is not None
    )


def _wanted() -> bool:
    """Is there anything to refresh?"""
    return update_allowed() and bpy.context.window_manager.taffeta.overlay != "NONE"


@persistent
def _on_update(scene, depsgraph):
    """A cloth, its mesh or an image has changed: its values may have, too."""
    if not _wanted():
        return
    changed = {update.id.original.session_uid for update in depsgraph.updates}
    touched = {obj.session_uid for obj in cloths_of(scene) if changed & sources(obj)}
    for uid in touched:  # of hidden ones, too: they will be shown again
        _values.pop(uid, None)
        _triangles.pop(uid, None)
    shown = {obj.session_uid for obj in visible_cloths(bpy.context.view_layer)}
    if touched & shown or shown != _looked_at:
        refresh(bpy.context)


def sources(obj) -> set[int]:
    """Session uids of what a cloth's picture and marks depend on."""
    images = (getattr(obj.taffeta_cloth, name).image for name in MAPPED)
    return {obj.session_uid, obj.data.session_uid} | {image.session_uid for image in images if image is not None}


@persistent
def _on_frame(*_):
    """The garment moved; its map values stay, unless they are animated."""
    if _wanted():
        show = bpy.context.window_manager.taffeta.overlay
        for obj in cloths_of(bpy.context.scene):
            if show in MAPPED and map_moves(obj, show):
                _values.pop(obj.session_uid, None)
        refresh(bpy.context)


@persistent
def _on_load(*_):
    """Another file: forget everything, then look again."""
    _forget()
    if _wanted():
        refresh(bpy.context)


HANDLERS = (
    ("depsgraph_update_post", _on_update),
    ("frame_change_post", _on_frame),
    ("load_post", _on_load),
)


def forget_values() -> None:
    """Read all maps anew with the next refresh."""
    _values.clear()


def register():
    """Look again when something changes."""
    listen(HANDLERS)


def unregister():
    """Do that no more, and forget the pictures."""
    listen_no_more(HANDLERS)
    _forget()
