# SPDX-License-Identifier: GPL-3.0-or-later
"""A move that takes what crosses a step on: cloth and cloth as in a bake (`contact.cloth.easing`), cloth out of bodies.

What pierces moves, and takes along what of its garment is near. Which of two garments is outside of the other one patches
vote for (`contact.cloth.layers`); a garment that crosses itself is parted by its contours.
"""

import numpy as np

from ..contact.cloth.easing import Piercings, find_piercings, part_kernel, ways
from ..contact.cloth.layers import wanted_sides
from ..contact.cloth.response import NO_BRACE
from .mend import Cloud, free_of, smooth
from .surface import vertex_normals
from .whole import Crossing, Whole

STEP = 0.3  # edges that what pierces is moved by
BALL = 1.0  # edges about it that go along


def find_wanted(whole: Whole, now: Crossing) -> np.ndarray:
    """The sides of garments that vertices are to be on, as from `layers.wanted_sides`."""
    garments = np.unique(np.sort(whole.owner[now.pairs], axis=1), axis=0)
    return wanted_sides(whole, now.x, garments[garments[:, 1] < whole.garment_count])


def ease(whole: Whole, cloud: Cloud, now: Crossing, wanted: np.ndarray) -> np.ndarray:
    """(m, 3) [m] a move of garments from where they are now; wanted : of `find_wanted`"""
    x, count, after = now.x, len(cloud.part), now.x.copy()
    most = STEP * float(np.median(whole.rest_length))
    of_body = (whole.owner[now.pairs] >= whole.garment_count).any(axis=1)
    for pairs, find in ((now.pairs[~of_body], _between_cloth), (now.pairs[of_body], _out_of_bodies)):
        piercings = find_piercings(pairs, whole, x)
        if len(piercings.corners):
            way = find(whole, x, piercings, wanted)
            part_kernel(piercings.corners, piercings.weight, way, most, x, after, whole.inv_mass, NO_BRACE)
    move = (after - x)[:count]
    return free_of(whole, smooth(cloud, move, BALL, counts=(move != 0.0).any(axis=1)))


def _between_cloth(whole: Whole, x, piercings: Piercings, wanted) -> np.ndarray:
    return ways(piercings, whole, x, wanted)


def _out_of_bodies(whole: Whole, x, piercings: Piercings, _) -> np.ndarray:
    """(k, 3) unit vectors: an edge of cloth goes out of a body's triangle, an edge of a body into cloth's."""
    a, b, c = x[piercings.corners[:, 2:]].transpose(1, 0, 2)
    turn = np.sign(np.einsum("kx,kx->k", np.cross(b - a, c - a), piercings.normal))
    normals = vertex_normals(x, whole.triangles)[piercings.corners[:, :2]].sum(axis=1)
    normals /= np.maximum(np.linalg.norm(normals, axis=1), np.finfo(float).tiny)[:, None]
    is_body = piercings.garment[:, 0] >= whole.garment_count
    return np.where(is_body[:, None], -normals, turn[:, None] * piercings.normal)
