# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay's pictures to pixels, off-screen."""

import bpy
import numpy as np
import pytest
from taffeta.operators.overlay import colours, draw


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


def test_the_pixels_have_the_colours_of_the_values(garment, show):
    """Seen from above: the left half has the colour of the least mass, the right half that of the greatest.

    The garment is moved by a quarter of the view to the left, so that its matrix counts.
    """
    import gpu
    from mathutils import Matrix

    try:
        gpu_ready()
    except SystemError as error:
        pytest.skip(f"no GPU context here: {error}")
    garment.location = (-0.5, 0.0, -0.5)
    bpy.context.view_layer.update()
    found, legend = show("mass")
    size = 32
    canvas = gpu.types.GPUOffScreen(size, size, format="RGBA32F")
    with canvas.bind():
        screen = gpu.state.active_framebuffer_get()
        screen.clear(color=(0.0, 0.0, 0.0, 0.0), depth=1.0)
        with gpu.matrix.push_pop():
            gpu.matrix.load_matrix(Matrix.Identity(4))
            gpu.matrix.load_projection_matrix(Matrix.Identity(4))
            draw.draw_pictures(found, legend)
        buffer = screen.read_color(0, 0, size, size, 4, 0, "FLOAT")
    buffer.dimensions = size * size * 4
    pixels = np.frombuffer(buffer, np.float32).reshape(size, size, 4)
    canvas.free()
    low, high = colours.ramp(colours.SEQUENTIAL, np.array([0.0, 1.0]))
    # The garment covers -1 to 0 of the view from -1 to 1: pixels 0 to 16 across, 8 to 24 up.
    assert pixels[16, 2] == pytest.approx(low, abs=0.02)
    assert pixels[16, 14] == pytest.approx(high, abs=0.02)
    assert pixels[16, 20] == pytest.approx([0, 0, 0, 0])
    assert pixels[28, 8] == pytest.approx([0, 0, 0, 0])
