# SPDX-License-Identifier: GPL-3.0-or-later
"""The frame loop: order of time, pins, determinism, resuming, what it reports and refuses."""

from itertools import pairwise

import naive
import numpy as np
import pytest
from taffeta.solver import step
from taffeta.solver.build import build
from taffeta.solver.integrate.substeps import substep_count
from taffeta.solver.model import CLOTH_CONTACTS, Collider, Settings, State
from taffeta.solver.step import advance, stretch

QUIET = Settings(air_drag=0.0)


def pose(cloth, state):
    return state.x + cloth.origin


@pytest.mark.parametrize(
    ("rate", "count"), [(24, 10), (23.976, 10), (25, 10), (30, 8), (48, 5), (60, 4), (1000, 1), (1, 240)]
)
def test_a_substep_is_about_as_long_at_any_rate(rate, count):
    assert substep_count(1 / rate, Settings()) == count


@pytest.mark.parametrize("samples", [2, 3, 6])
def test_pins_are_on_the_pose_at_the_end_of_every_frame(samples):
    """A pinned edge that swings through several samples a frame, and the rest follows."""
    rng = np.random.default_rng(1)
    cloth, state = build([naive.sheet(6, 6, pin=np.arange(36) < 6)], Settings())
    start = pose(cloth, state)
    for frame in range(5):
        targets = start + np.cumsum(rng.normal(size=(samples, 1, 3)), axis=0) * 0.02
        advance(cloth, state, naive.still(targets), frame, Settings())
        assert np.abs(pose(cloth, state)[:6] - targets[-1, :6]).max() < 1e-14
        last = (targets[-1, :6] - targets[-2, :6]) * (samples - 1) * 24
        assert np.abs(state.v[:6] - last).max() < 1e-9
        start = targets[-1]
    assert np.abs(state.v[6:]).max() > 0.1


def test_a_soft_pin_pulls_at_its_rate():
    """Held with weight 1/2 at rate r, a critically damped pull: sag g / r^2 at rest, and the way there."""
    cloth, state = build([naive.sheet(4, 4, pin=0.5)], QUIET)
    target, rate, settings = pose(cloth, state), 20.0, QUIET._replace(pin_rate=20.0, substeps=300)
    advance(cloth, state, naive.still(target), 0, settings)
    t = 1 / 24
    expected = 9.81 / rate**2 * (1 - (1 + rate * t) * np.exp(-rate * t))
    assert np.allclose(target[:, 2] - pose(cloth, state)[:, 2], expected, rtol=0.02)
    for frame in range(1, 48):
        advance(cloth, state, naive.still(target), frame, settings)
    assert np.allclose(target[:, 2] - pose(cloth, state)[:, 2], 9.81 / rate**2, rtol=1e-3)


def test_a_soft_pin_keeps_up_with_a_steady_pose():
    """No lag behind a target of constant velocity, and no stiffness is too much."""
    for pin_rate in (30.0, 1e7):
        cloth, state = build([naive.sheet(3, 3, pin=0.5)], QUIET)
        start = pose(cloth, state)
        for frame in range(48):
            targets = np.stack([start, start + [0.1, 0, 0]])
            advance(cloth, state, naive.still(targets, gravity=(0, 0, 0)), frame, QUIET._replace(pin_rate=pin_rate))
            start = targets[-1]
        assert np.abs(pose(cloth, state) - start).max() < 1e-3


def test_pin_distance_bounds_the_way_from_the_pose():
    limit = np.where(np.arange(36) % 2, 0.01, 0.03)
    cloth, state = build([naive.sheet(6, 6, pin_distance=limit)], Settings())
    target = pose(cloth, state)
    for frame in range(24):
        advance(cloth, state, naive.still(target), frame, Settings())
    distance = np.linalg.norm(pose(cloth, state) - target, axis=1)
    assert (distance <= limit + 1e-12).all() and np.allclose(distance[1::2], 0.01, rtol=1e-3)


