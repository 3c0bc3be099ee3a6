# SPDX-License-Identifier: GPL-3.0-or-later
"""Constraints of cloth that lies on cloth: contacts as rows of the solve, so that a load goes down through a stack in
one substep.

A pair that touches, or will in this substep, resists approach beyond its contact distance along its normal, with a
stiffness well above that of its inertia; what little it gives way is taken back by the response. As with bodies
(`body.constraints`), a pair that would have had to pull in a substep is let go in the next.

A pair whose closest points lie at the border of a triangle does not touch it: the next one is nearer, unless the cloth ends
or folds there. Cloth that slides comes upon such borders from the side, and would push what is below it ahead. Cloth in
the air keeps its place as a whole in the solve (`integrate.momentum`); cloth on a body does not, so where a particle of the
pair is on a body, such pairs are left to the response, until they touch.
"""

import math
from typing import NamedTuple

import numpy as np

from ...geometry.ccd import closest_pair, corners_of, weighted_sum
from ...kernel.jit import inner, njit
from ...kernel.listed import listing, make_ends
from ...kernel.shared import BOARD, shared
from .deviation import deviate
from .pairs import Pairs
from .reach import farther

TOUCHING_GAP = 1.02  # gap over contact distance up to which a pair counts as touching
SMALLEST_ROWS_PART = 256  # rows that another thread is asked for
FIRMNESS = 30.0  # stiffness of a pair over its reduced mass / dt^2
ROW_LEVER = 10.0  # times what is asked that a particle goes at most which is alone between others that are held fast
NO_BODY = np.zeros(0, np.bool_)  # of particles, which touch one
NO_BOUNCE = np.zeros(0)  # nothing bounces


class Stack(NamedTuple):
    """Rows of touching pairs, as those of hinges: h (w . p) h^T with h = sqrt(stiffness) normal."""

    stencils: np.ndarray  # (k, 4)
    weight: np.ndarray  # (k, 4) barycentric, positive on the first side, negative on the second
    row: np.ndarray  # (k, 4) h [sqrt(N/m)], and 0
    room: np.ndarray  # (k,) [sqrt(N m)] approach up to the contact distance, times |h|
    pair: np.ndarray  # (k,) which pair; fewer than rows, if the last ones are of none (`easing`)


NO_STACK = Stack(np.zeros((0, 4), np.int32), *np.zeros((2, 0, 4)), np.zeros(0), np.zeros(0, np.int32))


@inner
def _passes(on_body, corners, wb, wc, wd):
    """Does a pair on a body come upon a triangle from beyond its border? The next triangle is there."""
    a, b, c, d = corners
    return ((wb == 0.0) | (wc == 0.0) | (wd == 0.0)) & (on_body[a] | on_body[b] | on_body[c] | on_body[d])


@inner
def look_at(is_edge_pair, x, corners):
    """Weights of a pair's closest points, the direction from its second side to its first, and its gap [m]: 0 where it has
    no direction, or is closest at an end of an edge, which is a particle and has pairs with triangles.
    """
    a, b, c, d = corners
    wa, wb, wc, wd = weights = closest_pair(is_edge_pair, x, a, b, c, d)
    if is_edge_pair and (wa <= 0.0 or wb <= 0.0 or wc >= 0.0 or wd >= 0.0):
        return weights, (0.0, 0.0, 0.0), 0.0
    nx, ny, nz = weighted_sum(x, a, b, c, d, wa, wb, wc, wd)
    gap = math.sqrt(nx * nx + ny * ny + nz * nz)
    if gap == 0.0:
        return weights, (0.0, 0.0, 0.0), 0.0
    return weights, (nx / gap, ny / gap, nz / gap), gap


@njit
def find_kernel(board, pairs, deviation, faster, elapsed, x, v, inv_mass, on_body, leaving, dt, found):
    """List those of the pairs that touch or will in a substep; returns how many. 20 bytes of a pair that is too far off, 150 flops
    else.

    deviation, faster : (n,) [m], [m/s] by how much particles are off their trajectories, and off their speeds
    on_body : (n,) bool, what touches a body, or `NO_BODY`
    leaving : (n,) [m/s] pairs that part faster than the root of both sides' product have bounced, and are not held, if that is
        above 0; or `NO_BOUNCE`
    # outputs: found: their numbers (p,) int32, and scratch as of `make_ends`; pairs.pulled, taken back
    """
    about = pairs, deviation, faster, elapsed, x, v, inv_mass, on_body, leaving, dt
    return _list_touching(board, len(pairs.gap), *found, about)


