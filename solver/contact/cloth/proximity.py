# SPDX-License-Identifier: GPL-3.0-or-later
"""Proximity of cloth and cloth: the loops that find candidates and measure them. `pairs.detect` calls them and tells the
method.
"""

import math
from typing import NamedTuple

import numpy as np

from ...broad_phase.boxes import HIGH, SWEPT_BOX, SweptBoxes, empty_boxes, enclose, may_touch, span
from ...broad_phase.patches import FIRST_EDGE_BIT, Ahead, Bounds
from ...geometry.ccd import closest_pair, corners_of, weighted_sum
from ...kernel.jit import folded, inner, njit
from ...kernel.shared import shared
from ...kernel.threads import cut, joined, on_threads
from .welded import across_seams

FLAT_COSINE = 0.8  # of the angle between normals round a vertex and their mean up to which the sheet is flat there, and
STEEP_COSINE = 0.5  # where triangles are so large that they do not touch even then
OPPOSITE_EDGES = 0.75  # part of the least height that two edges opposite a vertex are apart at least
SMALLEST_AHEAD_PART = 512  # triangles or particles that another thread is asked for
SMALLEST_CANDIDATE_PART = 3072  # pairs: fewer are done before another thread wakes up
SMALLEST_DROPPED_PART = 4096  # pairs that another thread is asked for
ROOM = 2  # candidates a pair of triangles that there is room for at first
NEIGHBOUR_GAP = 0.9  # contact distance over rest distance at most, so that a sheet at rest does not push itself


class PairList(NamedTuple):
    """Pairs of cloth that may meet, as the kernels read them."""

    stencils: np.ndarray  # (p, 4) int32: particle and triangle, or the ends of two edges
    is_edge_pair: np.ndarray  # (p,) bool
    distance: np.ndarray  # (p,) [m] contact distance
    friction: np.ndarray  # (p,) coefficient
    gap: np.ndarray  # (p,) [m] distance when detected
    closing: np.ndarray  # (p,) [m/s] speed at which the gap closes at most on the trajectories of then
    normal: np.ndarray  # (p, 3) unit vector from the triangle (second edge) to the particle (first edge); changes
    through: np.ndarray  # (p,) bool: one side was through the other when last looked at; changes
    pulled: np.ndarray  # (p,) bool: it would have had to pull in the last solve (`constraints`); changes


class Search(NamedTuple):
    """What a detection knew of every particle and triangle, in the frame of the motion of the whole."""

    boxes: SweptBoxes  # (n, 6) [m] where a particle is when detected, and when the time looked ahead is over
    ahead: Ahead  # triangles; `_turn` tells of their three normals
    height: np.ndarray  # (t,) [m] least height of a triangle in that time
    bounds: Bounds | None  # patches of them, None where nobody has asked
    reach: np.ndarray  # (n,) [m] half the contact distance and the slack, with some to spare
    drift: np.ndarray  # (3,) [m/s] motion of the whole


def empty_search(triangle_count: int, reach: np.ndarray, drift: np.ndarray) -> Search:
    """Room for so many triangles, and for particles with a `reach` (n,)."""
    normals, is_flat = np.empty((triangle_count, 3, 3)), np.empty(len(reach), np.bool_)
    ahead = Ahead(empty_boxes(triangle_count), normals, is_flat)
    return Search(empty_boxes(len(reach)), ahead, np.empty(triangle_count), None, reach, drift)


class Skin(NamedTuple):
    """The fields of `Cloth` that the kernels read: numba compiles small tuples faster."""

    inv_mass: np.ndarray
    thickness: np.ndarray
    friction: np.ndarray
    garment: np.ndarray
    meets_itself: np.ndarray
    x_rest: np.ndarray  # as `Cloth.pattern`, like the next two
    partner_start: np.ndarray
    partner: np.ndarray


@inner
def _square(x, a, b):
    """Squared distance of rows a and b."""
    dx, dy, dz = x[a, 0] - x[b, 0], x[a, 1] - x[b, 1], x[a, 2] - x[b, 2]
    return dx * dx + dy * dy + dz * dz


