# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles kept on their side of the triangles that they come to, from all sides (Bargmann 2003, 7.1).

Each triangle is drawn once, along the axis that it faces most, into all pixels that it touches. A particle looks into its
own pixel of each of the three images. It is kept at the contact distance from a triangle that lies there, on the side
where it was a step ago; the triangle gives way as the masses say, and friction takes back what slides (5.7.2 wants it).
The thesis moves the particle alone, and its own image makes up for it with the triangles of the other side. Edges that
meet edges are not seen.
"""

import math
from typing import NamedTuple

import numpy as np

from ..kernel.jit import counted_njit, inner, njit
from .above import REST_SHARE

EASED_DISTANCE = 0.05  # part of their distance by which cloth that was too close is moved apart in a round
STICK_MARGIN = 0.05  # barycentric coordinate by which a particle may lie beside a triangle that it touches


OFFSET = 3  # column of a plane, after its normal: how far it is from the origin


class Planes(NamedTuple):
    """Planes of triangles, normals and distances from the origin; without a direction where a triangle has no area."""

    now: np.ndarray  # (t, 4)
    before: np.ndarray  # (t, 4) a step ago


class Scratch(NamedTuple):
    """Vectors of a pair of a particle and a triangle."""

    normal: np.ndarray  # (3,)
    then: np.ndarray  # (3,)
    weight: np.ndarray  # (3,) barycentric coordinates
    second: np.ndarray  # (3,) [m2] twice the area vector of the piece across from corner 1
    third: np.ndarray  # (3,) [m2] of that across from corner 2


def make_planes(count: int) -> Planes:
    """Planes of so many triangles, to be filled."""
    return Planes(np.empty((count, 4)), np.empty((count, 4)))


@inner
def _square(values):
    return values[0] * values[0] + values[1] * values[1] + values[2] * values[2]


@inner
def _part_of(cloth, p, t):
    """Whether a particle and a triangle never push each other: it is a corner, or its owner lets them pass."""
    i, j, k = cloth.triangles[t, 0], cloth.triangles[t, 1], cloth.triangles[t, 2]
    mine, other, meets = cloth.garment[p], cloth.garment[i], cloth.meets_itself
    if not cloth.meets[mine, other]:
        return True
    return mine == other and (p in (i, j, k) or not (meets[p] and meets[i] and meets[j] and meets[k]))


@inner
def _find_place(triangles, x, x_from, time, p, t, scratch):
    """The place of a triangle under a particle at a part of the step; whether it lies on the triangle.
    # outputs: scratch.weight; scratch.then, second, third
    """
    normal, weight, second, third = scratch.then, scratch.weight, scratch.second, scratch.third
    i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    before, square = 1.0 - time, 0.0
    for d in range(3):
        e, f = (d + 1) % 3, (d + 2) % 3
        ie, iff = time * x[i, e] + before * x_from[i, e], time * x[i, f] + before * x_from[i, f]
        je, jf = time * x[j, e] + before * x_from[j, e] - ie, time * x[j, f] + before * x_from[j, f] - iff
        ke, kf = time * x[k, e] + before * x_from[k, e] - ie, time * x[k, f] + before * x_from[k, f] - iff
        pe, pf = time * x[p, e] + before * x_from[p, e] - ie, time * x[p, f] + before * x_from[p, f] - iff
        normal[d] = je * kf - jf * ke
        square += normal[d] * normal[d]
        second[d], third[d] = pe * kf - pf * ke, je * pf - jf * pe
    if square <= 0.0:
        return False
    weight[1], weight[2] = 0.0, 0.0
    for d in range(3):
        weight[1] += second[d] * normal[d] / square
        weight[2] += third[d] * normal[d] / square
    weight[0] = 1.0 - weight[1] - weight[2]
    if not min(weight[0], weight[1], weight[2]) >= -STICK_MARGIN:
        return False
    for k in range(3):
        weight[k] = max(weight[k], 0.0)
    total = weight[0] + weight[1] + weight[2]
    for k in range(3):
        weight[k] /= total
    return True


@inner
def _distance(cloth, p, t, weight):
    """(contact distance [m], inverse mass that the triangle has at its place [1/kg], friction coefficient)."""
    thickness, inverse, friction, square = 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        i = cloth.triangles[t, k]
        thickness += weight[k] * cloth.thickness[i]
        inverse += weight[k] * weight[k] * cloth.inv_mass[i]
        friction += weight[k] * cloth.friction[i]
    distance = 0.5 * (thickness + cloth.thickness[p])
    if cloth.garment[p] == cloth.garment[cloth.triangles[t, 0]]:
        for d in range(3):
            away = cloth.x_rest[p, d]
            for k in range(3):
                away -= weight[k] * cloth.x_rest[cloth.triangles[t, k], d]
            square += away * away
        distance = min(distance, REST_SHARE * math.sqrt(square))
    return distance, inverse, math.sqrt(max(friction * cloth.friction[p], 0.0))


@inner
def _lay(triangles, x, t, planes):
    """Note the plane of a triangle.
    # outputs: planes[t]
    """
    i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    size, away = 0.0, 0.0
    for d in range(3):
        e, f = (d + 1) % 3, (d + 2) % 3
        n = (x[j, e] - x[i, e]) * (x[k, f] - x[i, f]) - (x[j, f] - x[i, f]) * (x[k, e] - x[i, e])
        planes[t, d], size, away = n, size + n * n, away + n * x[i, d]
    scale = 1.0 / math.sqrt(size) if size > 0.0 else 0.0
    for d in range(3):
        planes[t, d] *= scale
    planes[t, OFFSET] = away * scale


@inner
def _meet(cloth, planes, p, t, x, x_from, scratch):
    """How a particle and a triangle touch: (side that it was on, distance [m] that they lack, part [m] of that by which they
    came closer, inverse mass of both [1/kg], friction coefficient); the second is 0 where they do not.
    # outputs: scratch.normal, weight, then, second, third; planes[t]
    """
    triangles, normal = cloth.triangles, scratch.normal
    _lay(triangles, x, t, planes.now)
    _lay(triangles, x_from, t, planes.before)
    now, before = -planes.now[t, OFFSET], -planes.before[t, OFFSET]
    for d in range(3):
        normal[d] = planes.now[t, d]
        now += normal[d] * x[p, d]
        before += planes.before[t, d] * x_from[p, d]
    side = 1.0 if before >= 0.0 else -1.0
    time = before / (before - now) if now * side < 0.0 else 1.0
    if not _find_place(triangles, x, x_from, time, p, t, scratch):
        return side, 0.0, 0.0, 0.0, 0.0
    distance, inverse, friction = _distance(cloth, p, t, scratch.weight)
    before, now = side * before, side * now
    lack = min(distance, before * (1.0 + EASED_DISTANCE)) - now
    both = inverse + cloth.inv_mass[p]
    if not lack > 0.0 or both == 0.0:
        return side, 0.0, 0.0, 0.0, 0.0
    return side, lack, max(min(lack, before - now), 0.0), both, friction


@inner
def _went(triangles, x, x_from, p, t, scratch):
    """How far [m] a particle went along the normal against its place on a triangle.
    # outputs: scratch.then, all of that
    """
    normal, then, weight = scratch.normal, scratch.then, scratch.weight
    for d in range(3):
        then[d] = x[p, d] - x_from[p, d]
        for k in range(3):
            then[d] -= weight[k] * (x[triangles[t, k], d] - x_from[triangles[t, k], d])
    return then[0] * normal[0] + then[1] * normal[1] + then[2] * normal[2]


@inner
def _push(cloth, planes, p, t, x, x_from, scratch):
    """Keep a particle and a triangle apart, and rub them; returns whether they touch."""
    triangles, masses = cloth.triangles, cloth.inv_mass
    normal, then, weight = scratch.normal, scratch.then, scratch.weight
    side, lack, stop, both, friction = _meet(cloth, planes, p, t, x, x_from, scratch)
    if lack == 0.0:
        return False
    along = _went(triangles, x, x_from, p, t, scratch)
    for d in range(3):
        then[d] -= along * normal[d]
    slide = math.sqrt(_square(then))
    grip = min(1.0, friction * stop / slide) if slide > 0.0 else 0.0
    ease = lack - stop  # of place alone, without a velocity
    for c in range(4):
        i = p if c == 3 else triangles[t, c]
        part = masses[i] / both * (1.0 if c == 3 else -weight[c])
        for d in range(3):
            x[i, d] += part * (side * normal[d] * lack - grip * then[d])
            x_from[i, d] += part * side * normal[d] * ease
    return True


@njit
def planes_kernel(triangles, x, x_from, planes):
    """Planes of all triangles, now and a step ago. 100 flops and 150 bytes each.
    # outputs: planes
    """
    for t in range(len(triangles)):
        _lay(triangles, x, t, planes.now)
        _lay(triangles, x_from, t, planes.before)


@inner
def _far(planes, x, x_from, p, t, thickest):
    """Whether a particle is farther from a triangle's plane than the contact distance, on the same side as before."""
    now, before = -planes.now[t, OFFSET], -planes.before[t, OFFSET]
    for d in range(3):
        now += planes.now[t, d] * x[p, d]
        before += planes.before[t, d] * x_from[p, d]
    return now * before > 0.0 and abs(now) > thickest


