# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid garments in the velocity field: they fly, fall, lie and are carried as wholes (Buffet 2021, figure 3.15)."""

import numpy as np
import pytest
from crossings import count_in
from sheets import GRAVITY, floor, sheet, stone
from taffeta.solver.build import build
from taffeta.solver.model import FrameInput, Pleats, Settings
from taffeta.solver.parts import copied
from taffeta.solver.step import advance
from taffeta.solver.velocity_field import avoid, rigid

pytestmark = pytest.mark.once

FIELD = Settings(cloth_contact="VELOCITY_FIELD", air_drag=0.0)
NOWHERE = np.zeros(3)


def go(garments, frames, bodies=(), gravity=GRAVITY, throw=None, look=lambda *_: None):
    """Run some frames; throw : velocities (n, 3) by places (n, 3) and garments (n,). Returns cloth and state."""
    cloth, state = build(garments, FIELD)
    if throw is not None:
        state.v[:] = throw(state.x, cloth.garment)
    for frame in range(1, frames + 1):
        report = advance(cloth, state, given(cloth, state, bodies, gravity), frame, FIELD)
        look(cloth, state, report)
    return cloth, state


def given(cloth, state, bodies=(), gravity=GRAVITY):
    return FrameInput(1 / 24, (state.x + cloth.origin)[None].repeat(2, 0), bodies, gravity, np.zeros(3))


def energy(cloth, state):
    return 0.5 * float(cloth.mass @ np.einsum("ij,ij->i", state.v, state.v))


def spin(cloth, state):
    middle = cloth.mass @ state.x / cloth.mass.sum()
    return np.einsum("i,ij->j", cloth.mass, np.cross(state.x - middle, state.v))


def test_what_tumbles_in_the_void_keeps_shape_momentum_spin_and_energy():
    def tumble(x, _):
        return np.cross([8.0, 1.0, 6.0], x - x.mean(axis=0)) + [1.0, 0.0, 0.5]

    garment = stone("Stone", 200, [0.1, 0.06, 0.04], [0.0, 0.0, 1.0])
    cloth, start = build([garment], FIELD)
    start.v[:] = tumble(start.x, None)
    _, end = go([garment], 48, gravity=NOWHERE, throw=tumble)
    assert np.linalg.norm(end.x - start.x, axis=1).min() > 0.5, "it has gone and turned"
    across = [np.linalg.norm(state.x[:, None] - state.x, axis=2) for state in (start, end)]
    assert np.abs(across[1] - across[0]).max() < 1e-13
    assert cloth.mass @ end.v == pytest.approx(cloth.mass @ start.v, abs=1e-12)
    assert spin(cloth, end) == pytest.approx(spin(cloth, start), rel=1e-10)
    assert energy(cloth, end) == pytest.approx(energy(cloth, start), rel=2e-5)


def test_few_stand_for_all_by_what_makes_no_energy():
    """Of random motions none has more energy in the particles that count than in the whole, and one nearly has as much."""
    rng = np.random.default_rng(3)
    cloth, state = build([stone(str(k), 120, rng.uniform(0.03, 0.1, 3), [k, 0.0, 0.0]) for k in range(3)], FIELD)
    whole = rigid.find_rigid(cloth)
    pose, share = rigid.pose_of(whole, state.x), rng.uniform(0.0, 1.0, 360) * (state.x[whole.particles, 2] < -0.01)
    weight = rigid.standing_for_all(whole, pose, share)
    assert (weight[share == 0.0] == whole.mass[share == 0.0]).all()
    most = np.zeros(3)
    for _ in range(3000):
        motion = rng.normal(size=(3, 6)) * [1.0, 1.0, 1.0, *rng.uniform(5.0, 50.0, 3)]
        v = rigid.particle_motion(whole, pose, motion)
        square = np.einsum("ki,ki->k", v, v)
        part, all_ = (
            np.bincount(whole.piece, mass * square) for mass in (np.where(share > 0.0, weight, 0.0), whole.mass)
        )
        most = np.maximum(most, part / all_)
    assert (most <= 1.0 + 1e-9).all() and (most > 0.8).all()
    back = rigid.whole_motion(whole, pose, whole.mass, v)
    assert back == pytest.approx(motion, rel=1e-6), "what goes as a whole is that motion"


def test_a_stone_slides_and_comes_to_rest_on_the_floor():
    low = []
    cloth, state = go(
        [stone("Stone", 200, [0.1, 0.06, 0.04], [0.0, 0.0, 0.2])], 48, (floor(),), throw=lambda x, _: x * 0.0 + [1.0, 0.0, 0.0],
        look=lambda cloth, state, _: low.append(state.x[:, 2].min() + cloth.origin[2]),
    )  # fmt: skip
    assert min(low) > 0.0029, "its aura is 3 mm"
    assert np.abs(state.v).max() < 1e-3 and low[-1] == pytest.approx(0.003, abs=2e-5)
    assert 0.05 < state.x[:, 0].mean() < 0.4, "friction has stopped it"


def test_a_ball_bounces_off_the_floor_as_the_floor_says():
    heights = []
    go(
        [stone("Ball", 200, [0.1] * 3, [0.0, 0.0, 0.35])], 16, (floor()._replace(restitution=0.6),),
        look=lambda cloth, state, _: heights.append(state.x[:, 2].min() + cloth.origin[2] - 0.003),
    )  # fmt: skip
    rising = int(np.argmax(np.diff(heights) > 0.0))
    assert min(heights) >= 0.0 and max(heights[rising:]) == pytest.approx(0.36 * 0.247, rel=0.1), heights


