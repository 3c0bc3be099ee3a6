# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole step against closed forms: what falls, swings, stretches, bends and drifts must do so as on paper."""

import naive
import numpy as np
import pytest
import strips
from taffeta.solver.build import build
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

pytestmark = pytest.mark.once

G = 9.81
VACUUM = Settings(air_drag=0.0, sleep_speed=0.0)


def start(garment, settings=VACUUM):
    cloth, state = build([garment], settings)
    return cloth, state, state.x + cloth.origin


def momenta(cloth, state):
    return cloth.mass @ state.v, (cloth.mass[:, None] * np.cross(state.x, state.v)).sum(axis=0)


def to_rest(cloth, state, frame_input, settings, frames=400):
    """Frames until nothing moves; velocities are cut by a fifth each frame, which leaves equilibrium where it is."""
    for frame in range(frames):
        before = state.x.copy()
        advance(cloth, state, frame_input, frame, settings)
        state.v[:] *= 0.8
        if frame > 20 and np.abs(state.x - before).max() < 2e-6:
            return frame
    return frames


def test_free_fall():
    """z = -g t^2 / 2 up to the integrator's order: symplectic Euler is g t dt / 2 too low."""
    for substeps in (10, 40):
        settings = VACUUM._replace(substeps=substeps)
        cloth, state, target = start(naive.sheet(5, 5), settings)
        for frame in range(24):
            advance(cloth, state, naive.still(target), frame, settings)
        fallen = state.x[:, 2] + 0.5 * G
        assert np.allclose(fallen, -0.5 * G / (24 * substeps), rtol=1e-6)
        assert np.allclose(state.v[:, 2], -G)


@pytest.mark.parametrize("diagonals", ["same", "none"])
def test_a_free_sheet_keeps_momentum_and_angular_momentum(diagonals):
    """Spinning, crumpling, damped: internal forces change neither, to rounding."""
    rng = np.random.default_rng(2)
    garment = naive.sheet(9, 8, diagonals=diagonals, damping=20.0, bending_stiffness=1e-3)
    garment = garment._replace(x=garment.x + rng.normal(size=garment.x.shape) * 0.01)
    cloth, state, target = start(garment)
    state.v[:] = rng.normal(size=state.v.shape) * 0.5 + np.cross([3.0, 1.0, -2.0], state.x) + [1, 2, 3]
    before, energy = momenta(cloth, state), cloth.mass @ (state.v**2).sum(axis=1)
    for frame in range(24):
        advance(cloth, state, naive.still(target, gravity=(0, 0, 0)), frame, VACUUM)
    after = momenta(cloth, state)
    for one, other in zip(before, after, strict=True):
        assert np.abs(other - one).max() < 1e-11 * np.linalg.norm(one)
    assert cloth.mass @ (state.v**2).sum(axis=1) < 0.99 * energy, "damping takes energy"


def test_each_free_garment_keeps_its_own_angular_momentum():
    """A second garment on a pin does not take part, a third spins the other way."""
    rng = np.random.default_rng(6)
    garments = [naive.sheet(6, 5), naive.sheet(4, 4, pin=np.arange(16) < 4), naive.sheet(5, 7)]
    garments = [garment._replace(x_start=garment.x + [0, 0, 5.0 * k]) for k, garment in enumerate(garments)]
    cloth, state = build(garments, VACUUM)
    state.v[:] = rng.normal(size=state.v.shape) * 0.3

    def spins():
        moments = cloth.mass[:, None] * np.cross(state.x, state.v)
        return np.stack([np.bincount(cloth.garment, column) for column in moments.T], axis=1)

    before = spins()
    for frame in range(12):
        advance(cloth, state, naive.still(state.x + cloth.origin, gravity=(0, 0, 0)), frame, VACUUM)
    after = spins()
    assert np.abs(after - before)[[0, 2]].max() < 1e-12 < np.abs(after - before)[1].max()