def test_loose_vertices_follow_the_pose_and_loose_edges_fall():
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 0, 0], [3, 0, 0], [7, 7, 7]], float)
    garment = naive.garment(x, [[0, 1, 2]], edges=[[0, 1], [1, 2], [0, 2], [3, 4]])
    cloth, state = build([garment], QUIET)
    targets = np.stack([x, x + [0, 1, 0]])
    advance(cloth, state, naive.still(targets), 0, QUIET)
    moved = pose(cloth, state) - x
    assert np.allclose(moved[5], [0, 1, 0]) and (moved[:5, 2] < -0.005).all() and np.allclose(moved[:5, :2], 0)


def shot(frames, state=None, first=0, **changes):
    """A sheet with two pins in wind and random force; returns the states after each frame."""
    settings = Settings(random_force_min=(-5, -5, 0), random_force_max=(5, 5, 0), seed=3, **changes)
    pin = np.isin(np.arange(120), [0, 110])
    cloth, fresh = build([naive.sheet(12, 10, diagonals="alternating", pin=pin)], settings)
    state = State(state.x.copy(), state.v.copy()) if state else fresh
    target, states = pose(cloth, fresh), []
    for frame in range(first, frames):
        moved = np.stack([target + [0.01 * frame, 0, 0], target + [0.01 * frame + 0.01, 0, 0]])
        advance(cloth, state, naive.still(moved, wind=(1, 3, 0)), frame, settings)
        states.append(State(state.x.copy(), state.v.copy()))
    return states


def test_two_runs_give_the_same_bits():
    for one, other in zip(shot(8), shot(8), strict=True):
        assert np.array_equal(one.x, other.x) and np.array_equal(one.v, other.v)


def test_resuming_gives_the_same_bits():
    whole = shot(8)
    resumed = shot(8, state=whole[3], first=4)
    assert np.array_equal(whole[-1].x, resumed[-1].x) and np.array_equal(whole[-1].v, resumed[-1].v)


def test_the_seed_of_the_random_force_counts():
    settings = Settings(random_force_min=(-5, 0, 0), random_force_max=(5, 0, 0))
    ends = []
    for seed in (1, 2):
        cloth, state = build([naive.sheet(3, 3)], settings)
        advance(cloth, state, naive.still(pose(cloth, state)), 1, settings._replace(seed=seed))
        ends.append(state.x.copy())
    assert np.abs(ends[0] - ends[1]).max() > 1e-5


def test_two_garments_do_as_each_alone():
    """Without contact, merging changes the groups of the preconditioner, so nothing where the solve is exact."""
    settings = Settings(iterations=200, tolerance=1e-9)
    first = naive.sheet(6, 5, pin=np.arange(30) < 5, name="A")
    second = naive.sheet(5, 5, pin=np.arange(25) < 1, name="B")
    second = second._replace(x_start=second.x_start + [5, 0, 0])
    ends = []
    for garments in ([first, second], [first], [second]):
        cloth, state = build(garments, settings)
        target = pose(cloth, state)
        for frame in range(6):
            advance(cloth, state, naive.still(target), frame, settings)
        ends.append(pose(cloth, state))
    assert np.abs(ends[0] - np.concatenate(ends[1:])).max() < 1e-6


def test_report_has_time_and_stretch():
    cloth, state = build([naive.sheet(6, 6)], Settings())
    target = pose(cloth, state)
    state.x[:, 0] *= 1.1
    report = advance(cloth, state, naive.still(target, duration=1e-6), 7, Settings(substeps=1))
    assert report.frame == 7 and report.worst_stretch == pytest.approx(0.1, abs=1e-3)
    assert 0 < report.mean_stretch < report.worst_stretch
    assert report.seconds["integration"] > 0 and report.crossings is None
    assert set(report.seconds) == {"integration", "volume collision", "self-collision", "LDI generation"}


