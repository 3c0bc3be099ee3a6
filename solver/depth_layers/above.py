# SPDX-License-Identifier: GPL-3.0-or-later
"""Layers of cloth kept in order along one direction, as seen from above: `sequence` in every pixel of an image.

Depths are those at the pixel's centre, and so are motions (the thesis takes the mean of the corners, 5.1): where layers
lie flat on each other, so do their sequences. Triangles that are seen edge-on are left out: pushed along the line, they
would be pushed together. What all lines want of a triangle is gathered, and each particle gets the mean of that, weighed
as it has part in it (5.6.6 wants it; there the first line won).
"""

import math
from typing import NamedTuple

import numpy as np

from ..kernel.jit import inner, njit
from .sequence import fastest, recall, settle

STEEPEST_LEAN = 0.3  # cosine of the lean beyond which a triangle is left out
REST_SHARE = 0.9  # contact distance over rest distance at most, so that a fold at rest does not push itself open
EASED_SHARE = 0.01  # of the contact distance by which a gap that was too small is widened in a substep
NOTHING = 1e-12  # [m] that a layer has to do


class ContactCloth(NamedTuple):
    """What contact asks of the cloth."""

    triangles: np.ndarray  # (t, 3)
    inv_mass: np.ndarray  # (n,) [1/kg]
    thickness: np.ndarray  # (n,) [m]
    friction: np.ndarray  # (n,)
    garment: np.ndarray  # (n,)
    x_rest: np.ndarray  # (n, 3) [m]
    meets_itself: np.ndarray  # (n,) bool
    meets: np.ndarray  # (g, g) bool
    restitution: np.ndarray  # (n,) of cloth on cloth


class Hits(NamedTuple):
    """Scratch for the hits of one pixel, and the image's own numbers."""

    triangle: np.ndarray  # (c,)
    weight: np.ndarray  # (c, 3) of the corners
    upright: np.ndarray  # (c,) cosine of the triangle's lean
    motion: np.ndarray  # (c, 3) [m]


class Sums(NamedTuple):
    """What is asked of particles, added up."""

    weight: np.ndarray  # (n,)
    shift: np.ndarray  # (n, 3) [m] of place
    kick: np.ndarray  # (n, 3) [m] of the motion in a step


def make_sums(count: int) -> Sums:
    """Nothing asked of so many particles."""
    return Sums(np.zeros(count), np.zeros((count, 3)), np.zeros((count, 3)))


def make_hits(size: int) -> Hits:
    """Scratch for `size` hits."""
    return Hits(np.zeros(size, np.int64), np.zeros((size, 3)), np.zeros(size), np.zeros((size, 3)))


@inner
def mean(values, triangles, hits, entry):
    """The value of the particles at the place of a hit."""
    t = hits.triangle[entry]
    total = 0.0
    for k in range(3):
        total += hits.weight[entry, k] * values[triangles[t, k]]
    return total


@inner
def place(x, triangles, hits, entry, axis):
    """A coordinate of the place of a hit."""
    t = hits.triangle[entry]
    total = 0.0
    for k in range(3):
        total += hits.weight[entry, k] * x[triangles[t, k], axis]
    return total


@inner
def lock(cloth, s, t):
    """Whether two triangles may never push each other: neighbours, and what its owner lets pass."""
    triangles, garment = cloth.triangles, cloth.garment
    a, b = garment[triangles[s, 0]], garment[triangles[t, 0]]
    locked = not cloth.meets[a, b]
    if a == b:
        for k in range(3):
            i, j = triangles[s, k], triangles[t, k]
            locked |= not (cloth.meets_itself[i] and cloth.meets_itself[j])
            for m in range(3):
                locked |= i == triangles[t, m]
    return locked


@inner
def apart(cloth, hits, a, b):
    """Contact distance [m] of two hits: less where the cloth at rest is that close."""
    triangles, rest = cloth.triangles, cloth.x_rest
    distance = 0.5 * (mean(cloth.thickness, triangles, hits, a) + mean(cloth.thickness, triangles, hits, b))
    if cloth.garment[triangles[hits.triangle[a], 0]] == cloth.garment[triangles[hits.triangle[b], 0]]:
        square = 0.0
        for axis in range(3):
            away = place(rest, triangles, hits, a, axis) - place(rest, triangles, hits, b, axis)
            square += away * away
        distance = min(distance, REST_SHARE * math.sqrt(square))
    return distance


