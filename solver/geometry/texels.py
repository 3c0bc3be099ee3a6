# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pixels of a square picture triangles cover that are laid out in it, and what of their vertices each shows.

Found once for a layout, it draws any values of the vertices by one sum a pixel. Beyond their borders pixels go on with the nearest
ones for some way (padding), because a shader that looks between two pixels, or at a smaller copy, sees across the border.
"""

from typing import NamedTuple

import numpy as np

MOST_AT_ONCE = 2**20  # pixels of boxes about triangles that are looked at together
ON_EDGE = 1e-9  # by which a weight may be below 0: pixels on an edge that two triangles share belong to one of them


class Texels(NamedTuple):
    """Pixels that are covered: p of them."""

    pixel: np.ndarray  # (p,) place in the picture, row by row from the bottom
    vertex: np.ndarray  # (p, 3) whose values it shows
    weight: np.ndarray  # (p, 3) how much of each; their sum is 1


def texels(uv: np.ndarray, triangles: np.ndarray, size: int, padding: int) -> Texels:
    """The pixels whose middles lie in triangles, and `padding` rings around these.

    Parameters
    ----------
    uv : (t, 3, 2) places of the corners; the picture is from 0 to 1, and what is outside is not drawn
    triangles : (t, 3) vertices at the corners
    size : pixels along a side
    padding : pixels
    """
    at = np.asarray(uv, float) * size - 0.5  # in pixels from the middle of the first
    low = np.clip(np.ceil(at.min(axis=1)), 0, size).astype(int)
    high = np.clip(np.floor(at.max(axis=1)) + 1, 0, size).astype(int)
    wide, tall = np.maximum(high - low, 0).T
    owner = np.full(size * size, -1)
    weight = np.zeros((size * size, 3))
    ends = np.cumsum(wide * tall)
    first = 0
    while first < len(at):
        last = max(first + 1, int(np.searchsorted(ends, MOST_AT_ONCE + (ends[first - 1] if first else 0), "right")))
        part = np.arange(first, last)
        triangle = np.repeat(part, (wide * tall)[part])
        place = np.arange(len(triangle)) - np.repeat(ends[part] - (wide * tall)[part], (wide * tall)[part])
        place += ends[first - 1] if first else 0
        column = low[triangle, 0] + place % np.maximum(wide[triangle], 1)
        row = low[triangle, 1] + place // np.maximum(wide[triangle], 1)
        share = barycentric(at[triangle], np.column_stack((column, row)))
        inside = (share >= -ON_EDGE).all(axis=1)
        pixel = (row * size + column)[inside]
        owner[pixel], weight[pixel] = triangle[inside], share[inside]
        first = last
    source = _padded(owner.reshape(size, size) >= 0, padding)
    pixel = np.flatnonzero(source >= 0)
    shown = source[pixel]
    return Texels(pixel, triangles[owner[shown]], weight[shown])


def barycentric(corners: np.ndarray, points: np.ndarray) -> np.ndarray:
    """How much of each corner (m, 3, 2) points (m, 2) have, (m, 3); -1 all three where a triangle has no area."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    area = _cross(b - a, c - a)
    degenerate = area == 0.0
    area = np.where(degenerate, 1.0, area)
    share = np.column_stack((_cross(b - points, c - points), _cross(c - points, a - points)))
    share = share / area[:, None]
    share = np.column_stack((share, 1.0 - share.sum(axis=1)))
    share[degenerate] = -1.0
    return share


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def _padded(covered: np.ndarray, rings: int) -> np.ndarray:
    """For each pixel the covered one that it goes on with, itself if it is covered, -1 for none; (size * size,)."""
    source = np.where(covered, np.arange(covered.size).reshape(covered.shape), -1)
    for _ in range(rings):
        known = np.pad(source, 1, constant_values=-1)
        for beside in (known[1:-1, :-2], known[1:-1, 2:], known[:-2, 1:-1], known[2:, 1:-1]):
            source = np.where(source < 0, beside, source)
    return source.ravel()


def picture_of(covered: Texels, values: np.ndarray, size: int) -> np.ndarray:
    """Values of vertices (n,) as a picture (size, size), from the bottom up; 0 where nothing is."""
    picture = np.zeros(size * size)
    picture[covered.pixel] = (values[covered.vertex] * covered.weight).sum(axis=1)
    return picture.reshape(size, size)
