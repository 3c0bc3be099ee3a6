# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw a layered depth image at pixel centres on the graphics card and read it back, without a loop in Python."""

import gpu
import numpy as np

from ..solver.ldi.centres import THREE_DIRECTIONS, THREE_FULL, find_axes, finish
from ..solver.ldi.centres import render as render_on_cpu
from ..solver.ldi.rasterise import lay_out
from ..solver.model import LDI
from . import shader
from .context import NoGraphics
from .hits import HitList, texture


class Renderer:
    """Keep it while images are wanted; it holds a few textures. Raises NoGraphics if the driver does not compile the
    shader, or draws something else than the CPU.
    """

    def __init__(self):
        self.list = HitList(shader.SOURCE, ("corners", "triangles"))
        self._try_out()

    def render(self, x, triangles, low, high, resolution: int, direction: int = THREE_DIRECTIONS) -> LDI:
        """As `solver.ldi.centres.render`, on the main thread.

        Layers and triangles are those of the CPU, save where a pixel's centre lies within a rounding error (32 bits)
        of an edge; depths to 1e-5 of the box.

        Raises
        ------
        ValueError
            More triangles or pixels than 32-bit floats can number.
        """
        raster = lay_out(low, high, resolution, direction)
        if not len(triangles):
            return finish(raster, np.zeros((0, 4), np.float32))
        axes = np.full(len(triangles), 3 if direction == THREE_FULL else direction, np.int32)
        if direction == THREE_DIRECTIONS:
            find_axes(x, np.ascontiguousarray(triangles, np.int32), axes)
        # Of each vertex its place in pixels, whose centres lie at whole numbers; of each triangle its vertices, and the
        # axis along which it is drawn.
        textures = {
            "corners": texture((x - raster.low) * (1.0 / raster.pixel) - 0.5),
            "triangles": texture(np.column_stack([triangles, axes])),
        }
        return finish(raster, self.list.draw(len(triangles), raster, textures))

    def _try_out(self) -> None:
        """Compare a small image with the CPU's: a driver that orders its writes otherwise must not go unnoticed."""
        x = np.concatenate([np.eye(3), -np.eye(3)]) * [1.0, 0.9, 0.8] + [0.01, 0.02, 0.03]
        sign = [(i, j, k) for i in (0, 3) for j in (1, 4) for k in (2, 5)]
        triangles = np.array([s if (np.array(s) > 2).sum() % 2 == 0 else s[::-1] for s in sign], np.int32)
        ours = self.render(x, triangles, x.min(0), x.max(0), 40, THREE_FULL)
        theirs = render_on_cpu(x, triangles, x.min(0), x.max(0), 40, THREE_FULL)
        same = all(np.array_equal(getattr(ours, f), getattr(theirs, f)) for f in ("pixel_start", "triangle", "front"))
        if not same or np.abs(ours.depth - theirs.depth).max() > 1e-5:
            raise NoGraphics(f"{gpu.platform.renderer_get()} draws other images than the CPU")
