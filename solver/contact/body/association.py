# SPDX-License-Identifier: GPL-3.0-or-later
"""Which triangles can a point meet? Association through the conservative layered depth image (Bargmann 2003, 4.1).

The image is drawn at the middle of an interval of time, in a frame of reference that moves with the cloth on the
whole (`bulk`), and each triangle's footprint is grown by its own motion in that frame. So the footprint of a triangle
covers its whole path, and one image answers for every moment of the interval.

A point asks with the path that it expects to take and a `skin` round that path. It is given the triangles that can
come nearer than the aura while the point stays within the skin, each with a `key`: a lower bound of the distance
between the two as long as the point keeps to its path; a point that strays by s subtracts s, and asks again when it has strayed
too far.
"""

import math
from typing import NamedTuple

import numpy as np

from ...geometry.moving_triangle import distance_to
from ...kernel.jit import folded, inner
from ...kernel.rounding import rounded_down, rounded_up
from .cell_grid import CELL_BODY, CELL_DRAWN, CELL_NEAR, Box, Cells, between, cell_of, clipped
from .contacts import OUTSIDE
from .motion import DEVIATION, HALF, MIDDLE, RADIUS, SLOPE, TURN

LINE = 32  # int32 that lie in two lines of a cache, which processors fetch together
MOST_CANDIDATES = 24  # that a point remembers; fewer are sure if more are near, and it asks again sooner
DEPTH_SLACK = 0.1  # [pixels] by which depths may be off: a graphics card counts in 32 bits
NOT_ASKED = -1  # instead of a number of candidates
HORIZON_PIXELS = 1.0  # that a point looks ahead along its way
SLOWEST_RATE = 1e-9  # [m] per unit of tau
NEARER_HORIZON = 0.25  # part of it, where more triangles are near than a point can remember
#: rows of Scratch.at: where a point is, was at the substep's start, its mean velocity in it and what dynamics add to that
#: at its end; the middle of the way ahead of it, and half that way; its way per unit of tau
HERE, THERE, VELOCITY, LATE, AHEAD_MIDDLE, AHEAD_HALF, RATE = range(7)
#: rows of Scratch.before: of a surface its normal, velocity [m/s] and, both frictions
BEFORE_NORMAL, BEFORE_VELOCITY, BEFORE_FRICTIONS = range(3)
#: columns of Candidates.asked: what a point asked last, that is looked at whole
PLACE = 0  # three: [m] where it was
ASKED_RATE = 3  # three: [m] its way per unit of tau
TAU, HORIZON = 6, 7  # when it asked, and until when the answer holds
SKIN = 8  # [m] how far from its way it holds
LEAST, FASTEST = 9, 10  # [m] least distance of all candidates, and what each loses of it per unit of tau, at most
ASKED = 11


class Image(NamedTuple):
    """What `associate` wants of a layered depth image of moving triangles."""

    low: np.ndarray  # (3,) [m] with the next five as in LDI
    pixel: float
    shape: np.ndarray
    first_pixel: np.ndarray
    pixel_start: np.ndarray
    depth: np.ndarray
    drawn: np.ndarray  # (h,) place in `near`
    near: np.ndarray  # (k,) numbers of the triangles that are drawn
    spheres: np.ndarray  # (k, motion.SPHERE_COLUMNS) theirs
    bulk: np.ndarray  # (3,) [m] way of the frame of reference
    aura: float  # [m] the largest
    growth: float  # [m] by how much triangles grow through their motion, at most
    way_out: float  # [m] farthest that a point inside a body can be from its surface
    solids: int  # closed bodies
    domain: Box  # round the cloth
    cells: Cells  # of the domain
    sticks: bool  # hits are ends of sticks in turn, of which a point asks those that it is in, and no others (`_ask_sticks`)


class Candidates(NamedTuple):
    """What each point remembers of its last question."""

    triangles: np.ndarray  # (p, MOST_CANDIDATES)
    distance: np.ndarray  # (p, MOST_CANDIDATES) float32 [m] bound of the distance when asked, rounded down
    count: np.ndarray  # (p,) NOT_ASKED: has to ask
    asked: np.ndarray  # (p, ASKED)


