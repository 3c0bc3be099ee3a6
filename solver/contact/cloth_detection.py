# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth: the loops that find what may meet. `cloth.detect` calls them and tells the method."""

import math
from typing import NamedTuple

import numpy as np

from ..jit import inner, njit
from ..threads import cut, joined, on_threads
from .hash import touch
from .impact import closest_pair, mix

FLAT = 0.8  # cosine of the angle between normals round a vertex and their mean up to which the sheet is flat there
FEW = 1024  # pairs that are not worth another thread
NEIGHBOUR_GAP = 0.9  # contact distance over rest distance at most, so that a sheet at rest does not push itself


class Near(NamedTuple):
    """Pairs of cloth that may meet, as the kernels read them."""

    stencils: np.ndarray  # (p, 4) int32: particle and triangle, or the ends of two edges
    is_edge_pair: np.ndarray  # (p,) bool
    distance: np.ndarray  # (p,) [m] contact distance
    friction: np.ndarray  # (p,) coefficient
    gap: np.ndarray  # (p,) [m] distance when detected
    closing: np.ndarray  # (p,) [m/s] bound of the speed at which the gap closed then
    normal: np.ndarray  # (p, 3) unit vector from the triangle (second edge) to the particle (first edge); changes
    through: np.ndarray  # (p,) bool: one side was through the other when last looked at; changes
    pulled: np.ndarray  # (p,) bool: it would have had to pull in the last solve (`stacks`); changes


class Skin(NamedTuple):
    """The fields of `Cloth` that the kernels read: numba compiles small tuples faster."""

    inv_mass: np.ndarray
    thickness: np.ndarray
    friction: np.ndarray
    garment: np.ndarray
    x_rest: np.ndarray
    meets_itself: np.ndarray


@inner
def _square(x, a, b):
    """Squared distance of rows a and b."""
    dx, dy, dz = x[a, 0] - x[b, 0], x[a, 1] - x[b, 1], x[a, 2] - x[b, 2]
    return dx * dx + dy * dy + dz * dz


@njit
def look_ahead_kernel(x, v, triangles, reach, slack, horizon, ways, boxes, normals, calm, mean_normals, margin):
    """Boxes of where particles and triangles will be, and the vertices around which the sheet is too flat to meet
    itself.

    If all normals round a vertex are within 37 degrees of their mean (cosine `FLAT`), the triangles round it lie side
    by side when seen along it, so corners and edges that do not touch each other are nearly a triangle's height apart
    and would first have to fold.
    # outputs: ways (n, 6), boxes (t, 6), lowest corner first; normals (t, 3), calm (n,) bool;
    # mean_normals (n, 3), margin (n,) scratch
    """
    mean0, mean1, mean2 = 0.0, 0.0, 0.0  # motion of the whole, which brings nothing closer
    for i in range(len(x)):
        mean0 += v[i, 0] / len(x)
        mean1 += v[i, 1] / len(x)
        mean2 += v[i, 2] / len(x)
    for i in range(len(x)):
        way0, way1, way2 = horizon * (v[i, 0] - mean0), horizon * (v[i, 1] - mean1), horizon * (v[i, 2] - mean2)
        ways[i, 0], ways[i, 3] = x[i, 0] + min(way0, 0.0) - reach[i], x[i, 0] + max(way0, 0.0) + reach[i]
        ways[i, 1], ways[i, 4] = x[i, 1] + min(way1, 0.0) - reach[i], x[i, 1] + max(way1, 0.0) + reach[i]
        ways[i, 2], ways[i, 5] = x[i, 2] + min(way2, 0.0) - reach[i], x[i, 2] + max(way2, 0.0) + reach[i]
        calm[i] = True
        margin[i] = math.inf
        mean_normals[i, 0], mean_normals[i, 1], mean_normals[i, 2] = 0.0, 0.0, 0.0
    for triangle in range(len(triangles)):
        a, b, c = triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2]
        ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        wx, wy, wz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
        area = math.sqrt(nx * nx + ny * ny + nz * nz)
        scale = 1.0 / area if area > 0.0 else 0.0
        normals[triangle, 0], normals[triangle, 1], normals[triangle, 2] = nx * scale, ny * scale, nz * scale
        longest = max(_square(x, a, b), max(_square(x, b, c), _square(x, c, a)))
        height = area / math.sqrt(longest) if area > 0.0 else 0.0
        fastest = math.sqrt(max(_square(v, a, b), max(_square(v, b, c), _square(v, c, a))))
        spare = FLAT * height - 2.0 * (max(slack[a], max(slack[b], slack[c])) + horizon * fastest)
        for axis in range(3):
            boxes[triangle, axis] = min(ways[a, axis], min(ways[b, axis], ways[c, axis]))
            boxes[triangle, axis + 3] = max(ways[a, axis + 3], max(ways[b, axis + 3], ways[c, axis + 3]))
            for corner in range(3):
                mean_normals[triangles[triangle, corner], axis] += normals[triangle, axis]
        for corner in range(3):
            margin[triangles[triangle, corner]] = min(margin[triangles[triangle, corner]], spare)
    for triangle in range(len(triangles)):
        nx, ny, nz = normals[triangle, 0], normals[triangle, 1], normals[triangle, 2]
        for corner in range(3):
            vertex = triangles[triangle, corner]
            mx, my, mz = mean_normals[vertex, 0], mean_normals[vertex, 1], mean_normals[vertex, 2]
            flat = nx * mx + ny * my + nz * mz > FLAT * math.sqrt(mx * mx + my * my + mz * mz)
            calm[vertex] &= flat and margin[vertex] > 0.0


