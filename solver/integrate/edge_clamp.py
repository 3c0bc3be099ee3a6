# SPDX-License-Identifier: GPL-3.0-or-later
"""What a linear solve takes too far: edges that it turns become longer than it knows.

The solve (`solve`) sees each edge along its direction before. One whose ends it moves across that direction by as much
as the edge is long is 40 % longer afterwards, and knows nothing of it: where a corner of cloth flaps or is stopped by a
body, single edges were longer by half for a substep. So after the solve such edges are brought back to the length that
it meant, one after the other (`geometry.edge_projection`).

Worst edge of 34 frames of 101 x 101 on a ball, with and without: 6 and 27 % in 10 substeps, 12 and 55 % in 5; the real
walker's, of 60 frames, before contact kept lengths: 23 and 87 %, usually 6 and 18. Less than `ALLOWED_LENGTHENING` is left alone: it
is in every contact, and always to shorten what contact has turned makes cloth creep together.
"""

import math

import numpy as np

from ..geometry.edge_projection import project_edge
from ..kernel.jit import fused, fused_inner, inner, njit
from ..kernel.shared import BOARD, share

CLAMP_SWEEPS = 4
SMALLEST_EDGE_PART = 2048  # edges that another thread is asked for
ALLOWED_LENGTHENING = 0.05  # part of its length by which an edge may be longer than was meant
COMPARED = 2048  # edges of which the longest is found at once
BLOWN_UP = 1000.0  # times its rest length from which on an edge is none that anything has pulled


def shorten(edges, rest_length, is_mesh_edge, inv_mass, kind, x, d):
    """Shorten edges (e, 2) that a correction d (n, 3) [m] of x (n, 3) [m] makes longer than it means; returns how many.

    Meant is the length along the edge's direction before, if that is more than `rest_length` (e,) [m]. What a body holds
    (`kind` (n,), as in `contact.support`) stays. # outputs: d
    """
    is_long, long = np.empty(len(edges), np.bool_), np.empty(len(edges), np.int32)
    return _shorten_kernel(BOARD, edges, rest_length, is_mesh_edge, inv_mass, kind, x, d, is_long, long)


@fused_inner
def _find_long(first, last, edges, rest_length, is_mesh_edge, x, d, is_long):
    """Which of the edges first..last are longer than at rest by half of `ALLOWED_LENGTHENING`. 60 bytes and 10 flops an edge.
    # outputs: is_long (e,)
    """
    for e in range(np.uintp(first), np.uintp(last)):
        i, j = np.uintp(edges[e, 0]), np.uintp(edges[e, 1])
        rx, ry, rz, _, _, _ = _between(x, d, i, j)
        most = (1.0 + ALLOWED_LENGTHENING) * rest_length[e] * rest_length[e]
        is_long[e] = is_mesh_edge[e] and rx * rx + ry * ry + rz * rz > most


@fused
def _shorten_kernel(board, edges, rest_length, is_mesh_edge, inv_mass, kind, x, d, is_long, long):
    """`shorten` the edges that are long, one after the other. 60 flops a sweep and edge. # outputs: d; is_long, long (e,) scratch"""
    share(board, _find_long, len(edges), SMALLEST_EDGE_PART, (edges, rest_length, is_mesh_edge, x, d, is_long))
    count = listed = 0
    for e in range(len(edges)):
        if is_long[e]:
            long[listed], listed = e, listed + 1
    for _ in range(CLAMP_SWEEPS if listed > 0 else 0):
        before = count
        for slot in range(np.uintp(listed)):
            e = np.uintp(long[slot])
            i, j = np.uintp(edges[e, 0]), np.uintp(edges[e, 1])
            rx, ry, rz, ox, oy, oz = _between(x, d, i, j)
            square, most = rx * rx + ry * ry + rz * rz, (1.0 + ALLOWED_LENGTHENING) * rest_length[e]
            if square <= most * most:
                continue
            wi, wj = inv_mass[i] if kind[i] == 0 else 0.0, inv_mass[j] if kind[j] == 0 else 0.0
            length, old = math.sqrt(square), math.sqrt(ox * ox + oy * oy + oz * oz)
            if old > 0.0:
                most = max(most, (1.0 + ALLOWED_LENGTHENING) * (rx * ox + ry * oy + rz * oz) / old)
            if length <= most or wi + wj == 0.0:
                continue
            project_edge(d, i, j, wi, wj, rx, ry, rz, length, most)
            count += 1
        if count == before:
            break
    return count


