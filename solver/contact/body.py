# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth against bodies: the four calls that `step.advance` makes.

    body = prepare(cloth, state, frame_input, settings)             once a frame
    detect(body, cloth, x, v, t0, t1, settings)                     body.detections times a frame, or more
    count = respond(body, cloth, x, x_prev, v, t, dt)               each substep, after all constraints
    respond_velocity(body, cloth, v, dt)                            each substep, after v = (x - x_prev) / dt

Times t, t0, t1 are fractions of the frame in [0, 1]. In `respond`, t is the END of the substep (x_prev belongs to
t - dt / duration), v the velocity at the START of the substep (it decides how high a particle bounces).

The layered depth image finds, exact triangles decide: `detect` draws one image of the bodies' way through an interval
of time (`ldi.rasterise`), in the box that cloth and bodies share (Bargmann 2003, 7.2); a point asks it which triangles
it can meet (`ldi.query`), and again only after it has strayed from the way it expected to go; `respond` tests those
triangles at the time of the substep (`body_response`).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..ldi.query import NEVER, Candidates, Image, count_windings, make_candidates
from ..ldi.rasterise import render_motion
from ..model import LDI, Cloth, Collider, FrameInput, Settings, State
from ..threads import cut, on_threads
from .body_response import OUTSIDE, PINCHED, Bodies, Samples, Touches, gather, respond_range, settle
from .body_topology import Topology, solid_islands, topology

MOST_DETECTIONS = 8
STRIDE = 5.0  # pixels that a body may move against the cloth in one interval
SMALLEST_PART = 300  # points: fewer are done before another thread wakes up
LEAST_AURA = 1e-5  # [m]
LIMB = 0.04  # [m] radius over which an edge may bridge: by length^2 / (8 radius) its middle sinks between its ends


class Mesh(NamedTuple):
    """All colliders of a frame as one."""

    colliders: tuple[Collider, ...]
    triangles: np.ndarray  # (t, 3)
    collider: np.ndarray  # (t,)
    materials: np.ndarray  # (c, 3): aura [m], friction, restitution
    solid: np.ndarray  # (t,) number of the closed body, 0 for none
    topology: Topology


@dataclass
class Body:
    """All bodies of one frame, with what the points know of them; lives for one frame."""

    detections: int  # how many equal intervals of the frame want their own `detect`
    duration: float  # [s] of the frame
    fall: float  # [m/s2] length of gravity
    mesh: Mesh
    samples: Samples
    candidates: Candidates
    touches: Touches
    settings: Settings
    interval: tuple[float, float] = (0.0, 0.0)
    bodies: Bodies | None = None
    image: Image | None = None
    ldi: LDI | None = None


def prepare(cloth: Cloth, state: State, frame_input: FrameInput, settings: Settings) -> Body:
    """Merge the frame's colliders, look which particles start inside.

    Raises
    ------
    ValueError
        A collider's vertices are not finite or its triangles name vertices that it does not have.
    """
    mesh = _merge(frame_input.colliders)
    count = len(cloth.inv_mass)
    samples = _samples(cloth, mesh)
    points = count + len(samples.parents)
    touches = Touches(
        np.zeros(points, np.int8),
        np.zeros(points, np.int32),
        np.zeros((points, 2, 8)),
        np.empty((len(samples.parents), 3)),
    )
    fall = float(np.linalg.norm(frame_input.gravity))
    body = Body(1, frame_input.duration, fall, mesh, samples, make_candidates(points), touches, settings)
    body.detections = _detections(body, cloth, state)
    touches.place[:count] = _places(body, cloth, state.x)
    return body


def _merge(colliders) -> Mesh:
    colliders = tuple(c for c in colliders if len(c.triangles))
    for c in colliders:
        if not np.isfinite(c.x).all():
            raise ValueError(f"Collider '{c.name}' has vertices at NaN or infinity: clean its mesh or its modifiers.")
        if c.triangles.min() < 0 or c.triangles.max() >= c.x.shape[1]:
            raise ValueError(f"Collider '{c.name}' has faces on vertices that it does not have: its topology changed.")
    starts = np.cumsum([0] + [c.x.shape[1] for c in colliders])
    empty = np.zeros((0, 3), np.int32)
    triangles = np.concatenate([empty] + [c.triangles + np.int32(s) for c, s in zip(colliders, starts, strict=False)])
    triangles = np.ascontiguousarray(triangles, np.int32)
    joined = topology(triangles, int(starts[-1]))
    x = np.concatenate([np.zeros((0, 3))] + [c.x[0] for c in colliders])
    return Mesh(
        colliders,
        triangles,
        np.repeat(np.arange(len(colliders), dtype=np.int32), [len(c.triangles) for c in colliders]),
        np.array([(max(c.aura, LEAST_AURA), c.friction, c.restitution) for c in colliders]).reshape(-1, 3),
        np.where(solid_islands(joined, x, triangles)[joined.island], joined.island + 1, 0).astype(np.int32),
        joined,
    )


