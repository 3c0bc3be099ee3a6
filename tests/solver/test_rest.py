# SPDX-License-Identifier: GPL-3.0-or-later
"""What cloth keeps of bending and stretch, and two rest shapes blended: closed forms, resumed bakes, threads."""

import naive
import numpy as np
import pytest
from numba import config, set_num_threads
from taffeta.solver import shot
from taffeta.solver.build import build
from taffeta.solver.cache.frames import open_cache
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

VACUUM = Settings(air_drag=0.0)
YIELD = np.radians(30.0)


def hinge(**changes):
    """Two squares of 0.1 m side by side; the left one is held."""
    garment = naive.sheet(3, 2, 0.2, 0.1, bending_stiffness=1e-3, damping=20.0, yields=True, **changes)
    return garment._replace(pin=(garment.x[:, 0] < 0.15).astype(float))


def turned(x, angle):
    """The right square turned about the middle line, up by `angle` [rad]."""
    x = x.copy()
    right = x[:, 0] > 0.15
    x[right, 0], x[right, 2] = 0.1 + 0.1 * np.cos(angle), 0.1 * np.sin(angle)
    return x


def frame_of(garment, x, yields, pin=None):
    return naive.still(x, gravity=(0, 0, 0))._replace(yields=np.array([yields], float), pin=pin)


def angle_of(x):
    """By which the right square is turned up [rad]."""
    tip = x[4:].mean(axis=0)
    return np.arctan2(tip[2], tip[0] - 0.1)


def bend_and_let_go(angle, yields, frames=40, afterwards=None):
    """The angle [rad] that a hinge keeps which was held bent by `angle` for so many frames."""
    garment = hinge()
    cloth, state = build([garment], VACUUM)
    held = np.ones(len(garment.x))
    path = [turned(garment.x, angle * share) for share in np.linspace(0.0, 1.0, 11)]
    for frame, (a, b) in enumerate(zip(path[:-1], path[1:], strict=True), 1):
        advance(cloth, state, frame_of(garment, np.stack([a, b]), yields, held), frame, VACUUM)
    for frame in range(frames):
        advance(cloth, state, frame_of(garment, path[-1], yields, held), 11 + frame, VACUUM)
    for frame in range(100):
        advance(cloth, state, frame_of(garment, path[-1], afterwards or yields), 11 + frames + frame, VACUUM)
        state.v[:] *= 0.9
    return angle_of(state.x + cloth.origin)


@pytest.mark.parametrize("angle", [80.0, -60.0])
def test_a_hinge_that_was_bent_for_long_keeps_that_less_the_yield(angle):
    kept = bend_and_let_go(np.radians(angle), (YIELD, 50.0, 0.1, 0.0))
    assert np.degrees(kept) == pytest.approx(angle - np.sign(angle) * 30.0, abs=0.5)


def test_a_hinge_below_its_yield_goes_back():
    assert np.degrees(bend_and_let_go(np.radians(25.0), (YIELD, 50.0, 0.1, 0.0))) == pytest.approx(0.0, abs=0.1)


def test_what_is_held_for_a_moment_keeps_a_part():
    """At the rate r for the time t: of the excess e, e (1 - exp(-r t)); bent over ten frames, then held for four."""
    rate = 2.0
    kept, plastic = bend_and_let_go(np.radians(80.0), (YIELD, rate, 0.1, 0.0), 4, (YIELD, 0.0, 0.1, 0.0)), 0.0
    bent = [*np.linspace(8.0, 80.0, 10), *[80.0] * 4]
    for angle in bent:
        plastic += max(angle - plastic - 30.0, 0.0) * (1.0 - np.exp(-rate / 24.0))
    assert np.degrees(kept) == pytest.approx(plastic, abs=0.2)


def test_a_strip_that_was_pulled_keeps_what_is_beyond_the_yield_and_nothing_below():
    """Pulled to 1.3 of its length with a yield strain of 0.1 it keeps 1.3 / 1.1 of it."""
    for pulled, expected in ((1.30, 1.3 / 1.1 - 1.0), (1.08, 0.0)):
        garment = naive.sheet(5, 2, 0.4, 0.1, yields=True, damping=20.0, shear_stiffness=0.0)
        held = np.ones(len(garment.x))
        garment = garment._replace(pin=(garment.x[:, 0] < 0.05).astype(float))
        cloth, state = build([garment], VACUUM)
        longer = garment.x * [pulled, 1.0, 1.0]
        yields = (9.0, 0.0, 0.1, 60.0)
        advance(cloth, state, frame_of(garment, np.stack([garment.x, longer]), yields, held), 1, VACUUM)
        for frame in range(2, 12):
            advance(cloth, state, frame_of(garment, longer, yields, held), frame, VACUUM)
        for frame in range(12, 60):
            advance(cloth, state, frame_of(garment, garment.x, yields), frame, VACUUM)
            state.v[:] *= 0.9
        assert np.ptp(state.x[:, 0]) / 0.4 - 1.0 == pytest.approx(expected, abs=0.004)


