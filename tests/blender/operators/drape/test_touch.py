# SPDX-License-Identifier: GPL-3.0-or-later
"""Rays and brushes over cloth, on arrays."""

import numpy as np
import pytest
from taffeta.operators.drape.touch import cast, patch, smoothed

DOWN = np.array([0.0, 0.0, -1.0])


def strip():
    """A strip of 21 x 3 points, folded over itself 1 cm apart: x (63, 3), edges and triangles."""
    along, side = np.meshgrid(np.linspace(0.0, 1.0, 21), np.linspace(0.0, 0.1, 3), indexing="ij")
    fold = along > 0.5
    x = np.stack([np.where(fold, 1.0 - along, along), side, np.where(fold, 0.01, 0.0)], axis=-1).reshape(-1, 3)
    number = np.arange(63).reshape(21, 3)
    edges = np.concatenate(
        [
            np.stack([number[:-1], number[1:]], -1).reshape(-1, 2),
            np.stack([number[:, :-1], number[:, 1:]], -1).reshape(-1, 2),
        ]
    )
    quads = np.stack([number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]], -1).reshape(-1, 4)
    return x, edges, np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]])


def test_a_ray_meets_the_upper_layer_first():
    x, _, triangles = strip()
    hit = cast(np.array([0.11, 0.03, 1.0]), DOWN, x, triangles)
    assert np.allclose(hit.point, [0.11, 0.03, 0.01]) and hit.distance == pytest.approx(0.99)
    assert (x[triangles[hit.triangle], 2] == 0.01).all()
    assert cast(np.array([0.11, 0.03, 0.005]), DOWN, x, triangles).distance == pytest.approx(0.005)
    assert cast(np.array([0.11, 0.03, -1.0]), DOWN, x, triangles) is None  # what lies behind
    assert cast(np.array([0.11, 0.2, 1.0]), DOWN, x, triangles) is None
    slanted = np.array([0.6, 0.0, -0.8])
    hit = cast(np.array([0.2, 0.05, 0.01]) - slanted, slanted, x, triangles)
    assert np.allclose(hit.point, [0.2, 0.05, 0.01])


def test_a_brush_leaves_the_layer_below_alone():
    x, edges, _ = strip()
    may = np.ones(63, bool)
    middle = int(np.flatnonzero((x[:, 2] == 0.01) & np.isclose(x[:, 0], 0.1) & (x[:, 1] == 0.05))[0])
    found = patch(x, edges, middle, x[middle], 0.12, may)
    assert (x[found.particles, 2] == 0.01).all() and len(found.particles) == 15
    away = np.linalg.norm(x[found.particles] - x[middle], axis=1)
    assert np.allclose(found.weight, (1.0 - (away / 0.12) ** 2) ** 2)
    may[middle] = False
    assert middle not in patch(x, edges, middle, x[middle], 0.12, may).particles
    alone = patch(x, edges, 5, x[5], 1e-6, np.ones(63, bool))  # smaller than an edge
    assert alone.particles.tolist() == [5] and alone.weight[0] > 0.0


def test_smoothing_leads_to_the_middle_of_the_neighbours():
    x = np.array([[0.0, 0, 0], [1, 0, 1], [2, 0, 0]])
    chain = np.array([[0, 1], [1, 2]])
    assert np.allclose(smoothed(x, chain, np.array([1]), 1), [[1, 0, 0.5]])
    assert np.allclose(smoothed(x, chain, np.array([1]), 30), [[1, 0, 0]])
