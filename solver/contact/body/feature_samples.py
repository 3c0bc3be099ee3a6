# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact samples of features of bodies: each ridge or tip near the cloth (`features`) has one, the point of the cloth that
is closest to it at the start of each substep, so that the cloth is looked at just where it would be poked. From there on
it is a sample like all others (`response`).
"""

import math
from typing import NamedTuple

import numpy as np

from ...broad_phase.boxes import touch
from ...geometry.distance import closest_on_segments, closest_on_triangle
from ...geometry.moving_triangle import MOTION
from ...kernel.jit import counted_njit, folded, inner, njit
from ...kernel.threads import cut, joined, on_threads
from .contacts import note, note_place
from .features import NO_FEATURES, Features
from .samples import Samples

EPSILON, TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)
FEATURE_REACH = 3.0  # auras from a ridge within which it has a sample
RUN = 8  # triangles of cloth, one after the other, that have a box in common; and so many of these boxes; and so on
SMALLEST_RIDGE_PART = 64  # ridges: fewer are done before another thread wakes up
FIRST_ROOM = 16  # triangles near a ridge for which there is room at first
SPARE_WAY = 0.3  # of the way between ridge and cloth: neither goes quite where it was expected
OVER_FACE = 0.1  # square of the cosine to a ridge's face from which the cloth is over that face
RIDGE_LEVER = 4.0  # times what a sample wants that a corner goes at most, as in pairs of cloth (`cloth.response`)
JUST_MORE = 1.0 + 4.0 * EPSILON  # times a distance
NOWHERE = -1.0  # weight of the sample of a ridge that is near no cloth


class NearFeatures(NamedTuple):
    """Features of bodies that may meet cloth in an interval of time, and which triangles of it."""

    ends: np.ndarray  # (k, 2), with the next two as in Features
    beside: np.ndarray  # (k, 2)
    share: np.ndarray  # (k, 2)
    rows: np.ndarray  # (k,) their samples, counted from the first of a feature
    start: np.ndarray  # (k + 1,) first of their triangles
    triangles: np.ndarray  # (c,) of the cloth
    last: np.ndarray  # (k,) which of these was closest when last looked at, or -1


NO_NEAR_FEATURES = NearFeatures(
    *NO_FEATURES, np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64)
)


def with_feature_samples(samples: Samples, count: int) -> Samples:
    """The samples with so many more behind them, which are nowhere yet."""
    parents = np.concatenate([samples.parents, np.zeros((count, 3), np.int32)])
    return samples._replace(parents=parents, weight=np.concatenate([samples.weight, np.full((count, 3), NOWHERE)]))


def find_near_features(
    features: Features, used, trajectories, triangles, x, v, tau, seconds, bulk, aura: float
) -> NearFeatures:
    """Features whose ways meet those of triangles of cloth, from tau to the end of an interval of `seconds`.

    used (m,) vertices whose motion is known, triangles (t, 3), x, v (n, 3) of the cloth
    """
    rows = np.flatnonzero(used[features.ends].all(axis=1) & used[features.beside].all(axis=1))
    ends, beside, share = (array[rows] for array in features)
    boxes = np.empty((len(triangles) if len(rows) else 0, 6))
    _ways_kernel(triangles, x, v, tau, seconds, bulk, boxes)
    about = trajectories, *_in_runs(boxes), FEATURE_REACH * aura

    def part(_, first, last):
        many, room = np.empty(last - first, np.int64), FIRST_ROOM * (last - first)
        while True:
            found = np.empty(room, np.int32)
            count = _pairs_kernel(ends[first:last], share[first:last], *about, many, found)
            if count <= room:
                return many, found[:count]
            room = count

    many, found = map(joined, zip(*on_threads(part, cut(len(rows), SMALLEST_RIDGE_PART)), strict=True))
    return NearFeatures(ends, beside, share, rows, np.cumsum(np.append(0, many)), found, np.full(len(rows), -1))


@njit
def _ways_kernel(triangles, x, v, tau, seconds, bulk, boxes):
    """Boxes of the ways of triangles, as seen from what moves by `bulk`. # outputs: boxes (t, 6), or none"""
    for t in range(len(boxes)):
        for axis in range(3):
            low, high = math.inf, -math.inf
            for corner in range(3):
                i = triangles[t, corner]
                begin = x[i, axis] - (tau - 0.5) * bulk[axis]
                ahead = (1.0 - tau) * (seconds * v[i, axis] - bulk[axis])
                low = min(low, begin + min(ahead, 0.0) - SPARE_WAY * abs(ahead))
                high = max(high, begin + max(ahead, 0.0) + SPARE_WAY * abs(ahead))
            boxes[t, axis], boxes[t, axis + 3] = low, high