@inner
def _pixel(image, x, p, d):
    """The pixel that a particle is in along axis d, or -1."""
    low, pixel, shape, a, b = image.low, image.pixel, image.shape, (d + 1) % 3, (d + 2) % 3
    # np.floor is a float, as math.floor is none in a kernel: what is not finite, or beyond all integers, is in none
    column, row = np.floor((x[p, a] - low[a]) / pixel), np.floor((x[p, b] - low[b]) / pixel)
    if not (0.0 <= column < shape[a] and 0.0 <= row < shape[b]):
        return -1
    return image.first_pixel[d] + int(column) * shape[b] + int(row)


@counted_njit
def touch_kernel(cloth, planes, thickest, image, x, x_from):
    """Keep all particles on their side of the triangles in their pixels; returns how many pairs touch.

    One after the other, always in the same order, so that no momentum is lost. The image is that of the triangles at x, and
    so are `planes`, or nearly. 15 flops a triangle in a particle's pixel, 500 more where they touch.
    # outputs: x, x_from
    """
    scratch, touching = Scratch(np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)), 0
    for p in range(len(x)):
        for d in range(3):
            at = _pixel(image, x, p, d)
            if at < 0:
                continue
            for h in range(image.pixel_start[at], image.pixel_start[at + 1]):
                t = image.triangle[h]
                if not (_far(planes, x, x_from, p, t, thickest) or _part_of(cloth, p, t)):
                    touching += _push(cloth, planes, p, t, x, x_from, scratch)
    return touching


