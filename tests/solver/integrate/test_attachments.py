# SPDX-License-Identifier: GPL-3.0-or-later
"""Attachments and blending to the animated pose, against closed forms; what is broken stays so, after a resume, too."""

import naive
import numpy as np
import pytest
from taffeta.solver import shot
from taffeta.solver.build import build
from taffeta.solver.cache import names
from taffeta.solver.cache.frames import open_cache
from taffeta.solver.model import ATTACHMENT, Attachments, Settings
from taffeta.solver.step import advance

VACUUM = Settings(air_drag=0.0)
G = 9.81


def patch():
    """A quad of cloth that weighs the same at each corner, its `Cloth`, its start, and where that is in the world."""
    cloth, state = build([naive.sheet(2, 2, width=0.1, height=0.1)], VACUUM)
    return cloth, state, state.x + cloth.origin


def held(place, stiffness, damping=0.0, breaking=np.inf, **about):
    """A frame in which springs pull each corner to its place (n, 3), or from place to place (s + 1, n, 3)."""
    given = naive.still(place, **about)
    count = given.targets.shape[1]
    numbers = (np.full(count, float(number)) for number in (stiffness, damping, breaking))
    return given._replace(attachments=Attachments(np.arange(count, dtype=np.int32), given.targets, *numbers))


@pytest.mark.parametrize("dynamics", ["XPBD", "IMPLICIT_EULER", "IMPLICIT_THETA", "RK4", "VERLET"])
def test_a_mass_on_a_spring_hangs_where_k_x_is_m_g(dynamics):
    cloth, state, place = patch()
    k, settings = 0.1, VACUUM._replace(dynamics=dynamics)
    start, mass = state.x.copy(), cloth.mass[0]
    for frame in range(24):
        advance(cloth, state, held(place, k, 2.0 * np.sqrt(k * mass)), frame, settings)
    assert np.allclose((start - state.x)[:, 2], mass * G / k, rtol=2e-3)


def test_it_swings_with_the_period_of_mass_and_stiffness():
    """T = 2 pi sqrt(m / k) from half a dozen swings, and a spring twice as stiff in 1 / sqrt(2) of that."""
    periods = []
    for k in (0.02, 0.04):
        cloth, state, place = patch()
        state.x[:, 2] += 0.01
        height, settings, fine = [], VACUUM._replace(substeps=40), cloth.mass[0]
        for frame in range(60):
            advance(cloth, state, held(place, k, gravity=(0, 0, 0)), frame, settings)
            height.append(state.x[:, 2].mean())
        z = np.array(height)
        down = np.flatnonzero((z[:-1] > 0) & (z[1:] <= 0))
        crossing = down + z[down] / (z[down] - z[down + 1])
        periods.append((crossing[-1] - crossing[0]) / (len(crossing) - 1) / 24.0)
        assert periods[-1] == pytest.approx(2.0 * np.pi * np.sqrt(fine / k), rel=0.01)
    assert periods[0] / periods[1] == pytest.approx(np.sqrt(2.0), rel=0.01)


def test_damping_is_against_the_motion_of_the_point():
    """Dragged by a damper alone, v approaches the point's u as 1 - exp(-c t / m), and never beyond."""
    cloth, state, place = patch()
    c, u, settings = 5.0 * cloth.mass[0], 0.24, VACUUM._replace(substeps=100)
    for frame in range(6):
        ends = np.stack([place + [u * t / 24.0, 0, 0] for t in (frame, frame + 1)])
        advance(cloth, state, held(ends, 0.0, c, gravity=(0, 0, 0)), frame, settings)
    assert np.allclose(state.v[:, 0], u * (1.0 - np.exp(-5.0 * 0.25)), rtol=5e-3)


