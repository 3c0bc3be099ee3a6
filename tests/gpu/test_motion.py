# SPDX-License-Identifier: GPL-3.0-or-later
"""The graphics card's image of moving bodies: it misses nothing that the CPU finds, wherever a graphics context can be had."""

import subprocess
import sys

import bpy  # noqa: F401  (brings gpu)
import gpu
import numpy as np
import pytest
from sheets import GRAVITY, sheet
from solids import random_closed, torus
from taffeta.gpu_ldi import motion_shader
from taffeta.gpu_ldi.context import NoGraphics, ensure_context
from taffeta.gpu_ldi.motion import MotionRenderer
from taffeta.solver.build import build
from taffeta.solver.ldi.rasterise import THREE_DIRECTIONS, lay_out, render_motion, resting
from taffeta.solver.ldi.texels import pack
from taffeta.solver.model import Collider, FrameInput, Settings
from taffeta.solver.step import advance


@pytest.fixture(scope="module")
def card():
    """What draws on the graphics card."""
    try:
        ensure_context()
    except NoGraphics as reason:
        pytest.skip(str(reason))
    return MotionRenderer()


def moving(x, way=0.0, deviation=0.0, seed=0):
    """Trajectories of vertices that go to and fro at random."""
    half = way * np.random.default_rng(seed).normal(size=x.shape)
    return resting(x)._replace(half=half, deviation=np.full(len(x), deviation))


def hits(image, count):
    """A number for each pair of pixel and triangle, in order, and its depth [pixels]."""
    pixel = np.repeat(np.arange(len(image.pixel_start) - 1), np.diff(image.pixel_start))
    key = pixel.astype(np.int64) * count + image.triangle
    order = np.argsort(key, kind="stable")
    return key[order], image.depth[order] / image.pixel