@njit
def candidate_kernel(start, end, pairs, triangles, owned, calm, boxes, ways, stencils, is_edge_pair):
    """Particle-triangle and edge-edge pairs whose boxes overlap, out of the pairs start..end of triangles; returns
    their number.

    Every vertex and edge belongs to one triangle, so that each pair is looked at once. Counting goes on when there
    is no room left. About 12 comparisons and 100 bytes for a rejected primitive, all in one branch: the outcome of
    each alone is a coin toss to the processor.
    # outputs: stencils (c, 4), is_edge_pair (c,)
    """
    count = 0
    for pair in range(start, end):
        first, second = pairs[pair, 0], pairs[pair, 1]
        quiet = False
        for corner in range(3):
            p = triangles[first, corner]
            shared = (p == triangles[second, 0]) | (p == triangles[second, 1]) | (p == triangles[second, 2])
            quiet |= shared & calm[p]
        if quiet:
            continue
        for _ in range(2):
            a, b, c = triangles[second, 0], triangles[second, 1], triangles[second, 2]
            for corner in range(3):
                p = triangles[first, corner]
                if not owned[first] >> corner & 1:
                    continue
                if (p == a) | (p == b) | (p == c) or not touch(ways, p, p, boxes, second, second):
                    continue
                if count < len(stencils):
                    stencils[count, 0], stencils[count, 1], stencils[count, 2], stencils[count, 3] = p, a, b, c
                    is_edge_pair[count] = False
                count += 1
            first, second = second, first
        if not owned[second] >> 3:
            continue
        for corner in range(3):
            p, q = triangles[first, corner], triangles[first, (corner + 1) % 3]
            if not owned[first] >> corner & 8:
                continue
            if not touch(ways, p, q, boxes, second, second):
                continue
            for other in range(3):
                r, s = triangles[second, other], triangles[second, (other + 1) % 3]
                if not owned[second] >> other & 8:
                    continue
                if (p == r) | (p == s) | (q == r) | (q == s) or not touch(ways, p, q, ways, r, s):
                    continue
                if count < len(stencils):
                    stencils[count, 0], stencils[count, 1], stencils[count, 2], stencils[count, 3] = p, q, r, s
                    is_edge_pair[count] = True
                count += 1
    return count


def candidates(pairs, triangles, owned, calm, boxes, ways):
    """Stencils (c, 4) int32 of the pairs of triangles (p, 2), as `candidate_kernel` finds them; which are of edges (c,)."""

    def find(_, first, last):
        room = last - first + 256
        while True:
            stencils, is_edge_pair = np.empty((room, 4), np.int32), np.empty(room, np.bool_)
            count = candidate_kernel(first, last, pairs, triangles, owned, calm, boxes, ways, stencils, is_edge_pair)
            if count <= room:
                return stencils[:count], is_edge_pair[:count]
            room = count

    stencils, is_edge_pair = zip(*on_threads(find, cut(len(pairs), FEW)), strict=True)
    return joined(stencils), joined(is_edge_pair)


