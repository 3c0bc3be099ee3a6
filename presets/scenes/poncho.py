# SPDX-License-Identifier: GPL-3.0-or-later
"""The walking avatar with a poncho: a rectangle with a head hole falls onto the shoulders and goes along.

The scene follows D. Bargmann, Real-Time Cloth Simulation (2003), 6.3, where the poncho has 1242 points.
"""

import bpy
import numpy as np

from . import character, materials, sheet, stage, walk

FRAMES = (1, 120)
NECK = (0.0, 0.022, 1.502)  # [m] middle of the head hole at the start
SIZE = (1.22, 1.14)  # [m] along the arms, front to back
HOLE_RADIUS = 0.105  # [m]


def add(context, collection):
    """Add mannequin, walk, poncho, ground, light and camera; return what was made."""
    body, rig = character.add(context, collection)
    walk.key(rig, *FRAMES)
    sheet.collide(body, aura=0.005, friction=0.45)
    garment = _garment(collection)
    floor = stage.ground(collection)
    stage.light(context, collection)
    way = {f: (0.0, -walk.travelled(walk.phase(float(f))), 0.0) for f in range(FRAMES[0], FRAMES[1] + 1)}
    camera = stage.camera(context, collection, (2.25, -4.1, 1.75), (0.0, 0.0, 0.93), 66.0, way)
    return stage.Example((garment,), (body, floor), camera, FRAMES)


def _garment(collection):
    points, quads, pattern = sheet.rectangle(37, 35, *SIZE, hole=2, hole_radius=HOLE_RADIUS)
    obj = sheet.add(collection, "Poncho", points + NECK, quads, pattern, materials.woven())
    sheet.make_of(obj, mass=0.22, thickness=0.003, stretch_stiffness=3000.0, friction=0.4)
    to_border = np.min(np.array(SIZE) / 2.0 - np.abs(pattern), axis=1)
    sheet.paint_group(obj, "Hem", np.round(np.clip((0.075 - to_border) / 0.04, 0.0, 1.0), 2))
    from_neck = np.hypot(*pattern.T)
    sheet.paint_group(obj, "Shoulders", np.round(np.clip((0.36 - from_neck) / 0.16, 0.0, 1.0), 2))
    sheet.map_group(obj, "bending_stiffness", "Hem", 1.2e-5, 2.5e-4)
    sheet.map_group(obj, "damping", "Shoulders", 1.5, 12.0)
    image = _softness_image()
    _image_map(obj, quads, pattern)
    sheet.map_image(obj, "shear_stiffness", image, "Image Map", 160.0, 30.0)
    return obj


def _image_map(obj, quads, pattern):
    """Add a second UV map that lays an image over the whole rectangle."""
    layer = obj.data.uv_layers.new(name="Image Map")
    spread = (pattern / SIZE + 0.5)[quads]
    layer.uv.foreach_set("vector", spread.astype(np.float32).ravel())
    obj.data.uv_layers.active = obj.data.uv_layers["Pattern"]


def _softness_image(pixels=64):
    """Return an image as an animator would paint it: white where the poncho lies on the shoulders, black outside."""
    x, y = np.meshgrid(*((np.arange(pixels) + 0.5) / pixels - 0.5 for _ in range(2)))
    grey = np.clip((0.34 - np.hypot(x * SIZE[0] / 1.5, y * SIZE[1])) / 0.14, 0.0, 1.0)
    image = bpy.data.images.new("Poncho Softness", pixels, pixels, alpha=False)
    image.colorspace_settings.name = "Non-Color"
    rgba = np.ones((pixels, pixels, 4), np.float32)
    rgba[..., :3] = grey[..., None]
    image.pixels.foreach_set(rgba.ravel())
    image.pack()
    return image