def test_it_breaks_at_its_force_and_not_before():
    """Loaded with a thousandth less than it bears it holds, with a thousandth more it breaks, and cloth falls freely."""
    for load, breaks in ((0.999, False), (1.001, True)):
        cloth, state, place = patch()
        k, mass = 0.5, cloth.mass[0]
        for frame in range(36):
            given = held(place, k, 4.0 * np.sqrt(k * mass), mass * G, gravity=(0, 0, -G * load))
            advance(cloth, state, given, frame, VACUUM)
        assert (state.broken == (ATTACHMENT if breaks else 0)).all()
        assert (state.x[:, 2].max() < -1.0) == breaks
    before = state.v.copy()
    advance(cloth, state, held(place, 1e4, breaking=mass * G), 36, VACUUM)
    assert np.allclose(state.v - before, [0, 0, -G / 24.0])  # nothing mends it


def test_a_garment_that_lost_a_spring_keeps_the_others():
    cloth, state, place = patch()
    breaking = np.array([1e-9, np.inf, np.inf, np.inf])
    given = held(place, 50.0, 0.1)
    given = given._replace(attachments=given.attachments._replace(breaking=breaking))
    for frame in range(24):
        advance(cloth, state, given, frame, VACUUM)
    assert state.broken.tolist() == [ATTACHMENT, 0, 0, 0]
    assert state.x[0, 2] < -0.01 and (state.x[1:, 2] > -0.005).all()


def test_blending_sags_by_g_over_the_stiffness_whatever_the_mesh_weighs():
    for density in (0.1, 0.4):
        cloth, state = build([naive.sheet(4, 5, mass=density)], VACUUM)
        start = state.x.copy()
        given = naive.still(start + cloth.origin)._replace(blend=np.tile([400.0, 40.0], (20, 1)))
        for frame in range(24):
            advance(cloth, state, given, frame, VACUUM)
        assert np.allclose((start - state.x)[:, 2], G / 400.0, rtol=5e-3)


def test_frames_say_anew_how_far_cloth_may_go():
    cloth, state, place = patch()
    for reach in (0.05, 0.02):
        for frame in range(12):
            advance(cloth, state, naive.still(place)._replace(pin_distance=np.full(4, reach)), frame, VACUUM)
        assert np.allclose(np.linalg.norm(state.x + cloth.origin - place, axis=1), reach)


def test_a_resumed_bake_knows_what_is_broken(tmp_path):
    """Gravity grows until springs break; a bake that is resumed after that has the bits of one that ran through."""

    def bake(folder, last):
        cloth, state, place = patch()
        inputs = [held(place, 0.5, 0.1, 1.2 * cloth.mass[0] * G, gravity=(0, 0, -0.4 * G * f)) for f in range(1, 11)]
        path = names.cache_paths(folder, ["patch"])[0]
        with open_cache(path, 4, 1, 24.0) as cache:
            done = list(shot.run(cloth, state, inputs, range(1, last + 1), VACUUM, [cache]))
            assert cache.broken(last).tolist() == state.broken.tolist()
        return path, state, [frame for frame, report in done if report is not None]

    whole, state, _ = bake(tmp_path / "a", 10)
    assert (state.broken == ATTACHMENT).all()
    _, part, _ = bake(tmp_path / "b", 7)
    assert (part.broken == ATTACHMENT).all()
    again, _, simulated = bake(tmp_path / "b", 10)
    assert simulated == [8, 9, 10]
    assert [file.read_bytes() for file in names.parts(whole)] == [file.read_bytes() for file in names.parts(again)]


def test_what_a_vertex_carries_pulls_on_its_spring():
    """k x = (m + added) g, for one corner with a button and three without; cloth so limp that each hangs on its own."""
    limp = {"stretch_stiffness": 1e-6, "shear_stiffness": 0.0, "bending_stiffness": 0.0}
    button = np.array([4e-4, 0.0, 0.0, 0.0])
    cloth, state = build([naive.sheet(2, 2, width=0.1, height=0.1, added_mass=button, **limp)], VACUUM)
    start = state.x.copy()
    for frame in range(24):
        advance(cloth, state, held(start + cloth.origin, 0.5, 0.03), frame, VACUUM)
    assert np.allclose((start - state.x)[:, 2], (0.15 * 0.01 / 4 + button) * G / 0.5, rtol=5e-3)
