# SPDX-License-Identifier: GPL-3.0-or-later
"""Advection keeps lengths (Buffet 2021, 3.3.3): what the field has lengthened, it may not leave so.

The thesis solves for all edges, a few times in each of ten steps of the advection. Here the solve of the next substep
does that; what it cannot see is that the field threw two neighbours apart. So each edge that is longer than before the
field, and than at rest, is drawn back to the longer of both, one after the other; that changes no momentum. Shorter
edges are left alone: cloth may buckle.
"""

import math

import numpy as np

from ..geometry.edge_projection import project_edge
from ..kernel.jit import fused

FREE_LENGTH = 1.02  # lengths at rest up to which the field may lengthen
ADVECTED_SWEEPS = 2


def edges_beside(cloth, particles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges of the mesh (e, 2) with an end among the particles, and their lengths at rest (e,) [m]."""
    told = np.zeros(len(cloth.inv_mass), np.bool_)
    told[particles] = True
    used = cloth.is_mesh_edge & (told[cloth.edges[:, 0]] | told[cloth.edges[:, 1]])
    return np.ascontiguousarray(cloth.edges[used], np.uint32), cloth.rest_length[used]


@fused
def keep(edges, rest_length, inv_mass, before, x):
    """Draw back edges that are longer than `before` (n, 3) [m] and than at rest.
    # outputs: x
    """
    for _ in range(ADVECTED_SWEEPS):
        for e in range(len(edges)):
            a, b = edges[e, 0], edges[e, 1]
            dx, dy, dz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
            length, most = math.sqrt(dx * dx + dy * dy + dz * dz), FREE_LENGTH * rest_length[e]
            if length <= most or inv_mass[a] + inv_mass[b] == 0.0:
                continue
            ux, uy, uz = before[b, 0] - before[a, 0], before[b, 1] - before[a, 1], before[b, 2] - before[a, 2]
            most = max(most, math.sqrt(ux * ux + uy * uy + uz * uz))
            if length > most:
                project_edge(x, a, b, inv_mass[a], inv_mass[b], dx, dy, dz, length, most)