def test_two_rest_shapes_blend_from_frame_to_frame():
    """Flat and short to bent by 90 degrees and half as long again, as the share says."""
    garment = hinge()
    other = turned(garment.x, np.radians(90.0)) * [1.0, 1.5, 1.0]
    garment = garment._replace(x_second=other, yields=False, pin=np.zeros(len(garment.x)))
    cloth, state = build([garment], VACUUM)
    for share in (0.0, 0.5, 1.0):
        for frame in range(60):
            still = naive.still(garment.x, gravity=(0, 0, 0))._replace(rest_blend=(share,))
            advance(cloth, state, still, frame + 1, VACUUM)
            state.v[:] *= 0.8
        x = state.x.reshape(3, 2, 3)
        one, two = x[1] - x[0], x[2] - x[1]
        cosine = (one * two).sum(axis=1) / np.linalg.norm(one, axis=1) / np.linalg.norm(two, axis=1)
        assert np.degrees(np.arccos(cosine.clip(-1, 1))) == pytest.approx(90.0 * share, abs=1.5)
        assert np.linalg.norm(x[:, 1] - x[:, 0], axis=1) == pytest.approx(0.1 * (1.0 + 0.5 * share), rel=0.01)


def yielding_shot(frames):
    """Two garments of which one yields, thrown about by a wind; the other never does."""
    one = naive.sheet(6, 6, 0.3, 0.3, yields=True, pin=np.arange(36) < 6, bending_stiffness=1e-4)
    other = naive.sheet(5, 5, 0.3, 0.3, pin=np.arange(25) < 5)
    other = other._replace(name="Other", x=other.x + [1.0, 0, 0], x_start=other.x_start + [1.0, 0, 0])
    x = np.concatenate([one.x, other.x])
    yields = np.array([[0.02, 20.0, 0.0005, 20.0], [np.inf, 0.0, np.inf, 0.0]])
    inputs = [naive.still(x, wind=(3.0, 2.0, 8.0))._replace(yields=yields) for _ in frames]
    return [one, other], inputs


def bake(folder, frames, stop=None, threads=1):
    """The garments' caches after a bake of `frames`, or of those up to `stop`: positions, and what stayed."""
    set_num_threads(min(threads, config.NUMBA_NUM_THREADS))
    garments, inputs = yielding_shot(frames)
    cloth, state = build(garments, VACUUM)
    caches = [open_cache(folder / f"{g.name}.pc2", len(g.x), frames.start, 24.0) for g in garments]
    try:
        for frame, _ in shot.run(cloth, state, inputs, frames, VACUUM, caches):
            if frame == stop:
                break
        last = caches[0].good_frames().stop - 1
        return [(cache.load(last)[0], cache.plastic(last)) for cache in caches], [c.older for c in caches]
    finally:
        for cache in caches:
            cache.close()


def test_a_resumed_bake_is_the_same_to_the_bit_on_any_number_of_threads(tmp_path):
    frames = range(1, 7)
    whole, _ = bake(tmp_path / "whole", frames)
    (x, plastic), (_, none) = whole
    assert len(plastic) and np.abs(plastic).max() > 0.01 and len(none) == 0
    bake(tmp_path / "parts", frames, stop=3)
    parts, older = bake(tmp_path / "parts", frames, threads=2)
    set_num_threads(1)
    assert older == [None, None]
    for (a, p), (b, q) in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(p, q)


def test_a_damaged_memory_ends_a_bake_there(tmp_path):
    """The last numbers of a frame's state are what stayed; a bit of them flipped is no good frame."""
    frames = range(1, 5)
    bake(tmp_path, frames)
    path = tmp_path / "Sheet.state"
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    with open_cache(tmp_path / "Sheet.pc2", 36, 1, 24.0) as cache:
        assert cache.good_frames() == range(1, 4)


def test_an_elastic_garment_keeps_no_numbers():
    cloth, state = build([naive.sheet(4, 4)], VACUUM)
    assert cloth.plastic is None and cloth.second is None and state.plastic is None
