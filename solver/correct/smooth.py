# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked cloth smoother in time and in space: where its vertices would go, for all of it and the whole range."""

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ..kernel.functions import symmetric_axes
from ..untangle.surface import vertex_normals
from .ease import make_net, relaxed

TAIL = 4.0  # widths at which a weight of time is none
#: normals of faces about a seam, summed, over the sum of their lengths: 1 is flat, 0 folded by 180 degrees
FOLDED, OPEN = 0.25, 0.5


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
        alone. Such a seam is smoothed as the cloth beside it, and not as two borders; but where its sides lie on each other, as at the rim
        of a pillow, it is the border of both, and goes along the normal of these.
    """
    place = np.broadcast_to(np.arange(x.shape[1]), x.shape[:2]) if place is None else place
    kinds, kind = np.unique(place, axis=0, return_inverse=True)  # most bakes have one; a zip that opens has more
    result = np.empty(x.shape)
    for number, places in enumerate(kinds):
        frames = np.flatnonzero(kind.ravel() == number)
        _, kept, own, sides = np.unique(places, return_index=True, return_inverse=True, return_counts=True)
        ends = np.unique(np.sort(own[edges], axis=1), axis=0)
        ends = ends[ends[:, 0] != ends[:, 1]]
        seams = np.flatnonzero(sides > 1)
        result[frames] = _whole_in_space(x[frames][:, kept], own[triangles], ends, radius, seams)[:, own]
    return result


def _whole_in_space(x, triangles, edges, radius, seams):
    """As `in_space`, where each vertex is alone; `seams` are those that stand for several."""
    about = triangles[np.isin(triangles, seams).any(axis=1)]
    moved = relaxed(x, make_net(x[0], edges), radius) - x
    for frame, shape in enumerate(x):
        normal = vertex_normals(shape, triangles)
        along = normal * (normal * moved[frame]).sum(axis=1, keepdims=True)
        if len(seams):
            share, axis = _folds(shape, about, seams)
            of_border = axis * (axis * moved[frame][seams]).sum(axis=1, keepdims=True)
            along[seams] += share[:, None] * (of_border - along[seams])
        moved[frame] = along
    return x + moved


def _folds(x, triangles, seams):
    """How much the cloth is folded upon itself at each seam vertex, from 0 to 1, and the axis (s, 3) along which its faces look there,
    to either side."""
    corners = x[triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), np.finfo(float).tiny)
    both = normal[:, :, None] * normal[:, None, :]
    summed, sizes, looks = np.zeros((len(x), 3)), np.zeros(len(x)), np.zeros((len(x), 3, 3))
    for number, corner in enumerate(triangles.T):  # weighed by their angles, so that it is all one how a quad is cut
        one, other = (corners[:, (number + step) % 3] - corners[:, number] for step in (1, 2))
        across = np.linalg.norm(np.cross(one, other), axis=1)
        angle = np.arctan2(across, (one * other).sum(axis=1))
        np.add.at(summed, corner, angle[:, None] * normal)
        np.add.at(sizes, corner, angle)
        np.add.at(looks, corner, angle[:, None, None] * both)
    flat = np.linalg.norm(summed[seams], axis=1) / np.maximum(sizes[seams], np.finfo(float).tiny)
    share = np.clip((OPEN - flat) / (OPEN - FOLDED), 0.0, 1.0)
    _, axes = symmetric_axes(looks[seams])
    return share * share * (3.0 - 2.0 * share), axes[:, :, -1]
