# SPDX-License-Identifier: GPL-3.0-or-later
"""Images drawn before anybody knows the cloth, of more than a frame will want, and what of one a frame wants then.

Nobody has to trust a guess. The image that a frame wants is in one drawn ahead if that has all its triangles, each from the
same middle and with no less way to go, in a box no smaller. If so it is taken out, else it is drawn anew.
"""

from typing import NamedTuple

import numpy as np

from ..kernel.jit import inner, njit
from ..model import LDI
from .rasterise import Trajectories


class WideImage(NamedTuple):
    """A conservative image of moving triangles, and what it was drawn of."""

    trajectories: Trajectories  # of the m vertices; they go no farther than these
    triangles: np.ndarray  # (t, 3) of all bodies
    drawn: np.ndarray  # (t,) bool: which of them
    near: np.ndarray  # (k,) int32 their numbers, ascending
    image: LDI  # `triangle` is the place in `near`


@inner
def _reach(trajectories, i, axis):
    """[m] How far vertex i goes from its middle along an axis."""
    return abs(trajectories.half[i, axis]) + trajectories.deviation[i]


@njit
def _moves_as_drawn(near, triangles, trajectories, wide, known, drawn):
    """Whether all triangles `near` are as they were `known`, and drawn, from the same middle and with no less way to go. 200
    bytes a triangle.
    """
    for entry in range(len(near)):
        t = near[entry]
        if not drawn[t]:
            return False
        for k in range(3):
            i = triangles[t, k]
            if known[t, k] != i:
                return False
            for axis in range(3):
                same = trajectories.middle[i, axis] == wide.middle[i, axis]
                if not (same and _reach(trajectories, i, axis) <= _reach(wide, i, axis)):
                    return False
    return True


@njit
def _take_kernel(place, image, pixel_start, depth, triangle, front):
    """Hits of triangles that have a place, in their order; returns how many. # outputs: all from pixel_start on"""
    count = 0
    for p in range(len(pixel_start) - 1):
        pixel_start[p] = count
        for h in range(image.pixel_start[p], image.pixel_start[p + 1]):
            own = place[image.triangle[h]]
            if own >= 0:
                depth[count], triangle[count], front[count] = image.depth[h], own, image.front[h]
                count += 1
    pixel_start[-1] = count
    return count


def taken_out(wide: WideImage, trajectories: Trajectories, triangles, near, low, high) -> LDI | None:
    """What `rasterise.render_motion` would draw, or more pixels of the same; None if that is not in the wide image."""
    image = wide.image
    fits = (low >= image.low).all() and (high <= image.low + image.pixel * image.shape).all()
    fits = fits and wide.triangles.shape == triangles.shape
    fits = fits and len(wide.trajectories.middle) == len(trajectories.middle)
    if not (fits and _moves_as_drawn(near, triangles, trajectories, wide.trajectories, wide.triangles, wide.drawn)):
        return None
    place = np.full(len(wide.drawn), -1, np.int32)
    place[near] = np.arange(len(near), dtype=np.int32)
    count = len(image.depth)
    pixel_start, depth = np.empty_like(image.pixel_start), np.empty(count)
    triangle, front = np.empty(count, np.int32), np.empty(count, np.bool_)
    count = _take_kernel(place[wide.near], image, pixel_start, depth, triangle, front)
    return image._replace(pixel_start=pixel_start, depth=depth[:count], triangle=triangle[:count], front=front[:count])
