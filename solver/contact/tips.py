# SPDX-License-Identifier: GPL-3.0-or-later
"""Tips of bodies, as of fingers: what can poke through a triangle of cloth between all of its samples.

A tip is a vertex of a closed body round which the surface falls away on all sides with a radius below `TIP`. Each tip
near the cloth has a contact sample of its own, which is, in each substep, the point of the cloth that is closest to it:
so the cloth is looked at just where it would be poked. From there on it is a sample like all others (`body_response`).
"""

import math
from typing import NamedTuple

import numpy as np

from ..jit import njit
from .distance import closest_on_triangle
from .samples import Samples

TIP = 0.02  # [m] radius of a limb's end that counts as one
REACH = 3.0  # auras from a tip within which it has a sample
SPARE = 0.3  # of the way between tip and cloth: neither goes quite where it was expected
NOWHERE = -1.0  # weight of the sample of a tip that is near no cloth
NO_TIPS = np.zeros(0, np.int32)


class Near(NamedTuple):
    """Tips that may meet cloth in an interval of time, and which triangles of it."""

    tips: np.ndarray  # (k,) vertices of the bodies
    rows: np.ndarray  # (k,) their samples
    start: np.ndarray  # (k + 1,) first of their triangles
    triangles: np.ndarray  # (c,) of the cloth


def find_tips(x: np.ndarray, triangles: np.ndarray, solid: np.ndarray, aura: float) -> np.ndarray:
    """(k,) the tips of bodies at x (m, 3) [m], of which `solid` (t,) names the closed ones; one per aura at most."""
    radius = np.empty(len(x))
    _radius_kernel(x, triangles, solid, np.empty_like(x), radius)
    tips = np.flatnonzero(radius < TIP)
    cells = np.floor(x[tips] / aura)
    return tips[np.sort(np.unique(cells, axis=0, return_index=True)[1])].astype(np.int32)


@njit
def _radius_kernel(x, triangles, solid, normal, radius):
    """The largest radius with which the surface falls away round each vertex; inf where it rises, or is open.
    150 flops and 200 bytes a triangle. # outputs: radius (m,) [m]; normal (m, 3) scratch
    """
    normal[:], radius[:] = 0.0, 0.0
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        wx, wy, wz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
        for corner in range(3):
            i = triangles[t, corner]
            normal[i, 0], normal[i, 1], normal[i, 2] = normal[i, 0] + nx, normal[i, 1] + ny, normal[i, 2] + nz
    for i in range(len(x)):
        size = math.sqrt(normal[i, 0] ** 2 + normal[i, 1] ** 2 + normal[i, 2] ** 2)
        for axis in range(3):
            normal[i, axis] /= max(size, 1e-300)
        if size == 0.0:
            radius[i] = math.inf
    for t in range(len(triangles)):
        for corner in range(3):
            i, j = triangles[t, corner], triangles[t, (corner + 1) % 3]
            dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            away = 0.5 * (dx * dx + dy * dy + dz * dz)
            falls = -(normal[i, 0] * dx + normal[i, 1] * dy + normal[i, 2] * dz)
            rises = normal[j, 0] * dx + normal[j, 1] * dy + normal[j, 2] * dz
            radius[i] = max(radius[i], away / falls if falls > 0.0 and solid[t] != 0 else math.inf)
            radius[j] = max(radius[j], away / rises if rises > 0.0 and solid[t] != 0 else math.inf)


def with_tips(samples: Samples, count: int) -> Samples:
    """The samples with so many more behind them, which are nowhere yet."""
    parents = np.concatenate([samples.parents, np.zeros((count, 3), np.int32)])
    return samples._replace(parents=parents, weight=np.concatenate([samples.weight, np.full((count, 3), NOWHERE)]))


def tips_near(tips, used, ways, triangles, x, v, tau, seconds, bulk, aura: float) -> Near:
    """Tips whose ways meet those of triangles of cloth, from tau to the end of an interval of `seconds`.

    used (m,) vertices whose motion is known, ways (m, 8) as in `ldi.ways`; triangles (t, 3), x, v (n, 3) of the cloth
    """
    rows = np.flatnonzero(used[tips])
    start, room = np.empty(len(rows) + 1, np.int64), 16 * len(rows)
    boxes = np.empty((len(triangles) if len(rows) else 0, 6))
    _ways_kernel(triangles, x, v, tau, seconds, bulk, boxes)
    while True:
        found = np.empty(room, np.int32)
        count = _pairs_kernel(tips[rows], ways, boxes, REACH * aura, start, found)
        if count <= room:
            return Near(tips[rows], rows, start, found[:count])
        room = count


