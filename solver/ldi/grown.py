# SPDX-License-Identifier: GPL-3.0-or-later
"""Images as sticks, and how these grow: dilation, stretching, merging (Bargmann 2003, 3.2 and 3.3).

A stick is what a line through a pixel has inside of the body: it begins at an entry and ends at a leave, in turn, each
with its triangle. Here sticks are an `LDI` whose hits come in such pairs. Bodies that overlap are one (the count of
Alg. 3.2.1); what an open mesh leaves unpaired is a stick without length.

The bake's own image (`rasterise`) needs none of this: in it a triangle is larger by its motion, and in every pixel that
it touches. These are here to be chosen beside it (`search`), and compared.
"""

import numpy as np

from ..kernel.jit import inner, njit
from ..model import LDI

SELF_AND_FOUR = np.array([[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1]])  # itself first: of equal depths it keeps its own


@inner
def _put(image, found, depth, triangle, front):
    """Write a hit; returns how many there are."""
    image.depth[found], image.triangle[found], image.front[found] = depth, triangle, front
    return found + 1


@njit
def _pair_kernel(image, each, sticks):
    """Hits as sticks: where lines enter and leave all that overlaps, or, where `each` counts alone, a stick without length for
    every hit (3.4). Returns how many hits these have. 20 bytes a hit.
    # outputs: sticks
    """
    found = 0
    for p in range(len(image.pixel_start) - 1):
        inside = 0
        for h in range(image.pixel_start[p], image.pixel_start[p + 1]):
            z, t, enters = image.depth[h], image.triangle[h], image.front[h]
            if each or (inside == 0 and not enters):
                found = _put(sticks, _put(sticks, found, z, t, True), z, t, False)
                continue
            if inside == 0:
                found = _put(sticks, found, z, t, True)
            inside += 1 if enters else -1
            if inside == 0:
                found = _put(sticks, found, z, t, False)
        if inside > 0:  # it was never left: a border of an open mesh
            found = _put(sticks, found, sticks.depth[found - 1], sticks.triangle[found - 1], False)
        sticks.pixel_start[p + 1] = found
    return found


@inner
def _first(image, at, last):
    """Which of the lists of hits goes on next: the least depth, entries before leaves; -1 where all have ended."""
    best, least, entering = -1, 0.0, False
    for k in range(len(at)):
        if at[k] >= last[k]:
            continue
        z, enters = image.depth[at[k]], image.front[at[k]]
        if best < 0 or z < least or (z == least and enters and not entering):
            best, least, entering = k, z, enters
    return best


@njit
def _dilate_kernel(image, across, rows, neighbours, at, last, wide):
    """Alg. 3.2.1: each pixel has what itself and its four neighbours have, of an image of one direction with so many pixels `across`,
    in `rows` each; the wide image has one more on each side. Returns how many hits that has. 100 bytes a hit.
    # outputs: wide
    """
    found = 0
    for column in range(across + 2):
        for row in range(rows + 2):
            for k in range(len(neighbours)):
                i, j = column - 1 + neighbours[k, 0], row - 1 + neighbours[k, 1]
                at[k], last[k] = 0, 0
                if 0 <= i < across and 0 <= j < rows:
                    at[k], last[k] = image.pixel_start[i * rows + j], image.pixel_start[i * rows + j + 1]
            inside, begun, k = 0, found, _first(image, at, last)
            while k >= 0:
                h = at[k]
                at[k] += 1
                enters = image.front[h]
                inside += 1 if enters else -1
                if enters and inside == 1 and found > begun and wide.depth[found - 1] >= image.depth[h]:
                    found -= 1  # it begins where another has ended
                elif inside == (1 if enters else 0):
                    found = _put(wide, found, image.depth[h], image.triangle[h], enters)
                k = _first(image, at, last)
            wide.pixel_start[column * (rows + 2) + row + 1] = found
    return found


@njit
def _stretch_kernel(image, by, longer):
    """Pull entries and push leaves by a length [m]; sticks that overlap then are merged. Returns how many hits there are.
    20 bytes a hit.
    # outputs: longer
    """
    found = 0
    for p in range(len(image.pixel_start) - 1):
        begun = found
        for h in range(image.pixel_start[p], image.pixel_start[p + 1], 2):
            enter, leave = image.depth[h] - by, image.depth[h + 1] + by
            if found > begun and longer.depth[found - 1] >= enter:
                found -= 1
            else:
                found = _put(longer, found, enter, image.triangle[h], True)
            found = _put(longer, found, leave, image.triangle[h + 1], False)
        longer.pixel_start[p + 1] = found
    return found


def _room(image: LDI, pixels: int, hits: int) -> LDI:
    """The same raster with so many pixels, and room for hits."""
    arrays = np.zeros(pixels + 1, np.int32), np.empty(hits), np.empty(hits, np.int32), np.empty(hits, np.bool_)
    return LDI(image.low, image.pixel, image.shape, image.first_pixel, *arrays)


def _cut(image: LDI, found: int) -> LDI:
    return image._replace(depth=image.depth[:found], triangle=image.triangle[:found], front=image.front[:found])


def pair(image: LDI, each: bool = False) -> LDI:
    """An image at pixel centres (`centres.render`) as sticks. each : every hit is one for itself, without length: of an image in
    which each triangle is drawn once (3.4), whose entries and leaves do not pair.
    """
    sticks = _room(image, len(image.pixel_start) - 1, 2 * len(image.depth))
    return _cut(sticks, _pair_kernel(image, each, sticks))


def dilate(sticks: LDI, axis: int) -> LDI:
    """Sticks of an image along one `axis`, wider by a pixel on each side (3.2.1).

    Raises
    ------
    ValueError
        The image has other directions, too: their sticks stretch into each other (3.3), and need no dilation.
    """
    a, b = (axis + 1) % 3, (axis + 2) % 3
    across, rows = int(sticks.shape[a]), int(sticks.shape[b])
    if len(sticks.pixel_start) - 1 != across * rows:
        raise ValueError(f"An image along axis {axis} alone is dilated; this one has pixels of others, too.")
    low, shape, first_pixel = sticks.low.copy(), sticks.shape.copy(), sticks.first_pixel.copy()
    for side in (a, b):
        low[side] -= sticks.pixel
        shape[side] += 2
    first_pixel[axis + 1 :] = pixels = (across + 2) * (rows + 2)
    wide = _room(sticks, pixels, len(SELF_AND_FOUR) * len(sticks.depth))
    wide = wide._replace(low=low, shape=shape, first_pixel=first_pixel)
    scratch = np.zeros(len(SELF_AND_FOUR), np.int64), np.zeros(len(SELF_AND_FOUR), np.int64)
    return _cut(wide, _dilate_kernel(sticks, across, rows, SELF_AND_FOUR, *scratch, wide))


def stretch(sticks: LDI, by: float) -> LDI:
    """Sticks longer by a length [m] at both ends, merged where they overlap then (3.2.2, 3.2.3): by a pixel's side after `dilate`, or
    by a body's aura and more (3.3).
    """
    longer = _room(sticks, len(sticks.pixel_start) - 1, len(sticks.depth))
    return _cut(longer, _stretch_kernel(sticks, by, longer))
