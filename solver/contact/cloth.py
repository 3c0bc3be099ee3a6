# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on cloth: by thickness, inelastic, with friction, conserving momentum (Pereira 2013, 4.3 and 4.4).

The step calls three functions:

    pairs = detect(cloth, x, v, dt, settings)     at the start of a substep, from positions known to be apart
    is_current(pairs, cloth, x, v, dt) -> bool    at the start of every substep: False asks for a new `detect`
    respond(pairs, cloth, x, x_prev, dt) -> int   each substep after the constraints; x and x_prev change in place,
                                                  returns how many pairs touched

`detect` pairs every particle with every triangle and every edge with every edge that are closer than their contact
distance plus the slack that each particle is granted; nothing else can meet before a particle has used its slack up,
which is what `is_current` asks. Each pair remembers the direction from its second side to its first, so a particle
that went through a triangle since the last substep is known by a direction that flipped, confirmed by conservative
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
from .distance import closest_on_segments, closest_on_triangle
from .hash import overlaps

HORIZON = 3  # substeps that a detection is meant to last
FALL = 9.81  # [m/s2] change of velocity that the slack expects
LONGEST_SLACK = 0.5  # of the mean edge: faster cloth is detected more often instead of with more candidates
NEIGHBOUR_GAP = 0.9  # contact distance over rest distance at most, so that a sheet at rest does not push itself
FLAT = 0.45  # part of the thickness that an edge may ever stand out and count as flat
NEAR = 1e-3  # part of the contact distance at which a way through is one
STEPS = 16  # of conservative advancement; a pair that is still on its way then is taken to meet
FIRM = 0.8  # part of the contact distance that is defended with speed, in piles that press on each other
FIRM_SPEED = 1.0  # [m/s] given at most by that: cloth that starts too close does not jump
SWEEPS = 8  # at most
THIN = 0.5  # part of the contact distance below which another sweep is made
NEARBY = 2.0  # contact distances: pairs that the sweeps after the first look at
EASE_RATE = 500.0  # [1/s] at which a lack of distance is made good


class Pairs(NamedTuple):
    """Everything of cloth that may meet before a particle has moved by more than its slack."""

    stencils: np.ndarray  # (p, 4) int32: particle and triangle, or the ends of two edges
    is_edge_pair: np.ndarray  # (p,) bool
    distance: np.ndarray  # (p,) [m] contact distance
    friction: np.ndarray  # (p,) coefficient
    gap: np.ndarray  # (p,) [m] distance when detected
    normal: np.ndarray  # (p, 3) unit vector from the triangle (second edge) to the particle (first edge); changes
    x_ref: np.ndarray  # (n, 3) [m] positions when detected
    slack: np.ndarray  # (n,) [m] how far a particle may move before the pairs are out of date
    firm_start: int  # pairs from here on have a particle that does not move
    moved: np.ndarray  # (n,) [m] scratch: how far each has moved, less the motion of the whole
    active: np.ndarray  # (p,) int32 scratch: pairs of the way back


class _Skin(NamedTuple):
    """The fields of `Cloth` that the kernels read: numba compiles small tuples faster."""

    inv_mass: np.ndarray
    thickness: np.ndarray
    friction: np.ndarray
    garment: np.ndarray
    x_rest: np.ndarray


@inline
def _closest(is_edge_pair, x, a, b, c, d):
    """Signed weights of the closest points: the first side's are positive, the second side's negative."""
    if is_edge_pair:
        s, t = closest_on_segments(
            x[a, 0], x[a, 1], x[a, 2], x[b, 0], x[b, 1], x[b, 2],
            x[c, 0], x[c, 1], x[c, 2], x[d, 0], x[d, 1], x[d, 2],
        )  # fmt: skip
        return 1.0 - s, s, t - 1.0, -t
    wb, wc, wd, _ = closest_on_triangle(
        x[a, 0], x[a, 1], x[a, 2], x[b, 0], x[b, 1], x[b, 2],
        x[c, 0], x[c, 1], x[c, 2], x[d, 0], x[d, 1], x[d, 2],
    )  # fmt: skip
    return 1.0, -wb, -wc, -wd


