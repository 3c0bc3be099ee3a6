# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the overlay's pictures and their legend. Nothing is computed here but colours."""

import atexit
from types import SimpleNamespace

import bpy
import numpy as np

from ...panels.rows import painted_property
from . import colours, marks, shapes
from .pictures import drawn
from .placing import free_corner

DEPTH_BIAS = 2e-4  # of the view's depth range: the overlay lies just in front of the garment it repeats
LEVELS = 8  # parts of the range that lines of equal value lie between
LINE_WIDTH = 2.5  # pixels
RAMP = 220, 14  # points, width and height
ROW = 18  # points from one sentence to the next

# The pictures that are on the graphics card: `found` as they were given, which is drawn as lines, a batch for each.
_batches = SimpleNamespace(found=(), as_lines="", on_gpu=[])


@atexit.register  # Blender 5.2 crashes where a batch outlives its graphics context
def forget() -> None:
    """Take all from the graphics card."""
    _batches.found, _batches.on_gpu = (), []


def painted_over() -> str:
    """Name of the garment on which another map is painted than the one that is shown: Blender colours it, we draw lines."""
    obj = bpy.context.object
    if bpy.context.mode not in {"PAINT_WEIGHT", "PAINT_TEXTURE"} or not obj.taffeta_cloth.enabled:
        return ""
    painted = painted_property(obj)
    return obj.name if painted and painted != bpy.context.window_manager.taffeta.overlay else ""


def _batch(picture, legend, as_lines):
    """(shader, batch) of a picture: its triangles coloured by their values, or lines of equal value."""
    import gpu
    from gpu_extras.batch import batch_for_shader

    def tint(values):
        return colours.colours(values, legend.low, legend.high, legend.stations)

    if not as_lines:
        shader = gpu.shader.from_builtin("SMOOTH_COLOR")
        content = {"pos": picture.x, "color": tint(picture.values)}
        return shader, batch_for_shader(shader, "TRIS", content, indices=picture.triangles)
    levels = legend.low + (legend.high - legend.low) * (np.arange(LEVELS) + 0.5) / LEVELS
    pieces, level_of = shapes.contours(picture.x, picture.triangles, picture.values, levels)
    shader = gpu.shader.from_builtin("POLYLINE_SMOOTH_COLOR")
    content = {"pos": pieces.reshape(-1, 3).astype(np.float32), "color": np.repeat(tint(level_of), 2, axis=0)}
    return shader, batch_for_shader(shader, "LINES", content)


def draw_pictures(found=None, legend=None) -> None:
    """Draw the garments' colours into the bound viewport or off-screen buffer, with its own matrices."""
    import gpu
    from mathutils import Matrix

    found, legend = (found, legend) if found is not None else drawn()
    as_lines = painted_over()
    if _batches.found is not found or _batches.as_lines != as_lines:
        _batches.found, _batches.as_lines, _batches.on_gpu = found, as_lines, []
    if not found or not overlays_shown():
        return
    if not _batches.on_gpu:
        _batches.on_gpu = [_batch(picture, legend, picture.name == as_lines) for picture in found]
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.depth_mask_set(True)
    with gpu.matrix.push_pop_projection():
        projection = gpu.matrix.get_projection_matrix()
        projection[2] -= DEPTH_BIAS * projection[3]
        gpu.matrix.load_projection_matrix(projection)
        for picture, (shader, batch) in zip(found, _batches.on_gpu, strict=True):
            with gpu.matrix.push_pop():
                gpu.matrix.multiply_matrix(Matrix(picture.matrix))
                if picture.name == as_lines:
                    shader.bind()
                    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
                    shader.uniform_float("lineWidth", LINE_WIDTH)
                batch.draw(shader)
    gpu.state.depth_mask_set(False)
    gpu.state.depth_test_set("NONE")


def overlays_shown() -> bool:
    """The viewport's own overlay switch hides ours as well."""
    space = bpy.context.space_data
    return getattr(getattr(space, "overlay", None), "show_overlays", True)


def draw_legend() -> None:
    """Draw the ramp with its least, middle and greatest value, and what the marks are, at the lower left of the viewport."""
    import blf

    found, legend = drawn()
    words = marks.drawn().words
    if (legend is None and not words) or not overlays_shown():
        return
    unit, font = bpy.context.preferences.system.ui_scale, 0
    sentences = legend.troubles if legend else ()
    high = (RAMP[1] + 28 if found else 0) + ROW * (len(sentences) + len(words))
    left, at = free_corner(bpy.context.area.regions, bpy.context.region, unit, high * unit)
    blf.size(font, 12 * unit)
    blf.color(font, 1.0, 1.0, 1.0, 1.0)
    blf.enable(font, blf.SHADOW)
    blf.shadow(font, 5, 0.0, 0.0, 0.0, 0.9)
    if found:
        _draw_ramp(blf, legend, left, at, unit)
        at += (RAMP[1] + 28) * unit
    for sentence in sentences:
        _text(blf, left, at, sentence)
        at += ROW * unit
    for colour, sentence in reversed(words):
        _swatch(left, at, colour, unit)
        _text(blf, left + ROW * unit, at, sentence)
        at += ROW * unit
    blf.disable(font, blf.SHADOW)


def _draw_ramp(blf, legend, left, low, unit):
    """The ramp, what it is of, and three numbers below it."""
    import gpu
    from gpu_extras.batch import batch_for_shader

    width, height = (side * unit for side in RAMP)
    steps = np.linspace(0.0, 1.0, 33)
    corners = np.empty((66, 3), np.float32)
    corners[:, 0] = left + np.repeat(steps, 2) * width
    corners[:, 1] = low + np.tile((0.0, height), 33)
    corners[:, 2] = 0.0
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    tints = np.repeat(colours.ramp(legend.stations, steps), 2, axis=0)
    batch_for_shader(shader, "TRI_STRIP", {"pos": corners, "color": tints}).draw(shader)
    _text(blf, left, low + height + 8 * unit, legend.title + (" (lines)" if painted_over() else ""))
    for share, text in _ticks(legend):
        wide = blf.dimensions(0, text)[0]
        _text(blf, left + share * (width - wide), low - 16 * unit, text)


def _swatch(left, low, colour, unit):
    """A square of the colour that a mark has."""
    import gpu
    from gpu_extras.batch import batch_for_shader

    shader, side = gpu.shader.from_builtin("UNIFORM_COLOR"), 10 * unit
    corners = [(left + x * side, low + y * side, 0.0) for x, y in ((0, 0), (1, 0), (0, 1), (1, 1))]
    shader.bind()
    shader.uniform_float("color", (*colour[:3], 1.0))
    batch_for_shader(shader, "TRI_STRIP", {"pos": corners}).draw(shader)


def _ticks(legend) -> list[tuple[float, str]]:
    """Places along the ramp and what stands there; one in the middle when all values are equal."""
    if legend.high <= legend.low:
        return [(0.5, f"{colours.quantity(legend.low, legend.symbol)} everywhere")]
    middle = 0.5 * (legend.low + legend.high)
    return [(s, colours.quantity(v, legend.symbol)) for s, v in ((0, legend.low), (0.5, middle), (1, legend.high))]


def _text(blf, x, y, text):
    blf.position(0, x, y, 0.0)
    blf.draw(0, text)