def _positions(mesh: Mesh, origin, t: float) -> np.ndarray:
    """(m, 3) local positions of all colliders at fraction t of the frame, evenly between their samples."""
    parts = [np.zeros((0, 3))]
    for c in mesh.colliders:
        last = len(c.x) - 1
        sample = min(int(t * last + 1e-9), max(last - 1, 0))
        rest = t * last - sample
        if abs(rest) < 1e-9 or last == 0:
            parts.append(c.x[sample] - origin)
        elif abs(rest - 1.0) < 1e-9:
            parts.append(c.x[sample + 1] - origin)
        else:
            parts.append((c.x[sample] - origin) * (1.0 - rest) + (c.x[sample + 1] - origin) * rest)
    return np.concatenate(parts)


def _detections(body: Body, cloth: Cloth, state: State) -> int:
    """Intervals: no body moves by more than STRIDE pixels against the cloth in one, samples are hit exactly."""
    mesh = body.mesh
    if not mesh.colliders:
        return 1
    samples = max(len(c.x) - 1 for c in mesh.colliders)
    drift = state.v.mean(axis=0) * body.duration if len(state.v) else np.zeros(3)
    motion, size = 0.0, 0.0
    for c in mesh.colliders:
        steps = len(c.x) - 1
        way = max((float(np.abs(c.x[s + 1] - c.x[s]).max()) for s in range(steps)), default=0.0) * steps
        motion = max(motion, way + float(np.abs(drift).max()))
        size = max(size, float(np.ptp(c.x[0], axis=0).max()))
    size = min(size, float(np.ptp(state.x, axis=0).max()) if len(state.x) else size)
    wanted = motion / max(STRIDE * size / body.settings.ldi_resolution, float(mesh.materials[:, 0].max()))
    return int(min(max(-(-wanted // samples) * samples, samples, 1), max(MOST_DETECTIONS, samples)))


_sampled: list[tuple[np.ndarray, np.ndarray, float, Samples]] = []  # the last answers; they depend on the key alone


def _samples(cloth: Cloth, mesh: Mesh) -> Samples:
    """The middles of edges so long that a limb could show between their ends, though these keep the aura.

    A sheet of 4 cm edges over a torus of 5 cm radius with an aura of 5 mm: 3170 body edges through it in 12 frames
    without them, none with them. Finer sheets get none.
    """
    aura = float(mesh.materials[:, 0].min()) if len(mesh.materials) else 0.0
    for x_rest, triangles, known, answer in _sampled:
        if x_rest is cloth.x_rest and triangles is cloth.triangles and known == aura:
            return answer
    answer = _sample(cloth, aura)
    _sampled.insert(0, (cloth.x_rest, cloth.triangles, aura, answer))
    del _sampled[2:]
    return answer


def _sample(cloth: Cloth, aura: float) -> Samples:
    count = len(cloth.inv_mass)
    parents = np.zeros((0, 2), np.int32)
    if aura > 0.0 and len(cloth.triangles):
        sides = np.sort(cloth.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1).astype(np.int64)
        key = np.unique(sides[:, 0] * count + sides[:, 1])
        sides = np.stack([key // count, key % count], 1)
        length = np.linalg.norm(cloth.x_rest[sides[:, 0]] - cloth.x_rest[sides[:, 1]], axis=1)
        sinks = length * length / (8.0 * LIMB)
        parents = sides[sinks > 0.5 * aura].astype(np.int32)
    ends = parents.ravel()
    start = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(ends, minlength=count), out=start[1:])
    return Samples(parents, start, (np.argsort(ends, kind="stable") // 2).astype(np.int32))


def _places(body: Body, cloth: Cloth, x) -> np.ndarray:
    """(n,) OUTSIDE, INSIDE or PINCHED at the start of the frame, by the winding of the closed bodies along z."""
    place = np.full(len(x), OUTSIDE, np.int8)
    mesh = body.mesh
    if not mesh.solid.any() or not len(x):
        return place
    bodies = _positions(mesh, cloth.origin, 0.0)
    windings = np.zeros(len(x), np.int32)
    count_windings(bodies, mesh.triangles, mesh.solid, x, body.settings.ldi_resolution, windings)
    return np.clip(windings, OUTSIDE, PINCHED).astype(np.int8)


def detect(body: Body, cloth: Cloth, x, v, t0: float, t1: float, settings: Settings) -> None:
    """Draw the bodies' layered depth image for the time from t0 to t1 of the frame; x and v are those at t0."""
    mesh = body.mesh
    body.interval = (t0, t1)
    body.candidates.count[:] = NEVER
    if not mesh.colliders:
        return
    seconds = (t1 - t0) * body.duration
    start, end = _positions(mesh, cloth.origin, t0), _positions(mesh, cloth.origin, t1)
    move = end - start
    way = v * seconds
    bulk = way.mean(axis=0) if len(way) else np.zeros(3)
    half = 0.5 * (move - bulk)
    middle = 0.5 * (start + end)
    aura = float(mesh.materials[:, 0].max())
    first, last = x + 0.5 * bulk, x + way - 0.5 * bulk
    margin = 4.0 * aura + body.fall * seconds * seconds
    domain = np.stack([np.minimum(first, last).min(0) - margin, np.maximum(first, last).max(0) + margin])
    low, high = (middle - np.abs(half)).min(0), (middle + np.abs(half)).max(0)
    if body.touches.place.any():  # the way out may lead anywhere
        size = float((high - low).max())
        domain = np.stack([np.minimum(domain[0], low - size), np.maximum(domain[1], high + size)])
    low, high = np.maximum(low, domain[0]), np.minimum(high, domain[1])
    shared = bool((low <= high).all())
    triangles = mesh.triangles if shared else mesh.triangles[:0]
    body.ldi, ball = render_motion(middle, half, triangles, low, np.maximum(high, low), settings.ldi_resolution)
    body.image = Image(
        *body.ldi[3:7],
        ball,
        np.stack([bulk, low, body.ldi.shape, *domain, (body.ldi.pixel, aura, float(np.abs(half).max()))]),
    )
    body.bodies = Bodies(
        mesh.triangles, np.hstack([start, move]), mesh.collider, mesh.materials, mesh.solid, *mesh.topology[:3]
    )


def respond(body: Body, cloth: Cloth, x, x_prev, v, t: float, dt: float) -> int:
    """Keep x out of the bodies at time t; returns how many points touch. x changes in place."""
    if not body.mesh.colliders:
        return 0
    before = t - dt / body.duration
    if body.image is None or t > body.interval[1] + 1e-9:
        detect(body, cloth, x_prev, v, before, min(max(t, before + 1.0 / body.detections), 1.0), body.settings)
    count = len(cloth.inv_mass)
    samples = len(body.samples.parents)
    touching = _points(body, cloth, 0, count, x, x_prev, v, t, dt)
    if samples:
        touching += _points(body, cloth, count, count + samples, x, x_prev, v, t, dt)
        touches = body.touches
        gather(cloth.inv_mass, *body.samples[1:], touches.count, touches.touch, touches.push, x)
    return touching


def _points(body: Body, cloth: Cloth, first: int, last: int, x, x_prev, v, t: float, dt: float) -> int:
    """Respond for points first..last; draws the image again if one of them has left the domain."""
    touching, lost = _sweep(body, cloth, first, last, False, x, x_prev, v, t, dt)
    if lost:
        detect(body, cloth, x_prev, v, t - dt / body.duration, body.interval[1], body.settings)
        again, _ = _sweep(body, cloth, first, last, True, x, x_prev, v, t, dt)
        touching += again
    return touching


def _sweep(body: Body, cloth: Cloth, first: int, last: int, only_lost: bool, x, x_prev, v, t, dt) -> tuple[int, int]:
    t0, t1 = body.interval
    tau, seconds = (t - t0) / (t1 - t0), (t1 - t0) * body.duration
    times = tau - dt / seconds, tau, seconds, 2.0 * body.fall * dt

    def part(_, start, stop):
        return respond_range(
            first + start, first + stop, len(x), only_lost, cloth.inv_mass, cloth.friction, body.samples.parents,
            x, x_prev, v, *body.bodies, *body.image, *body.candidates, *body.touches, *times,
        )  # fmt: skip

    results = on_threads(part, cut(last - first, SMALLEST_PART))
    return sum(touching for touching, _ in results), sum(lost for _, lost in results)


def respond_velocity(body: Body, cloth: Cloth, v, dt: float) -> None:
    """Set the normal velocity of touching particles: what restitution leaves of the impact, else the surface's own."""
    if body.mesh.colliders:
        settle(cloth.inv_mass, body.touches.count, body.touches.touch, v)
