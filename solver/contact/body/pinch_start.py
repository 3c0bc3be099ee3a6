# SPDX-License-Identifier: GPL-3.0-or-later
"""Between which two surfaces is a particle when a frame begins? Without the image: deep in, all triangles that a particle
remembers may be on one side.

What was pinched when a frame ended must be so when the next begins, between the same surfaces, and nothing but positions
is there to tell. Inside twice, it is between the nearest triangle and the nearest that faces against it. Inside once, it
is if something else is so near outside that there is no room. Outside of both it is
between the nearest and the nearest that faces that, if these leave no room: half of what is pinched lies so, and whoever forgot
it would let the cloth there snap back once a frame.
"""

import math
from typing import NamedTuple

import numpy as np

from ...broad_phase.patches import Patches
from ...geometry.distance import closest_on_triangle
from ...geometry.moving_triangle import MOTION
from ...kernel.jit import inner, njit
from ...kernel.threads import cut, on_threads
from .association import HERE, make_scratch
from .contacts import OUTSIDE, PINCHED
from .mesh import Bodies
from .pinch import OPPOSED_COSINE, meet

PARTICLES_AT_ONCE = 32  # that look at the same patches
SMALLEST_GRIP_PART = 32  # times so many: fewer are done before another thread wakes up
ANY_BODY = np.int64(-1)  # instead of the number of a closed body
NO_WAY = (0.0, 0.0, 0.0)  # instead of a normal: wherever triangles look


class Blocks(NamedTuple):
    """Triangles of bodies, neighbours together, as `broad_phase.patches` has them."""

    triangles: np.ndarray  # (t,) their numbers, block after block
    start: np.ndarray  # (b + 1,) first of each block
    boxes: np.ndarray  # (b, 6) [m] round them


class Scratch(NamedTuple):
    """Room for `_grip_kernel`."""

    at: np.ndarray  # as in `association.Scratch`
    every: np.ndarray  # (b,) all blocks
    near: np.ndarray  # (b,) blocks near a run of particles
    box: np.ndarray  # (6,) [m] of these


@inner
def _away(boxes, block, x, y, z):
    """Square of the distance [m2] of a point from a box."""
    dx = max(boxes[block, 0] - x, x - boxes[block, 3], 0.0)
    dy = max(boxes[block, 1] - y, y - boxes[block, 4], 0.0)
    dz = max(boxes[block, 2] - z, z - boxes[block, 5], 0.0)
    return dx * dx + dy * dy + dz * dz


@njit
def _cover(triangles, motions, blocks):
    """Boxes of blocks of triangles. # outputs: boxes of blocks"""
    boxes = blocks.boxes
    for block in range(len(boxes)):
        for axis in range(3):
            boxes[block, axis], boxes[block, axis + 3] = math.inf, -math.inf
        for slot in range(blocks.start[block], blocks.start[block + 1]):
            t = blocks.triangles[slot]
            for corner in range(3):
                for axis in range(3):
                    at = motions[triangles[t, corner], axis]
                    boxes[block, axis] = min(boxes[block, axis], at)
                    boxes[block, axis + 3] = max(boxes[block, axis + 3], at)


@inner
def _faces_against(motions, a, b, c, x, y, z, nx, ny, nz):
    """Is a point behind triangle abc, which looks against the direction n?"""
    ux, uy, uz = motions[b, 0] - motions[a, 0], motions[b, 1] - motions[a, 1], motions[b, 2] - motions[a, 2]
    vx, vy, vz = motions[c, 0] - motions[a, 0], motions[c, 1] - motions[a, 1], motions[c, 2] - motions[a, 2]
    ox, oy, oz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    height = ox * (x - motions[a, 0]) + oy * (y - motions[a, 1]) + oz * (z - motions[a, 2])
    return ox * nx + oy * ny + oz * nz < 0.0 and height < 0.0


@inner
def _is_over(motions, a, b, c, x, y, z, nx, ny, nz):
    """Is a point in front of triangle abc, which does not look the way of n?"""
    ux, uy, uz = motions[b, 0] - motions[a, 0], motions[b, 1] - motions[a, 1], motions[b, 2] - motions[a, 2]
    vx, vy, vz = motions[c, 0] - motions[a, 0], motions[c, 1] - motions[a, 1], motions[c, 2] - motions[a, 2]
    ox, oy, oz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    height = ox * (x - motions[a, 0]) + oy * (y - motions[a, 1]) + oz * (z - motions[a, 2])
    along = ox * nx + oy * ny + oz * nz
    return height >= 0.0 and along < OPPOSED_COSINE * math.sqrt(ox * ox + oy * oy + oz * oz)


@inner
def _nearest(bodies, blocks, asked, g, where, n, other, is_outside, most):
    """The triangle of closed bodies that is nearest to a point of garment g, the first of those that are as near, and the way from
    it to the point: of those in the blocks `asked` for that face against n, unless that is 0, or that it is over if it `is_outside`,
    no farther than `most` [m], not of the closed body number `other`; or -1.
    """
    triangles, motions, solid = bodies.triangles, bodies.motions, bodies.solid
    found, least, wx, wy, wz = np.int64(-1), most * most, 0.0, 0.0, 0.0
    (x, y, z), (nx, ny, nz) = where, n
    against = nx != 0.0 or ny != 0.0 or nz != 0.0
    for block in asked:
        if _away(blocks.boxes, block, x, y, z) > least:
            continue
        for slot in range(blocks.start[block], blocks.start[block + 1]):
            t = np.int64(blocks.triangles[slot])
            if solid[t] == 0 or solid[t] == other or not bodies.meets[bodies.collider[t], g]:
                continue
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            if against and is_outside and not _is_over(motions, a, b, c, x, y, z, nx, ny, nz):
                continue
            if against and not is_outside and not _faces_against(motions, a, b, c, x, y, z, nx, ny, nz):
                continue
            wa, wb, wc, _ = closest_on_triangle(
                x, y, z, motions[a, 0], motions[a, 1], motions[a, 2], motions[b, 0], motions[b, 1], motions[b, 2],
                motions[c, 0], motions[c, 1], motions[c, 2],
            )  # fmt: skip
            dx = x - wa * motions[a, 0] - wb * motions[b, 0] - wc * motions[c, 0]
            dy = y - wa * motions[a, 1] - wb * motions[b, 1] - wc * motions[c, 1]
            dz = z - wa * motions[a, 2] - wb * motions[b, 2] - wc * motions[c, 2]
            square = dx * dx + dy * dy + dz * dz
            if square < least or (square == least and t < found):
                found, least, wx, wy, wz = t, square, dx, dy, dz
    return found, wx, wy, wz


