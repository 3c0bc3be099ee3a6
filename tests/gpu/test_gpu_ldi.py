# SPDX-License-Identifier: GPL-3.0-or-later
"""The graphics card's layered depth images against the CPU's, wherever a graphics context can be had."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import bpy  # noqa: F401  (brings gpu)
import gpu
import numpy as np
import pytest
from solids import random_closed, torus
from taffeta.gpu_ldi import context, drawer
from taffeta.gpu_ldi import shader as shader_module
from taffeta.solver.ldi.centres import THREE_DIRECTIONS, THREE_FULL
from taffeta.solver.ldi.centres import render as render_on_cpu

ROUNDING = 1e-4  # [pixels] within which 32 bits may put a pixel's centre on the other side of an edge


@pytest.fixture(scope="module")
def render():
    """What draws on the graphics card."""
    words, function = drawer()
    if words.startswith("CPU"):
        pytest.skip(words)
    return function


def places(image):
    """(direction, centre of the pixel [m] in the direction's two image axes) of every pixel."""
    pixel = np.arange(image.first_pixel[3])
    direction = np.searchsorted(image.first_pixel[1:], pixel, side="right")
    a, b = (direction + 1) % 3, (direction + 2) % 3
    column, row = np.divmod(pixel - image.first_pixel[direction], image.shape[b])
    return direction, np.stack(
        [image.low[a] + (column + 0.5) * image.pixel, image.low[b] + (row + 0.5) * image.pixel], 1
    )


def distance_to_edges(x, triangles, image, pixels):
    """[pixels] of each of these pixels' centres from the nearest edge as it is seen there."""
    direction, centre = places(image)
    found = []
    for p in pixels:
        d = direction[p]
        flat = (x[:, [(d + 1) % 3, (d + 2) % 3]] - centre[p]) / image.pixel
        start, way = flat[triangles].reshape(-1, 2), (flat[triangles[:, [1, 2, 0]]] - flat[triangles]).reshape(-1, 2)
        along = np.clip(-(start * way).sum(1) / np.maximum((way * way).sum(1), 1e-30), 0, 1)
        found.append(np.linalg.norm(start + along[:, None] * way, axis=1).min())
    return np.array(found)


def check_same(render, x, triangles, low, high, resolution, direction):
    """Draw on both; returns in how many pixels the layers differ, all of them by rounding."""
    ours, theirs = (f(x, triangles, low, high, resolution, direction) for f in (render, render_on_cpu))
    for field in ("low", "pixel", "shape", "first_pixel"):
        assert np.array_equal(getattr(ours, field), getattr(theirs, field)), field
    counts = np.diff(ours.pixel_start), np.diff(theirs.pixel_start)
    other = np.flatnonzero(counts[0] != counts[1])
    assert (distance_to_edges(x, triangles, ours, other) < ROUNDING).all()
    kept = [~np.isin(np.repeat(np.arange(len(c)), c), other) for c in counts]
    depth, triangle, front = ([i[k] for i, k in zip((ours[n], theirs[n]), kept, strict=True)] for n in (5, 6, 7))
    assert np.abs(depth[0] - depth[1]).max(initial=0.0) <= 1e-5 * (high - low).max()
    assert (front[0] == front[1])[triangle[0] == triangle[1]].all()
    swapped = np.flatnonzero(triangle[0] != triangle[1])  # a shared edge, or faces at one depth in another order
    pixel = np.repeat(np.arange(len(counts[0])), counts[0])[kept[0]]
    for h in swapped:
        shared = np.isin(triangles[triangle[0][h]], triangles[triangle[1][h]]).any()
        same_pixel = pixel == pixel[h]
        gap = np.diff(np.sort(depth[1][same_pixel])).min(initial=np.inf)
        assert shared or gap < 1e-5 * (high - low).max(), (h, triangle[0][h], triangle[1][h])
    return len(other)


@pytest.mark.parametrize("direction", [THREE_DIRECTIONS, THREE_FULL, 0, 1, 2])
@pytest.mark.parametrize("resolution", [7, 32, 64, 128, 256])
def test_a_torus_has_the_layers_of_the_cpu(render, resolution, direction):
    x, triangles = torus()
    assert check_same(render, x, triangles, x.min(0), x.max(0), resolution, direction) == 0


def test_closed_meshes_have_the_layers_of_the_cpu(render):
    """Vertices on pixel centres and borders, a box smaller than the body, and all of it a kilometre away."""
    rng = np.random.default_rng(2)
    pixels, differ = 0, 0
    for number in range(120):
        x, triangles = random_closed(rng, number)
        if number % 4 == 3:
            x = x + 1000.0
        low, high = (x.min(0) - 0.25, x.min(0) + 1.75) if number % 2 else (x.min(0), x.max(0))
        differ += check_same(render, x, triangles, low, high, 24, THREE_FULL)
        pixels += 3 * 24 * 24
        image = render(x, triangles, low, high, 24, THREE_FULL)
        fronts = np.diff(np.r_[0, np.cumsum(image.front)][image.pixel_start])
        assert (2 * fronts == np.diff(image.pixel_start)).all()  # watertight, whatever the rounding
    assert differ < 1e-3 * pixels


def test_a_large_body(render):
    x, triangles = torus(320, 320)
    assert len(triangles) > 200_000
    differ = check_same(render, x, triangles, x.min(0), x.max(0), 128, THREE_FULL)
    assert differ <= 10


def test_a_ground_of_two_triangles(render):
    """Few and large: their lines are shared out."""
    x = np.array([[-1.0, -1, 0], [1, -1, 0.1], [1, 1, 0.3], [-1, 1, -0.2]])
    triangles = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    low, high = np.array([-1.0, -1, -1]), np.ones(3)
    assert check_same(render, x, triangles, low, high, 200, THREE_DIRECTIONS) == 0
    assert len(render(x, triangles, low, high, 200).depth) == 200 * 200
    assert len(render(x, triangles[:0], low, high, 8).depth) == 0


def test_the_same_image_every_time(render):
    """Invocations write in any order; the image does not know."""
    x, triangles = torus(60, 60)
    one, two = (render(x, triangles, x.min(0), x.max(0), 100, THREE_FULL) for _ in range(2))
    assert all(np.array_equal(getattr(one, field), getattr(two, field)) for field in one._fields)


def test_blenders_state_is_left_as_found(render):
    x, triangles = torus()
    state = gpu.state
    offscreen = gpu.types.GPUOffScreen(40, 30)
    get = ("blend_get", "depth_test_get", "depth_mask_get", "viewport_get", "scissor_get", "line_width_get")

    def look():
        return [tuple(v) if hasattr(v, "__len__") else v for v in (getattr(state, name)() for name in get)]

    with offscreen.bind():
        state.blend_set("ADDITIVE")
        state.depth_test_set("GREATER")
        state.depth_mask_set(True)
        state.viewport_set(3, 4, 20, 10)
        bound = state.active_framebuffer_get()
        bound.clear(color=(0.25, 0.5, 0.75, 1.0))
        before = look()
        render(x, triangles, x.min(0), x.max(0), 64)
        assert look() == before
        assert state.active_framebuffer_get() == bound
        pixels = bound.read_color(0, 0, 40, 30, 4, 0, "FLOAT")
        state.blend_set("NONE")
        state.depth_test_set("NONE")
        state.depth_mask_set(False)
    pixels.dimensions = 40 * 30 * 4
    assert np.allclose(np.frombuffer(pixels, np.float32).reshape(-1, 4), (0.25, 0.5, 0.75, 1.0), atol=0.01)
    offscreen.free()


def test_a_context_without_a_window_leaves_nothing_behind():
    """In a fresh Blender: no data, and no handler has heard of a picture."""
    script = """
import os
import bpy
heard = []
for name in ("render_init", "render_pre", "render_post", "render_complete"):
    getattr(bpy.app.handlers, name).append(lambda *_: heard.append(1))
kept = [len(getattr(bpy.app.handlers, name)) for name in ("render_init", "render_complete")]
def data():
    d = bpy.data
    return {k: {i.name for i in getattr(d, k)} for k in ("scenes", "objects", "cameras", "worlds", "materials", "images")}
before = data()
from taffeta.gpu_ldi import drawer
words, _ = drawer()
assert not heard, heard
assert data() == before, (data(), before)
assert kept == [len(getattr(bpy.app.handlers, name)) for name in ("render_init", "render_complete")]
print("WORDS", words, flush=True)
os._exit(0)  # Blender 4.5 as a module hangs at exit while handlers are left
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(context.__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=200)
    assert "WORDS" in done.stdout, done.stderr[-2000:]


def drawn_by_the_cpu(words, function, why):
    assert words.startswith("CPU, because ") and why in words, words
    assert function is render_on_cpu


def test_the_cpu_takes_over_without_a_context(monkeypatch):
    def nothing():
        raise SystemError("GPU functions for drawing are not available in background mode")

    def refuse():
        raise RuntimeError("Error: Unable to open a display\n")

    monkeypatch.setattr(context.gpu.platform, "renderer_get", nothing)
    monkeypatch.setattr(context.gpu, "init", refuse, raising=False)
    drawn_by_the_cpu(*drawer(), "no graphics context can be had (Error: Unable to open a display)")


def test_the_cpu_takes_over_on_another_thread():
    answers = []
    thread = threading.Thread(target=lambda: answers.append(drawer()))
    thread.start()
    thread.join()
    drawn_by_the_cpu(*answers[0], "main thread")


@pytest.mark.parametrize(
    "now, before, why",
    [
        ("bogus(", "clamp(", "does not compile"),
        ("below != (to", "below == (to", "other images than the CPU"),
        ("clamp(0.01 + i.z", "clamp(i.z", "other images than the CPU"),
    ],
)
def test_the_cpu_takes_over_from_a_driver_that_cannot(render, monkeypatch, now, before, why):
    monkeypatch.setattr(shader_module, "SOURCE", shader_module.SOURCE.replace(before, now))
    drawn_by_the_cpu(*drawer(), why)


def test_numbers_that_no_float_holds_are_refused(render):
    x, triangles = torus(8, 8)
    with pytest.raises(ValueError, match="lower the resolution"):
        render(x, triangles, x.min(0), x.min(0) + 1.0, 3000)
