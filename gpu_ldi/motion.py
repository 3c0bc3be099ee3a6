# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the conservative image of moving bodies on the graphics card: what `solver.ldi.rasterise.render_motion` draws."""

import numpy as np

from ..solver.ldi.rasterise import THREE_DIRECTIONS, lay_out
from ..solver.ldi.rasterise import render_motion as render_on_cpu
from ..solver.ldi.texels import as_texels, in_order, pack
from ..solver.model import LDI
from . import motion_shader
from .hits import HitList, texture

SAMPLERS = "corners", "growth", "triangles"


class MotionRenderer:
    """Keep it while images are wanted; it holds a few textures. Raises NoGraphics if the driver does not compile the
    shader.
    """

    def __init__(self):
        self.list = HitList(motion_shader.SOURCE, SAMPLERS)

    def render_motion(self, trajectories, triangles, near, low, high, resolution: int) -> LDI:
        """As `solver.ldi.rasterise.render_motion`, on the main thread.

        A triangle is in all the pixels in which the CPU finds it, and may be in some beside them; depths are right to a
        twentieth of a pixel.

        Raises
        ------
        ValueError
            More triangles or pixels than 32-bit floats can number.
        """
        raster = lay_out(low, high, resolution, THREE_DIRECTIONS)
        packed = pack(trajectories, triangles, near, raster)
        others = render_on_cpu(trajectories, triangles, near[packed.others], low, high, resolution)
        hits = as_texels(others, packed.others)
        if len(packed.triangles):
            textures = dict(zip(SAMPLERS, map(texture, packed[: len(SAMPLERS)]), strict=True))
            hits = np.concatenate([hits, self.list.draw(len(packed.triangles), raster, textures)])
        return in_order(raster, hits)
