# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed meshes, faces outward, an open plate, and colliders of them."""

import numpy as np
from scipy.spatial import ConvexHull
from taffeta.solver.model import Collider

AURA = 0.005  # [m]


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


def plate(cells=1, size=2.0, height=0.0):
    """An open square plate of cells x cells quads at a height, facing up."""
    g = np.linspace(-size / 2, size / 2, cells + 1)
    x = np.stack([*np.meshgrid(g, g, indexing="ij"), np.full((cells + 1, cells + 1), height)], -1).reshape(-1, 3)
    i = np.arange((cells + 1) ** 2).reshape(cells + 1, -1)
    a, b, c, d = i[:-1, :-1].ravel(), i[1:, :-1].ravel(), i[1:, 1:].ravel(), i[:-1, 1:].ravel()
    return x, np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]).astype(np.int32)


def ball(radius=0.4, cells=12):
    """A closed sphere from a cube's faces, outward."""
    x, triangles = plate(cells, np.pi / 2)
    face = np.stack([np.tan(x[:, 0]), np.tan(x[:, 1]), np.ones(len(x))], 1)
    xs, ts = [], []
    for axis in range(3):
        for sign in (1, -1):
            xs.append(np.roll(face * [1, sign, sign], axis, axis=1))
            ts.append(triangles + len(x) * (len(xs) - 1))
    x, triangles = np.concatenate(xs), np.concatenate(ts)
    _, first, same = np.unique(np.round(x / np.linalg.norm(x, axis=1)[:, None], 9), axis=0, return_index=True,
                               return_inverse=True)  # fmt: skip
    x = x[first] / np.linalg.norm(x[first], axis=1)[:, None] * radius
    return x, same.ravel()[triangles].astype(np.int32)


def hemisphere(radius=0.4, rings=12, around=40):
    """The upper half of a sphere, open below: points and triangles, wound outwards."""
    up, turn = 0.5 * np.pi * np.arange(1, rings + 1)[:, None] / rings, 2.0 * np.pi * np.arange(around) / around
    points = np.stack([np.sin(up) * np.cos(turn), np.sin(up) * np.sin(turn), np.cos(up) + 0.0 * turn], -1)
    i, j = (a.ravel() for a in np.mgrid[0 : rings - 1, 0:around])
    k = (j + 1) % around
    a, b, c, d = (1 + n * around + m for n, m in ((i, j), (i + 1, j), (i + 1, k), (i, k)))
    j = np.arange(around)
    top = np.stack([0 * j, 1 + j, 1 + (j + 1) % around], 1)
    faces = np.concatenate([top, np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    return radius * np.concatenate([[[0.0, 0.0, 1.0]], points.reshape(-1, 3)]), faces.astype(np.int32)


def collider(mesh, path=None, friction=0.3, restitution=0.0, aura=AURA, name="Body", viscosity=0.0):
    """A body that stands still, or follows `path` (s + 1, 3) through the frame."""
    x, triangles = mesh
    path = np.zeros((2, 3)) if path is None else np.asarray(path, float)
    return Collider(name, x + path[:, None], triangles, friction, restitution, aura, None, viscosity)


def finger(length, radius, around=12):
    """A closed rod along x with round ends, its tip in the origin; returns (x, triangles), faces outward."""
    turn, cap = np.arange(around) * 2 * np.pi / around, np.linspace(0, np.pi / 2, 6)[1:]
    along = np.concatenate([radius * (1 - np.cos(cap)), np.linspace(radius, length - radius, 12)[1:-1]])
    along = np.concatenate([along, length - radius * (1 - np.cos(cap[::-1]))])
    wide = np.concatenate([radius * np.sin(cap), np.full(10, radius), radius * np.sin(cap[::-1])])
    rings = len(along)
    ring = np.stack(
        [-np.repeat(along, around), np.outer(wide, np.cos(turn)).ravel(), np.outer(wide, np.sin(turn)).ravel()], 1
    )
    x = np.concatenate([[[0, 0, 0]], ring, [[-length, 0, 0]]])
    at = lambda i, j: 1 + i * around + j % around  # noqa: E731
    faces = [(0, at(0, j), at(0, j + 1)) for j in range(around)]
    for i in range(rings - 1):
        for j in range(around):
            faces += [(at(i, j), at(i + 1, j), at(i + 1, j + 1)), (at(i, j), at(i + 1, j + 1), at(i, j + 1))]
    faces += [(len(x) - 1, at(rings - 1, j + 1), at(rings - 1, j)) for j in range(around)]
    return x, np.array(faces, np.int32)
