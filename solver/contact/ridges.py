# SPDX-License-Identifier: GPL-3.0-or-later
"""Ridges and tips of bodies, as of fingers, sticks and table tops: what cloth can meet between all of its samples.

A ridge is a piece of an edge round which a closed body is thin or sharp; a tip, the end of a limb or a sharp corner, is
a ridge of no length. Each ridge near the cloth has a contact sample of its own: the point of the cloth that is closest
to it at the start of each substep, so that the cloth is looked at just where it would be poked. From there on it is a
sample like all others (`body_response`).
"""

import math
from typing import NamedTuple

import numpy as np

from ..jit import counted_njit, inner, njit
from .distance import closest_on_segments, closest_on_triangle
from .hash import touch
from .samples import FLAT, Samples, fold

TIP = 0.02  # [m] radius of a limb's end that counts as a tip, and the largest of a limb that has ridges
SHARP = 0.8  # [rad] dihedral angle from which an edge is a ridge, however wide the body is
FLATTEST = 0.995  # cosine of the angle below which an edge is none, however thin the body is
REACH = 3.0  # auras from a ridge within which it has a sample
MOST_PIECES = 64  # of one edge
BLOCKS = 64  # of triangles of cloth that have a box in common
SPARE = 0.3  # of the way between ridge and cloth: neither goes quite where it was expected
ASIDE = 0.1  # square of the cosine to a ridge's face from which the cloth is over that face
NOWHERE = -1.0  # weight of the sample of a ridge that is near no cloth


class Ridges(NamedTuple):
    """Straight pieces of the bodies' edges."""

    ends: np.ndarray  # (k, 2) vertices of the edge; twice the same where it is a tip
    beside: np.ndarray  # (k, 2) third vertices of the two faces
    share: np.ndarray  # (k, 2) where on the edge the piece begins and ends, 0 at the first vertex


class Near(NamedTuple):
    """Ridges that may meet cloth in an interval of time, and which triangles of it."""

    ends: np.ndarray  # (k, 2), with the next two as in Ridges
    beside: np.ndarray  # (k, 2)
    share: np.ndarray  # (k, 2)
    rows: np.ndarray  # (k,) their samples
    start: np.ndarray  # (k + 1,) first of their triangles
    triangles: np.ndarray  # (c,) of the cloth


NO_RIDGES = Ridges(np.zeros((0, 2), np.int32), np.zeros((0, 2), np.int32), np.zeros((0, 2)))
NO_NEAR = Near(*NO_RIDGES, np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int32))


