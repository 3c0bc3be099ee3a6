# SPDX-License-Identifier: GPL-3.0-or-later
"""The bodies, motions and deformations of Bargmann (2003, 6.1.2): a sheet meets each of them, and any mixture.

Sphere and torus alone are in `simple`.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from . import materials, motions, sheet, solids, stage

FRAMES = (1, 300)
FALL = 0.06  # [m] that a sheet falls onto a body of choice
GROUND_GAP = 0.1  # [m] below one, however it turns


class Shape(NamedTuple):
    """A body that a sheet can be put on."""

    make: Callable  # (collection, height [m]) -> object
    reach: float  # [m] of its points from its middle, at most
    side: float  # [m] of the sheet
    rise: float | None = None  # [m] of the sheet over the body's middle; None: above its top


SHAPES = {
    "SPHERE": Shape(lambda collection, height: solids.sphere(collection, 0.35, height), 0.35, 1.3),
    "TORUS": Shape(lambda collection, height: solids.torus(collection, 0.4, 0.14, height), 0.54, 1.3),
    "DEFORMED_TORUS": Shape(solids.deformed_torus, 0.72, 1.3),
    "PLATE": Shape(lambda collection, height: solids.plate(collection, 0.5, height), 0.5, 0.9),
    "HEMISPHERE": Shape(lambda collection, height: solids.hemisphere(collection, 0.4, height), 0.4, 1.2),
    "DRYER": Shape(lambda collection, height: solids.dryer(collection, 0.45, 0.6, height), 0.58, 0.5, -0.1),
    "TWISTED_KNOT": Shape(solids.knot, 0.62, 1.25),
}
#: (body, strength, pace): what each does at strength and pace 1 is what the examples below do, or nearly
DEFORMATIONS = {
    "NONE": lambda body, strength, pace: None,
    "CLOCK": lambda body, strength, pace: motions.clock(body, 6.0 / pace, 0.35 * strength),
    "WINGS": lambda body, strength, pace: motions.wings(body, 0.22 * strength, 1.8 / pace),
    "GROW": lambda body, strength, pace: motions.grow(body, 0.3 * strength, 2.5 / pace),
    "TWIST": lambda body, strength, pace: motions.twist(body, 1.6 * strength, 3.0 / pace),
    "DRUM": lambda body, strength, pace: motions.drum(body, 0.12 * strength, 0.7 / pace),
}


class Choice(NamedTuple):
    """A mixture of what Bargmann's parameter file has: OFF, OFF_LIFT, OFF_ROT_X to _Z, OFF_DEFORM, WEIGHT and OFFINCR."""

    shape: str = "TORUS"  # a key of SHAPES
    lift: bool = False  # whether it rises and sinks
    axes: frozenset = frozenset()  # of "X", "Y", "Z": about which it turns
    deformation: str = "NONE"  # a key of DEFORMATIONS
    strength: float = 1.0  # how far lift and deformation go
    pace: float = 1.0  # how fast all of it goes
    count: int = 47  # vertices along a side of the sheet


def mixture(context, collection, choice):
    """Add a sheet on a body of choice (`Choice`), with ground, light and camera; return what was made."""
    shape = SHAPES[choice.shape]
    rise = 0.2 * choice.strength if choice.lift else 0.0
    height = shape.reach * (1.0 + 0.35 * choice.strength) + rise + GROUND_GAP
    body = shape.make(collection, height)
    top = max(vertex.co.z for vertex in body.data.vertices) + body.taffeta_collider.aura + FALL
    DEFORMATIONS[choice.deformation](body, choice.strength, choice.pace)
    if choice.lift:
        motions.lift(body, rise, 2.5 / choice.pace)
    for axis in sorted(choice.axes):
        motions.rotate(body, "XYZ".index(axis), 4.0 / choice.pace)
    where = height + (top if shape.rise is None else shape.rise)
    cloth = sheet.square(collection, "Sheet", choice.count, shape.side, where, materials.woven(inside=0.7))
    floor, camera = stage.furnish(context, collection, target=(0.0, 0.0, 0.8 * height), lens=75.0)
    return stage.Example((cloth,), (body, floor), camera, FRAMES)


