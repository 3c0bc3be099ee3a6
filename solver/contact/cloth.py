# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth: by thickness, inelastic, with friction, conserving momentum (Pereira 2013, 4.3 and 4.4).

The step calls three functions:

    pairs = detect(cloth, x, v, dt, settings)     at the start of a substep, from positions known to be apart
    is_current(pairs, cloth, x, v, dt) -> bool    at the start of every substep: False asks for a new `detect`
    respond(pairs, cloth, x, x_prev, dt) -> int   each substep after the constraints; x and x_prev change in place,
                                                  returns how many pairs touched

`detect` pairs every particle with every triangle and every edge with every edge that can come closer than their
contact distance while all particles fly on as they do, each off its way by no more than the slack it is granted. The
end of the time that was looked ahead calls for a new detection (`is_current`). So does a particle that left its way
by more: constraints may throw it anywhere in one substep, so `respond` looks where all particles are now, and if one
is astray it detects anew along the ways from x_prev to x before it does anything. Each pair remembers the direction
from its second side to its first, so a particle that went through a triangle since the last substep is known by a
direction that flipped, confirmed by conservative advancement along its way (Li et al. 2021, additive continuous
detection), and is taken back to where it came from.

`respond` works pair after pair (Gauss-Seidel, always in the same order) on positions, with signed barycentric weights
w and inverse masses m^-1: with gap C = n . sum(w x) - h, x_i -= m_i^-1 w_i C n / sum(m^-1 w^2), which changes neither
the momentum nor the place of the centre of mass. An approach is ended, no more: cloth that was too close already at
the start of the substep is eased apart by moving x and x_prev alike, so that being pushed apart gives no speed, unless
it was much too close (`FIRM`). Friction takes back the sliding of the substep up to its coefficient times the normal
correction (Coulomb).
"""

import math
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from ..jit import inner, njit
from ..model import Cloth, Settings
from .cloth_response import closest_pair, find_astray, mix, respond_kernel
from .hash import touch
from .patches import pairs_around, triangle_pairs

HORIZON = 0.015  # [s] that a detection looks ahead at most, but always a substep
SLACK = 0.08  # mean edges that a particle may leave its way by, besides what the thickness gives
MOST_STRAY = 16  # particles off their ways that are seen to one by one
TURNS = 3  # responses in a substep at most: one may push a particle off its way, to where nobody looked
LONGEST_WAY = 0.7  # mean edges that cloth may fly in the time looked ahead: fast cloth is looked at more often
FLAT = 0.8  # cosine of the angle between normals round a vertex and their mean up to which the sheet is flat there
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


class Search(NamedTuple):
    """What a detection knew of every particle and triangle, in the frame of the motion of the whole."""

    ways: np.ndarray  # (n, 6) [m] box of where a particle will be, lowest corner first
    boxes: np.ndarray  # (t, 6) [m] the same of a triangle
    calm: np.ndarray  # (n,) bool: the sheet is too flat round the particle to meet itself there
    owned: np.ndarray  # (t,) uint8, see `Patches`
    reach: np.ndarray  # (n,) [m] half the contact distance and the slack, with some to spare
    drift: np.ndarray  # (3,) [m/s] motion of the whole


@dataclass
class Pairs:
    """Everything of cloth that may meet while each particle keeps to its way within its slack."""

    near: Near
    firm_start: int  # pairs from here on have a particle that does not move
    x_ref: np.ndarray  # (n, 3) [m] positions when detected
    v_ref: np.ndarray  # (n, 3) [m/s] velocities when detected
    slack: np.ndarray  # (n,) [m] how far a particle may leave its way before the pairs are out of date
    horizon: float  # [s] how long they hold at most
    settings: Settings
    search: Search | None
    astray: np.ndarray  # (n,) [m] scratch: how far each particle is off its way, less what all are
    active: np.ndarray  # (p,) int32 scratch: pairs of the sweeps after the first
    elapsed: float = 0.0  # [s] since they were detected


class _Skin(NamedTuple):
    """The fields of `Cloth` that the kernels read: numba compiles small tuples faster."""

    inv_mass: np.ndarray
    thickness: np.ndarray
    friction: np.ndarray
    garment: np.ndarray
    x_rest: np.ndarray


@inner
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


@njit
def _measure_kernel(stencils, is_edge_pair, skin, x, v, reach, horizon, values, normal):
    """Keep the candidates that can meet within the horizon, closed up to the front; returns their number.

    150 flops and 150 bytes a candidate, twice that inside a garment.
    # outputs: stencils, is_edge_pair; values (4, c): distance, friction, gap, closing; normal (c, 3)
    """
    kept = 0
    h, f, rest = skin.thickness, skin.friction, skin.x_rest
    for pair in range(len(stencils)):
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


def detect(cloth: Cloth, x: np.ndarray, v: np.ndarray, dt: float, settings: Settings) -> Pairs:
    """Find what may meet in the next substeps.

    Parameters
    ----------
    x, v : (n, 3) [m], [m/s] at the start of a substep; the sides of all pairs are remembered from here.
    dt : [s] a substep. The pairs hold for `HORIZON`, for fast cloth less, but always a substep.

    Notes
    -----
    Pairs inside a garment without self-collision, and pairs of which nothing can move, are left out.
    """
    horizon, slack = _horizon(cloth, v, dt, settings)
    reach = settings.neighbour_reach * 0.5 * cloth.thickness + slack
    stencils, is_edge_pair, search = _candidates(cloth, x, v, reach, horizon)
    near = _measure(cloth, x, v, reach, horizon, stencils, is_edge_pair)
    scratch = np.empty(len(x)), np.empty(len(near.gap), np.int32)
    near, firm_start = _firm_last(cloth, near)
    slack = reach - 0.5 * cloth.thickness
    return Pairs(near, firm_start, x.copy(), v.copy(), slack, horizon, settings, search, *scratch)


def _firm_last(cloth: Cloth, near: Near) -> tuple[Near, int]:
    """The pairs with those at the end that have a particle that does not move, and the first of these."""
    count = len(near.gap)
    if cloth.inv_mass.all():
        return near, count
    firm = (cloth.inv_mass[near.stencils] == 0.0).any(axis=1)
    order = np.argsort(firm, kind="stable")
    return Near(*(array[order] for array in near)), count - int(np.count_nonzero(firm))


def _measure(cloth, x, v, reach, horizon, stencils, is_edge_pair) -> Near:
    """Those candidates that can meet, with all that is known of them."""
    values, normal = np.empty((4, len(stencils))), np.empty((len(stencils), 3))
    skin = _Skin(cloth.inv_mass, cloth.thickness, cloth.friction, cloth.garment, cloth.x_rest)
    count = _measure_kernel(stencils, is_edge_pair, skin, x, v, reach, horizon, values, normal)
    found = (array[:count] for array in (stencils, is_edge_pair, *values, normal))
    return Near(*found, np.zeros(count, np.bool_), np.zeros(count, np.bool_))


def is_current(pairs: Pairs, cloth: Cloth, x: np.ndarray, v: np.ndarray, dt: float) -> bool:
    """Whether the time that was looked ahead lasts for another substep dt [s]; asked at its start."""
    return pairs.elapsed + dt <= pairs.horizon or not _can_meet(cloth)


def respond(pairs: Pairs, cloth: Cloth, x: np.ndarray, x_prev: np.ndarray, dt: float) -> int:
    """Keep cloth at its contact distance from cloth; returns how many pairs touched. Once in every substep.

    Parameters
    ----------
    pairs : Pairs, detected anew and changed in place if a particle has gone astray
    x : (n, 3) [m], changed in place: end of the substep, after all constraints
    x_prev : (n, 3) [m], changed in place where cloth was too close before: start of the substep
    dt : [s] the substep
    """
    if not _can_meet(cloth):
        return 0
    pairs.elapsed += dt
    touched = 0
    for turn in range(TURNS):
        if _look(pairs, x, pairs.elapsed)[0]:
            _catch_up(pairs, cloth, x, x_prev, dt)
            _look(pairs, x, pairs.elapsed)
        elif turn:
            break
        if len(pairs.active):
            scratch = pairs.astray, pairs.active, pairs.firm_start, pairs.elapsed
            touched = respond_kernel(pairs.near, *scratch, cloth.inv_mass, dt, x, x_prev)
    return touched


def _look(pairs: Pairs, x: np.ndarray, time: float) -> tuple[bool, np.ndarray]:
    """Fill `pairs.astray` for x at `time` [s]; returns whether a particle is too far off, and how far off all are."""
    mean = np.empty(3)
    return find_astray(x, pairs.x_ref, pairs.v_ref, time, pairs.slack, mean, pairs.astray), mean


def _catch_up(pairs: Pairs, cloth: Cloth, x: np.ndarray, x_prev: np.ndarray, dt: float) -> None:
    """Change `pairs` in place after particles have gone astray: a few get a new way and new pairs, as if they had
    always been on that way; for more all is detected anew.
    """
    stray = np.flatnonzero(~(pairs.astray <= pairs.slack))
    if len(stray) > MOST_STRAY:
        other = detect(cloth, x_prev, (x - x_prev) / dt, dt, pairs.settings)
        for field in fields(Pairs):
            setattr(pairs, field.name, getattr(other, field.name))
        pairs.elapsed = dt
        return
    before = pairs.elapsed - dt
    off_now, off_before = _look(pairs, x, pairs.elapsed)[1], _look(pairs, x_prev, before)[1]
    place = x_prev[stray] - off_before
    pairs.v_ref[stray] = (x[stray] - off_now - place) / dt
    pairs.x_ref[stray] = place - before * pairs.v_ref[stray]
    is_stray = np.zeros(len(x), np.bool_)
    is_stray[stray] = True
    stencils, is_edge_pair = _candidates_around(stray, is_stray, pairs, cloth, before)
    # All others may be off their ways already, by their slack, and may be off the other way later.
    spare = pairs.slack.max()
    reach, rest = pairs.search.reach + spare, pairs.horizon - before
    found = _measure(cloth, x_prev, pairs.v_ref, reach, rest, stencils, is_edge_pair)
    found = found._replace(gap=found.gap + before * found.closing - 2.0 * spare)
    kept = ~is_stray[pairs.near.stencils].any(axis=1)
    near = Near(*(np.concatenate((old[kept], new)) for old, new in zip(pairs.near, found, strict=True)))
    pairs.near, pairs.firm_start = _firm_last(cloth, near)
    pairs.active = np.empty(len(near.gap), np.int32)


def _candidates_around(stray: np.ndarray, is_stray: np.ndarray, pairs: Pairs, cloth: Cloth, time: float):
    """Candidates as from `_candidates`, but only those of `stray` particles, on their ways from `time` [s] on."""
    search = pairs.search
    go, reach = pairs.v_ref[stray] - search.drift, search.reach[stray][:, None]
    begin, end = pairs.x_ref[stray] + time * go, pairs.x_ref[stray] + pairs.horizon * go
    search.ways[stray, :3] = np.minimum(begin, end) - reach
    search.ways[stray, 3:] = np.maximum(begin, end) + reach
    found = pairs_around(cloth, is_stray, search.ways, search.boxes, search.calm)
    stencils, is_edge_pair = _spread(found, cloth, search)
    own = is_stray[stencils].any(axis=1)
    return stencils[own], is_edge_pair[own]


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


def _horizon(cloth: Cloth, v: np.ndarray, dt: float, settings: Settings) -> tuple[float, float]:
    """How long to look ahead [s]: whole substeps, as long as ways do not outgrow the edges; and the slack [m]."""
    edge, speed = _scales_kernel(cloth.x_rest, v, cloth.triangles)
    longest = HORIZON
    if speed > 0.0 and math.isfinite(speed):
        longest = min(longest, LONGEST_WAY * edge / speed)
    # A thousandth more than whole substeps, so that their sum does not end the time a substep early.
    return (max(math.floor(longest / dt), 1) + 1e-3) * dt, SLACK * edge


def _candidates(cloth: Cloth, x: np.ndarray, v: np.ndarray, reach: np.ndarray, horizon: float):
    """Stencils (c, 4) of particles and triangles, edges and edges whose boxes overlap; which are of edges (c,); and
    what they were found with.
    """
    triangles = cloth.triangles
    if not _can_meet(cloth):
        return np.empty((0, 4), np.int32), np.empty(0, np.bool_), None
    ways, boxes = np.empty((len(x), 6)), np.empty((len(triangles), 6))
    normals, calm = np.empty((len(triangles), 3)), np.empty(len(x), np.bool_)
    slack, scratch = reach - 0.5 * cloth.thickness, (np.empty_like(x), np.empty(len(x)))
    _look_ahead_kernel(x, v, triangles, reach, slack, horizon, ways, boxes, normals, calm, *scratch)
    pairs, owned = triangle_pairs(cloth, boxes, normals, calm, FLAT)
    search = Search(ways, boxes, calm, owned, reach, v.mean(axis=0))
    return *_spread(pairs, cloth, search), search


def _spread(pairs: np.ndarray, cloth: Cloth, search: Search) -> tuple[np.ndarray, np.ndarray]:
    """Stencils of pairs of triangles, and which of them are of edges."""
    count = len(pairs) + 256
    while True:
        stencils, is_edge_pair = np.empty((count, 4), np.int32), np.empty(count, np.bool_)
        room = count
        arrays = search.owned, search.calm, search.boxes, search.ways
        count = _candidate_kernel(pairs, cloth.triangles, *arrays, stencils, is_edge_pair)
        if count <= room:
            return stencils[:count], is_edge_pair[:count]
