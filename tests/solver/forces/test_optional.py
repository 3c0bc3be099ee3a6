# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields, random force and pressure in the step: what they do to cloth, and that they cost nothing unasked."""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.forces import air, optional
from taffeta.solver.forces.random import shake
from taffeta.solver.model import Field, FieldNumbers, Settings, State
from taffeta.solver.step import advance

VACUUM = Settings(air_drag=0.0)
STILL = FieldNumbers((0, 0, 0), (0, 0, 1), 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, -1.0)


def field(kind="WIND", shape="PLANE", end=None, **numbers):
    start = STILL._replace(**numbers)
    return Field("Field", kind, shape, "SPHERE", 0, False, False, 0, 1.0, start, start._replace(**(end or {})))


def floating(*garments, settings=VACUUM):
    cloth, state = build(garments or [naive.sheet(5, 5, diagonals="none")], settings)
    return cloth, state, naive.still(state.x + cloth.origin, gravity=(0, 0, 0))


def run(cloth, state, given, frames, settings=VACUUM, first=0):
    for frame in range(first, frames):
        advance(cloth, state, given, frame, settings)


def test_strength_is_force_per_area():
    """10 Pa on 1 m2 of 0.15 kg/m2 for 0.5 s: p = F t, however the sheet lies."""
    cloth, state, given = floating()
    given = given._replace(fields=(field(strength=10.0, axis=(0.6, 0.0, 0.8)),))
    run(cloth, state, given, 12)
    assert np.allclose(cloth.mass @ state.v, 10.0 * 0.5 * np.array([0.6, 0.0, 0.8]), rtol=2e-3)


def test_a_field_along_normals_pushes_by_the_projected_area():
    """At 60 degrees to the normal half the pressure is felt, along the normal: none askance."""
    cloth, state, given = floating()
    given = given._replace(fields=(field(strength=1.0, wind_factor=1.0, axis=(0.75**0.5, 0.0, 0.5)),))
    run(cloth, state, given, 1)
    assert np.allclose(cloth.mass @ state.v, [0, 0, 0.5 / 24], atol=1e-5)


def test_cloth_comes_to_fly_with_a_wind_that_flows():
    """v = S (1 - exp(-t / tau)), tau = sigma / flow = 0.15 s, at S = 4 m/s."""
    cloth, state, given = floating()
    given = given._replace(fields=(field(strength=4.0, flow=1.0),))
    run(cloth, state, given, 6)
    mean = cloth.mass @ state.v[:, 2] / cloth.mass.sum()
    assert mean == pytest.approx(4.0 * (1 - np.exp(-0.25 / 0.15)), rel=0.02)


def test_resistance_never_overshoots():
    """A drag a thousand times too strong for the step stops cloth instead of throwing it back."""
    cloth, state, given = floating()
    state.v[:] = [0.0, 0.0, 40.0]
    given = given._replace(fields=(field(strength=1e5 * 4.0, flow=1e5),))
    run(cloth, state, given, 1)
    assert np.allclose(state.v, [0, 0, 4], atol=1e-3)


def test_a_moving_field_is_where_it_is_within_the_frame():
    """Its centre passes the sheet in one frame: what it gave in the first half it takes in the second."""
    cloth, state, given = floating(settings=VACUUM._replace(substeps=100))
    pull = field("FORCE", "PLANE", strength=1.0, x=(0, 0, -1), end={"x": (0, 0, 1)})
    run(cloth, state, given._replace(fields=(pull,)), 1, VACUUM._replace(substeps=100))
    assert np.abs(cloth.mass @ state.v).max() < 0.03 / 24
    cloth, state, given = floating()
    run(cloth, state, given._replace(fields=(pull._replace(end=pull.start),)), 1)
    assert (cloth.mass @ state.v)[2] == pytest.approx(1 / 24, rel=0.01)


