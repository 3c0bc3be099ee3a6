# SPDX-License-Identifier: GPL-3.0-or-later
"""The strip beside a seam is as wide along the cloth as was asked for, and has the area that it has on paper."""

import naive
import numpy as np
import pytest
import triangulated
from taffeta.solver.geometry.allowance import beside, distances, filled

LENGTH, BREADTH = 0.3, 0.1


def area_about(x, triangles):
    """(n,) [m2] a third of the triangles about each vertex."""
    sides = x[triangles[:, 1:]] - x[triangles[:, :1]]
    area = 0.5 * np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    return np.bincount(triangles.ravel(), np.repeat(area / 3.0, 3), minlength=len(x))


@pytest.mark.parametrize("way", triangulated.WAYS)
@pytest.mark.parametrize("width", [0.004, 0.01, 0.0234, 0.05])
def test_a_straight_seam_has_a_strip_of_its_width(way, width):
    """Edges of 10 mm: the strip is narrower than one, as wide, or cuts through triangles."""
    sheet = triangulated.sheet(31, 11, LENGTH, BREADTH, way)
    share = beside(sheet.x, sheet.triangles, sheet.x[:, 0] == 0.0, width)
    assert share.min() > -1e-12 and share.max() < 1.0 + 1e-12
    assert not share[sheet.x[:, 0] > width + 0.02].any()
    assert share @ area_about(sheet.x, sheet.triangles) == pytest.approx(width * BREADTH, rel=0.02)


def test_the_strip_lies_on_both_sides_of_a_seam_within_the_cloth():
    sheet = naive.sheet(31, 11, LENGTH, BREADTH)
    share = beside(sheet.x, sheet.triangles, np.isclose(sheet.x[:, 0], 0.15), 0.02)
    assert share @ area_about(sheet.x, sheet.triangles) == pytest.approx(2.0 * 0.02 * BREADTH)


def test_distances_run_along_the_cloth_and_not_through_the_air():
    """Of a sheet that is folded in two, 5 mm apart, the other layer has none of the seam; a sheet wound to a tube is as when flat."""
    sheet = naive.sheet(31, 11, LENGTH, BREADTH, "alternating")
    sewn, x = sheet.x[:, 0] == 0.0, sheet.x.copy()
    behind = x[:, 0] > 0.15 + 1e-9
    x[behind, 0], x[behind, 2] = 0.3 - x[behind, 0], 0.005
    assert not beside(x, sheet.triangles, sewn, 0.02)[behind].any()
    turn = sheet.x[:, 0] / 0.06
    tube = np.stack([0.06 * np.cos(turn), sheet.x[:, 1], 0.06 * np.sin(turn)], axis=1)
    flat, wound = (distances(each, sheet.triangles, sewn, 0.05) for each in (sheet.x, tube))
    near = np.isfinite(flat)
    assert np.allclose(wound[near], flat[near], rtol=0.005) and np.array_equal(near, np.isfinite(wound))


def test_a_rim_that_gathers_is_sewn_between_its_stitches():
    sheet = naive.sheet(5, 7)
    rim = np.arange(7)
    sewn = np.isin(np.arange(35), rim[::2])
    assert np.flatnonzero(filled(sheet.triangles, sewn)).tolist() == rim.tolist()
    assert not filled(sheet.triangles, np.zeros(35, bool)).any()


def test_nothing_is_beside_no_seam_and_faces_without_area_do_no_harm():
    sheet = naive.sheet(5, 7)
    assert not beside(sheet.x, sheet.triangles, np.zeros(35, bool), 0.1).any()
    x = sheet.x.copy()
    x[8] = x[9]
    share = beside(x, sheet.triangles, np.arange(35) < 7, 0.1)
    assert np.isfinite(share).all() and share.any()
