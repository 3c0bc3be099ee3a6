# SPDX-License-Identifier: GPL-3.0-or-later
"""Shells and lines of equal value; no Blender needed."""

import numpy as np
import pytest
from taffeta.operators.overlay import shapes


def ball(count=24):
    """A sphere of radius 1 as a grid of triangles, its poles left open: x, triangles that face outwards."""
    angle, height = np.arange(count) * 2 * np.pi / count, np.linspace(0.2, np.pi - 0.2, count)
    t, p = np.meshgrid(angle, height)
    x = np.stack([np.sin(p) * np.cos(t), np.sin(p) * np.sin(t), np.cos(p)], axis=-1).reshape(-1, 3)
    i, j = (k.ravel() for k in np.mgrid[0 : count - 1, 0:count])
    a, b, k = i * count + j, i * count + (j + 1) % count, (i + 1) * count
    c, d = k + (j + 1) % count, k + j
    return x, np.concatenate([np.stack([a, d, c], axis=1), np.stack([a, c, b], axis=1)])


def test_a_shell_lies_outside_at_its_distance():
    x, triangles = ball()
    found = np.linalg.norm(shapes.shell(x, triangles, 0.1), axis=1)
    assert found == pytest.approx(np.full(len(x), 1.1), abs=0.01)
    each = np.linspace(-0.2, 0.2, len(x))
    found = np.linalg.norm(shapes.shell(x, triangles, each), axis=1)
    assert found == pytest.approx(1.0 + each, abs=0.02), "a distance a vertex, also inwards"


def test_a_vertex_without_faces_stays_where_it_is():
    x = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (5, 5, 5.0)])
    found = shapes.shell(x, np.array([(0, 1, 2)]), 0.5)
    assert found[:3, 2] == pytest.approx([0.5] * 3) and found[3] == pytest.approx([5, 5, 5])


def test_lines_lie_where_the_value_is_that_of_the_level():
    """A value that is linear in space has straight lines: x + 2 y = level, from rim to rim."""
    line = np.linspace(0, 1, 9)
    x = np.stack([*np.meshgrid(line, line, indexing="ij"), np.zeros((9, 9))], axis=-1).reshape(-1, 3)
    i, j = (k.ravel() for k in np.mgrid[0:8, 0:8])
    a = 9 * i + j
    triangles = np.concatenate([np.stack([a, a + 9, a + 10], axis=1), np.stack([a, a + 10, a + 1], axis=1)])
    values = x[:, 0] + 2.0 * x[:, 1]
    pieces, level = shapes.contours(x, triangles, values, np.array([0.61, 1.57, 7.0]))
    assert set(level) == {0.61, 1.57}
    assert pieces[..., 0] + 2.0 * pieces[..., 1] == pytest.approx(np.repeat(level[:, None], 2, axis=1))
    for at, length in ((0.61, 0.61 * np.sqrt(1.25)), (1.57, np.sqrt(1.25))):
        own = pieces[level == at]
        assert np.linalg.norm(own[:, 1] - own[:, 0], axis=1).sum() == pytest.approx(length)


def test_equal_values_have_no_lines():
    pieces, level = shapes.contours(np.eye(3), np.array([(0, 1, 2)]), np.ones(3), np.array([0.5, 1.0, 2.0]))
    assert len(pieces) == len(level) == 0
