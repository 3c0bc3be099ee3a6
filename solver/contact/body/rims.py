# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that is drawn over the rim of an open body, as of a plane, stays on its own side of that.

A rim has no inside. What lies round it, one end before and one behind, goes right through it where that is shorter, and is then
beside a face, off which it would be led to either side: the rim's sample (`feature_samples`) knows nothing of what it came through.
Then the guard alone would hold the cloth, and in every substep all of it: it hung on the rim for ever, however hard it was pulled.
So the sample keeps off as from a rod, along the way that led from the rim to it when the substep began; then the solve knows
of the rim, and cloth slips over it.
"""

import math

import numpy as np

from ...geometry.moving_triangle import MOTION
from ...kernel.jit import counted_njit, inner
from .contacts import OUTSIDE, note
from .samples import PART_BETWEEN
from .surface import ON_SURFACE, RECOVERY_SPEED


@inner
def _face_of(bodies, i, j, garment):
    """The face between vertices i and j that the garment meets, or -1."""
    for entry in range(bodies.vertex_start[i], bodies.vertex_start[i + 1]):
        t = bodies.vertex_triangles[entry]
        for corner in range(3):
            if bodies.triangles[t, corner] == j and bodies.meets[bodies.collider[t], garment]:
                return t
    return -1


@inner
def _from_rim(motions, i, j, part, point, part_gone, way):
    """The way from a point on the line through vertices i and j, at a time in parts of the substep, to another point; returns
    its length [m]. # outputs: way (3,)
    """
    size = 0.0
    for axis in range(3):
        start = motions[i, axis] + part_gone * motions[i, MOTION + axis]
        end = motions[j, axis] + part_gone * motions[j, MOTION + axis]
        way[axis] = point[axis] - start - part * (end - start)
        size += way[axis] ** 2
    return math.sqrt(size)


@inner
def _part_along(motions, i, j, share, point):
    """Where on the line from vertex i to j its piece between the two shares is closest to a point at the substep's start."""
    along, length = 0.0, 0.0
    for axis in range(3):
        edge = motions[j, axis] - motions[i, axis]
        along, length = along + edge * (point[axis] - motions[i, axis]), length + edge * edge
    return min(max(along / length if length > 0.0 else 0.0, share[0]), share[1])


@inner
def _keep_off(near, bodies, k, s, t, points, before, after, dt):
    """Keep the sample s of rim k, with this face t, on the side where it began. # outputs: contacts; before, after (3,) scratch"""
    x, x_prev, friction, samples, contacts = points
    motions, collider, i, j = bodies.motions, bodies.collider[t], near.ends[k, 0], near.ends[k, 1]
    here, there = after, before
    for axis in range(3):
        here[axis], there[axis] = 0.0, 0.0
        for corner in range(3):
            v, w = samples.parents[s, corner], samples.weight[s, corner]
            here[axis], there[axis] = here[axis] + w * x[v, axis], there[axis] + w * x_prev[v, axis]
    part = _part_along(motions, i, j, near.share[k], there)
    gap_before = _from_rim(motions, i, j, part, there, 0.0, before)
    if gap_before <= ON_SURFACE:
        return
    _from_rim(motions, i, j, part, here, 1.0, after)
    nx, ny, nz = before[0] / gap_before, before[1] / gap_before, before[2] / gap_before
    gap = nx * after[0] + ny * after[1] + nz * after[2]
    lack = min(PART_BETWEEN * bodies.aura[collider], gap_before + RECOVERY_SPEED * dt) - gap
    if lack <= 0.0:
        return
    contacts.push[s, 0], contacts.push[s, 1], contacts.push[s, 2] = lack * nx, lack * ny, lack * nz
    for axis in range(3):
        goes = motions[i, MOTION + axis]
        after[axis] = (goes + part * (motions[j, MOTION + axis] - goes)) / dt
    mu, p = 0.0, len(x) + s
    for corner in range(3):
        mu += samples.weight[s, corner] * friction[samples.parents[s, corner]]
    rough = math.sqrt(mu * bodies.friction[collider])
    note(contacts, p, 0, nx, ny, nz, after[0], after[1], after[2], 0.0, bodies.viscosity[collider], rough)
    contacts.count[p] = 1


@counted_njit
def keep_off_rims(near, bodies, friction, garment, samples, contacts, fixed, x_prev, x, dt):
    """Take samples of rims, of which some went through or nearly, back to the side where they began.

    near : NearFeatures, placed; friction, garment (n,) of the cloth; `fixed`: the first of these samples; x_prev, x (n, 3) [m]
    where the cloth begins and is; dt [s]. 200 flops of one that is near cloth. # outputs: of `contacts` push and what samples touch
    """
    before, after = np.empty(3), np.empty(3)
    points = x, x_prev, friction, samples, contacts
    for k in range(len(near.ends)):
        s = fixed + near.rows[k]
        if near.beside[k, 0] != near.beside[k, 1] or near.ends[k, 0] == near.ends[k, 1] or samples.weight[s, 0] < 0.0:
            continue
        a, b, c = samples.parents[s, 0], samples.parents[s, 1], samples.parents[s, 2]
        if contacts.place[a] != OUTSIDE or contacts.place[b] != OUTSIDE or contacts.place[c] != OUTSIDE:
            continue
        t = _face_of(bodies, near.ends[k, 0], near.ends[k, 1], garment[a])
        if t >= 0:
            _keep_off(near, bodies, k, s, t, points, before, after, dt)