@njit
def _own_kernel(triangles, x, flat, first_edge, next_edge, edge_end, edge_owner, owned):
    """Give every vertex and every edge to the first triangle that has it, as bits of `owned`: 0-2 the corners,
    3-5 the edges from corners 0, 1 and 2 to the next.

    An edge between two triangles that stands out from their other corners by less than `flat` (n,) is given to nobody:
    where two sheets are that flat, the gap between them is least at a vertex, and vertices keep them apart.
    # outputs: owned (t,) uint8; next_edge, edge_end, edge_owner (3t,), first_edge (n,) scratch
    """
    for vertex in range(len(x)):
        first_edge[vertex] = -2  # vertex not seen; -1: no edge of it seen
    used = 0
    for triangle in range(len(triangles)):
        owned[triangle] = 0
        for corner in range(3):
            vertex = triangles[triangle, corner]
            if first_edge[vertex] == -2:
                first_edge[vertex] = -1
                owned[triangle] |= 1 << corner
        for corner in range(3):
            p, q, opposite = (
                triangles[triangle, corner],
                triangles[triangle, (corner + 1) % 3],
                triangles[triangle, corner - 1],
            )
            low, high = min(p, q), max(p, q)
            edge = first_edge[low]
            while edge >= 0 and edge_end[edge] != high:
                edge = next_edge[edge]
            if edge < 0:
                edge_end[used] = high
                edge_owner[used] = 3 * triangle + corner
                next_edge[used] = first_edge[low]
                first_edge[low] = used
                used += 1
                owned[triangle] |= 8 << corner
                continue
            owner, side = edge_owner[edge] // 3, edge_owner[edge] % 3
            if edge_owner[edge] < 0:  # a third triangle: bumps of such an edge are anyone's guess
                owned[-edge_owner[edge] // 3 - 1] |= 8 << (-edge_owner[edge] % 3)
                continue
            edge_owner[edge] = -(3 * (owner + 1) + side)
            facing = triangles[owner, side - 1]
            wa, wb, wc, wd = _closest(True, x, p, q, opposite, facing)
            bump = 0.0
            for axis in range(3):
                between = wa * x[p, axis] + wb * x[q, axis] + wc * x[opposite, axis] + wd * x[facing, axis]
                bump += between * between
            if bump < max(0.0, min(flat[p], flat[q], flat[opposite], flat[facing])) ** 2:
                owned[owner] &= ~(8 << side)


@njit
def _calm_kernel(x, triangles, reach, calm, boxes, normals, margin):
    """Boxes of triangles, widened by reach, and the vertices around which the sheet is too flat to meet itself.

    If all normals round a vertex are within 60 degrees of their mean, the triangles round it lie side by side when
    seen along it, so corners and edges that do not touch each other are half a triangle's height apart or more.
    # outputs: calm (n,) bool; boxes (t, 6); normals (n, 3), margin (n,) scratch
    """
    for vertex in range(len(x)):
        calm[vertex] = True
        margin[vertex] = math.inf
        normals[vertex, 0], normals[vertex, 1], normals[vertex, 2] = 0.0, 0.0, 0.0
    for sweep in range(2):  # sum the normals, then compare with them
        for triangle in range(len(triangles)):
            a, b, c = triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2]
            ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
            vx, vy, vz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
            wx, wy, wz = vx - ux, vy - uy, vz - uz
            nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
            area = math.sqrt(nx * nx + ny * ny + nz * nz)
            if area > 0.0:
                nx, ny, nz = nx / area, ny / area, nz / area
            longest = max(ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz, wx * wx + wy * wy + wz * wz)
            height = area / math.sqrt(longest) if area > 0.0 else 0.0
            wide = max(reach[a], reach[b], reach[c])
            for axis in range(3):
                boxes[triangle, axis] = min(x[a, axis] - reach[a], x[b, axis] - reach[b], x[c, axis] - reach[c])
                boxes[triangle, axis + 3] = max(x[a, axis] + reach[a], x[b, axis] + reach[b], x[c, axis] + reach[c])
            for vertex in (a, b, c):
                if sweep == 0:
                    normals[vertex, 0] += nx
                    normals[vertex, 1] += ny
                    normals[vertex, 2] += nz
                    margin[vertex] = min(margin[vertex], 0.5 * height - 2.0 * wide)
                else:
                    mx, my, mz = normals[vertex, 0], normals[vertex, 1], normals[vertex, 2]
                    flat = nx * mx + ny * my + nz * mz > 0.5 * math.sqrt(mx * mx + my * my + mz * mz)
                    calm[vertex] &= flat and margin[vertex] > 0.0


