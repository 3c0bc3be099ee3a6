# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth: by thickness, inelastic, with friction, conserving momentum (Pereira 2013, 4.3 and 4.4).

The step calls three functions:

    pairs = detect(cloth, x, v, dt, settings)     at the start of a substep, from positions known to be apart
    is_current(pairs, cloth, x, v, dt) -> bool    at the start of every substep: False asks for a new `detect`
    respond(pairs, cloth, x, x_prev, dt) -> int   each substep after the constraints; x and x_prev change in place,
                                                  returns how many pairs touched

`detect` pairs every particle with every triangle and every edge with every edge that can come closer than their
contact distance while all particles fly on as they do, each off its way by no more than the slack it is granted. A
particle that leaves its way by more, or the end of the time that was looked ahead, calls for a new detection, which
is what `is_current` asks. Each pair remembers the direction from its second side to its first, so a particle that
went through a triangle since the last substep is known by a direction that flipped, confirmed by conservative
advancement along its way (Li et al. 2021, additive continuous detection), and is taken back to where it came from.

`respond` works pair after pair (Gauss-Seidel, always in the same order) on positions, with signed barycentric weights
w and inverse masses m^-1: with gap C = n . sum(w x) - h, x_i -= m_i^-1 w_i C n / sum(m^-1 w^2), which changes neither
the momentum nor the place of the centre of mass. An approach is ended, no more: cloth that was too close already at
the start of the substep is eased apart by moving x and x_prev alike, so that being pushed apart gives no speed, unless
it was much too close (`FIRM`). Friction takes back the sliding of the substep up to its coefficient times the normal
correction (Coulomb).
"""

import math
from typing import NamedTuple

import numpy as np

from ..jit import inline, njit
from ..model import Cloth, Settings
from .cloth_response import closest_pair, find_astray, respond_kernel
from .patches import triangle_pairs

HORIZON = 8  # substeps that a detection looks ahead at most
LARGEST_SLACK = 0.05  # mean edges: finer cloth is looked at more often
LONGEST_WAY = 0.7  # mean edges that cloth may fly in the time looked ahead: fast cloth is looked at more often
SURPRISE = 20.0  # [m/s2] change of velocity that the slack allows for
FLAT = 0.8  # cosine of the angle between normals round a vertex and their mean up to which the sheet is flat there
NEIGHBOUR_GAP = 0.9  # contact distance over rest distance at most, so that a sheet at rest does not push itself


class Pairs(NamedTuple):
    """Everything of cloth that may meet while each particle keeps to its way within its slack."""

    stencils: np.ndarray  # (p, 4) int32: particle and triangle, or the ends of two edges
    is_edge_pair: np.ndarray  # (p,) bool
    distance: np.ndarray  # (p,) [m] contact distance
    friction: np.ndarray  # (p,) coefficient
    gap: np.ndarray  # (p,) [m] distance when detected
    closing: np.ndarray  # (p,) [m/s] bound of the speed at which the gap closed then
    normal: np.ndarray  # (p, 3) unit vector from the triangle (second edge) to the particle (first edge); changes
    firm_start: int  # pairs from here on have a particle that does not move
    x_ref: np.ndarray  # (n, 3) [m] positions when detected
    v_ref: np.ndarray  # (n, 3) [m/s] velocities when detected
    slack: np.ndarray  # (n,) [m] how far a particle may leave its way before the pairs are out of date
    horizon: float  # [s] how long they hold at most
    elapsed: np.ndarray  # (1,) [s] since they were detected
    astray: np.ndarray  # (n,) [m] scratch: how far each particle is off its way, less what all are
    active: np.ndarray  # (p,) int32 scratch: pairs of the sweeps after the first


class _Skin(NamedTuple):
    """The fields of `Cloth` that the kernels read: numba compiles small tuples faster."""

    inv_mass: np.ndarray
    thickness: np.ndarray
    friction: np.ndarray
    garment: np.ndarray
    x_rest: np.ndarray


@inline
def _square(x, a, b):
    """Squared distance of rows a and b."""
    dx, dy, dz = x[a, 0] - x[b, 0], x[a, 1] - x[b, 1], x[a, 2] - x[b, 2]
    return dx * dx + dy * dy + dz * dz


@njit
def _look_ahead_kernel(x, v, triangles, reach, slack, horizon, ways, boxes, normals, calm, mean_normals, margin):
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
        longest = max(_square(x, a, b), _square(x, b, c), _square(x, c, a))
        height = area / math.sqrt(longest) if area > 0.0 else 0.0
        fastest = math.sqrt(max(_square(v, a, b), _square(v, b, c), _square(v, c, a)))
        spare = FLAT * height - 2.0 * (max(slack[a], slack[b], slack[c]) + horizon * fastest)
        for axis in range(3):
            boxes[triangle, axis] = min(ways[a, axis], ways[b, axis], ways[c, axis])
            boxes[triangle, axis + 3] = max(ways[a, axis + 3], ways[b, axis + 3], ways[c, axis + 3])
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
def _candidate_kernel(pairs, triangles, owned, calm, boxes, ways, stencils, is_edge_pair):
    """Particle-triangle and edge-edge pairs whose boxes overlap, out of pairs of triangles; returns their number.

    Every vertex and edge belongs to one triangle, so that each pair is looked at once. Counting goes on when there
    is no room left. About 12 comparisons and 100 bytes for a rejected primitive, all in one branch: the outcome of
    each alone is a coin toss to the processor.
    # outputs: stencils (c, 4), is_edge_pair (c,)
    """
    count = 0
    for pair in range(len(pairs)):
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
                away = (p == a) | (p == b) | (p == c)
                away |= (ways[p, 3] < boxes[second, 0]) | (ways[p, 0] > boxes[second, 3])
                away |= (ways[p, 4] < boxes[second, 1]) | (ways[p, 1] > boxes[second, 4])
                away |= (ways[p, 5] < boxes[second, 2]) | (ways[p, 2] > boxes[second, 5])
                if away:
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
            low0, high0 = min(ways[p, 0], ways[q, 0]), max(ways[p, 3], ways[q, 3])
            low1, high1 = min(ways[p, 1], ways[q, 1]), max(ways[p, 4], ways[q, 4])
            low2, high2 = min(ways[p, 2], ways[q, 2]), max(ways[p, 5], ways[q, 5])
            away = (low0 > boxes[second, 3]) | (high0 < boxes[second, 0]) | (low1 > boxes[second, 4])
            away |= (high1 < boxes[second, 1]) | (low2 > boxes[second, 5]) | (high2 < boxes[second, 2])
            if away:
                continue
            for other in range(3):
                r, s = triangles[second, other], triangles[second, (other + 1) % 3]
                if not owned[second] >> other & 8:
                    continue
                away = (p == r) | (p == s) | (q == r) | (q == s)
                away |= (low0 > max(ways[r, 3], ways[s, 3])) | (high0 < min(ways[r, 0], ways[s, 0]))
                away |= (low1 > max(ways[r, 4], ways[s, 4])) | (high1 < min(ways[r, 1], ways[s, 1]))
                away |= (low2 > max(ways[r, 5], ways[s, 5])) | (high2 < min(ways[r, 2], ways[s, 2]))
                if away:
                    continue
                if count < len(stencils):
                    stencils[count, 0], stencils[count, 1], stencils[count, 2], stencils[count, 3] = p, q, r, s
                    is_edge_pair[count] = True
                count += 1
    return count


@njit
def _measure_kernel(stencils, is_edge_pair, skin, x, v, reach, horizon, values, normal):
    """Keep the candidates that can meet within the horizon, closed up to the front; returns their number.

    150 flops and 150 bytes a candidate, twice that inside a garment.
    # outputs: stencils, is_edge_pair; values (4, c): distance, friction, gap, closing; normal (c, 3)
    """
    kept = 0
    h, f, rest = skin.thickness, skin.friction, skin.x_rest
    for pair in range(len(stencils)):
        a, b, c, d = stencils[pair]
        edges = is_edge_pair[pair]
        if skin.inv_mass[a] + skin.inv_mass[b] + skin.inv_mass[c] + skin.inv_mass[d] == 0.0:
            continue
        wa, wb, wc, wd = closest_pair(edges, x, a, b, c, d)
        nx = wa * x[a, 0] + wb * x[b, 0] + wc * x[c, 0] + wd * x[d, 0]
        ny = wa * x[a, 1] + wb * x[b, 1] + wc * x[c, 1] + wd * x[d, 1]
        nz = wa * x[a, 2] + wb * x[b, 2] + wc * x[c, 2] + wd * x[d, 2]
        size = math.sqrt(nx * nx + ny * ny + nz * nz)
        if edges:
            within = max(reach[a], reach[b]) + max(reach[c], reach[d])
            first, second = wa * f[a] + wb * f[b], -wc * f[c] - wd * f[d]
        else:
            within = reach[a] + max(reach[b], reach[c], reach[d])
            first, second = f[a], -wb * f[b] - wc * f[c] - wd * f[d]
        closing = math.sqrt(max(_square(v, a, c), _square(v, a, d), _square(v, b, c), _square(v, b, d)))
        if not edges:
            closing = math.sqrt(max(_square(v, a, b), _square(v, a, c), _square(v, a, d)))
        if not size <= within + horizon * closing:
            continue
        # The weights of each side have the sum 1 in size, so this is the mean of the two sides' thicknesses.
        apart = 0.5 * (abs(wa) * h[a] + abs(wb) * h[b] + abs(wc) * h[c] + abs(wd) * h[d])
        if skin.garment[a] == skin.garment[c]:
            ua, ub, uc, ud = closest_pair(edges, rest, a, b, c, d)
            rx = ua * rest[a, 0] + ub * rest[b, 0] + uc * rest[c, 0] + ud * rest[d, 0]
            ry = ua * rest[a, 1] + ub * rest[b, 1] + uc * rest[c, 1] + ud * rest[d, 1]
            rz = ua * rest[a, 2] + ub * rest[b, 2] + uc * rest[c, 2] + ud * rest[d, 2]
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
def _is_current_kernel(x, v, dt, pairs, predicted):
    """Whether no particle will be off its way by more than its slack after dt at velocity v.
    # outputs: predicted (n, 3), pairs.astray scratch
    """
    for i in range(len(x)):
        for axis in range(3):
            predicted[i, axis] = x[i, axis] + dt * v[i, axis]
    find_astray(predicted, pairs.x_ref, pairs.v_ref, pairs.elapsed[0] + dt, pairs.astray)
    for i in range(len(x)):
        if not pairs.astray[i] <= pairs.slack[i]:
            return False
    return True


def detect(cloth: Cloth, x: np.ndarray, v: np.ndarray, dt: float, settings: Settings) -> Pairs:
    """Find what may meet in the next substeps.

    Parameters
    ----------
    x, v : (n, 3) [m], [m/s] at the start of a substep; the sides of all pairs are remembered from here.
    dt : [s] a substep. The pairs hold for `HORIZON` of them, for fast cloth fewer, but always one.

    Notes
    -----
    Pairs inside a garment without self-collision, and pairs of which nothing can move, are left out.
    """
    horizon = _horizon(cloth, v, dt, settings)
    reach = settings.neighbour_reach * 0.5 * (cloth.thickness + SURPRISE * horizon**2)
    stencils, is_edge_pair = _candidates(cloth, x, v, reach, horizon)
    values, normal = np.empty((4, len(stencils))), np.empty((len(stencils), 3))
    skin = _Skin(cloth.inv_mass, cloth.thickness, cloth.friction, cloth.garment, cloth.x_rest)
    count = _measure_kernel(stencils, is_edge_pair, skin, x, v, reach, horizon, values, normal)
    found = [array[:count] for array in (stencils, is_edge_pair, *values, normal)]
    firm_start = count
    if not cloth.inv_mass.all():
        firm = (cloth.inv_mass[found[0]] == 0.0).any(axis=1)
        firm_start = count - int(np.count_nonzero(firm))
        order = np.argsort(firm, kind="stable")
        found = [array[order] for array in found]
    slack = reach - 0.5 * cloth.thickness
    scratch = np.empty(len(x)), np.empty(count, np.int32)
    return Pairs(*found, firm_start, x.copy(), v.copy(), slack, horizon, np.zeros(1), *scratch)


def is_current(pairs: Pairs, cloth: Cloth, x: np.ndarray, v: np.ndarray, dt: float) -> bool:
    """Whether `pairs` will still hold after a substep dt [s] from x [m] at v [m/s]; asked at its start."""
    if not _can_meet(cloth):
        return True
    if pairs.elapsed[0] + dt > pairs.horizon:
        return False
    return _is_current_kernel(x, v, dt, pairs, np.empty_like(x))


def respond(pairs: Pairs, cloth: Cloth, x: np.ndarray, x_prev: np.ndarray, dt: float) -> int:
    """Keep cloth at its contact distance from cloth; returns how many pairs touched. Once in every substep.

    Parameters
    ----------
    x : (n, 3) [m], changed in place: end of the substep, after all constraints
    x_prev : (n, 3) [m], changed in place where cloth was too close before: start of the substep
    dt : [s] the substep
    """
    pairs.elapsed[0] += dt
    return respond_kernel(pairs, cloth.inv_mass, dt, x, x_prev) if len(pairs.stencils) else 0


def _can_meet(cloth: Cloth) -> bool:
    return len(cloth.triangles) > 1 and (len(cloth.self_collision) > 1 or bool(cloth.self_collision.any()))


@njit
def _scales_kernel(x_rest, v, triangles):
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


def _horizon(cloth: Cloth, v: np.ndarray, dt: float, settings: Settings) -> float:
    """How long to look ahead [s]: whole substeps, as long as neither way nor slack outgrow the edges."""
    edge, speed = _scales_kernel(cloth.x_rest, v, cloth.triangles)
    longest = HORIZON * dt
    if speed > 0.0 and math.isfinite(speed):
        longest = min(longest, LONGEST_WAY * edge / speed)
    longest = min(longest, math.sqrt(2.0 * LARGEST_SLACK * edge / (settings.neighbour_reach * SURPRISE)))
    # A thousandth more than whole substeps, so that their sum does not end the time a substep early.
    return (max(math.floor(longest / dt), 1) + 1e-3) * dt


def _candidates(cloth: Cloth, x: np.ndarray, v: np.ndarray, reach: np.ndarray, horizon: float):
    """Stencils (c, 4) of particles and triangles, edges and edges whose boxes overlap; which are of edges (c,)."""
    triangles = cloth.triangles
    if not _can_meet(cloth):
        return np.empty((0, 4), np.int32), np.empty(0, np.bool_)
    ways, boxes = np.empty((len(x), 6)), np.empty((len(triangles), 6))
    normals, calm = np.empty((len(triangles), 3)), np.empty(len(x), np.bool_)
    slack, scratch = reach - 0.5 * cloth.thickness, (np.empty_like(x), np.empty(len(x)))
    _look_ahead_kernel(x, v, triangles, reach, slack, horizon, ways, boxes, normals, calm, *scratch)
    pairs, owned = triangle_pairs(cloth, boxes, normals, calm, FLAT)
    count = 24 * len(x) + 256
    while True:
        stencils, is_edge_pair = np.empty((count, 4), np.int32), np.empty(count, np.bool_)
        room = count
        count = _candidate_kernel(pairs, triangles, owned, calm, boxes, ways, stencils, is_edge_pair)
        if count <= room:
            return stencils[:count], is_edge_pair[:count]