@njit
def _ways_kernel(triangles, x, v, tau, seconds, bulk, boxes):
    """Boxes of the ways of triangles, as seen from what moves by `bulk`. # output: boxes (t, 6), or none"""
    for t in range(len(boxes)):
        for axis in range(3):
            low, high = math.inf, -math.inf
            for corner in range(3):
                i = triangles[t, corner]
                begin = x[i, axis] - (tau - 0.5) * bulk[axis]
                ahead = (1.0 - tau) * (seconds * v[i, axis] - bulk[axis])
                low = min(low, begin + min(ahead, 0.0) - SPARE * abs(ahead))
                high = max(high, begin + max(ahead, 0.0) + SPARE * abs(ahead))
            boxes[t, axis], boxes[t, axis + 3] = low, high


@njit
def _pairs_kernel(tips, ways, boxes, reach, start, found):
    """Triangles whose boxes come within reach of each tip's way; returns how many, also beyond the room in `found`.
    6 comparisons a tip and triangle at most. # outputs: start (k + 1,), found
    """
    count = 0
    for k in range(len(tips)):
        start[k], i = count, tips[k]
        gx, gy, gz = (
            abs(ways[i, 3]) + ways[i, 6] + reach,
            abs(ways[i, 4]) + ways[i, 6] + reach,
            abs(ways[i, 5]) + ways[i, 6] + reach,
        )
        for t in range(len(boxes)):
            if (
                boxes[t, 0] - gx <= ways[i, 0] <= boxes[t, 3] + gx
                and boxes[t, 2] - gz <= ways[i, 2] <= boxes[t, 5] + gz
            ):
                if boxes[t, 1] - gy <= ways[i, 1] <= boxes[t, 4] + gy:
                    if count < len(found):
                        found[count] = t
                    count += 1
    start[len(tips)] = count
    return count


@njit
def lead_samples(near, motions, triangles, x, reach, parents, weight, touched):
    """Put the samples of tips where the cloth is closest to them at the substep's end, so that they are looked at.

    motions (m, 6) of the bodies, parents, weight, touched: the rows of the tips. 60 flops a tip and triangle.
    # outputs: parents, weight, touched
    """
    weight[:, 0] = NOWHERE
    touched[:] = 0
    for k in range(len(near.tips)):
        i, row, nearest = near.tips[k], near.rows[k], reach
        px, py, pz = motions[i, 0] + motions[i, 3], motions[i, 1] + motions[i, 4], motions[i, 2] + motions[i, 5]
        for entry in range(near.start[k], near.start[k + 1]):
            t = near.triangles[entry]
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            wa, wb, wc, _ = closest_on_triangle(
                px, py, pz, x[a, 0], x[a, 1], x[a, 2], x[b, 0], x[b, 1], x[b, 2], x[c, 0], x[c, 1], x[c, 2]
            )
            dx = wa * x[a, 0] + wb * x[b, 0] + wc * x[c, 0] - px
            dy = wa * x[a, 1] + wb * x[b, 1] + wc * x[c, 1] - py
            dz = wa * x[a, 2] + wb * x[b, 2] + wc * x[c, 2] - pz
            distance = math.sqrt(dx * dx + dy * dy + dz * dz)
            if distance < nearest:
                nearest = distance
                parents[row, 0], parents[row, 1], parents[row, 2] = a, b, c
                weight[row, 0], weight[row, 1], weight[row, 2] = wa, wb, wc
                touched[row] = 1


@njit
def gather_tips(inv_mass, parents, weight, aims, touched, tip_touched, touch, tip_touch, x):
    """Move the corners of each triangle that a tip wants elsewhere, one tip after the other: the samples get to their
    `aims` (k, 3) [m] as far as others before have not brought them there. The corners touch what the samples do.

    touched (n,), touch (n, 2, 8) of the particles, tip_touched (k,), tip_touch (k, 2, 8) of the samples of tips.
    # outputs: x (n, 3), touched, touch
    """
    for row in range(len(parents)):
        if tip_touched[row] <= 0:
            continue
        dx, dy, dz, total = aims[row, 0], aims[row, 1], aims[row, 2], 0.0
        for corner in range(3):
            i, w = parents[row, corner], weight[row, corner]
            dx, dy, dz = dx - w * x[i, 0], dy - w * x[i, 1], dz - w * x[i, 2]
            if inv_mass[i] > 0.0:
                total += w * w
        nx, ny, nz = tip_touch[row, 0, 0], tip_touch[row, 0, 1], tip_touch[row, 0, 2]
        if total == 0.0 or dx * nx + dy * ny + dz * nz <= 0.0:
            continue
        for corner in range(3):
            i, share = parents[row, corner], weight[row, corner] / total
            if inv_mass[i] > 0.0 and share > 0.0:
                x[i, 0], x[i, 1], x[i, 2] = x[i, 0] + share * dx, x[i, 1] + share * dy, x[i, 2] + share * dz
                if touched[i] <= 0:
                    touched[i] = 1
                    for k in range(8):
                        touch[i, 0, k] = tip_touch[row, 0, k]
