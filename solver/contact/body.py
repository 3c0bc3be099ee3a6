# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth against bodies: the four calls that `step.advance` makes.

    body = prepare(cloth, state, frame_input, settings)             once a frame
    detect(body, cloth, x, v, t0, t1, settings)                     body.detections times a frame, or more
    count = respond(body, cloth, x, x_prev, v, t, dt)               each substep, after all constraints
    respond_velocity(body, cloth, v, dt)                            each substep, after v = (x - x_prev) / dt

Times t, t0, t1 are fractions of the frame in [0, 1]. In `respond`, t is the END of the substep (x_prev belongs to
t - dt / duration), v the velocity at the START of the substep (it decides how high a particle bounces).

The layered depth image finds, exact triangles decide: `detect` draws one image of the bodies' way through an interval
of time (`ldi.rasterise`), of what comes near the cloth in the box that both share (`ldi.cells`; Bargmann 2003, 7.2); a
point near a body asks it which triangles it can meet (`ldi.query`), and again only after it has strayed from the way it expected to go; `respond` tests those
triangles at the time of the substep (`body_response`). A point that leaves what is drawn has the image drawn again, with
twice the room round the cloth.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..ldi.cells import DRAWN, NEAR, Cells, make_cells, mark_cloth, spread
from ..ldi.query import NEVER, SCRATCH, Candidates, Image, count_windings, make_candidates
from ..ldi.rasterise import render_motion
from ..ldi.ways import find_domain, find_near, find_ways, move
from ..model import LDI, Cloth, Collider, FrameInput, Settings, State
from ..threads import cut, on_threads
from .body_response import Bodies, respond_range
from .body_topology import Topology, solid_islands, topology
from .grips import find_grips
from .ridges import (
    NO_NEAR,
    NO_RIDGES,
    NOWHERE,
    REACH,
    Near,
    Ridges,
    find_ridges,
    gather_ridges,
    lead_samples,
    ridges_near,
    with_ridges,
)
from .samples import Samples, gather, limb, samples_of
from .touches import APART, OUTSIDE, PINCHED, Touches, no_touches, settle

MOST_DETECTIONS = 8
MOST_REDRAWS = 8  # of one substep: each doubles the room round the cloth
STRIDE = 8.0  # pixels that a body may move against the cloth in one interval
ROOM = 0.05  # of the cloth's size: what is drawn beyond the cloth, that no point gets lost
SMALLEST_PART, SMALLEST_FRESH_PART = 600, 100  # points: fewer are done before another thread wakes up
SMALLEST_RIDGES_PART = 200  # ridges
SMALLEST_WOUND_PART = 4000  # points, or triangles
LEAST_AURA = 1e-5  # [m]


class Mesh(NamedTuple):
    """All colliders of a frame as one."""

    colliders: tuple[Collider, ...]
    starts: np.ndarray  # (c + 1,) first vertex of each collider
    start: np.ndarray  # (m, 3) [m] where all vertices are when the frame begins
    triangles: np.ndarray  # (t, 3)
    aura: float  # [m] the largest
    solids: int  # closed bodies
    solid: np.ndarray  # (t,) number of the closed body, 0 for none
    traits: np.ndarray  # (t, 5) as in Bodies
    topology: Topology
    meets: np.ndarray  # (c, g) bool: which colliders touch which garments


class View(NamedTuple):
    """What of the bodies' ways through an interval matters to the cloth."""

    t0: float
    t1: float
    bulk: np.ndarray  # (3,) [m] way of the frame of reference
    ways: np.ndarray  # (m, 8) as in ldi.ways
    domain: np.ndarray  # (2, 3) [m] low and high corner of the box round the cloth
    cells: Cells  # of the domain
    drawn: np.ndarray  # (t,) bool: triangles that may meet the cloth there
    near: np.ndarray  # (k,) their numbers
    ball: np.ndarray  # (k, 10) their spheres
    used: tuple[np.ndarray, ...]  # per collider, their vertices
    near_ridges: Near
    box: np.ndarray  # (3, 3) low and high corner of what the triangles sweep, largest growth


@dataclass
class Body:
    """All bodies of one frame, with what the points know of them; lives for one frame."""

    detections: int  # how many equal intervals of the frame want their own `detect`
    duration: float  # [s] of the frame
    fall: float  # [m/s2] length of gravity
    mesh: Mesh
    ridges: Ridges  # their samples are the last
    samples: Samples
    candidates: Candidates
    touches: Touches
    settings: Settings
    bodies: Bodies
    way_out: float = 0.0  # [m] farthest that a point inside a body can be from its surface
    room: float = 1.0  # doubled when points get lost
    fresh: bool = True  # the image has just been drawn: all points will ask
    view: View | None = None
    image: Image | None = None
    ldi: LDI | None = None
    scratch: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)  # of each thread, for `associate`


