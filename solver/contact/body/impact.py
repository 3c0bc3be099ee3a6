# SPDX-License-Identifier: GPL-3.0-or-later
"""How a point leaves a surface that it comes upon fast: with its restitution, and with the friction of the impact; and how hard a
surface that turns pushes what slides on it.

Newton's law of impact along the normal, as in Bigliani and Eischen (2000, eq. 11 to 16), and Coulomb's of the impulse across it.
Positions know an impact by how far it has gone in when a step ends, which hangs on when in the step it fell; so its time is found,
and the normal that the surface had then.
"""

from typing import NamedTuple

from ...geometry.moving_triangle import plane
from ...kernel.jit import inner
from .association import HERE, LATE, THERE, VELOCITY

FACE_COSINE = 0.999999  # between a way out and a triangle's normal from which on it is that of the face
LEAST_TURN = 1e-8  # [m] of push by turning, less than which is rounding


class Times(NamedTuple):
    """A substep, as part of the interval that the image is of."""

    before: float  # tau at its start
    tau: float  # tau at its end
    dt: float  # [s]
    slow: float  # [m/s] against the surface up to which nothing bounces
    gx: float  # [m/s2] of gravity, with the next two
    gy: float
    gz: float
    is_led: bool  # whether the solve stops what comes upon a surface as a frame begins


@inner
def bounce(bodies, at, times, t, lift, sx, sy, sz, nx, ny, nz):
    """How a point leaves triangle t, which goes by s, looks along n and would have to lift it: its speed along the normal against
    that [m/s], how far [m] it is off when the step ends, how far the impact keeps it from going [m], all 0 if it does not bounce,
    and the normal.

    The point flies on a parabola and hits the surface where the lift is what is left of its way. What velocity a flight ends with
    each dynamics tells in its own way (`LATE`), in which it is told here, too. So what loses nothing comes back to its height,
    however long the steps are.
    """
    restitution = bodies.restitution[bodies.collider[t]]
    if not restitution > 0.0:
        return 0.0, 0.0, 0.0, nx, ny, nz
    vx, vy, vz = at[VELOCITY, 0] - sx, at[VELOCITY, 1] - sy, at[VELOCITY, 2] - sz
    speed = -(vx * nx + vy * ny + vz * nz)
    gain = -(times.gx * nx + times.gy * ny + times.gz * nz) * times.dt
    rest = min(lift / (speed * times.dt), 1.0) if speed > 0.0 else 1.0
    impact = speed + (0.5 - rest) * gain
    # a point at rest falls on the surface in each substep: that must not bounce
    if not impact > times.slow:
        return 0.0, 0.0, 0.0, nx, ny, nz
    late = at[LATE, 0] * nx + at[LATE, 1] * ny + at[LATE, 2] * nz
    rise = max(rest * times.dt * (restitution * impact - 0.5 * rest * gain), 0.0)
    nx, ny, nz = _normal_then(bodies, t, rest, nx, ny, nz)
    leaving = restitution * max((0.5 - rest) * gain - (vx * nx + vy * ny + vz * nz), 0.0)
    stopped = (1.0 + restitution) * impact * times.dt
    return max(leaving + (0.5 - rest) * gain + late, 0.0), rise, stopped, nx, ny, nz


@inner
def pushed_by_turn(bodies, at, t, nearer, ox, oy, oz, nx, ny, nz):
    """How far [m] triangle t, which goes by o at the point that it touches and looks along n, pushes that beyond what it has come
    `nearer` [m] by: 0 but where a face turns.

    A surface that turns by w pushes what slides outwards on it at u with 2 w u: by half because it turns into the way of the point, which
    positions know, and by half because it is the faster the farther out, which velocities are given (`contacts.settle`). All of
    that is what the point lacks along n to go with the surface, whose own speed along its normal is that in the mean of both normals.
    """
    kx, ky, kz = _normal_then(bodies, t, 1.0, nx, ny, nz)
    if kx == nx and ky == ny and kz == nz:
        return 0.0
    lack = 0.5 * (ox * (kx - nx) + oy * (ky - ny) + oz * (kz - nz))
    lack -= (at[HERE, 0] - at[THERE, 0] - ox) * nx
    lack -= (at[HERE, 1] - at[THERE, 1] - oy) * ny + (at[HERE, 2] - at[THERE, 2] - oz) * nz
    return lack - nearer if lack - nearer > LEAST_TURN else 0.0


@inner
def _normal_then(bodies, t, rest, nx, ny, nz):
    """The normal n of triangle t as it was `rest` steps before the step's end; n itself where it is that of an edge or corner."""
    ax, ay, az, _ = plane(bodies.triangles, bodies.motions, t, 1.0, 0.0, 0.0, 0.0)
    bx, by, bz, _ = plane(bodies.triangles, bodies.motions, t, 1.0 - rest, 0.0, 0.0, 0.0)
    cosine = ax * nx + ay * ny + az * nz
    if cosine > FACE_COSINE:
        return bx, by, bz
    return (-bx, -by, -bz) if cosine < -FACE_COSINE else (nx, ny, nz)