@inner
def _cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@inner
def _point(normals, triangle, k, nx, ny, nz):
    """Keep a unit vector as the normal number k of a triangle; returns the length it had."""
    size = math.sqrt(nx * nx + ny * ny + nz * nz)
    scale = 1.0 / size if size > 0.0 else 0.0
    normals[triangle, k, 0], normals[triangle, k, 1] = nx * scale, ny * scale
    normals[triangle, k, 2] = nz * scale
    return size


@folded
def _turn(x, v, horizon, triangles, triangle, normals):
    """Fill a triangle's normals; returns the least height [m] that it has meanwhile, seen along any direction in which
    its normals point.

    Its area vector is quadratic in time, and so always a mean of three: that at the start, that at the end and one
    between, with the sides of both (Bernstein's form). No side is ever longer than at the start or at the end.
    """
    a, b, c = triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2]
    ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    wx, wy, wz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    dx, dy, dz = horizon * (v[b, 0] - v[a, 0]), horizon * (v[b, 1] - v[a, 1]), horizon * (v[b, 2] - v[a, 2])
    ex, ey, ez = horizon * (v[c, 0] - v[a, 0]), horizon * (v[c, 1] - v[a, 1]), horizon * (v[c, 2] - v[a, 2])
    nx, ny, nz = _cross(ux, uy, uz, wx, wy, wz)
    longest = max(max(ux * ux + uy * uy + uz * uz, wx * wx + wy * wy + wz * wz), _square(x, b, c))
    area = _point(normals, triangle, 0, nx, ny, nz)
    px, py, pz = _cross(ux, uy, uz, ex, ey, ez)
    qx, qy, qz = _cross(dx, dy, dz, wx, wy, wz)
    nx, ny, nz = nx + 0.5 * (px + qx), ny + 0.5 * (py + qy), nz + 0.5 * (pz + qz)
    area = min(area, _point(normals, triangle, 1, nx, ny, nz))
    ux, uy, uz, wx, wy, wz = ux + dx, uy + dy, uz + dz, wx + ex, wy + ey, wz + ez
    nx, ny, nz = _cross(ux, uy, uz, wx, wy, wz)
    area = min(area, _point(normals, triangle, 2, nx, ny, nz))
    longest = max(longest, max(ux * ux + uy * uy + uz * uz, wx * wx + wy * wy + wz * wz))
    longest = max(longest, (wx - ux) ** 2 + (wy - uy) ** 2 + (wz - uz) ** 2)
    return area / math.sqrt(longest) if area > 0.0 else 0.0


@shared(SMALLEST_AHEAD_PART)
def way_ahead_kernel(first, last, x, v, drift, fresh, reach, horizon, boxes):
    """Boxes of `fresh` particles (n,) now and when the time looked ahead is over. What moves by the `drift` (3,) [m/s] of
    the whole stays. # outputs: boxes
    """
    for i in range(np.uintp(first), np.uintp(last)):
        if fresh[i]:
            for axis in range(3):
                here = x[i, axis]
                there = here + horizon * (v[i, axis] - drift[axis])
                boxes.start[i, axis], boxes.start[i, axis + HIGH] = here - reach[i], here + reach[i]
                boxes.end[i, axis], boxes.end[i, axis + HIGH] = there - reach[i], there + reach[i]


@shared(SMALLEST_AHEAD_PART)
def look_ahead_kernel(first, last, x, v, fresh, triangles, horizon, boxes, ahead, height, changed):
    """Boxes of those of the triangles first..last that have a `fresh` particle (n,), and how they turn in the time that is
    looked ahead. # outputs: ahead.boxes, ahead.normals, height (t,); changed (t,) bool
    """
    for triangle in range(first, last):
        a, b, c = triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2]
        changed[triangle] = fresh[a] | fresh[b] | fresh[c]
        if changed[triangle]:
            height[triangle] = _turn(x, v, horizon, triangles, triangle, ahead.normals)
            enclose(boxes.start, ahead.boxes.start, triangles, triangle)
            enclose(boxes.end, ahead.boxes.end, triangles, triangle)


