# SPDX-License-Identifier: GPL-3.0-or-later
"""The viewport overlay: a property's values, or the current stretch, as colours on the garment with a legend.

`pictures` reads the scene into arrays; `colours` makes them colours; the draw functions at the end only draw.
Pictures are made anew when Blender has evaluated something, never while it draws. They hold arrays and no Blender
data, so undo cannot break them.
"""

from typing import NamedTuple

import bmesh
import bpy
import numpy as np
from bpy.app.handlers import persistent

from ..panels.mapped import MAPPED, ROWS
from . import colours, maps

DEPTH_BIAS = 2e-4  # of the view's depth range: the overlay lies just in front of the garment it repeats


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
_batches: list = []
_draw_handlers: list = []


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
        _triangles[uid] = _triangulated(obj.data)
    if show == "STRETCH":
        values = _stretch(obj, x)
    else:
        if uid not in _values:
            _values[uid] = maps.read_map(obj, getattr(obj.taffeta_cloth, show), obj.data)
        values = _values[uid]
    matrix = tuple(tuple(row) for row in obj.matrix_world)
    return Picture(obj.name, matrix, x, _triangles[uid], values)


def _triangulated(mesh) -> np.ndarray:
    """Triangles of a mesh, (t, 3) int32."""
    mesh.calc_loop_triangles()
    triangles = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    return triangles.reshape(-1, 3)


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
    x = np.empty(3 * count, np.float32)
    if len(evaluated.data.vertices) == count:
        evaluated.data.attributes["position"].data.foreach_get("vector", x)
        return x.reshape(-1, 3)
    cage = bmesh.new()
    try:
        cage.from_object(obj, depsgraph, cage=True)
        if len(cage.verts) != count:
            raise ValueError(
                f"{obj.name}: a modifier changes its vertices; move it to the end of the stack to see values"
            )
        for i, vertex in enumerate(cage.verts):
            x[3 * i : 3 * i + 3] = vertex.co
    finally:
        cage.free()
    return x.reshape(-1, 3)


def _stretch(obj, x) -> np.ndarray:
    """Stretch per vertex against the rest lengths of the mesh, both in world size."""
    mesh = obj.data
    edges = np.empty(2 * len(mesh.edges), np.int32)
    mesh.edges.foreach_get("vertices", edges)
    edges = edges.reshape(-1, 2)
    rest = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", rest)
    size = np.array(obj.matrix_world.to_3x3()).T
    rest_length = colours.lengths(rest.reshape(-1, 3) @ size, edges)
    return colours.vertex_stretch(x @ size, edges, rest_length)


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
    _batches.clear()
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
    _batches.clear()


def drawn() -> tuple[tuple[Picture, ...], Legend | None]:
    """What the viewports show now; for tests and scripts."""
    return _drawn


class TAFFETA_OT_overlay(bpy.types.Operator):
    """Show the values on the garment in the viewport; again hides them"""

    bl_idname = "taffeta.overlay"
    bl_label = "Show Values"

    show: bpy.props.EnumProperty(
        name="Show",
        items=(
            ("NONE", "None", "Nothing"),
            *((name, ROWS[name].label, f"Values of {ROWS[name].label}") for name in MAPPED),
            ("STRETCH", "Current Stretch", "Lengths against rest lengths"),
        ),
        default="STRETCH",
    )

    def execute(self, context):
        session = context.window_manager.taffeta
        session.overlay = "NONE" if session.overlay == self.show else self.show
        _values.clear()
        refresh(context)
        troubles = _drawn[1].troubles if _drawn[1] else ()
        for sentence in troubles:
            self.report({"WARNING"}, sentence)
        return {"FINISHED"}


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


