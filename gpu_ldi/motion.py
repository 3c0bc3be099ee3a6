# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the conservative image of moving bodies on the graphics card: what `solver.ldi.rasterise.render_motion` draws."""

import gpu
import numpy as np

from ..solver.ldi.rasterise import Raster, resting
from ..solver.ldi.rasterise import render_motion as render_on_cpu
from ..solver.ldi.texels import EXACT_DEPTH, Packed, render_by
from ..solver.model import LDI
from . import motion_shader
from .context import NoGraphics
from .hits import HitList, texture

SAMPLERS = "corners", "growth", "triangles"


class MotionRenderer:
    """Keep it while images are wanted; it holds a few textures. Raises NoGraphics if the driver does not compile the
    shader, or misses what the CPU draws. Let go of it on the main thread, too.
    """

    def __init__(self):
        self.list = HitList(motion_shader.SOURCE, SAMPLERS)
        self._try_out()

    def render_motion(self, trajectories, triangles, near, low, high, resolution: int) -> LDI:
        """As `solver.ldi.rasterise.render_motion`, on the main thread.

        A triangle is in all the pixels in which the CPU finds it, and may be in some beside them; depths are right to a
        twentieth of a pixel.

        Raises
        ------
        ValueError
            More triangles or pixels than 32-bit floats can number.
        """
        return render_by(self.draw, trajectories, triangles, near, low, high, resolution)

    def draw(self, packed: Packed, raster: Raster) -> np.ndarray:
        """What the card alone does: hits (h, 4) float32 in any order, as `solver.ldi.texels.in_order` takes them.

        Raises
        ------
        ValueError
            More triangles or pixels than 32-bit floats can number.
        """
        textures = dict(zip(SAMPLERS, map(texture, packed[: len(SAMPLERS)]), strict=True))
        return self.list.draw(len(packed.triangles), raster, textures)

    def _try_out(self) -> None:
        """Compare a small image with the CPU's: a driver that draws something else must not go unnoticed."""
        x = np.concatenate([np.eye(3), -np.eye(3)]) * [1.0, 0.9, 0.8] + [0.01, 0.02, 0.03]
        sign = [(i, j, k) for i in (0, 3) for j in (1, 4) for k in (2, 5)]
        triangles = np.array([s if (np.array(s) > 2).sum() % 2 == 0 else s[::-1] for s in sign], np.int32)
        moving = resting(x)._replace(half=0.03 * x[::-1].copy(), deviation=np.full(len(x), 0.01))
        what = moving, triangles, np.arange(len(triangles), dtype=np.int32), x.min(0), x.max(0), 40
        ours, theirs = self.render_motion(*what), render_on_cpu(*what)
        (ours_at, ours_deep), (at, deep) = _hits(ours), _hits(theirs)
        place = np.minimum(np.searchsorted(ours_at, at), max(len(ours_at) - 1, 0))
        if not len(ours_at) or (ours_at[place] != at).any() or np.abs(ours_deep[place] - deep).max() > EXACT_DEPTH:
            raise NoGraphics(f"{gpu.platform.renderer_get()} draws other images than the CPU")


def _hits(image: LDI) -> tuple[np.ndarray, np.ndarray]:
    """A number for each pair of pixel and triangle, ascending, and its depth [pixels]."""
    pixel = np.repeat(np.arange(len(image.pixel_start) - 1), np.diff(image.pixel_start))
    return pixel * (int(image.triangle.max(initial=0)) + 1) + image.triangle, image.depth / image.pixel
