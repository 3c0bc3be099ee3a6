# SPDX-License-Identifier: GPL-3.0-or-later
"""Faces are cut into triangles without slivers, wherever they can be."""

import warnings

import numpy as np
import pytest
from taffeta.solver.geometry.slivers import SLIVER, cut_anew


def shapes(points, cuts):
    """Height over the longest side of each triangle."""
    corners = points[cuts]
    sides = corners - np.roll(corners, -1, axis=1)
    return np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / np.square(sides).sum(axis=2).max(axis=1)


def ears(count):
    """A fan from the first corner."""
    return np.stack([np.zeros(count - 2, int), np.arange(1, count - 1), np.arange(2, count)], axis=1)


def signed(points, cuts):
    """z of each triangle's area vector, doubled."""
    a, b, c = points[cuts].transpose(1, 0, 2)
    return np.cross(b - a, c - a)[:, 2]


HEXAGON = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 1, 0], [1, 1, 0], [0, 1, 0]], float)  # two quads as one face
STRIP = np.array([[k, 0, 0] for k in range(5)] + [[4 - k, 1, 0] for k in range(5)], float)  # four of them


@pytest.mark.parametrize("face", [HEXAGON, STRIP])
def test_corners_on_a_line_make_no_triangle_of_their_own(face):
    cuts = ears(len(face))
    assert shapes(face, cuts).min() == 0.0
    anew = cut_anew(face, cuts, np.array([len(face)]))
    assert shapes(face, anew).min() > 0.4
    np.testing.assert_allclose(signed(face, anew).sum(), signed(face, cuts).sum())
    assert (signed(face, anew) > 0.0).all()  # nothing lies over anything else


def test_a_concave_face_is_covered_once():
    face = np.array([[0, 0, 0], [3, 0, 0], [3, 1, 0], [2, 1, 0], [1, 1, 0], [1, 3, 0], [0, 3, 0]], float)
    cuts = np.array([[3, 4, 2], [2, 4, 1], [1, 4, 0], [0, 4, 6], [6, 4, 5]])  # the first is a line
    anew = cut_anew(face, cuts, np.array([7]))
    assert (signed(face, anew) > 0.0).all() and shapes(face, anew).min() > SLIVER
    np.testing.assert_allclose(signed(face, anew).sum(), 2 * 5.0)


def test_a_quad_with_three_corners_on_a_line_is_cut_from_the_middle_one():
    quad = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [1, 1, 0]], float)
    anew = cut_anew(quad, np.array([[0, 1, 2], [0, 2, 3]]), np.array([4]))
    assert shapes(quad, anew).min() > 0.4 and (signed(quad, anew) > 0.0).all()


def test_good_and_long_faces_stay_as_they_are():
    long = HEXAGON[[0, 2, 3, 5]] * [30, 1, 1]  # a quad as flat whichever way it is cut
    points = np.concatenate([HEXAGON, long, HEXAGON[:3] * [1, 0, 0]])
    cuts = np.array([[0, 1, 5], [1, 4, 5], [1, 2, 4], [2, 3, 4], [6, 7, 8], [6, 8, 9], [10, 11, 12]], np.int32)
    anew = cut_anew(points, cuts, np.array([6, 4, 3]))
    assert anew is cuts or np.array_equal(anew, cuts)
    assert cut_anew(points, cuts, np.array([6, 4, 3])).dtype == np.int32


def test_a_face_that_is_a_line_or_a_point_is_left_alone():
    line = HEXAGON * [1, 0, 0]
    for face in (line, line * 0.0):
        cuts = ears(6)
        np.testing.assert_array_equal(cut_anew(face, cuts, np.array([6])), cuts)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_nowhere_warns_of_nothing(value):
    """Such a mesh is refused where it is read, by its name; numpy's warnings named this file."""
    points = np.array(
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 1, 0], [0, 1, 0]], float
    )
    points[[1, 2, 6, 7]] = value
    cuts, counts = np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7], [4, 7, 8]]), np.array([4, 5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = cut_anew(points, cuts, counts)
    assert found.shape == cuts.shape and sorted(np.unique(found[:2])) == [0, 1, 2, 3]
