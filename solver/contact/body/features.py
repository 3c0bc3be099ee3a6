# SPDX-License-Identifier: GPL-3.0-or-later
"""Ridges and tips of bodies, as of fingers, sticks and table tops: what cloth can meet between all of its samples.

A ridge is a piece of an edge round which a closed body is thin or sharp, or of the rim of an open one, as of a plane; a tip,
the end of a limb or a sharp corner, is a ridge of no length. What becomes of them is in `feature_samples`.
"""

import math
from typing import NamedTuple

import numpy as np

from ...kernel.jit import njit
from .samples import BARE_SINK, PART_BETWEEN, fold

TIP_RADIUS = 0.02  # [m] of a limb's end that counts as a tip, and the largest of a limb that has ridges
SHARP_ANGLE = 0.8  # [rad] dihedral angle from which an edge is a ridge, however wide the body is
COARSE_EDGE = 4.0  # auras that the cloth's edges are long from which on sharp edges are ridges
FLATTEST_COSINE = 0.995  # of the angle below which an edge is none, however thin the body is
MOST_PIECES = 64  # of one edge


class Features(NamedTuple):
    """Straight pieces of the bodies' edges."""

    ends: np.ndarray  # (k, 2) vertices of the edge; twice the same where it is a tip
    beside: np.ndarray  # (k, 2) third vertices of the two faces; twice the same at a rim
    share: np.ndarray  # (k, 2) where on the edge the piece begins and ends, 0 at the first vertex


class Edges(NamedTuple):
    """Edges of bodies round which they fall away."""

    ends: np.ndarray  # (k, 2) vertices
    beside: np.ndarray  # (k, 2) third vertices of the two faces; twice the same at a rim
    is_sharp: np.ndarray  # (k,) bool: its ends are tips; a rim goes on there, each of its edges from its first end


NO_FEATURES = Features(np.zeros((0, 2), np.int32), np.zeros((0, 2), np.int32), np.zeros((0, 2)))


