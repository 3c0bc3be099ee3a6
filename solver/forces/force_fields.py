# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields: what each kind does to a piece of cloth at x that moves with v.

A field is a pressure in any direction: q - c v [Pa], force per area of cloth; q depends on the place, c [Pa s/m]
resists motion. With r from the nearest point of the field's shape to x, d = |r|, a its axis, S its strength and f
its falloff:

    WIND        q = S f a                       MAGNET      q = S f v x (a x r) / |a x r|, or v x a off a PLANE
    FORCE       q = S f r / d (over d^2 if it falls with the square)
    VORTEX      POINT: q = S f d (a x r) / |a x r|; else towards the velocity w = S f a x r: q = w + S f a x w, c = 1
    HARMONIC    q = -S f r (1 - rest length / d), c = 2 damping sqrt(|S|)
    TURBULENCE  q = S f (three numbers of noise in [-1, 1])
    DRAG        c = f (S |v| + damping)

and c grows by f times the flow, save for HARMONIC and DRAG. Falloff: (1 + d - least)^-power between the least and
most distance; TUBE and CONE fall along the axis so, and across it by the distance or the angle from it.

These are the kinds and formulas of Blender's fields, read from its behaviour and its sources (effect.cc), and tested
against it. There, a strength of 1 gives a particle of 1 kg 1 m/s2. Blender's own cloth feels fps/50 Pa of it, and a
gravity of (fps / 31.6)^2 of the real one. Here it is 1 Pa whatever the frame rate, and a wind of strength S and flow 1
drives cloth towards S m/s.
"""

from math import acos, degrees, sqrt
from typing import NamedTuple

import numpy as np

from ..kernel.jit import fused, inner, njit
from .random import mix, unit
from .turbulence import GRADIENT_ORDER, turbulence

FORCE, WIND, VORTEX, MAGNET, HARMONIC, TURBULENCE, DRAG = range(7)
KINDS = ("FORCE", "WIND", "VORTEX", "MAGNET", "HARMONIC", "TURBULENCE", "DRAG")
TO_POINT, TO_LINE, TO_PLANE = range(3)
SHAPES = ("POINT", "LINE", "PLANE")
SPHERE, TUBE, CONE = range(3)
FALLOFFS = ("SPHERE", "TUBE", "CONE")
LARGEST_DRAG = 2.0  # [Pa s/m] and [Pa s2/m2]: Blender's bound of both numbers of DRAG
# columns of what a field is
KIND, SHAPE, FALLOFF, SIDE, INVERSE_SQUARE, IN_WORLD, SEED = range(7)
# columns of the numbers of a field, in the order of `FieldNumbers`; centre and axis have three each
CENTRE, AXIS, STRENGTH, FLOW, WIND_FACTOR, DAMPING, SIZE, REST_LENGTH, NOISE, POWER, RADIAL = (
    0, 3, 6, 7, 8, 9, 10, 11, 12, 13, 16,
)  # fmt: skip
LEAST_DISTANCE, MOST_DISTANCE = 1, 2  # of a falloff, behind the column of its power
RESISTANCE = 3  # column of c, behind q


class Packed(NamedTuple):
    """The fields of a frame as arrays, and room for what they do."""

    code: np.ndarray  # (f, 7) int64, columns KIND and so on
    unit: np.ndarray  # (f,) [m]
    start: np.ndarray  # (f, 19)
    end: np.ndarray  # (f, 19)
    weight: np.ndarray  # (g,)
    table: np.ndarray  # (256,) of the noise
    push: np.ndarray  # (n, 4) q [Pa] and c [Pa s/m] in any direction
    normal_push: np.ndarray  # (n, 4) those along the normal alone


class _Place(NamedTuple):
    """Where a particle is for a field."""

    axis: tuple[float, float, float]  # length 1
    r: tuple[float, float, float]  # from the nearest point of the field's shape
    o: tuple[float, float, float]  # from its centre
    w: tuple[float, float, float]  # where turbulence looks for its pattern
    distance: float  # |r|


def pack(fields, weight, cloth, table=None):
    """`Packed` of `Field`s; ValueError for a kind, shape or falloff that is none."""
    code = np.zeros((len(fields), 7), np.int64)
    for row, field in zip(code, fields, strict=True):
        for column, (value, known) in enumerate(
            ((field.kind, KINDS), (field.shape, SHAPES), (field.falloff, FALLOFFS))
        ):
            if value not in known:
                raise ValueError(f"'{field.name}': {value} is no force field that cloth feels; use {', '.join(known)}.")
            row[column] = known.index(value)
        row[SIDE:] = field.side, field.inverse_square, field.in_world, field.seed
    start, end = (
        np.array([np.hstack(moment) for moment in moments], float)
        for moments in ([field.start for field in fields], [field.end for field in fields])
    )
    weight = np.ones(len(cloth.meets)) if weight is None else np.array(weight, float)
    unit = np.array([field.unit for field in fields])
    table = np.array(GRADIENT_ORDER if table is None else table, np.int64)
    return Packed(code, unit, start, end, weight, table, *np.zeros((2, len(cloth.mass), 4)))


def evaluate(packed, cloth, x, v, frame, t):
    """Fill `packed.push` for particles at x [m] with velocities v [m/s]; t in [0, 1] is the time in the frame."""
    number = packed.start + t * (packed.end - packed.start)
    packed.push[:] = 0.0
    packed.normal_push[:] = 0.0
    sense(x, v, cloth.origin, cloth.garment, packed, number, frame)


@inner
def _fall(distance, number, f, power):
    """Falloff at a distance (or angle); `power` is the column that it begins with."""
    least, most = number[f, power + LEAST_DISTANCE], number[f, power + MOST_DISTANCE]
    if most >= 0.0 and distance > most:
        return 0.0
    if number[f, power] == 0.0 or distance < least:
        return 1.0
    return (1.0 + distance - least) ** -number[f, power]


@inner
def _falloff(kind, side, number, f, along, distance, from_centre, square):
    """Falloff at a point `along` the axis from the centre, `distance` from the shape; square is |r|^2 from the centre."""
    if along * side < 0.0:
        return 0.0
    if kind == SPHERE:
        return _fall(distance, number, f, POWER)
    fall = _fall(abs(along), number, f, POWER)
    if fall == 0.0:
        return 0.0
    if kind == TUBE:
        return fall * _fall(sqrt(max(square - along * along, 0.0)), number, f, RADIAL)
    cosine = along / from_centre if from_centre > 0.0 else 1.0
    return fall * _fall(degrees(acos(min(max(cosine, -1.0), 1.0))), number, f, RADIAL)


@inner
def _turn(strength, ax, ay, az, rx, ry, rz):
    """`strength` times the unit vector along a x r; zero on the axis."""
    x, y, z = ay * rz - az * ry, az * rx - ax * rz, ax * ry - ay * rx
    length = sqrt(x * x + y * y + z * z)
    scale = strength / length if length > 0.0 else 0.0
    return scale * x, scale * y, scale * z


@inner
def _act(packed, number, f, s, damping, fall, place, v):
    """(q, c) of one field on one particle at a place with the velocity v: s is its strength times the falloff."""
    kind, distance = packed.code[f, KIND], place.distance
    (ax, ay, az), (rx, ry, rz) = place.axis, place.r
    if kind == WIND:
        return s * ax, s * ay, s * az, 0.0
    if kind == FORCE:
        scale = s / distance if distance > 0.0 else 0.0
        if packed.code[f, INVERSE_SQUARE] != 0 and distance > 0.0:
            scale /= distance * distance
        return scale * rx, scale * ry, scale * rz, 0.0
    if kind == VORTEX:
        if packed.code[f, SHAPE] == TO_POINT:
            qx, qy, qz = _turn(s * distance, ax, ay, az, rx, ry, rz)
            return qx, qy, qz, 0.0
        ox, oy, oz = place.o
        tx, ty, tz = s * (ay * oz - az * oy), s * (az * ox - ax * oz), s * (ax * oy - ay * ox)
        return tx + s * (ay * tz - az * ty), ty + s * (az * tx - ax * tz), tz + s * (ax * ty - ay * tx), 1.0
    if kind == MAGNET:
        bx, by, bz = s * ax, s * ay, s * az
        if packed.code[f, SHAPE] != TO_PLANE:
            bx, by, bz = _turn(s, ax, ay, az, rx, ry, rz)
        vx, vy, vz = v
        return vy * bz - vz * by, vz * bx - vx * bz, vx * by - vy * bx, 0.0
    if kind == HARMONIC:
        rest = number[f, REST_LENGTH]
        scale = -s * (1.0 - rest / distance) if distance > 0.0 else 0.0
        return scale * rx, scale * ry, scale * rz, max(2.0 * damping * sqrt(abs(s / fall)), 0.0)
    if kind == TURBULENCE:
        size, table, (wx, wy, wz) = number[f, SIZE], packed.table, place.w
        first, second = turbulence(table, size, wx, wy, wz), turbulence(table, size, wy, wz, wx)
        return s * first, s * second, s * turbulence(table, size, wz, wx, wy), 0.0
    vx, vy, vz = v
    speed = sqrt(vx * vx + vy * vy + vz * vz)
    return 0.0, 0.0, 0.0, max(fall * (min(s / fall, LARGEST_DRAG) * speed + min(damping, LARGEST_DRAG)), 0.0)


@njit
def sense(x, v, origin, garment, packed, number, frame):
    """Add what every field does to particles to `packed.push` and `packed.normal_push`.

    number (f, 19) : the fields' numbers now. About 60 flops a field and particle; TURBULENCE 900.
    """
    code, push, normal_push = packed.code, packed.push, packed.normal_push
    for f in range(code.shape[0]):
        length = sqrt(number[f, AXIS] ** 2 + number[f, AXIS + 1] ** 2 + number[f, AXIS + 2] ** 2)
        ax, ay, az = number[f, AXIS] / length, number[f, AXIS + 1] / length, number[f, AXIS + 2] / length
        kind, shape, side = code[f, KIND], code[f, SHAPE], code[f, SIDE]
        per_metre = 1.0 / packed.unit[f]
        noise, normal = number[f, NOISE], min(max(number[f, WIND_FACTOR], 0.0), 1.0)
        chance = mix(mix(mix(np.uint64(0), code[f, SEED]), frame), f)
        for i in range(x.shape[0]):
            share = packed.weight[garment[i]]
            if share == 0.0:
                continue
            wx, wy, wz = x[i, 0] + origin[0], x[i, 1] + origin[1], x[i, 2] + origin[2]
            ox, oy, oz = wx - number[f, CENTRE], wy - number[f, CENTRE + 1], wz - number[f, CENTRE + 2]
            ox, oy, oz = per_metre * ox, per_metre * oy, per_metre * oz
            along, square = ax * ox + ay * oy + az * oz, ox * ox + oy * oy + oz * oz
            rx, ry, rz = ox, oy, oz
            if shape == TO_LINE or (shape == TO_PLANE and kind == VORTEX):
                rx, ry, rz = ox - along * ax, oy - along * ay, oz - along * az
            elif shape == TO_PLANE:
                rx, ry, rz = along * ax, along * ay, along * az
            distance = sqrt(rx * rx + ry * ry + rz * rz)
            fall = _falloff(code[f, FALLOFF], side, number, f, along, distance, sqrt(square), square)
            if fall == 0.0:
                continue
            strength, damping = number[f, STRENGTH], number[f, DAMPING]
            if noise > 0.0:
                extra = noise * (2.0 * unit(mix(chance, i)) - 1.0)
                strength, damping = strength + extra, damping + extra
            if code[f, IN_WORLD] != 0:
                wx, wy, wz = per_metre * wx, per_metre * wy, per_metre * wz
            else:
                wx, wy, wz = ox + ax, oy + ay, oz + az  # as Blender: seen from one unit behind the centre
            place = _Place((ax, ay, az), (rx, ry, rz), (ox, oy, oz), (wx, wy, wz), distance)
            velocity = v[i, 0], v[i, 1], v[i, 2]
            qx, qy, qz, c = _act(packed, number, f, strength * fall, damping, fall, place, velocity)
            if kind != HARMONIC and kind != DRAG:
                c += max(number[f, FLOW], 0.0) * fall
            _add(push, i, share * (1.0 - normal), qx, qy, qz, c)
            _add(normal_push, i, share * normal, qx, qy, qz, c)


@inner
def _add(push, i, share, qx, qy, qz, c):
    push[i, 0], push[i, 1] = push[i, 0] + share * qx, push[i, 1] + share * qy
    push[i, 2], push[i, RESISTANCE] = push[i, 2] + share * qz, push[i, RESISTANCE] + share * c


@fused
def press(x, v, inv_mass, triangles, push, normal_push, dt):
    """Change velocities by dt of the pressures `push` and `normal_push` on every triangle, a third to each corner.

    Implicit in the resistance, triangle by triangle, so that nothing overshoots: about 130 flops each.
    """
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        px, py, pz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        qx, qy, qz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
        nx, ny, nz = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx
        double_area = sqrt(nx * nx + ny * ny + nz * nz)
        if double_area == 0.0:
            continue
        nx, ny, nz = nx / double_area, ny / double_area, nz / double_area
        for corner in range(3):
            i = np.uintp(triangles[t, corner])
            rate = dt * inv_mass[i] * double_area / 6.0
            still = 1.0 / (1.0 + rate * push[i, RESISTANCE])
            ux, uy = still * (v[i, 0] + rate * push[i, 0]), still * (v[i, 1] + rate * push[i, 1])
            uz = still * (v[i, 2] + rate * push[i, 2])
            across = nx * ux + ny * uy + nz * uz
            wanted = across + rate * (nx * normal_push[i, 0] + ny * normal_push[i, 1] + nz * normal_push[i, 2])
            more = wanted / (1.0 + rate * normal_push[i, RESISTANCE]) - across
            v[i, 0], v[i, 1], v[i, 2] = ux + more * nx, uy + more * ny, uz + more * nz
