# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs, hinges, tethers and air: each compiled kernel against its plain twin, and against conservation laws."""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.elastic import bending, external, springs, tethers
from taffeta.solver.integrate import xpbd
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


def momenta(cloth, x, v):
    return cloth.mass @ v, (cloth.mass[:, None] * np.cross(x, v)).sum(axis=0)


@pytest.mark.parametrize("diagonals", ["same", "none"])
def test_springs_equal_the_plain_twin(diagonals):
    cloth, x, _ = crumpled(diagonals, pin=np.arange(56) < 7)
    expected = naive.project_springs(x, cloth.inv_mass, cloth.edges, cloth.rest_length, cloth.edge_compliance, DT)
    scales = xpbd.prepare_scales(cloth, DT, DT)
    springs.project_springs(x, cloth.inv_mass, cloth.edges, cloth.rest_length, scales.edge, 0, len(cloth.edges))
    assert np.abs(x - expected).max() < 1e-13


@pytest.mark.parametrize("bent_rest", [False, True])
@pytest.mark.parametrize("diagonals", ["same", "none"])
def test_hinges_equal_the_plain_twin(diagonals, bent_rest):
    cloth, x, _ = crumpled(diagonals, bent_rest, bending_stiffness=1e-2)
    assert (cloth.rest_angle != 0).any() == bent_rest
    arrays = cloth.bend_stencils, cloth.bend_weight
    expected = naive.project_bending(x, cloth.inv_mass, *arrays, cloth.rest_angle, cloth.bend_compliance, DT)
    before = x.copy()
    scales = xpbd.prepare_scales(cloth, DT, DT)
    bending.project_bending(x, *arrays, scales.rest_bend, scales.bend, 0, len(cloth.bend_stencils))
    assert np.abs(x - expected).max() < 1e-13 < np.abs(x - before).max()


def test_a_flat_hinge_with_a_bent_rest_starts_to_fold_to_its_side():
    """At L = 0 the bend vector has no direction; the hinge's normal gives it one."""
    garment = naive.sheet(2, 3, diagonals="none", bending_stiffness=1e6)
    bent = garment.x.copy()
    bent[:, 2] = [0.3, 0, 0.3, 0.3, 0, 0.3]
    cloth, _ = build([garment._replace(x=bent)], Settings())
    flat = garment.x - cloth.origin
    scales = xpbd.prepare_scales(cloth, DT, DT)
    arrays = cloth.bend_stencils, cloth.bend_weight, scales.rest_bend, scales.bend
    for sweeps, fold in ((1, 1e-3), (50, 0.05)):
        for _ in range(sweeps):
            bending.project_bending(flat, *arrays, 0, len(cloth.bend_stencils))
        assert flat[[0, 2, 3, 5], 2].mean() - flat[[1, 4], 2].mean() > fold


def test_a_bent_rest_shape_is_at_rest():
    cloth, _, _ = crumpled("same", bent_rest=True)
    x, scales = cloth.x_rest.copy(), xpbd.prepare_scales(cloth, DT, DT)
    arrays = cloth.bend_stencils, cloth.bend_weight, scales.rest_bend, scales.bend
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    x = x @ turn.T
    before = x.copy()
    bending.project_bending(x, *arrays, 0, len(cloth.bend_stencils))
    # Rest angles under FLAT count as flat, hence not rounding alone.
    assert np.abs(x - before).max() < 1e-6


@pytest.mark.parametrize("kernel", ["springs", "hinges"])
def test_damping_keeps_momentum_and_angular_momentum(kernel):
    cloth, x, v = crumpled(damping=50.0)
    scales = xpbd.prepare_scales(cloth, DT, 3 * DT)
    before, energy = momenta(cloth, x, v), cloth.mass @ (v**2).sum(axis=1)
    if kernel == "springs":
        springs.damp_springs(x, v, cloth.inv_mass, cloth.edges, scales.edge_share, 0, len(cloth.edges))
    else:
        arrays = cloth.bend_stencils, cloth.bend_weight, scales.bend, scales.bend_share
        bending.damp_bending(x, v, *arrays, 0, len(cloth.bend_stencils))
    after = momenta(cloth, x, v)
    assert np.abs(after[0] - before[0]).max() < 1e-15 and np.abs(after[1] - before[1]).max() < 1e-15
    assert cloth.mass @ (v**2).sum(axis=1) < 0.98 * energy


def test_projections_keep_momentum_and_angular_momentum():
    """Positions move as velocities would: sum m dx and sum m x cross dx are zero for each projection."""
    cloth, x, _ = crumpled(bent_rest=True, bending_stiffness=1e-2)
    scales = xpbd.prepare_scales(cloth, DT, DT)
    hinges = cloth.bend_stencils, cloth.bend_weight, scales.rest_bend, scales.bend
    for h in range(0, len(cloth.bend_stencils), 7):
        old = x.copy()
        bending.project_bending(x, *hinges, h, h + 1)
        assert np.abs(momenta(cloth, old, x - old)).max() < 1e-16 < np.abs(x - old).max()
    for e in range(0, len(cloth.edges), 7):
        old = x.copy()
        springs.project_springs(x, cloth.inv_mass, cloth.edges, cloth.rest_length, scales.edge, e, e + 1)
        assert np.abs(momenta(cloth, old, x - old)).max() < 1e-16 < np.abs(x - old).max()


