# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked cloth smoother in time and in space: where its vertices would go, for all of it and the whole range."""

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ..untangle.surface import vertex_normals
from .ease import make_net, relaxed

TAIL = 4.0  # widths at which a weight of time is none


def tail(width: float) -> int:
    """Frames before and after one that have a part in it, smoothed by a width [frames]."""
    return int(TAIL * width + 0.5)


def in_time(x: np.ndarray, width: float) -> np.ndarray:
    """Positions x (f, n, 3) as means over frames, weighed by a Gaussian of standard deviation `width` [frames].

    A sine of angular frequency w a frame keeps exp(-(w width)^2 / 2) of its height; what does not change stays. Before the
    first frame and after the last one all stands still.
    """
    return gaussian_filter1d(x, width, axis=0, mode="nearest", truncate=TAIL)


def in_space(
    x: np.ndarray, triangles: np.ndarray, edges: np.ndarray, radius: float, place: np.ndarray | None = None
) -> np.ndarray:
    """Positions x (f, n, 3) [m] without folds that are small beside `radius` [m], each frame for itself.

    Vertices go along their normals alone, so that the cloth neither shrinks at its borders nor slides.

    place : (f, n) one number for all vertices that are one piece of cloth in a frame, as the sides of a welded seam are; None: each is
        alone. Such a seam is smoothed as the cloth beside it, and not as two borders.
    """
    place = np.broadcast_to(np.arange(x.shape[1]), x.shape[:2]) if place is None else place
    kinds, kind = np.unique(place, axis=0, return_inverse=True)  # most bakes have one; a zip that opens has more
    result = np.empty(x.shape)
    for number, places in enumerate(kinds):
        frames = np.flatnonzero(kind.ravel() == number)
        _, kept, own = np.unique(places, return_index=True, return_inverse=True)
        ends = np.unique(np.sort(own[edges], axis=1), axis=0)
        ends = ends[ends[:, 0] != ends[:, 1]]
        result[frames] = _whole_in_space(x[frames][:, kept], own[triangles], ends, radius)[:, own]
    return result


def _whole_in_space(x, triangles, edges, radius):
    """As `in_space`, where each vertex is alone."""
    moved = relaxed(x, make_net(x[0], edges), radius) - x
    for frame, shape in enumerate(x):
        normal = vertex_normals(shape, triangles)
        moved[frame] = normal * (normal * moved[frame]).sum(axis=1, keepdims=True)
    return x + moved