@njit
def _candidate_kernel(triangle_pairs, triangles, owned, calm, boxes, x, reach, stencils, is_edge_pair):
    """Particle-triangle and edge-edge pairs whose boxes overlap, out of pairs of triangles; returns their number.

    Every vertex and edge belongs to one triangle, so that each pair is looked at once. Counting goes on when there
    is no room left. About 12 comparisons and 100 bytes for a rejected primitive.
    # outputs: stencils (c, 4), is_edge_pair (c,)
    """
    count = 0
    for pair in range(len(triangle_pairs)):
        first, second = triangle_pairs[pair, 0], triangle_pairs[pair, 1]
        quiet = False
        for corner in range(3):
            p = triangles[first, corner]
            if calm[p]:
                quiet |= p == triangles[second, 0] or p == triangles[second, 1] or p == triangles[second, 2]
        if quiet:
            continue
        for _ in range(2):
            a, b, c = triangles[second, 0], triangles[second, 1], triangles[second, 2]
            for corner in range(3):
                p = triangles[first, corner]
                if not owned[first] >> corner & 1:
                    continue
                wide = reach[p]
                # One branch for all comparisons: the outcome of each is a coin toss to the processor.
                away = (p == a) | (p == b) | (p == c)
                away |= (x[p, 0] + wide < boxes[second, 0]) | (x[p, 0] - wide > boxes[second, 3])
                away |= (x[p, 1] + wide < boxes[second, 1]) | (x[p, 1] - wide > boxes[second, 4])
                away |= (x[p, 2] + wide < boxes[second, 2]) | (x[p, 2] - wide > boxes[second, 5])
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
            wide = max(reach[p], reach[q])
            low0, high0 = min(x[p, 0], x[q, 0]) - wide, max(x[p, 0], x[q, 0]) + wide
            low1, high1 = min(x[p, 1], x[q, 1]) - wide, max(x[p, 1], x[q, 1]) + wide
            low2, high2 = min(x[p, 2], x[q, 2]) - wide, max(x[p, 2], x[q, 2]) + wide
            away = (low0 > boxes[second, 3]) | (high0 < boxes[second, 0]) | (low1 > boxes[second, 4])
            away |= (high1 < boxes[second, 1]) | (low2 > boxes[second, 5]) | (high2 < boxes[second, 2])
            if away:
                continue
            for other in range(3):
                r, s = triangles[second, other], triangles[second, (other + 1) % 3]
                if not owned[second] >> other & 8:
                    continue
                wide = max(reach[r], reach[s])
                away = (p == r) | (p == s) | (q == r) | (q == s)
                away |= (low0 > max(x[r, 0], x[s, 0]) + wide) | (high0 < min(x[r, 0], x[s, 0]) - wide)
                away |= (low1 > max(x[r, 1], x[s, 1]) + wide) | (high1 < min(x[r, 1], x[s, 1]) - wide)
                away |= (low2 > max(x[r, 2], x[s, 2]) + wide) | (high2 < min(x[r, 2], x[s, 2]) - wide)
                if away:
                    continue
                if count < len(stencils):
                    stencils[count, 0], stencils[count, 1], stencils[count, 2], stencils[count, 3] = p, q, r, s
                    is_edge_pair[count] = True
                count += 1
    return count


