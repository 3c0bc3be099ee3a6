# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed meshes, faces outward."""

import numpy as np
from scipy.spatial import ConvexHull


def torus(around=40, across=40, large=0.6, small=0.25):
    """A closed torus: (x, triangles), faces outward."""
    u, v = np.meshgrid(*(np.linspace(0, 2 * np.pi, c, endpoint=False) for c in (around, across)), indexing="ij")
    ring = large + small * np.cos(v)
    x = np.stack([ring * np.cos(u), ring * np.sin(u), small * np.sin(v)], -1).reshape(-1, 3)
    i, j = (k.ravel() for k in np.meshgrid(np.arange(around), np.arange(across), indexing="ij"))
    a, b = i * across + j, (i + 1) % around * across + j
    c, d = (i + 1) % around * across + (j + 1) % across, i * across + (j + 1) % across
    return x, np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)]).astype(np.int32)


def box(size, centre=(0.0, 0.0, 0.0)):
    """A closed box, faces outward."""
    x = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) * np.array(size) / 2 + centre
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return x, np.array([(a, b, c) for a, b, c, d in quads] + [(a, c, d) for a, b, c, d in quads], np.int32)


def random_closed(rng, number):
    """A closed mesh of few triangles, faces outward: hulls of random points, every third with dents, every third on a
    grid, so that edges hit pixel centres; the others are turned at random, so that they are seen from anywhere.
    """
    points = rng.normal(size=(rng.integers(5, 40), 3))
    if number % 3 == 0:
        points = np.unique(np.round(points * rng.uniform(0.05, 2, 3) * 4) / 4, axis=0)
        points = np.concatenate([points, [[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2]]])
    if number % 3 == 1:
        points = np.concatenate([points, np.eye(3), -np.eye(3)])
        points /= np.linalg.norm(points, axis=1)[:, None]
    hull = ConvexHull(points, qhull_options="Qt")
    triangles = hull.simplices.copy()
    p = points[triangles]
    inward = np.einsum("td,td->t", np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), hull.equations[:, :3]) < 0
    triangles[inward] = triangles[inward][:, [0, 2, 1]]
    if number % 3 == 1:
        points *= rng.uniform(0.3, 1.0, (len(points), 1))  # seen from its centre it stays as it was: nothing crosses
    if number % 3:
        points = points @ np.linalg.qr(rng.normal(size=(3, 3)))[0] * rng.uniform(0.05, 2)
    return points, triangles.astype(np.int32)
