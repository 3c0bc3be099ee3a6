# SPDX-License-Identifier: GPL-3.0-or-later
"""One frame of cloth: the loop over substeps.

Each substep, in this order: the air changes velocities; positions are predicted; what bodies hold up is found; springs,
hinges and pins are solved for; cloth is kept off bodies, then off cloth, so that no push goes unseen by cloth; what
would still pass through something is held back;
velocities are read off the motion and given the restitution of contacts. Nothing but `State` lives from frame to frame:
a bake that resumes from a stored state continues with the same bits. What touches at the start of a frame is learnt by
a first try of its first substep, which is then taken again.
"""

from time import perf_counter
from typing import NamedTuple

import numpy as np

from .build import repin
from .contact import body as body_contact
from .contact import body_guard
from .contact import cloth as cloth_contact
from .contact.stacks import find_stack, let_go, no_stack
from .contact.support import Support, find_support, make_support, weigh
from .contact.touches import PINCHED
from .elastic import rare
from .elastic.external import acceleration, blow
from .elastic.sewing import limit
from .elastic.springs import CALM
from .integrate import explicit, implicit, xpbd
from .integrate.overshoot import measure
from .integrate.rows import Rows
from .integrate.solve import Answer, Lengths, Scratch, make_answer, make_scratch, solve
from .model import Report, Settings

FRAME = 1.0 / 24.0  # [s] the frame that Settings.substeps is meant for
SLOW = 2  # substeps per application of air, which changes little in one
BRACED = 0.1  # part of its inverse mass that a particle on a body has for cloth that pushes it
STUCK = 1e-3  # the same of one that is pinched between bodies

INTEGRATION, BODY, CLOTH, LAYERS = "integration", "volume collision", "self-collision", "LDI generation"


class _Substep(NamedTuple):
    """Where a substep lies in its frame; t0 and t1 are fractions of the frame."""

    number: int
    t0: float
    t1: float
    dt: float  # [s]
    slow_dt: float  # [s] time that the air acts for now; 0 in some substeps


class _Work(NamedTuple):
    """What moving the particles needs besides the cloth."""

    rows: Rows
    scratch: Scratch
    answer: Answer
    support: Support
    settings: Settings
    pulls: rare.Pulls
    explicit: explicit.Pull | None  # forces of the cloth, where the dynamics take them as they are


class _Clock:
    """Seconds per task: each lap goes to the task that has just been done."""

    def __init__(self):
        self.seconds = dict.fromkeys((INTEGRATION, BODY, CLOTH, LAYERS), 0.0)
        self.last = perf_counter()

    def lap(self, task):
        now = perf_counter()
        self.seconds[task] += now - self.last
        self.last = now


def substep_count(duration, settings):
    """How many substeps a frame of `duration` seconds gets, so that a substep is about as long at any frame rate."""
    return max(1, round(settings.substeps * duration / FRAME))