@njit
def _measure_kernel(stencils, is_edge_pair, skin, x, reach, distance, friction, gap, normal):
    """Keep the candidates within reach of each other, closed up to the front; returns their number.

    150 flops and 150 bytes a candidate, twice that inside a garment.
    # outputs: stencils, is_edge_pair, distance, friction, gap, normal
    """
    kept = 0
    h, f, rest = skin.thickness, skin.friction, skin.x_rest
    for pair in range(len(stencils)):
        a, b, c, d = stencils[pair]
        edges = is_edge_pair[pair]
        if skin.inv_mass[a] + skin.inv_mass[b] + skin.inv_mass[c] + skin.inv_mass[d] == 0.0:
            continue
        wa, wb, wc, wd = _closest(edges, x, a, b, c, d)
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
        if not size <= within:
            continue
        # The weights of each side have the sum 1 in size, so this is the mean of the two sides' thicknesses.
        apart = 0.5 * (abs(wa) * h[a] + abs(wb) * h[b] + abs(wc) * h[c] + abs(wd) * h[d])
        if skin.garment[a] == skin.garment[c]:
            ua, ub, uc, ud = _closest(edges, rest, a, b, c, d)
            rx = ua * rest[a, 0] + ub * rest[b, 0] + uc * rest[c, 0] + ud * rest[d, 0]
            ry = ua * rest[a, 1] + ub * rest[b, 1] + uc * rest[c, 1] + ud * rest[d, 1]
            rz = ua * rest[a, 2] + ub * rest[b, 2] + uc * rest[c, 2] + ud * rest[d, 2]
            apart = min(apart, NEIGHBOUR_GAP * math.sqrt(rx * rx + ry * ry + rz * rz))
        stencils[kept, 0], stencils[kept, 1], stencils[kept, 2], stencils[kept, 3] = a, b, c, d
        is_edge_pair[kept] = edges
        distance[kept] = apart
        friction[kept] = math.sqrt(max(first * second, 0.0))
        gap[kept] = size
        scale = 1.0 / size if size > 0.0 else 0.0
        normal[kept, 0], normal[kept, 1], normal[kept, 2] = nx * scale, ny * scale, nz * scale
        kept += 1
    return kept


@inline
def _met(is_edge_pair, x_prev, x, a, b, c, d, near):
    """Whether the two sides come closer than `near` on the straight way from x_prev to x (conservative steps)."""
    mx = 0.25 * (x[a, 0] + x[b, 0] + x[c, 0] + x[d, 0] - x_prev[a, 0] - x_prev[b, 0] - x_prev[c, 0] - x_prev[d, 0])
    my = 0.25 * (x[a, 1] + x[b, 1] + x[c, 1] + x[d, 1] - x_prev[a, 1] - x_prev[b, 1] - x_prev[c, 1] - x_prev[d, 1])
    mz = 0.25 * (x[a, 2] + x[b, 2] + x[c, 2] + x[d, 2] - x_prev[a, 2] - x_prev[b, 2] - x_prev[c, 2] - x_prev[d, 2])
    ways = np.empty(4)
    points = np.empty((4, 3))
    stencil = (a, b, c, d)
    for corner in range(4):
        vertex = stencil[corner]
        wx = x[vertex, 0] - x_prev[vertex, 0] - mx
        wy = x[vertex, 1] - x_prev[vertex, 1] - my
        wz = x[vertex, 2] - x_prev[vertex, 2] - mz
        ways[corner] = math.sqrt(wx * wx + wy * wy + wz * wz)
    if is_edge_pair:
        way = max(ways[0], ways[1]) + max(ways[2], ways[3])
    else:
        way = ways[0] + max(ways[1], ways[2], ways[3])
    time = 0.0
    for _ in range(STEPS):
        for corner in range(4):
            for axis in range(3):
                start = x_prev[stencil[corner], axis]
                points[corner, axis] = start + time * (x[stencil[corner], axis] - start)
        wa, wb, wc, wd = _closest(is_edge_pair, points, 0, 1, 2, 3)
        square = 0.0
        for axis in range(3):
            between = wa * points[0, axis] + wb * points[1, axis] + wc * points[2, axis] + wd * points[3, axis]
            square += between * between
        gap = math.sqrt(square)
        if gap < near:
            return True
        time += gap / way
        if time >= 1.0:
            return False
    return True


