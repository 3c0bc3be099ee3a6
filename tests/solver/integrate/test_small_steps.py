# SPDX-License-Identifier: GPL-3.0-or-later
"""Small steps: as many as turning asks for, and cloth that is shaken folds as it does when all is solved finely."""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.elastic.internal import elastic_forces, elastic_of
from taffeta.solver.integrate.predict import Interval
from taffeta.solver.integrate.small_steps import SHORTEST_STEP, STRAIN_BEYOND, STRAIN_RATE, part, part_on_arcs
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

WHOLE = Interval(3, 0.3, 0.4, 1 / 60, 1 / 30)


def spinning(rate, axis=2, garments=1):
    """Sheets of which the last spins at so many rad/s, while all go straight on at 7 m/s: cloth, x, v."""
    cloth, state = build([naive.sheet(9, 9) for _ in range(garments)], Settings())
    spin = np.zeros(3)
    spin[axis] = rate
    v = np.cross(spin, state.x)
    v[: -len(v) // garments or None] *= 0.0 if garments > 1 else 1.0
    return cloth, state.x, v + [7.0, 0.0, 0.0]


def count(rate, steps=1.0, **about):
    return len(part(WHOLE, steps, *spinning(rate, **about)))


def test_what_goes_straight_on_goes_on_as_one():
    assert count(0.0) == 1


@pytest.mark.parametrize("rate", [6.0, 9.0, 12.0])
def test_steps_bound_the_strain_that_linearising_adds(rate):
    """Half of w^2 h a second, exactly, where all springs turn alike; one step fewer would exceed it."""
    steps = count(rate)
    assert 0.5 * rate**2 * WHOLE.dt / steps <= STRAIN_RATE * (1 + 1e-5) < 0.5 * rate**2 * WHOLE.dt / (steps - 1)


def test_no_steps_are_shorter_than_the_shortest_however_wild():
    assert count(1e4) == round(WHOLE.dt / SHORTEST_STEP) == 32
    assert count(1e4, steps=2.0) == 64


def test_the_wildest_garment_decides():
    assert count(15.0, garments=3) == count(15.0)


def test_edges_along_the_axis_do_not_turn():
    """About an axis in the sheet half of its threads stand still, and its diagonals turn half as much."""
    assert 1 < count(15.0, axis=0) < count(15.0)


def test_quality_counts_and_nothing_is_parted_at_zero():
    assert count(15.0, steps=2.0) == pytest.approx(2 * count(15.0), abs=1)
    assert part(WHOLE, 0.0, *spinning(100.0)) == [WHOLE]


def test_steps_follow_each_other_and_air_acts_once():
    steps = part(WHOLE, 1.0, *spinning(12.0))
    assert steps[0].t0 == WHOLE.t0 and steps[-1].t1 == WHOLE.t1 and len(steps) > 4
    for one, next_one in zip(steps[:-1], steps[1:], strict=True):
        assert one.t1 == next_one.t0 and next_one.number == one.number + 1
    assert sum(step.dt for step in steps) == pytest.approx(WHOLE.dt)
    assert [step.slow_dt for step in steps] == [WHOLE.slow_dt] + [0.0] * (len(steps) - 1)
    later = part(WHOLE._replace(number=4), 1.0, *spinning(1e4))
    assert later[0].number > part(WHOLE, 1.0, *spinning(1e4))[-1].number  # chance goes by the number


def test_edges_without_length_are_no_reason_to_go_on_for_ever():
    cloth, x, v = spinning(10.0)
    x = np.zeros_like(x)
    assert len(part(WHOLE, 1.0, cloth, x, v)) <= 32


@pytest.mark.parametrize("theta", [0.5, 0.6, 0.9])
def test_no_spring_of_the_theta_method_ends_a_step_too_long(theta):
    """A spring that turns by a about its middle, solved for at theta and gone on straight, ends (1 - theta) a^2 / 2 too long. One
    single spring is enough to be parted for, and one step fewer would exceed the bound.
    """
    cloth, x, v = spinning(0.0)
    a, b = cloth.edges[cloth.edges[:, 0] == 0][0]
    way = x[b] - x[a]
    speed = 40.0 * np.cross([0.0, 0.0, 1.0], way)
    v[a], v[b] = v[a] - 0.5 * speed, v[b] + 0.5 * speed
    rate = max(
        np.linalg.norm(np.cross(x[j] - x[i], v[j] - v[i])) / np.dot(x[j] - x[i], x[j] - x[i]) for i, j in cloth.edges
    )
    steps = len(part_on_arcs(WHOLE, 1.0, theta, cloth, x, v))

    def beyond(count):
        turn = rate * WHOLE.dt / count
        start, there = np.array([1.0, 0.0]), np.array([np.cos(theta * turn), np.sin(theta * turn)])
        return np.linalg.norm(start + (there - start) / theta) - 1.0

    assert 3 <= steps < 32 and beyond(steps) < 1.02 * STRAIN_BEYOND < 1.05 * beyond(steps - 1)


def test_implicit_euler_goes_past_no_arc_and_nothing_is_parted_at_zero():
    wild = spinning(1e4)
    assert len(part_on_arcs(WHOLE, 1.0, 1.0, *wild)) == 1 and part_on_arcs(WHOLE, 0.0, 0.5, *wild) == [WHOLE]
    assert len(part_on_arcs(WHOLE, 1.0, 0.6, *wild)) == 32
    assert part_on_arcs(WHOLE, 1.0, 0.6, wild[0], wild[1], np.full_like(wild[2], np.nan)) == [WHOLE]


@pytest.mark.parametrize(("theta", "most"), [(0.5, 1.5), (0.6, 1.0), (0.8, 1.0)])
def test_stirred_cloth_is_not_shaken_by_the_theta_method(theta, most):
    """A free sheet whose points fly anywhere at 1 m/s: its energy does not grow, at 1/2 by no more than a half (the midpoint rule
    keeps quadratic energies, and that of a spring that turns is none). In substeps that are not parted it is two thousand times
    as much after three frames.
    """
    settings = Settings(air_drag=0.0, dynamics="IMPLICIT_THETA", theta=theta)
    cloth, state = build([naive.sheet(9, 9, 0.3, 0.3)], settings)
    state.v[:] = np.random.default_rng(0).normal(size=state.x.shape)
    elastic, force = elastic_of(cloth), np.empty_like(state.x)

    def energy():
        moving = 0.5 * cloth.mass @ np.square(state.v).sum(axis=1)
        return elastic_forces(state.x, state.v, elastic, force) + moving

    pose, before, longest = state.x + cloth.origin, energy(), 0.0
    for frame in range(6):
        report = advance(cloth, state, naive.still(pose, gravity=(0.0, 0.0, 0.0)), frame, settings)
        assert energy() < most * before, frame
        longest = max(longest, report.worst_stretch)
    assert longest < 0.05


def shaken(settings):
    """Mean roughness [degrees] and steps of 30 frames of a curtain whose rod goes to and fro by 15 cm, and its longest edge."""
    garment = naive.sheet(25, 25, 0.5, 0.5, pin=np.arange(625) % 25 == 24)
    garment = garment._replace(x=garment.x[:, [0, 2, 1]], x_start=garment.x[:, [0, 2, 1]])
    cloth, state = build([garment], settings)
    pose, place, reports = state.x + cloth.origin, 0.0, []
    for frame in range(30):
        before, place = place, 0.15 * np.sin(2 * np.pi * frame / 9) if frame < 18 else 0.0
        targets = np.stack([pose + [0.0, y, 0.0] for y in np.linspace(before, place, 3)])
        reports.append(advance(cloth, state, naive.still(targets), frame, settings))
    rough, steps, worst = zip(*((r.roughness, r.steps, r.worst_stretch) for r in reports), strict=True)
    return np.degrees(np.mean(rough)), np.mean(steps), max(worst)


def test_what_is_shaken_folds_as_where_all_is_solved_finely():
    """Ten steps a frame crumple it; twice as rough (issue of the jogging skirt), at a stretch that nobody would notice."""
    fine, _, _ = shaken(Settings(substeps=80, iterations=40, tolerance=0.01, small_steps=0.0))
    once, _, stretch = shaken(Settings(small_steps=0.0))
    parted, steps, least = shaken(Settings())
    assert once > 1.5 * fine and parted < 1.1 * fine
    assert 15 < steps < 70 and least < stretch < 0.06


def test_calm_cloth_is_not_parted():
    """A sheet that hangs still: as many steps as substeps, and the same bits as without."""
    found = []
    for small_steps in (0.0, 1.0):
        settings = Settings(small_steps=small_steps, air_drag=0.0)
        cloth, state = build([naive.sheet(9, 9, 0.3, 0.3, pin=np.arange(81) % 9 == 8)], settings)
        pose = state.x + cloth.origin
        steps = [advance(cloth, state, naive.still(pose, gravity=(0, -9.81, 0)), k, settings).steps for k in range(4)]
        assert steps == [10] * 4
        found.append(state)
    assert np.array_equal(found[0].x, found[1].x) and np.array_equal(found[0].v, found[1].v)
