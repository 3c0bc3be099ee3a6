# SPDX-License-Identifier: GPL-3.0-or-later
"""Where garments start in the Distance of a body that is so thin there that it stretches them for good.

A body pushes cloth out to its Distance. A shirt that lies 3 mm off a chest gets longer by a fiftieth, and nobody sees it; a glove that
lies 3.5 mm off fingers by a seventh. So this is not asked of how near cloth is, but of how long its edges are once it is out.
"""

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from mathutils import Vector

from ..read import groups
from ..read.maps import read_map
from .crossings import Surface

STRETCH = 0.1  # of an edge, that counts
STRETCHED_PART = 0.2  # of a garment's edges, from which on they are not a few odd ones, as in armpits


class Tight(NamedTuple):
    """A garment and the body that stretches it."""

    garment: str
    body: str
    gap: float  # [m] between both where the garment is in the Distance, the median
    distance: float  # [m] of the body
    part: float  # of the garment's edges that get longer by over `STRETCH`


def find_tight(garments: list[Surface], bodies: list[Surface], metres: float) -> Iterator[Tight]:
    """Every garment that a body stretches; metres : of a Blender unit"""
    for garment in garments if len(bodies) else ():
        if garment.obj.taffeta_cloth.model == "RIGID":
            continue
        edges, free = _edges(garment.triangles), _free(garment)
        edges = edges[free[edges].all(axis=1)]
        for body in bodies:
            if not len(body.x) or not len(edges) or not groups.meet(garment.obj, body.obj):
                continue
            distance = body.obj.taffeta_collider.aura
            gap, out = _pushed(garment, body, free, distance / metres)
            near = np.isfinite(gap)
            own = edges[near[edges].all(axis=1)]
            before, after = (np.linalg.norm(x[own[:, 0]] - x[own[:, 1]], axis=1) for x in (garment.x, out))
            part = np.count_nonzero(after > (1.0 + STRETCH) * before) / len(edges)
            if part > STRETCHED_PART:
                yield Tight(garment.name, body.name, metres * float(np.median(gap[near])), distance, part)


def _edges(triangles: np.ndarray) -> np.ndarray:
    """(e, 2) the sides of triangles (t, 3), each once."""
    return np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)


def _free(garment: Surface) -> np.ndarray:
    """(n,) whether bodies may push a vertex: they are to meet it, and no pin holds it."""
    free = garment.masks.get("meets_bodies", np.ones(len(garment.x), bool)).copy()
    with contextlib.suppress(ValueError):  # a map that is missing: preflight tells of that
        pin = read_map(garment.obj, garment.obj.taffeta_cloth.pin, garment.obj.data)
        if len(pin) == len(free):
            free &= pin < 1.0
    return free


def _pushed(garment: Surface, body: Surface, free: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """How far (n,) a garment's free vertices are outside of a body, NaN beyond `reach`, and where (n, 3) they are once they are that
    far [Blender units]."""
    gap, out = np.full(len(garment.x), np.nan), garment.x.copy()
    low, high = body.x.min(axis=0) - reach, body.x.max(axis=0) + reach
    for vertex in np.flatnonzero(free & ((garment.x >= low) & (garment.x <= high)).all(axis=1)):  # 8 microseconds each
        point = Vector(garment.x[vertex])
        place, normal, _, away = body.tree.find_nearest(point, reach)
        if place is not None and away > 0.0 and (point - place).dot(normal) > 0.0:
            gap[vertex], out[vertex] = away, place + (point - place) * (reach / away)
    return gap, out
