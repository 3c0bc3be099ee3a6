# SPDX-License-Identifier: GPL-3.0-or-later
"""The walking avatar with a poncho: a rectangle with a head hole falls onto the shoulders and goes along.

The scene follows D. Bargmann, Real-Time Cloth Simulation (2003), 6.3, where the poncho has 1242 points.
"""

import bpy
import numpy as np

from . import materials, sheet
from .walking import walk_in

NECK = (0.0, 0.022, 1.502)  # [m] middle of the head hole at the start
SIZE = (1.00, 1.18)  # [m] along the arms (to the middle of the forearm: fingers would catch), front to back
HOLE_RADIUS = 0.105  # [m]
PIXELS = 128  # along each side of the image


def add(context, collection):
    """Add mannequin, walk, poncho, ground, light and camera; return what was made."""
    return walk_in(context, collection, lambda _rig: _garment(collection), 0.6, (2.25, -4.1, 1.75), (0.0, 0.0, 0.93))


def _garment(collection):
    points, quads, pattern = sheet.rectangle(35, 37, *SIZE, hole=3, hole_radius=HOLE_RADIUS)
    obj = sheet.add(collection, "Poncho", points + NECK, quads, pattern, materials.woven())
    sheet.make_of(obj, mass=0.24, thickness=0.003, stretch_stiffness=3000.0, friction=0.6)
    to_border = np.min(np.array(SIZE) / 2.0 - np.abs(pattern), axis=1)
    hem = np.clip((0.075 - to_border) / 0.04, 0.0, 1.0)
    shoulders = np.clip((0.36 - np.hypot(*pattern.T)) / 0.16, 0.0, 1.0)
    # One map from the softest place to the stiffest: shoulders 0, the cloth between 0.3, the hem, which is folded over, 1.
    # Between it is a woollen blanket's: stiff enough to fold on edges of 3.3 cm.
    sheet.paint_group(obj, "Stiffness", np.round(np.maximum(hem, 0.3 * (1.0 - shoulders)), 3))
    sheet.map_group(obj, "bending_stiffness", "Stiffness", 6e-5, 7e-4)
    sheet.paint_group(obj, "Shoulders", np.round(shoulders, 2))
    sheet.map_group(obj, "damping", "Shoulders", 1.5, 12.0)
    _image_map(obj, quads, pattern)
    sheet.map_image(obj, "shear_stiffness", _binding_image(), "Image Map", 80.0, 1500.0)
    return obj


def _image_map(obj, quads, pattern):
    """Add a second UV map that lays an image over the whole rectangle."""
    layer = obj.data.uv_layers.new(name="Image Map")
    spread = (pattern / SIZE + 0.5)[quads]
    layer.uv.foreach_set("vector", spread.astype(np.float32).ravel())
    obj.data.uv_layers.active = obj.data.uv_layers["Pattern"]


def _binding_image():
    """Return an image as an animator would paint it: the band sewn round the neck in white, which must not give."""
    x, y = np.meshgrid(*((np.arange(PIXELS) + 0.5) / PIXELS - 0.5 for _ in range(2)))
    grey = np.clip((HOLE_RADIUS + 0.05 - np.hypot(x * SIZE[0], y * SIZE[1])) / 0.02, 0.0, 1.0)
    image = bpy.data.images.new("Poncho Binding", PIXELS, PIXELS, alpha=False)
    image.colorspace_settings.name = "Non-Color"
    rgba = np.ones((PIXELS, PIXELS, 4), np.float32)
    rgba[..., :3] = grey[..., None]
    image.pixels.foreach_set(rgba.ravel())
    image.pack()
    return image
