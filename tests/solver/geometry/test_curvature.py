# SPDX-License-Identifier: GPL-3.0-or-later
"""Curvature of meshes whose curvature paper knows: flat, rolled up, spheres, one fold."""

import numpy as np
import pytest
from sheets import sheet
from taffeta.solver.geometry.curvature import curvature, hinges


def inner(rows, columns):
    """Vertices of a grid that are not at its border."""
    return np.arange(rows * columns).reshape(rows, columns)[1:-1, 1:-1].ravel()


def rolled(x, radius, turn=0.0):
    """A flat sheet rolled up along a direction `turn` [rad] of its plane."""
    u, v = np.cos(turn) * x[:, 0] + np.sin(turn) * x[:, 1], -np.sin(turn) * x[:, 0] + np.cos(turn) * x[:, 1]
    return np.column_stack((radius * np.sin(u / radius), v, radius * (1.0 - np.cos(u / radius))))


@pytest.mark.parametrize("radius", [0.05, 0.2, 3.0])
def test_a_cylinder_is_curved_by_one_over_its_radius(radius):
    flat = sheet("Sheet", 21, 15, 0.01)
    found = curvature(rolled(flat.x, radius), hinges(flat.x, flat.triangles))
    assert found[inner(21, 15)] == pytest.approx(1.0 / radius, rel=0.003)


def test_so_it_is_whichever_way_its_edges_run():
    flat, radius = sheet("Sheet", 21, 21, 0.005), 0.1
    for turn in (0.3, 0.8, 1.4):
        found = curvature(rolled(flat.x, radius, turn), hinges(flat.x, flat.triangles))[inner(21, 21)]
        assert np.abs(found * radius - 1.0).max() < 0.25 and found.mean() * radius == pytest.approx(1.0, rel=0.1)


def test_a_flat_sheet_has_none_and_does_not_care_where_it_lies():
    flat = sheet("Sheet", 9, 7, 0.02)
    frame, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))
    assert np.abs(curvature(flat.x @ frame + 5.0, hinges(flat.x, flat.triangles))).max() < 1e-9


def test_a_fold_is_its_angle_over_the_width_of_a_cell():
    flat, angle = sheet("Sheet", 11, 5, 0.02), 0.7
    x = flat.x.copy()
    behind = x[:, 0] > 1e-6
    x[behind, 2], x[behind, 0] = np.sin(angle) * x[behind, 0], np.cos(angle) * x[behind, 0]
    found = curvature(x, hinges(flat.x, flat.triangles)).reshape(11, 5)[:, 1:-1]
    assert found[5] == pytest.approx(angle / 0.02, rel=1e-6)
    assert np.abs(np.delete(found, 5, axis=0)).max() < 1e-6


def test_sizes_are_those_at_rest_so_that_crushed_cloth_needs_no_more():
    flat = sheet("Sheet", 11, 5, 0.02)
    whole = curvature(rolled(flat.x, 0.1), hinges(flat.x, flat.triangles))
    crushed = curvature(0.01 * rolled(flat.x, 0.1), hinges(flat.x, flat.triangles))
    assert crushed == pytest.approx(whole, rel=1e-6)


def test_a_vertex_without_faces_and_a_face_without_area_have_none():
    x = np.array([(0, 0, 0), (1, 0, 0), (2, 0, 0), (5, 5, 5)], float)
    assert not curvature(x, hinges(x, np.array([[0, 1, 2]], np.int32))).any()
