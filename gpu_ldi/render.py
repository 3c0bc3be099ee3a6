# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw a layered depth image on the graphics card and read it back, without a loop in Python.

A compute shader needs no framebuffer, viewport, depth or blending: none of Blender's graphics state is touched but the
shader that is bound, and that is unbound again.
"""

import gpu
import numpy as np
from gpu.types import Buffer, GPUTexture

from ..solver.ldi.centres import THREE_DIRECTIONS, THREE_FULL, find_axes, finish
from ..solver.ldi.centres import render as render_on_cpu
from ..solver.ldi.rasterise import lay_out
from ..solver.model import LDI
from .context import NoGraphics
from .shader import GROUP, WIDTH, compile_shader

EXACT = 1 << 24  # whole numbers below it fit a 32-bit float
BUSY = 4096  # invocations that keep a graphics card busy: with fewer triangles, several share one
SPARE = 1.25  # room for hits, as part of what the last image needed


class Renderer:
    """The shader, and a list with room for as many hits as the last image had.

    Keep it while images are wanted; it holds a few textures. Raises NoGraphics if the driver does not compile the
    shader, or draws something else than the CPU.
    """

    def __init__(self):
        self.shader = compile_shader()
        self.total = GPUTexture((1, 1), format="R32UI")
        self.hits = GPUTexture((WIDTH, 16), format="RGBA32F")
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
        frame = lay_out(low, high, resolution, direction)
        low, pixel, shape, base = frame
        if 2 * len(triangles) >= EXACT or base[3] >= EXACT:
            raise ValueError(
                f"{len(triangles):,} triangles and {base[3]:,} pixels: the graphics card can number {EXACT // 2:,} "
                f"and {EXACT:,}; lower the resolution or draw on the CPU"
            )
        if not len(triangles):
            return finish(frame, np.zeros((0, 4), np.float32))
        axes = np.full(len(triangles), 3 if direction == THREE_FULL else direction, np.int32)
        if direction == THREE_DIRECTIONS:
            find_axes(x, np.ascontiguousarray(triangles, np.int32), axes)
        corners = _texture((x - low) * (1.0 / pixel) - 0.5)
        indices = _texture(np.column_stack([triangles, axes]))
        found = self._draw(corners, indices, len(triangles), shape, base)
        if found > self.hits.width * self.hits.height:
            self.hits = GPUTexture((WIDTH, -(-int(SPARE * found) // WIDTH)), format="RGBA32F")
            found = self._draw(corners, indices, len(triangles), shape, base)
        texels = self.hits.read()
        texels.dimensions = self.hits.width * self.hits.height * 4  # of more dimensions, some Blenders mix up the order
        return finish(frame, np.frombuffer(texels, np.float32).reshape(-1, 4)[:found])

    def _draw(self, corners, indices, count, shape, base) -> int:
        """Fill the list of hits; returns how many there are, which may exceed its room."""
        shader = self.shader
        self.total.clear(format="UINT", value=(0,))
        strips = max(1, min(BUSY // count, int(shape.max())))
        shader.bind()
        shader.uniform_int("count", count)
        shader.uniform_int("room", self.hits.width * self.hits.height)
        shader.uniform_int("strips", strips)
        shader.uniform_int("size", shape.tolist())
        shader.uniform_int("base", base[:3].tolist())
        shader.uniform_sampler("corners", corners)
        shader.uniform_sampler("triangles", indices)
        shader.image("total", self.total)
        shader.image("hits", self.hits)
        groups = -(-count // GROUP)
        gpu.compute.dispatch(shader, min(groups, WIDTH), -(-groups // WIDTH), strips)
        gpu.shader.unbind()
        total = self.total.read()
        total.dimensions = 1
        return int(total[0])

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


def _texture(rows: np.ndarray) -> GPUTexture:
    """A texture of three or four numbers for each row, WIDTH rows in a line."""
    height = -(-len(rows) // WIDTH)
    texels = np.empty((height * WIDTH, 4), np.float32)
    texels[: len(rows), : rows.shape[1]] = rows
    return GPUTexture((WIDTH, height), format="RGBA32F", data=Buffer("FLOAT", texels.size, texels.ravel()))
