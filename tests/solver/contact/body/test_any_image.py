# SPDX-License-Identifier: GPL-3.0-or-later
"""The image only finds: whatever its pixels, its box and what else is in it, a shot has the same bits."""

import numpy as np
import pytest
from sheets import GRAVITY, sheet
from solids import torus
from taffeta.solver.build import build
from taffeta.solver.ldi.rasterise import render_motion
from taffeta.solver.model import Collider, FrameInput, Settings
from taffeta.solver.step import advance

FRAMES = 10


def globe(around=48, rings=16, radius=0.1):
    """A closed ball of meridians, each pole of which more triangles meet in than a point remembers."""
    turn, fall = 2.0 * np.pi * np.arange(around) / around, np.pi * np.arange(1, rings) / rings
    ring = np.sin(fall)[:, None, None] * np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], 1)
    ring[:, :, 2] = np.cos(fall)[:, None]
    x = radius * np.concatenate([[[0.0, 0.0, 1.0]], ring.reshape(-1, 3), [[0.0, 0.0, -1.0]]])
    i, last, a, b = np.arange(around), len(x) - 1, 1 + np.arange(around), 1 + (np.arange(around) + 1) % around
    triangles = [np.stack([0 * i, a, b], 1), np.stack([last + 0 * i, last - b, last - a], 1)]
    for row in around * np.arange(rings - 2):
        triangles += [np.stack([row + a, row + around + a, row + b], 1)]
        triangles += [np.stack([row + b, row + around + a, row + around + b], 1)]
    return x, np.concatenate(triangles).astype(np.int32)


def fall(mesh, height, turn, render):
    """Positions and velocities of a sheet after it fell on a body that turns by so much in a frame [rad]."""
    cloth, state = build([sheet("Sheet", 21, 21, 0.02, lambda x: x + [0.0, 0.0, height])], Settings(substeps=5))
    for frame in range(1, FRAMES + 1):
        x = np.stack([mesh[0] @ about_z(turn * (frame - 1 + part)).T for part in (0.0, 0.5, 1.0)])
        body = Collider("Body", x, mesh[1], 0.3, 0.0, 0.003)
        given = FrameInput(1 / 24, (state.x + cloth.origin)[None].repeat(2, 0), (body,), GRAVITY, np.zeros(3))
        advance(cloth, state, given, frame, Settings(substeps=5), render)
    return np.array(state)


def about_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def other_pixels(rng, trajectories, triangles, near, low, high, resolution):
    return render_motion(trajectories, triangles, near, low, high, max(2, int(resolution * rng.uniform(0.3, 2.5))))


def larger_box(rng, trajectories, triangles, near, low, high, resolution):
    room = rng.uniform(0.0, 0.4) * (high - low).max()
    return render_motion(trajectories, triangles, near, low - room, high + room, resolution)


def more_hits(rng, trajectories, triangles, near, low, high, resolution):
    """Triangles in pixels that they do not touch, too."""
    deviation = trajectories.deviation + rng.uniform(0.0, 1.0) * (high - low).max() / resolution
    return render_motion(trajectories._replace(deviation=deviation), triangles, near, low, high, resolution)


@pytest.mark.parametrize(
    ("mesh", "height", "turn"), [(globe(), 0.14, 0.0), (globe(), 0.14, 0.02), (torus(40, 40, 0.12, 0.05), 0.08, 0.02)]
)
def test_the_same_bits_whatever_the_image(mesh, height, turn):
    """Also where the sheet's middle comes down on a pole, as near to one of its triangles as to the other."""
    whole = fall(mesh, height, turn, render_motion)
    assert np.abs(whole[1]).max() > 0.1
    rng, drawn = np.random.default_rng(3), 0
    for draw in (other_pixels, larger_box, more_hits):

        def render(*what, draw=draw):
            nonlocal drawn
            drawn += len(what[2]) > 0
            return draw(rng, *what) if len(what[2]) else render_motion(*what)

        assert np.array_equal(fall(mesh, height, turn, render), whole), draw.__name__
    assert drawn > 2 * FRAMES