def lie(frames):
    """A ball of 0.63 kg on a sheet of 0.1 kg on the floor: how far it is from the cloth, its speed, crossings."""
    lower = sheet("Sheet", 41, 41, 0.02, place=lambda x: x + [0.0, 0.0, 0.01])
    cloth, state = go([lower, stone("Ball", 300, [0.1, 0.1, 0.1], [0.0, 0.0, 0.13])], frames, (floor(),))
    ball, beside = state.x[cloth.garment == 1], state.x[cloth.garment == 0]
    gap = np.linalg.norm(beside - ball.mean(axis=0), axis=1).min() - 0.1
    return gap, abs(state.v[cloth.garment == 1, 2].mean()), count_in(cloth, state.x)


def test_a_ball_comes_to_rest_on_cloth_and_shape_matching_alone_sinks(monkeypatch):
    gap, speed, crossings = lie(48)
    assert gap > 0.015 and speed < 2e-3 and crossings.cloth_cloth == 0
    monkeypatch.setattr(avoid, "FIELD_ROUNDS", 0)
    monkeypatch.setattr(rigid, "OVERSHOOT", 1.0)
    monkeypatch.setattr(rigid, "_most_energy", lambda whole, *_: np.ones(len(whole.total)))
    gap, speed, crossings = lie(24)
    assert gap < 0.002 and crossings.cloth_cloth > 10


def test_a_ball_is_caught_by_a_sheet_that_hangs_by_its_rim():
    rim = np.zeros((41, 41))
    rim[[0, -1]] = rim[:, [0, -1]] = 1.0
    crossed = []
    hung = sheet("Sheet", 41, 41, 0.02, pin=rim.ravel())
    cloth, state = go(
        [hung, stone("Ball", 300, [0.1, 0.1, 0.1], [0.0, 0.0, 0.12])], 36,
        look=lambda cloth, state, _: crossed.append(count_in(cloth, state.x).cloth_cloth),
    )  # fmt: skip
    assert not any(crossed)
    assert -0.3 < state.x[cloth.garment == 1, 2].mean() + cloth.origin[2] < 0.15


def test_a_sheet_that_is_hit_and_what_hits_it_keep_their_momentum():
    def throw(x, garment):
        return np.where(garment[:, None] == 1, [0.0, 0.3, -1.5], 0.0)

    rows = []
    garments = [sheet("Sheet", 31, 31, 0.02), stone("Stone", 150, [0.09, 0.05, 0.05], [0.05, 0.0, 0.1], mass=1.0)]
    cloth, _ = go(
        garments, 12, gravity=NOWHERE, throw=throw,
        look=lambda cloth, state, report: rows.append(
            (cloth.mass @ state.v, energy(cloth, state), state.v[cloth.garment == 0, 2].mean(), report.worst_stretch)
        ),
    )  # fmt: skip
    momentum, energies, speed, stretch = (np.array(column) for column in zip(*rows, strict=True))
    size = np.linalg.norm(momentum[0])
    assert np.abs(momentum - momentum[0]).max() < 1e-12 * size
    assert speed[-1] < -0.3, "the sheet goes with it"
    first = 0.5 * float(cloth.mass[cloth.garment == 1].sum()) * (0.3**2 + 1.5**2)
    assert energies.max() <= first * (1 + 1e-9) and (np.diff(energies) < 0.01 * first).all()
    assert stretch.max() < 0.3


def test_balls_in_a_heap_keep_apart():
    balls = [stone(str(k), 200, [0.1] * 3, [0.03 * k, 0.02 * (-1) ** k, 0.12 + 0.24 * k]) for k in range(3)]
    cloth, state = go(balls, 30, (floor(),))
    middles = np.array([state.x[cloth.garment == k].mean(axis=0) for k in range(3)])
    apart = np.linalg.norm(middles[:, None] - middles, axis=2)[np.triu_indices(3, 1)]
    assert apart.min() > 0.195 and state.x[:, 2].min() + cloth.origin[2] > 0.0029


def test_same_bits_again_and_from_a_state_that_was_kept():
    garments = [sheet("Sheet", 21, 21, 0.02), stone("Stone", 80, [0.06, 0.04, 0.03], [0.0, 0.0, 0.05])]
    kept = []
    _, one = go(garments, 8, (floor(),), look=lambda _, state, __: kept.append(copied(state)))
    cloth, _ = build(garments, FIELD)
    other = kept[4]
    for frame in range(6, 9):
        advance(cloth, other, given(cloth, other, (floor(),)), frame, FIELD)
    assert np.array_equal(one.x, other.x) and np.array_equal(one.v, other.v)


@pytest.mark.parametrize(
    ("changed", "settings", "sentence"),
    [
        ({}, {"cloth_contact": "PAIRS"}, "'Stone' is rigid, which the velocity field alone can move: choose"),
        ({}, {"cloth_contact": "BOTH"}, "choose Cloth on Cloth: Velocity Field"),
        ({}, {"dynamics": "RK4"}, "these dynamics cannot move: choose Linearly Implicit"),
        ({"pin": np.ones(80)}, {}, "cannot be pinned: clear its Pin"),
        ({"pin_distance": np.ones(80)}, {}, "cannot be pinned"),
        ({"sewing": True}, {}, "neither sewn nor torn"),
        ({"pleats": Pleats(np.array([[0, 1]]), np.ones(1), np.ones(1))}, {}, "has no pleats"),
    ],
)
def test_what_a_rigid_garment_cannot_do_is_told(changed, settings, sentence):
    garment = stone("Stone", 80, [0.1] * 3, NOWHERE)._replace(**changed)
    with pytest.raises(ValueError, match=sentence):
        build([garment], FIELD._replace(**settings))