def check(card, trajectories, triangles, low, high, resolution, near=None):
    """Draw on both; returns how many hits each has. Nothing may be missing, nor deeper or less deep by a tenth of a pixel."""
    near = np.arange(len(triangles), dtype=np.int32) if near is None else near
    ours, theirs = (
        draw(trajectories, triangles, near, low, high, resolution) for draw in (card.render_motion, render_motion)
    )
    for field in ("low", "pixel", "shape", "first_pixel"):
        assert np.array_equal(getattr(ours, field), getattr(theirs, field)), field
    (keys, depth), (wanted, wanted_depth) = hits(ours, len(triangles)), hits(theirs, len(triangles))
    assert (np.diff(keys) > 0).all()  # each once
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    found = keys[at] == wanted if len(keys) else np.zeros(len(wanted), bool)
    for triangle in np.unique(wanted[~found] % len(triangles)):  # it faces two axes alike and is drawn along the other
        directions = [
            np.unique(np.searchsorted(ours.first_pixel, k[k % len(triangles) == triangle] // len(triangles), "right"))
            for k in (keys, wanted)
        ]
        assert len(directions[0]) == 1 and directions[0] != directions[1]
    assert np.abs(depth[at] - wanted_depth)[found].max(initial=0.0) < 0.1
    return len(keys), len(wanted)


@pytest.mark.parametrize("resolution", [8, 32, 64, 128, 512])
def test_a_moving_torus(card, resolution):
    """A few pixels more than the CPU finds, where a corner of one is touched within rounding: one in a hundred at most."""
    x, triangles = torus()
    ours, theirs = check(card, moving(x, 0.01, 0.002), triangles, x.min(0) - 0.02, x.max(0) + 0.02, resolution)
    assert theirs <= ours < 1.01 * theirs


def test_closed_meshes_flat_far_and_huge(card):
    """Dents, hulls, edges on pixel borders; a kilometre away, flattened to a micrometre, a thousand times the box."""
    rng = np.random.default_rng(2)
    others = 0
    for number in range(200):
        x, triangles = random_closed(rng, number)
        if number % 3 == 0:
            x = x + 1000.0
        if number % 5 == 0:
            x = x * [1.0, 1.0, 1e-6]
        if number % 7 == 0:
            x = (x - x.mean(axis=0)) * 1e3
        low, high = (x.min(0) - 0.25, x.min(0) + 1.75) if number % 2 else (x.min(0), x.max(0))
        trajectories = moving(x, 0.01 * (number % 2), 0.002 * (number % 4), number)
        check(card, trajectories, triangles, low, high, 24)
        near, raster = np.arange(len(triangles), dtype=np.int32), lay_out(low, high, 24, THREE_DIRECTIONS)
        others += len(pack(trajectories, triangles, near, raster).others)
    assert others > 20  # what 32 bits do not hold was drawn by the CPU, and had to be


def test_a_large_body_and_some_of_its_triangles(card):
    x, triangles = torus(320, 320)
    near = np.flatnonzero(x[triangles[:, 0], 0] > 0.2).astype(np.int32)
    assert len(triangles) > 200_000 and 0 < len(near) < len(triangles)
    ours, theirs = check(card, moving(x, 0.001), triangles, x.min(0), x.max(0), 128, near)
    assert ours < 1.01 * theirs


@pytest.mark.parametrize("copies", [1, 3000])
def test_a_ground_of_two_triangles_fills_every_pixel(card, copies):
    """Few and large, whose lines are shared out; and beside so many others that they are not."""
    x = np.array([[-40.0, -40, 0], [40, -40, 0.1], [40, 40, 0.3], [-40, 40, -0.2]])
    triangles = np.tile(np.array([[0, 1, 2], [0, 2, 3]], np.int32), (copies, 1))
    triangles[2:] = [0, 0, 1]  # no area: in no image
    low, high = -np.ones(3), np.ones(3)
    ours, theirs = check(card, moving(x), triangles, low, high, 400)
    assert 400 * 400 <= theirs <= ours < 1.01 * theirs


@pytest.mark.parametrize("resolution", [64, 300])
def test_a_ground_beside_a_body_of_many_triangles(card, resolution):
    """So many that a line of the ground's pixels is no work of its own; a software driver stops after some turns of a loop."""
    x, triangles = torus(60, 60)
    x = np.concatenate([x, [[-40.0, -40, 0], [40, -40, 0.1], [40, 40, 0.3], [-40, 40, -0.2]]])
    triangles = np.concatenate([triangles, len(x) - 4 + np.array([[0, 1, 2], [0, 2, 3]], np.int32)])
    ours, theirs = check(card, moving(x), triangles, -np.ones(3), np.ones(3), resolution)
    assert resolution**2 <= theirs <= ours < 1.1 * theirs


def test_nothing_to_draw(card):
    x, triangles = torus()
    image = card.render_motion(moving(x), triangles, np.zeros(0, np.int32), x.min(0), x.max(0), 16)
    assert len(image.depth) == 0 and len(image.pixel_start) == image.first_pixel[3] + 1


def test_the_same_image_every_time(card):
    """Invocations write in any order; the image does not know."""
    x, triangles = torus(60, 60)
    near = np.arange(len(triangles), dtype=np.int32)
    one, two = (card.render_motion(moving(x, 0.01), triangles, near, x.min(0), x.max(0), 100) for _ in range(2))
    assert all(np.array_equal(getattr(one, field), getattr(two, field)) for field in one._fields)


def test_numbers_that_no_float_holds_are_refused(card):
    x, triangles = torus(8, 8)
    near = np.arange(len(triangles), dtype=np.int32)
    with pytest.raises(ValueError, match="lower the resolution"):
        card.render_motion(moving(x), triangles, near, x.min(0), x.min(0) + 1.0, 3000)


@pytest.mark.parametrize("loses", [False, True])
def test_what_another_add_on_draws_is_left_as_it_is(card, monkeypatch, loses):
    """Its framebuffer, its picture, its state; also when the card gives up in the middle."""
    x, triangles = torus()
    look = [getattr(gpu.state, name) for name in ("blend_get", "depth_test_get", "depth_mask_get", "viewport_get")]
    if loses:
        monkeypatch.setattr(gpu.compute, "dispatch", give_up)
    offscreen = gpu.types.GPUOffScreen(40, 30)
    with offscreen.bind():
        gpu.state.blend_set("ADDITIVE")
        gpu.state.depth_test_set("GREATER")
        gpu.state.active_framebuffer_get().clear(color=(0.25, 0.5, 0.75, 1.0))
        before = [str(get()) for get in look], gpu.state.active_framebuffer_get()
        try:
            near = np.arange(len(triangles), dtype=np.int32)
            card.render_motion(moving(x), triangles, near, x.min(0), x.max(0), 64)
        except RuntimeError:
            assert loses
        assert ([str(get()) for get in look], gpu.state.active_framebuffer_get()) == before
        pixels = gpu.state.active_framebuffer_get().read_color(0, 0, 40, 30, 4, 0, "FLOAT")
        gpu.state.blend_set("NONE")
        gpu.state.depth_test_set("NONE")
    pixels.dimensions = 40 * 30 * 4
    assert np.allclose(np.frombuffer(pixels, np.float32).reshape(-1, 4), (0.25, 0.5, 0.75, 1.0), atol=0.01)
    offscreen.free()


def give_up(*_):
    raise RuntimeError("lost")


@pytest.mark.parametrize(
    ("before", "now", "why"),
    [
        ("clamp(", "bogus(", "does not compile"),
        ("column <= last.x", "column < last.x", "draws other images than the CPU"),
        ("clamp(i.z - fall", "clamp(0.1 + i.z - fall", "draws other images than the CPU"),
    ],
)
def test_a_driver_that_misses_something_is_refused(card, monkeypatch, before, now, why):
    assert before in motion_shader.SOURCE
    monkeypatch.setattr(motion_shader, "SOURCE", motion_shader.SOURCE.replace(before, now))
    with pytest.raises(NoGraphics, match=why):
        MotionRenderer()


def fall(mesh, turn, frames, render):
    """Positions after each frame of a sheet that falls on a body which turns and rises."""
    cloth, state = build([sheet("Sheet", 21, 21, 0.02, lambda x: x + [0.0, 0.0, 0.16])], Settings())
    seen = []
    for frame in range(1, frames + 1):
        angles = turn * (frame + np.linspace(-1.0, 0.0, 4)) / 24.0
        poses = np.stack(
            [np.stack([np.cos(angles), -np.sin(angles)], 1), np.stack([np.sin(angles), np.cos(angles)], 1)], 1
        )
        x = np.concatenate(
            [np.einsum("sij,mj->smi", poses, mesh[0][:, :2]), np.tile(mesh[0][:, 2:], (4, 1, 1))], axis=2
        )
        x[:, :, 2] += 0.01 * angles[:, None]
        body = Collider("Body", x, mesh[1], 0.3, 0.0, 0.003)
        given = FrameInput(1 / 24, (state.x + cloth.origin)[None].repeat(2, 0), (body,), GRAVITY, np.zeros(3))
        advance(cloth, state, given, frame, Settings(), render)
        seen.append(state.x.copy())
    return np.array(seen)


@pytest.mark.parametrize(("body", "turn"), [("torus", 2.0), ("fingers", 9.0), ("large", 2.0)])
def test_a_shot_has_the_same_bits_whoever_draws(card, body, turn):
    """A torus, thin fingers that turn fast, and a body of 200,000 triangles."""
    if body == "fingers":
        parts = [torus(8, 6, 0.02, 0.006) for _ in range(4)]
        x = np.concatenate([part[0] + [0.05 * k - 0.08, 0.0, 0.1] for k, part in enumerate(parts)])
        triangles = np.concatenate([part[1] + k * len(parts[0][0]) for k, part in enumerate(parts)]).astype(np.int32)
    else:
        x, triangles = torus(*((320, 320) if body == "large" else (40, 40)), 0.12, 0.05)
    drawn = []

    def render(*arguments):
        drawn.append(len(arguments[2]))
        return card.render_motion(*arguments)

    frames = 4 if body == "large" else 12
    ours, theirs = fall((x, triangles), turn, frames, render), fall((x, triangles), turn, frames, render_motion)
    assert len(drawn) >= frames and max(drawn) > 0
    assert np.array_equal(ours, theirs)
    assert (ours[-1] - ours[0]).any()


def test_nothing_is_on_the_card_when_blender_ends(card, tmp_path):
    """Blender 5.2 crashed where Python freed what lay in a cycle after the graphics context."""
    script = tmp_path / "ends.py"
    script.write_text(
        "import atexit\nimport bpy\natexit.register(lambda: print(one.list.hits, 'left'))  # the last to be asked\n"
        "from taffeta.gpu_ldi.context import ensure_context\nfrom taffeta.gpu_ldi.motion import MotionRenderer\n"
        "ensure_context()\none = MotionRenderer()\none.itself = one\nprint(one.list.hits)\n"
    )
    ended = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert ended.returncode == 0 and "GPUTexture" in ended.stdout and "None left" in ended.stdout, ended.stderr
