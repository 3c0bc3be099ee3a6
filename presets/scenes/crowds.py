# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes of cloths that lie on each other, after those of Buffet (2021, figures 2.16, 3.4 to 3.6 and 3.15).

Each function takes how many garments fall, where there can be more or less of them, and how many frames there are between two.
"""

import math

import bmesh
import bpy
import numpy as np
from mathutils import Euler, Matrix

from . import materials, motions, sheet, solids, stage, tshirt

COLOURS = ((0.45, 0.06, 0.05), (0.05, 0.16, 0.36), (0.62, 0.42, 0.06), (0.06, 0.28, 0.14), (0.52, 0.50, 0.46))
#: (place [m], radius [m]) of the spheres that two sheets fall over
SPHERES = (
    ((-0.32, -0.20), 0.20),
    ((0.30, -0.28), 0.15),
    ((0.10, 0.32), 0.24),
    ((-0.40, 0.38), 0.12),
    ((0.45, 0.20), 0.10),
)
BOWL_GAP, BOWL_RISE = 0.10, 0.02  # [m] between shirts that wait; how much higher than the one before each falls
LAST_FALL = 74  # [frames] after the last shirt is let go
DRUM_FRONT = 1.0  # [m] from the middle of the drum to where a shirt waits
CARRIED = 12  # [frames] in which a shirt goes down in front of the drum, and as many in which it goes in


def two_sheets_on_spheres(context, collection):
    """Add two square sheets that fall over five spheres, one onto the other; return what was made."""
    balls = []
    for (x, y), radius in SPHERES:
        ball = solids.sphere(collection, radius, radius)
        ball.location.x, ball.location.y = x, y
        balls.append(ball)
    lower = sheet.square(collection, "Lower Sheet", 51, 1.2, 0.62, _jersey(0))
    upper = sheet.square(collection, "Upper Sheet", 47, 1.1, 0.76, _jersey(1), turn=0.5)
    context.scene.taffeta.cloth_contact = "BOTH"
    floor, camera = stage.furnish(context, collection, target=(0.0, 0.0, 0.25), lens=66.0)
    return stage.Example((lower, upper), (*balls, floor), camera, (1, 120))


def ball_through_sheets(context, collection):
    """Add two sheets on a ring and a ball that drags both through it; return what was made."""
    ring = solids.torus(collection, 0.40, 0.05, 0.75)
    ball = solids.sphere(collection, 0.16, 1.25)
    motions.drive(ball, "location", "1.25-0.95*(1-cos(pi*min(max(frame-40,0)/60,1)))/2", 2)
    lower = sheet.square(collection, "Lower Sheet", 51, 1.15, 0.83, _jersey(2))
    upper = sheet.square(collection, "Upper Sheet", 47, 1.05, 0.87, _jersey(3), turn=0.6)
    context.scene.taffeta.cloth_contact = "BOTH"
    floor, camera = stage.furnish(context, collection, target=(0.0, 0.0, 0.55), lens=66.0)
    return stage.Example((lower, upper), (ring, ball, floor), camera, (1, 120))


def bowl(context, collection, count=6, every=0):
    """Add `count` T-shirts that fall into a bowl that turns to and fro, one after `every` frames, or all at once (0); return
    what was made.
    """
    body = solids.bowl(collection, 0.75, 0.80, opening=1.15)
    motions.drive(body, "rotation_euler", f"1.2*{motions.swing(4.0)}", 2)
    rise = BOWL_RISE if every else BOWL_GAP
    places = [(rise * k + 0.50, 2.4 * k, 0.06 * math.sin(1.7 * k), 0.06 * math.cos(2.9 * k)) for k in range(count)]
    shirts = [_shirt(collection, k, (x, y, z), turn) for k, (z, turn, x, y) in enumerate(places)]
    for shirt, left in _waiting(shirts, every):
        motions.drive(shirt, "location", f"{BOWL_GAP / every:.6f}*{left}", 2)
    context.scene.taffeta.cloth_contact = "VELOCITY_FIELD"
    floor, camera = stage.furnish(context, collection, (1.5, -2.1, 2.9), (0.0, 0.0, 0.3), 62.0)
    return stage.Example(tuple(shirts), (body, floor), camera, _frames(count, every))


def washing_machine(context, collection, count=4, every=0):
    """Add `count` T-shirts that tumble in the turning drum of a washing machine, as large as they need, and go in one after
    `every` frames, or are in it from the start (0); return what was made.
    """
    columns, gap = (1, 0.10) if count <= 8 else (2, 0.075)
    rows = -(-count // columns)
    # so that the corners of the pile fit in
    radius = max(0.58, math.hypot(0.5 * gap * (rows - 1) + 0.10, 0.41 * (columns - 1) + 0.52))
    height = radius + 0.17
    body = solids.dryer(collection, radius, 0.95, height)
    body.name = "Drum"
    motions.rotate(body, 1, 2.0)
    piled = [divmod(k, columns) for k in range(count)]
    places = [(0.82 * (x - 0.5 * (columns - 1)), 0.0, height + gap * (z - 0.5 * (rows - 1))) for z, x in piled]
    if every:
        piled, places = [(k, 0) for k in range(count)], [(0.0, 0.0, height)] * count
    shirts = [_shirt(collection, k, place, math.pi * piled[k][0]) for k, place in enumerate(places)]
    for shirt, left in _waiting(shirts, every):
        _carry(shirt, left, min(CARRIED, every), gap / max(every, 1), radius)
    context.scene.taffeta.cloth_contact = "VELOCITY_FIELD"
    away = radius / 0.58
    floor, camera = stage.furnish(context, collection, (0.6, -3.8 * away, 1.5 * away), (0.0, 0.0, height), 76.0)
    return stage.Example(tuple(shirts), (body, floor), camera, _frames(count, every))


def _waiting(shirts, every):
    """Pin all shirts but the first until their frame, by drivers; yield each and what is left until then [frames], a driver's
    expression.
    """
    for number, shirt in enumerate(shirts[1:] if every else (), 1):
        first = 1 + every * number
        motions.drive(shirt, "taffeta_cloth.pin.value", f"1 if frame<{first}.5 else 0")
        yield shirt, f"max({first}-frame,0)"


def _carry(shirt, left, steps, sinking, radius):
    """Let a shirt that waits sink over the front of a drum [m a frame], go down before its middle and in, from rest to rest."""
    eased = "0.5*(1-cos(pi*min(max({}-{},0)/{},1)))"
    over = f"{radius + 0.25:.6f}*{eased.format(left, steps, steps)}"
    motions.drive(shirt, "location", f"-{DRUM_FRONT}*{eased.format(left, 0, steps)}", 1)
    motions.drive(shirt, "location", f"{over}+{sinking:.6f}*max({left}-{2 * steps},0)", 2)


def _frames(count, every):
    """First and last frame, in which the last shirt has come to lie, or tumbles."""
    return 1, max(120, 1 + every * (count - 1) + LAST_FALL)


def rigid_heads(context, collection):
    """Add seven rigid heads of a monkey that fall onto a sheet and with it into a bowl; return what was made."""
    body = solids.bowl(collection, 0.75, 0.80, opening=1.15)
    blanket = sheet.square(collection, "Blanket", 56, 1.3, 0.50, _jersey(1), turn=0.4)
    heads = [_head(collection, k) for k in range(7)]
    context.scene.taffeta.cloth_contact = "VELOCITY_FIELD"
    floor, camera = stage.furnish(context, collection, (1.5, -2.1, 2.3), (0.0, 0.0, 0.3), 62.0)
    return stage.Example((blanket, *heads), (body, floor), camera, (1, 120))


def _head(collection, number):
    """A head that keeps its shape, over the ones before it."""
    mesh, shape = bpy.data.meshes.new(f"Head {number + 1}"), bmesh.new()
    bmesh.ops.create_monkey(shape)
    around, size = 2.4 * number, 0.13
    turn = Euler((0.5 * number, 0.3 * number, around)).to_matrix().to_4x4()
    place = Matrix.Translation((0.2 * math.cos(around), 0.2 * math.sin(around), 0.75 + 0.30 * number))
    bmesh.ops.transform(shape, matrix=place @ turn @ Matrix.Scale(size, 4), verts=shape.verts)
    shape.to_mesh(mesh)
    shape.free()
    obj = bpy.data.objects.new(mesh.name, solids.in_order(mesh))
    mesh.shade_smooth()
    mesh.materials.append(materials.plain("Head", COLOURS[(0, 2, 3, 4)[number % 4]], 0.5))
    collection.objects.link(obj)
    cloth = obj.taffeta_cloth
    cloth.enabled, cloth.model, cloth.self_collision = True, "RIGID", False
    sheet.make_of(obj, mass=2.0, thickness=0.003, friction=0.4)
    return obj


def _jersey(number):
    return materials.plain("Jersey", COLOURS[number % len(COLOURS)], 0.9)


def _shirt(collection, number, middle, turn):
    """A T-shirt that lies flat with its middle at a place [m], turned about the vertical [rad]."""
    place = (
        Matrix.Translation(middle) @ Euler((0.0, 0.0, turn)).to_matrix().to_4x4() @ Matrix.Translation((0.0, 0.34, 0.0))
    )
    return tshirt.add(collection, f"T-Shirt {number + 1}", _jersey(number), np.array(place))