@pytest.mark.parametrize("damping", [0.0, 5.0])
def test_energy_never_grows_undriven(damping):
    """Kinetic and elastic energy of a crumpling free sheet, frame by frame."""
    rng = np.random.default_rng(4)
    cloth, state, target = start(naive.sheet(9, 9, damping=damping))
    state.v[:] = rng.normal(size=state.v.shape)
    energies = []
    for frame in range(30):
        advance(cloth, state, naive.still(target, gravity=(0, 0, 0)), frame, VACUUM)
        elastic = naive.spring_energy(cloth, state.x) + naive.bending_energy(cloth, state.x)
        energies.append(0.5 * cloth.mass @ (state.v**2).sum(axis=1) + elastic)
    assert (np.diff(energies) < 0.01 * energies[0]).all()
    assert energies[-1] < energies[0]


def test_spring_period():
    """A particle on a spring, T = 2 pi sqrt(m / k): ten crossings of the middle."""
    garment = naive.garment(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, -1]], [[0, 1, 2]], edges=[[0, 1], [1, 2], [0, 2], [0, 3]],
        pin=[1, 1, 1, 0], stretch_stiffness=50.0, damping=0.0,
    )  # fmt: skip
    settings = VACUUM._replace(substeps=100)
    cloth, state, target = start(garment, settings)
    period = 2 * np.pi * np.sqrt(cloth.mass[3] / 50.0)
    state.x[3, 2] -= 0.1
    rate, heights = 400, []
    for frame in range(int(6 * period * rate)):
        advance(cloth, state, naive.still(target, gravity=(0, 0, 0), duration=1 / rate), frame, settings)
        heights.append(state.x[3, 2] + cloth.origin[2] + 1)
    turns = np.flatnonzero(np.diff(np.sign(heights)) > 0)
    assert np.diff(turns).mean() / rate == pytest.approx(period, rel=0.01)


@pytest.mark.parametrize(("time", "mass"), [(0.2, 0.015), (0.5, 0.15), (0.5, 0.3)])
def test_a_bend_goes_back_by_its_retardation_time(time, mass):
    """A hinge with one free corner, let go at 20 degrees: m a'' + k (time a' + a) / h^2 = 0, whose slower root decides; nearly
    exp(-t / time) for what is as stiff as here, in whatever weight.
    """
    corners = [[0, 0, 0], [1, 0, 0], [0.5, -1, 0], [0.5, np.cos(np.pi / 9), np.sin(np.pi / 9)]]
    garment = naive.garment(
        [*corners[:3], [0.5, 1, 0]], [[0, 1, 3], [1, 0, 2]], mass=mass, pin=[1, 1, 1, 0], bending_stiffness=10.0, stretch_stiffness=1e4,
        damping=0.0, bending_damping=time,
    )  # fmt: skip
    settings = VACUUM._replace(substeps=40)
    cloth, state, target = start(garment._replace(x_start=np.array(corners)), settings)
    square = 10.0 / cloth.mass[3]
    rate = 0.5 * time * square - np.sqrt((0.5 * time * square) ** 2 - square)
    heights = []
    for frame in range(12):
        advance(cloth, state, naive.still(target, gravity=(0, 0, 0)), frame, settings)
        heights.append(state.x[3, 2] + cloth.origin[2])
    found = 24 * np.log(heights[3] / heights[11]) / 8
    print(f"{found:.3f} 1/s, {rate:.3f} on paper")
    assert found == pytest.approx(rate, rel=0.03)


@pytest.mark.parametrize(("degrees", "slower"), [(10, 1.00191), (60, 1.07318), (90, 1.18034)])
def test_pendulum_period(degrees, slower):
    """A ball on a thread of 1 m: T = 2.00607 s times the elliptic integral's factor.

    A wide swing loses height: each substep goes along the chord of its arc. Hence substeps of 1/720 s.
    """
    angle = np.radians(degrees)
    garment = naive.garment(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [np.sin(angle), 0, -np.cos(angle)]], [[0, 1, 2]],
        edges=[[0, 1], [1, 2], [0, 2], [0, 3]], pin=[1, 1, 1, 0], stretch_stiffness=1e5, damping=0.0,
    )  # fmt: skip
    settings = VACUUM._replace(substeps=30)
    cloth, state, target = start(garment, settings)
    rate, places = 240, []
    for frame in range(int(2.3 * slower * rate)):
        advance(cloth, state, naive.still(target, duration=1 / rate), frame, settings)
        places.append(state.x[3, 0] + cloth.origin[0])
    crossing = [k + places[k] / (places[k] - places[k + 1]) for k in np.flatnonzero(np.diff(np.sign(places)))]
    assert (crossing[1] - crossing[0]) * 2 / rate == pytest.approx(2.00607 * slower, rel=2e-3 if degrees < 90 else 1e-2)


