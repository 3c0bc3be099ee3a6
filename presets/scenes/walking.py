# SPDX-License-Identifier: GPL-3.0-or-later
"""The mannequin walks in a garment: all of such an example but the garment."""

from . import character, sheet, stage, walk

FRAMES = (1, 120)


def walk_in(context, collection, garment_on, friction, camera_at, target):
    """Add mannequin, walk, garment, ground, light and a camera that goes along; return what was made.

    garment_on : makes the garment, given the rig. friction : of the body; camera_at, target : [m] as of `stage.camera`
    """
    body, rig = character.add(context, collection)
    walk.key(rig, *FRAMES)
    sheet.collide(body, aura=0.005, friction=friction)
    garment = garment_on(rig)
    floor = stage.ground(collection)
    stage.light(context, collection)
    camera = stage.camera(context, collection, camera_at, target, 76.0, walk.way(*FRAMES))
    return stage.Example((garment,), (body, floor), camera, FRAMES)
