# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are split along seams are closed again, and what only lies beside something is left alone."""

import numpy as np
import pytest
from solids import ball, box, plate, torus
from taffeta.solver.geometry.adjacency import solid_islands, topology
from taffeta.solver.geometry.seams import sew_borders


def split(mesh):
    """Every triangle with corners of its own."""
    x, triangles = mesh
    return x[triangles.ravel()], np.arange(triangles.size, dtype=np.int32).reshape(-1, 3)


def sewn(x, triangles, later=None):
    """The mesh joined along seams, and whether each of its islands is closed."""
    samples = np.stack([x, x if later is None else later])
    triangles = sew_borders(triangles, topology(triangles, len(x)).border, samples)
    joined = topology(triangles, len(x))
    return triangles, solid_islands(joined, x, triangles), joined


@pytest.mark.parametrize("mesh", [torus(30, 20), ball(), box((1.0, 2.0, 3.0))])
def test_a_body_of_loose_triangles_is_closed(mesh):
    x, triangles = split(mesh)
    found, solid, joined = sewn(x, triangles)
    assert solid.tolist() == [True] and len(np.unique(found)) == len(mesh[0])
    assert np.array_equal(x[found], x[triangles]) and not len(joined.border)


def test_a_gap_below_a_hundredth_of_a_millimetre_is_a_seam():
    x, triangles = split(torus(30, 20))
    shaken = np.random.default_rng(3).uniform(-1.0, 1.0, x.shape)
    assert sewn(x + 2e-6 * shaken, triangles)[1].tolist() == [True]
    assert not sewn(x + 2e-4 * shaken, triangles)[1].any()


def test_what_parts_in_the_frame_is_not_joined():
    x, triangles = split(box((1.0, 1.0, 1.0)))
    later = x * np.where(np.arange(len(x)) < 18, 1.0, 1.1)[:, None]
    assert not sewn(x, triangles, later)[1].any()


def test_pieces_that_face_apart_and_three_on_an_edge_are_left():
    one, two = split((np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, -1, 0.0]]), np.array([[0, 1, 2], [0, 1, 3]])))
    assert np.array_equal(sewn(one, two)[0], two)
    three = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1.0]])
    x, triangles = split((three, np.array([[0, 1, 2], [1, 0, 3], [1, 0, 4]])))
    assert np.array_equal(sewn(x, triangles)[0], triangles)


def test_corners_that_touch_and_closed_bodies_that_touch_stay_their_own():
    x, triangles = plate(1, 1.0)
    x, triangles = np.concatenate([x, x + [1.0, 1.0, 0.0]]), np.concatenate([triangles, triangles + len(x)])
    assert np.array_equal(sewn(x, triangles)[0], triangles)
    x, triangles = box((1.0, 1.0, 1.0))
    x, triangles = np.concatenate([x, x + [1.0, 0.0, 0.0]]), np.concatenate([triangles, triangles + len(x)])
    assert np.array_equal(sewn(x, triangles)[0], triangles)


def test_a_needle_keeps_its_corners():
    """Two of its corners lie on each other, and a neighbour is as narrow there."""
    x = np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0.0]])
    found = sewn(x, np.array([[0, 2, 1], [4, 3, 5]], np.int32))[0]
    assert all(len(set(corners)) == 3 for corners in found.tolist())
