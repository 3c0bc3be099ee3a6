# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs and hinges: forces against finite differences of energies, matrices against forces."""

import naive
import numpy as np
import pytest
from linearised import linearised, slope
from taffeta.solver.build import build
from taffeta.solver.model import Settings

DT = 1 / 720


def crumpled(diagonals="same", bent_rest=False, seed=3, **changes):
    """A built sheet and positions and velocities far from rest."""
    rng = np.random.default_rng(seed)
    garment = naive.sheet(8, 7, 0.4, 0.3, diagonals, **changes)
    if bent_rest:
        garment = garment._replace(x=garment.x + rng.normal(size=garment.x.shape) * 0.02)
    cloth, state = build([garment], Settings())
    x = state.x + rng.normal(size=state.x.shape) * 0.02
    return cloth, x, rng.normal(size=x.shape)


@pytest.mark.parametrize("bent_rest", [False, True])
@pytest.mark.parametrize("diagonals", ["same", "none"])
def test_forces_are_the_slopes_of_the_energies(diagonals, bent_rest):
    cloth, x, _ = crumpled(diagonals, bent_rest, bending_stiffness=1e-2)
    if bent_rest:  # so near that no hinge folds to its other side, which the plain energy does not tell
        x = cloth.x_rest + np.random.default_rng(1).normal(size=x.shape) * 1e-6
    assert (cloth.rest_angle != 0).any() == bent_rest
    pull, turn, _ = linearised(cloth, x)
    for seed in range(3):
        direction = np.random.default_rng(seed).normal(size=x.shape)
        spring = slope(lambda y: naive.spring_energy(cloth, y), x, direction)
        assert -(pull * direction).sum() == pytest.approx(spring, rel=1e-5)
        hinge = slope(lambda y: naive.bending_energy(cloth, y), x, direction, 1e-8)  # some bend vectors are short
        assert -(turn * direction).sum() == pytest.approx(hinge, rel=1e-5)


def test_the_matrix_is_the_slope_of_the_forces_in_tension():
    """Springs that are not coupled, longer than at rest, hinges flat at rest: K p is minus the force's change, exactly."""
    cloth, x, _ = crumpled()
    cloth = naive.uncoupled(cloth)
    x = 1.8 * cloth.x_rest + 0.1 * (x - cloth.x_rest)
    assert (np.linalg.norm(x[cloth.edges[:, 1]] - x[cloth.edges[:, 0]], axis=1) > cloth.rest_length).all()
    p = np.random.default_rng(1).normal(size=x.shape)
    ahead, behind = (sum(linearised(cloth, x + side * 1e-6 * p)[:2]) for side in (1, -1))
    undamped = cloth._replace(edge_damping=0 * cloth.edge_damping, bend_damping=0 * cloth.bend_damping)
    assert np.allclose(linearised(undamped, x)[2](p), (behind - ahead) / 2e-6, rtol=1e-5, atol=1e-5 * abs(p).max())


@pytest.mark.parametrize("bent_rest", [False, True])
def test_the_matrix_is_symmetric_and_never_negative(bent_rest):
    cloth, x, _ = crumpled("none", bent_rest, damping=30.0, bending_stiffness=1e-2)
    times = linearised(cloth, x)[2]
    columns = [times(unit.reshape(x.shape)).ravel() for unit in np.eye(x.size)]
    matrix = np.array(columns)
    assert np.abs(matrix - matrix.T).max() < 1e-12 * np.abs(matrix).max()
    assert np.linalg.eigvalsh(matrix).min() > -1e-9 * np.abs(matrix).max()


def test_a_flat_hinge_with_a_bent_rest_folds_to_its_side():
    """At L = 0 the bend vector has no direction; the hinge's normal gives it one."""
    garment = naive.sheet(2, 3, diagonals="none", bending_stiffness=1e6)
    bent = garment.x.copy()
    bent[:, 2] = [0.3, 0, 0.3, 0.3, 0, 0.3]
    cloth, _ = build([garment._replace(x=bent)], Settings())
    turn = linearised(cloth, garment.x - cloth.origin)[1]
    assert turn[[0, 2, 3, 5], 2].mean() > 1.0 > -1.0 > turn[[1, 4], 2].mean()


def test_a_bent_rest_shape_is_at_rest():
    cloth, _, _ = crumpled("same", bent_rest=True)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    pull, push, _ = linearised(cloth, cloth.x_rest @ turn.T)
    moved = linearised(cloth, cloth.x_rest @ turn.T + np.random.default_rng(0).normal(size=cloth.x_rest.shape) * 1e-3)
    assert np.abs(pull).max() < 1e-9 * np.abs(moved[0]).max()
    # Rest angles under FLAT_ANGLE count as flat, hence not rounding alone.
    assert np.abs(push).max() < 1e-2 * np.abs(moved[1]).max()


def test_damping_and_elastic_forces_keep_momentum_and_angular_momentum():
    cloth, x, v = crumpled(damping=50.0, bent_rest=True)
    for force in linearised(cloth, x, x - DT * v)[:2]:
        size = np.abs(force).max()
        assert np.abs(force.sum(axis=0)).max() < 1e-12 * size
        assert np.abs(np.cross(x, force).sum(axis=0)).max() < 1e-12 * size


@pytest.mark.parametrize("rate", [0.0, 5.0])
def test_damping_slows_the_ends_of_a_spring_at_its_rate(rate):
    """Two particles that part at 1 m/s are held back by rate x their reduced mass."""
    cloth, _ = build([naive.garment(np.eye(3), [[0, 1, 2]], damping=rate)], Settings())
    x, v = cloth.x_rest.copy(), np.zeros((3, 3))
    i, j = cloth.edges[0]
    direction = (x[j] - x[i]) / np.linalg.norm(x[j] - x[i])
    v[j] = 1e-9 * direction
    pull = linearised(cloth, x, x - DT * v)[0]
    reduced = 1 / (cloth.inv_mass[i] + cloth.inv_mass[j])
    others = [e for e in range(3) if e != 0 and j in cloth.edges[e]]
    expected = -rate * reduced * direction
    for e in others:
        k = cloth.edges[e][cloth.edges[e] != j][0]
        along = (x[j] - x[k]) / np.linalg.norm(x[j] - x[k])
        expected -= rate / (cloth.inv_mass[j] + cloth.inv_mass[k]) * (direction @ along) * along
    assert np.allclose(pull[j] * 1e9, expected, atol=1e-5 * max(rate, 1.0))