@listing
def _list_touching(pair, pairs, deviation, faster, elapsed, x, v, inv_mass, on_body, leaving, dt):
    if pairs.pulled[pair]:
        pairs.pulled[pair] = False
        return False
    a, b, c, d = corners = corners_of(pairs.stencils, pair)
    is_edge_pair, distance = pairs.is_edge_pair[pair], pairs.distance[pair]
    least = pairs.gap[pair] - elapsed * pairs.closing[pair] - farther(deviation, is_edge_pair, a, b, c, d)
    goes = dt * (pairs.closing[pair] + farther(faster, is_edge_pair, a, b, c, d))
    if least > TOUCHING_GAP * distance and least - goes > distance:
        return False
    (wa, wb, wc, wd), (nx, ny, nz), gap = look_at(is_edge_pair, x, corners)
    if gap == 0.0:
        return False
    vx, vy, vz = weighted_sum(v, a, b, c, d, wa, wb, wc, wd)
    closing = nx * vx + ny * vy + nz * vz
    if len(leaving) > 0 and closing > 0.0 and closing * closing > leaving[a] * leaving[c] > 0.0:
        return False
    if gap > TOUCHING_GAP * distance and gap + dt * closing > distance:
        return False
    if wa * wa * inv_mass[a] + wb * wb * inv_mass[b] + wc * wc * inv_mass[c] + wd * wd * inv_mass[d] == 0.0:
        return False
    return not (len(on_body) > 0 and gap > TOUCHING_GAP * distance and _passes(on_body, corners, wb, wc, wd))


@shared(SMALLEST_ROWS_PART)
def fill_kernel(first, last, pairs, x, inv_mass, dt, stack):
    """Rows of the pairs that `find_kernel` has listed. 150 bytes and 100 flops a row. # outputs: stack, of which `pair` is given"""
    stencils, weight, row, room, listed = stack
    for k in range(first, last):
        pair = listed[k]
        a, b, c, d = corners = corners_of(pairs.stencils, pair)
        (wa, wb, wc, wd), (nx, ny, nz), gap = look_at(pairs.is_edge_pair[pair], x, corners)
        ma, mb, mc, md = wa * inv_mass[a], wb * inv_mass[b], wc * inv_mass[c], wd * inv_mass[d]
        mass = wa * ma + wb * mb + wc * mc + wd * md
        # so firm that a particle of such inertia goes no farther for it, with no spring that holds it back
        part = ROW_LEVER * mass / max(max(abs(ma), abs(mb)), max(abs(mc), abs(md)))
        firmness = min(FIRMNESS, part / (1.0 - part)) if part < 1.0 else FIRMNESS
        h = math.sqrt(firmness / mass) / dt
        stencils[k, 0], stencils[k, 1], stencils[k, 2], stencils[k, 3] = a, b, c, d
        weight[k, 0], weight[k, 1], weight[k, 2], weight[k, 3] = wa, wb, wc, wd
        row[k, 0], row[k, 1], row[k, 2], row[k, 3] = h * nx, h * ny, h * nz, 0.0
        room[k] = h * max(gap - pairs.distance[pair], 0.0)


def find_stack(pairs: Pairs, x, v, inv_mass: np.ndarray, dt: float, on_body=NO_BODY, leaving=NO_BOUNCE) -> Stack:
    """`Stack` of the pairs that touch in the substep dt [s] that starts at x (n, 3) [m] with v [m/s], but for those that
    part faster than `leaving` (n,) [m/s] says, as in `find_kernel`; on_body : (n,) bool, what touches a body, or `NO_BODY`.
    """
    most, faster = len(pairs.pair_list.gap), np.empty(len(x))
    if not most:
        return NO_STACK
    deviate(v, pairs.v_ref, pairs.v_ref, 0.0, pairs.slack, faster)
    listed, ends = np.empty(most, np.int32), make_ends(most)
    about = pairs.pair_list, pairs.deviation, faster, pairs.elapsed, x, v, inv_mass, on_body, leaving, dt
    count = find_kernel(BOARD, *about, (listed, ends))
    if not count:
        return NO_STACK
    wide = np.empty((count, 4), np.int32), *np.empty((2, count, 4))
    stack = Stack(*wide, np.empty(count), listed[:count].copy())
    fill_kernel(count, pairs.pair_list, x, inv_mass, dt, stack)
    return stack


@njit
def let_go(pairs, stack, x, x_prev):
    """Mark the pairs whose sides went apart in the solve, from x_prev to x (n, 3) [m]: their rows pulled.
    # outputs: pairs.pulled
    """
    for k in range(len(stack.pair)):
        along = stack.room[k]
        for corner in range(4):
            i, w = np.int64(stack.stencils[k, corner]), stack.weight[k, corner]
            for axis in range(3):
                along += w * stack.row[k, axis] * (x[i, axis] - x_prev[i, axis])
        pairs.pulled[stack.pair[k]] = along > 0.0