@counted_njit
def impacts_kernel(cloth, planes, thickest, image, x, x_from, slow, stencils, bounces):
    """List the particles and triangles that come to touch faster than `slow` [m] in the step, as long as there is room;
    returns how many they are. Parameters and costs are those of `touch_kernel`, before which this is asked.
    # outputs: stencils (k, 4); bounces, with speeds in [m] in the step
    """
    scratch, count = Scratch(np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty(3)), 0
    for p in range(len(x)):
        for d in range(3):
            at = _pixel(image, x, p, d)
            if at < 0:
                continue
            for h in range(image.pixel_start[at], image.pixel_start[at + 1]):
                t = image.triangle[h]
                if _far(planes, x, x_from, p, t, thickest) or _part_of(cloth, p, t):
                    continue
                side, lack, _, _, _ = _meet(cloth, planes, p, t, x, x_from, scratch)
                approach = -side * _went(cloth.triangles, x, x_from, p, t, scratch)
                own = cloth.restitution[p] * cloth.restitution[cloth.triangles[t, 0]]
                if lack == 0.0 or approach <= slow or own == 0.0:
                    continue
                if count < len(stencils):
                    stencils[count, 0], bounces.weight[count, 0] = p, 1.0
                    bounces.pair[count], bounces.speed[count], bounces.push[count] = (
                        count,
                        math.sqrt(own) * approach,
                        0.0,
                    )
                    for k in range(3):
                        stencils[count, k + 1] = cloth.triangles[t, k]
                        bounces.weight[count, k + 1] = -scratch.weight[k]
                        bounces.normal[count, k] = side * scratch.normal[k]
                count += 1
    return count
