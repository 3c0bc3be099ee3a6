# SPDX-License-Identifier: GPL-3.0-or-later
"""Pressure in closed garments, against the membrane's closed form."""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.forces.pressure import enclosed
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

RADIUS, STIFFNESS = 0.25, 2000.0
VACUUM = Settings(air_drag=0.0)


def icosphere(splits=3, radius=RADIUS):
    """Nearly equilateral triangles on a sphere, normals outwards."""
    golden = 0.5 * (1 + 5**0.5)
    x = [(-1, golden, 0), (1, golden, 0), (-1, -golden, 0), (1, -golden, 0)]
    x += [(c, a, b) for a, b, c in x] + [(b, c, a) for a, b, c in x]
    x = np.array(x, float) / np.linalg.norm(x[0])
    near = np.linalg.norm(x[:, None] - x, axis=2).round(6) == round(float(np.linalg.norm(x[0] - x[1])), 6)
    triangles = [
        (i, j, k) for i in range(12) for j in range(i) for k in range(j) if near[i, j] and near[j, k] and near[i, k]
    ]
    for _ in range(splits):
        number, x, finer = {}, list(x), []
        for a, b, c in triangles:
            middle = []
            for pair in ((a, b), (b, c), (c, a)):
                key = tuple(sorted(pair))
                if key not in number:
                    number[key] = len(x)
                    x.append((x[pair[0]] + x[pair[1]]) / np.linalg.norm(x[pair[0]] + x[pair[1]]))
                middle.append(number[key])
            d, e, f = middle
            finer += [(a, d, f), (b, e, d), (c, f, e), (d, e, f)]
        triangles = finer
    x, triangles = np.array(x), np.array(triangles)
    inward = np.einsum("ij,ij->i", np.cross(*(x[triangles[:, [1, 2]].T] - x[triangles[:, 0]])), x[triangles[:, 0]]) < 0
    triangles[inward] = triangles[inward][:, [0, 2, 1]]
    return radius * x, triangles


def ball(splits=3, **changes):
    x, triangles = icosphere(splits)
    return naive.garment(x, triangles, stretch_stiffness=STIFFNESS, damping=20.0, **changes)


def settled(garment, frames=60, **given):
    cloth, state = build([garment], VACUUM)
    still = naive.still(state.x + cloth.origin, gravity=(0, 0, 0))._replace(**given)
    for frame in range(frames):
        advance(cloth, state, still, frame, VACUUM)
        state.v[:] *= 0.8
    return cloth, state


def strain(state):
    return np.linalg.norm(state.x - state.x.mean(axis=0), axis=1).mean() / RADIUS - 1


def membrane(e):
    """Pressure [Pa] that holds a sphere of equilateral springs at the strain e: p = 2 T / r, with the tension
    T = sqrt(3) k e / (1 + e) of the lattice and k = sqrt(3) / 2 of the stretch stiffness.
    """
    return 3.0 * STIFFNESS * e / (RADIUS * (1 + e) ** 2)


@pytest.mark.parametrize("pressure", [100.0, 1000.0, -100.0])
def test_a_sphere_inflates_until_the_membrane_holds_it(pressure):
    _, state = (
        settled(ball(), pressure=(abs(pressure),))
        if pressure > 0
        else settled(ball()._replace(triangles=ball().triangles[:, ::-1].copy()), pressure=(-pressure,))
    )  # normals that point inwards make no difference
    assert membrane(strain(state)) == pytest.approx(abs(pressure), rel=0.04)


@pytest.mark.parametrize("outer", [1000.0, 20000.0])
def test_gas_and_membrane_balance(outer):
    """p = P (V0 / V - 1) of the gas is what the membrane holds at its strain, for soft gas and for stiff."""
    cloth, state = settled(ball(), pressure=(outer,), volume=(0.072,))
    volume, _ = enclosed(state.x, cloth.triangles, 0, len(cloth.triangles))
    assert membrane(strain(state)) == pytest.approx(outer * (0.072 / volume - 1), rel=0.05)
    assert volume > 1.01 * enclosed(cloth.x_rest, cloth.triangles, 0, len(cloth.triangles))[0]


def test_volume_and_area_of_a_sphere():
    x, triangles = icosphere(4)
    volume, area = enclosed(x + [100.0, 0, 0], triangles, 0, len(triangles))
    assert volume == pytest.approx(4 / 3 * np.pi * RADIUS**3, rel=0.01)
    assert area == pytest.approx(4 * np.pi * RADIUS**2, rel=0.01)


def test_pressure_keeps_momentum_and_angular_momentum():
    """A closed garment that is dented, flies and spins: nothing inside can change either. Nor does the speed limit, which
    its dents would meet in a short step."""
    rng, settings = np.random.default_rng(3), VACUUM._replace(max_speed=1e4)
    cloth, state = build([ball(2)], settings)
    state.x[:] += rng.normal(size=state.x.shape) * 0.02
    state.v[:] = rng.normal(size=state.v.shape) * 0.5 + [1, 2, 3]
    given = naive.still(state.x + cloth.origin, gravity=(0, 0, 0))._replace(pressure=(300.0,), volume=(0.08,))

    def momenta():
        return cloth.mass @ state.v, (cloth.mass[:, None] * np.cross(state.x, state.v)).sum(axis=0)

    before = momenta()
    for frame in range(12):
        advance(cloth, state, given, frame, settings)
    for one, other in zip(before, momenta(), strict=True):
        assert np.abs(other - one).max() < 1e-11 * np.linalg.norm(one)


def test_only_the_garment_under_pressure_inflates():
    first, second = ball(2), ball(2)
    second = second._replace(x_start=second.x + [2.0, 0, 0])
    cloth, state = build([first, second], VACUUM)
    given = naive.still(state.x + cloth.origin, gravity=(0, 0, 0))._replace(pressure=(0.0, 200.0))
    for frame in range(10):
        advance(cloth, state, given, frame, VACUUM)
    half = len(cloth.triangles) // 2
    volumes = [enclosed(state.x, cloth.triangles, k * half, (k + 1) * half)[0] for k in range(2)]
    rest = enclosed(cloth.x_rest, cloth.triangles, 0, half)[0]
    assert volumes[0] == pytest.approx(rest, rel=1e-3) and volumes[1] > 1.01 * rest


def test_a_ball_is_sucked_in_whatever_volume_it_aims_at():
    """Below 0 there is no gas that could be at ease in it."""
    garment = ball(2)
    aimed, free = (settled(garment, 12, pressure=(-40.0,), volume=volume)[1] for volume in ((0.05,), None))
    assert np.isfinite(aimed.x).all() and strain(aimed) < 0.0
    np.testing.assert_array_equal(aimed.x, free.x)