@inner
def _between_from_outside(bodies, blocks, asked, g, aura, where):
    """Two triangles within an aura of a point that is outside of closed bodies, which face each other over it; or -1 twice."""
    about = bodies, blocks, asked, g, where
    first, wx, wy, wz = _nearest(*about, NO_WAY, ANY_BODY, True, aura)
    size = math.sqrt(wx * wx + wy * wy + wz * wz)
    if first < 0 or size == 0.0:
        return np.int64(-1), np.int64(-1)
    second, _, _, _ = _nearest(*about, (wx / size, wy / size, wz / size), ANY_BODY, True, aura)
    return (first, second) if second >= 0 else (np.int64(-1), np.int64(-1))


@inner
def _between_from_inside(bodies, blocks, asked, g, is_twice, where):
    """Two triangles that a point may be between that is in a closed body, or `is_twice`; or -1, or -1 twice."""
    about = bodies, blocks, asked, g, where
    first, wx, wy, wz = _nearest(*about, NO_WAY, ANY_BODY, False, math.inf)
    second, size = np.int64(-1), math.sqrt(wx * wx + wy * wy + wz * wz)
    if first >= 0 and is_twice and size > 0.0:
        n = -wx / size, -wy / size, -wz / size
        second, _, _, _ = _nearest(*about, n, ANY_BODY, False, math.inf)
    if first >= 0 and second < 0:
        other = np.int64(bodies.solid[first])
        second, _, _, _ = _nearest(*about, NO_WAY, other, False, math.inf)
    return first, second


@inner
def _near_run(boxes, reach, x, place, first, last, box, near):
    """List the blocks no farther than `reach` [m] from the box of those of the particles first..last that are OUTSIDE; returns how
    many they are. # outputs: box (6,) [m], near
    """
    for axis in range(3):
        box[axis], box[axis + 3] = math.inf, -math.inf
        for p in range(first, last):
            if place[p] == OUTSIDE:
                box[axis], box[axis + 3] = min(box[axis], x[p, axis]), max(box[axis + 3], x[p, axis])
    count = 0
    for block in range(len(boxes)):
        is_near = True
        for axis in range(3):
            is_near &= (boxes[block, axis + 3] >= box[axis] - reach) & (boxes[block, axis] <= box[axis + 3] + reach)
        near[count] = block
        count += is_near
    return count


@njit
def _grip_kernel(begin, end, bodies, blocks, aura, garment, x, place, grip, scratch):
    """See `find_grips`; of particles begin..end, from a run's first on. 10 flops a run of particles and block, 200 a triangle of those nearby."""
    at, count = scratch.at, 0
    for p in range(begin, end):
        if p % PARTICLES_AT_ONCE == 0:
            count = _near_run(
                blocks.boxes, aura, x, place, p, min(p + PARTICLES_AT_ONCE, len(x)), scratch.box, scratch.near
            )
        where = x[p, 0], x[p, 1], x[p, 2]
        if place[p] < OUTSIDE or (place[p] == OUTSIDE and count == 0):
            continue
        at[HERE, 0], at[HERE, 1], at[HERE, 2] = where
        if place[p] == OUTSIDE:
            first, second = _between_from_outside(bodies, blocks, scratch.near[:count], garment[p], aura, where)
        else:
            is_twice = place[p] == PINCHED
            first, second = _between_from_inside(bodies, blocks, scratch.every, garment[p], is_twice, where)
        if second >= 0 and (place[p] == PINCHED or meet(bodies, at, first, second)):
            grip[p, 0], grip[p, 1], place[p] = first, second, PINCHED


def find_grips(
    bodies: Bodies, patches: Patches, start: np.ndarray, garment: np.ndarray, x: np.ndarray, place: np.ndarray, grip
):
    """For each particle at x (n, 3) [m], by its `place` (n,), the two triangles of closed bodies that it is between, if it is.

    patches : of the bodies' triangles; start : (m, 3) [m] their vertices at the frame's start
    # outputs: grip (n, 2); place, PINCHED where there is no room
    """
    every, motions = np.arange(len(patches.garment)), np.zeros((len(start), 6))
    motions[:, :MOTION] = start
    blocks = Blocks(patches.triangles, patches.start, np.empty((len(every), 6)))
    _cover(bodies.triangles, motions, blocks)
    about = bodies._replace(motions=motions), blocks, float(bodies.aura.max()), garment, x, place, grip

    def part(_, first, last):
        scratch = Scratch(make_scratch(0).at, every, every.copy(), np.empty(6))
        _grip_kernel(PARTICLES_AT_ONCE * first, min(PARTICLES_AT_ONCE * last, len(x)), *about, scratch)

    on_threads(part, cut(-(-len(x) // PARTICLES_AT_ONCE), SMALLEST_GRIP_PART))
