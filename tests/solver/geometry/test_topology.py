# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs of faces that no modeller makes."""

import numpy as np
from taffeta.solver.geometry import topology


def test_a_quad_that_has_a_corner_twice_has_no_diagonals():
    """Such a face comes from a file: 3 2 3 4. Its diagonal from 3 to 3 is no spring."""
    quads = np.array([[3, 2, 3, 4], [0, 1, 2, 3]])
    triangles = np.array([[0, 1, 2], [0, 2, 3]])
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [3, 4]])
    found = topology.find_springs(triangles, quads, edges, 5)
    assert sorted(found.pairs.tolist()) == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3], [3, 4]]
    assert found.quads.tolist() == [[0, 1, 2, 3]]