def find_ridges(x, triangles, neighbour, solid, is_in, aura: float, longest: float) -> Ridges:
    """Tips and ridges of bodies.

    Parameters
    ----------
    x : (m, 3) [m]; triangles, neighbour : (t, 3), as in `body_topology.Topology`; solid : (t,) 0 where a body is open
    is_in : (m,) bool, vertices that may meet the cloth
    aura : [m]
    longest : [m] edge of the cloth: the finer it is, the thinner is what its particles may miss
    """
    radius = np.empty(len(x))
    _radius_kernel(x, triangles, solid, is_in, np.empty_like(x), radius)
    tips = np.flatnonzero(is_in & (radius < TIP))
    thin = min(TIP, longest * longest / (8.0 * FLAT * aura))
    sharp = SHARP if longest > 4.0 * aura else math.inf
    edges = np.empty((3 * len(triangles), 5), np.int32)
    edges = edges[: _edges_kernel(x, triangles, neighbour, solid, is_in, thin, sharp, edges)]
    length = np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1)
    short = length < aura
    edges = np.concatenate([edges[~short], _one_per_cell(x[edges[short, 0]], aura, edges[short])])
    length = np.concatenate([length[~short], np.zeros(len(edges) - (~short).sum())])
    pieces = np.clip(np.ceil(length / longest), 1, MOST_PIECES).astype(np.int64)
    row = np.repeat(np.arange(len(edges)), pieces)
    first = np.arange(len(row)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    share = np.stack([first, first + 1.0], axis=1) / pieces[row, None]
    tips = np.union1d(tips, edges[edges[:, 4] == 1, :2])  # corners are as sharp as the edges that end there
    tips = _one_per_cell(x[tips], aura, tips)
    corners = np.concatenate([np.repeat(tips, 4).reshape(-1, 4), edges[row, :4]]).astype(np.int32)
    return Ridges(corners[:, :2], corners[:, 2:], np.concatenate([np.zeros((len(tips), 2)), share]))


def _one_per_cell(points, size: float, rows):
    """Of the `rows` of points the first in each cell of a grid, in their order."""
    cells = np.floor(points / size).astype(np.int64)
    keys = (cells - cells.min(axis=0, initial=0)) @ np.array([1 << 42, 1 << 21, 1])
    return rows[np.sort(np.unique(keys, return_index=True)[1])]


@njit
def _edges_kernel(x, triangles, neighbour, solid, is_in, thin, sharp, edges):
    """Edges of closed bodies whose faces fall away with a radius below `thin` [m] or an angle above `sharp` [rad];
    returns how many. A rod's radius is the mean width of the two faces by the angle between them. 150 flops an edge.
    # output: edges (3 t, 5): ends, third vertices of the faces, whether it is sharp
    """
    count = 0
    for t in range(len(triangles)):
        if solid[t] == 0:
            continue
        for side in range(3):
            u, a, b = neighbour[t, side], triangles[t, side], triangles[t, (side + 1) % 3]
            if u <= t or not (is_in[a] or is_in[b]):
                continue
            c, d = triangles[t, (side + 2) % 3], triangles[u, 0]
            if d == a or d == b:
                d = triangles[u, 1] if triangles[u, 1] != a and triangles[u, 1] != b else triangles[u, 2]
            below, n, m, along, across, long = fold(x, a, b, c, d)
            if below >= 0.0 or along > FLATTEST * n * m:  # a valley, or flat
                continue
            angle = math.atan2(across, along)
            if angle > sharp or 0.5 * (n + m) < thin * angle * long:
                edges[count, 0], edges[count, 1], edges[count, 2], edges[count, 3] = a, b, c, d
                edges[count, 4] = angle > sharp
                count += 1
    return count


@njit
def _radius_kernel(x, triangles, solid, is_in, normal, radius):
    """The largest radius with which the surface falls away round each vertex that is in; inf where it rises, or is open.
    150 flops and 200 bytes a triangle. # outputs: radius (m,) [m]; normal (m, 3) scratch
    """
    normal[:], radius[:] = 0.0, 0.0
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        if not (is_in[a] or is_in[b] or is_in[c]):
            continue
        ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        wx, wy, wz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
        for corner in range(3):
            i = triangles[t, corner]
            normal[i, 0], normal[i, 1], normal[i, 2] = normal[i, 0] + nx, normal[i, 1] + ny, normal[i, 2] + nz
    for i in range(len(x)):
        size = math.sqrt(normal[i, 0] ** 2 + normal[i, 1] ** 2 + normal[i, 2] ** 2)
        for axis in range(3):
            normal[i, axis] /= max(size, 1e-300)
        if size == 0.0:
            radius[i] = math.inf
    for t in range(len(triangles)):
        for corner in range(3):
            i, j = triangles[t, corner], triangles[t, (corner + 1) % 3]
            if not (is_in[i] or is_in[j]):
                continue
            dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            away = 0.5 * (dx * dx + dy * dy + dz * dz)
            falls = -(normal[i, 0] * dx + normal[i, 1] * dy + normal[i, 2] * dz)
            rises = normal[j, 0] * dx + normal[j, 1] * dy + normal[j, 2] * dz
            radius[i] = max(radius[i], away / falls if falls > 0.0 and solid[t] != 0 else math.inf)
            radius[j] = max(radius[j], away / rises if rises > 0.0 and solid[t] != 0 else math.inf)


def with_ridges(samples: Samples, count: int) -> Samples:
    """The samples with so many more behind them, which are nowhere yet."""
    parents = np.concatenate([samples.parents, np.zeros((count, 3), np.int32)])
    return samples._replace(parents=parents, weight=np.concatenate([samples.weight, np.full((count, 3), NOWHERE)]))


def ridges_near(ridges: Ridges, used, ways, triangles, x, v, tau, seconds, bulk, aura: float) -> Near:
    """Ridges whose ways meet those of triangles of cloth, from tau to the end of an interval of `seconds`.

    used (m,) vertices whose motion is known, ways (m, 8) as in `ldi.ways`; triangles (t, 3), x, v (n, 3) of the cloth
    """
    rows = np.flatnonzero(used[ridges.ends].all(axis=1) & used[ridges.beside].all(axis=1))
    ends, beside, share = (array[rows] for array in ridges)
    start, room = np.empty(len(rows) + 1, np.int64), 16 * len(rows)
    boxes, whole = np.empty((len(triangles) if len(rows) else 0, 6)), np.empty((BLOCKS, 6))
    _ways_kernel(triangles, x, v, tau, seconds, bulk, boxes, whole)
    while True:
        found = np.empty(room, np.int32)
        count = _pairs_kernel(ends, share, ways, boxes, whole, REACH * aura, start, found)
        if count <= room:
            return Near(ends, beside, share, rows, start, found[:count])
        room = count


@njit
def _ways_kernel(triangles, x, v, tau, seconds, bulk, boxes, whole):
    """Boxes of the ways of triangles, as seen from what moves by `bulk`, and of blocks of triangles that follow each
    other. # outputs: boxes (t, 6), or none; whole (BLOCKS, 6)
    """
    for block in range(BLOCKS):
        for axis in range(3):
            whole[block, axis], whole[block, axis + 3] = math.inf, -math.inf
        for t in range(block * len(boxes) // BLOCKS, (block + 1) * len(boxes) // BLOCKS):
            for axis in range(3):
                low, high = math.inf, -math.inf
                for corner in range(3):
                    i = triangles[t, corner]
                    begin = x[i, axis] - (tau - 0.5) * bulk[axis]
                    ahead = (1.0 - tau) * (seconds * v[i, axis] - bulk[axis])
                    low = min(low, begin + min(ahead, 0.0) - SPARE * abs(ahead))
                    high = max(high, begin + max(ahead, 0.0) + SPARE * abs(ahead))
                boxes[t, axis], boxes[t, axis + 3] = low, high
                whole[block, axis] = min(whole[block, axis], low)
                whole[block, axis + 3] = max(whole[block, axis + 3], high)


@counted_njit
def _pairs_kernel(ends, share, ways, boxes, whole, reach, start, found):
    """Triangles whose boxes come within reach of each ridge's way; returns how many, also beyond the room in `found`.
    6 comparisons a ridge and block, and a triangle of the blocks near it, at most.
    # outputs: start (k + 1,), found
    """
    count, ridge = 0, np.empty((1, 6))
    for k in range(len(ends)):
        start[k], i, j = count, ends[k, 0], ends[k, 1]
        for axis in range(3):
            grow = reach + max(abs(ways[i, axis + 3]) + ways[i, 6], abs(ways[j, axis + 3]) + ways[j, 6])
            along = ways[j, axis] - ways[i, axis]
            first, last = ways[i, axis] + share[k, 0] * along, ways[i, axis] + share[k, 1] * along
            ridge[0, axis], ridge[0, axis + 3] = min(first, last) - grow, max(first, last) + grow
        for block in range(BLOCKS):
            if not touch(ridge, 0, 0, whole, block, block):
                continue
            for t in range(block * len(boxes) // BLOCKS, (block + 1) * len(boxes) // BLOCKS):
                if touch(ridge, 0, 0, boxes, t, t):
                    if count < len(found):
                        found[count] = t
                    count += 1
    start[len(ends)] = count
    return count


@inner
def _ends(near, motions, k):
    """Where the two ends of ridge k are at the substep's start."""
    i, j, a, b = near.ends[k, 0], near.ends[k, 1], near.share[k, 0], near.share[k, 1]
    ix, iy, iz = motions[i, 0], motions[i, 1], motions[i, 2]
    ex, ey, ez = motions[j, 0] - ix, motions[j, 1] - iy, motions[j, 2] - iz
    return ix + a * ex, iy + a * ey, iz + a * ez, ix + b * ex, iy + b * ey, iz + b * ez


@inner
def _is_apart(x, a, b, c, px, py, pz, qx, qy, qz, gap):
    """Are the boxes of triangle abc and segment pq farther apart than `gap`?"""
    return (
        min(x[a, 0], x[b, 0], x[c, 0]) - gap > max(px, qx)
        or max(x[a, 0], x[b, 0], x[c, 0]) + gap < min(px, qx)
        or min(x[a, 1], x[b, 1], x[c, 1]) - gap > max(py, qy)
        or max(x[a, 1], x[b, 1], x[c, 1]) + gap < min(py, qy)
        or min(x[a, 2], x[b, 2], x[c, 2]) - gap > max(pz, qz)
        or max(x[a, 2], x[b, 2], x[c, 2]) + gap < min(pz, qz)
    )


@inner
def _is_beside(near, motions, k, dx, dy, dz):
    """Does (dx, dy, dz), the way from ridge k to the cloth, lead over one of its faces? Then that is closer."""
    i, j = near.ends[k, 0], near.ends[k, 1]
    ex, ey, ez = motions[j, 0] - motions[i, 0], motions[j, 1] - motions[i, 1], motions[j, 2] - motions[i, 2]
    length = ex * ex + ey * ey + ez * ez
    for side in range(2):
        o = near.beside[k, side]
        fx, fy, fz = motions[o, 0] - motions[i, 0], motions[o, 1] - motions[i, 1], motions[o, 2] - motions[i, 2]
        along = (fx * ex + fy * ey + fz * ez) / length if length > 0.0 else 0.0
        fx, fy, fz = fx - along * ex, fy - along * ey, fz - along * ez
        over = fx * dx + fy * dy + fz * dz
        if over > 0.0 and over * over > ASIDE * (fx * fx + fy * fy + fz * fz) * (dx * dx + dy * dy + dz * dz):
            return True
    return False


@inner
def _closing(motions, i, x_prev, x, a, b, c):
    """How far vertex i of a body and triangle abc of cloth come against each other in the substep."""
    gx = motions[i, 3] - (x[a, 0] + x[b, 0] + x[c, 0] - x_prev[a, 0] - x_prev[b, 0] - x_prev[c, 0]) / 3.0
    gy = motions[i, 4] - (x[a, 1] + x[b, 1] + x[c, 1] - x_prev[a, 1] - x_prev[b, 1] - x_prev[c, 1]) / 3.0
    gz = motions[i, 5] - (x[a, 2] + x[b, 2] + x[c, 2] - x_prev[a, 2] - x_prev[b, 2] - x_prev[c, 2]) / 3.0
    return math.sqrt(gx * gx + gy * gy + gz * gz)


@inner
def _closest(x, a, b, c, px, py, pz, qx, qy, qz, is_tip):
    """The point of triangle abc of cloth that is closest to p, or on an edge of it to segment pq: three weights and
    the way there from p or the segment.
    """
    wa, wb, wc, _ = closest_on_triangle(
        px, py, pz, x[a, 0], x[a, 1], x[a, 2], x[b, 0], x[b, 1], x[b, 2], x[c, 0], x[c, 1], x[c, 2]
    )
    dx = wa * x[a, 0] + wb * x[b, 0] + wc * x[c, 0] - px
    dy = wa * x[a, 1] + wb * x[b, 1] + wc * x[c, 1] - py
    dz = wa * x[a, 2] + wb * x[b, 2] + wc * x[c, 2] - pz
    if is_tip:
        return wa, wb, wc, dx, dy, dz
    for side in range(3):
        i, j = (a, b) if side == 0 else (b, c) if side == 1 else (c, a)
        s, r = closest_on_segments(px, py, pz, qx, qy, qz, x[i, 0], x[i, 1], x[i, 2], x[j, 0], x[j, 1], x[j, 2])
        ox = x[i, 0] + r * (x[j, 0] - x[i, 0]) - px - s * (qx - px)
        oy = x[i, 1] + r * (x[j, 1] - x[i, 1]) - py - s * (qy - py)
        oz = x[i, 2] + r * (x[j, 2] - x[i, 2]) - pz - s * (qz - pz)
        if ox * ox + oy * oy + oz * oz < dx * dx + dy * dy + dz * dz:
            dx, dy, dz = ox, oy, oz
            wa = 1.0 - r if side == 0 else r if side == 2 else 0.0
            wb = 1.0 - r if side == 1 else r if side == 0 else 0.0
            wc = 1.0 - r if side == 2 else r if side == 1 else 0.0
    return wa, wb, wc, dx, dy, dz


@njit
def lead_samples(first, last, near, motions, triangles, x_prev, x, reach, parents, weight, touched):
    """Put the samples of ridges first..last where the cloth is closest to them at the substep's start, when it has not
    gone through them yet, so that they are looked at.

    motions (m, 6) of the bodies; x_prev, x (n, 3) [m] of the cloth; parents, weight, touched: the rows of the ridges.
    40 flops a ridge and triangle, 300 of those that are near.
    # outputs: parents, weight, touched
    """
    for k in range(first, last):
        row, i, nearest = near.rows[k], near.ends[k, 0], math.inf
        px, py, pz, qx, qy, qz = _ends(near, motions, k)
        for entry in range(near.start[k], near.start[k + 1]):
            t = near.triangles[entry]
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            gap = min(nearest, reach + _closing(motions, i, x_prev, x, a, b, c))
            if _is_apart(x_prev, a, b, c, px, py, pz, qx, qy, qz, gap):
                continue
            wa, wb, wc, dx, dy, dz = _closest(x_prev, a, b, c, px, py, pz, qx, qy, qz, near.ends[k, 1] == i)
            distance = math.sqrt(dx * dx + dy * dy + dz * dz)
            if distance < gap:
                nearest = distance
                if _is_beside(near, motions, k, dx, dy, dz):
                    touched[row], weight[row, 0] = 0, NOWHERE
                    continue
                parents[row, 0], parents[row, 1], parents[row, 2] = a, b, c
                weight[row, 0], weight[row, 1], weight[row, 2] = wa, wb, wc
                touched[row] = 1


@njit
def gather_ridges(order, inv_mass, led, parents, weight, push, aims, touched, ridge_touched, touch, ridge_touch, x):
    """Move the corners of each triangle that a ridge wants elsewhere, one ridge after the other, the deepest first
    (`order`): the samples get to their `aims` (k, 3) [m] as far as others before have not brought them there, by `push`
    (k, 3) [m] at most. The corners touch what the first of their samples does.

    led, touched (n,), touch (n, 2, 8) of the particles, ridge_touched (k,), ridge_touch (k, 2, 8) of the samples.
    # outputs: x (n, 3), touched, touch
    """
    for row in order:
        if ridge_touched[row] <= 0:
            # what was held up goes on to touch, until it is found that the body would have to pull (`support`)
            for corner in range(3):
                i = parents[row, corner]
                if weight[row, 0] >= 0.0 and weight[row, corner] > 0.0 and led[i] > 0.0 and touched[i] == 0:
                    touched[i] = 1
            continue
        dx, dy, dz, total = aims[row, 0], aims[row, 1], aims[row, 2], 0.0
        for corner in range(3):
            i, w = parents[row, corner], weight[row, corner]
            dx, dy, dz = dx - w * x[i, 0], dy - w * x[i, 1], dz - w * x[i, 2]
            if inv_mass[i] > 0.0:
                total += w * w
        nx, ny, nz = ridge_touch[row, 0, 0], ridge_touch[row, 0, 1], ridge_touch[row, 0, 2]
        most = push[row, 0] ** 2 + push[row, 1] ** 2 + push[row, 2] ** 2
        if total == 0.0 or most == 0.0 or dx * nx + dy * ny + dz * nz <= 0.0:
            continue
        # others may have taken it elsewhere: no farther than it wanted to go
        total /= min(math.sqrt(most / (dx * dx + dy * dy + dz * dz)), 1.0)
        for corner in range(3):
            i, share = parents[row, corner], weight[row, corner] / total
            if inv_mass[i] > 0.0 and share > 0.0:
                x[i, 0], x[i, 1], x[i, 2] = x[i, 0] + share * dx, x[i, 1] + share * dy, x[i, 2] + share * dz
                if touched[i] <= 0:
                    touched[i] = 1
                    for k in range(8):
                        touch[i, 0, k] = ridge_touch[row, 0, k]