@inline
def _advance_moved(x, x_ref, moved):
    """Fill `moved` with the distance of each particle from x_ref, less the mean motion."""
    mx, my, mz = 0.0, 0.0, 0.0
    for i in range(len(x)):
        mx += x[i, 0] - x_ref[i, 0]
        my += x[i, 1] - x_ref[i, 1]
        mz += x[i, 2] - x_ref[i, 2]
    mx, my, mz = mx / len(x), my / len(x), mz / len(x)
    for i in range(len(x)):
        dx, dy, dz = x[i, 0] - x_ref[i, 0] - mx, x[i, 1] - x_ref[i, 1] - my, x[i, 2] - x_ref[i, 2] - mz
        moved[i] = math.sqrt(dx * dx + dy * dy + dz * dz)


@njit
def _respond_kernel(pairs, inv_mass, dt, x, x_prev):
    """A sweep over the pairs, then one back over those that were near, then once more those with something that does
    not move, which so has the last word; returns how many touched.

    Serial: each correction sees those before. Reads 20 bytes of a pair that cannot touch yet (and 32 of `moved`),
    else 64 and 192 of positions; 250 flops.
    # outputs: x, x_prev (n, 3), pairs.normal; pairs.moved, pairs.active scratch
    """
    _advance_moved(x, pairs.x_ref, pairs.moved)
    moved, normal, active = pairs.moved, pairs.normal, pairs.active
    ease_part = 1.0 - math.exp(-EASE_RATE * dt)
    near_count, firm_count, touched = 0, 0, 0
    sweep, turn, turns = 0, 0, len(active)
    thinnest = 1.0  # least gap over contact distance that this sweep met
    while True:
        if turn == turns:
            if sweep == SWEEPS:
                break
            # Sweeps back and forth until piles are apart, the last one over the pairs that a particle holds fast.
            sweep = sweep + 1 if sweep == 0 or (thinnest < THIN and sweep < SWEEPS - 1) else SWEEPS
            turn, turns, thinnest = 0, firm_count if sweep == SWEEPS else near_count, 1.0
            continue
        back = sweep > 0
        if not back:
            pair = turn
        elif sweep == SWEEPS:
            pair = active[near_count - firm_count + turn]
        else:
            pair = active[near_count - 1 - turn if sweep % 2 else turn]
        turn += 1
        a, b, c, d = pairs.stencils[pair]
        distance = pairs.distance[pair]
        is_edge_pair = pairs.is_edge_pair[pair]
        if not back:
            if is_edge_pair:
                way = max(moved[a], moved[b]) + max(moved[c], moved[d])
            else:
                way = moved[a] + max(moved[b], moved[c], moved[d])
            if pairs.gap[pair] - way > NEARBY * distance:
                continue
        wa, wb, wc, wd = _closest(is_edge_pair, x, a, b, c, d)
        if is_edge_pair and (wa <= 0.0 or wb <= 0.0 or wc >= 0.0 or wd >= 0.0):
            continue  # an end of an edge is a particle: its pairs with triangles see to it
        nx = wa * x[a, 0] + wb * x[b, 0] + wc * x[c, 0] + wd * x[d, 0]
        ny = wa * x[a, 1] + wb * x[b, 1] + wc * x[c, 1] + wd * x[d, 1]
        nz = wa * x[a, 2] + wb * x[b, 2] + wc * x[c, 2] + wd * x[d, 2]
        gap = math.sqrt(nx * nx + ny * ny + nz * nz)
        along = nx * normal[pair, 0] + ny * normal[pair, 1] + nz * normal[pair, 2]
        if along < 0.0 and _met(is_edge_pair, x_prev, x, a, b, c, d, NEAR * distance):
            nx, ny, nz = normal[pair]
            gap = along
        elif gap > 0.0:
            nx, ny, nz = nx / gap, ny / gap, nz / gap
            normal[pair, 0], normal[pair, 1], normal[pair, 2] = nx, ny, nz
        else:
            nx, ny, nz = normal[pair]
        if not back and gap < NEARBY * distance:
            active[near_count] = pair  # never ahead of the pair that is being read
            near_count += 1
            firm_count += pair >= pairs.firm_start
        ma, mb, mc, md = wa * inv_mass[a], wb * inv_mass[b], wc * inv_mass[c], wd * inv_mass[d]
        mass = wa * ma + wb * mb + wc * mc + wd * md
        if gap >= distance or mass == 0.0:
            continue
        touched += not back
        thinnest = min(thinnest, gap / distance)
        px = wa * x_prev[a, 0] + wb * x_prev[b, 0] + wc * x_prev[c, 0] + wd * x_prev[d, 0]
        py = wa * x_prev[a, 1] + wb * x_prev[b, 1] + wc * x_prev[c, 1] + wd * x_prev[d, 1]
        pz = wa * x_prev[a, 2] + wb * x_prev[b, 2] + wc * x_prev[c, 2] + wd * x_prev[d, 2]
        before = nx * px + ny * py + nz * pz
        # Where the approach is stopped; what then lacks is made good without speed.
        bound = min(distance, max(before, min(FIRM * distance, before + FIRM_SPEED * dt)))
        stop = max(bound - gap, 0.0)
        ease = ease_part * max(distance - max(bound, gap), 0.0)
        # Sliding: what the closest points did across the normal, up to the friction of this push.
        sx = wa * x[a, 0] + wb * x[b, 0] + wc * x[c, 0] + wd * x[d, 0] - px
        sy = wa * x[a, 1] + wb * x[b, 1] + wc * x[c, 1] + wd * x[d, 1] - py
        sz = wa * x[a, 2] + wb * x[b, 2] + wc * x[c, 2] + wd * x[d, 2] - pz
        normal_part = sx * nx + sy * ny + sz * nz
        sx, sy, sz = sx - normal_part * nx, sy - normal_part * ny, sz - normal_part * nz
        slide = math.sqrt(sx * sx + sy * sy + sz * sz)
        held = min(pairs.friction[pair] * stop, slide) / slide if slide > 0.0 else 0.0
        cx, cy, cz = (stop * nx - held * sx) / mass, (stop * ny - held * sy) / mass, (stop * nz - held * sz) / mass
        ex, ey, ez = ease * nx / mass, ease * ny / mass, ease * nz / mass
        for vertex, share in ((a, ma), (b, mb), (c, mc), (d, md)):
            x[vertex, 0] += share * (cx + ex)
            x[vertex, 1] += share * (cy + ey)
            x[vertex, 2] += share * (cz + ez)
            x_prev[vertex, 0] += share * ex
            x_prev[vertex, 1] += share * ey
            x_prev[vertex, 2] += share * ez
    return touched