def advance(cloth, state, frame_input, frame, settings):
    """Simulate one frame; `state` changes in place.

    Parameters
    ----------
    cloth : Cloth
    state : State at the frame before
    frame_input : FrameInput, what moves between the two frames
    frame : int, the number of the frame that is computed
    settings : Settings

    Returns
    -------
    Report

    Raises
    ------
    FloatingPointError
        The result is not finite; the message names the garment and the frame, and `state` is worthless.
    """
    clock = _Clock()
    settings = settings._replace(**dict(frame_input.changed))
    cloth = cloth if frame_input.pin is None else repin(cloth, frame_input.pin)
    x, v = state
    x_prev, start = x.copy(), x.copy()
    count = substep_count(frame_input.duration, settings)
    dt = frame_input.duration / count
    slow_starts = _starts(-(-count // SLOW), count)
    slow_dt = frame_input.duration / len(slow_starts)
    move = MOVES[settings.dynamics]
    solved = settings.theta * dt if move is _theta else dt
    # a seam's stiffness goes by its gap
    rows = cloth.rows._replace(spring=cloth.rows.spring.copy()) if len(cloth.seams) else cloth.rows
    held = xpbd.prepare_held(cloth, frame_input.targets, settings.pin_rate, solved)
    forces, push = rare.prepare(cloth, frame_input, settings, x), acceleration(frame_input.gravity, settings)
    held, pulls = rare.pulls(forces, held)
    inner = _prepare_explicit(cloth, held, frame_input, settings, dt) if move is _march else None
    work = _Work(rows, make_scratch(rows), make_answer(rows), make_support(cloth), settings, pulls, inner)
    clock.lap(INTEGRATION)
    body = body_contact.prepare(cloth, state, frame_input, settings) if frame_input.colliders else None
    clock.lap(BODY)
    detections = _starts(body.detections, count) if body is not None else {}
    crowd = _crowd(cloth, frame_input, settings)
    watch = body_guard.watch(cloth, body, settings.broad_phase) if settings.guard_bodies else None
    pairs, body_contacts, cloth_contacts = None, 0, 0

    for number in range(count):
        slow = slow_dt if number in slow_starts else 0.0
        substep = _Substep(number, number / count, (number + 1) / count, dt, slow)
        if number in detections:
            body_contact.detect(body, cloth, x, v, substep.t0, detections[number] / count, settings)
            clock.lap(LAYERS)
        if substep.slow_dt:
            _blow(cloth, x, v, frame_input.wind, substep.slow_dt, settings)
        if len(cloth.seams):
            limit(cloth, (rows if inner is None else inner.elastic).spring, x)
        if forces is not None:
            rare.act(forces, cloth, x, v, settings.seed, frame, substep)
        if number == 0 and body is not None:
            _try(move, body, cloth, x, x_prev, v, push, work, held, substep)
        clock.lap(INTEGRATION)
        pairs = _cloth_pairs(pairs, cloth, x, v, dt, settings)
        clock.lap(CLOTH)
        start[:] = x
        origin = move(body, pairs, cloth, x, x_prev, v, push, work, held, substep)
        clock.lap(INTEGRATION)
        body_contacts += body_contact.respond(body, cloth, x, x_prev, v, substep.t1, dt) if body is not None else 0
        clock.lap(BODY)
        if crowd is not None:
            cloth_contacts += crowd.respond(_braced(body, cloth), x, origin, substep.t1, dt)
        if watch is not None:
            watch.times = substep.t0, substep.t1
        if pairs is not None or watch is not None:
            cloth_contacts += cloth_contact.respond(pairs, watch, _braced(body, cloth), start, x, origin, dt)
        clock.lap(CLOTH)
        xpbd.settle(x, origin, v, cloth.inv_mass, settings.max_speed, dt)
        clock.lap(INTEGRATION)
        if body is not None:
            body_contact.respond_velocity(body, cloth, v, dt)
            clock.lap(BODY)

    _check_finite(cloth, x, v, frame)
    worst, mean = stretch(cloth, x)
    clock.lap(INTEGRATION)
    pinched = body_contact.pinched(body) if body is not None else None
    return Report(frame, clock.seconds, worst, mean, body_contacts, cloth_contacts, pinched=pinched)


def _starts(parts, count):
    """Split `count` substeps into `parts` runs: the first substep of each, with the first one after it."""
    starts = sorted({-(-part * count // parts) for part in range(parts)})
    return dict(zip(starts, [*starts[1:], count], strict=True))


def _blow(cloth, x, v, wind, dt, settings):
    """Velocities after dt of air."""
    half = 0.5 * settings.air_density
    drag, lift = half * settings.air_drag, half * settings.air_lift
    if drag or lift:
        blow(x, v, cloth.inv_mass, cloth.triangles, *(float(w) for w in wind), drag, lift, dt)


def _cloth_pairs(pairs, cloth, x, v, dt, settings):
    """Candidates of cloth on cloth that hold for this substep; None if no garment can touch itself or another."""
    if not cloth.meets.any() or settings.cloth_contact not in ("PAIRS", "BOTH"):
        return None
    if pairs is None or not cloth_contact.is_current(pairs, cloth, x, v, dt):
        pairs = cloth_contact.detect(cloth, x, v, dt, settings)
    return pairs


def _crowd(cloth, frame_input, settings):
    """What keeps cloth from cloth besides pairs, or instead of them; None where pairs alone do."""
    if settings.cloth_contact == "PAIRS":
        return None
    # here, because few scenes have them: they need not be loaded
    if settings.cloth_contact.startswith("DEPTH"):
        from .depth.respond import prepare
    else:
        from .crowd.avoid import prepare

    return prepare(cloth, frame_input, settings)


def _braced(body, cloth):
    """The cloth as cloth on cloth sees it: what touches a body gives way less, so that piles do not press it in."""
    if body is None:
        return cloth
    touches, count = body.touches, len(cloth.inv_mass)
    part = np.where(touches.count[:count] > 0, BRACED, 1.0)
    part[touches.place[:count] == PINCHED] = STUCK
    return cloth._replace(inv_mass=part * cloth.inv_mass)


def _try(move, body, cloth, x, x_prev, v, push, work, held, substep):
    """Take the first substep as if nothing were held up, to learn what touches; x and v are as before afterwards."""
    start, speed = x.copy(), v.copy()
    move(None, None, cloth, x, x_prev, v, push, work, held, substep)
    body_contact.respond(body, cloth, x, x_prev, v, substep.t1, substep.dt)
    x[:], v[:] = start, speed


def _solve(body, pairs, cloth, x, x_prev, v, push, work, held, substep):
    """Positions that the springs, hinges, pins and supports allow; x_prev becomes those at the substep's start.

    Like every way to move, it returns from where to x the particles go in dt at their new velocities, contacts apart.
    """
    rows, scratch, answer, support, settings, pulls, _ = work
    dt = substep.dt
    stack = find_stack(pairs, x, v, cloth.inv_mass, dt) if pairs is not None else no_stack()
    pins = held.particles, held.targets, held.stiffness, held.mass_rate, held.pull
    xpbd.predict(x, x_prev, v, cloth.inv_mass, *push, *pins, substep.t0, substep.t1, dt)
    if body is not None:
        touches = body.touches
        find_support(x, x_prev, cloth.inv_mass, touches.count, touches.touch, touches.led, dt, *support)
    rest = tuple(-dt * dt * a for a in push)
    if settings.dynamics == "XPBD":
        limits = settings.iterations, settings.tolerance
        limits += (Lengths(cloth.edges, cloth.rest_length, cloth.is_mesh_edge, cloth.inv_mass),)
        solve(x, x_prev, cloth.mass, rows, scratch, answer, support, stack, pulls, held.free, rest, dt, CALM, *limits)
    else:
        implicit.solve_fully(
            x, x_prev, rest, cloth, rows, scratch, answer, support, stack, pulls, held.free, settings, dt
        )
    if body is not None:
        weigh(answer.d, answer.r, cloth.inv_mass, touches.touch, dt, support.kind, support.normal, *support[3:])
    if pairs is not None:
        let_go(pairs.near, stack, x, x_prev)
    xpbd.bound(x, cloth.inv_mass, held.particles, held.targets, held.distance, substep.t1)
    return x_prev


def _theta(body, pairs, cloth, x, x_prev, v, push, work, held, substep):
    """Solve for the point at theta of the substep, and go on straight from there to its end."""
    theta, dt, before = work.settings.theta, substep.dt, v.copy()
    part = substep._replace(t1=substep.t0 + theta * (substep.t1 - substep.t0), dt=theta * dt)
    _solve(body, pairs, cloth, x, x_prev, v, push, work, held, part)
    there = (x - x_prev) / (theta * dt)
    kinematic = held.particles[np.isinf(held.stiffness)]
    before[kinematic] = there[kinematic]
    x[:] = x_prev + dt * there
    x[kinematic] = explicit.pose(held, substep.t1)[np.isinf(held.stiffness)]
    origin = x - dt * (before + (there - before) / theta)
    xpbd.bound(x, cloth.inv_mass, held.particles, held.targets, held.distance, substep.t1)
    return origin


def _march(body, pairs, cloth, x, x_prev, v, push, work, held, substep):
    """By an explicit method, in as many inner steps as it needs; contacts come afterwards."""
    times, first = (substep.t0, substep.t1, substep.dt), len(held.particles)
    pulled = work.pulls.particles[first:]
    everywhere = np.broadcast_to(push, x.shape).copy()
    everywhere[pulled] += cloth.inv_mass[pulled, None] * work.pulls.pull[first:]
    explicit.move(work.settings.dynamics, work.explicit, x, x_prev, v, everywhere, *times)
    origin = x - substep.dt * v
    xpbd.bound(x, cloth.inv_mass, held.particles, held.targets, held.distance, substep.t1)
    return origin


def _prepare_explicit(cloth, held, frame_input, settings, dt):
    """What explicit dynamics need in a frame; a ValueError where they would never end."""
    touching = bool(frame_input.colliders) or bool(cloth.meets.any())
    inner = explicit.prepare_pull(cloth, held, dt, touching)
    explicit.refuse_endless(settings.dynamics, inner)
    return inner


MOVES = {"XPBD": _solve, "IMPLICIT_EULER": _solve, "IMPLICIT_THETA": _theta} | dict.fromkeys(explicit.STEPS, _march)


def stretch(cloth, x):
    """Worst and mean strain of the mesh's own edges: length over rest length, minus 1."""
    return measure(cloth.edges, cloth.rest_length, cloth.is_mesh_edge, x)


def _check_finite(cloth, x, v, frame):
    if not np.isfinite(x.sum() + v.sum()):
        bad = ~(np.isfinite(x).all(axis=1) & np.isfinite(v).all(axis=1))
        raise FloatingPointError(
            f"Garment {cloth.garment[bad.argmax()] + 1} of {len(cloth.meets)} blew up in frame {frame} at "
            f"{int(bad.sum())} particles: raise the substeps, or lower its stiffness or the speed of what drives it."
        )
