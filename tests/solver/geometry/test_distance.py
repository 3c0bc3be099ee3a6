# SPDX-License-Identifier: GPL-3.0-or-later
"""Closest points against a quadratic programme solved by brute force on the simplex."""

import numba
import numpy as np
import pytest
from taffeta.solver.geometry.distance import closest_on_segments, closest_on_triangle


@numba.njit
def _triangles(p, t):
    out = np.empty((len(p), 4))
    for i in range(len(p)):
        a, b, c, f = closest_on_triangle(
            p[i, 0], p[i, 1], p[i, 2],
            t[i, 0, 0], t[i, 0, 1], t[i, 0, 2], t[i, 1, 0], t[i, 1, 1], t[i, 1, 2], t[i, 2, 0], t[i, 2, 1], t[i, 2, 2],
        )  # fmt: skip
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = a, b, c, f
    return out


@numba.njit
def _segments(s):
    out = np.empty((len(s), 2))
    for i in range(len(s)):
        out[i, 0], out[i, 1] = closest_on_segments(
            s[i, 0, 0], s[i, 0, 1], s[i, 0, 2], s[i, 1, 0], s[i, 1, 1], s[i, 1, 2],
            s[i, 2, 0], s[i, 2, 1], s[i, 2, 2], s[i, 3, 0], s[i, 3, 1], s[i, 3, 2],
        )  # fmt: skip
    return out


def _onto_segment(p, a, b):
    ab = b - a
    length2 = (ab * ab).sum(-1)
    t = np.clip(((p - a) * ab).sum(-1) / np.where(length2 > 0, length2, 1), 0, 1)
    return np.linalg.norm(a + t[:, None] * ab - p, axis=1)


def naive_distance(p, t):
    """Distance to a triangle: the plane if the foot lies inside, else the nearest edge."""
    a, b, c = t[:, 0], t[:, 1], t[:, 2]
    best = np.minimum(np.minimum(_onto_segment(p, a, b), _onto_segment(p, b, c)), _onto_segment(p, c, a))
    n = np.cross(b - a, c - a)
    area2 = (n * n).sum(-1)
    safe = np.where(area2 > 1e-24, area2, 1)
    q = p - a
    v = (np.cross(q, c - a) * n).sum(-1) / safe
    w = (np.cross(b - a, q) * n).sum(-1) / safe
    inside = (area2 > 1e-24) & (v >= 0) & (w >= 0) & (v + w <= 1)
    plane = np.abs((q * n).sum(-1)) / np.sqrt(safe)
    return np.where(inside, plane, best)


@pytest.mark.parametrize("kind", ["random", "grid", "sliver", "line", "point"])
def test_point_triangle(kind):
    rng = np.random.default_rng(5)
    p = rng.normal(size=(4000, 3))
    t = rng.normal(size=(4000, 3, 3))
    if kind == "grid":  # coordinates that coincide: ties and zero dot products everywhere
        p, t = np.round(p), np.round(t)
    elif kind == "sliver":
        t[:, 2] = t[:, 0] + 0.3 * (t[:, 1] - t[:, 0]) + 1e-9 * t[:, 2]
    elif kind == "line":
        t[:, 2] = t[:, 0] + rng.normal(size=(4000, 1)) * (t[:, 1] - t[:, 0])
    elif kind == "point":
        t[:] = t[:, :1]
    out = _triangles(p, t)
    weights = out[:, :3]
    assert (weights >= -1e-15).all() and np.allclose(weights.sum(1), 1)
    found = np.linalg.norm(np.einsum("ik,ikd->id", weights, t) - p, axis=1)
    best = naive_distance(p, t)
    assert (found >= best - 1e-6).all()
    if kind != "line":  # without area any of its points will do
        assert np.abs(found - best).max() < (1e-6 if kind == "sliver" else 1e-12)
    zero = weights < 1e-14
    assert (zero[out[:, 3] == 0].sum() == 0) or kind != "random"
    assert (zero[np.isin(out[:, 3], (1, 2, 3))].sum(1) == 2).all()  # a corner has two zero weights
    assert (zero[out[:, 3] == 4][:, 2]).all() and (zero[out[:, 3] == 5][:, 0]).all()


@pytest.mark.parametrize("kind", ["random", "parallel", "grid", "short"])
def test_segments(kind):
    rng = np.random.default_rng(6)
    s = rng.normal(size=(1500, 4, 3))
    if kind == "parallel":
        s[:, 3] = s[:, 2] + (s[:, 1] - s[:, 0]) * rng.normal(size=(1500, 1))
    elif kind == "grid":
        s = np.round(s)
    elif kind == "short":
        s[:500, 1] = s[:500, 0]
        s[400:, 3] = s[400:, 2]
    out = _segments(s)
    assert (out >= 0).all() and (out <= 1).all()
    first = s[:, 0] + out[:, :1] * (s[:, 1] - s[:, 0])
    second = s[:, 2] + out[:, 1:] * (s[:, 3] - s[:, 2])
    found = np.linalg.norm(first - second, axis=1)
    steps = np.linspace(0, 1, 401)
    points = s[:, 0, None] + steps[None, :, None] * (s[:, 1] - s[:, 0])[:, None]
    a, b = np.repeat(s[:, 2], 401, 0), np.repeat(s[:, 3], 401, 0)
    best = _onto_segment(points.reshape(-1, 3), a, b).reshape(1500, 401).min(1)
    assert (found <= best + 1e-9).all() and (found >= best - 0.02).all()
