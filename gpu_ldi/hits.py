# SPDX-License-Identifier: GPL-3.0-or-later
"""A compute shader that writes hits to a common list, and the list: what all images of the graphics card are made with.

A compute shader needs no framebuffer, viewport, depth or blending: none of Blender's graphics state is touched but the
shader that is bound, and that is unbound again.
"""

import atexit
import gc
import weakref

import gpu
import numpy as np
from gpu.types import Buffer, GPUShaderCreateInfo, GPUTexture

from ..solver.ldi.rasterise import Raster
from .context import NoGraphics

WIDTH = 1024  # texels of a row of every texture
GROUP = 64  # invocations that start together
EXACT = 1 << 24  # whole numbers below it fit a 32-bit float
BUSY = 4096  # invocations that keep a graphics card busy: with fewer triangles, several share one
MOST_PIXELS = 20_000  # that an invocation goes over up to three times: llvmpipe leaves all loops after 65,535 turns
SPARE = 1.25  # room for hits, as part of what the last image needed


def compile_shader(source: str, samplers: tuple[str, ...]):
    """The shader, for the context that there is; NoGraphics if the driver does not take it.

    It is given textures (`samplers`, see `texture`), how many triangles there are (`count`), pixels along each axis
    (`size`), the first pixel of each direction (`base`), and among how many invocations a triangle is shared (`strips`).
    It adds to `total` and writes (pixel, depth, code, 0) to `hits`, which has `room` for so many.
    """
    info = GPUShaderCreateInfo()
    info.define("WIDTH", str(WIDTH))
    info.define("GROUP", str(GROUP))
    for name in ("count", "room", "strips"):
        info.push_constant("INT", name)
    info.push_constant("IVEC3", "size")
    info.push_constant("IVEC3", "base")
    for slot, name in enumerate(samplers):
        info.sampler(slot, "FLOAT_2D", name)
    info.image(0, "R32UI", "UINT_2D_ATOMIC", "total", qualifiers={"READ", "WRITE"})
    info.image(1, "RGBA32F", "FLOAT_2D", "hits", qualifiers={"WRITE"})
    info.local_group_size(GROUP)
    info.compute_source(source)
    try:
        return gpu.shader.create_from_info(info)
    except Exception as error:
        if type(error) is not Exception:  # for a shader that does not compile, Blender raises no type of its own
            raise
        raise NoGraphics("the driver does not compile the shader") from error


_lists: weakref.WeakSet = weakref.WeakSet()  # that may hold something on the card


@atexit.register  # Blender 5.2 crashes where a texture outlives its graphics context, in a cycle as well
def forget() -> None:
    """Take all from the graphics card."""
    for hit_list in _lists:
        hit_list.shader = hit_list.total = hit_list.hits = None
    gc.collect()


class HitList:
    """A list with room for as many hits as the last image had; keep it while images are wanted."""

    def __init__(self, source: str, samplers: tuple[str, ...]):
        _lists.add(self)
        self.shader = compile_shader(source, samplers)
        self.total = GPUTexture((1, 1), format="R32UI")
        self.hits = GPUTexture((WIDTH, 16), format="RGBA32F")

    def draw(self, count: int, raster: Raster, textures: dict[str, GPUTexture]) -> np.ndarray:
        """The hits (h, 4) float32 of `count` triangles, in any order.

        Raises
        ------
        ValueError
            More triangles or pixels than 32-bit floats can number.
        """
        pixel_count = raster.first_pixel[3]
        if 2 * count >= EXACT or pixel_count >= EXACT:
            raise ValueError(
                f"{count:,} triangles and {pixel_count:,} pixels: the graphics card can number {EXACT // 2:,} "
                f"and {EXACT:,}; lower the resolution or draw on the CPU"
            )
        found = self._dispatch(count, raster, textures)
        if found > self.hits.width * self.hits.height:
            self.hits = GPUTexture((WIDTH, -(-int(SPARE * found) // WIDTH)), format="RGBA32F")
            found = self._dispatch(count, raster, textures)
        texels = self.hits.read()
        texels.dimensions = self.hits.width * self.hits.height * 4  # of more dimensions, some Blenders mix up the order
        return np.frombuffer(texels, np.float32).reshape(-1, 4)[:found]

    def _dispatch(self, count, raster, textures) -> int:
        """Fill the list; returns how many hits there are, which may exceed its room."""
        shader = self.shader
        self.total.clear(format="UINT", value=(0,))
        lines = int(raster.shape.max())
        strips = min(max(BUSY // count, -(-lines * lines // MOST_PIXELS), 1), lines)
        shader.bind()
        try:
            shader.uniform_int("count", count)
            shader.uniform_int("room", self.hits.width * self.hits.height)
            shader.uniform_int("strips", strips)
            shader.uniform_int("size", raster.shape.tolist())
            shader.uniform_int("base", raster.first_pixel[:3].tolist())
            for name, texels in textures.items():
                shader.uniform_sampler(name, texels)
            shader.image("total", self.total)
            shader.image("hits", self.hits)
            groups = -(-count // GROUP)
            gpu.compute.dispatch(shader, min(groups, WIDTH), -(-groups // WIDTH), strips)
        finally:
            gpu.shader.unbind()
        total = self.total.read()
        total.dimensions = 1
        return int(total[0])


def texture(rows: np.ndarray) -> GPUTexture:
    """A texture of three or four numbers for each row, WIDTH rows in a line."""
    height = -(-len(rows) // WIDTH)
    texels = np.empty((height * WIDTH, 4), np.float32)
    texels[: len(rows), : rows.shape[1]] = rows
    return GPUTexture((WIDTH, height), format="RGBA32F", data=Buffer("FLOAT", texels.size, texels.ravel()))
