# SPDX-License-Identifier: GPL-3.0-or-later
"""The explicit methods on problems with a known answer: order, energy, and the step that each can bear.

The observed order is the slope of log(error) over log(h) between two steps: a method of order p has an error of C h^p.
"""

import numpy as np
import pytest
from taffeta.solver.integrate import explicit
from taffeta.solver.integrate.explicit import FEED_SLOWLY, METHODS, MODE_GROWTH, STABLE_REACH, Bounds, march, step_count
from taffeta.solver.model import EXPLICIT

pytestmark = pytest.mark.once

ORDER = {
    "EULER": 1, "SYMPLECTIC_EULER": 1, "HEUN": 2, "MIDPOINT": 2, "RK4": 4, "LEAPFROG": 2, "VERLET": 2, "BEEMAN": 2,
    "GEAR": 5, "THETA": 2, "ADAPTIVE_MIDPOINT": 2, "ADAPTIVE_RK4": 4,
}  # fmt: skip
SYMPLECTIC = "SYMPLECTIC_EULER", "LEAPFROG", "VERLET", "BEEMAN"


def oscillator(x, v, t):
    """x'' = -x: the answer is cos t."""
    return -x


def pendulum(x, v, t):
    """The angle of a pendulum of length g: large swings are not harmonic."""
    return -np.sin(x)


def driven(x, v, t):
    """A damped, driven oscillator: x'' + 0.6 x' + 1.09 x = that of exp(-0.3 t) cos t + sin 2t, which is the answer."""
    return -0.6 * v - 1.09 * x + (1.09 - 4.0) * np.sin(2.0 * t) + 1.2 * np.cos(2.0 * t)


def observed_order(name, acceleration, x0, v0, time, answer, counts):
    errors = []
    for count in counts:
        x, _ = march(name, np.array([x0]), np.array([v0]), acceleration, 0.0, time, count)
        errors.append(abs(x[0] - answer))
    return np.log(errors[0] / errors[1]) / np.log(counts[1] / counts[0])


def pendulum_at(time):
    """The pendulum from rest at 2 rad by Runge-Kutta's method in 20,000 steps, good to 1e-13."""
    return march("RK4", np.array([2.0]), np.array([0.0]), pendulum, 0.0, time, 20_000)[0][0]


PROBLEMS = {
    "oscillator": (oscillator, 1.0, 0.0, np.cos(7.0)),
    "pendulum": (pendulum, 2.0, 0.0, pendulum_at(7.0)),
    "driven": (driven, 1.0, 1.7, np.exp(-2.1) * np.cos(7.0) + np.sin(14.0)),
}


@pytest.fixture
def one_halving(monkeypatch):
    """Adaptive methods take the two halves of each step, however far off: what is left is their order."""
    monkeypatch.setattr(explicit, "STEP_ERROR", np.inf)


def test_every_explicit_choice_has_its_step():
    assert tuple(METHODS) == EXPLICIT == tuple(STABLE_REACH)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", EXPLICIT)
def test_observed_order(name, problem, one_halving):
    """The slope is the order of the textbook, on a spring, on a pendulum and with damping and a force of time."""
    acceleration, x0, v0, answer = PROBLEMS[problem]
    counts = (1600, 3200) if ORDER[name] == 1 else (200, 400)
    slope = observed_order(name, acceleration, x0, v0, 7.0, answer, counts)
    print(f"{name} on the {problem}: {slope:.2f}")
    assert slope == pytest.approx(ORDER[name], abs=0.25 if ORDER[name] < 5 else 0.5)


@pytest.mark.parametrize("name", [name for name in EXPLICIT if ORDER[name] > 1])
def test_order_survives_a_new_start_in_every_substep(name, one_halving):
    """Histories do not outlive a substep: ten of them, ever finer inside, converge at the same order."""
    errors = []
    for count in (20, 40):
        x, v = np.array([2.0]), np.array([0.0])
        for part in range(10):
            x, v = march(name, x, v, pendulum, 0.7 * part, 0.7, count)
        errors.append(abs(x[0] - PROBLEMS["pendulum"][3]))
    assert np.log2(errors[0] / errors[1]) > ORDER[name] - 0.3


@pytest.mark.parametrize("name", SYMPLECTIC)
def test_energy_does_not_drift(name):
    """A symplectic method's energy swings by O(h^p) and stays, over 1,000 periods; Euler's grows by e^(h t).

    Energies are compared at the same phase, as means over the first and the last ten periods.
    """
    x, v, step, past, energies = np.array([1.0]), np.array([0.0]), METHODS[name], None, []
    h = 2 * np.pi / 20
    for number in range(20_000):
        x, v, past = step(x, v, oscillator, number * h, h, past)
        energies.append(0.5 * (x[0] ** 2 + v[0] ** 2))
    first, last = np.mean(energies[:200]), np.mean(energies[-200:])
    print(f"{name}: energy {last / first - 1:+.1e} after 1,000 periods")
    assert last == pytest.approx(first, rel=1e-3)
    assert np.ptp(energies) < 0.4 * first