@shared(SMALLEST_AHEAD_PART)
def flat_kernel(first, last, around, triangles, reach, thickness, changed, ahead, height):
    """Find out of the vertices first..last that have a triangle that `changed` those around which the sheet is too flat to meet
    itself. around : `geometry.adjacency.Topology` of the triangles

    If all normals round a vertex stay within 37 degrees of their mean (`FLAT_COSINE`), the triangles round it lie side
    by side when seen along it, so corners and edges that do not touch each other are nearly a triangle's height apart
    and would first have to fold. Up to 60 degrees (`STEEP_COSINE`) that holds too, if what is left of the height keeps them from
    touching. 100 bytes and 50 flops a triangle round a vertex. # outputs: ahead.is_flat
    """
    start, beside, normals = around.vertex_start, around.vertex_triangles, ahead.normals
    for vertex in range(first, last):
        is_asked, mx, my, mz = False, 0.0, 0.0, 0.0
        for slot in range(start[vertex], start[vertex + 1]):
            is_asked |= changed[beside[slot]]
        if not is_asked:
            continue
        for slot in range(start[vertex], start[vertex + 1]):
            triangle = beside[slot]
            mx, my, mz = mx + normals[triangle, 0, 0], my + normals[triangle, 0, 1], mz + normals[triangle, 0, 2]
        size, is_flat = math.sqrt(mx * mx + my * my + mz * mz), True
        for slot in range(start[vertex], start[vertex + 1]):
            triangle = beside[slot]
            a, b, c = triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2]
            thick = max(thickness[a], max(thickness[b], thickness[c]))
            slack = 2.0 * max(reach[a], max(reach[b], reach[c])) - min(thickness[a], min(thickness[b], thickness[c]))
            least = math.inf
            for k in range(3):
                along = normals[triangle, k, 0] * mx + normals[triangle, k, 1] * my + normals[triangle, k, 2] * mz
                least = min(least, along)
            side = height[triangle] * least  # times `size`: the height seen along the mean normal
            flat = least > FLAT_COSINE * size and FLAT_COSINE * height[triangle] > slack
            flat |= (
                least > STEEP_COSINE * size and OPPOSITE_EDGES * side > slack * size and side > (slack + thick) * size
            )
            is_flat &= flat
        ahead.is_flat[vertex] = is_flat


@njit
def candidate_kernel(
    start, end, pairs, corners, owned, is_flat, triangle_boxes, boxes, both, edges, stencils, is_edge_pair
):
    """Particle-triangle and edge-edge candidates: those that may touch on their trajectories, out of the pairs start..end
    of triangles; returns their number.

    Every vertex and edge belongs to one triangle, so that each pair is looked at once. Counting goes on when there
    is no room left. About 24 comparisons and 200 bytes for a rejected primitive, all in one branch: the outcome of
    each alone is a coin toss to the processor.
    corners : (t, 3) particles of triangles, and what they are called in stencils
    # outputs: stencils (c, 4), is_edge_pair (c,); both (2, SWEPT_BOX), edges (4, SWEPT_BOX) scratch
    """
    (triangles, named), count = corners, 0
    for pair in range(start, end):
        first, second = pairs[pair, 0], pairs[pair, 1]
        is_sheet = False
        for corner in range(3):
            p = triangles[first, corner]
            is_common = (p == triangles[second, 0]) | (p == triangles[second, 1]) | (p == triangles[second, 2])
            is_sheet |= is_common & is_flat[p]
        if is_sheet:
            continue
        span(triangle_boxes, first, first, 0, both)
        span(triangle_boxes, second, second, 1, both)
        for side in range(2):
            a, b, c = triangles[second, 0], triangles[second, 1], triangles[second, 2]
            for corner in range(3):
                p = triangles[first, corner]
                if not owned[first] >> corner & 1 or (p == a) | (p == b) | (p == c):
                    continue
                span(boxes, p, p, 0, edges)
                if not may_touch(edges, 0, both, 1 - side):
                    continue
                if count < len(stencils):
                    stencils[count, 0], stencils[count, 1] = named[first, corner], named[second, 0]
                    stencils[count, 2], stencils[count, 3] = named[second, 1], named[second, 2]
                    is_edge_pair[count] = False
                count += 1
            first, second = second, first
        for other in range(3 if owned[first] >> FIRST_EDGE_BIT else 0):
            span(boxes, triangles[second, other], triangles[second, (other + 1) % 3], 1 + other, edges)
        for corner in range(3):
            p, q = triangles[first, corner], triangles[first, (corner + 1) % 3]
            if not owned[first] >> (corner + FIRST_EDGE_BIT) & 1 or not owned[second] >> FIRST_EDGE_BIT:
                continue
            span(boxes, p, q, 0, edges)
            if not may_touch(edges, 0, both, 1):
                continue
            for other in range(3):
                r, s = triangles[second, other], triangles[second, (other + 1) % 3]
                known = not owned[second] >> (other + FIRST_EDGE_BIT) & 1
                if known or (p == r) | (p == s) | (q == r) | (q == s) or not may_touch(edges, 0, edges, 1 + other):
                    continue
                if count < len(stencils):
                    stencils[count, 0], stencils[count, 1] = named[first, corner], named[first, (corner + 1) % 3]
                    stencils[count, 2], stencils[count, 3] = named[second, other], named[second, (other + 1) % 3]
                    is_edge_pair[count] = True
                count += 1
    return count