def _scene(context, collection, body, height, side=1.15, count=47, turn=0.0, **view):
    """A square sheet at a height [m] over a body, with ground, light and camera; return what was made."""
    cloth = sheet.square(collection, "Sheet", count, side, height, materials.woven(inside=0.7), turn)
    floor, camera = stage.furnish(context, collection, **view)
    return stage.Example((cloth,), (body, floor), camera, FRAMES)


def deformed_torus(context, collection):
    """Add a sheet that hangs over the thin ends of a deformed torus; return what was made."""
    return _scene(context, collection, solids.deformed_torus(collection, 0.45), 0.8, side=1.3, count=53, lens=80.0)


def plate(context, collection):
    """Add a sheet on an open plate that turns over and over, so that it slides off; return what was made."""
    body = solids.plate(collection, 0.5, 0.7)
    motions.rotate(body, 1, 8.0)
    return _scene(context, collection, body, 0.78, side=0.9, count=57, target=(0.0, 0.0, 0.6), lens=70.0)


def dryer(context, collection):
    """Add a sheet that tumbles in the turning drum of a dryer; return what was made."""
    body = solids.dryer(collection, 0.45, 0.6, 0.75)
    motions.rotate(body, 1, 2.2)
    cloth = sheet.square(collection, "Sheet", 41, 0.46, 0.6, materials.woven(inside=0.7), stretch=(1.3, 1.0))
    floor, camera = stage.furnish(context, collection, (0.5, -3.2, 1.35), (0.0, 0.0, 0.72), 84.0)
    return stage.Example((cloth,), (body, floor), camera, FRAMES)


def twisted_knot(context, collection):
    """Add a sheet on a knot that is lifted and lowered; return what was made."""
    body = solids.knot(collection, 0.55)
    motions.lift(body, 0.2, 2.5)
    return _scene(context, collection, body, 0.95, side=1.25, count=51, turn=0.3, lens=80.0)


def rotation(context, collection):
    """Add a sheet on a torus that leans and turns about the upright axis; return what was made."""
    body = solids.torus(collection, 0.4, 0.14, 0.5)
    body.rotation_euler = (math.radians(18.0), 0.0, 0.0)
    motions.rotate(body, 2, 4.0)
    return _scene(context, collection, body, 0.85, side=1.3, count=53, lens=80.0)


def clock(context, collection):
    """Add a sheet on a torus stretched in a direction that goes round; return what was made."""
    body = solids.torus(collection, 0.34, 0.13, 0.4)
    motions.clock(body, 6.0, 0.35)
    return _scene(context, collection, body, 0.65, side=1.3, count=53, lens=80.0)


def wings(context, collection):
    """Add a sheet on a deformed torus that beats its ends like wings; return what was made."""
    body = solids.deformed_torus(collection, 0.5)
    motions.wings(body, 0.22, 1.8)
    return _scene(context, collection, body, 0.85, side=1.3, count=53, lens=80.0)


def grow(context, collection):
    """Add a sheet on a sphere that grows and shrinks; return what was made."""
    body = solids.sphere(collection, 0.32, 0.55)
    motions.grow(body, 0.3, 2.5)
    return _scene(context, collection, body, 0.95, side=1.4, count=55)


def twist(context, collection):
    """Add a sheet on a deformed torus that is twisted to and fro along its length; return what was made."""
    body = solids.deformed_torus(collection, 0.5)
    motions.twist(body, 1.6, 3.0)
    return _scene(context, collection, body, 0.85, side=1.3, count=53, lens=80.0)


def drum(context, collection):
    """Add a sheet on an open plate that swings like the skin of a drum; return what was made."""
    body = solids.plate(collection, 0.5, 0.5)
    motions.drum(body, 0.12, 0.7)
    return _scene(context, collection, body, 0.58, side=0.8, count=51)


def hemisphere(context, collection):
    """Add a sheet on an open hemisphere that turns over, as a bell and as a bowl (figure 4.8); return what was made."""
    return mixture(context, collection, Choice("HEMISPHERE", axes=frozenset("X"), pace=0.6))