def test_euler_feeds_the_oscillator_as_on_paper():
    """Each step multiplies the energy by 1 + h^2."""
    h, count = 0.01, 1000
    x, v = march("EULER", np.array([1.0]), np.array([0.0]), oscillator, 0.0, h * count, count)
    assert x[0] ** 2 + v[0] ** 2 == pytest.approx((1 + h * h) ** count, rel=1e-12)


@pytest.mark.parametrize("damping", [0.0, 0.3, 5.0, 100.0])
@pytest.mark.parametrize("name", EXPLICIT)
def test_no_mode_runs_away_at_the_chosen_step(name, damping):
    """Modes of all frequencies and dampings up to the bounds: amplitudes grow by no more than MODE_GROWTH allows.

    A second in substeps of 1/40 s, each started anew. Frequencies up to 20 /s, for which Euler takes steps of 0.5 ms.
    """
    omega, gamma = (
        field.ravel() for field in np.meshgrid(np.linspace(0.02, 1, 40) * 20, np.array([0, 0.5, 1]) * damping)
    )

    def modes(x, v, t):
        return -(omega**2) * x - gamma * v

    count = step_count(name, 1 / 40, Bounds(20.0, damping))
    x, v = np.ones_like(omega), np.zeros_like(omega)
    for _ in range(40 * 5):
        x, v = march(name, x, v, modes, 0.0, 1 / 40, count)
    amplitude = np.hypot(x, v / omega)
    assert amplitude.max() < 1.2 * np.exp(5 * MODE_GROWTH)


@pytest.mark.parametrize("name", [name for name in EXPLICIT if name not in ("EULER", "ADAPTIVE_RK4", *FEED_SLOWLY)])
def test_the_stable_step_is_not_far_too_small(name):
    """At four times the step that STABLE_REACH gives, the stiffest mode does run away."""
    x, v = np.array([1.0]), np.array([0.0])
    for _ in range(40):
        x, v = march(name, x, v, oscillator, 0.0, 80 * STABLE_REACH[name], 20)
    assert not abs(x[0]) < 1e3


def test_stiffer_means_more_steps():
    counts = [step_count("VERLET", 1 / 240, Bounds(frequency, 0.0)) for frequency in (0.0, 1e3, 1e4, 1e5)]
    assert counts == sorted(counts) and counts[0] == 1 and counts[3] == pytest.approx(10 * counts[2], rel=0.05)
    assert step_count("VERLET", 1 / 240, Bounds(1e3, 1e4)) > 10 * counts[1], "damping shortens the step, too"


@pytest.mark.parametrize("name", ["EULER", *FEED_SLOWLY])
def test_viscous_springs_let_a_method_that_feeds_take_long_steps(name):
    """A tenth of critical damping in the fastest mode, and less in slow ones: a part of the steps that without
    it keep growth within MODE_GROWTH; and nothing grows, but for what is not viscous, by that at most.
    """
    frequency = 2000.0
    bounds = Bounds(frequency, 0.2 * frequency, 0.2 / frequency, 20.0)
    count = step_count(name, 1 / 24, bounds)
    assert count < (0.05 if name == "EULER" else 0.2) * step_count(name, 1 / 24, bounds._replace(viscosity=0.0))
    omega = np.concatenate([np.geomspace(1.0, frequency, 60), [20.0]])
    gamma = np.append(bounds.viscosity * omega[:-1] ** 2, 0.0)

    def modes(x, v, t):
        return -(omega**2) * x - gamma * v

    x, v = np.ones_like(omega), np.zeros_like(omega)
    for _ in range(24):
        x, v = march(name, x, v, modes, 0.0, 1 / 24, count)
    amplitude = np.hypot(x, v / omega)  # of a damped mode it swings by half its damping ratio
    assert amplitude[:-1].max() < 1.0 + 1e-4 and amplitude[-1] < 1.2 * np.exp(MODE_GROWTH)


@pytest.mark.parametrize("name", ["ADAPTIVE_MIDPOINT", "ADAPTIVE_RK4"])
def test_adaptive_steps_are_halved_where_the_motion_is_quick(name):
    """A jolt of a millisecond in a step of 20 ms: as good as its tolerance, where fixed steps miss it."""

    def jolt(x, v, t):
        return np.where(abs(t - 0.0104) < 0.0005, 1000.0 * np.cos((t - 0.0104) * np.pi / 0.001) ** 2, 0.0) + 0.0 * x

    exact = march("RK4", np.zeros(1), np.zeros(1), jolt, 0.0, 0.02, 20_000)[0][0]
    plain = march(name.removeprefix("ADAPTIVE_"), np.zeros(1), np.zeros(1), jolt, 0.0, 0.02, 1)[0][0]
    found = march(name, np.zeros(1), np.zeros(1), jolt, 0.0, 0.02, 1)[0][0]
    assert abs(plain - exact) > 1e-3 > 20 * explicit.STEP_ERROR > abs(found - exact)
