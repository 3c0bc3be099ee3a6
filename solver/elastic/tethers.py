# SPDX-License-Identifier: GPL-3.0-or-later
"""Tethers: no particle gets farther from a pin than the way through the cloth.

One sweep of projections per substep carries a load over one spring, so that a chain of N particles under a pin sags by
about N g dt^2 at its top link whatever its stiffness. A tether takes each particle's load to the pin at once (Kim,
Chentanez and Müller-Fischer 2012). It only pulls, and only beyond the geodesic rest distance plus a slack: the strain
under its own weight that the cloth is allowed by its stiffness, twice over. Pins that hang together are one group, and
a particle hangs on the nearest pin of each group: a sheet held at two corners is taut between them.
"""

from math import sqrt

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, dijkstra

from ..jit import fused
from ..topology import edge_keys

LEAST_SLACK = 0.003  # strain
LOADS = 2.0  # own weights that the slack leaves to the springs
GROUPS = 4  # tethers per particle at most; more groups of pins take turns, so that neighbours stay apart
GRAVITY = 9.81  # [m/s2], for the slack only


def tether_rest(x, faces, springs, rest_length, hinges, inv_mass, density, stretch):
    """Tethers of one garment.

    Parameters
    ----------
    x : (n, 3) [m] rest positions
    faces, springs, hinges : from `topology`; rest_length (s,) [m]
    inv_mass : (n,) zero for the particles that hold
    density, stretch : (n,) [kg/m2], [N/m]

    Returns
    -------
    tethers : (m, 2) free particle and a kinematic one, the nearest of its group along the cloth
    length : (m,) [m]

    Notes
    -----
    The way along springs alone is up to 8 % too long on a grid; ways across hinges, unfolded flat, leave 3 %. A curve
    that turns by t < pi in all is no longer than its chord over cos(t / 2) (Schmidt 1925): where the cloth turns little
    on the way, that is the better bound, and exact on a flat piece.
    """
    count, held = len(x), np.flatnonzero(inv_mass == 0)
    if not len(held) or len(held) == count:
        return np.zeros((0, 2), dtype=np.int64), np.zeros(0)
    ways = np.concatenate([springs.pairs, hinges.stencils[:, 2:]])
    # A length of zero would mean to the graph that there is no way.
    length = np.maximum(np.concatenate([rest_length, _unfolded(x, hinges.stencils)]), 1e-12)
    key = edge_keys(ways, count)
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.concatenate([[True], np.diff(key[order]) != 0]))
    shortest = np.minimum.reduceat(length[order], first)  # of the ways between the same two particles
    key = key[order[first]]
    graph = csr_matrix((shortest, (key // count, key % count)), shape=(count, count))
    normals = _normals(x, faces)
    _, group = connected_components(graph[held][:, held], directed=False)
    tethers, reach = [], []
    for number in range(min(group.max() + 1, GROUPS)):
        pins = held[group % GROUPS == number]
        distance, before, source = dijkstra(
            graph, directed=False, indices=pins, min_only=True, return_predecessors=True
        )
        hanging = np.flatnonzero((inv_mass > 0) & np.isfinite(distance))
        chord = np.linalg.norm(x[hanging] - x[source[hanging]], axis=1)
        half_turn = np.minimum(0.5 * _turning(normals, before)[hanging], 1.5)
        way = np.minimum(distance[hanging], chord / np.cos(half_turn))
        tethers.append(np.stack([hanging, source[hanging]], axis=1))
        # The whole length, not the particle's own: what hangs below stretches what is next to the pin.
        weight = LOADS * GRAVITY * density[hanging] * way.max(initial=0.0)
        reach.append(way * (1.0 + LEAST_SLACK + weight / stretch[hanging]))
    return np.concatenate(tethers), np.concatenate(reach)


def _normals(x, faces):
    """Mean unit normal of the faces at each vertex, (n, 3); zero where there is none."""
    corner = x[faces.triangles]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    vertex = faces.triangles.ravel()
    total = np.stack([np.bincount(vertex, column.repeat(3), minlength=len(x)) for column in normal.T], axis=1)
    length = np.sqrt(np.einsum("ij,ij->i", total, total))
    return np.divide(total, length[:, None], out=np.zeros_like(total), where=length[:, None] > 0)


def _turning(normals, before):
    """How much the normal turns on the way to each particle, (n,) [rad]; `before` is the particle before on that way."""
    back = np.where(before < 0, np.arange(len(before)), before)
    turn = np.arccos(np.minimum(np.abs(np.einsum("ij,ij->i", normals, normals[back])), 1.0))
    turn[before < 0] = 0.0
    while (back[back] != back).any():  # each round adds as many particles again
        turn, back = turn + turn[back], back[back]
    return turn


def _unfolded(x, stencils):
    """Distance between the vertices opposite each hinge when it lies flat, (h,) [m]."""
    e0, e1, o0, o1 = (x[column] for column in stencils.T)
    edge = e1 - e0
    length = np.linalg.norm(edge, axis=1)
    along, across = [], []
    for opposite in (o0, o1):
        foot = np.einsum("ij,ij->i", opposite - e0, edge) / length
        along.append(foot)
        square = np.einsum("ij,ij->i", opposite - e0, opposite - e0)
        across.append(np.sqrt(np.maximum(square - foot**2, 0.0)))
    return np.hypot(along[1] - along[0], across[0] + across[1])


@fused
def project_tethers(x, tethers, length):
    """Move particles that are too far from their pin back onto the sphere around it. About 15 flops each."""
    for t in range(tethers.shape[0]):
        i, j = np.uintp(tethers[t, 0]), np.uintp(tethers[t, 1])
        xj, yj, zj = x[j, 0], x[j, 1], x[j, 2]
        dx, dy, dz = x[i, 0] - xj, x[i, 1] - yj, x[i, 2] - zj
        square = dx * dx + dy * dy + dz * dz
        if square > length[t] * length[t]:
            share = length[t] / sqrt(square)
            x[i, 0], x[i, 1], x[i, 2] = xj + share * dx, yj + share * dy, zj + share * dz
