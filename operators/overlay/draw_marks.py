# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw marks into the viewport: shells first and translucent, then lines and points."""

import atexit
from types import SimpleNamespace

import numpy as np

from .draw import DEPTH_BIAS, overlays_shown
from .marks import LINES, POINTS, SHELL, drawn

_batches = SimpleNamespace(of=None, on_gpu=[])  # the marks that are on the graphics card, and a batch for each
SHADERS = {POINTS: "POINT_UNIFORM_COLOR", LINES: "POLYLINE_UNIFORM_COLOR", SHELL: "UNIFORM_COLOR"}
BATCHES = {POINTS: "POINTS", LINES: "LINES", SHELL: "TRIS"}


@atexit.register  # Blender 5.2 crashes where a batch outlives its graphics context
def forget() -> None:
    """Take all from the graphics card."""
    _batches.of, _batches.on_gpu = None, []


def draw_marks(found=None) -> None:
    """Draw the marks with the bound viewport's own matrices; batches are made once for each set of marks."""
    import gpu
    from gpu_extras.batch import batch_for_shader
    from mathutils import Matrix

    marks = (found or drawn()).marks
    if _batches.of is not marks:
        _batches.of, _batches.on_gpu = marks, []
    if not marks or not overlays_shown():
        return
    if not _batches.on_gpu:
        for mark in marks:
            shader = gpu.shader.from_builtin(SHADERS[mark.kind])
            given = {} if mark.triangles is None else {"indices": np.asarray(mark.triangles, np.int32)}
            _batches.on_gpu.append((shader, batch_for_shader(shader, BATCHES[mark.kind], {"pos": mark.x}, **given)))
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.blend_set("ALPHA")
    with gpu.matrix.push_pop_projection():
        projection = gpu.matrix.get_projection_matrix()
        projection[2] -= 2.0 * DEPTH_BIAS * projection[3]  # before the pictures
        gpu.matrix.load_projection_matrix(projection)
        order = sorted(zip(marks, _batches.on_gpu, strict=True), key=lambda item: item[0].kind != SHELL)
        for mark, (shader, batch) in order:
            with gpu.matrix.push_pop():
                gpu.matrix.multiply_matrix(Matrix.Translation(mark.origin))
                shader.bind()
                shader.uniform_float("color", mark.colour)
                if mark.kind == POINTS:
                    gpu.state.point_size_set(mark.size)
                elif mark.kind == LINES:
                    shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
                    shader.uniform_float("lineWidth", mark.size)
                batch.draw(shader)
    gpu.state.point_size_set(1.0)
    gpu.state.blend_set("NONE")
    gpu.state.depth_test_set("NONE")
