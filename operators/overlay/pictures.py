# SPDX-License-Identifier: GPL-3.0-or-later
"""What the overlay shows on each garment, and when it is looked at anew.

Pictures are made when Blender has evaluated something, never while it draws. They hold arrays and no Blender data, so
undo cannot break them.
"""

from typing import NamedTuple

import bmesh
import bpy
import numpy as np
from bpy.app.handlers import persistent

from ...panels.mapped import MAPPED, ROWS
from ..read import maps
from ..read.arrays import edges, positions, triangulated
from . import colours


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
_values: dict[int, np.ndarray] = {}
_triangles: dict[int, np.ndarray] = {}


def pictures(view_layer, depsgraph, show: str) -> tuple[tuple[Picture, ...], Legend]:
    """Pictures of every visible cloth of a view layer, and their common legend.

    show : a name of `panels.mapped.MAPPED`, or "STRETCH".
    """
    found, troubles = [], []
    for obj in view_layer.objects:
        if obj is None or obj.type != "MESH" or not obj.taffeta_cloth.enabled or not obj.visible_get():
            continue
        if not obj.data.polygons:  # nothing to colour
            continue
        try:
            found.append(_picture(obj, depsgraph, show))
        except ValueError as error:
            troubles.append(str(error))
    return tuple(found), _legend(found, show, tuple(troubles))


def _picture(obj, depsgraph, show) -> Picture:
    if obj.mode == "EDIT":
        raise ValueError(f"{obj.name}: the overlay comes back when you leave Edit mode")
    x = _positions(obj, depsgraph)
    uid = obj.session_uid
    if uid not in _triangles:
        _triangles[uid], _ = triangulated(obj.data)
    if show == "STRETCH":
        values = _stretch(obj, x)
    else:
        if uid not in _values:
            _values[uid] = maps.read_map(obj, getattr(obj.taffeta_cloth, show), obj.data)
        values = _values[uid]
    matrix = tuple(tuple(row) for row in obj.matrix_world)
    return Picture(obj.name, matrix, x, _triangles[uid], values)


def _positions(obj, depsgraph) -> np.ndarray:
    """Where the garment's vertices are now, (n, 3) float32 in object space.

    When a modifier behind the cache changes the number of vertices (Subdivision), the mesh as it was before that.

    Raises
    ------
    ValueError
        A modifier changes the vertices before anything else moves them.
    """
    count = len(obj.data.vertices)
    evaluated = obj.evaluated_get(depsgraph)
    if len(evaluated.data.vertices) == count:
        return positions(evaluated.data)
    cage = bmesh.new()
    try:
        cage.from_object(obj, depsgraph, cage=True)
        if len(cage.verts) != count:
            raise ValueError(
                f"{obj.name}: a modifier changes its vertices; move it to the end of the stack to see values"
            )
        return np.array([vertex.co for vertex in cage.verts], np.float32).reshape(-1, 3)
    finally:
        cage.free()


def _stretch(obj, x) -> np.ndarray:
    """Stretch per vertex against the rest lengths of the mesh, both in world size."""
    ends = edges(obj.data)
    size = np.array(obj.matrix_world.to_3x3()).T
    rest_length = colours.lengths(positions(obj.data) @ size, ends)
    return colours.vertex_stretch(x @ size, ends, rest_length)


def _legend(found, show, troubles) -> Legend:
    if show == "STRETCH":
        return Legend("Current Stretch", "%", *colours.STRETCH_RANGE, colours.DIVERGING, troubles)
    row = ROWS[show]
    values = [p.values for p in found if p.values.size]
    low = min((float(v.min()) for v in values), default=0.0)
    high = max((float(v.max()) for v in values), default=0.0)
    return Legend(row.label, row.symbol, low, high, colours.SEQUENTIAL, troubles)


def refresh(context) -> None:
    """Make the pictures anew from the scene as it is, and have the viewports drawn."""
    global _drawn
    show = context.window_manager.taffeta.overlay
    if show == "NONE":
        _forget()
    else:
        _drawn = pictures(context.view_layer, context.evaluated_depsgraph_get(), show)
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def _forget() -> None:
    """No pictures, and nothing kept."""
    global _drawn
    _drawn = ((), None)
    _values.clear()
    _triangles.clear()


def drawn() -> tuple[tuple[Picture, ...], Legend | None]:
    """What the viewports show now; for tests and scripts."""
    return _drawn


def _wanted() -> bool:
    """Is there anything to refresh? Not while a bake moves the scene about, nor in a render's own thread."""
    session = getattr(bpy.context.window_manager, "taffeta", None)
    return (
        session is not None
        and session.overlay != "NONE"
        and not session.baking
        and not bpy.app.is_job_running("RENDER")
        and bpy.context.view_layer is not None
    )


@persistent
def _on_update(scene, depsgraph):
    """A cloth, its mesh or an image has changed: its values may have, too."""
    if not _wanted():
        return
    changed = {update.id.original.session_uid for update in depsgraph.updates}
    cloths = [obj for obj in scene.objects if obj.type == "MESH" and obj.taffeta_cloth.enabled]
    touched = [obj for obj in cloths if changed & _sources(obj)]
    for obj in touched:
        _values.pop(obj.session_uid, None)
        _triangles.pop(obj.session_uid, None)
    if touched or len(cloths) != len(_drawn[0]):
        refresh(bpy.context)


def _sources(obj) -> set[int]:
    """Session uids of what a cloth's picture depends on."""
    images = (getattr(obj.taffeta_cloth, name).image for name in MAPPED)
    return {obj.session_uid, obj.data.session_uid} | {image.session_uid for image in images if image is not None}


@persistent
def _on_frame(*_):
    """The garment moved; its map values stay."""
    if _wanted():
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
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)


def unregister():
    """Do that no more, and forget the pictures."""
    for name, handler in reversed(HANDLERS):
        getattr(bpy.app.handlers, name).remove(handler)
    _forget()
