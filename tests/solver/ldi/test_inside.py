# SPDX-License-Identifier: GPL-3.0-or-later
"""Points inside bodies and their nearest ways out, against formulas and against every triangle."""

import numpy as np
import pytest
from solids import random_closed, torus
from taffeta.solver.geometry.distance import closest_on_triangle
from taffeta.solver.kernel.jit import njit
from taffeta.solver.ldi.inside import find_inside


@njit
def nearest_of_all(x, triangles, points, out):
    for p in range(len(points)):
        for t in range(len(triangles)):
            a, b, c = x[triangles[t, 0]], x[triangles[t, 1]], x[triangles[t, 2]]
            q = points[p]
            wa, wb, wc, _ = closest_on_triangle(q[0], q[1], q[2], a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2])
            away = 0.0
            for axis in range(3):
                away += (wa * a[axis] + wb * b[axis] + wc * c[axis] - q[axis]) ** 2
            out[p] = min(out[p], np.sqrt(away))


def test_the_inside_of_a_torus():
    rng = np.random.default_rng(1)
    x, triangles = torus(120, 80)
    points = rng.uniform(-1, 1, (5000, 3)) * [0.9, 0.9, 0.3]
    depth = 0.25 - np.hypot(np.hypot(points[:, 0], points[:, 1]) - 0.6, points[:, 2])
    found = find_inside(x, triangles, points)
    clear = np.flatnonzero(np.abs(depth) > 0.001)  # farther from the surface than the facets
    assert np.array_equal(np.intersect1d(found.point, clear), clear[depth[clear] > 0])
    assert np.abs(found.depth - depth[found.point]).max() < 1e-3
    assert np.allclose(np.linalg.norm(found.place - points[found.point], axis=1), found.depth, atol=1e-12)
    ring = np.hypot(found.place[:, 0], found.place[:, 1]) - 0.6
    assert np.abs(np.hypot(ring, found.place[:, 2]) - 0.25).max() < 1e-3  # it is on the surface


def test_no_triangle_is_nearer():
    """Bodies of few large and of many small triangles, thin ones, and one far from the origin."""
    rng = np.random.default_rng(2)
    total = 0
    for number in range(60):
        x, triangles = random_closed(rng, number) if number % 5 else torus(20 + number, 12)
        x = x * rng.uniform(0.02, 1.0, 3) + (1000.0 if number % 7 == 0 else 0.0)
        points = rng.uniform(x.min(0), x.max(0), (200, 3))
        found = find_inside(x, triangles, points)
        nearest = np.full(len(found.point), np.inf)
        nearest_of_all(x, triangles, points[found.point], nearest)
        assert np.abs(found.depth - nearest).max(initial=0.0) <= 1e-11 * max(1.0, np.abs(x).max())
        assert (found.triangle >= 0).all()
        total += len(found.point)
    assert total > 2000


def test_open_meshes_and_rooms_have_no_inside():
    x, triangles = torus(30, 20)
    point = np.array([[0.6, 0.0, 0.0]])
    assert len(find_inside(x, triangles, point).point) == 1
    assert len(find_inside(x, triangles[:, ::-1], point).point) == 0  # faces inward
    assert len(find_inside(x, triangles[: len(triangles) // 3], point).point) == 0  # open
    assert len(find_inside(x, triangles[:0], point).point) == 0
    assert len(find_inside(x, triangles, point[:0]).point) == 0


@pytest.mark.parametrize("threads", [1, 5])
def test_the_same_for_any_number_of_threads(threads, monkeypatch):
    monkeypatch.setattr("taffeta.solver.kernel.threads.thread_count", lambda: threads)
    x, triangles = torus(50, 30)
    points = np.random.default_rng(3).uniform(-0.8, 0.8, (3000, 3))
    found = find_inside(x, triangles, points)
    monkeypatch.setattr("taffeta.solver.kernel.threads.thread_count", lambda: 2)
    again = find_inside(x, triangles, points)
    assert all(np.array_equal(a, b) for a, b in zip(found, again, strict=True))


def test_a_body_that_is_split_along_its_seams_has_an_inside():
    x, triangles = torus(30, 20)
    points = np.random.default_rng(4).uniform(-1, 1, (500, 3)) * [0.9, 0.9, 0.3]
    whole = find_inside(x, triangles, points)
    split = find_inside(x[triangles.ravel()], np.arange(triangles.size).reshape(-1, 3), points)
    assert len(whole.point) > 100 and np.array_equal(split.point, whole.point)
    assert np.array_equal(split.depth, whole.depth)
