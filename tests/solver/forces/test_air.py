# SPDX-License-Identifier: GPL-3.0-or-later
"""Air on cloth: against its plain twin, in a storm, and lift on its own."""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.forces import air
from taffeta.solver.model import Settings


@pytest.mark.parametrize("lift", [0.0, 0.4])
def test_air_equals_the_plain_twin(lift):
    rng = np.random.default_rng(3)
    cloth, state = build([naive.sheet(8, 7, 0.4, 0.3, pin=np.arange(56) < 5)], Settings())
    x, v = state.x + rng.normal(size=state.x.shape) * 0.02, rng.normal(size=state.x.shape)
    wind = np.array([3.0, -2.0, 8.0])
    expected = naive.blow(x, v, cloth.inv_mass, cloth.triangles, wind, 0.7, lift, 0.02)
    air.blow(x, v, cloth.inv_mass, cloth.triangles, *wind, 0.7, lift, 0.02)
    assert np.abs(v - expected).max() < 1e-12


def test_a_storm_does_not_overshoot():
    """Light cloth in 300 m/s of wind, steps as long as frames: the energy of its motion against the air only falls."""
    cloth, state = build([naive.sheet(6, 6, mass=0.01)], Settings())
    v = np.zeros_like(state.x)
    wind = np.array([0.0, 0.0, 300.0])
    energies = [cloth.mass.sum() * 300.0**2]
    for _ in range(20):
        air.blow(state.x, v, cloth.inv_mass, cloth.triangles, *wind, 0.735, 0.0, 1 / 24)
        energies.append(cloth.mass @ ((v - wind) ** 2).sum(axis=1))
    assert (np.diff(energies) < 0).all() and energies[-1] < 1e-3 * energies[0]


def test_lift_is_across_the_wind():
    x = np.array([[0, 0, 0], [1, 0, 0.5], [0, 1, 0]], float)
    cloth, _ = build([naive.garment(x, [[0, 1, 2]])], Settings())
    v = np.zeros((3, 3))
    air.blow(cloth.x_rest, v, cloth.inv_mass, cloth.triangles, 0.0, 0.0, 5.0, 0.0, 0.6, 1e-3)
    assert abs(v[0, 2]) < 1e-12 < abs(v[0, 0])