@pytest.mark.parametrize("rate", [0.0, 1.0, 1e6])
def test_a_damped_spring_loses_its_rate_and_never_turns_round(rate):
    """Two particles moving apart at 1 m/s keep exp(-rate dt) of it."""
    cloth, _ = build([naive.garment(np.eye(3), [[0, 1, 2]], damping=rate)], Settings())
    scales = xpbd.prepare_scales(cloth, DT, 0.5)
    x, v = cloth.x_rest.copy(), np.zeros((3, 3))
    i, j = cloth.edges[0]
    direction = (x[j] - x[i]) / np.linalg.norm(x[j] - x[i])
    v[j] = direction
    springs.damp_springs(x, v, cloth.inv_mass, cloth.edges, scales.edge_share, 0, 1)
    assert (v[j] - v[i]) @ direction == pytest.approx(np.exp(-0.5 * rate), abs=1e-12)


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


def test_random_force_depends_on_its_counters_alone():
    numbers = {(s, f, k, a): external.uniform(s, f, k, a) for s in (0, 1) for f in range(-2, 20) for k in range(30)
               for a in range(3)}  # fmt: skip
    values = np.array(list(numbers.values()))
    assert ((values >= 0) & (values < 1)).all() and len(set(values)) == len(values)
    assert values.mean() == pytest.approx(0.5, abs=0.02) and values.std() == pytest.approx(12**-0.5, abs=0.02)
    assert external.uniform(1, 2, 3, 0) == numbers[1, 2, 3, 0]
    settings = Settings(random_force_min=(-1, 0, 2), random_force_max=(1, 0, 5), constant_force=(0, 0, 10.0))
    pushes = np.array([external.acceleration((0, 0, -9.81), settings, 1, k) for k in range(500)])
    assert np.abs(pushes[:, 0]).max() <= 1 and pushes[:, 0].std() > 0.5 and (pushes[:, 1] == 0).all()
    assert 2.19 <= pushes[:, 2].min() < 2.3 and 5.1 < pushes[:, 2].max() <= 5.19


def test_tethers_reach_as_far_as_the_cloth():
    """On a flat sheet the way to a corner is the straight line, and the slack comes on top."""
    garment = naive.sheet(21, 21, pin=np.arange(441) == 0)
    cloth, _ = build([garment], Settings())
    assert len(cloth.tethers) == 440 and (cloth.tethers[:, 1] == 0).all()
    straight = np.linalg.norm(garment.x[cloth.tethers[:, 0]], axis=1)
    cloth_length = np.sqrt(2)
    slack = 1 + tethers.LEAST_SLACK + tethers.LOADS * 9.81 * 0.15 * cloth_length / 2000
    assert np.allclose(cloth.tether_length, straight * slack, rtol=1e-6)


def test_tethers_go_to_the_nearest_pin_of_each_group_in_the_same_piece():
    """Pins 0 and 1 hang together, pin 24 is alone; the second garment has none."""
    first, second = naive.sheet(5, 5, pin=np.isin(np.arange(25), [0, 1, 24])), naive.sheet(4, 4)
    cloth, _ = build([first, second], Settings())
    tethers = set(map(tuple, cloth.tethers.tolist()))
    assert len(tethers) == 44 and cloth.tethers.max() < 25
    assert {(2, 1), (2, 24), (5, 0), (5, 24)} <= tethers and (2, 0) not in tethers


def test_many_pins_do_not_mean_many_tethers():
    """Hooks along a curtain: each particle hangs on a few, the nearest among them."""
    garment = naive.sheet(41, 5, 4.0, 0.4, pin=np.arange(205) % 10 == 4)
    cloth, _ = build([garment], Settings())
    hooks = np.flatnonzero(garment.pin)
    assert len(hooks) > 10 and len(cloth.tethers) == tethers.GROUPS * (205 - len(hooks))
    for particle in (0, 77, 200):
        nearest = hooks[np.linalg.norm(garment.x[hooks] - garment.x[particle], axis=1).argmin()]
        assert nearest in cloth.tethers[cloth.tethers[:, 0] == particle, 1]


def test_tethers_go_round_a_bend():
    """A cylinder's rest shape does not tie its far side through the hole."""
    angle = np.linspace(0, np.pi, 41)
    garment = naive.sheet(41, 3, pin=np.arange(123) < 3)
    x = np.stack([np.cos(angle).repeat(3), np.tile([0, 0.05, 0.1], 41), np.sin(angle).repeat(3)], axis=1)
    cloth, _ = build([garment._replace(x=x)], Settings())
    slack = 1 + tethers.LEAST_SLACK + tethers.LOADS * 9.81 * 0.15 * np.pi / 2000
    across = angle[cloth.tethers[:, 0] // 3]
    assert (cloth.tether_length >= 0.999 * across * slack).all() and cloth.tether_length.max() < 1.02 * np.pi * slack


def test_tethers_only_pull():
    x = np.array([[0, 0, 0], [3.0, 0, 0], [0, 0.5, 0]])
    tethers.project_tethers(x, np.array([[1, 0], [2, 0]], np.int32), np.array([1.0, 1.0]))
    assert np.allclose(x, [[0, 0, 0], [1, 0, 0], [0, 0.5, 0]])
