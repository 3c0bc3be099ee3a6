# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles kept on their side of the triangles that they come to, from all sides (Bargmann 2003, 7.1).

Each triangle is drawn once, along the axis that it faces most, into all pixels that it touches. A particle looks into its
own pixel of each of the three images. It is kept at the contact distance from a triangle that lies there, on the side
where it was a step ago; the triangle gives way as the masses say, and friction takes back what slides (5.7.2 wants it).
The thesis moves the particle alone, and its own image makes up for it with the triangles of the other side. Edges that
meet edges are not seen.
"""

import math

import numpy as np

from ..jit import counted_njit, inner, njit
from .above import REST

EASE = 0.05  # part of their distance by which cloth that was too close is moved apart in a round
BESIDE = 0.05  # barycentric coordinate by which a particle may lie beside a triangle that it touches


@inner
def _square(values):
    return values[0] * values[0] + values[1] * values[1] + values[2] * values[2]


@inner
def _part_of(fabric, p, t):
    """Whether a particle and a triangle never push each other: it is a corner, or its owner lets them pass."""
    i, j, k = fabric.triangles[t, 0], fabric.triangles[t, 1], fabric.triangles[t, 2]
    mine, other, meets = fabric.garment[p], fabric.garment[i], fabric.meets_itself
    if not fabric.meets[mine, other]:
        return True
    return mine == other and (p in (i, j, k) or not (meets[p] and meets[i] and meets[j] and meets[k]))


@inner
def _find_place(triangles, x, x_prev, time, p, t, normal, weight):
    """To weight[:3] the place of a triangle under a particle at a part of the step; whether it lies on the triangle."""
    i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    before, square = 1.0 - time, 0.0
    for d in range(3):
        e, f = (d + 1) % 3, (d + 2) % 3
        ie, iff = time * x[i, e] + before * x_prev[i, e], time * x[i, f] + before * x_prev[i, f]
        je, jf = time * x[j, e] + before * x_prev[j, e] - ie, time * x[j, f] + before * x_prev[j, f] - iff
        ke, kf = time * x[k, e] + before * x_prev[k, e] - ie, time * x[k, f] + before * x_prev[k, f] - iff
        pe, pf = time * x[p, e] + before * x_prev[p, e] - ie, time * x[p, f] + before * x_prev[p, f] - iff
        normal[d] = je * kf - jf * ke
        square += normal[d] * normal[d]
        weight[3 + d], weight[6 + d] = pe * kf - pf * ke, je * pf - jf * pe
    if square <= 0.0:
        return False
    weight[1], weight[2] = 0.0, 0.0
    for d in range(3):
        weight[1] += weight[3 + d] * normal[d] / square
        weight[2] += weight[6 + d] * normal[d] / square
    weight[0] = 1.0 - weight[1] - weight[2]
    if not min(weight[0], weight[1], weight[2]) >= -BESIDE:
        return False
    for k in range(3):
        weight[k] = max(weight[k], 0.0)
    total = weight[0] + weight[1] + weight[2]
    for k in range(3):
        weight[k] /= total
    return True


@inner
def _distance(fabric, p, t, weight):
    """(contact distance [m], inverse mass that the triangle has at its place [1/kg], friction coefficient)."""
    thickness, inverse, friction, square = 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        i = fabric.triangles[t, k]
        thickness += weight[k] * fabric.thickness[i]
        inverse += weight[k] * weight[k] * fabric.inv_mass[i]
        friction += weight[k] * fabric.friction[i]
    distance = 0.5 * (thickness + fabric.thickness[p])
    if fabric.garment[p] == fabric.garment[fabric.triangles[t, 0]]:
        for d in range(3):
            away = fabric.x_rest[p, d]
            for k in range(3):
                away -= weight[k] * fabric.x_rest[fabric.triangles[t, k], d]
            square += away * away
        distance = min(distance, REST * math.sqrt(square))
    return distance, inverse, math.sqrt(max(friction * fabric.friction[p], 0.0))


@inner
def _lay(triangles, x, t, planes, column):
    """Note the plane of a triangle, normal and distance from the origin, without a direction where it has no area."""
    i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    size, away = 0.0, 0.0
    for d in range(3):
        e, f = (d + 1) % 3, (d + 2) % 3
        n = (x[j, e] - x[i, e]) * (x[k, f] - x[i, f]) - (x[j, f] - x[i, f]) * (x[k, e] - x[i, e])
        planes[t, column + d], size, away = n, size + n * n, away + n * x[i, d]
    scale = 1.0 / math.sqrt(size) if size > 0.0 else 0.0
    for d in range(3):
        planes[t, column + d] *= scale
    planes[t, column + 3] = away * scale


@inner
def _push(fabric, planes, p, t, x, x_prev, bounce, then, normal, weight):
    """Keep a particle and a triangle apart, and rub them; returns whether they touch. The last three are scratch."""
    triangles, masses = fabric.triangles, fabric.inv_mass
    _lay(triangles, x, t, planes, 0)
    _lay(triangles, x_prev, t, planes, 4)
    now, before = -planes[t, 3], -planes[t, 7]
    for d in range(3):
        normal[d] = planes[t, d]
        now += normal[d] * x[p, d]
        before += planes[t, 4 + d] * x_prev[p, d]
    side = 1.0 if before >= 0.0 else -1.0
    time = before / (before - now) if now * side < 0.0 else 1.0
    if not _find_place(triangles, x, x_prev, time, p, t, then, weight):
        return False
    distance, inverse, friction = _distance(fabric, p, t, weight)
    before, now = side * before, side * now
    lack = min(distance, before * (1.0 + EASE)) - now
    both = inverse + masses[p]
    if not lack > 0.0 or both == 0.0:
        return False
    for d in range(3):
        then[d] = x[p, d] - x_prev[p, d]
        for k in range(3):
            then[d] -= weight[k] * (x[triangles[t, k], d] - x_prev[triangles[t, k], d])
    along = then[0] * normal[0] + then[1] * normal[1] + then[2] * normal[2]
    stop = max(min(lack, before - now), 0.0)
    for d in range(3):
        then[d] -= along * normal[d]
    slide = math.sqrt(_square(then))
    grip = min(1.0, friction * stop / slide) if slide > 0.0 else 0.0
    ease = lack - stop * (1.0 + bounce)  # of place alone, without a velocity
    for c in range(4):
        i = p if c == 3 else triangles[t, c]
        part = masses[i] / both * (1.0 if c == 3 else -weight[c])
        for d in range(3):
            x[i, d] += part * (side * normal[d] * lack - grip * then[d])
            x_prev[i, d] += part * side * normal[d] * ease
    return True


@njit
def planes_kernel(triangles, x, x_prev, planes):
    """Planes of all triangles, now and a step ago. 100 flops and 150 bytes each.
    # outputs: planes (t, 8)
    """
    for t in range(len(triangles)):
        _lay(triangles, x, t, planes, 0)
        _lay(triangles, x_prev, t, planes, 4)


@inner
def _far(planes, x, x_prev, p, t, thickest):
    """Whether a particle is farther from a triangle's plane than the contact distance, on the same side as before."""
    now, before = -planes[t, 3], -planes[t, 7]
    for d in range(3):
        now += planes[t, d] * x[p, d]
        before += planes[t, 4 + d] * x_prev[p, d]
    return now * before > 0.0 and abs(now) > thickest


@counted_njit
def touch_kernel(fabric, planes, thickest, low, pixel, shape, first_pixel, pixel_start, drawn, x, x_prev, bounce):
    """Keep all particles on their side of the triangles in their pixels; returns how many pairs touch.

    One after the other, always in the same order, so that no momentum is lost. The image is that of `fabric.triangles` at
    x, and so are `planes`, or nearly. 15 flops a triangle in a particle's pixel, 500 more where they touch.
    # outputs: x, x_prev
    """
    normal, then, weight, touching = np.empty(3), np.empty(3), np.empty(9), 0
    for p in range(len(x)):
        for d in range(3):
            a, b = (d + 1) % 3, (d + 2) % 3
            column, row = math.floor((x[p, a] - low[a]) / pixel), math.floor((x[p, b] - low[b]) / pixel)
            if not (0 <= column < shape[a] and 0 <= row < shape[b]):
                continue
            at = first_pixel[d] + int(column) * shape[b] + int(row)
            for h in range(pixel_start[at], pixel_start[at + 1]):
                t = drawn[h]
                if not (_far(planes, x, x_prev, p, t, thickest) or _part_of(fabric, p, t)):
                    touching += _push(fabric, planes, p, t, x, x_prev, bounce, then, normal, weight)
    return touching