def test_each_garment_feels_its_part_of_the_fields():
    sheets = [naive.sheet(4, 4, name=name) for name in "ABC"]
    sheets = [sheet._replace(x_start=sheet.x + [3 * k, 0, 0]) for k, sheet in enumerate(sheets)]
    cloth, state, given = floating(*sheets)
    given = given._replace(fields=(field("TURBULENCE", "POINT", strength=5.0, size=0.3),))
    run(cloth, state, given._replace(field_weight=(0.0, 0.5, 1.0)), 1)
    momentum = [np.linalg.norm(cloth.mass[cloth.garment == g] @ state.v[cloth.garment == g]) for g in range(3)]
    assert momentum[0] < 1e-12 and momentum[1] > 1e-3 < momentum[2]


def test_noise_of_a_field_depends_on_seed_and_frame_alone():
    pushes = []
    for seed, frame in ((1, 1), (1, 1), (2, 1), (1, 2)):
        cloth, state, given = floating()
        given = given._replace(fields=(field(strength=0.0, noise=3.0)._replace(seed=seed),))
        advance(cloth, state, given, frame, VACUUM)
        pushes.append(state.v[:, 2].copy())
    assert np.array_equal(pushes[0], pushes[1])
    assert np.abs(pushes[0] - pushes[2]).max() > 0.01 < np.abs(pushes[0] - pushes[3]).max()


def test_an_unknown_kind_is_named():
    cloth, state, given = floating()
    with pytest.raises(ValueError, match="'Field': BOID is no force field that cloth feels"):
        run(cloth, state, given._replace(fields=(field("BOID"),)), 1)


def test_scenes_without_rare_forces_prepare_none():
    cloth, _, given = floating()
    assert optional.prepare(cloth, given, Settings(), None) is None
    certain = Settings(random_force_min=(1, 2, 3), random_force_max=(1, 2, 3), constant_force=(0, 0, 1))
    assert optional.prepare(cloth, given, certain, None) is None
    assert air.acceleration((0, 0, -9.0), certain) == (1, 2, -5)
    assert (
        optional.prepare(
            cloth, given._replace(fields=(field(),), field_weight=(0.0,), pressure=(0.0,)), Settings(), None
        )
        is None
    )


def test_random_force_differs_for_every_particle_and_step():
    """Evenly spread between the limits of each axis, without correlation of neighbours, axes or steps."""
    low, span = np.array([-1.0, 0.0, 2.0]), np.array([2.0, 0.0, 3.0])
    steps = []
    for step in range(4):
        v = np.zeros((5000, 3))
        shake(v, np.ones(5000), tuple(low), tuple(span), 7, -3, step, 1.0)
        steps.append(v)
    steps = np.array(steps)
    assert (steps >= low).all() and (steps <= low + span).all() and (steps[..., 1] == 0).all()
    parts = (steps[..., [0, 2]] - low[[0, 2]]) / span[[0, 2]]
    assert parts.mean() == pytest.approx(0.5, abs=0.01) and parts.std() == pytest.approx(12**-0.5, abs=0.01)
    assert len(np.unique(parts)) == parts.size
    columns = [parts[0, :-1, 0], parts[0, 1:, 0], parts[0, :-1, 1], parts[1, :-1, 0]]
    assert np.abs(np.corrcoef(columns) - np.eye(4)).max() < 0.05


def test_random_force_leaves_what_is_held():
    settings = VACUUM._replace(random_force_min=(-50, -50, -50), random_force_max=(50, 50, 50))
    cloth, state, given = floating(naive.sheet(5, 5, pin=np.arange(25) < 5))
    start = state.x.copy()
    run(cloth, state, given, 3, settings)
    assert np.array_equal(state.x[:5], start[:5]) and np.abs(state.v[5:]).max() > 0.01


def test_rare_forces_give_the_same_bits_when_resumed():
    settings = VACUUM._replace(random_force_min=(-5, -5, 0), random_force_max=(5, 5, 0), seed=3)
    cloth, state, given = floating()
    given = given._replace(fields=(field("TURBULENCE", "POINT", strength=5.0, size=0.3, noise=1.0),))
    run(cloth, state, given, 2, settings)
    kept = State(state.x.copy(), state.v.copy())
    run(cloth, state, given, 4, settings, first=2)
    run(cloth, kept, given, 4, settings, first=2)
    assert np.array_equal(state.x, kept.x) and np.array_equal(state.v, kept.v)
