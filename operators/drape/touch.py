# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a ray meets triangles, and which particles are under a brush. Arrays only."""

from typing import NamedTuple

import numpy as np


class Hit(NamedTuple):
    """Where a ray meets something first."""

    point: np.ndarray  # (3,) [m]
    triangle: int
    distance: float  # [m] along the ray


class Patch(NamedTuple):
    """Particles under a brush."""

    particles: np.ndarray  # (m,) int32
    weight: np.ndarray  # (m,) 1 in the middle of the brush, 0 at its rim


def cast(origin: np.ndarray, direction: np.ndarray, x: np.ndarray, triangles: np.ndarray) -> Hit | None:
    """Where a ray meets the triangles (t, 3) over x (n, 3) [m] first; None where it passes them.

    direction : (3,), of length 1. Only triangles whose shadow along the ray covers it are looked at (Möller and Trumbore
    1997 for these).
    """
    if not len(triangles):
        return None
    across = np.eye(3)[np.abs(direction).argmin()]
    u = across - (across * direction).sum() * direction
    u /= np.sqrt((u * u).sum())
    v = np.cross(direction, u)
    away = x - origin
    flat = np.stack([(away * u).sum(axis=1), (away * v).sum(axis=1)], axis=1)[triangles]
    near = np.flatnonzero(((flat.min(axis=1) <= 0.0) & (flat.max(axis=1) >= 0.0)).all(axis=1))
    a, b, c = (x[triangles[near, k]] for k in range(3))
    ab, ac, oa = b - a, c - a, origin - a
    p, q = np.cross(direction, ac), np.cross(oa, ab)
    with np.errstate(divide="ignore", invalid="ignore"):  # triangles along the ray are not met
        volume = 1.0 / (ab * p).sum(axis=1)
        s, t = (oa * p).sum(axis=1) * volume, (direction * q).sum(axis=1) * volume
        far = (ac * q).sum(axis=1) * volume
    far = np.where((s >= 0.0) & (t >= 0.0) & (s + t <= 1.0) & (far > 0.0), far, np.inf)
    if not np.isfinite(far).any():
        return None
    first = int(far.argmin())
    return Hit(origin + far[first] * direction, int(near[first]), float(far[first]))


def patch(x: np.ndarray, edges: np.ndarray, middle: int, point: np.ndarray, radius: float, may: np.ndarray) -> Patch:
    """The particles within `radius` [m] of `point` that hang together with the particle `middle` there.

    So a brush on the front of a sleeve leaves its back alone, and the garment below. `middle` itself always belongs to it.

    x : (n, 3) [m], edges : (e, 2), may : (n,) bool, which particles count
    """
    from scipy.sparse import coo_matrix  # here, because few need it
    from scipy.sparse.csgraph import connected_components

    square = ((x - point) ** 2).sum(axis=1)
    inside = square < radius * radius
    inside[middle] = True
    number = np.cumsum(inside) - 1
    pairs = number[edges[inside[edges].all(axis=1)]]
    count = int(inside.sum())
    graph = coo_matrix((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    _, part = connected_components(graph, directed=False)
    found = np.flatnonzero(inside)[part == part[number[middle]]].astype(np.int32)
    weight = np.maximum(1.0 - square[found] / radius**2, 0.0) ** 2
    weight[found == middle] = max(float(weight[found == middle][0]), np.finfo(np.float32).tiny)
    chosen = may[found]
    return Patch(found[chosen], weight[chosen])


def smoothed(x: np.ndarray, edges: np.ndarray, particles: np.ndarray, rounds: int) -> np.ndarray:
    """(m, 3) [m] where `particles` would be in the middle of their neighbours, after so many rounds of going half way."""
    mine = np.isin(edges, particles)
    from_, to = np.concatenate([edges[mine[:, 0]], edges[mine[:, 1]][:, ::-1]]).T
    row = np.full(len(x), -1)
    row[particles] = np.arange(len(particles))
    count = np.maximum(np.bincount(row[from_], minlength=len(particles)), 1)[:, None]
    x = x.copy()
    for _ in range(rounds):
        sums = np.stack([np.bincount(row[from_], x[to, axis], len(particles)) for axis in range(3)], axis=1)
        x[particles] = 0.5 * (x[particles] + sums / count)
    return x[particles]
