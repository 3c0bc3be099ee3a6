# SPDX-License-Identifier: GPL-3.0-or-later
"""Winding numbers against a torus' formula."""

import numpy as np
from solids import torus
from taffeta.solver.geometry.winding import count_windings


def test_windings_know_the_inside():
    rng = np.random.default_rng(4)
    x, triangles = torus(60, 40)
    points = rng.uniform(-1, 1, (4000, 3)) * [0.9, 0.9, 0.3]
    depth = 0.25 - np.hypot(np.hypot(points[:, 0], points[:, 1]) - 0.6, points[:, 2])
    clear = np.abs(depth) > 0.002  # farther from the surface than the facets
    windings = np.zeros(len(points), np.int32)
    count_windings(x, triangles, np.ones(len(triangles), bool), points, 64, windings)
    assert (windings == (depth > 0))[clear].all()
    twice = np.concatenate([triangles, triangles + len(x)]).astype(np.int32)
    both = np.zeros_like(windings)
    count_windings(np.concatenate([x, x]), twice, np.ones(len(twice), bool), points, 7, both)
    assert (both == 2 * windings).all()
    count_windings(x, triangles[:, ::-1].copy(), np.ones(len(triangles), bool), points, 64, both)
    assert (both == -windings).all()
