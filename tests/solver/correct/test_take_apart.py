# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked frames whose garments pass through each other and a body: counted by ipctk; what is moved does not jump."""

import numpy as np
import pytest
from crossings import count_crossings
from sheets import sheet
from solids import ball
from taffeta.solver.correct.take_apart import Cast, take_apart
from taffeta.solver.untangle.nest import Shape, Worn

pytestmark = pytest.mark.once

EDGE, FRAMES = 0.02, 12


def dipping(count=25):
    """A sheet over another one, 3 mm higher, of which a bump comes down through that and goes; a ball far below both."""
    flat = sheet("Lower", count, count, EDGE)
    x, triangles = flat.x - flat.x.mean(axis=0), flat.triangles
    bump = np.exp(-((x[:, :2] / 0.04) ** 2).sum(axis=1))
    upper = np.repeat(x[None] + [0.003, 0.004, 0.003], FRAMES, axis=0)
    # a flutter beside the dip, as a bake has it: what one frame needs is not what the next one does
    depth = 0.009 * np.sin(np.linspace(-0.6, np.pi + 0.6, FRAMES)) + 0.001 * (-1.0) ** np.arange(FRAMES)
    upper[:, :, 2] -= np.maximum(depth, 0.0)[:, None] * bump
    body, faces = ball(0.1, 12)
    body = np.repeat((body + [0.0, 0.0, -0.5])[None], FRAMES, axis=0)
    worn = [Worn(name, x, triangles, np.full(len(x), 0.002), 0, 1.0) for name in ("Lower", "Upper")]
    places = [np.repeat(x[None], FRAMES, axis=0), upper]
    return Cast(
        worn, places, [Shape("Ball", body[0], faces, 0.003)], [body], np.ones((2, 3), bool), np.ones(FRAMES, bool)
    )


def run(cast, stretch=0.1, width=1.0, opens=False, ends=False):
    steps, shares = take_apart(cast, stretch, width, opens, ends), []
    try:
        while True:
            shares.append(next(steps))
    except StopIteration as end:
        assert shares == sorted(shares) and 0.0 <= shares[0] and shares[-1] < 1.0
        return end.value


def crossing(cast, moved, frame):
    x = [place[frame] + move[frame] for place, move in zip(cast.x, moved, strict=True)]
    triangles = np.concatenate([cast.worn[0].triangles, cast.worn[1].triangles + len(x[0])])
    owner = np.repeat([0, 1], [len(places) for places in x])
    return sum(
        count_crossings(np.concatenate(x), triangles, owner, [(cast.body_x[0][frame], cast.shapes[0].triangles)])
    )


def still(cast):
    return [np.zeros_like(x) for x in cast.x]


def test_nothing_crosses_in_any_frame_and_nothing_jumps():
    cast = dipping()
    before = [crossing(cast, still(cast), frame) for frame in range(FRAMES)]
    assert max(before) > 30 and min(before) == 0
    jumps = {}
    for width in (0.01, 1.0):
        found = run(cast, width=width)
        assert not any(crossing(cast, found.moved, frame) for frame in range(FRAMES))
        assert ((found.before > 0) == (np.array(before) > 0)).all() and not found.after.any()
        jumps[width] = max(np.linalg.norm(np.diff(moved, axis=0), axis=2).max() for moved in found.moved)
    print(f"largest change of what is moved from frame to frame: {1000 * jumps[0.01]:.2f}, {1000 * jumps[1.0]:.2f} mm")
    assert jumps[1.0] < 0.8 * jumps[0.01]
    far = np.abs(cast.x[0][0, :, :2]).max(axis=1) > 0.15
    assert all((moved[:, far] == 0.0).all() for moved in found.moved), (
        "what is far from all that crosses stays to the bit"
    )


def test_frames_that_do_not_count_come_along_and_get_no_worse():
    cast = dipping()
    counts = np.arange(FRAMES) < FRAMES // 2
    found = run(cast._replace(counts=counts), opens=True, ends=True)
    assert not found.after.any() and not found.before[~counts].any()
    assert not any(crossing(cast, found.moved, frame) for frame in np.flatnonzero(counts))
    assert any(np.abs(moved[FRAMES // 2]).max() > 0.0 for moved in found.moved)
    for frame in np.flatnonzero(~counts):
        assert crossing(cast, found.moved, frame) <= crossing(cast, still(cast), frame)


def test_what_edges_are_too_stiff_for_stays_as_it_was():
    cast = dipping()
    found = run(cast, stretch=1e-5)
    assert found.after.any() and (found.after <= found.before).all()
    for frame in range(FRAMES):
        assert crossing(cast, found.moved, frame) <= crossing(cast, still(cast), frame)