@njit
def _is_current_kernel(x, v, dt, x_ref, slack, predicted, moved):
    """Whether no particle will have moved by more than its slack after dt at velocity v.
    # outputs: predicted (n, 3), moved (n,) scratch
    """
    for i in range(len(x)):
        for axis in range(3):
            predicted[i, axis] = x[i, axis] + dt * v[i, axis]
    _advance_moved(predicted, x_ref, moved)
    for i in range(len(x)):
        if not moved[i] <= slack[i]:
            return False
    return True


def detect(cloth: Cloth, x: np.ndarray, v: np.ndarray, dt: float, settings: Settings) -> Pairs:
    """Find what may meet in the next substeps.

    Parameters
    ----------
    x, v : (n, 3) [m], [m/s] at the start of a substep; the sides of all pairs are remembered from here.
    dt : [s] a substep. The slack covers `HORIZON` of them, fast cloth fewer, but always one.

    Notes
    -----
    Pairs inside a garment without self-collision, and pairs of which nothing can move, are left out.
    """
    slack = _slack(cloth, v, dt, settings)
    reach = 0.5 * cloth.thickness + slack
    stencils, is_edge_pair = _candidates(cloth, x, reach)
    room = len(stencils)
    distance, friction, gap, normal = np.empty(room), np.empty(room), np.empty(room), np.empty((room, 3))
    skin = _Skin(cloth.inv_mass, cloth.thickness, cloth.friction, cloth.garment, cloth.x_rest)
    count = _measure_kernel(stencils, is_edge_pair, skin, x, reach, distance, friction, gap, normal)
    found = [array[:count] for array in (stencils, is_edge_pair, distance, friction, gap, normal)]
    firm_start = count
    if not cloth.inv_mass.all():
        firm = (cloth.inv_mass[found[0]] == 0.0).any(axis=1)
        firm_start = count - int(np.count_nonzero(firm))
        order = np.argsort(firm, kind="stable")
        found = [array[order] for array in found]
    return Pairs(*found, x.copy(), slack, firm_start, np.empty(len(x)), np.empty(count, np.int32))