def candidates(pairs, triangles, owned, is_flat, triangle_boxes: SweptBoxes, boxes: SweptBoxes, pattern=None):
    """Stencils int32 of the pairs of triangles (p, 2), as `candidate_kernel` finds them; which are of edges (c,).

    owned : (t,) as in `Patches`
    is_flat : (n,) as in `Ahead`
    triangle_boxes, boxes : (t, 6), (n, 6) [m] of triangles and of vertices
    pattern : `model.Pattern` of welded cloth, with whose vertices behind stencils are (c, 8); None: they are (c, 4)
    """
    named = triangles if pattern is None else pattern.triangles

    def find(_, first, last):
        scratch, room = (np.empty((2, SWEPT_BOX)), np.empty((4, SWEPT_BOX))), ROOM * (last - first) + 256
        about = pairs, (triangles, named), owned, is_flat, triangle_boxes, boxes, *scratch
        while True:
            stencils, is_edge_pair = np.empty((room, 4), np.int32), np.empty(room, np.bool_)
            count = candidate_kernel(first, last, *about, stencils, is_edge_pair)
            if count <= room:
                return stencils[:count], is_edge_pair[:count]
            room = count

    stencils, is_edge_pair = zip(*on_threads(find, cut(len(pairs), SMALLEST_CANDIDATE_PART)), strict=True)
    found = joined(stencils)
    return found if pattern is None else np.hstack([pattern.place[found], found]), joined(is_edge_pair)


@folded
def _room(is_edge_pair, x, v, time, a, b, c, d, nx, ny, nz):
    """Room [m] between both sides along a unit direction, after some time of their motion."""
    pa = nx * (x[a, 0] + time * v[a, 0]) + ny * (x[a, 1] + time * v[a, 1]) + nz * (x[a, 2] + time * v[a, 2])
    pb = nx * (x[b, 0] + time * v[b, 0]) + ny * (x[b, 1] + time * v[b, 1]) + nz * (x[b, 2] + time * v[b, 2])
    pc = nx * (x[c, 0] + time * v[c, 0]) + ny * (x[c, 1] + time * v[c, 1]) + nz * (x[c, 2] + time * v[c, 2])
    pd = nx * (x[d, 0] + time * v[d, 0]) + ny * (x[d, 1] + time * v[d, 1]) + nz * (x[d, 2] + time * v[d, 2])
    return min(pa, pb) - max(pc, pd) if is_edge_pair else pa - max(pb, max(pc, pd))