@inner
def _hit(cloth, x, x_from, t, axis, u, v, entry, hits):
    """Note where the line at (u, v) [m] meets triangle t, and how that place moves."""
    i, j, k = cloth.triangles[t, 0], cloth.triangles[t, 1], cloth.triangles[t, 2]
    a, b = (axis + 1) % 3, (axis + 2) % 3
    area = (x[j, a] - x[i, a]) * (x[k, b] - x[i, b]) - (x[j, b] - x[i, b]) * (x[k, a] - x[i, a])
    least = area if area != 0.0 else math.inf
    second = ((u - x[i, a]) * (x[k, b] - x[i, b]) - (v - x[i, b]) * (x[k, a] - x[i, a])) / least
    third = ((x[j, a] - x[i, a]) * (v - x[i, b]) - (x[j, b] - x[i, b]) * (u - x[i, a])) / least
    second, third = min(max(second, 0.0), 1.0), min(max(third, 0.0), 1.0)
    first = max(1.0 - second - third, 0.0)
    total = first + second + third
    hits.triangle[entry] = t
    hits.weight[entry, 0], hits.weight[entry, 1] = first / total, second / total
    hits.weight[entry, 2] = third / total
    size = 0.0
    for d in range(3):
        e, f = (d + 1) % 3, (d + 2) % 3
        n = (x[j, e] - x[i, e]) * (x[k, f] - x[i, f]) - (x[j, f] - x[i, f]) * (x[k, e] - x[i, e])
        size += n * n
        now = place(x, cloth.triangles, hits, entry, d)
        hits.motion[entry, d] = now - place(x_from, cloth.triangles, hits, entry, d)
    hits.upright[entry] = abs(area) / math.sqrt(size) if size > 0.0 else 0.0


@inner
def _gaps(cloth, hits, s, count):
    """Fill what the gaps between layers have to be, and how they bounce, in their old order."""
    for k in range(1, count):
        a, b = s.swap[k - 1], s.swap[k]
        s.locked[k] = lock(cloth, hits.triangle[a], hits.triangle[b])
        if s.locked[k]:
            s.least[k] = 0.0
            continue
        distance = apart(cloth, hits, a, b)
        s.least[k] = min(distance, s.old[b] - s.old[a] + EASED_SHARE * distance)
        friction = mean(cloth.friction, cloth.triangles, hits, a) * mean(cloth.friction, cloth.triangles, hits, b)
        s.grip[k] = math.sqrt(max(friction, 0.0))
        i, j = cloth.triangles[hits.triangle[a], 0], cloth.triangles[hits.triangle[b], 0]
        s.bounce[k] = math.sqrt(cloth.restitution[i] * cloth.restitution[j])


@inner
def _gather(cloth, hits, axis, s, count, sums):
    """Add what the layers have to do to their corners; returns how many have to do anything."""
    changed = 0
    for k in range(count):
        entry = s.swap[k]
        shift, kick = s.depth[k] - s.now[entry], s.go[k] - s.v[entry]
        if abs(shift) + abs(kick) + abs(s.drag[k, 0]) + abs(s.drag[k, 1]) < NOTHING:
            continue
        changed += 1
        for corner in range(3):
            i, weight = cloth.triangles[hits.triangle[entry], corner], hits.weight[entry, corner]
            sums.weight[i] += weight
            for d in range(3):
                drag = s.drag[k, (d - axis + 2) % 3] if d != axis else 0.0
                sums.shift[i, d] += weight * (shift if d == axis else drag)
                sums.kick[i, d] += weight * (kick if d == axis else drag)
    return changed


@njit
def gather_kernel(cloth, image, axis, heaviest, x, x_from, slow, hits, s, sums):
    """What all lines along `axis` want of the particles; returns how many layers have to do anything.

    The image is that of the triangles at x, along that axis; `hits` and `s` have room for a pixel. Lines on which nothing
    comes faster than `slow` [m] in the step do not bounce. 300 flops a hit of a
    pixel with several.
    # outputs: sums
    """
    a, b, changed = (axis + 1) % 3, (axis + 2) % 3, 0
    low, pixel, rows = image.low, image.pixel, image.shape[b]
    for p in range(len(image.pixel_start) - 1):
        start = image.pixel_start[p]
        count = image.pixel_start[p + 1] - start
        if count < 2:
            continue
        u, v = low[a] + (p // rows + 0.5) * pixel, low[b] + (p % rows + 0.5) * pixel
        seen, count = count, 0
        for h in range(start, start + seen):
            _hit(cloth, x, x_from, image.triangle[h], axis, u, v, count, hits)
            if hits.upright[count] < STEEPEST_LEAN:
                continue
            s.now[count], s.v[count] = image.depth[h], hits.motion[count, axis]
            s.slide[count, 0], s.slide[count, 1] = hits.motion[count, a], hits.motion[count, b]
            inverse = mean(cloth.inv_mass, cloth.triangles, hits, count)
            s.mass[count] = 1.0 / inverse if inverse * heaviest > 1.0 else heaviest
            count += 1
        if count < 2:
            continue
        recall(s, count)
        _gaps(cloth, hits, s, count)
        settle(s, count, fastest(s, count) > slow)
        changed += _gather(cloth, hits, axis, s, count, sums)
    return changed


@njit
def apply_kernel(inv_mass, sums, x, x_from):
    """Give the particles the means of what they were asked for."""
    for i in range(len(x)):
        weight = sums.weight[i]
        if weight <= 0.0 or inv_mass[i] == 0.0:
            continue
        for d in range(3):
            shift, kick = sums.shift[i, d] / weight, sums.kick[i, d] / weight
            x[i, d] += shift
            x_from[i, d] += shift - kick