@fused
def measure(edges, rest_length, is_mesh_edge, x):
    """Worst and mean strain of the mesh's own edges at x (n, 3) [m]. 40 bytes an edge and its ends."""
    worst, total, count = -1.0, 0.0, 0
    for e in range(np.uintp(edges.shape[0])):
        if is_mesh_edge[e] and rest_length[e] > 0.0:
            i, j = np.uintp(edges[e, 0]), np.uintp(edges[e, 1])
            rx, ry, rz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            strain = math.sqrt(rx * rx + ry * ry + rz * rz) / rest_length[e] - 1.0
            worst, total, count = max(worst, strain), total + strain, count + 1
    return (worst, total / count) if count > 0 else (0.0, 0.0)


def blown_up(cloth, x, v):
    """(n,) bool: particles that are nowhere, and the ends of edges that are `BLOWN_UP` times as long as at rest, but for edges that
    pins hold at both ends and those shorter than cloth is thick. x, v : (n, 3) [m], [m/s]
    """
    bad = np.zeros(len(x), np.bool_)
    if np.isfinite(x.sum() + v.sum()) and longest(cloth, x)[0] < BLOWN_UP:
        return bad
    bad |= ~(np.isfinite(x).all(axis=1) & np.isfinite(v).all(axis=1))
    thick = 0.5 * cloth.thickness[cloth.edges].sum(axis=1)
    counts = cloth.is_mesh_edge & (cloth.rest_length > thick) & (cloth.inv_mass[cloth.edges] > 0.0).any(axis=1)
    one, other = cloth.edges[counts].T
    far = np.linalg.norm(x[one] - x[other], axis=1) > BLOWN_UP * cloth.rest_length[counts]
    bad[one[far]] = bad[other[far]] = True
    return bad


def longest(cloth, x):
    """The greatest strain of the mesh's edges that are longer than cloth is thick, and the garment that has it: shorter ones
    give way to any contact.
    """
    blocks = -(-len(cloth.edges) // COMPARED)
    about = cloth.edges, cloth.rest_length, cloth.is_mesh_edge, cloth.thickness, x
    strain, edge = _longest_kernel(BOARD, *about, np.empty(blocks), np.empty(blocks, np.int64))
    return (strain, int(cloth.garment[cloth.edges[edge, 0]])) if edge >= 0 else (0.0, 0)


@njit
def _longest_kernel(board, edges, rest_length, is_mesh_edge, thickness, x, strains, longest_edges):
    """The greatest strain of `longest`, and the first edge that has it; -1 where none counts. What has blown up is infinitely long. 60
    bytes and 12 flops an edge. # outputs: strains, longest_edges (b,), of blocks of `COMPARED` edges
    """
    about = edges, rest_length, is_mesh_edge, thickness, x, strains, longest_edges
    share(board, _find_longest, len(strains), 1, about)
    strain, edge = -1.0, -1
    for block in range(len(strains)):
        if strains[block] > strain or edge < 0:
            strain, edge = strains[block], longest_edges[block]
    return strain, edge


@inner
def _find_longest(first, last, edges, rest_length, is_mesh_edge, thickness, x, strains, longest_edges):
    """`_longest_kernel` of the blocks first..last."""
    for block in range(first, last):
        strains[block], longest_edges[block] = -1.0, -1
        for e in range(np.uintp(block * COMPARED), np.uintp(min(block * COMPARED + COMPARED, len(edges)))):
            i, j = np.uintp(edges[e, 0]), np.uintp(edges[e, 1])
            if is_mesh_edge[e] and rest_length[e] > 0.5 * (thickness[i] + thickness[j]):
                dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
                strain = math.sqrt(dx * dx + dy * dy + dz * dz) / rest_length[e] - 1.0
                strain = math.inf if math.isnan(strain) else strain
                if strain > strains[block] or longest_edges[block] < 0:
                    strains[block], longest_edges[block] = strain, e


@fused_inner
def _between(x, d, i, j):
    """The way from particle i to j after the correction, and before."""
    ox, oy, oz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    return ox + d[j, 0] - d[i, 0], oy + d[j, 1] - d[i, 1], oz + d[j, 2] - d[i, 2], ox, oy, oz
