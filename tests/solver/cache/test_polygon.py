# SPDX-License-Identifier: GPL-3.0-or-later
"""Large polygons are cut inside, without a vertex that has them all, and refused where they are beyond reason."""

import numpy as np
import pytest
from taffeta.solver.cache import obj
from taffeta.solver.cache.polygon import cut_polygon

MANY = 4000
TURN = np.linspace(0.0, 2.0 * np.pi, MANY, endpoint=False)
HALF = np.arange(MANY // 2)


def ring(radius):
    return radius[:, None] * np.column_stack((np.cos(TURN), np.sin(TURN)))


def band(top, bottom):
    """Two lines (k, 2) as one polygon."""
    return np.vstack((bottom, top[::-1]))


def spiral():
    t = np.linspace(2.0 * np.pi, 12.0 * np.pi, MANY // 2)
    way = np.column_stack((np.cos(t), np.sin(t)))
    return np.vstack((t[:, None] * way, ((t - 3.0)[:, None] * way)[::-1]))


SHAPES = {
    "convex": ring(np.ones(MANY)),
    "flower": ring(1.0 + 0.3 * np.sin(7.0 * TURN)),
    "star": ring(1.0 + 0.3 * np.random.default_rng(0).random(MANY)),
    "comb": band(np.column_stack((HALF, np.where(HALF % 2, 100.0, 1.0))), np.column_stack((HALF, 0.0 * HALF - 1.0))),
    "zigzag": band(np.column_stack((HALF, HALF % 2 + 0.5)), np.column_stack((HALF, HALF % 2))),
    "spiral": spiral(),
    "in line": np.vstack([corner + np.outer(np.arange(99) / 99, way) for corner, way in (
        ((0, 0), (1, 0)), ((1, 0), (0, 1)), ((1, 1), (-1, 0)), ((0, 1), (0, -1)))]),
    "hole": np.array([(0, 0), (9, 0), (9, 9), (0, 9), (0, 0), (3, 3), (3, 6), (6, 6), (6, 3), (3, 3)], float),
}  # fmt: skip


def areas(points, triangles):
    a, b, c = points[triangles].transpose(1, 0, 2)
    return np.cross(b - a, c - a) @ [0.0, 0.0, 0.5]


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("backwards", [False, True])
def test_a_polygon_is_cut_inside(name, backwards):
    flat = SHAPES[name][::-1] if backwards else SHAPES[name]
    points = np.column_stack((flat, np.zeros(len(flat))))
    triangles = cut_polygon(points)
    assert triangles.shape == (len(points) - 2, 3)
    sign, area = (-1.0 if backwards else 1.0), areas(points, triangles)
    following = np.roll(flat, -1, axis=0)
    whole = 0.5 * (flat[:, 0] * following[:, 1] - flat[:, 1] * following[:, 0]).sum()
    assert area.sum() == pytest.approx(whole, rel=1e-12)
    assert (sign * area).min() >= -1e-12 * abs(whole), "none lies outside, or over another"


@pytest.mark.parametrize("axes", [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1)])
def test_in_any_plane_triangles_turn_as_the_polygon_does(axes):
    points = np.column_stack((SHAPES["flower"], 0.1 * SHAPES["flower"][:, 0]))[:, axes]
    corners = points[cut_polygon(points)]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    whole = np.cross(points, np.roll(points, -1, axis=0)).sum(axis=0)
    assert (normals @ whole > 0.0).all()
    assert normals.sum(axis=0) == pytest.approx(whole, rel=1e-9)


def test_no_vertex_of_a_round_polygon_has_many_triangles():
    triangles = cut_polygon(np.column_stack((SHAPES["convex"], np.zeros(MANY))))
    assert np.bincount(triangles.ravel()).max() <= 2 * np.log2(MANY) + 3


@pytest.mark.parametrize("points", [np.random.default_rng(1).random((MANY, 2)), ring(np.ones(MANY))[7 * HALF % MANY],
                                    np.zeros((MANY, 2)), np.column_stack((TURN, TURN))])  # fmt: skip
def test_what_is_no_polygon_is_cut_somehow(points):
    triangles = cut_polygon(np.column_stack((points, np.zeros(len(points)))))
    assert triangles.shape == (len(points) - 2, 3) and set(triangles.ravel()) == set(range(len(points)))


def circle(path, count):
    turn = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    lines = [f"v {x:.9g} {y:.9g} 0" for x, y in zip(np.cos(turn), np.sin(turn), strict=True)]
    path.write_text("\n".join([*lines, "v 0 0 1", "f 1 2 3", "f " + " ".join(map(str, range(1, count + 1)))]))
    return path


def test_a_file_with_large_polygons_among_small_ones(tmp_path):
    mesh = obj.read(circle(tmp_path / "a.obj", MANY))
    assert mesh.triangles[0].tolist() == [0, 1, 2] and len(mesh.triangles) == MANY - 1
    assert np.bincount(mesh.triangles.ravel()).max() <= 2 * np.log2(MANY) + 4
    assert mesh.face_start.tolist() == [0, 3, MANY + 3]


def test_a_polygon_beyond_reason_is_refused(tmp_path):
    assert len(obj.read(circle(tmp_path / "a.obj", obj.MOST_CORNERS)).triangles) == obj.MOST_CORNERS - 1
    with pytest.raises(ValueError, match=r"b.obj: face 2 has 10,001 corners, more than 10,000: cut it up"):
        obj.read(circle(tmp_path / "b.obj", obj.MOST_CORNERS + 1))
