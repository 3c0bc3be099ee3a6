# SPDX-License-Identifier: GPL-3.0-or-later
"""A stroke without a mouse: a script says what the hand does where, and for how many steps."""

from typing import NamedTuple

import bpy
import numpy as np

from . import session
from .touch import Hit

WAIT, GRAB = "WAIT", "GRAB"


class Stroke(NamedTuple):
    """What the hand does."""

    doing: str  # WAIT, GRAB, PIN, UNPIN or SMOOTH
    name: str  # of the garment; empty: whichever is nearest
    at: tuple[float, float, float]  # Blender units, world space
    to: tuple[float, float, float]  # where a pull goes
    radius: float  # Blender units
    steps: int


def take(scene: bpy.types.Scene, stroke: Stroke) -> session.Drape:
    """Do that, in the drape that runs or in a new one, which goes on afterwards.

    Raises
    ------
    ValueError
        It cannot be done, or the cloth blew up: a sentence. A drape that was begun for it has been left.
    """
    is_new = session.running() is None
    drape = session.start(scene) if is_new else session.running()
    if not (is_new or drape.by_script):
        raise ValueError("Cloth is being draped with the mouse; leave that (Esc) first")
    is_done = False
    try:
        drape.speed, drape.by_script = session.FULL, True
        if stroke.doing != WAIT:
            _touch(drape, stroke)
        for _ in range(stroke.steps):
            if not drape.step(scene):
                raise ValueError(drape.trouble)
        is_done = True
    finally:
        drape.release()
        if is_new and not is_done:
            session.end()
    return drape


def _touch(drape, stroke):
    """Begin the stroke where cloth is nearest to its place."""
    if not np.isfinite((*stroke.at, *stroke.to)).all():
        raise ValueError("Where the cloth is to be touched is no finite place; give three numbers for it")
    hit, radius = _nearest(drape, stroke), stroke.radius * drape.metres
    if stroke.doing != GRAB:
        {"PIN": drape.pin, "UNPIN": drape.unpin, "SMOOTH": drape.smooth}[stroke.doing](hit, radius)
    elif drape.grab(hit, radius):
        drape.move(np.array(stroke.to) * drape.metres)
    else:
        drape.forget()
        raise ValueError("All of that is pinned; unpin it first, or pull at another place")


def _nearest(drape, stroke):
    """The particle of the garment that is nearest to the stroke's place, as if a ray had met it."""
    cloth, names = drape.cloth, [known.name for known in drape.order.garment_objects]
    triangles = np.arange(len(cloth.triangles))
    if stroke.name:
        if stroke.name not in names:
            raise ValueError(f"{stroke.name} is not draped; these are: {', '.join(names)}")
        triangles = np.flatnonzero(cloth.garment[cloth.triangles[:, 0]] == names.index(stroke.name))
    corners = cloth.triangles[triangles]
    away = (drape.state.x + cloth.origin)[corners] - np.array(stroke.at) * drape.metres
    row, corner = divmod(int((away * away).sum(axis=2).argmin()), 3)
    return Hit(drape.state.x[corners[row, corner]] + cloth.origin, int(triangles[row]), 0.0)
