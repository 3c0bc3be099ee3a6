# SPDX-License-Identifier: GPL-3.0-or-later
"""A small picture of a garment as a viewport shows it, for the fabric that it is made of."""

from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..read.screen import view3d
from ..read.write_back import save_picture

SIDE = 128  # pixels
MARGIN = 1.1  # of the garment's size


def draw_thumbnail(context: bpy.types.Context, obj: bpy.types.Object, path: Path) -> bool:
    """Write a picture (PNG) of `obj`, looked at as the first 3D view does; False where there is no 3D view."""
    shown = view3d(context)
    if bpy.app.background or shown is None:
        return False
    import gpu

    area, region = shown
    space = area.spaces.active
    view, projection = looking_at(obj, space.region_3d.view_rotation)
    canvas, overlays = gpu.types.GPUOffScreen(SIDE, SIDE), space.overlay.show_overlays
    space.overlay.show_overlays = False
    try:
        canvas.draw_view3d(context.scene, context.view_layer, space, region, view, projection, do_color_management=True)
        with canvas.bind():
            buffer = gpu.state.active_framebuffer_get().read_color(0, 0, SIDE, SIDE, 4, 0, "UBYTE")
    finally:
        space.overlay.show_overlays = overlays
        canvas.free()
    buffer.dimensions = SIDE * SIDE * 4
    pixels = np.array(buffer, np.uint8).reshape(SIDE, SIDE, 4) / np.float32(255.0)
    pixels[..., 3] = 1.0
    save_picture(pixels, path)
    return True


def looking_at(obj: bpy.types.Object, rotation) -> tuple[Matrix, Matrix]:
    """View and projection that fill a square picture with an object's box, seen from a direction."""
    turned = rotation.to_matrix().to_4x4()
    corners = np.array([turned.inverted() @ obj.matrix_world @ Vector(corner) for corner in obj.bound_box])
    low, high = corners.min(axis=0), corners.max(axis=0)
    side, deep = MARGIN * 0.5 * max(high[:2] - low[:2]) or 1.0, MARGIN * (high[2] - low[2]) or 1.0
    middle = Vector((*(0.5 * (low + high))[:2], high[2] + deep))
    view = (turned @ Matrix.Translation(middle)).inverted()
    projection = Matrix.Diagonal((1 / side, 1 / side, -1 / deep, 1.0))  # depths of half to two and a half of it
    projection[2][3] = -1.5
    return view, projection