@pytest.mark.parametrize(("damping", "substeps", "tolerance"), [(0.0, 10, 5e-3), (100.0, 10, 5e-3), (0.0, 60, 5e-3)])
def test_hanging_strip_stretches_by_its_weight(damping, substeps, tolerance):
    """Extension sigma g L^2 / 2 k of a strip of 12 elements, whatever the damping and the substeps."""
    stretch, sigma = 60.0, 0.2
    pin = np.arange(39) % 13 == 12
    garment = naive.sheet(
        3, 13, 0.1, 1.0, pin=pin, stretch_stiffness=stretch, mass=sigma, shear_stiffness=0.0, damping=damping
    )
    settings = VACUUM._replace(substeps=substeps)
    cloth, state, target = start(garment, settings)
    to_rest(cloth, state, naive.still(target, gravity=(0, -G, 0)), settings)
    low = state.x[[0, 13, 26], 1] + cloth.origin[1]
    assert np.allclose(-low, sigma * G / (2 * stretch), rtol=tolerance)
    top = (target[12] - state.x[11] - cloth.origin)[1] * 12 - 1
    assert top == pytest.approx(sigma * G / stretch * (1 - 0.5 / 12), rel=tolerance)


@pytest.mark.parametrize("corners", [False, True])
def test_cotton_hardly_stretches(corners):
    """A hanging sheet of 35 x 35, K = 2000 N/m: under 5 % or 1 % at any edge and frame, with the default substeps."""
    count = 35
    index = np.arange(count * count)
    pin = np.isin(index, [count - 1, count * count - 1]) if corners else index % count == count - 1
    garment = naive.sheet(count, count, pin=pin)
    rng = np.random.default_rng(0)
    garment = garment._replace(x_start=garment.x + rng.normal(size=garment.x.shape) * [0, 0, 1e-4])
    cloth, state, _ = start(garment)
    worst = [
        advance(cloth, state, naive.still(garment.x, gravity=(0, -G, 0)), frame, VACUUM).worst_stretch
        for frame in range(48)
    ]
    print(f"worst stretch {max(worst):.4f}, at the end {worst[-1]:.4f}")
    assert max(worst) < (0.05 if corners else 0.01)


@pytest.mark.parametrize(("gamma", "ratio", "reach"), [(3, 0.3646, 0.9315), (10, 1.0668, 0.6564), (30, 2.5472, 0.3428)])
@pytest.mark.parametrize("diagonals", ["same", "alternating"])
def test_cantilever(gamma, ratio, reach, diagonals):
    """Heavy elastica, Gamma = sigma g L^3 / B: drop over reach and reach over length of the tip.

    Two columns are held; the hinge on the second one bends as half a cell would on each side of it, so the clamp is
    half a cell out.
    """
    found, reached = strips.cantilever(gamma, 12, diagonals)
    print(f"Gamma {gamma} {diagonals}: H/W {found:.4f} ({ratio}), W/L {reached:.4f} ({reach})")
    assert found == pytest.approx(ratio, rel=0.04)
    assert reached == pytest.approx(reach, rel=0.02)


@pytest.mark.parametrize("sigma", [0.06, 0.15, 0.3])
def test_terminal_velocity(sigma):
    """Broadside fall: v = sqrt(2 sigma g / (rho Cd)); stiff cloth, so that it stays broadside.

    The air sees the velocity before gravity's last substep, so v is g dt / 2 too high: hence small substeps.
    """
    settings = Settings(substeps=60)
    garment = naive.sheet(4, 4, mass=sigma, bending_stiffness=10.0, stretch_stiffness=1e4, shear_stiffness=1e4)
    cloth, state, target = start(garment, settings)
    heights = []
    for frame in range(72):
        advance(cloth, state, naive.still(target), frame, settings)
        heights.append(cloth.mass @ state.x[:, 2] / cloth.mass.sum())
    expected = np.sqrt(2 * sigma * G / (settings.air_density * settings.air_drag))
    assert 24 * (heights[-2] - heights[-1]) == pytest.approx(expected, rel=0.01)


