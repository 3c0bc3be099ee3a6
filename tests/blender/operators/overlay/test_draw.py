# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay's pictures to pixels, off-screen."""

import os
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from taffeta.operators.overlay import colours, draw, draw_marks, marks, pictures


def gpu_ready():
    """A GPU context without a window; Blender 5.2 has a call for it, older ones make one when they render."""
    import gpu

    if hasattr(gpu, "init"):
        gpu.init()
    else:
        scene = bpy.context.scene
        camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        scene.collection.objects.link(camera)
        scene.camera = camera
        scene.render.engine = "BLENDER_WORKBENCH"
        scene.render.resolution_x = scene.render.resolution_y = 4
        bpy.ops.render.render()
    gpu.platform.renderer_get()


def drawn_from_above(draw_what, size):
    """RGBA (size, size, 4) of what is drawn into a view of -1 to 1, from above; skips where there is no GPU context."""
    import gpu
    from mathutils import Matrix

    try:
        gpu_ready()
    except SystemError as error:
        pytest.skip(f"no GPU context here: {error}")
    canvas = gpu.types.GPUOffScreen(size, size, format="RGBA32F")
    with canvas.bind():
        screen = gpu.state.active_framebuffer_get()
        screen.clear(color=(0.0, 0.0, 0.0, 0.0), depth=1.0)
        with gpu.matrix.push_pop():
            gpu.matrix.load_matrix(Matrix.Identity(4))
            gpu.matrix.load_projection_matrix(Matrix.Identity(4))
            draw_what()
        buffer = screen.read_color(0, 0, size, size, 4, 0, "FLOAT")
    buffer.dimensions = size * size * 4
    canvas.free()
    return np.frombuffer(buffer, np.float32).reshape(size, size, 4)


def test_the_pixels_have_the_colours_of_the_values(garment, show):
    """Seen from above: the left half has the colour of the least mass, the right half that of the greatest.

    The garment is moved by a quarter of the view to the left, so that its matrix counts.
    """
    garment.location = (-0.5, 0.0, -0.5)
    bpy.context.view_layer.update()
    found, legend = show("mass")
    pixels = drawn_from_above(lambda: draw.draw_pictures(found, legend), 32)
    low, high = colours.ramp(colours.SEQUENTIAL, np.array([0.0, 1.0]))
    # The garment covers -1 to 0 of the view from -1 to 1: pixels 0 to 16 across, 8 to 24 up.
    assert pixels[16, 2] == pytest.approx(low, abs=0.02)
    assert pixels[16, 14] == pytest.approx(high, abs=0.02)
    assert pixels[16, 20] == pytest.approx([0, 0, 0, 0])
    assert pixels[28, 8] == pytest.approx([0, 0, 0, 0])


def test_while_another_map_is_painted_the_picture_is_lines_and_leaves_its_colours_seen(garment, show):
    show("mass")
    assert draw.painted_over() == ""
    bpy.ops.taffeta.paint(prop="friction")
    assert draw.painted_over() == "Cloth"
    found, legend = pictures.drawn()
    covered = drawn_from_above(lambda: draw.draw_pictures(found, legend), 128)[..., 3] > 0.5
    assert 0.02 < covered[32:96, 32:96].mean() < 0.2, "lines, and what is painted between them"
    across = np.flatnonzero(covered.any(axis=0))
    assert 62 <= across.min() and across.max() <= 82 and len(across) >= 8, "where mass rises, at x from 0 to 0.25"
    bpy.ops.taffeta.paint(prop="mass")
    assert draw.painted_over() == "", "the painted map itself is shown as colours"
    bpy.ops.taffeta.paint_done()
    assert draw.painted_over() == ""


def test_marks_become_pixels_of_their_colour(garment, switch):
    """Points of the pins at the right, two shells all over, a seam along the rim."""
    pin = garment.taffeta_cloth.pin
    pin.source, pin.vertex_group = "GROUP", "half"
    for edge in garment.data.edges:
        edge.use_seam = all(abs(garment.data.vertices[v].co.y + 0.5) < 1e-6 for v in edge.vertices)
    found = switch("pins", "thickness", "seams")
    pixels = drawn_from_above(lambda: draw_marks.draw_marks(found), 64)[..., :3]
    draw_marks.forget()
    assert pixels[2, 2] == pytest.approx([0, 0, 0])
    assert pixels[35, 21, 2] > pixels[35, 21, 0] > 0.02, "shells over black: dim and blue"
    green = np.abs(pixels - marks.PINNED[:3]).max(axis=2) < 0.2
    assert green.sum() > 10 * 9 and not green[:, :32].any()
    assert (pixels[15:18, 20:28].min(axis=2) > 0.7).any(), "the seam"


ENDS_WITH_PICTURES = """
import atexit
import bpy, gpu, numpy as np
atexit.register(lambda: print(len(draw._batches.on_gpu), "left"))  # the last to be asked
from taffeta.operators.overlay import draw
from taffeta.operators.overlay.colours import SEQUENTIAL
from test_draw import gpu_ready
from types import SimpleNamespace

gpu_ready()
triangle = SimpleNamespace(name='Cloth', x=np.eye(3, dtype=np.float32), values=np.zeros(3), triangles=np.array([[0, 1, 2]], np.int32), matrix=np.eye(4))
legend = SimpleNamespace(low=0.0, high=1.0, stations=SEQUENTIAL)
canvas = gpu.types.GPUOffScreen(8, 8)
with canvas.bind():
    draw.draw_pictures((triangle,), legend)
canvas.free()
assert draw._batches.on_gpu
"""


def test_no_picture_is_on_the_graphics_card_when_blender_ends(tmp_path):
    """Blender 5.2 crashed where Python freed them after the graphics context."""
    script = tmp_path / "ends.py"
    script.write_text(ENDS_WITH_PICTURES)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    }
    ended = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, cwd=tmp_path, env=environment
    )
    if "no GPU" in ended.stderr or "SystemError" in ended.stderr:
        pytest.skip("no GPU context here")
    assert ended.returncode == 0 and "0 left" in ended.stdout, ended.stderr