def is_current(pairs: Pairs, cloth: Cloth, x: np.ndarray, v: np.ndarray, dt: float) -> bool:
    """Whether `pairs` will still hold after a substep dt [s] from x [m] at v [m/s]; asked at its start."""
    if not _can_meet(cloth):
        return True
    return _is_current_kernel(x, v, dt, pairs.x_ref, pairs.slack, np.empty_like(x), pairs.moved)


def respond(pairs: Pairs, cloth: Cloth, x: np.ndarray, x_prev: np.ndarray, dt: float) -> int:
    """Keep cloth at its contact distance from cloth; returns how many pairs touched.

    Parameters
    ----------
    x : (n, 3) [m], changed in place: end of the substep, after all constraints
    x_prev : (n, 3) [m], changed in place where cloth was too close before: start of the substep
    dt : [s] the substep
    """
    if not len(pairs.stencils):
        return 0
    return _respond_kernel(pairs, cloth.inv_mass, dt, x, x_prev)


def _can_meet(cloth: Cloth) -> bool:
    return len(cloth.triangles) > 1 and (len(cloth.self_collision) > 1 or bool(cloth.self_collision.any()))


def _slack(cloth: Cloth, v: np.ndarray, dt: float, settings: Settings) -> np.ndarray:
    """How far each particle may move before the next detection [m], (n,)."""
    if not _can_meet(cloth):
        return np.zeros(len(v))
    sides = cloth.x_rest[cloth.triangles[:, 0]] - cloth.x_rest[cloth.triangles[:, 1]]
    of_side = cloth.garment[cloth.triangles[:, 0]]
    count = len(cloth.self_collision)
    sums = np.bincount(of_side, np.sqrt(np.einsum("ij,ij->i", sides, sides)), count)
    mean_side = sums / np.maximum(np.bincount(of_side, minlength=count), 1)
    longest = LONGEST_SLACK * mean_side[cloth.garment]
    speed = np.sqrt(np.einsum("ij,ij->i", v - v.mean(axis=0), v - v.mean(axis=0)))
    time = HORIZON * dt
    wished = np.minimum(speed * time + 0.5 * FALL * time**2, longest)
    wished = settings.neighbour_reach * (0.5 * cloth.thickness + wished) - 0.5 * cloth.thickness
    return np.maximum(wished, 1.5 * dt * speed)


def _candidates(cloth: Cloth, x: np.ndarray, reach: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Stencils (c, 4) of particles and triangles, edges and edges whose boxes overlap; which are of edges (c,)."""
    triangles = cloth.triangles
    if not _can_meet(cloth):
        return np.empty((0, 4), np.int32), np.empty(0, np.bool_)
    boxes, owned = np.empty((len(triangles), 6)), np.empty(len(triangles), np.uint8)
    calm, scratch = np.empty(len(x), np.bool_), (np.empty_like(x), np.empty(len(x)))
    _calm_kernel(x, triangles, reach, calm, boxes, *scratch)
    triangle_pairs = overlaps(boxes, cloth.garment[triangles[:, 0]], cloth.self_collision)
    scratch = np.empty(len(x), np.int32), *np.empty((3, 3 * len(triangles)), np.int32)
    # Until the next detection an edge may rise by twice the slack; two edges must not use the contact distance up.
    flat = FLAT * cloth.thickness - 2.0 * (reach - 0.5 * cloth.thickness)
    _own_kernel(triangles, x, flat, *scratch, owned)
    count = 24 * len(x) + 256
    while True:
        stencils, is_edge_pair = np.empty((count, 4), np.int32), np.empty(count, np.bool_)
        room = count
        count = _candidate_kernel(triangle_pairs, triangles, owned, calm, boxes, x, reach, stencils, is_edge_pair)
        if count <= room:
            return stencils[:count], is_edge_pair[:count]
