# SPDX-License-Identifier: GPL-3.0-or-later
"""Where garments start between two bodies that are nearer to each other than both Distances and the cloth ask for.

A tablecloth between a table and plates that stand 8 mm over it needs 12 with the usual Distances of 5 mm: it is pinched from the
first frame on, sticks, and tears out of its length when it is pulled. In an armpit a body is near to itself: that is a pose, no
mistake, and not told.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from mathutils import Vector

from ..read import groups
from ..read.fabrics import least_thickness
from .crossings import Surface

FITTING_PART = 0.9  # of the room, that lower Distances are to take
LEAST_DISTANCE = 1e-4  # [m] below which no Distance is proposed


class Squeezed(NamedTuple):
    """A garment and the two bodies that it starts between."""

    garment: str
    body: str
    other: str
    vertices: np.ndarray  # of the garment
    room: float  # [m] the least between both
    needed: float  # [m]
    fitting: float  # [m] a Distance of both that fits in; 0: none does


def find_squeezed(garments: list[Surface], bodies: list[Surface], metres: float) -> Iterator[Squeezed]:
    """Every garment between two bodies without room; metres : of a Blender unit"""
    for garment in garments:
        thick = least_thickness(garment.obj)
        near = [body for body in bodies if len(body.x) and groups.meet(garment.obj, body.obj)]
        for index, one in enumerate(near):
            for other in near[index + 1 :]:
                needed = one.obj.taffeta_collider.aura + other.obj.taffeta_collider.aura + thick
                vertices, rooms = _between(garment, one, other, needed / metres)
                if len(vertices):
                    room = metres * min(rooms)
                    fitting = 0.5 * FITTING_PART * (room - thick)
                    fitting = fitting if fitting > LEAST_DISTANCE else 0.0
                    yield Squeezed(garment.name, one.name, other.name, np.array(vertices), room, needed, fitting)


def _between(garment: Surface, one: Surface, other: Surface, needed: float) -> tuple[list[int], list[float]]:
    """Vertices outside both bodies that have these on opposite sides, and their room there, less than `needed` [Blender units]."""
    low, high = (np.array([side(body.x, axis=0) for body in (one, other)]) for side in (np.min, np.max))
    reach = low.max(axis=0) - needed, high.min(axis=0) + needed  # where the boxes of both are near
    chosen = np.flatnonzero(((garment.x >= reach[0]) & (garment.x <= reach[1])).all(axis=1))
    vertices, rooms = [], []
    for vertex in chosen:  # 3 microseconds each
        point = Vector(garment.x[vertex])
        room = _room(point, one, other, needed)
        if room is not None:
            vertices.append(int(vertex))
            rooms.append(room)
    return vertices, rooms


def _room(point: Vector, one: Surface, other: Surface, needed: float) -> float | None:
    """Room [Blender units] between two bodies at a point that lies between them, if it is less than `needed`."""
    place, normal, _, distance = one.tree.find_nearest(point, needed)
    if place is None or distance == 0.0 or (point - place).dot(normal) <= 0.0:
        return None
    way = (point - place) / distance
    _, facing, _, beyond = other.tree.ray_cast(point, way, needed - distance)
    if beyond is None or facing.dot(way) >= 0.0 or distance + beyond >= needed:
        return None
    return distance + beyond
