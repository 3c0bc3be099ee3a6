# SPDX-License-Identifier: GPL-3.0-or-later
"""Between moving bodies and a graphics card: triangles as texels, and hits that come back in any order as an image."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..kernel.jit import counted_njit, inner
from ..model import LDI
from .rasterise import THREE_DIRECTIONS, Raster, Trajectories, lay_out, render_motion

FLOAT_ROUNDING = 3e-7  # part of a coordinate that 32 bits may round, a few times over
EXACT_DEPTH = 0.05  # [pixels] by which a depth may be off: half of what `contact.body.association` allows for


class Packed(NamedTuple):
    """Triangles as textures have them, rows of float32, and those that 32 bits do not hold well enough."""

    corners: np.ndarray  # (c, 3) place of each vertex in pixels, from the box's low corner
    growth: np.ndarray  # (c, 3) [pixels] how far it goes from there along each axis
    triangles: np.ndarray  # (k, 4) its vertices, and its place in `near`
    others: np.ndarray  # (o,) int32 places in `near` of thin and far triangles, whose planes would be rounding errors


@inner
def _is_exact(corner, grown):
    """Whether depths of a triangle, corners (3, 3) in pixels, come out right in 32 bits; False, too, where it has no area."""
    most, side = 0.0, 0.0
    for k in range(3):
        n, square = (k + 1) % 3, 0.0
        for axis in range(3):
            most = max(most, abs(corner[k, axis]))
            square += (corner[n, axis] - corner[k, axis]) ** 2
        side = max(side, square)
    side, facing = math.sqrt(side), 0.0
    for axis in range(3):
        a, b = (axis + 1) % 3, (axis + 2) % 3
        normal = (corner[1, a] - corner[0, a]) * (corner[2, b] - corner[0, b])
        normal -= (corner[1, b] - corner[0, b]) * (corner[2, a] - corner[0, a])
        facing = max(facing, abs(normal))
    return 2.0 * side * FLOAT_ROUNDING * (most + 1.0) * (side + grown + 1.0) < EXACT_DEPTH * facing


@counted_njit
def _pack_kernel(trajectories, triangles, near, raster, slot, corners, growth, own, others):
    """60 flops and 200 bytes a triangle. # outputs: corners, growth, own, others; returns how many there are of each"""
    vertex_count, own_count, other_count = 0, 0, 0
    corner = np.empty((3, 3))
    for entry in range(len(near)):
        grown = 0.0
        for k in range(3):
            i = triangles[near[entry], k]
            for axis in range(3):
                corner[k, axis] = (trajectories.middle[i, axis] - raster.low[axis]) / raster.pixel
                grown = max(grown, (abs(trajectories.half[i, axis]) + trajectories.deviation[i]) / raster.pixel)
        if not _is_exact(corner, grown):
            others[other_count] = entry
            other_count += 1
            continue
        for k in range(3):
            i = triangles[near[entry], k]
            if slot[i] < 0:
                slot[i] = vertex_count
                for axis in range(3):
                    corners[vertex_count, axis] = corner[k, axis]
                    growth[vertex_count, axis] = (
                        abs(trajectories.half[i, axis]) + trajectories.deviation[i]
                    ) / raster.pixel
                vertex_count += 1
            own[own_count, k] = slot[i]
        own[own_count, 3] = entry
        own_count += 1
    return vertex_count, own_count, other_count


def pack(trajectories: Trajectories, triangles, near, raster: Raster) -> Packed:
    """What a card is given; arguments as of `rasterise.render_motion`."""
    vertex_count = len(trajectories.middle)
    most = min(3 * len(near), vertex_count)
    corners, growth = np.empty((2, most, 3), np.float32)
    own, others = np.empty((len(near), 4), np.float32), np.empty(len(near), np.int32)
    slot = np.full(vertex_count, -1, np.int32)
    counts = _pack_kernel(trajectories, triangles, near, raster, slot, corners, growth, own, others)
    return Packed(corners[: counts[0]], growth[: counts[0]], own[: counts[1]], others[: counts[2]])


