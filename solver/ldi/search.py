# SPDX-License-Identifier: GPL-3.0-or-later
"""Other images in which contact can look for what a point may touch, after Bargmann (2003, 3.2 and 3.3); and his own question.

FOOTPRINTS   the bake's own (`rasterise.render_motion`): each triangle once, larger by its motion, in each pixel that it touches
FULL_IMAGES  three images at pixel centres, each of all triangles, as sticks (3.3). Contact asks as he does, and as `find`: a point is
             in up to three sticks, of each the triangle at the nearer end counts, of these the closest
             (`contact.body.association`)
GROWN        one image along gravity, dilated, stretched and merged (3.2); contact asks all that lies in a point's pixels

The last two are as they were: drawn where bodies are in the middle of an interval, without their motion, and without triangles
that lie between the centres of pixels. So they may miss, and are here to be compared.
"""

import math
from collections.abc import Callable

import numpy as np

from ..geometry.distance import closest_on_triangle
from ..kernel.jit import inner, njit
from ..model import BODY_SEARCHES, LDI
from .centres import THREE_FULL, render
from .grown import dilate, pair, stretch
from .rasterise import render_motion

FOOTPRINTS, FULL_IMAGES, GROWN = BODY_SEARCHES
AURAS = 2.0  # by which sticks are longer: what is put out of a body has to be in its stick still (4.2)


def drawer(search: str, gravity, aura: float = 0.0) -> Callable[..., LDI]:
    """What draws images for one of `model.BODY_SEARCHES`, called as `rasterise.render_motion`; gravity (3,) chooses an axis, by the
    aura [m] of the bodies sticks of three full images are longer.
    """
    if search == FOOTPRINTS:
        return render_motion
    axis = int(np.abs(gravity).argmax()) if np.any(gravity) else 2

    def draw(trajectories, triangles, near, low, high, resolution: int) -> LDI:
        """As `rasterise.render_motion`. Sticks want all of a body; what is not near is taken out again."""
        if not len(near):
            return render_motion(trajectories, triangles, near, low, high, resolution)
        x = np.ascontiguousarray(trajectories.middle)
        if search == FULL_IMAGES:
            sticks = pair(render(x, triangles, low, high, resolution, THREE_FULL))
            return _named(
                near,
                len(triangles),
                stretch(sticks, sticks.pixel + AURAS * aura + _growth(trajectories, triangles[near])),
            )
        sticks = dilate(pair(render(x, triangles, low, high, resolution, axis)), axis)
        return _of(near, len(triangles), stretch(sticks, sticks.pixel))

    return draw


def _growth(trajectories, triangles) -> float:
    """[m] how far corners of triangles are from the middle of their way, at most."""
    corners = np.unique(triangles)
    half = np.linalg.norm(trajectories.half[corners], axis=1)
    return float((half + trajectories.deviation[corners]).max())


def _named(near, count: int, sticks: LDI) -> LDI:
    """Sticks whose triangles are told by their places in `near` (k,); ends at others are -1."""
    place = np.full(count, -1, np.int32)
    place[near] = np.arange(len(near), dtype=np.int32)
    return sticks._replace(triangle=place[sticks.triangle])


def _of(near, count: int, image: LDI) -> LDI:
    """The image with the hits of near triangles alone, which are named by their places in `near` (k,)."""
    named = _named(near, count, image)
    is_near = named.triangle >= 0
    start = np.concatenate([[0], np.cumsum(is_near)])[image.pixel_start].astype(np.int32)
    depth, triangle, front = (hits[is_near] for hits in (named.depth, named.triangle, named.front))
    return image._replace(pixel_start=start, depth=depth, triangle=triangle, front=front)


@inner
def _square(x, triangles, t, point):
    """[m2] distance of triangle t from a point (3,), squared."""
    i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    u, v, w, _ = closest_on_triangle(
        point[0], point[1], point[2], x[i, 0], x[i, 1], x[i, 2], x[j, 0], x[j, 1], x[j, 2], x[k, 0], x[k, 1], x[k, 2]
    )
    square = 0.0
    for axis in range(3):
        away = point[axis] - u * x[i, axis] - v * x[j, axis] - w * x[k, axis]
        square += away * away
    return square


@njit
def _find_kernel(image, sticks, x, triangles, points, found):
    """The closest triangle of those that a point finds in its pixels. 100 flops a triangle that is found.
    # outputs: found
    """
    low, pixel, shape, first_pixel = image.low, image.pixel, image.shape, image.first_pixel
    start, depth, triangle = image.pixel_start, image.depth, image.triangle
    for p in range(len(points)):
        least, found[p] = math.inf, -1
        for d in range(3):
            a, b = (d + 1) % 3, (d + 2) % 3
            column, row = np.floor((points[p, a] - low[a]) / pixel), np.floor((points[p, b] - low[b]) / pixel)
            if first_pixel[d] == first_pixel[d + 1] or not (0.0 <= column < shape[a] and 0.0 <= row < shape[b]):
                continue
            at = first_pixel[d] + int(column) * shape[b] + int(row)
            for h in range(start[at], start[at + 1], 2 if sticks else 1):
                t = triangle[h]
                if sticks:
                    if not depth[h] <= points[p, d] <= depth[h + 1]:
                        continue
                    if depth[h + 1] - points[p, d] < points[p, d] - depth[h]:
                        t = triangle[h + 1]
                square = _square(x, triangles, t, points[p])
                if square < least:
                    least, found[p] = square, t


def find(image: LDI, x, triangles, points, sticks: bool = True) -> np.ndarray:
    """The triangle (p,) that each of points (p, 3) [m] is associated with, -1 where it is in no stick (4.1).

    Of each stick that a point is in it is the triangle at the nearer end, of up to three sticks the closest triangle (3.3). Without
    `sticks` all hits of the point's pixels are asked, whatever their depth, as of the bake's own image.
    """
    found = np.empty(len(points), np.int32)
    _find_kernel(image, sticks, x, triangles, np.ascontiguousarray(points, np.float64), found)
    return found
