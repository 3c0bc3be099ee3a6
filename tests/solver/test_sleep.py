# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that hardly moves comes to rest, to the bit, and wakes for all that it would feel."""

from functools import cache

import numpy as np
import pytest
from crossings import count_in
from sheets import GRAVITY, floor, folded, sheet
from taffeta.solver import shot, sleep, step
from taffeta.solver.build import build
from taffeta.solver.cache.frames import open_cache
from taffeta.solver.cache.names import cache_paths
from taffeta.solver.model import Collider, FrameInput, Settings
from taffeta.solver.parts import copied

FRAME = 1.0 / 24.0  # [s]
ASLEEP = 60  # frames after which a folded strip rests
RESTLESS = Settings(sleep_speed=0.0)


def strip(place=folded, **values):
    """A strip that lies over itself when it has fallen by a centimetre."""
    return sheet("Strip", 18, 8, 0.06, lambda x: place(x) + [0.0, 0.0, 0.01], **values)


def still(body):
    """A body that stays where it is."""
    return body._replace(x=body.x[:1].repeat(2, axis=0))


def given(cloth, bodies=(), gravity=GRAVITY, **other):
    targets = (cloth.x_rest + cloth.origin)[None].repeat(2, axis=0)
    return FrameInput(FRAME, targets, tuple(bodies), gravity, np.zeros(3), **other)


@cache
def _asleep():
    cloth, state = build([strip()], Settings())
    steps = [step.advance(cloth, state, given(cloth, [floor()]), k, Settings()).steps for k in range(ASLEEP)]
    return cloth, state, steps


def asleep():
    """A strip that has come to rest on a floor, its state, and the small steps of each frame."""
    cloth, state, steps = _asleep()
    return cloth, copied(state), steps


def moves(cloth, state, frame_input, settings=None):
    """[m] that each particle goes in a frame."""
    before = state.x.copy()
    step.advance(cloth, state, frame_input, ASLEEP, settings or Settings())
    return np.linalg.norm(state.x - before, axis=1)


def test_what_lies_rests_to_the_bit_and_takes_one_step_a_frame():
    cloth, state, steps = asleep()
    assert not moves(cloth, state, given(cloth, [floor()])).any()
    assert not state.v.any()
    assert steps[-1] < 0.2 * max(steps)


def test_without_sleep_it_trembles_for_ever():
    cloth, state, _ = asleep()
    assert moves(cloth, state, given(cloth, [floor()]), RESTLESS).max() > 1e-6


def speeds(settings):
    """[m/s] of the fastest particle of a curtain that hardly swings, frame after frame."""
    pin = np.repeat([1.0] + 8 * [0.0], 9)
    hung = sheet("Curtain", 9, 9, 0.13, lambda x: x[:, [2, 1, 0]] * [1.0, 1.0, -1.0], pin=pin)
    cloth, state = build([hung], settings)
    state.v[:, 0] = 0.008 * (cloth.inv_mass > 0.0)
    held = given(cloth)._replace(targets=(state.x + cloth.origin)[None].repeat(2, axis=0))
    return np.array([moves(cloth, state, held, settings).max() for _ in range(30)]) / FRAME


def test_it_comes_to_a_standstill_without_a_jerk():
    slept, swung = speeds(Settings()), speeds(RESTLESS)
    assert slept[-1] == 0.0 < swung[-1]
    assert -np.diff(slept).min() < 1.5 * -np.diff(swung).min()


@pytest.mark.parametrize("gone", ["floor", "gravity"])
def test_what_it_lies_on_and_what_holds_it_there_may_go(gone):
    cloth, state, _ = asleep()
    if gone == "floor":
        assert moves(cloth, state, given(cloth)).mean() > 0.9 * 0.5 * 9.81 * FRAME**2
    else:
        assert moves(cloth, state, given(cloth, [floor()], gravity=np.array([9.81, 0.0, 0.0]))).mean() > 1e-4


def test_a_body_that_moves_near_it_wakes_it_in_that_frame_and_one_far_off_does_not():
    cloth, state, _ = asleep()
    low = state.x.min(axis=0) + cloth.origin
    corners = np.array([[-0.05, -1.0, 0.0], [0.0, -1.0, 0.1], [0.0, 1.0, 0.1], [-0.05, 1.0, 0.0]])
    faces = np.array([[0, 1, 2], [0, 2, 3], [2, 1, 0], [3, 2, 0]], np.int32)
    for far, is_woken in ((5.0, False), (0.01, True)):
        start = corners + [low[0] - far, 0.0, low[2]]
        board = Collider("Board", np.stack([start, start + [0.1, 0.0, 0.0]]), faces, 0.3, 0.0, 0.003)
        went = moves(cloth, copied(state), given(cloth, [floor(), board]))
        assert went.any() == is_woken
        assert not is_woken or went.max() > 0.01