def find_features(x, triangles, neighbour, solid, is_in, aura: float, longest: float) -> Features:
    """Tips and ridges of bodies.

    Parameters
    ----------
    x : (m, 3) [m]; triangles, neighbour : (t, 3), as in `geometry.adjacency.Topology`; solid : (t,) 0 where a body is open
    is_in : (m,) bool, vertices that may meet the cloth
    aura : [m]
    longest : [m] edge of the cloth: the finer it is, the thinner is what its particles may miss
    """
    if not longest > 0.0:  # cloth without triangles: nothing lies between its particles
        return NO_FEATURES
    radius = np.empty(len(x))
    _radius_kernel(x, triangles, solid, is_in, np.empty_like(x), radius)
    tips = np.flatnonzero(is_in & (radius < TIP_RADIUS))
    thin = min(TIP_RADIUS, longest * longest / (8.0 * BARE_SINK * aura))
    sharp = SHARP_ANGLE if longest > COARSE_EDGE * aura else math.inf
    room = 3 * len(triangles)
    edges = Edges(np.empty((room, 2), np.int32), np.empty((room, 2), np.int32), np.empty(room, np.bool_))
    count = _edges_kernel(x, triangles, neighbour, solid, is_in, thin, sharp, edges)
    length = np.linalg.norm(x[edges.ends[:count, 0]] - x[edges.ends[:count, 1]], axis=1)
    apart = PART_BETWEEN * aura  # by which they keep cloth off: the one of two nearer than that holds it off the other
    long, short = np.flatnonzero(~(length < apart)), np.flatnonzero(length < apart)
    kept = np.concatenate([long, _one_per_cell(x[edges.ends[short, 0]], apart, short)])
    ends, beside, is_sharp = (array[kept] for array in edges)
    length = np.concatenate([length[long], np.zeros(len(kept) - len(long))])
    pieces = np.clip(np.ceil(length / longest), 1, MOST_PIECES).astype(np.int64)
    row = np.repeat(np.arange(len(kept)), pieces)
    first = np.arange(len(row)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    share = np.stack([first, first + 1.0], axis=1) / pieces[row, None]
    tips = np.union1d(tips, ends[is_sharp])  # corners are as sharp as the edges that end there
    tips = _one_per_cell(x[tips], apart, tips).astype(np.int32)[:, None].repeat(2, axis=1)
    share = np.concatenate([np.zeros((len(tips), 2)), share])
    return Features(np.concatenate([tips, ends[row]]), np.concatenate([tips, beside[row]]), share)


def _one_per_cell(points, size: float, rows):
    """Of the `rows` of points the first in each cell of a grid, in their order."""
    cells = np.floor(points / size).astype(np.int64)
    keys = (cells - cells.min(axis=0, initial=0)) @ np.array([1 << 42, 1 << 21, 1])
    return rows[np.sort(np.unique(keys, return_index=True)[1])]


@njit
def _edges_kernel(x, triangles, neighbour, solid, is_in, thin, sharp, edges):
    """Edges of closed bodies whose faces fall away with a radius below `thin` [m] or an angle above `sharp` [rad], and rims of
    open ones; returns how many. A rod's radius is the mean width of the two faces by the angle between them. 150 flops an edge.
    # outputs: edges, `Edges` (3 t,)
    """
    count = 0
    for t in range(len(triangles)):
        for side in range(3):
            u, a, b = neighbour[t, side], triangles[t, side], triangles[t, (side + 1) % 3]
            is_rim = u < 0 and solid[t] == 0
            if (u <= t or solid[t] == 0) and not is_rim or not (is_in[a] or is_in[b]):
                continue
            c = triangles[t, (side + 2) % 3]
            if is_rim:
                edges.ends[count, 0], edges.ends[count, 1] = a, b
                edges.beside[count, 0], edges.beside[count, 1] = c, c
                edges.is_sharp[count] = False
                count += 1
                continue
            d = triangles[u, 0]
            if d == a or d == b:
                d = triangles[u, 1] if triangles[u, 1] != a and triangles[u, 1] != b else triangles[u, 2]
            below, n, m, along, across, long = fold(x, a, b, c, d)
            if below >= 0.0 or along > FLATTEST_COSINE * n * m:  # a valley, or flat
                continue
            angle = math.atan2(across, along)
            if angle > sharp or 0.5 * (n + m) < thin * angle * long:
                edges.ends[count, 0], edges.ends[count, 1] = a, b
                edges.beside[count, 0], edges.beside[count, 1] = c, d
                edges.is_sharp[count] = angle > sharp
                count += 1
    return count


@njit
def _radius_kernel(x, triangles, solid, is_in, normal, radius):
    """The largest radius with which the surface falls away round each vertex that is in; inf where it rises, or is open.
    150 flops and 200 bytes a triangle. # outputs: radius (m,) [m]; normal (m, 3) scratch
    """
    normal[:], radius[:] = 0.0, 0.0
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        if not (is_in[a] or is_in[b] or is_in[c]):
            continue
        ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        wx, wy, wz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
        for corner in range(3):
            i = triangles[t, corner]
            normal[i, 0], normal[i, 1], normal[i, 2] = normal[i, 0] + nx, normal[i, 1] + ny, normal[i, 2] + nz
    for i in range(len(x)):
        size = math.sqrt(normal[i, 0] ** 2 + normal[i, 1] ** 2 + normal[i, 2] ** 2)
        for axis in range(3):
            normal[i, axis] /= max(size, 1e-300)
        if size == 0.0:
            radius[i] = math.inf
    for t in range(len(triangles)):
        for corner in range(3):
            i, j = triangles[t, corner], triangles[t, (corner + 1) % 3]
            if not (is_in[i] or is_in[j]):
                continue
            dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            away = 0.5 * (dx * dx + dy * dy + dz * dz)
            falls = -(normal[i, 0] * dx + normal[i, 1] * dy + normal[i, 2] * dz)
            rises = normal[j, 0] * dx + normal[j, 1] * dy + normal[j, 2] * dz
            radius[i] = max(radius[i], away / falls if falls > 0.0 and solid[t] != 0 else math.inf)
            radius[j] = max(radius[j], away / rises if rises > 0.0 and solid[t] != 0 else math.inf)
