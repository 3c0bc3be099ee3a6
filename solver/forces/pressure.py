# SPDX-License-Identifier: GPL-3.0-or-later
"""Pressure inside a closed garment: a force p N on every triangle, N its area times its normal, a third to each corner.

That is p times the gradient of the enclosed volume V = 1/3 sum of x . N (divergence theorem): on a closed mesh it has
neither a resultant nor a moment. A garment with a target volume holds a gas that is at ease in it, at the outer
pressure P: p = P (V0 / V - 1) (Boyle); where P is below 0 there is no such gas, and p is P. A gas may be far stiffer than
the cloth around it, so p is implicit in what its own change does to the volume in the substep,
V' = V + dt dV/dt + dt^2 |grad V|^2_w (p' - p): the p of a cloth at rest is exact. The springs do not know of it: a gas that is stiffer than the cloth by far (20 kPa in a ball of 1,300 N/m)
still shakes it to pieces.

The force goes into the solve, where the springs are, and not into the prediction: light cloth that 1000 Pa press for
a substep would be predicted 10 cm away, and what holds it would have to be found from there.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..kernel.jit import njit

FLATTEST_INSIDE = 1e-6  # volume over area^1.5 below which a garment has no inside


class Inside(NamedTuple):
    """A garment under pressure during a frame."""

    particles: tuple[int, int]  # first, and the one after the last
    triangles: tuple[int, int]
    outwards: float  # 1.0, or -1.0 where the normals point inwards
    pressure: float  # [Pa]
    target: float  # [m3] volume at which a gas is at ease, 0 for none
    gas: np.ndarray  # (1,) [Pa] pressure of the substep before
    closed: bool
    slope: np.ndarray  # (n, 3) [m2] gradient of the volume
    pull: np.ndarray  # (n, 3) [N] force on its particles; both of this garment's particles alone


def find_insides(cloth, pressure, volume, x):
    """`Inside`s of a frame that starts at x; pressure [Pa] and volume [m3] have a number for each garment."""
    owner, found = cloth.garment[cloth.triangles[:, 0]], []
    for g, (p, target) in enumerate(zip(pressure, volume, strict=True)):
        if p == 0.0:
            continue
        target = target if p > 0.0 else 0.0  # a gas is pressed together, and never drawn apart
        first, last = (int(end) for end in np.searchsorted(owner, (g, g + 1)))
        size, area = enclosed(cloth.pattern.x, cloth.pattern.triangles, first, last)
        outwards = -1.0 if size < -FLATTEST_INSIDE * area**1.5 else 1.0
        now = outwards * enclosed(x, cloth.triangles, first, last)[0]
        gas = np.array([p * (target / now - 1.0) if target > 0.0 and now > 0.0 else 0.0])
        particles = int(cloth.garment_start[g]), int(cloth.garment_start[g + 1])
        closed = is_closed(cloth.triangles[first:last])
        room = (np.zeros((particles[1] - particles[0], 3)) for _ in range(2))
        found.append(Inside(particles, (first, last), outwards, float(p), float(target), gas, closed, *room))
    return found


def is_closed(triangles):
    """Whether every edge has two faces that go round it in opposite directions; (t, 3)."""
    sides = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2).astype(np.int64)
    count = int(triangles.max(initial=0)) + 1
    there, back = (np.sort(sides[:, a] * count + sides[:, 1 - a]) for a in (0, 1))
    return bool(np.array_equal(there, back) and (np.diff(there) > 0).all())


def inflate(inside, cloth, x, v, dt):
    """Fill `inside.pull` for a substep of dt."""
    inside.gas[0] = blow_up(x, v, cloth.inv_mass, cloth.triangles, inside, dt)


@njit
def enclosed(x, triangles, first, last):
    """Volume [m3] that triangles first to last enclose, and their area [m2]; about 40 flops each."""
    volume, area = 0.0, 0.0
    o = triangles[first, 0]
    for t in range(first, last):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        px, py, pz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        qx, qy, qz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        nx, ny, nz = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx
        volume += nx * (x[a, 0] - x[o, 0]) + ny * (x[a, 1] - x[o, 1]) + nz * (x[a, 2] - x[o, 2])
        area += sqrt(nx * nx + ny * ny + nz * nz)
    return volume / 6.0, 0.5 * area


@njit
def blow_up(x, v, inv_mass, triangles, inside, dt):
    """Forces `inside.pull` of the pressure [Pa], which is returned; about 60 flops a triangle.

    Row k of slope and pull belongs to the garment's particle k. # outputs: inside.slope, inside.pull
    """
    (start, _), (first, last) = inside.particles, inside.triangles
    pressure, before, target, slope, pull = inside.pressure, inside.gas[0], inside.target, inside.slope, inside.pull
    volume, sixth = 0.0, inside.outwards / 6.0
    slope[:] = 0.0
    for t in range(first, last):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        px, py, pz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        qx, qy, qz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        nx, ny, nz = sixth * (py * qz - pz * qy), sixth * (pz * qx - px * qz), sixth * (px * qy - py * qx)
        volume += nx * (x[a, 0] - x[start, 0]) + ny * (x[a, 1] - x[start, 1]) + nz * (x[a, 2] - x[start, 2])
        for corner in range(3):
            k = triangles[t, corner] - start
            slope[k, 0], slope[k, 1], slope[k, 2] = slope[k, 0] + nx, slope[k, 1] + ny, slope[k, 2] + nz
    if target > 0.0:
        give = 0.0
        for k in range(slope.shape[0]):
            sx, sy, sz = slope[k, 0], slope[k, 1], slope[k, 2]
            give += inv_mass[start + k] * (sx * sx + sy * sy + sz * sz)
            volume += dt * (sx * v[start + k, 0] + sy * v[start + k, 1] + sz * v[start + k, 2])
        # p = pressure (target / (volume + give (p - before)) - 1): the root at which the volume is positive
        give *= dt * dt
        least = volume - give * before
        linear = least + give * pressure
        root = sqrt((least - give * pressure) ** 2 + 4.0 * give * pressure * target)
        constant = pressure * (least - target)
        pressure = -2.0 * constant / (linear + root) if linear > 0.0 else 0.5 * (root - linear) / give
    for k in range(slope.shape[0]):
        for axis in range(3):
            pull[k, axis] = pressure * slope[k, axis]
    return pressure
