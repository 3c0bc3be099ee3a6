# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs of large meshes (`benchmarks/springs.py`): all that there have to be."""

import numpy as np
import springs


def test_a_scene_of_a_hundred_thousand_polygons_has_its_springs(tmp_path):
    """An edge of a triangle has one, and so has each inner edge across it."""
    count = springs.CELLS
    taken = springs.ready(springs.write(tmp_path, count))
    edges, rim = 3 * count**2 + 2 * count, 4 * count
    assert len(taken.cloth.triangles) == 2 * count**2 > 100_000
    assert len(taken.cloth.edges) == 2 * edges - rim and taken.cloth.is_mesh_edge.sum() == edges
    assert taken.read > 0.0 and taken.built > 0.0


def test_a_spring_across_joins_the_corners_that_face_an_edge(tmp_path):
    cloth = springs.ready(springs.write(tmp_path, 2)).cloth
    across = {tuple(sorted(pair)) for pair in cloth.edges[~cloth.is_mesh_edge].tolist()}
    sides = {}
    for triangle in cloth.triangles.tolist():
        for k in range(3):
            side = tuple(sorted((triangle[k], triangle[(k + 1) % 3])))
            sides.setdefault(side, []).append(triangle[(k + 2) % 3])
    assert across == {tuple(sorted(facing)) for facing in sides.values() if len(facing) == 2}
    assert np.isfinite(cloth.rest_length).all() and len(across) == 8
