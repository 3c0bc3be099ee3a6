# SPDX-License-Identifier: GPL-3.0-or-later
"""How rough cloth is: zigzags whose folds are known."""

import numpy as np
import pytest
from taffeta.solver.geometry.roughness import roughness


def strip(degrees, count=20):
    """A strip of quads, two triangles each, whose faces turn by so much from each to the next, to and fro."""
    slope = np.radians(0.5 * degrees) * np.where(np.arange(count) % 2, -1.0, 1.0)
    ends = np.concatenate([[[0.0, 0.0]], np.cumsum(np.stack([np.cos(slope), np.sin(slope)], 1), axis=0)])
    x = np.concatenate([np.insert(ends, 1, side, axis=1) for side in (0.0, 1.0)])
    a = np.arange(count)
    b = a + count + 1
    quads = np.stack([a, a + 1, b + 1, b], 1)
    return x, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int32)


@pytest.mark.parametrize(("degrees", "folded"), [(0.0, 0.0), (30.0, 0.0), (70.0, 19 / 39), (120.0, 19 / 39)])
def test_a_zigzag_has_the_mean_of_its_folds_and_its_diagonals(degrees, folded):
    x, triangles = strip(degrees)
    mean, share = roughness(x, triangles)
    assert np.degrees(mean) == pytest.approx(degrees * 19 / 39, abs=1e-5) and share == pytest.approx(folded)


def test_no_neighbours_no_roughness():
    x = np.eye(3)
    assert roughness(x, np.zeros((0, 3), np.int32)) == (0.0, 0.0)
    assert roughness(x, np.array([[0, 1, 2]], np.int32)) == (0.0, 0.0)


def test_a_face_without_area_is_no_nan():
    x, triangles = strip(30.0)
    x[5] = x[6]
    assert np.isfinite(roughness(x, triangles)).all()