@njit
def measure_kernel(start, end, stencils, is_edge_pair, skin, x, v, reach, horizon, values, normal):
    """Keep those of the candidates start..end that can meet within the horizon, closed up to the front of that range;
    returns where they end.

    150 flops and 150 bytes a candidate, twice that inside a garment.
    # outputs: stencils, is_edge_pair; values (4, c): distance, friction, gap, closing; normal (c, 3)
    """
    kept = start
    h, f, rest, meets = skin.thickness, skin.friction, skin.x_rest, skin.meets_itself
    for pair in range(start, end):
        a, b = np.int64(stencils[pair, 0]), np.int64(stencils[pair, 1])
        c, d = np.int64(stencils[pair, 2]), np.int64(stencils[pair, 3])
        edges = is_edge_pair[pair]
        if skin.inv_mass[a] + skin.inv_mass[b] + skin.inv_mass[c] + skin.inv_mass[d] == 0.0:
            continue
        wa, wb, wc, wd = closest_pair(edges, x, a, b, c, d)
        nx = mix(x, 0, a, b, c, d, wa, wb, wc, wd)
        ny = mix(x, 1, a, b, c, d, wa, wb, wc, wd)
        nz = mix(x, 2, a, b, c, d, wa, wb, wc, wd)
        size = math.sqrt(nx * nx + ny * ny + nz * nz)
        if edges:
            within = max(reach[a], reach[b]) + max(reach[c], reach[d])
            first, second = wa * f[a] + wb * f[b], -wc * f[c] - wd * f[d]
        else:
            within = reach[a] + max(reach[b], max(reach[c], reach[d]))
            first, second = f[a], -wb * f[b] - wc * f[c] - wd * f[d]
        closing = math.sqrt(max(_square(v, a, c), max(_square(v, a, d), max(_square(v, b, c), _square(v, b, d)))))
        if not edges:
            closing = math.sqrt(max(_square(v, a, b), max(_square(v, a, c), _square(v, a, d))))
        if not size <= within + horizon * closing:
            continue
        # The weights of each side have the sum 1 in size, so this is the mean of the two sides' thicknesses.
        apart = 0.5 * (abs(wa) * h[a] + abs(wb) * h[b] + abs(wc) * h[c] + abs(wd) * h[d])
        if skin.garment[a] == skin.garment[c]:
            if not (meets[a] & meets[b] & meets[c] & meets[d]):
                continue
            ua, ub, uc, ud = closest_pair(edges, rest, a, b, c, d)
            rx = mix(rest, 0, a, b, c, d, ua, ub, uc, ud)
            ry = mix(rest, 1, a, b, c, d, ua, ub, uc, ud)
            rz = mix(rest, 2, a, b, c, d, ua, ub, uc, ud)
            apart = min(apart, NEIGHBOUR_GAP * math.sqrt(rx * rx + ry * ry + rz * rz))
        stencils[kept, 0], stencils[kept, 1], stencils[kept, 2], stencils[kept, 3] = a, b, c, d
        is_edge_pair[kept] = edges
        values[0, kept] = apart
        values[1, kept] = math.sqrt(max(first * second, 0.0))
        values[2, kept] = size
        values[3, kept] = closing
        scale = 1.0 / size if size > 0.0 else 0.0
        normal[kept, 0], normal[kept, 1], normal[kept, 2] = nx * scale, ny * scale, nz * scale
        kept += 1
    return kept


@njit
def scales_kernel(x_rest, v, triangles):
    """Mean edge [m] and mean speed [m/s] relative to the motion of the whole."""
    edge = 0.0
    for triangle in range(len(triangles)):
        edge += math.sqrt(_square(x_rest, triangles[triangle, 0], triangles[triangle, 1])) / len(triangles)
    mean0, mean1, mean2, square = 0.0, 0.0, 0.0, 0.0
    for i in range(len(v)):
        mean0 += v[i, 0] / len(v)
        mean1 += v[i, 1] / len(v)
        mean2 += v[i, 2] / len(v)
        square += (v[i, 0] * v[i, 0] + v[i, 1] * v[i, 1] + v[i, 2] * v[i, 2]) / len(v)
    return edge, math.sqrt(max(square - mean0 * mean0 - mean1 * mean1 - mean2 * mean2, 0.0))


@njit
def find_astray(x, x_ref, v_ref, time, slack, mean, astray):
    """How far particles are from x_ref + time v_ref, less what all are on average; returns whether one is farther off
    than its slack, or nowhere.
    # outputs: mean (3,), astray (n,)
    """
    mx, my, mz = 0.0, 0.0, 0.0
    for i in range(len(x)):
        mx += x[i, 0] - x_ref[i, 0] - time * v_ref[i, 0]
        my += x[i, 1] - x_ref[i, 1] - time * v_ref[i, 1]
        mz += x[i, 2] - x_ref[i, 2] - time * v_ref[i, 2]
    mx, my, mz = mx / len(x), my / len(x), mz / len(x)
    mean[0], mean[1], mean[2] = mx, my, mz
    found = False
    for i in range(len(x)):
        dx = x[i, 0] - x_ref[i, 0] - time * v_ref[i, 0] - mx
        dy = x[i, 1] - x_ref[i, 1] - time * v_ref[i, 1] - my
        dz = x[i, 2] - x_ref[i, 2] - time * v_ref[i, 2] - mz
        astray[i] = math.sqrt(dx * dx + dy * dy + dz * dz)
        found |= not astray[i] <= slack[i]
    return found