def prepare(cloth: Cloth, state: State, frame_input: FrameInput, settings: Settings) -> Body:
    """Merge the frame's colliders, look which particles start inside.

    Raises
    ------
    ValueError
        A collider's vertices are not finite or its triangles name vertices that it does not have.
    """
    mesh = _merge(frame_input.colliders if len(cloth.inv_mass) else (), len(cloth.garment_start) - 1)
    count = len(cloth.inv_mass)
    least = min((c.aura for c in mesh.colliders), default=0.0)
    samples = samples_of(cloth, least, limb(mesh.start, mesh.triangles, mesh.topology.neighbour, mesh.solid))
    fall = float(np.linalg.norm(frame_input.gravity))
    bodies = Bodies(
        mesh.triangles, np.full((int(mesh.starts[-1]), 6), np.nan), mesh.traits, *mesh.topology[:3], mesh.meets
    )
    memory = make_candidates(0), no_touches(count, len(samples.parents))
    body = Body(1, frame_input.duration, fall, mesh, NO_RIDGES, samples, *memory, settings, bodies)
    if mesh.colliders:
        body.touches.place[:count] = _places(body, cloth, state.x)
        if (body.touches.place > OUTSIDE).any():
            body.way_out = _way_out(mesh)
            own = body.touches.place[:count], body.touches.grip
            find_grips(body.bodies, mesh.start - cloth.origin, cloth.garment, state.x, *own)
        body.view = _look(body, cloth, state.x, state.v, 0.0, 1.0)
        _add_ridges(body, cloth, state)
        body.detections = _detections(body)
    return body


def _add_ridges(body: Body, cloth: Cloth, state: State) -> None:
    """Find the ridges that may meet the cloth in this frame; they and all points get room for what they know."""
    mesh, count = body.mesh, len(cloth.inv_mass)
    about = mesh.triangles, mesh.topology.neighbour, mesh.solid, _used(mesh, body.view)
    body.ridges = find_ridges(mesh.start, *about, mesh.aura, body.samples.longest)
    body.samples = with_ridges(body.samples, len(body.ridges.ends))
    before = body.touches
    body.touches = no_touches(count, len(body.samples.parents))._replace(grip=before.grip)
    body.touches.place[:count] = before.place[:count]
    body.candidates = make_candidates(len(body.touches.place))
    body.view = body.view._replace(near_ridges=_near_ridges(body, cloth, body.view, state.x, state.v, 0.0))


def _merge(colliders, garments: int) -> Mesh:
    colliders = tuple(c for c in colliders if len(c.triangles))
    colliders = tuple(
        c._replace(x=np.ascontiguousarray(c.x, np.float64), aura=max(c.aura, LEAST_AURA)) for c in colliders
    )
    for c in colliders:
        if not np.isfinite(c.x).all():
            raise ValueError(f"Collider '{c.name}' has vertices at NaN or infinity: clean its mesh or its modifiers.")
        if c.triangles.min() < 0 or c.triangles.max() >= c.x.shape[1]:
            raise ValueError(f"Collider '{c.name}' has faces on vertices that it does not have: its topology changed.")
        if c.meets is not None and len(c.meets) != garments:
            raise ValueError(f"Collider '{c.name}' tells of {len(c.meets)} garments; there are {garments}.")
    meets = np.array([c.meets or garments * (True,) for c in colliders], bool).reshape(-1, garments)
    starts = np.cumsum([0] + [c.x.shape[1] for c in colliders])
    empty = np.zeros((0, 3), np.int32)
    triangles = np.concatenate([empty] + [c.triangles + np.int32(s) for c, s in zip(colliders, starts, strict=False)])
    triangles = np.ascontiguousarray(triangles, np.int32)
    joined = topology(triangles, int(starts[-1]))
    x = np.concatenate([np.zeros((0, 3))] + [c.x[0] for c in colliders])
    closed = solid_islands(joined, x, triangles)
    materials = np.array([(c.aura, c.friction, c.restitution) for c in colliders]).reshape(-1, 3)
    solid, traits = _traits(joined, closed, materials, [len(c.triangles) for c in colliders])
    aura = float(materials[:, 0].max(initial=0.0))
    return Mesh(colliders, starts, x, triangles, aura, int(closed.sum()), solid, traits, joined, meets)