@counted_njit
def _order_kernel(texels, raster, pixel_start, triangle_start, depth, triangle, front):
    """By pixel, then by triangle: counted by triangle first and by pixel then, so that no hit looks for its place. 90 bytes a hit.

    triangle_start: (k + 1,) zeros, worthless afterwards. Returns False, half done, for a hit that can be none.
    # outputs: pixel_start, depth, triangle, front
    """
    count, codes = len(texels), 2.0 * (len(triangle_start) - 1)
    for h in range(count):
        if not (0.0 <= texels[h, 0] < len(pixel_start) - 1 and 0.0 <= texels[h, 2] < codes):
            return False
        pixel_start[int(texels[h, 0]) + 1] += 1
        triangle_start[(int(texels[h, 2]) >> 1) + 1] += 1
    for p in range(1, len(pixel_start)):
        pixel_start[p] += pixel_start[p - 1]
    for t in range(1, len(triangle_start)):
        triangle_start[t] += triangle_start[t - 1]
    order, free = np.empty(count, np.int32), pixel_start[:-1].copy()
    for h in range(count):
        number = int(texels[h, 2]) >> 1
        order[triangle_start[number]] = h
        triangle_start[number] += 1
    for h in order:
        pixel, code = int(texels[h, 0]), int(texels[h, 2])
        d = 0 if pixel < raster.first_pixel[1] else (1 if pixel < raster.first_pixel[2] else 2)
        at = free[pixel]
        free[pixel] = at + 1
        depth[at], triangle[at], front[at] = raster.low[d] + raster.pixel * texels[h, 1], code >> 1, code & 1 == 1
    return True


def in_order(raster: Raster, texels, triangle_count: int) -> LDI:
    """The image of a card's hits, in no order: texels (h, 4) float32. A triangle is in a pixel once.

    Of each hit its pixel, its depth in pixels from the box, and twice its place in `near`, which has so many, plus 1 if front.

    Raises
    ------
    ValueError
        A pixel or a triangle that is not there: the card has not written what it said it has.
    """
    count = len(texels)
    pixel_start, depth = np.zeros(raster.first_pixel[3] + 1, np.int32), np.empty(count)
    triangle, front = np.empty(count, np.int32), np.empty(count, np.bool_)
    triangle_start = np.zeros(triangle_count + 1, np.int32)
    if not _order_kernel(texels, raster, pixel_start, triangle_start, depth, triangle, front):
        raise ValueError("the graphics card gave back hits of pixels or triangles that it was not given")
    return LDI(*raster, pixel_start, depth, triangle, front)


def as_texels(image: LDI, names) -> np.ndarray:
    """The hits of an image as a card would give them back, (h, 4) float32; names (k,) numbers of its triangles."""
    pixel = np.repeat(np.arange(len(image.pixel_start) - 1), np.diff(image.pixel_start))
    direction = np.searchsorted(image.first_pixel[1:], pixel, side="right")
    depth = (image.depth - image.low[direction]) / image.pixel
    code = 2 * names[image.triangle] + image.front
    return np.stack([pixel, depth, code, np.zeros(len(code))], axis=1).astype(np.float32)


def render_by(
    draw: Callable[[Packed, Raster], np.ndarray], trajectories, triangles, near, low, high, resolution
) -> LDI:
    """The image of moving bodies by a card; arguments else as of `rasterise.render_motion`.

    draw : the card's hits (h, 4) float32, in any order; what 32 bits do not hold is drawn here
    """
    raster = lay_out(low, high, resolution, THREE_DIRECTIONS)
    packed = pack(trajectories, triangles, near, raster)
    others = render_motion(trajectories, triangles, near[packed.others], low, high, resolution)
    hits = as_texels(others, packed.others)
    if len(packed.triangles):
        hits = np.concatenate([hits, draw(packed, raster)])
    return in_order(raster, hits, len(near))
