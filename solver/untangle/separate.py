# SPDX-License-Identifier: GPL-3.0-or-later
"""The last millimetre: triangles of neighbouring layers that still cross, or are too close, are parted pair by pair.

Smooth fields do not know of single triangles, whose middles lie below a curved surface that their corners lie on. What
is left after the relaxation is shallow, and the order of the layers says for each pair of a vertex and a triangle, or
of two edges, who belongs outside: a constraint with a known sign (position-based dynamics, Müller et al. 2007), pushed
apart in proportion to the layers' softness.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from ..broad_phase.boxes import still_boxes
from ..broad_phase.patches import find_owners
from ..broad_phase.spatial_hash import hash_overlaps
from ..contact.cloth.proximity import candidates
from ..geometry.ccd import closest_pair, weighted_sum
from ..geometry.piercing import area_normal
from ..kernel.jit import inner, njit
from .surface import vertex_normals

SEPARATION_ROUNDS = 12  # times at most that pairs are measured
NORMALS_ROUNDS = 4  # after which normals are taken anew, for little turns
SEPARATION_SWEEPS = 6  # over the pairs of a round
CLOSE_SHARE = 0.85  # part of the wanted distance below which a pair is parted, to the whole of it
LEAST_UPRIGHT = 0.5  # part of its distance that a pair has to lie along the normals, else it is a pair past a border
FREE_THICKNESSES = 0.4  # that vertices may move before pairs of triangles are searched for again
MOST_THICKNESSES = 6.0  # that a vertex may be moved by: what is folded over would go on for ever
TOUCHING = 1e-6  # [m] between a pair's sides, up to which nothing says which way they lie


class Layered(NamedTuple):
    """Everything that takes part, garments first, then bodies."""

    triangles: np.ndarray  # (t, 3) int32, normals outwards
    layer: np.ndarray  # (n,) int32, 0 the bodies
    half: np.ndarray  # (n,) [m] half the thickness, of bodies the aura
    softness: np.ndarray  # (n,) 1 / rigidity, 0 for bodies


def separate_layers(x: np.ndarray, layered: Layered) -> None:
    """Part what crosses or is too close.

    Parameters
    ----------
    x : (n, 3) [m], changed in place
    layered : what they are
    """
    triangles, start = layered.triangles, x.copy()
    owned, is_flat = find_owners(triangles), np.zeros(len(x), np.bool_)  # nowhere too flat to meet
    found, boxes, spans = _find(x, layered)
    reference, pairs = x.copy(), found
    for turn in range(SEPARATION_ROUNDS):
        if turn % NORMALS_ROUNDS == 0:
            normals = vertex_normals(x, triangles)
        pairs = pairs[_doubtful_kernel(pairs, x, triangles, layered, np.empty(len(pairs), np.bool_))]
        stencils, kinds = candidates(pairs, triangles, owned, is_flat, still_boxes(boxes), still_boxes(spans))
        near, lacking = _measure_kernel(stencils, kinds, x, normals, layered)
        if not lacking:
            break
        before = x.copy()
        for _ in range(SEPARATION_SWEEPS):
            if not _push_kernel(stencils[:near], kinds[:near], x, start, normals, layered):
                break
        moved_off = np.abs(x - reference).max(axis=1) > FREE_THICKNESSES * layered.half
        if moved_off.any():
            found, boxes, spans = _find_again(x, layered, found, moved_off[triangles].any(axis=1))
            reference[moved_off] = x[moved_off]
        # What did not move is as it was.
        touched = (x != before).any(axis=1)[triangles].any(axis=1)
        pairs = found[touched[found[:, 0]] | touched[found[:, 1]]]


def _find(x, layered):
    """Pairs (p, 2) of triangles of different layers that are near each other, the boxes (t, 6), and those of vertices."""
    boxes, spans = _boxes(x, layered)
    others = ~np.eye(int(layered.layer.max()) + 1, dtype=bool)
    return hash_overlaps(boxes, layered.layer[layered.triangles[:, 0]], others), boxes, spans


def _find_again(x, layered, found, moved_off):
    """`_find` after a few triangles, `moved_off` (t,) bool, left the place that they were found at."""
    boxes, spans = _boxes(x, layered)
    middle, size = 0.5 * (boxes[:, :3] + boxes[:, 3:]), (boxes[:, 3:] - boxes[:, :3]).max(axis=1)
    reach = np.sqrt(3.0) * 0.5 * (size[moved_off].max() + size)
    around = np.flatnonzero(
        cKDTree(middle[moved_off]).query(middle, distance_upper_bound=float(reach.max()))[0] <= reach
    )
    others = ~np.eye(int(layered.layer.max()) + 1, dtype=bool)
    new = around[hash_overlaps(boxes[around], layered.layer[layered.triangles[around, 0]], others)].astype(np.int32)
    old = found[~(moved_off[found[:, 0]] | moved_off[found[:, 1]])]
    return np.concatenate((old, new[moved_off[new[:, 0]] | moved_off[new[:, 1]]])), boxes, spans


def _boxes(x, layered):
    """Boxes of triangles (t, 6) and vertices (n, 6), grown so that those that have to be parted, or soon may, overlap."""
    grown = ((CLOSE_SHARE + FREE_THICKNESSES) * layered.half)[:, None]
    spans = np.concatenate((x - grown, x + grown), axis=1)
    a, b, c = (spans[layered.triangles[:, corner]] for corner in range(3))
    low = np.minimum(np.minimum(a[:, :3], b[:, :3]), c[:, :3])
    return np.concatenate((low, np.maximum(np.maximum(a[:, 3:], b[:, 3:]), c[:, 3:])), axis=1), spans


@njit
def _doubtful_kernel(pairs, x, triangles, layered, doubtful):
    """Whether two triangles are not parted by a plane square to their mean normal, with the outer one outside: a
    quick look that settles nearly all. 80 flops a pair.
    # outputs: doubtful (p,)
    """
    half = layered.half
    for pair in range(len(pairs)):
        first, second = pairs[pair, 0], pairs[pair, 1]
        if layered.layer[triangles[first, 0]] > layered.layer[triangles[second, 0]]:
            first, second = second, first
        a, b, c = triangles[first, 0], triangles[first, 1], triangles[first, 2]
        d, e, f = triangles[second, 0], triangles[second, 1], triangles[second, 2]
        nx, ny, nz = area_normal(x, a, b, c)
        mx, my, mz = area_normal(x, d, e, f)
        one = 1.0 / math.sqrt(max(nx * nx + ny * ny + nz * nz, 1e-60))
        two = 1.0 / math.sqrt(max(mx * mx + my * my + mz * mz, 1e-60))
        nx, ny, nz = one * nx + two * mx, one * ny + two * my, one * nz + two * mz
        top, bottom = -math.inf, math.inf
        for corner in range(3):
            p, q = triangles[first, corner], triangles[second, corner]
            top = max(top, nx * x[p, 0] + ny * x[p, 1] + nz * x[p, 2])
            bottom = min(bottom, nx * x[q, 0] + ny * x[q, 1] + nz * x[q, 2])
        wide = max(half[a], max(half[b], half[c])) + max(half[d], max(half[e], half[f]))
        doubtful[pair] = bottom - top < CLOSE_SHARE * wide * math.sqrt(nx * nx + ny * ny + nz * nz)
    return doubtful


@inner
def _gap(edges, a, b, c, d, x, normals, layered):
    """How much a pair lacks to its distance, along what its first side has to go, and the four weights.

    The lack is negative where it is far enough apart, `-inf` where it lies beside each other.
    """
    wa, wb, wc, wd = closest_pair(edges, x, a, b, c, d)
    dx, dy, dz = weighted_sum(x, a, b, c, d, wa, wb, wc, wd)
    half = layered.half
    apart = abs(wa) * half[a] + abs(wb) * half[b] + abs(wc) * half[c] + abs(wd) * half[d]
    size = math.sqrt(dx * dx + dy * dy + dz * dz)
    if size >= apart:
        return -math.inf, 0.0, 0.0, 0.0, wa, wb, wc, wd
    side = 1.0 if layered.layer[a] > layered.layer[c] else -1.0
    if edges:
        nx, ny, nz = weighted_sum(normals, a, b, c, d, wa, wb, -wc, -wd)
    else:
        nx, ny, nz = area_normal(x, b, c, d)
    scale = side / max(math.sqrt(nx * nx + ny * ny + nz * nz), 1e-30)
    nx, ny, nz = scale * nx, scale * ny, scale * nz
    up = dx * nx + dy * ny + dz * nz
    if size < TOUCHING:  # they touch: the normal alone tells
        return apart - up, nx, ny, nz, wa, wb, wc, wd
    if abs(up) < LEAST_UPRIGHT * size:
        return -math.inf, 0.0, 0.0, 0.0, wa, wb, wc, wd
    if up < 0.0:
        return apart + size, -dx / size, -dy / size, -dz / size, wa, wb, wc, wd
    return apart - size, dx / size, dy / size, dz / size, wa, wb, wc, wd


@njit
def _measure_kernel(stencils, kinds, x, normals, layered):
    """Keep the pairs that may come too close, closed up to the front; returns their number and how many are now.
    # outputs: stencils, kinds
    """
    kept, lacking = 0, 0
    half = layered.half
    for pair in range(len(stencils)):
        a, b = np.int64(stencils[pair, 0]), np.int64(stencils[pair, 1])
        c, d = np.int64(stencils[pair, 2]), np.int64(stencils[pair, 3])
        lack = _gap(kinds[pair], a, b, c, d, x, normals, layered)[0]
        if lack > -math.inf:
            stencils[kept, 0], stencils[kept, 1], stencils[kept, 2], stencils[kept, 3] = a, b, c, d
            kinds[kept] = kinds[pair]
            kept += 1
            lacking += lack > (1.0 - CLOSE_SHARE) * (half[a] + half[d])
    return kept, lacking


@inner
def _move(x, start, i, room, dx, dy, dz):
    """Move a vertex unless that takes it farther from where it began than there is room."""
    mx, my, mz = x[i, 0] + dx - start[i, 0], x[i, 1] + dy - start[i, 1], x[i, 2] + dz - start[i, 2]
    if mx * mx + my * my + mz * mz <= room * room:
        x[i, 0] += dx
        x[i, 1] += dy
        x[i, 2] += dz


@njit
def _push_kernel(stencils, kinds, x, start, normals, layered):
    """Move each pair apart by what it lacks, one after the other; returns how many were.
    # outputs: x
    """
    softness, half = layered.softness, layered.half
    count = 0
    for pair in range(len(stencils)):
        a, b = np.int64(stencils[pair, 0]), np.int64(stencils[pair, 1])
        c, d = np.int64(stencils[pair, 2]), np.int64(stencils[pair, 3])
        lack, nx, ny, nz, wa, wb, wc, wd = _gap(kinds[pair], a, b, c, d, x, normals, layered)
        sa, sb, sc, sd = wa * softness[a], wb * softness[b], wc * softness[c], wd * softness[d]
        give = wa * sa + wb * sb + wc * sc + wd * sd
        room = half[a] + half[d]
        if lack <= (1.0 - CLOSE_SHARE) * room or give <= 0.0:
            continue
        count += 1
        room *= MOST_THICKNESSES
        lack /= give
        _move(x, start, a, room, lack * sa * nx, lack * sa * ny, lack * sa * nz)
        _move(x, start, b, room, lack * sb * nx, lack * sb * ny, lack * sb * nz)
        _move(x, start, c, room, lack * sc * nx, lack * sc * ny, lack * sc * nz)
        _move(x, start, d, room, lack * sd * nx, lack * sd * ny, lack * sd * nz)
    return count