def _in_runs(boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Boxes (t, 6), behind them those of runs of `RUN` of them, of runs of these, and so on (k, 6); and where each level
    begins, and the last ends.
    """
    levels = [boxes]
    while len(levels[-1]) > RUN:
        starts = np.arange(0, len(levels[-1]), RUN)
        low, high = levels[-1][:, :3], levels[-1][:, 3:]
        levels.append(np.hstack([np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts)]))
    return np.concatenate(levels), np.cumsum([0, *map(len, levels)])


@counted_njit
def _pairs_kernel(ends, share, trajectories, boxes, levels, reach, many, found):
    """Triangles whose boxes come within reach of each ridge's way; returns how many, also beyond the room in `found`. 6
    comparisons a ridge and box of the highest level, and of each box in one that is near.
    # outputs: many (k,) of each ridge, found
    """
    middle, half, deviation = trajectories.middle, trajectories.half, trajectories.deviation
    count, ridge, above = 0, np.empty((1, 6)), len(levels) - 1
    for k in range(len(ends)):
        before, i, j = count, ends[k, 0], ends[k, 1]
        for axis in range(3):
            grow = reach + max(abs(half[i, axis]) + deviation[i], abs(half[j, axis]) + deviation[j])
            along = middle[j, axis] - middle[i, axis]
            first, last = middle[i, axis] + share[k, 0] * along, middle[i, axis] + share[k, 1] * along
            ridge[0, axis], ridge[0, axis + 3] = min(first, last) - grow, max(first, last) + grow
        level, t = above - 1 if len(boxes) else above, 0
        while level < above:
            at = levels[level] + t
            is_near = touch(ridge, 0, 0, boxes, at, at)
            if is_near and level > 0:
                level, t = level - 1, RUN * t
                continue
            if is_near:
                if count < len(found):
                    found[count] = t
                count += 1
            t += 1
            while level < above and (t % RUN == 0 or levels[level] + t == levels[level + 1]):
                level, t = level + 1, (t + RUN - 1) // RUN
        many[k] = count - before
    return count


@inner
def _ends(near, motions, k):
    """Where the two ends of ridge k are at the substep's start."""
    i, j, a, b = near.ends[k, 0], near.ends[k, 1], near.share[k, 0], near.share[k, 1]
    ix, iy, iz = motions[i, 0], motions[i, 1], motions[i, 2]
    ex, ey, ez = motions[j, 0] - ix, motions[j, 1] - iy, motions[j, 2] - iz
    return ix + a * ex, iy + a * ey, iz + a * ez, ix + b * ex, iy + b * ey, iz + b * ez


@inner
def _is_apart(x, a, b, c, px, py, pz, qx, qy, qz, gap):
    """Are the boxes of triangle abc and segment pq farther apart than `gap`?"""
    return (
        min(x[a, 0], x[b, 0], x[c, 0]) - gap > max(px, qx)
        or max(x[a, 0], x[b, 0], x[c, 0]) + gap < min(px, qx)
        or min(x[a, 1], x[b, 1], x[c, 1]) - gap > max(py, qy)
        or max(x[a, 1], x[b, 1], x[c, 1]) + gap < min(py, qy)
        or min(x[a, 2], x[b, 2], x[c, 2]) - gap > max(pz, qz)
        or max(x[a, 2], x[b, 2], x[c, 2]) + gap < min(pz, qz)
    )


@folded
def _is_beside(near, motions, k, dx, dy, dz):
    """Does (dx, dy, dz), the way from ridge k to the cloth, lead over one of its faces? Then that is closer."""
    i, j = near.ends[k, 0], near.ends[k, 1]
    ex, ey, ez = motions[j, 0] - motions[i, 0], motions[j, 1] - motions[i, 1], motions[j, 2] - motions[i, 2]
    length = ex * ex + ey * ey + ez * ez
    for side in range(2):
        o = near.beside[k, side]
        fx, fy, fz = motions[o, 0] - motions[i, 0], motions[o, 1] - motions[i, 1], motions[o, 2] - motions[i, 2]
        along = (fx * ex + fy * ey + fz * ez) / length if length > 0.0 else 0.0
        fx, fy, fz = fx - along * ex, fy - along * ey, fz - along * ez
        over = fx * dx + fy * dy + fz * dz
        if over > 0.0 and over * over > OVER_FACE * (fx * fx + fy * fy + fz * fz) * (dx * dx + dy * dy + dz * dz):
            return True
    return False


@inner
def _closing(motions, i, x_prev, x, a, b, c):
    """How far vertex i of a body and triangle abc of cloth come against each other in the substep."""
    gx = motions[i, MOTION] - (x[a, 0] + x[b, 0] + x[c, 0] - x_prev[a, 0] - x_prev[b, 0] - x_prev[c, 0]) / 3.0
    gy = motions[i, MOTION + 1] - (x[a, 1] + x[b, 1] + x[c, 1] - x_prev[a, 1] - x_prev[b, 1] - x_prev[c, 1]) / 3.0
    gz = motions[i, MOTION + 2] - (x[a, 2] + x[b, 2] + x[c, 2] - x_prev[a, 2] - x_prev[b, 2] - x_prev[c, 2]) / 3.0
    return math.sqrt(gx * gx + gy * gy + gz * gz)


@inner
def _closest(x, a, b, c, px, py, pz, qx, qy, qz, is_tip):
    """The point of triangle abc of cloth that is closest to p, or on an edge of it to segment pq: three weights and
    the way there from p or the segment.
    """
    wa, wb, wc, _ = closest_on_triangle(
        px, py, pz, x[a, 0], x[a, 1], x[a, 2], x[b, 0], x[b, 1], x[b, 2], x[c, 0], x[c, 1], x[c, 2]
    )
    dx = wa * x[a, 0] + wb * x[b, 0] + wc * x[c, 0] - px
    dy = wa * x[a, 1] + wb * x[b, 1] + wc * x[c, 1] - py
    dz = wa * x[a, 2] + wb * x[b, 2] + wc * x[c, 2] - pz
    if is_tip:
        return wa, wb, wc, dx, dy, dz
    for side in range(3):
        i, j = (a, b) if side == 0 else (b, c) if side == 1 else (c, a)
        s, r = closest_on_segments(px, py, pz, qx, qy, qz, x[i, 0], x[i, 1], x[i, 2], x[j, 0], x[j, 1], x[j, 2])
        ox = x[i, 0] + r * (x[j, 0] - x[i, 0]) - px - s * (qx - px)
        oy = x[i, 1] + r * (x[j, 1] - x[i, 1]) - py - s * (qy - py)
        oz = x[i, 2] + r * (x[j, 2] - x[i, 2]) - pz - s * (qz - pz)
        if ox * ox + oy * oy + oz * oz < dx * dx + dy * dy + dz * dz:
            dx, dy, dz = ox, oy, oz
            wa = 1.0 - r if side == 0 else r if side == 2 else 0.0
            wb = 1.0 - r if side == 1 else r if side == 0 else 0.0
            wc = 1.0 - r if side == 2 else r if side == 1 else 0.0
    return wa, wb, wc, dx, dy, dz


@njit
def place_feature_samples(first, last, near, motions, triangles, x_prev, x, reach, samples, contacts, fixed):
    """Put the samples of ridges first..last where the cloth is closest to them at the substep's start, when it has not
    gone through them yet, so that they are looked at.

    motions (m, 6) of the bodies; triangles, x_prev, x (n, 3) [m] of the cloth; `fixed`: the first of these samples. The triangle
    that was closest last time is asked first, how far it is, for few others are as near: 20 flops of each of these, 300 of one that
    is. # outputs: of `samples` parents, weight; of `contacts` count; of `near` last
    """
    parents, weight = samples.parents, samples.weight
    for k in range(first, last):
        s, i, nearest = fixed + near.rows[k], near.ends[k, 0], math.inf
        px, py, pz, qx, qy, qz = _ends(near, motions, k)
        for entry in range(near.start[k] - 1, near.start[k + 1]):
            is_bound = entry < near.start[k]
            if is_bound and near.last[k] < 0:
                continue
            t = near.triangles[near.last[k] if is_bound else entry]
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            if nearest < math.inf and _is_apart(x_prev, a, b, c, px, py, pz, qx, qy, qz, nearest):
                continue
            gap = min(nearest, reach + _closing(motions, i, x_prev, x, a, b, c))
            if _is_apart(x_prev, a, b, c, px, py, pz, qx, qy, qz, gap):
                continue
            wa, wb, wc, dx, dy, dz = _closest(x_prev, a, b, c, px, py, pz, qx, qy, qz, near.ends[k, 1] == i)
            distance = math.sqrt(dx * dx + dy * dy + dz * dz)
            if distance >= gap:
                continue
            if is_bound:  # a little more, so that the first of those that are as near is found, this one too
                nearest = distance * JUST_MORE + TINY
                continue
            nearest, near.last[k] = distance, entry
            if _is_beside(near, motions, k, dx, dy, dz):
                contacts.count[len(x) + s], weight[s, 0] = 0, NOWHERE
                continue
            parents[s, 0], parents[s, 1], parents[s, 2] = a, b, c
            weight[s, 0], weight[s, 1], weight[s, 2] = wa, wb, wc
            contacts.count[len(x) + s] = 1


@inner
def _copy(contacts, i, p):
    """Particle i touches what point p does."""
    normal, velocity = contacts.normal, contacts.velocity
    nx, ny, nz = normal[p, 0, 0], normal[p, 0, 1], normal[p, 0, 2]
    vx, vy, vz = velocity[p, 0, 0], velocity[p, 0, 1], velocity[p, 0, 2]
    material = contacts.rebound[p, 0], contacts.viscosity[p, 0], contacts.friction[p, 0]
    note(contacts, i, 0, nx, ny, nz, vx, vy, vz, *material)
    share = contacts.share
    note_place(contacts, i, 0, contacts.triangle[p, 0], share[p, 0, 0], share[p, 0, 1], share[p, 0, 2])


@inner
def _is_held_up(samples, contacts, s):
    """Was a corner of the sample held up in the solve?"""
    for corner in range(3):
        if samples.weight[s, corner] > 0.0 and contacts.sunk[samples.parents[s, corner]] > 0.0:
            return True
    return False


@inner
def _go_on(samples, contacts, s):
    """What was held up goes on to touch, until it is found that the body would have to pull (`constraints`)."""
    for corner in range(3):
        i, w = samples.parents[s, corner], samples.weight[s, corner]
        if samples.weight[s, 0] >= 0.0 and w > 0.0 and contacts.sunk[i] > 0.0 and contacts.count[i] == 0:
            contacts.count[i] = 1


@njit
def find_wishes(samples, contacts, fixed, x, rows, aims, wishes):
    """List the samples of ridges, of which `fixed` is the first, that touch or may go on to; returns how many they are. 20 bytes of
    one that is nowhere. # outputs: rows (k,) counted from `fixed`; by row aims (k, 3) [m], where they want to be; in the order of
    rows wishes (k,) [m2], the squares of the ways there
    """
    parents, weight, push, count = samples.parents, samples.weight, contacts.push, 0
    for row in range(len(rows)):
        s = fixed + row
        if weight[s, 0] < 0.0 or not (contacts.count[len(x) + s] > 0 or _is_held_up(samples, contacts, s)):
            continue
        a, b, c, wa, wb, wc = parents[s, 0], parents[s, 1], parents[s, 2], weight[s, 0], weight[s, 1], weight[s, 2]
        for axis in range(3):
            aims[row, axis] = push[s, axis] + (wa * x[a, axis] + wb * x[b, axis] + wc * x[c, axis])
        rows[count] = row
        wishes[count] = push[s, 0] * push[s, 0] + push[s, 2] * push[s, 2] + push[s, 1] * push[s, 1]
        count += 1
    return count


@njit
def gather_feature_samples(order, inv_mass, samples, contacts, fixed, aims, x):
    """Move the corners of each triangle that a ridge wants elsewhere, one ridge after the other, the deepest first
    (`order`): the samples get to their `aims` (k, 3) [m] as far as others before have not brought them there, by what
    they want at most. The corners touch what the first of their samples does.

    `fixed`: the first of these samples. # outputs: x (n, 3); of `contacts` what particles touch
    """
    parents, weight, push, touched, normal = (
        samples.parents,
        samples.weight,
        contacts.push,
        contacts.count,
        contacts.normal,
    )
    for row in order:
        s = fixed + row
        p = len(x) + s
        if touched[p] <= 0:
            _go_on(samples, contacts, s)
            continue
        dx, dy, dz, total, largest = aims[row, 0], aims[row, 1], aims[row, 2], 0.0, 0.0
        for corner in range(3):
            i, w = parents[s, corner], weight[s, corner]
            dx, dy, dz = dx - w * x[i, 0], dy - w * x[i, 1], dz - w * x[i, 2]
            if inv_mass[i] > 0.0:
                total, largest = total + w * w, max(largest, w)
        # beside a pinned edge the corner that is free may have next to no share
        total = max(total, largest / RIDGE_LEVER)
        along = dx * normal[p, 0, 0] + dy * normal[p, 0, 1] + dz * normal[p, 0, 2]
        most = push[s, 0] ** 2 + push[s, 1] ** 2 + push[s, 2] ** 2
        if total == 0.0 or most == 0.0 or along <= 0.0:
            continue
        # others may have taken it elsewhere: no farther than it wanted to go
        total /= min(math.sqrt(most / (dx * dx + dy * dy + dz * dz)), 1.0)
        for corner in range(3):
            i, share = parents[s, corner], weight[s, corner] / total
            if inv_mass[i] > 0.0 and share > 0.0:
                x[i, 0], x[i, 1], x[i, 2] = x[i, 0] + share * dx, x[i, 1] + share * dy, x[i, 2] + share * dz
                if touched[i] <= 0:
                    touched[i] = 1
                    _copy(contacts, i, p)
