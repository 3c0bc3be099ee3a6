# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the overlay's pictures and their legend. Nothing is computed here but colours."""

import atexit
from types import SimpleNamespace

import bpy
import numpy as np

from . import colours
from .pictures import drawn

DEPTH_BIAS = 2e-4  # of the view's depth range: the overlay lies just in front of the garment it repeats

# The pictures that are on the graphics card: `found` as they were given, and a batch of triangles for each.
_batches = SimpleNamespace(found=(), on_gpu=[])


@atexit.register  # Blender 5.2 crashes where a batch outlives its graphics context
def forget() -> None:
    """Take all from the graphics card."""
    _batches.found, _batches.on_gpu = (), []


def draw_pictures(found=None, legend=None) -> None:
    """Draw the garments' colours into the bound viewport or off-screen buffer, with its own matrices."""
    import gpu
    from gpu_extras.batch import batch_for_shader
    from mathutils import Matrix

    found, legend = (found, legend) if found is not None else drawn()
    if _batches.found is not found:
        _batches.found, _batches.on_gpu = found, []
    if not found or not _overlays_shown():
        return
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    if not _batches.on_gpu:
        _batches.on_gpu = [
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
        for picture, batch in zip(found, _batches.on_gpu, strict=True):
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

    found, legend = drawn()
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
