# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn over the cloth while it is draped: pins that were made by hand, and the line that pulls."""

import numpy as np

from ..overlay.draw import DEPTH_BIAS
from . import session

PIN_SIZE, LINE_WIDTH = 7.0, 2.0  # pixels
PIN_COLOUR = 0.25, 0.9, 0.35, 1.0
LINE_COLOUR = 1.0, 0.75, 0.2, 0.9


def draw() -> None:
    """Draw into the bound viewport, with its own matrices; lengths are in Blender units there."""
    import gpu
    from gpu_extras.batch import batch_for_shader

    drape = session.running()
    if drape is None:
        return
    pins, line = marks(drape)
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("LESS_EQUAL")
    if len(pins):
        with gpu.matrix.push_pop_projection():
            projection = gpu.matrix.get_projection_matrix()
            projection[2] -= 2.0 * DEPTH_BIAS * projection[3]
            gpu.matrix.load_projection_matrix(projection)
            shader = gpu.shader.from_builtin("POINT_UNIFORM_COLOR")
            shader.uniform_float("color", PIN_COLOUR)
            gpu.state.point_size_set(PIN_SIZE)
            batch_for_shader(shader, "POINTS", {"pos": pins}).draw(shader)
            gpu.state.point_size_set(1.0)
    gpu.state.depth_test_set("NONE")
    if len(line):
        shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
        shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
        shader.uniform_float("lineWidth", LINE_WIDTH)
        shader.uniform_float("color", LINE_COLOUR)
        batch_for_shader(shader, "LINES", {"pos": line}).draw(shader)
    gpu.state.blend_set("NONE")


def marks(drape: session.Drape) -> tuple[np.ndarray, np.ndarray]:
    """Pins (k, 3), and the line from what is held to the hand, (2, 3) or (0, 3), in Blender units, float32."""
    hand, origin = drape.hand, drape.cloth.origin
    pins, line = hand.places[hand.pinned] + origin, np.empty((0, 3))
    if hand.held is not None:
        particles, weight = hand.held.patch
        share = weight[:, None] / weight.sum()
        has_come = (share * (drape.state.x[particles] - hand.held.start)).sum(axis=0)
        line = np.stack((hand.held.point + has_come, hand.held.point + hand.held.wanted)) + origin
    return tuple((points / drape.metres).astype(np.float32) for points in (pins, line))
