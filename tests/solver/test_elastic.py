# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs, hinges and air: forces against finite differences of energies, matrices against forces, the air's twin."""

import naive
import numba
import numpy as np
import pytest
from taffeta.solver.build import HINGE_FIELDS, SPRING_FIELDS, build
from taffeta.solver.elastic import external
from taffeta.solver.elastic.springs import lengthen
from taffeta.solver.integrate.rows import lay_out, linearise_rows, measure_springs, multiply_rows, turn_hinges
from taffeta.solver.model import Settings

DT = 1 / 720


@numba.njit
def _fill(rows, x, gone, rate, longer, link, side, turns, p, odd, mass, far_row, r, q, block, bend):
    count = len(x)
    lengthen(0, len(rows.edges), x, rows.edges, rows.spring, longer)
    measure_springs(0, len(rows.edges), rows, x, gone, rate, 0.0, longer, link, side)
    turn_hinges(0, len(rows.hinge), rows, x, gone, rate, turns)
    linearise_rows(0, count, rows, x, link, side, turns, p, odd, mass, rate, far_row, r, q, block, bend)


@numba.njit
def _times(rows, mass, link, far_row, p, q):
    multiply_rows(0, len(p), rows, mass, link, far_row, p, q)


def by_slot(rows, vectors):
    """(n, 3) vectors of particles as the solve has them, (n, 4) of slots."""
    return np.pad(vectors[rows.order], ((0, 0), (0, 1)))


def only(cloth, fields):
    """The cloth with springs alone or with hinges alone."""
    others = HINGE_FIELDS if fields is SPRING_FIELDS else SPRING_FIELDS
    cloth = cloth._replace(**{field: getattr(cloth, field)[:0] for field in others})
    if others is SPRING_FIELDS:
        return naive.uncoupled(cloth)
    return cloth._replace(rows=lay_out(cloth))


def linearised(cloth, x, x_prev=None):
    """Forces of springs and of hinges, (n, 3) [N] each, and the function p -> K p."""
    x_prev = x if x_prev is None else x_prev
    pull, turn = (_filled(only(cloth, fields), x, x_prev)[0] for fields in (SPRING_FIELDS, HINGE_FIELDS))
    return pull, turn, _filled(cloth, x, x_prev)[1]


def _filled(cloth, x, x_prev):
    rows, count = lay_out(cloth), len(x)
    force, massless = np.zeros((count, 4)), np.zeros(count)
    springs, hinges, far_row = len(rows.edges), len(rows.hinge), np.empty(len(rows.far))
    longer, link, side, turns = np.empty(springs), np.empty((springs, 4)), np.empty((springs, 2)), np.empty((hinges, 4))
    _fill(rows, by_slot(rows, x), by_slot(rows, x - x_prev), 1 / DT, longer, link, side, turns, np.zeros((count, 4)),
          np.zeros(count, bool), massless, far_row, force, np.empty((count, 4)), np.empty((3 * count, 4)), np.empty(count))  # fmt: skip

    def times(p):
        q = np.zeros((count, 4))
        _times(rows, massless, link, far_row, by_slot(rows, p), q)
        return q[rows.slot, :3]

    return force[rows.slot, :3], times


def slope(energy, x, direction, step=1e-7):
    return (energy(x + step * direction) - energy(x - step * direction)) / (2 * step)


def crumpled(diagonals="same", bent_rest=False, seed=3, **changes):
    """A built sheet and positions and velocities far from rest."""
    rng = np.random.default_rng(seed)
    garment = naive.sheet(8, 7, 0.4, 0.3, diagonals, **changes)
    if bent_rest:
        garment = garment._replace(x=garment.x + rng.normal(size=garment.x.shape) * 0.02)
    cloth, state = build([garment], Settings())
    x = state.x + rng.normal(size=state.x.shape) * 0.02
    return cloth, x, rng.normal(size=x.shape)


def momenta(cloth, x, v):
    return cloth.mass @ v, (cloth.mass[:, None] * np.cross(x, v)).sum(axis=0)


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
        hinge = slope(lambda y: naive.bending_energy(cloth, y), x, direction)
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
    # Rest angles under FLAT count as flat, hence not rounding alone.
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


@pytest.mark.parametrize("lift", [0.0, 0.4])
def test_air_equals_the_plain_twin(lift):
    cloth, x, v = crumpled(pin=np.arange(56) < 5)
    wind = np.array([3.0, -2.0, 8.0])
    expected = naive.blow(x, v, cloth.inv_mass, cloth.triangles, wind, 0.7, lift, 0.02)
    external.blow(x, v, cloth.inv_mass, cloth.triangles, *wind, 0.7, lift, 0.02)
    assert np.abs(v - expected).max() < 1e-12


def test_a_storm_does_not_overshoot():
    """Light cloth in 300 m/s of wind, steps as long as frames: the energy of its motion against the air only falls."""
    cloth, state = build([naive.sheet(6, 6, mass=0.01)], Settings())
    v = np.zeros_like(state.x)
    wind = np.array([0.0, 0.0, 300.0])
    energies = [cloth.mass.sum() * 300.0**2]
    for _ in range(20):
        external.blow(state.x, v, cloth.inv_mass, cloth.triangles, *wind, 0.735, 0.0, 1 / 24)
        energies.append(cloth.mass @ ((v - wind) ** 2).sum(axis=1))
    assert (np.diff(energies) < 0).all() and energies[-1] < 1e-3 * energies[0]


def test_lift_is_across_the_wind():
    x = np.array([[0, 0, 0], [1, 0, 0.5], [0, 1, 0]], float)
    cloth, _ = build([naive.garment(x, [[0, 1, 2]])], Settings())
    v = np.zeros((3, 3))
    external.blow(cloth.x_rest, v, cloth.inv_mass, cloth.triangles, 0.0, 0.0, 5.0, 0.0, 0.6, 1e-3)
    assert abs(v[0, 2]) < 1e-12 < abs(v[0, 0])
