# SPDX-License-Identifier: GPL-3.0-or-later
"""The untangling operator against the thesis' own definition: zero sets from matrices, distances by trying all faces."""

from itertools import combinations

import numba
import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from taffeta.solver.untangle.operator import signed_distance, signed_value


@numba.njit
def operate(f, w, i):
    count = len(f)
    gradient, m, up, down = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count)
    distance = signed_distance(f, w, count, i, gradient, m, np.zeros(count, np.int64), up, down)
    return distance, gradient


@numba.njit
def value_of(f, w, i):
    return signed_value(f, w, len(f), i)[0]


def parts(w, i):
    """(n, M) of each H(b, c) of layer i, as (2.3) and (2.4) of the thesis write them, counted from 0."""
    count = len(w)
    for b in range(i + 1):
        for c in range(count - i):
            n, rows = np.zeros(count), []
            n[i - b : i + c + 1] = w[i - b : i + c + 1]
            blocks = (
                [(first, i - b, 1.0) for first in range(i - b)],
                [(i - b, last + 1, -1.0) for last in range(i - b, i)],
                [(first, i + c + 1, 1.0) for first in range(i + 1, i + c + 1)],
                [(i + c + 1, last + 1, -1.0) for last in range(i + c + 1, count)],
            )
            for first, last, sign in (row for block in blocks for row in block):
                row = np.zeros(count)
                row[first:last] = sign * w[first:last]
                rows.append(row)
            yield n, np.array(rows).reshape(-1, count)


def nearest_by_trying(f, w, i):
    """The nearest point of the zero set: of every part and every set of active inequalities, the feasible foot."""
    best, nearest = np.inf, None
    for n, inequalities in parts(w, i):
        for active_count in range(len(inequalities) + 1):
            for active in combinations(range(len(inequalities)), active_count):
                rows = np.vstack((n, inequalities[list(active)]))
                foot = f - rows.T @ np.linalg.lstsq(rows @ rows.T, rows @ f, rcond=None)[0]
                if (inequalities @ foot > -1e-9).all() and np.linalg.norm(f - foot) < best:
                    best, nearest = np.linalg.norm(f - foot), foot
    return best, nearest


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6])
def test_distance_is_that_to_the_nearest_face_of_all(count):
    rng = np.random.default_rng(count)
    for _ in range(60 // count):
        f, w = rng.normal(size=count), rng.uniform(0.2, 5.0, count)
        for i in range(count):
            distance, gradient = operate(f, w, i)
            best, nearest = nearest_by_trying(f, w, i)
            assert abs(distance) == pytest.approx(best, abs=1e-9)
            np.testing.assert_allclose(f - distance * gradient, nearest, atol=1e-7)
            assert abs(operate(f - distance * gradient, w, i)[0]) < 1e-9


@pytest.mark.parametrize("count", [2, 4, 9])
def test_gradient_is_that_of_the_distance(count):
    rng = np.random.default_rng(count)
    for _ in range(40):
        f, w, i = rng.normal(size=count), rng.uniform(0.2, 5.0, count), int(rng.integers(count))
        distance, gradient = operate(f, w, i)
        step = 1e-6 * rng.normal(size=count)
        change = operate(f + step, w, i)[0] - operate(f - step, w, i)[0]
        assert np.linalg.norm(gradient) == pytest.approx(1.0)
        assert change == pytest.approx(2.0 * gradient @ step, abs=2e-9)
        assert np.sign(distance) == np.sign(value_of(f, w, i))


def test_layers_on_a_line_go_to_their_weighted_means():
    """Where fields are x - a, zero sets are the isotonic regression of a: scipy's, by pooling as well, agrees."""
    rng = np.random.default_rng(3)
    for _ in range(30):
        a, w = rng.normal(size=9), rng.uniform(0.2, 5.0, 9)
        nested = isotonic_regression(a, weights=w).x
        for i in range(9):
            assert value_of(nested[i] - a, w, i) == pytest.approx(0.0, abs=1e-9)
            assert operate(nested[i] - a, w, i)[0] == pytest.approx(0.0, abs=1e-9)


def test_a_rigid_layer_stays_and_pushes():
    """A body of weight 1e6 does not move; the layer over it goes where the body's field is 0."""
    f, w = np.array([-0.03, 0.01]), np.array([1e6, 1.0])
    distance, gradient = operate(f, w, 1)
    assert distance == pytest.approx(-0.03, abs=1e-6)
    assert gradient[0] == pytest.approx(1.0) and abs(gradient[1]) < 1e-5
    assert operate(np.array([0.0, 0.05]), w, 0)[0] == pytest.approx(0.0, abs=1e-6)


def test_on_the_zero_set_the_gradient_is_the_part_s_normal():
    distance, gradient = operate(np.array([-0.5, 0.5]), np.array([1.0, 1.0]), 0)
    assert distance == 0.0
    np.testing.assert_allclose(gradient, np.full(2, np.sqrt(0.5)))