def test_wind_carries_cloth_along():
    """Without gravity a free sheet ends up at the speed of the air that pushes it."""
    settings = Settings()
    cloth, state, target = start(naive.sheet(5, 5, mass=0.05), settings)
    for frame in range(120):
        advance(cloth, state, naive.still(target, gravity=(0, 0, 0), wind=(0, 0, 4)), frame, settings)
    speed = cloth.mass @ state.v[:, 2] / cloth.mass.sum()
    assert 3.5 < speed < 4.0


@pytest.mark.parametrize("rate", [48, 23.976, 12])
def test_the_frame_rate_does_not_matter(rate):
    """The same second of a swinging, wind-blown sheet at 24 frames a second and at another rate; the air comes at other
    moments, and small steps by the speed at others. Solved to the end: what a solve leaves, chance amplifies."""
    settings = Settings(iterations=40, tolerance=1e-6)

    def play(frames_per_second, seconds):
        pin = np.arange(80) < 8
        cloth, state, target = start(naive.sheet(10, 8, pin=pin), settings)
        for frame in range(round(seconds * frames_per_second)):
            frame_input = naive.still(target, duration=1 / frames_per_second, wind=(0, 2, 0))
            advance(cloth, state, frame_input, frame, settings)
        return state.x

    seconds = 0.5 if rate != 23.976 else 12 / 23.976
    reference = play(24, 0.5)
    moved = np.abs(reference - play(24, 11 / 24)).max()
    other = play(rate, seconds)
    assert np.abs(other - reference).max() < (0.01 if rate != 23.976 else 0.1) * moved


@pytest.mark.parametrize("factor", [10.0])
def test_scale_invariance(factor):
    """Length x s at the same g, sigma x 1, B x s^3, K x s, time x sqrt(s): the same shape."""
    ends = []
    for s in (1.0, factor):
        garment = naive.sheet(
            8, 6, s, 0.7 * s, pin=np.arange(48) < 6, bending_stiffness=1e-3 * s**3, stretch_stiffness=200 * s,
            shear_stiffness=50 * s, damping=1 / np.sqrt(s),
        )  # fmt: skip
        settings = VACUUM._replace(substeps=round(24 * 1000 / np.sqrt(s) / 24))
        cloth, state, target = start(garment, settings)
        for frame in range(12):
            advance(cloth, state, naive.still(target, duration=np.sqrt(s) / 48), frame, settings)
        ends.append((state.x + cloth.origin - target) / s)
    assert np.abs(ends[0]).max() > 0.05
    assert np.abs(ends[0] - ends[1]).max() < 0.01 * np.abs(ends[0]).max()


def test_turning_the_world_changes_nothing_but_the_view():
    turn = np.linalg.qr(np.random.default_rng(8).normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    ends = []
    for view in (np.eye(3), turn):
        garment = naive.sheet(7, 7, pin=np.arange(49) < 7)
        garment = garment._replace(x=garment.x @ view.T, x_start=garment.x_start @ view.T)
        cloth, state, target = start(garment, Settings())
        for frame in range(6):
            frame_input = naive.still(target, gravity=view @ [0, 0, -G], wind=view @ [1, 0, 3])
            advance(cloth, state, frame_input, frame, Settings())
        ends.append((state.x + cloth.origin) @ view)
    assert np.abs(ends[0] - ends[1]).max() < 1e-4


def test_ten_kilometres_from_the_origin_the_same_happens():
    """10 km away the same frames come out, to the digits that 10 km leaves."""
    far = np.array([1e4, 1e4, -1e4])
    ends = []
    for offset in (0 * far, far):
        garment = naive.sheet(7, 7, pin=np.arange(49) < 7)
        garment = garment._replace(x=garment.x + offset, x_start=garment.x_start + offset)
        cloth, state, target = start(garment)
        for frame in range(6):
            advance(cloth, state, naive.still(target), frame, VACUUM)
        ends.append(state.x + cloth.origin - offset)
    assert np.abs(ends[0] - ends[1]).max() < 1e-7