def draw_pictures(found=None, legend=None) -> None:
    """Draw the garments' colours into the bound viewport or off-screen buffer, with its own matrices."""
    import gpu
    from gpu_extras.batch import batch_for_shader
    from mathutils import Matrix

    found, legend = (found, legend) if found is not None else _drawn
    if not found or not _overlays_shown():
        return
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    if len(_batches) != len(found):
        _batches[:] = [
            batch_for_shader(
                shader,
                "TRIS",
                {"pos": p.x, "color": colours.colours(p.values, legend.low, legend.high, legend.stations)},
                indices=p.triangles,
            )
            for p in found
        ]
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.depth_mask_set(True)
    with gpu.matrix.push_pop_projection():
        projection = gpu.matrix.get_projection_matrix()
        projection[2] -= DEPTH_BIAS * projection[3]
        gpu.matrix.load_projection_matrix(projection)
        for picture, batch in zip(found, _batches, strict=True):
            with gpu.matrix.push_pop():
                gpu.matrix.multiply_matrix(Matrix(picture.matrix))
                batch.draw(shader)
    gpu.state.depth_mask_set(False)
    gpu.state.depth_test_set("NONE")


def _overlays_shown() -> bool:
    """The viewport's own overlay switch hides ours as well."""
    space = bpy.context.space_data
    return getattr(getattr(space, "overlay", None), "show_overlays", True)


def draw_legend() -> None:
    """Draw the ramp with its least, middle and greatest value at the lower left of the viewport."""
    import blf
    import gpu
    from gpu_extras.batch import batch_for_shader

    found, legend = _drawn
    if legend is None or not _overlays_shown():
        return
    unit = bpy.context.preferences.system.ui_scale
    left, low, width, height = 60 * unit, 60 * unit, 220 * unit, 14 * unit
    font = 0
    blf.size(font, 12 * unit)
    blf.color(font, 1.0, 1.0, 1.0, 1.0)
    blf.enable(font, blf.SHADOW)
    blf.shadow(font, 5, 0.0, 0.0, 0.0, 0.9)
    if found:
        steps = np.linspace(0.0, 1.0, 33)
        corners = np.empty((66, 3), np.float32)
        corners[:, 0] = left + np.repeat(steps, 2) * width
        corners[:, 1] = low + np.tile((0.0, height), 33)
        corners[:, 2] = 0.0
        shader = gpu.shader.from_builtin("SMOOTH_COLOR")
        tints = np.repeat(colours.ramp(legend.stations, steps), 2, axis=0)
        batch_for_shader(shader, "TRI_STRIP", {"pos": corners, "color": tints}).draw(shader)
        _text(blf, left, low + height + 8 * unit, legend.title)
        for share, text in _ticks(legend):
            wide = blf.dimensions(font, text)[0]
            _text(blf, left + share * (width - wide), low - 16 * unit, text)
    for i, sentence in enumerate(legend.troubles):
        _text(blf, left, low + height + (28 + 18 * i) * unit, sentence)
    blf.disable(font, blf.SHADOW)


def _ticks(legend) -> list[tuple[float, str]]:
    """Places along the ramp and what stands there; one in the middle when all values are equal."""
    if legend.high <= legend.low:
        return [(0.5, f"{colours.quantity(legend.low, legend.symbol)} everywhere")]
    middle = 0.5 * (legend.low + legend.high)
    return [(s, colours.quantity(v, legend.symbol)) for s, v in ((0, legend.low), (0.5, middle), (1, legend.high))]


def _text(blf, x, y, text):
    blf.position(0, x, y, 0.0)
    blf.draw(0, text)


HANDLERS = (
    ("depsgraph_update_post", _on_update),
    ("frame_change_post", _on_frame),
    ("load_post", _on_load),
)


def register():
    """Add the operator, the handlers and the drawing."""
    bpy.utils.register_class(TAFFETA_OT_overlay)
    for name, handler in HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)
    add = bpy.types.SpaceView3D.draw_handler_add
    _draw_handlers.append(add(draw_pictures, (), "WINDOW", "POST_VIEW"))
    _draw_handlers.append(add(draw_legend, (), "WINDOW", "POST_PIXEL"))


def unregister():
    """Take all of it out again."""
    for handler in reversed(_draw_handlers):
        bpy.types.SpaceView3D.draw_handler_remove(handler, "WINDOW")
    _draw_handlers.clear()
    for name, handler in reversed(HANDLERS):
        getattr(bpy.app.handlers, name).remove(handler)
    _forget()
    bpy.utils.unregister_class(TAFFETA_OT_overlay)