class Scratch(NamedTuple):
    """What one thread needs, or in one dimension more what all of them do."""

    seen: np.ndarray  # (t + 1,) int32 the last question in which each triangle was met; how many questions there were
    at: np.ndarray  # (7, 3) [m] the point that is looked at: HERE to RATE
    before: np.ndarray  # (2, 3, 3) what it touched in the substep before, each a `BEFORE_...`
    rate: np.ndarray  # (MOST_CANDIDATES,) [m] what the distance of each candidate loses per unit of tau, rounded up


def make_candidates(count: int) -> Candidates:
    """Memory for `count` points, none of which has asked yet."""
    shape = count, MOST_CANDIDATES
    triangles, distance = np.empty(shape, np.int32), np.empty(shape, np.float32)
    return Candidates(triangles, distance, np.full(count, NOT_ASKED, np.int32), np.zeros((count, ASKED)))


def make_scratch(triangle_count: int) -> Scratch:
    """Scratch of one thread for bodies of so many triangles."""
    return Scratch(*(array[0] for array in make_scratches(1, triangle_count)))


def make_scratches(threads: int, triangle_count: int) -> Scratch:
    """Scratch of so many threads, with room between them: no two of them write into the same line of a cache."""
    seen = np.zeros((threads, -(-(triangle_count + 1) // LINE) * LINE + LINE), np.int32)
    return Scratch(seen, np.empty((threads, 16, 3)), np.empty((threads, 16, 3, 3)), np.empty((threads, 2 * LINE)))


@inner
def _approach(spheres, at, e, swing, bulk, x, y, z, reach, span):
    """(least distance of the sphere of drawn triangle e from a point, rate [m per unit of tau] at which they can close
    in); the distance is inf if they clearly stay farther apart than `reach` for `span`.

    (x, y, z) is the point in the frame of reference; it goes by RATE.
    """
    hx, hy, hz = spheres[e, HALF], spheres[e, HALF + 1], spheres[e, HALF + 2]
    wx, wy, wz = at[RATE, 0] - bulk[0], at[RATE, 1] - bulk[1], at[RATE, 2] - bulk[2]
    gx = spheres[e, MIDDLE] + swing * hx - x
    gy = spheres[e, MIDDLE + 1] + swing * hy - y
    gz = spheres[e, MIDDLE + 2] + swing * hz - z
    cx, cy, cz = 2.0 * hx - wx, 2.0 * hy - wy, 2.0 * hz - wz
    away, rate = gx * gx + gy * gy + gz * gz, cx * cx + cy * cy + cz * cz
    turn = spheres[e, TURN]
    size = spheres[e, RADIUS] + abs(swing) * turn + spheres[e, DEVIATION]
    more = 2.0 * turn + spheres[e, SLOPE]
    room = reach + size + span * more
    if away > 2.0 * (room * room + span * span * rate):  # (a + b)^2 <= 2 a^2 + 2 b^2
        return math.inf, 0.0
    return math.sqrt(away) - size, math.sqrt(rate) + more


@folded
def _farthest(candidates, rates, p, span):
    """The candidate of point p that stays farthest until the horizon, the last of them by number; how far that is."""
    known, at, bound = candidates.triangles, 0, -math.inf
    for c in range(MOST_CANDIDATES):
        away = candidates.distance[p, c] - span * rates[c]
        if away > bound or (away == bound and known[p, c] > known[p, at]):
            at, bound = c, away
    return at, bound


@folded
def _order(candidates, p, count):
    """Sort the candidates of point p by their numbers: what a point does may not depend on the image's pixels."""
    known, distances = candidates.triangles, candidates.distance
    for c in range(1, count):
        t, distance, at = known[p, c], distances[p, c], c
        while at > 0 and known[p, at - 1] > t:
            known[p, at], distances[p, at] = known[p, at - 1], distances[p, at - 1]
            at -= 1
        known[p, at], distances[p, at] = t, distance


@inner
def _set_out(image, asked, at, p, tau, horizon, skin):
    """Note what point p asks, from THERE on by RATE; the skin shrinks to the room that is left in the domain.
    # outputs: asked; of `at` the way ahead in the frame of reference
    """
    span = horizon - tau
    for axis in range(3):
        asked[p, PLACE + axis], asked[p, ASKED_RATE + axis] = at[THERE, axis], at[RATE, axis]
        half = 0.5 * span * (at[RATE, axis] - image.bulk[axis])
        centre = at[THERE, axis] - image.bulk[axis] * (tau - 0.5) + half
        room = min(centre - image.domain.low[axis], image.domain.high[axis] - centre) - abs(half)
        skin = min(skin, room - image.aura)
        at[AHEAD_MIDDLE, axis], at[AHEAD_HALF, axis] = centre, abs(half)
    asked[p, TAU], asked[p, HORIZON], asked[p, SKIN] = tau, horizon, skin


@folded
def is_far(image, at, before, tau):
    """Is a point that goes from THERE to HERE in cells where it meets nothing on that way?

    Where it is within half a cell of the way's ends along each axis, all of the way is in their cells' neighbours.
    """
    bulk, cells = image.bulk, image.cells
    for axis in range(3):
        if not abs(at[HERE, axis] - at[THERE, axis] - (tau - before) * bulk[axis]) <= cells.size:
            return False
    for moment, time in ((HERE, tau - 0.5), (THERE, before - 0.5)):
        x, y, z = at[moment, 0] - time * bulk[0], at[moment, 1] - time * bulk[1], at[moment, 2] - time * bulk[2]
        cell = cell_of(cells, x, y, z)
        if cell < 0 or cells.flags[cell] & CELL_NEAR:
            return False
    return True


@folded
def _is_drawn(cells, at, radius):
    """Are all triangles drawn that the way ahead can meet within the radius?"""
    shape = cells.shape
    i0, i1 = _span(cells, at, 0, radius)
    j0, j1 = _span(cells, at, 1, radius)
    k0, k1 = _span(cells, at, 2, radius)
    for i in range(i0, i1 + 1):
        for j in range(j0, j1 + 1):
            row = (i * int(shape[1]) + j) * int(shape[2])
            for cell in range(row + k0, row + k1 + 1):
                if cells.flags[cell] & (CELL_BODY | CELL_DRAWN) == CELL_BODY:
                    return False
    return True


@inner
def _span(cells, at, axis, radius):
    """First and last cell along an axis within the radius of the way ahead."""
    centre, reach = at[AHEAD_MIDDLE, axis], at[AHEAD_HALF, axis] + radius
    return clipped(cells, axis, centre - reach, centre + reach)


@inner
def _pixels(image, at, axis, radius):
    """First and last pixel along an axis that lie within the radius of the way ahead; none if last < first."""
    reach, offset = at[AHEAD_HALF, axis] + radius, at[AHEAD_MIDDLE, axis] - image.low[axis]
    first, last = np.floor((offset - reach) / image.pixel), np.floor((offset + reach) / image.pixel)
    return int(between(first, 0.0, image.shape[axis] * 1.0)), int(between(last, -1.0, image.shape[axis] - 1.0))


@inner
def _depths(image, at, axis, radius):
    """Least and greatest depth of what the way ahead can meet within the radius.

    Depths are those at pixel centres; a triangle drawn along its main axis falls by one per axis at most.
    """
    window = at[AHEAD_HALF, axis] + radius + (1.0 + DEPTH_SLACK) * image.pixel + 3.0 * image.growth
    return at[AHEAD_MIDDLE, axis] - window, at[AHEAD_MIDDLE, axis] + window


@folded
def _take(candidates, rates, p, count, t, distance, rate, span, dropped):
    """Remember triangle t of point p that has `count` candidates, in place of the farthest if there is no room.

    Of those that stay equally far, as all round the pole of a ball, the first by number: not the first that the image has.
    Returns (count, bound of the distance of what was dropped).
    """
    # as they are kept: the order in which they come decides nothing
    distance, rate = rounded_down(distance), rounded_up(rate)
    asked, bound, c = candidates.asked, distance - span * rate, count
    if bound > dropped:
        return count, dropped
    if count == MOST_CANDIDATES:
        c, dropped = _farthest(candidates, rates, p, span)
        if bound > dropped or (bound == dropped and t > candidates.triangles[p, c]):
            return count, bound
    candidates.triangles[p, c], candidates.distance[p, c], rates[c] = t, distance, rate
    asked[p, LEAST] = min(asked[p, LEAST], distance)
    asked[p, FASTEST] = max(asked[p, FASTEST], rate)
    return max(count, c + 1), dropped


@folded
def associate(bodies, image, candidates, scratch, p, tau, horizon, skin):
    """Fill point p's candidates for tau to horizon: it is THERE and goes by RATE. `bodies` have motions that start at
    this tau.

    Returns False if the image cannot answer: the point is near the border of the domain, or
    near triangles that were not drawn.
    """
    at, seen, asked = scratch.at, scratch.seen, candidates.asked
    candidates.count[p] = NOT_ASKED
    _set_out(image, asked, at, p, tau, horizon, skin)
    radius = image.aura + asked[p, SKIN]
    if asked[p, SKIN] <= 0.0 or not _is_drawn(image.cells, at, radius):
        return False
    asked[p, LEAST], asked[p, FASTEST] = math.inf, 0.0
    span, count, dropped = horizon - tau, np.int64(0), radius
    seen[-1] += 1
    stamp, swing, bulk, spheres = seen[-1], 2.0 * tau - 1.0, image.bulk, image.spheres
    x, y, z = at[THERE, 0], at[THERE, 1], at[THERE, 2]
    qx, qy, qz = x - 0.5 * swing * bulk[0], y - 0.5 * swing * bulk[1], z - 0.5 * swing * bulk[2]
    for d in range(3):
        column0, column1 = _pixels(image, at, (d + 1) % 3, radius)
        row0, row1 = _pixels(image, at, (d + 2) % 3, radius)
        if row1 < row0 or image.first_pixel[d] == image.first_pixel[d + 1]:  # or it is not drawn along this axis
            continue
        front, back = _depths(image, at, d, radius)
        for column in range(column0, column1 + 1):
            start = image.first_pixel[d] + column * int(image.shape[(d + 2) % 3])
            first, last = image.pixel_start[start + row0], image.pixel_start[start + row1 + 1]
            for hit in range(np.uintp(first), np.uintp(last)):
                if image.depth[hit] < front or image.depth[hit] > back:
                    continue
                e = np.uintp(image.drawn[hit])
                if seen[e] == stamp:  # in a pixel before
                    continue
                seen[e] = stamp
                distance, rate = _approach(spheres, at, e, swing, bulk, qx, qy, qz, dropped, span)
                if distance - span * rate > dropped:
                    continue
                t = np.int64(image.near[e])
                distance = distance_to(bodies.triangles, bodies.motions, t, 0.0, x, y, z)
                count, dropped = _take(candidates, scratch.rate, p, count, t, distance, rate, span, dropped)
    _order(candidates, p, count)
    candidates.count[p] = count
    if dropped < radius:  # sure up to where one was dropped
        asked[p, SKIN] = dropped - image.aura
    return True


@folded
def deviation_of(asked, at, p, tau, moment):
    """How far point p is from the way it expected to go, HERE or THERE."""
    since, away = tau - asked[p, TAU], 0.0
    for axis in range(3):
        away += (at[moment, axis] - asked[p, PLACE + axis] - since * asked[p, ASKED_RATE + axis]) ** 2
    return math.sqrt(away)


@folded
def may_touch(asked, p, tau, deviation, reach):
    """Can any triangle that point p remembers be within reach [m]?"""
    return asked[p, LEAST] - (tau - asked[p, TAU]) * asked[p, FASTEST] - deviation < reach


@inner
def _nearer_end(image, hit, depth):
    """The triangle (place in `near`) at the nearer end of the stick from this hit to the next; -1 if the depth is beyond both, or
    that triangle cannot come near the cloth.
    """
    enter, leave = image.depth[hit], image.depth[hit + 1]
    if not enter <= depth <= leave:
        return -1
    return image.drawn[hit + 1] if leave - depth < depth - enter else image.drawn[hit]


@folded
def _ask_sticks(bodies, image, candidates, at, p, place, before, tau):
    """As `ask`, in three full images: where the point is HERE at tau it is in up to three sticks, of each the triangle at the nearer
    end counts, of these the closest alone (Bargmann 2003, 3.3, 4.1). It asks again in each substep.
    """
    asked, bulk, since = candidates.asked, image.bulk, tau - 0.5
    _set_out(image, asked, at, p, before, tau, image.aura)
    if asked[p, SKIN] <= 0.0 or not _is_drawn(image.cells, at, image.aura + asked[p, SKIN]):
        return False
    if place != OUTSIDE:  # an end of a stick is a way out, however far it is
        asked[p, SKIN] = max(image.aura, image.way_out)
    count, least = 0, math.inf
    for d in range(3):
        a, b = (d + 1) % 3, (d + 2) % 3
        column = np.floor((at[HERE, a] - since * bulk[a] - image.low[a]) / image.pixel)
        row = np.floor((at[HERE, b] - since * bulk[b] - image.low[b]) / image.pixel)
        if not (0.0 <= column < image.shape[a] and 0.0 <= row < image.shape[b]):
            continue
        pixel = image.first_pixel[d] + int(column) * int(image.shape[b]) + int(row)
        for hit in range(image.pixel_start[pixel], image.pixel_start[pixel + 1], 2):
            e = _nearer_end(image, hit, at[HERE, d] - since * bulk[d])
            if e < 0:
                continue
            t = np.int64(image.near[e])
            distance = distance_to(bodies.triangles, bodies.motions, t, 1.0, at[HERE, 0], at[HERE, 1], at[HERE, 2])
            if distance < least:
                least, count, candidates.triangles[p, 0] = distance, 1, t
    candidates.distance[p, 0], candidates.count[p] = 0.0, count
    asked[p, LEAST], asked[p, FASTEST] = 0.0 if count else math.inf, 0.0
    return True


@folded
def ask(bodies, image, candidates, scratch, p, place, before, tau):
    """Ask the image again where the point was at the substep's start; False if it is lost.

    It is expected to go on as it moves in this substep. A point inside a body looks further and further, until it
    finds a surface; from then on it remembers how far.
    """
    at, bulk, asked, span = scratch.at, image.bulk, candidates.asked, tau - before
    for axis in range(3):
        at[RATE, axis] = (at[HERE, axis] - at[THERE, axis]) / span
    if image.sticks:
        return _ask_sticks(bodies, image, candidates, at, p, place, before, tau)
    skin, limit = image.aura, 0.0
    # ahead only as far as the way stays short: a long one meets many pixels, and is less sure
    ux, uy, uz = at[RATE, 0] - bulk[0], at[RATE, 1] - bulk[1], at[RATE, 2] - bulk[2]
    horizon = before + HORIZON_PIXELS * image.pixel / max(math.sqrt(ux * ux + uy * uy + uz * uz), SLOWEST_RATE)
    horizon = min(max(horizon, tau), 1.0)
    if place != OUTSIDE:
        limit = image.way_out
        skin = max(skin, min(asked[p, SKIN], limit))
    while True:
        if not associate(bodies, image, candidates, scratch, p, before, horizon, skin):
            return False
        if skin < limit and candidates.count[p] == 0:
            skin *= 2.0
        elif asked[p, SKIN] >= 0.0 or horizon == tau:
            return True
        else:  # more triangles than it can remember: look less far ahead
            horizon = before + NEARER_HORIZON * (horizon - before)
            if horizon < before + 2.0 * span:
                horizon = tau
