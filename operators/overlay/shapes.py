# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes that the overlay draws besides colours: shells around a surface, lines of equal value. No Blender, no GPU."""

import numpy as np


def vertex_normals(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Unit normals (n, 3) of x (n, 3): the mean of the triangles' (t, 3), by area; 0 where a vertex has none."""
    a, b, c = (x[triangles[:, k]].astype(np.float64) for k in range(3))
    face, total = np.cross(b - a, c - a), np.zeros((len(x), 3))
    for axis in range(3):
        total[:, axis] = np.bincount(triangles.ravel(), np.repeat(face[:, axis], 3), minlength=len(x))
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.divide(total, length, out=np.zeros_like(total), where=length > 0.0)


def shell(x: np.ndarray, triangles: np.ndarray, distance: np.ndarray | float) -> np.ndarray:
    """x (n, 3) moved outwards by `distance`, one number or one a vertex, in the unit of x."""
    return x + vertex_normals(x, triangles) * np.broadcast_to(distance, len(x))[:, None]


def contours(x: np.ndarray, triangles: np.ndarray, values: np.ndarray, levels: np.ndarray):
    """Lines along which values (n,), linear on each triangle (t, 3), are equal to one of the levels (l,).

    Returns the ends of their pieces (s, 2, 3) and the level of each (s,).
    """
    pieces, level_of = [np.empty((0, 2, 3))], [np.empty(0)]
    at = values[triangles]
    for level in levels:
        above = at > level
        # the corner that is alone on its side of the level, and the two others
        alone = np.argmax(above == (above.sum(axis=1) == 1)[:, None], axis=1)
        cut = np.flatnonzero(above.any(axis=1) & ~above.all(axis=1))
        tip = triangles[cut, alone[cut]]
        ends = []
        for step in (1, 2):
            other = triangles[cut, (alone[cut] + step) % 3]
            share = (level - values[tip]) / (values[other] - values[tip])
            ends.append(x[tip] + share[:, None] * (x[other] - x[tip]))
        pieces.append(np.stack(ends, axis=1))
        level_of.append(np.full(len(cut), level))
    return np.concatenate(pieces), np.concatenate(level_of)
