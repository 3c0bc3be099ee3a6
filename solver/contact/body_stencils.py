# SPDX-License-Identifier: GPL-3.0-or-later
"""What pairs of triangles of cloth and bodies are made of: particles and triangles, edges and edges, for `body_guard`.

Arguments shared by all: `pairs` (p, 2) int32, cloth first, of `triangles` (t, 3) int32; `start`, `end` (m, 3) [m] where
all vertices are at both ends of the substep, those of the cloth first.
"""

import math

import numpy as np

from ..jit import njit
from .cloth_detection import Near, candidates
from .sift import ACROSS, MEETING


def find_stencils(pairs, triangles, owned, friction, start, end, asked, distance: float) -> Near | None:
    """Those pairs of particles and triangles, edges and edges whose ways come closer than a distance [m] along each axis
    and that have a particle that is `asked` (n,) for; owned (t,) as in `Patches`, friction (m,).
    """
    boxes, ways = np.empty((len(triangles), 6)), np.empty((len(start), 6))
    bound_kernel(pairs, triangles, start, end, distance, boxes, ways)
    calm = np.zeros(len(start), np.bool_)
    stencils, is_edge_pair = candidates(pairs, triangles, owned, calm, boxes, ways)
    rub = np.empty(len(stencils))
    count = rub_kernel(stencils, is_edge_pair, asked, friction, rub)
    if not count:
        return None
    none, zeros = np.zeros((2, count), np.bool_), np.zeros((5, count))
    given = stencils[:count], is_edge_pair[:count], np.full(count, distance), rub[:count]
    return Near(*given, zeros[0], zeros[1], zeros[2:].reshape(count, 3), none[0], none[1])


@njit
def keep_kernel(pairs, state, triangles, tangled):
    """Tangle the particles of cloth that crosses a body at the start; returns how many pairs may meet and have no tangled
    particle. 30 bytes a pair.
    # outputs: tangled (n,); pairs: those that are kept, first
    """
    for pair in range(len(pairs)):
        if state[pair] == ACROSS:
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
def bound_kernel(pairs, triangles, start, end, distance, boxes, ways):
    """Boxes [m], lowest corner first, of the ways of what is in the pairs. 300 bytes a triangle.
    # outputs: boxes (t, 6); ways (m, 6), which are a distance larger on every side
    """
    for pair in range(len(pairs)):
        for side in range(2):
            t = pairs[pair, side]
            for axis in range(3):
                least, most = math.inf, -math.inf
                for corner in range(3):
                    k = triangles[t, corner]
                    low, high = min(start[k, axis], end[k, axis]), max(start[k, axis], end[k, axis])
                    ways[k, axis], ways[k, axis + 3] = low - distance, high + distance
                    least, most = min(least, low), max(most, high)
                boxes[t, axis], boxes[t, axis + 3] = least, most


@njit
def rub_kernel(stencils, is_edge_pair, asked, friction, rub):
    """Keep the stencils with a particle that is `asked` (n,) for, closed up to the front; returns how many these are.
    50 bytes and 10 flops a stencil.
    # outputs: stencils (c, 4), is_edge_pair (c,); rub (c,) their friction
    """
    count = 0
    for k in range(len(stencils)):
        a, b = np.uintp(stencils[k, 0]), np.uintp(stencils[k, 1])
        c, d = np.uintp(stencils[k, 2]), np.uintp(stencils[k, 3])
        wanted = False
        for vertex in (a, b, c, d):
            wanted |= vertex < len(asked) and asked[vertex]
        if not wanted:
            continue
        stencils[count, 0], stencils[count, 1], stencils[count, 2], stencils[count, 3] = a, b, c, d
        is_edge_pair[count] = is_edge_pair[k]
        if is_edge_pair[k]:
            rub[count] = math.sqrt((friction[a] + friction[b]) * (friction[c] + friction[d])) / 2.0
        else:
            rub[count] = math.sqrt(friction[a] * (friction[b] + friction[c] + friction[d]) / 3.0)
        count += 1
    return count
