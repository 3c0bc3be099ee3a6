# SPDX-License-Identifier: GPL-3.0-or-later
"""Both kinds of layered depth images: the same however the work is cut, and of meshes with hardly anything in them."""

import numpy as np
import pytest
from solids import torus
from taffeta.solver.ldi.centres import THREE_DIRECTIONS, render
from taffeta.solver.ldi.rasterise import Trajectories, render_motion


def _moving(start, end, triangles):
    """What `render_motion` wants of a body that moves evenly, but the resolution: all of it."""
    trajectories = Trajectories(0.5 * (start + end), 0.5 * (end - start), *np.zeros((2, len(start))))
    low, high = np.minimum(start, end).min(axis=0), np.maximum(start, end).max(axis=0)
    return trajectories, triangles, np.arange(len(triangles), dtype=np.int32), low, high


@pytest.mark.parametrize("direction", [THREE_DIRECTIONS, 1])
def test_same_bits_for_any_split(direction, monkeypatch):
    from taffeta.solver.ldi import rasterise

    x, triangles = torus(80, 80)
    once = render(x, triangles, x.min(0), x.max(0), 64, direction)
    drawn = _moving(x, 1.02 * x, triangles)
    moved = render_motion(*drawn, 64)
    monkeypatch.setattr(rasterise, "SMALLEST_DRAWN_PART", 1)
    monkeypatch.setattr("taffeta.solver.kernel.threads.thread_count", lambda: 7)
    for first, second in (
        (once, render(x, triangles, x.min(0), x.max(0), 64, direction)),
        (moved, render_motion(*drawn, 64)),
    ):
        for field in first._fields:
            assert np.array_equal(getattr(first, field), getattr(second, field)), field


def test_odd_meshes():
    empty = render(np.zeros((0, 3)), np.zeros((0, 3), np.int32), np.zeros(3), np.ones(3), 8)
    assert len(empty.depth) == 0
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 0, 0], [0, 1, 0]])
    triangles = np.array([[0, 1, 2], [0, 0, 1], [0, 1, 3]], np.int32)
    image = render(x, triangles, x.min(0), x.max(0), 8)  # a flat box: one pixel thick
    assert set(image.triangle) == {2} and (image.depth == 0).all()
    image = render_motion(*_moving(x, x, triangles), 8)
    assert set(image.triangle) == {2}
