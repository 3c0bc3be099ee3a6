# SPDX-License-Identifier: GPL-3.0-or-later
"""The image only finds: whatever its pixels, its box and what else is in it, a shot has the same bits."""

import numpy as np
import pytest
from sheets import GRAVITY, sheet
from solids import torus
from taffeta.solver.build import build
from taffeta.solver.contact.body.ahead import Scene, draw_ahead, see
from taffeta.solver.ldi.ahead import WideImage, taken_out
from taffeta.solver.ldi.rasterise import render_motion, resting
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


def fall(mesh, height, turn, render, begin=lambda *what: None):
    """Positions and velocities of a sheet after it fell on a body that turns by so much in a frame [rad]."""
    cloth, state = build([sheet("Sheet", 21, 21, 0.02, lambda x: x + [0.0, 0.0, height])], Settings(substeps=5))
    for frame in range(1, FRAMES + 1):
        given = frame_input(cloth, state, body_of(mesh, turn, frame))
        begin(frame, cloth, state)
        advance(cloth, state, given, frame, Settings(substeps=5), render)
    return np.array([state.x, state.v])


def frame_input(cloth, state, body):
    return FrameInput(1 / 24, (state.x + cloth.origin)[None].repeat(2, 0), (body,), GRAVITY, np.zeros(3))


def about_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def body_of(mesh, turn, frame):
    x = np.stack([mesh[0] @ about_z(turn * (frame - 1 + part)).T for part in (0.0, 0.5, 1.0)])
    return Collider("Body", x, mesh[1], 0.3, 0.0, 0.003)


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


@pytest.mark.parametrize(("mesh", "turn"), [(globe(), 0.0), (torus(40, 40, 0.12, 0.05), 0.05)])
def test_the_same_bits_from_images_drawn_before_the_cloth_was_known(mesh, turn):
    """Each of them when the sheet stood as it did one to three frames before. What the sheet has come to by then is in most."""
    height = float(mesh[0][:, 2].max()) + 0.03
    whole = fall(mesh, height, turn, render_motion)
    frames = {}  # of the cloth, as each began; the images drawn ahead
    taken = []

    def begin(frame, cloth, state):
        frames[frame] = see(frame, cloth, state, frames.get(frame - 1))
        frames["now"], frames["cloth"] = frame, (cloth, state)

    def render(trajectories, triangles, near, low, high, resolution):
        drawn = render_motion(trajectories, triangles, near, low, high, resolution)
        if frames["now"] < 5 or not len(near):
            return drawn
        for later in (1, 2, 3):
            scene = Scene(triangles, len(trajectories.middle), drawn.pixel)
            given = frame_input(*frames["cloth"], body_of(mesh, turn, frames["now"]))
            wide = draw_ahead(render_motion, frames[frames["now"] - later], frames["now"], given, scene)
            image = taken_out(wide, trajectories, triangles, near, low, high)
            taken.append(image is not None)
            if image is not None:
                assert set(image.triangle) >= set(drawn.triangle)
                drawn = image
        return drawn

    assert np.array_equal(fall(mesh, height, turn, render, begin), whole)
    assert np.mean(taken) > 0.5 and len(taken) > 3 * 4


def test_what_was_drawn_of_something_else_is_not_taken():
    """Other vertices, other triangles, a longer way, a larger box, a triangle more."""
    (x, triangles), low, high = globe(), np.full(3, -0.08), np.full(3, 0.08)
    here = resting(x)._replace(half=np.full(x.shape, 0.001))
    near = np.flatnonzero(x[triangles[:, 0], 2] > 0.02).astype(np.int32)
    drawn = np.zeros(len(triangles), np.bool_)
    drawn[near] = True
    image = render_motion(here, triangles, near, low, high, 32)
    wide = WideImage(here, triangles, drawn, near, image)
    wanted = here, triangles, near[5:], low + 0.01, high
    assert set(taken_out(wide, *wanted).triangle) == set(image.triangle[image.triangle >= 5] - 5)
    others = [
        (here._replace(middle=x + 1e-6), *wanted[1:]),
        (here._replace(half=1.1 * here.half), *wanted[1:]),
        (here._replace(deviation=here.deviation + 1e-5), *wanted[1:]),
        (here, triangles[:, [1, 2, 0]], *wanted[2:]),
        (here, triangles[:-1], *wanted[2:]),
        (resting(np.concatenate([x, x])), *wanted[1:]),
        (here, triangles, np.append(near, np.int32(len(triangles) - 1)), low, high),
        (*wanted[:3], low - 0.01, high),
        (*wanted[:3], low, high + 0.01),
    ]
    assert not [number for number, other in enumerate(others) if taken_out(wide, *other) is not None]
