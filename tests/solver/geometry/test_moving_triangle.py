# SPDX-License-Identifier: GPL-3.0-or-later
"""Points that go through a triangle of a body while it moves and turns: each passage is found, at its time."""

import numpy as np
import pytest
from numba import njit  # not kept on disk: what it calls is another file
from taffeta.solver.geometry.moving_triangle import NO_PASSAGE, passage

COUNT = 400


@njit
def passages(triangles, motions, start, end, shares, sides):
    for k in range(len(start)):
        x, y = start[k], end[k]
        shares[k], sides[k] = passage(triangles, motions[k], 0, x[0], x[1], x[2], y[0], y[1], y[2])


def pass_at(rng, weight, turn):
    """Ways through the plane of triangles that turn by up to `turn` [rad], at barycentric coordinates `weight` (3,).

    Returns (shares, sides) that were found, and the (times, sides) that are true.
    """
    corners = (
        np.array([[0.0, 0.0, 0.0], [0.06, 0.0, 0.0], [0.02, 0.05, 0.0]]) @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    )
    corners = corners - corners.mean(axis=0) + np.zeros((COUNT, 3, 3))
    spin = rng.normal(size=(COUNT, 1, 3))
    spin *= rng.uniform(0.0, turn, (COUNT, 1, 1)) / np.linalg.norm(spin, axis=2, keepdims=True)
    motion = np.cross(spin, corners) + rng.normal(size=(COUNT, 1, 3)) * 0.005
    times, sides = rng.uniform(0.3, 0.7, COUNT), rng.choice([-1.0, 1.0], COUNT)
    then = corners + times[:, None, None] * motion
    normal = np.cross(then[:, 1] - then[:, 0], then[:, 2] - then[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    hit = np.einsum("c,kcx->kx", weight, then)
    way = np.einsum("c,kcx->kx", weight, motion) - (sides * rng.uniform(0.005, 0.02, COUNT))[:, None] * normal
    way += 0.01 * np.cross(normal, rng.normal(size=(COUNT, 3)))  # it slides along meanwhile
    found = np.empty((2, COUNT))
    motions = np.concatenate([corners, motion], axis=2)
    start, end = hit - times[:, None] * way, hit + (1.0 - times[:, None]) * way
    passages(np.array([[0, 1, 2]], np.int32), motions, start, end, *found)
    return found, (times, sides)


@pytest.mark.parametrize("turn", [0.0, 0.04, 0.08])
@pytest.mark.parametrize("weight", [(0.4, 0.3, 0.3), (0.05, 0.05, 0.9), (0.01, 0.6, 0.39)])
def test_no_way_through_the_inside_is_missed(weight, turn):
    """A body that turns by 9 rad/s turns by 0.04 rad in a substep: cloth went through one at 2 m/s (fuzz, seed 371)."""
    (shares, sides), (times, truth) = pass_at(np.random.default_rng(1), np.array(weight), turn)
    assert (shares < 1.0).all()
    assert np.array_equal(sides, truth)
    assert np.abs(shares - times).max() < 1e-3


@pytest.mark.parametrize("turn", [0.0, 0.04])
def test_no_way_past_the_triangle_is_taken_for_one_through_it(turn):
    (shares, _), _ = pass_at(np.random.default_rng(2), np.array((-0.1, 0.5, 0.6)), turn)
    assert (shares == NO_PASSAGE).all()