_dressed: list[tuple[Topology, tuple, tuple[np.ndarray, np.ndarray]]] = []  # the last answers, which depend on the key


def _traits(joined: Topology, closed, materials, counts) -> tuple[np.ndarray, np.ndarray]:
    """`solid` and `traits` of a Mesh: those of the frame before, unless a body changed what it is made of."""
    key = closed.tobytes(), materials.tobytes(), *counts
    for known, known_key, answer in _dressed:
        if known is joined and known_key == key:
            return answer
    solid = np.where(closed[joined.island], joined.island + 1, 0).astype(np.int32)
    rows = np.repeat(np.arange(len(counts)), counts)
    answer = solid, np.column_stack([materials[rows], solid, rows]).astype(np.float64)
    _dressed.insert(0, (joined, key, answer))
    del _dressed[4:]
    return answer


def _way_out(mesh: Mesh) -> float:
    """Half the shortest side of a body's box, the largest of all closed bodies: nothing in one is farther from out."""
    longest, first = 0.0, 0
    for c in mesh.colliders:
        last = first + len(c.triangles)
        if mesh.solid[first:last].any():
            longest = max(longest, 0.5 * float(np.ptp(c.x[0], axis=0).min()))
        first = last
    return longest + mesh.aura


def _look(body: Body, cloth: Cloth, x, v, t0: float, t1: float, before: float | None = None) -> View:
    """The bodies from t0 to t1 as the cloth sees them; x and v are those at t0, or at `before` of a later substep."""
    mesh, known = body.mesh, body.view
    if before is not None and known is not None:  # only the domain grows
        tau, bulk, ways = (before - t0) / (t1 - t0), known.bulk, known.ways
    else:
        tau, bulk = 0.0, v.mean(axis=0) * ((t1 - t0) * body.duration)
        ways = np.empty((int(mesh.starts[-1]), 8))
        for c, first in zip(mesh.colliders, mesh.starts, strict=False):
            find_ways(c.x, cloth.origin, first, t0, t1, bulk, ways)
    seconds = (t1 - t0) * body.duration
    domain = np.empty((2, 3))
    find_domain(x, v, tau, seconds, bulk, domain)
    room = ROOM * float((domain[1] - domain[0]).max()) + 4.0 * mesh.aura + body.fall * seconds * seconds
    room = body.room * room + body.way_out
    domain[0] -= room
    domain[1] += room
    count = len(mesh.triangles)
    drawn = np.zeros(count, np.bool_)
    if before is not None and known is not None:
        domain[0], domain[1] = np.minimum(domain[0], known.domain[0]), np.maximum(domain[1], known.domain[1])
        drawn = known.drawn
    cells = make_cells(domain, mesh.aura)
    grid = cells.low, cells.size, cells.shape, cells.flags
    mark_cloth(x, v, *body.samples[:2], body.touches.place, body.way_out, tau, seconds, bulk, *grid)
    spread(cells, DRAWN, int(body.room))
    near, ball, box = np.empty(count, np.int32), np.empty((count, 10)), np.empty((3, 3))
    span, used = np.empty((len(ways), 6), np.int16), np.empty(len(ways), np.int8)
    near = near[: find_near(mesh.triangles, ways, *grid, drawn, near, ball, span, used, box)]
    spread(cells, NEAR)
    parts = zip(mesh.starts[:-1], mesh.starts[1:], strict=True)
    vertices = tuple(np.flatnonzero(used[first:last]) for first, last in parts)
    view = View(t0, t1, bulk, ways, domain, cells, drawn, near, ball, vertices, NO_NEAR, box)
    return view._replace(near_ridges=_near_ridges(body, cloth, view, x, v, tau))


def _near_ridges(body: Body, cloth: Cloth, view: View, x, v, tau: float) -> Near:
    """The ridges that may meet the cloth from tau to the end of a view's interval."""
    seconds, cloth_ways = (view.t1 - view.t0) * body.duration, (cloth.triangles, x, v, tau)
    used = _used(body.mesh, view)
    return ridges_near(body.ridges, used, view.ways, *cloth_ways, seconds, view.bulk, body.mesh.aura)


def _used(mesh: Mesh, view: View) -> np.ndarray:
    """(m,) bool: vertices of the triangles that may meet the cloth."""
    used = np.zeros(len(view.ways), np.bool_)
    used[mesh.triangles[view.near]] = True
    return used


