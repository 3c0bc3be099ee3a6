# SPDX-License-Identifier: GPL-3.0-or-later
"""The shots: who does what in which clothes, seen from where. `build` makes one in an empty file."""

from collections.abc import Callable
from typing import NamedTuple

import bpy
import numpy as np
import scenes
from taffeta.operators.read.fabrics import shipped
from taffeta.presets.scenes import character, materials, sheet, stage

from . import garments, motions, pose

COLOURS = ((0.42, 0.05, 0.05), (0.05, 0.14, 0.34), (0.55, 0.36, 0.06), (0.05, 0.26, 0.16))
SKIN = 0.003  # [m] aura of the body
LENS = 70.0  # [mm]
SEAT = 0.010  # [m] between the sitter's lowest point and the stool


class Shot(NamedTuple):
    """A character, what it does and wears."""

    what: str
    motion: pose.Motion
    clothes: tuple[Callable, ...]  # each makes a Garment
    camera: tuple[float, float, float]  # [m] from what it looks at
    colour: int = 0
    height: float = 0.95  # [m] of what the camera looks at
    props: Callable | None = None  # makes more bodies, given collection, body and rig


class Scene(NamedTuple):
    """What `build` made."""

    garments: list  # objects
    bodies: list  # objects, the ground included
    body: object
    rig: object


def build(shot, frames=0):
    """Make a shot in an empty file, 24 frames a second; `frames` 0 takes all that the motion has."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    context, collection = bpy.context, bpy.context.scene.collection
    scene = context.scene
    scene.render.fps = 24
    body, rig = character.add(context, collection, garments.body())
    pose.key(rig, shot.motion)
    scene.frame_start, scene.frame_end = 1, min(frames or shot.motion.last, shot.motion.last)
    sheet.collide(body, aura=SKIN, friction=0.4)
    bodies = [body, stage.ground(collection)]
    if shot.props:
        bodies.append(shot.props(collection, body, rig, shot.motion))
    made = []
    for number, make in enumerate(shot.clothes):
        garment = make()
        material = materials.plain(garment.name, COLOURS[(shot.colour + number) % len(COLOURS)], 0.8)
        made.append(garments.add(collection, garment, body, rig, material, shipped(garment.fabric)))
    stage.light(context, collection)
    shifts = {frame: pose.turns(shot.motion, frame)[0] for frame in range(1, shot.motion.last + 1)}
    way = {frame: (shift.x, shift.y, 0.0) for frame, shift in shifts.items()}
    target = np.array((0.0, 0.0, shot.height))
    stage.camera(context, collection, tuple(target + shot.camera), tuple(target), LENS, way)
    scene.frame_set(1)
    return Scene(made, bodies, body, rig)


def pole(collection, body, rig, motion):
    """A flagpole on the back."""
    bpy.ops.mesh.primitive_cylinder_add(vertices=16, radius=0.012, depth=1.10, location=(0.0, 0.178, 1.62))
    obj = bpy.context.object
    obj.name = "Pole"
    sheet.paint_group(obj, "chest", np.ones(len(obj.data.vertices)))
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    obj.data.materials.append(materials.plain("Pole", (0.25, 0.16, 0.08)))
    return sheet.collide(obj, aura=SKIN, friction=0.3)


def stool(collection, body, rig, motion):
    """A stool behind the sitter, as high as the sitter will find it."""
    hips = [pose.turns(motion, frame)[0] for frame in range(1, motion.last + 1)]
    scene, deepest = bpy.context.scene, 1 + int(np.argmin([shift.z for shift in hips]))
    scene.frame_set(deepest)
    x = scenes.world(body)
    centre = 0.10 + hips[deepest - 1].y
    over = (np.abs(x[:, 0]) < 0.20) & (np.abs(x[:, 1] - centre) < 0.17) & (x[:, 2] > 0.2)
    top = float(x[over, 2].min()) - SEAT
    bpy.ops.mesh.primitive_cylinder_add(
        vertices=48, radius=0.19, depth=top - 0.005, location=(0.0, centre, 0.5 * top + 0.0025)
    )
    obj = bpy.context.object
    obj.name = "Stool"
    rounded = obj.modifiers.new("Bevel", "BEVEL")
    rounded.width, rounded.segments = 0.02, 3
    obj.data.materials.append(materials.plain("Stool", (0.30, 0.20, 0.10)))
    scene.frame_set(1)
    return sheet.collide(obj, aura=SKIN, friction=0.4)


def _over():
    return garments.shirt("Cotton", hem=0.90, sleeve=0.20, loose=0.035, layer=1, name="Blouse")


def _under():
    return garments.skirt("Silk", hem=0.60, flare=0.13)


SHOTS = {
    "run-cape": Shot("a run, 2.8 steps a second, in a cape", motions.RUN, (garments.cape,), (2.6, 2.6, 0.5)),
    "run-flag": Shot("the same, a flag on the back", motions.RUN, (garments.flag,), (5.2, -0.9, 0.7), 1, 1.15, pole),
    "jump-dress": Shot(
        "a jump, 0.46 s of flight, in a pleated dress", motions.JUMP, (garments.dress,), (2.8, -4.2, 0.3), 2, 1.12
    ),
    "jump-scarf": Shot("the same, in a scarf", motions.JUMP, (garments.scarf,), (2.5, -4.4, 0.5), 3, 1.12),
    "spin-layers": Shot(
        "two turns a second, a blouse over a skirt", motions.SPIN, (_under, _over), (0.8, -3.5, 0.4), 1
    ),
    "kick-skirt": Shot("two kicks, in a skirt", motions.KICK, (garments.skirt,), (-2.0, -3.0, 0.3)),
    "sit-skirt": Shot(
        "down on a stool and up, in a skirt", motions.SIT, (garments.skirt,), (3.1, -2.5, 0.5), 1, 0.90, stool
    ),
    "crawl-shirt": Shot(
        "down on hands and knees, and off, in a T-shirt", motions.CRAWL, (garments.shirt,), (3.4, -1.8, 0.5), 2, 0.85
    ),
    "arms-shirt": Shot(
        "arms up, folded, wide open, in a T-shirt", motions.ARMS, (garments.shirt,), (0.9, -4.7, 0.4), 3, 1.12
    ),
}
