# SPDX-License-Identifier: GPL-3.0-or-later
"""Smoothing against closed forms: a Gaussian over a sine, and folds of a sheet."""

import numpy as np
import pytest
from sheets import sheet
from taffeta.solver.correct.ease import make_net
from taffeta.solver.correct.smooth import in_space, in_time, tail


@pytest.mark.parametrize("width", [1.0, 1.5, 3.0])
def test_a_sine_in_time_keeps_the_part_that_a_gaussian_leaves(width):
    frame, turn = np.arange(120), 2 * np.pi / 13
    x = np.zeros((120, 2, 3))
    x[:, 0, 1] = np.sin(turn * frame)
    x[:, 1] = (1.0, 2.0, 3.0)
    found = in_time(x, width)
    inner = slice(tail(width), -tail(width))
    kept = np.exp(-0.5 * (turn * width) ** 2)
    assert np.abs(found[inner, 0, 1] - kept * x[inner, 0, 1]).max() < 2e-4
    assert np.abs(found[:, 1] - x[:, 1]).max() < 1e-14


def folded(height, waves):
    cloth = sheet("Cloth", 41, 41, 0.01)
    x = cloth.x.copy()
    x[:, 2] = height * np.cos(waves * 2 * np.pi / 0.4 * (x[:, 0] + 0.2))
    return cloth, x


def test_fine_folds_go_and_large_ones_stay():
    left = []
    for waves in (1, 8):
        cloth, x = folded(1e-4, waves)
        net = make_net(cloth.x, cloth.edges)
        y = in_space(x[None], cloth.triangles, cloth.edges, 0.02)[0]
        wave = waves * 2 * np.pi / 40
        kept = 1.0 / (1.0 + (0.02 / net.length) ** 2 * (2.0 - 2.0 * np.cos(wave)))
        middle = np.abs(cloth.x).max(axis=1) < 0.1
        left.append(np.ptp(y[middle, 2]) / np.ptp(x[middle, 2]))
        assert abs(left[-1] - kept) < 0.02
    assert left[0] > 0.9 and left[1] < 0.3


def test_a_flat_sheet_stays_as_large_as_it_is():
    cloth, x = folded(0.0, 1)
    y = in_space(x[None], cloth.triangles, cloth.edges, 0.05)[0]
    assert np.abs(y - x).max() < 1e-12
