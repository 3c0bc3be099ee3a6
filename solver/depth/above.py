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

from ..jit import inner, njit
from .sequence import recall, settle

STEEP = 0.3  # cosine of the lean beyond which a triangle is left out
REST = 0.9  # contact distance over rest distance at most, so that a fold at rest does not push itself open
EASE = 0.01


class Fabric(NamedTuple):
    """What contact asks of the cloth."""

    triangles: np.ndarray  # (t, 3)
    inv_mass: np.ndarray  # (n,) [1/kg]
    thickness: np.ndarray  # (n,) [m]
    friction: np.ndarray  # (n,)
    garment: np.ndarray  # (n,)
    x_rest: np.ndarray  # (n, 3) [m]
    meets_itself: np.ndarray  # (n,) bool
    meets: np.ndarray  # (g, g) bool


class Hits(NamedTuple):
    """Scratch for the hits of one pixel, and the image's own numbers."""

    triangle: np.ndarray  # (c,)
    weight: np.ndarray  # (c, 3) of the corners
    upright: np.ndarray  # (c,) cosine of the triangle's lean
    motion: np.ndarray  # (c, 3) [m]


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
def lock(fabric, s, t):
    """Whether two triangles may never push each other: neighbours, and what its owner lets pass."""
    triangles, garment = fabric.triangles, fabric.garment
    a, b = garment[triangles[s, 0]], garment[triangles[t, 0]]
    locked = not fabric.meets[a, b]
    if a == b:
        for k in range(3):
            i, j = triangles[s, k], triangles[t, k]
            locked |= not (fabric.meets_itself[i] and fabric.meets_itself[j])
            for m in range(3):
                locked |= i == triangles[t, m]
    return locked


@inner
def apart(fabric, hits, a, b):
    """Contact distance [m] of two hits: less where the fabric at rest is that close."""
    triangles, rest = fabric.triangles, fabric.x_rest
    distance = 0.5 * (mean(fabric.thickness, triangles, hits, a) + mean(fabric.thickness, triangles, hits, b))
    if fabric.garment[triangles[hits.triangle[a], 0]] == fabric.garment[triangles[hits.triangle[b], 0]]:
        square = 0.0
        for axis in range(3):
            away = place(rest, triangles, hits, a, axis) - place(rest, triangles, hits, b, axis)
            square += away * away
        distance = min(distance, REST * math.sqrt(square))
    return distance


@inner
def _hit(fabric, x, x_prev, t, axis, u, v, entry, hits):
    """Note where the line at (u, v) [m] meets triangle t, and how that place moves."""
    i, j, k = fabric.triangles[t, 0], fabric.triangles[t, 1], fabric.triangles[t, 2]
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
        now = place(x, fabric.triangles, hits, entry, d)
        hits.motion[entry, d] = now - place(x_prev, fabric.triangles, hits, entry, d)
    hits.upright[entry] = abs(area) / math.sqrt(size) if size > 0.0 else 0.0


@inner
def _gaps(fabric, hits, s, count):
    """Fill what the gaps between layers have to be, in their old order."""
    for k in range(1, count):
        a, b = s.swap[k - 1], s.swap[k]
        s.locked[k] = lock(fabric, hits.triangle[a], hits.triangle[b])
        if s.locked[k]:
            s.least[k] = 0.0
            continue
        distance = apart(fabric, hits, a, b)
        s.least[k] = min(distance, s.old[b] - s.old[a] + EASE * distance)
        friction = mean(fabric.friction, fabric.triangles, hits, a) * mean(fabric.friction, fabric.triangles, hits, b)
        s.grip[k] = math.sqrt(max(friction, 0.0))


@inner
def _gather(fabric, hits, axis, s, count, sums):
    """Add what the layers have to do to their corners; returns how many have to do anything."""
    changed = 0
    for k in range(count):
        entry = s.swap[k]
        shift, kick = s.depth[k] - s.now[entry], s.go[k] - s.v[entry]
        if abs(shift) + abs(kick) + abs(s.drag[k, 0]) + abs(s.drag[k, 1]) < 1e-12:
            continue
        changed += 1
        for corner in range(3):
            i, weight = fabric.triangles[hits.triangle[entry], corner], hits.weight[entry, corner]
            sums[i, 0] += weight
            for d in range(3):
                drag = s.drag[k, (d - axis + 2) % 3] if d != axis else 0.0
                sums[i, 1 + d] += weight * (shift if d == axis else drag)
                sums[i, 4 + d] += weight * (kick if d == axis else drag)
    return changed


@njit
def gather_kernel(
    fabric, heaviest, axis, low, pixel, rows, pixel_start, depth, drawn, x, x_prev, bounce, hits, s, sums
):
    """What all lines along `axis` want of the particles; returns how many layers have to do anything.

    The image is that of `drawn` triangles at x; `hits` and `s` have room for a pixel. 300 flops a hit of a pixel with
    several.
    # outputs: sums (n, 7): weight, shift of place [m], change of the motion in a step [m]
    """
    a, b, changed = (axis + 1) % 3, (axis + 2) % 3, 0
    for p in range(len(pixel_start) - 1):
        start = pixel_start[p]
        count = pixel_start[p + 1] - start
        if count < 2:
            continue
        u, v = low[a] + (p // rows + 0.5) * pixel, low[b] + (p % rows + 0.5) * pixel
        seen, count = count, 0
        for h in range(start, start + seen):
            _hit(fabric, x, x_prev, drawn[h], axis, u, v, count, hits)
            if hits.upright[count] < STEEP:
                continue
            s.now[count], s.v[count] = depth[h], hits.motion[count, axis]
            s.slide[count, 0], s.slide[count, 1] = hits.motion[count, a], hits.motion[count, b]
            inverse = mean(fabric.inv_mass, fabric.triangles, hits, count)
            s.mass[count] = 1.0 / inverse if inverse * heaviest > 1.0 else heaviest
            count += 1
        if count < 2:
            continue
        recall(s, count)
        _gaps(fabric, hits, s, count)
        settle(s, count, bounce)
        changed += _gather(fabric, hits, axis, s, count, sums)
    return changed


@njit
def apply_kernel(inv_mass, sums, x, x_prev):
    """Give the particles the means of what they were asked for."""
    for i in range(len(x)):
        if sums[i, 0] <= 0.0 or inv_mass[i] == 0.0:
            continue
        for d in range(3):
            shift, kick = sums[i, 1 + d] / sums[i, 0], sums[i, 4 + d] / sums[i, 0]
            x[i, d] += shift
            x_prev[i, d] += shift - kick