def test_a_pin_that_moves_wakes_it():
    cloth, state, _ = asleep()
    pin = np.zeros(len(state.x))
    pin[:8] = 1.0
    targets = np.stack([state.x, state.x + [0.0, 0.0, 0.02]]) + cloth.origin
    frame_input = given(cloth, [floor()], pin=pin)._replace(targets=targets)
    assert moves(cloth, state, frame_input)[:8] == pytest.approx(0.02)


def test_another_garment_that_comes_near_wakes_it_before_they_touch():
    alone, slept, _ = asleep()
    upper = strip(lambda x: folded(x) + [0.0, 0.0, 0.6])._replace(name="Upper")
    cloth, state = build([strip(), upper], Settings())
    lower, went = slice(*cloth.garment_start[:2]), []
    state.x[lower], state.still[0] = slept.x + alone.origin - cloth.origin, slept.still[0]
    for _ in range(14):
        went.append(moves(cloth, state, given(cloth, [floor()]))[lower].max())
        assert not any(count_in(cloth, state.x, (floor(),)))
    assert not any(went[:5]) and max(went) > 1e-3


def test_a_body_that_may_fling_another_garment_at_it_wakes_it():
    """Half a metre above hangs another one, which by its own speed and gravity gets nowhere near in a frame."""
    alone, slept, _ = asleep()
    upper = strip(lambda x: folded(x) + [0.0, 0.0, 0.5])._replace(name="Upper")
    cloth, state = build([strip(), upper], Settings())
    lower = slice(*cloth.garment_start[:2])
    state.x[lower], state.still[0] = slept.x + alone.origin - cloth.origin, slept.still[0]
    corners = np.array([[-1.0, -1.0, 0.8], [1.0, -1.0, 0.8], [0.0, 1.0, 0.8]])
    for way, share in ((0.0, 0.0), (0.6, 1.0)):
        swat = Collider(
            "Swat", np.stack([corners, corners - [0.0, 0.0, way]]), np.array([[0, 1, 2]], np.int32), 0.3, 0.0, 0.003
        )
        found = sleep.begin(cloth, copied(state), given(cloth, [floor(), swat]), Settings())
        assert (1.0 if found is None else found[0]) == share


def test_a_ribbon_that_swings_keeps_awake_what_it_hangs_on():
    rows, columns, slit = 20, 40, 37  # the last three columns hang on the first row alone
    pin = np.repeat((np.arange(rows) < 1).astype(float), columns)
    gown = sheet("Gown", rows, columns, 0.03, lambda x: x[:, [2, 1, 0]] * [1.0, 1.0, -1.0], pin=pin, damping=0.0)
    beside = [
        part[np.ptp((part % columns >= slit).astype(int), axis=1) == 0]
        for part in (gown.triangles, gown.quads, gown.edges)
    ]
    gown, ends = gown._replace(**dict(zip(("triangles", "quads", "edges"), beside, strict=True)), uv=None), []
    for settings in (Settings(air_drag=0.0), RESTLESS._replace(air_drag=0.0)):
        cloth, state = build([gown], settings)
        down, across = np.divmod(np.arange(rows * columns), columns)
        state.v[:, 0] = 0.06 * down / rows * (across >= slit)
        held = given(cloth)._replace(targets=(state.x + cloth.origin)[None].repeat(2, axis=0))
        for _ in range(40):
            step.advance(cloth, state, held, 0, settings)
        ends.append(state.x)
    assert np.array_equal(*ends)


def test_a_sheet_that_slides_slowly_goes_on():
    """On a slope just above the angle of friction, from rest: a hundredth of g is enough."""
    slope = np.arctan(0.3) + 0.01
    cloth, state = build([sheet("Sheet", 7, 7, 0.03, lambda x: x + [0.0, 0.0, 0.004])], Settings())
    gravity = 9.81 * np.array([np.sin(slope + 0.02), 0.0, -np.cos(slope + 0.02)])
    for _ in range(40):
        moves(cloth, state, given(cloth, [floor(0.3)], gravity))
    assert state.v[:, 0].min() > 0.05


def test_a_bake_that_resumes_while_it_falls_asleep_has_the_bits_of_one_that_ran_through(tmp_path):
    def bake(folder, last):
        cloth, state = build([strip()], Settings())
        with open_cache(cache_paths(folder, ["Strip"])[0], len(state.x), 0, 24.0) as cache:
            inputs = (given(cloth, [floor()]) for _ in range(last + 1))
            baked = [
                frame
                for frame, report in shot.run(cloth, state, inputs, range(last + 1), Settings(), [cache])
                if report
            ]
            return baked, [cache.load(frame) for frame in cache.good_frames()], cache.line(last).still

    _, whole, rest = bake(tmp_path / "whole", ASLEEP)
    middle = next(k for k in range(1, ASLEEP) if (whole[k + 9][0] == whole[k + 10][0]).all())
    bake(tmp_path / "parts", middle)
    baked, parts, again = bake(tmp_path / "parts", ASLEEP)
    assert baked == list(range(middle + 1, ASLEEP + 1)) and again == rest and rest[0] > 0.0
    assert all(
        np.array_equal(a, b) for one, other in zip(whole, parts, strict=True) for a, b in zip(one, other, strict=True)
    )