@shared(SMALLEST_DROPPED_PART)
def drop_kernel(first, last, is_out, pairs):
    """Take their contact distance from those of the pairs first..last that have a particle that is out (n,), so that nobody looks
    at them any more. 20 bytes a pair. # outputs: pairs.gap, pairs.distance
    """
    for pair in range(first, last):
        a, b, c, d = corners_of(pairs.stencils, pair)
        if is_out[a] | is_out[b] | is_out[c] | is_out[d]:
            pairs.gap[pair], pairs.distance[pair] = math.inf, -math.inf


@njit
def measure_kernel(start, end, pairs, rest_stencils, skin, x, v, reach, horizon):
    """Keep those of the candidates start..end that can meet within the horizon, closed up to the front of that range;
    returns where they end.

    Along the shortest connection at the start, the room between the two sides is the least of linear functions of time:
    never less than what lies evenly between that at the start and that at the end of the horizon.
    200 flops and 200 bytes a candidate, twice that inside a garment.

    rest_stencils : (c, 4) corners in the pattern, or (0, 4) where these are the stencils' own
    # outputs: pairs, of which stencils and is_edge_pair are given; not through, pulled
    """
    kept, is_welded = start, len(rest_stencils) > 0
    h, f, rest, meets = skin.thickness, skin.friction, skin.x_rest, skin.meets_itself
    for pair in range(start, end):
        a, b, c, d = corners_of(pairs.stencils, pair)
        edges = pairs.is_edge_pair[pair]
        if skin.inv_mass[a] + skin.inv_mass[b] + skin.inv_mass[c] + skin.inv_mass[d] == 0.0:
            continue
        wa, wb, wc, wd = closest_pair(edges, x, a, b, c, d)
        nx, ny, nz = weighted_sum(x, a, b, c, d, wa, wb, wc, wd)
        size = math.sqrt(nx * nx + ny * ny + nz * nz)
        if edges:
            within = max(reach[a], reach[b]) + max(reach[c], reach[d])
            first, second = wa * f[a] + wb * f[b], -wc * f[c] - wd * f[d]
        else:
            within = reach[a] + max(reach[b], max(reach[c], reach[d]))
            first, second = f[a], -wb * f[b] - wc * f[c] - wd * f[d]
        scale = 1.0 / size if size > 0.0 else 0.0
        nx, ny, nz = nx * scale, ny * scale, nz * scale
        room = _room(edges, x, v, 0.0, a, b, c, d, nx, ny, nz)
        later = _room(edges, x, v, horizon, a, b, c, d, nx, ny, nz)
        if not min(room, later) <= within:
            continue
        # The weights of each side have the sum 1 in size, so this is the mean of the two sides' thicknesses.
        apart = 0.5 * (abs(wa) * h[a] + abs(wb) * h[b] + abs(wc) * h[c] + abs(wd) * h[d])
        if skin.garment[a] == skin.garment[c]:
            if not (meets[a] & meets[b] & meets[c] & meets[d]):
                continue
            i, j, k, m = corners_of(rest_stencils, pair) if is_welded else (a, b, c, d)
            ua, ub, uc, ud = closest_pair(edges, rest, i, j, k, m)
            rx, ry, rz = weighted_sum(rest, i, j, k, m, ua, ub, uc, ud)
            apart = min(apart, NEIGHBOUR_GAP * math.sqrt(rx * rx + ry * ry + rz * rz))
            if is_welded:
                apart = min(apart, NEIGHBOUR_GAP * across_seams(skin, edges, i, j, k, m))
        for corner in range(4):
            pairs.stencils[kept, corner] = pairs.stencils[pair, corner]
        pairs.is_edge_pair[kept] = edges
        pairs.distance[kept] = apart
        pairs.friction[kept] = math.sqrt(max(first * second, 0.0))
        pairs.gap[kept] = room
        pairs.closing[kept] = max(room - later, 0.0) / horizon
        pairs.normal[kept, 0], pairs.normal[kept, 1], pairs.normal[kept, 2] = nx, ny, nz
        kept += 1
    return kept
