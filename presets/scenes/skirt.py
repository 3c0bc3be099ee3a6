# SPDX-License-Identifier: GPL-3.0-or-later
"""A skirt on the walking mannequin: its waistband is pinned to the hips, the rest swings free."""

import numpy as np

from . import character, materials, sheet, stage, walk

FRAMES = (1, 120)
#: from the waist down: height, half width, half depth, shift to the back [m]
RINGS = ((1.075, 0.146, 0.100, 0.003), (0.93, 0.214, 0.168, 0.016), (0.52, 0.335, 0.300, 0.016))


def add(context, collection):
    """Add mannequin, walk, skirt, ground, light and camera; return what was made."""
    body, rig = character.add(context, collection)
    walk.key(rig, *FRAMES)
    sheet.collide(body, aura=0.005, friction=0.3)
    garment = _garment(collection, rig)
    floor = stage.ground(collection)
    stage.light(context, collection)
    way = {f: (0.0, -walk.travelled(walk.phase(float(f))), 0.0) for f in range(FRAMES[0], FRAMES[1] + 1)}
    camera = stage.camera(context, collection, (2.25, -4.1, 1.55), (0.0, 0.0, 0.90), 76.0, way)
    return stage.Example((garment,), (body, floor), camera, FRAMES)


def _garment(collection, rig):
    points, quads, pattern = sheet.tube(96, 40, RINGS)
    material = materials.woven("Pleated Wool", across="Y", inside=0.6)
    obj = sheet.add(collection, "Skirt", points, quads, pattern, material)
    sheet.make_of(obj, mass=0.18, thickness=0.003, stretch_stiffness=2500.0, shear_stiffness=60.0, damping=2.0)
    sheet.make_of(obj, bending_stiffness=6e-5)
    band = (points[:, 2] > RINGS[0][0] - 0.03).astype(float)
    sheet.paint_group(obj, "Waistband", band)
    sheet.map_group(obj, "pin", "Waistband", 0.0, 1.0)
    # All of it hangs on the hip bone, so that its animated pose, which pins follow, goes with the hips.
    sheet.paint_group(obj, "hips", np.ones(len(points)))
    obj.parent = rig
    bones = obj.modifiers.new("Armature", "ARMATURE")
    bones.object = rig
    return obj