def _detections(body: Body) -> int:
    """Intervals: no body moves by more than STRIDE pixels against the cloth in one."""
    box = body.view.box
    size = float((np.minimum(box[1], body.view.domain[1]) - np.maximum(box[0], body.view.domain[0])).max())
    stride = max(STRIDE * size / body.settings.ldi_resolution, body.mesh.aura)
    return int(min(max(-(-2.0 * float(box[2].max()) // stride), 1), MOST_DETECTIONS))


def pinched(body: Body) -> np.ndarray | None:
    """Particles (k,) to which bodies left no room between them when last looked at; None if there were none."""
    place = body.touches.place[: len(body.touches.place) - len(body.samples.parents)]
    found = np.flatnonzero(place == PINCHED)
    return found if len(found) else None


def _places(body: Body, cloth: Cloth, x) -> np.ndarray:
    """(n,) OUTSIDE, INSIDE or PINCHED at the start of the frame, by the winding of the closed bodies along z; APART."""
    place = np.where(cloth.meets_bodies, np.int8(OUTSIDE), np.int8(APART))
    mesh = body.mesh
    if not mesh.solid.any() or not len(x):
        return place
    bodies = mesh.start - cloth.origin
    for met in np.unique(mesh.meets, axis=1).T:  # at once for all garments that meet the same bodies
        who = np.flatnonzero((mesh.meets == met[:, None]).all(axis=0)[cloth.garment] & cloth.meets_bodies)
        solid = np.where(met[mesh.traits[:, 4].astype(int)], mesh.solid, 0)
        place[who] = np.clip(_windings(body, bodies, solid, x[who]), OUTSIDE, PINCHED)
    return place


def _windings(body: Body, bodies: np.ndarray, solid: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(n,) how often x (n, 3) is enclosed by the triangles that are `solid` (t,). Each thread takes some of the points
    or of the triangles, of which there are more.
    """
    triangles, by_points = body.mesh.triangles, len(x) > len(solid)
    ranges = cut(max(len(x), len(solid)), SMALLEST_WOUND_PART)
    windings = np.zeros((1 if by_points else len(ranges), len(x)), np.int32)

    def part(number, start, stop):
        own, all_of_them = slice(start, stop), slice(None)
        faces, points = (all_of_them, own) if by_points else (own, all_of_them)
        found = windings[0 if by_points else number, points]
        count_windings(bodies, triangles[faces], solid[faces], x[points], body.settings.ldi_resolution, found)

    on_threads(part, ranges)
    return windings.sum(axis=0)


def detect(body: Body, cloth: Cloth, x, v, t0: float, t1: float, settings: Settings) -> None:
    """Draw the bodies' layered depth image for the time from t0 to t1 of the frame; x and v are those at t0."""
    body.candidates.count[:] = NEVER
    if not body.mesh.colliders:
        return
    if body.image is not None or (t0, t1) != (body.view.t0, body.view.t1):  # `prepare` has looked at the whole frame
        body.view = _look(body, cloth, x, v, t0, t1)
        body.bodies.motions[:] = np.nan  # of what is not looked at; `pinch` may come there
    _draw(body, settings)


def _draw(body: Body, settings: Settings) -> None:
    view, mesh = body.view, body.mesh
    low, high = np.maximum(view.box[0], view.domain[0]), np.minimum(view.box[1], view.domain[1])
    if not len(view.near):
        low = high = view.domain[0]
    growth = max(float(view.box[2].max()), 0.0)
    resolution = settings.ldi_resolution  # pixels smaller than the motion would only be more
    if growth > 0.0:
        resolution = int(min(max(float((high - low).max()) / growth, 8.0), resolution))
    ldi = body.ldi = render_motion(view.ways, mesh.triangles, view.near, low, high, resolution)
    lengths = ldi.pixel, mesh.aura, growth
    about = body.way_out, mesh.solids, view.cells.size
    frame = np.stack([view.bulk, low, ldi.shape, *view.domain, lengths, about, view.cells.shape])
    body.image = Image(*ldi[3:7], view.near, view.ball, frame, view.cells.flags)
    body.fresh = True


def respond(body: Body, cloth: Cloth, x, x_prev, v, t: float, dt: float) -> int:
    """Keep x out of the bodies at time t; returns how many points touch. x changes in place."""
    if not body.mesh.colliders:
        return 0
    before = t - dt / body.duration
    if body.image is None or t > body.view.t1 + 1e-9:
        detect(body, cloth, x_prev, v, before, min(max(t, before + 1.0 / body.detections), 1.0), body.settings)
    _move(body, cloth, before, t)
    count = len(cloth.inv_mass)
    touching = _points(body, cloth, 0, count, x, x_prev, v, t, dt)
    if len(body.samples.parents):
        touching += _respond_samples(body, cloth, x, x_prev, v, t, dt)
    body.fresh = False
    return touching


def _respond_samples(body: Body, cloth: Cloth, x, x_prev, v, t: float, dt: float) -> int:
    """Take the particles where their samples want them; returns how many samples touch."""
    touches, count = body.touches, len(cloth.inv_mass)
    fixed = len(body.samples.parents) - len(body.ridges.ends)
    ridges = body.samples.parents[fixed:], body.samples.weight[fixed:]
    own, of_ridges = slice(count), slice(count + fixed, None)
    reach, found = REACH * body.mesh.aura, (*ridges, touches.count[of_ridges])
    near, about = body.view.near_ridges, (body.bodies.motions, cloth.triangles, x_prev, x, reach)
    found[1][:, 0], found[2][:] = NOWHERE, 0
    on_threads(lambda _, a, b: lead_samples(a, b, near, *about, *found), cut(len(near.rows), SMALLEST_RIDGES_PART))
    touching = _points(body, cloth, count, count + len(body.samples.parents), x, x_prev, v, t, dt)
    push = touches.push[fixed:]
    aims = push + np.einsum("ki,kix->kx", ridges[1], x[ridges[0]])
    gather(cloth.inv_mass, *body.samples[2:5], touches.count, touches.touch, touches.push, x)
    counts, touch = touches.count, touches.touch
    order = np.argsort(-np.einsum("kx,kx->k", push, push), kind="stable")
    gather_ridges(
        order,
        cloth.inv_mass,
        touches.led,
        *ridges,
        push,
        aims,
        counts[own],
        counts[of_ridges],
        touch[own],
        touch[of_ridges],
        x,
    )
    return touching


def _move(body: Body, cloth: Cloth, t0: float, t1: float) -> None:
    """Where the bodies' vertices near the cloth are at t0, and their motion to t1."""
    for c, first, used in zip(body.mesh.colliders, body.mesh.starts, body.view.used, strict=False):
        if len(used):
            move(c.x, cloth.origin, first, used, t0, t1, body.bodies.motions)


def _points(body: Body, cloth: Cloth, first: int, last: int, x, x_prev, v, t: float, dt: float) -> int:
    """Respond for points first..last; draws the image again, larger, while some of them have left the domain."""
    touching, lost = _sweep(body, cloth, first, last, False, x, x_prev, v, t, dt)
    for _ in range(MOST_REDRAWS):
        if not lost:
            break
        before = t - dt / body.duration
        body.room *= 2.0
        body.view = _look(body, cloth, x_prev, v, body.view.t0, body.view.t1, before)
        _draw(body, body.settings)
        _move(body, cloth, before, t)
        again, lost = _sweep(body, cloth, first, last, True, x, x_prev, v, t, dt)
        touching += again
    return touching


def _sweep(body: Body, cloth: Cloth, first: int, last: int, only_lost: bool, x, x_prev, v, t, dt) -> tuple[int, int]:
    t0, t1 = body.view.t0, body.view.t1
    tau, seconds = (t - t0) / (t1 - t0), (t1 - t0) * body.duration
    times = tau - dt / seconds, tau, seconds, 2.0 * body.fall * dt
    groups = tuple(body.bodies), tuple(body.image), tuple(body.candidates), tuple(body.touches)

    def part(number, start, stop):
        return respond_range(
            first + start, first + stop, only_lost, cloth.inv_mass, cloth.friction, cloth.garment, *body.samples[:2],
            x, x_prev, v, *groups, *body.scratch[number], body.samples.sag, *times,
        )  # fmt: skip

    parts = cut(last - first, SMALLEST_FRESH_PART if body.fresh else SMALLEST_PART)
    while len(body.scratch) < len(parts):
        body.scratch.append((np.zeros(len(body.mesh.triangles) + 1, np.int32), np.empty(SCRATCH)))
    results = on_threads(part, parts)
    return sum(touching for touching, _ in results), sum(lost for _, lost in results)


def respond_velocity(body: Body, cloth: Cloth, v, dt: float) -> None:
    """Set the normal velocity of touching particles: what restitution leaves of the impact, else the surface's own."""
    if body.mesh.colliders:
        settle(cloth.inv_mass, body.touches.count, body.touches.touch, v)