def test_shear_is_not_reported_as_stretch():
    """A sheared quad's diagonal is longer, its threads are not."""
    cloth, state = build([naive.sheet(6, 6)], Settings())
    x = state.x
    sheared = np.stack([0.8 * x[:, 0] + 0.6 * x[:, 1], 0.6 * x[:, 0] + 0.8 * x[:, 1], x[:, 2]], axis=1)
    assert np.allclose(stretch(cloth, sheared), 0, atol=1e-12)
    assert np.allclose(stretch(cloth, 1.3 * x), 0.3)


@pytest.mark.parametrize("contact", CLOTH_CONTACTS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_told(bad, contact):
    settings = Settings(cloth_contact=contact)
    cloth, state = build([naive.sheet(4, 4), naive.sheet(4, 4)], settings)
    target = pose(cloth, state)
    state.v[20] = bad
    with pytest.raises(FloatingPointError, match="Garment 2 of 2 .* frame 12"):
        advance(cloth, state, naive.still(target), 12, settings)


def test_no_particle_is_faster_than_the_limit():
    settings = Settings(max_speed=3.0, air_drag=0.0)
    cloth, state = build([naive.sheet(5, 5)], settings)
    state.v[3] = [400, 0, 0]
    advance(cloth, state, naive.still(pose(cloth, state)), 0, settings)
    assert np.linalg.norm(state.v, axis=1).max() <= 3.0 * (1 + 1e-12)


def test_cloth_lies_on_a_body():
    """A sheet falls onto a slab and stays on it, its aura away."""
    corners = np.array([[-2, -2, 0], [3, -2, 0], [3, 3, 0], [-2, 3, 0]], float)
    slab = Collider("Floor", corners[None].repeat(2, axis=0), np.array([[0, 1, 2], [0, 2, 3]], np.int32), 0.5, 0, 0.005)
    cloth, state = build([naive.sheet(8, 8)], Settings())
    state.x[:, 2] += 0.05
    target, touched = pose(cloth, state), 0
    for frame in range(24):
        touched += advance(cloth, state, naive.still(target, colliders=[slab]), frame, Settings()).body_contacts
    height = pose(cloth, state)[:, 2]
    assert touched > 0 and 0.0 < height.min() and height.max() < 0.012


@pytest.mark.parametrize("count, wanted", [(1, 8), (3, 4), (6, 8), (10, 3)])
def test_bodies_may_want_to_be_drawn_more_often_than_there_are_substeps(count, wanted, monkeypatch):
    """As a kick does in Preview, whose substeps are fewer than the images that it wants."""
    monkeypatch.setattr("taffeta.solver.contact.frame.detections", lambda contact: wanted)
    settings = Settings(substeps=count)
    cloth, state = build([naive.sheet(5, 5)], settings)
    assert advance(cloth, state, naive.still(pose(cloth, state)), 0, settings).steps >= count


def test_a_substep_is_taken_again_where_contact_came_too_late(monkeypatch):
    """Something that is kept from passing draws a corner out by an edge, once: what that did is gone."""
    settings, given, looked = Settings(substeps=1), step.respond_to_cloth, []

    def too_late(contact, motion, origin, constraints, solution, substep, steps):
        found = given(contact, motion, origin, constraints, solution, substep, steps)
        looked.append((substep.t0, substep.t1))
        if len(looked) == 1:
            motion.x[0] -= [0.2, 0.2, 0.0]
            contact.is_holding = True
        return found

    monkeypatch.setattr(step, "respond_to_cloth", too_late)
    cloth, state = build([naive.sheet(6, 6)], settings)
    report = advance(cloth, state, naive.still(pose(cloth, state)), 0, settings)
    (whole, *parts) = looked
    assert whole == (0.0, 1.0) and len(parts) == report.steps >= 4
    assert parts[0][0] == 0.0 and parts[-1][1] == 1.0 and all(a[1] == b[0] for a, b in pairwise(parts))
    assert report.worst_stretch < 0.01
