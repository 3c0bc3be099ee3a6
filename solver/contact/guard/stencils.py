# SPDX-License-Identifier: GPL-3.0-or-later
"""What pairs of triangles of cloth and bodies are made of: particles and triangles, edges and edges, for `body_pairs`.

Arguments shared by all: `pairs` (p, 2) int32, cloth first, of `triangles` (t, 3) int32.
"""

import math

import numpy as np

from ...broad_phase.boxes import still_boxes
from ...geometry.ccd import corners_of
from ...kernel.jit import njit
from ..cloth.pair_list import PairList
from ..cloth.proximity import candidates
from .scene import Details
from .separating_axes import CROSSING, MEETING
from .trajectories import Trajectories


def find_stencils(
    pairs, triangles, details: Details, trajectories: Trajectories, asked, distance: float
) -> PairList | None:
    """Those pairs of particles and triangles, edges and edges whose trajectories come closer than a distance [m] along each
    axis and that have a particle that is `asked` (n,) for.
    """
    count = len(trajectories.start)
    boxes, vertex_boxes = np.empty((len(triangles), 6)), np.empty((count, 6))
    boxes_kernel(pairs, triangles, trajectories, distance, boxes, vertex_boxes)
    is_flat = np.zeros(count, np.bool_)
    about = details.owned, is_flat, still_boxes(boxes), still_boxes(vertex_boxes)
    stencils, is_edge_pair = candidates(pairs, triangles, *about)
    friction = np.empty(len(stencils))
    count = friction_kernel(stencils, is_edge_pair, asked, details.friction, friction)
    if not count:
        return None
    return PairList(
        stencils=stencils[:count],
        is_edge_pair=is_edge_pair[:count],
        distance=np.full(count, distance),
        friction=friction[:count],
        gap=np.zeros(count),
        closing=np.zeros(count),
        normal=np.zeros((count, 3)),
        through=np.zeros(count, np.bool_),
        pulled=np.zeros(count, np.bool_),
    )


@njit
def keep_kernel(pairs, state, triangles, tangled):
    """Tangle the particles of cloth that crosses a body at the start; returns how many pairs may meet and have no tangled
    particle. 30 bytes a pair.
    # outputs: tangled (n,); pairs: those that are kept, first
    """
    for pair in range(len(pairs)):
        if state[pair] == CROSSING:
            for corner in range(3):
                tangled[triangles[pairs[pair, 0], corner]] = True
    count = 0
    for pair in range(len(pairs)):
        t, s = pairs[pair, 0], pairs[pair, 1]
        caught = tangled[triangles[t, 0]] | tangled[triangles[t, 1]] | tangled[triangles[t, 2]]
        if state[pair] == MEETING and not caught:
            pairs[count, 0], pairs[count, 1] = t, s
            count += 1
    return count


@njit
def boxes_kernel(pairs, triangles, trajectories, distance, boxes, vertex_boxes):
    """Boxes [m], lowest corner first, of the trajectories of what is in the pairs. 300 bytes a triangle.
    # outputs: boxes (t, 6); vertex_boxes (m, 6), which are a distance larger on every side
    """
    start, end = trajectories.start, trajectories.end
    for pair in range(len(pairs)):
        for side in range(2):
            t = pairs[pair, side]
            for axis in range(3):
                least, most = math.inf, -math.inf
                for corner in range(3):
                    k = triangles[t, corner]
                    low, high = min(start[k, axis], end[k, axis]), max(start[k, axis], end[k, axis])
                    vertex_boxes[k, axis], vertex_boxes[k, axis + 3] = low - distance, high + distance
                    least, most = min(least, low), max(most, high)
                boxes[t, axis], boxes[t, axis + 3] = least, most


@njit
def friction_kernel(stencils, is_edge_pair, asked, rough, friction):
    """Keep the stencils with a particle that is `asked` (n,) for, closed up to the front; returns how many these are.
    50 bytes and 10 flops a stencil.

    rough : (m,) friction coefficient of each vertex
    # outputs: stencils (c, 4), is_edge_pair (c,); friction (c,)
    """
    count = 0
    for k in range(len(stencils)):
        a, b, c, d = corners_of(stencils, k)
        wanted = False
        for vertex in (a, b, c, d):
            wanted |= vertex < len(asked) and asked[vertex]
        if not wanted:
            continue
        stencils[count, 0], stencils[count, 1], stencils[count, 2], stencils[count, 3] = a, b, c, d
        is_edge_pair[count] = is_edge_pair[k]
        if is_edge_pair[k]:
            friction[count] = math.sqrt((rough[a] + rough[b]) * (rough[c] + rough[d])) / 2.0
        else:
            friction[count] = math.sqrt(rough[a] * (rough[b] + rough[c] + rough[d]) / 3.0)
        count += 1
    return count
