# SPDX-License-Identifier: GPL-3.0-or-later
"""The ways to move particles in a substep, as a table of functions (`DYNAMICS_BY_NAME`).

steps     the small steps of a substep, each of which is solved for
part      the part of the substep that is solved for: all of it, but for the theta method
predict   x at its end as far as it is known beforehand: by gravity and pins, or all of it by an explicit method
solve     x as springs, hinges, pins and what touches allow it; returns x_from: x goes from there to where it is in
          dt at its new velocity, contacts apart. Leaves in `System.solution` what constraints had to bear.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..elastic.springs import DAMPED_SHARE, copied
from ..forces import optional
from ..forces.air import acceleration
from ..model import Cloth, Ride, Settings
from . import explicit, implicit, pcg, small_steps
from .attachments import Attached, attach, break_attachments, points, pull_along
from .edge_clamp import shorten
from .momentum import slide_as_wholes
from .pieces import NO_TIES, free_pieces
from .predict import Interval, Pins, keep_near_pose, predict, prepare_pins, set_step
from .system import System, Target, make_system
from .tacks import Threads, break_tacks, lay, thread


class Dynamics(NamedTuple):
    """A way to move particles."""

    steps: Callable  # (substep, settings, cloth, x, v) -> list of Interval, the small steps of a substep
    prepare: Callable  # (cloth, pins, attached, frame_input, settings) -> `explicit.Pull`, or None where it needs none
    part: Callable  # (substep, settings) -> Interval
    predict: Callable  # (mechanics, motion, part)
    is_held: bool  # whether what touches holds particles in the solve
    solve: Callable  # (mechanics, motion, constraints, substep) -> (n, 3) [m] x_from


class Mechanics(NamedTuple):
    """What moves the particles in a frame, contact apart."""

    dynamics: Dynamics
    cloth: Cloth
    settings: Settings
    frame: int  # its number
    wind: tuple[float, float, float]  # [m/s]
    acceleration: tuple[float, float, float]  # [m/s2] of every particle alike
    pins: Pins
    forces: optional.Forces | None
    pulls: optional.Pulls
    system: System
    explicit: explicit.Pull | None  # the cloth's own forces, where they are taken as they are
    spring: np.ndarray  # numbers of the springs that these or the system have; a seam's change
    attached: Attached | None
    threads: Threads | None
    broken: np.ndarray  # (n,) uint8, as in `State`; changes in place
    rides: tuple[Ride | None, ...] | None
    lift: np.ndarray | None  # (n, 3) [m/s2] that takes back gravity; None: nothing does


def prepare_mechanics(cloth, state, frame_input, frame, settings, lift):
    """`Mechanics` of the frame of this number that starts with `state`; ValueError where it would never end.

    lift : (g,) part of its weight that each garment does not feel, or None
    """
    dynamics = DYNAMICS_BY_NAME[settings.dynamics]
    broken = np.zeros(len(cloth.mass), np.uint8) if state.broken is None else state.broken
    forces = optional.prepare(cloth, frame_input, settings, state.x)
    attached, threads = attach(cloth, frame_input, broken), thread(cloth, frame_input, broken, settings)
    pins = prepare_pins(cloth, frame_input.targets, settings.pin_rate)
    pins, pulls, attached = optional.pulls(forces, pins, attached)
    matrix = cloth.matrix._replace(spring=copied(cloth.matrix.spring)) if len(cloth.seams) else cloth.matrix
    ties = NO_TIES if threads is None else threads.stencils
    system = make_system(matrix, cloth.mass, free_pieces(cloth, optional.acted_on(forces, pins, attached), ties))
    inner = dynamics.prepare(cloth, pins, attached, frame_input, settings)
    spring = matrix.spring if inner is None else inner.elastic.spring
    wind, everywhere = tuple(map(float, frame_input.wind)), acceleration(frame_input.gravity, settings)
    return Mechanics(
        dynamics, cloth, settings, frame, wind, everywhere, pins, forces, pulls, system, inner, spring, attached, threads,
        broken, frame_input.rides, None if lift is None else -lift[cloth.garment, None] * frame_input.gravity,
    )  # fmt: skip


def in_steps(mechanics, dt):
    """See to it that the mechanics go in steps of dt [s], as far as they depend on that."""
    solved = mechanics.dynamics.part(Interval(0, 0.0, 1.0, dt, 0.0), mechanics.settings).dt
    set_step(mechanics.pins, mechanics.pulls.rate, solved)


def tie(mechanics, motion, constraints):
    """`contact.frame.Constraints` of a solve with what tacks hold at the predicted motion.x."""
    if mechanics.threads is None:
        return constraints
    return constraints._replace(stack=lay(mechanics.threads, motion.x, motion.x_prev, constraints.stack))


def break_ties(mechanics, motion, substep):
    """Break what has pulled too hard in a step, from the next one on. # output: mechanics.broken"""
    if mechanics.attached is not None:
        break_attachments(mechanics.attached, motion.x, substep.t1)
    if mechanics.threads is not None:
        break_tacks(mechanics.threads, motion.x)


def _nothing_more(cloth, pins, attached, frame_input, settings):
    return None


def _prepare_explicit(cloth, pins, attached, frame_input, settings):
    touching = bool(frame_input.colliders) or bool(cloth.meets.any())
    inner = explicit.prepare_pull(cloth, pins, touching, attached)
    if settings.dynamics in explicit.FEEDING and explicit.is_endless(settings.dynamics, inner):
        inner = explicit.prepare_pull(cloth, pins, True, attached)
    explicit.refuse_endless(settings.dynamics, inner)
    return inner


def _as_one(substep, settings, cloth, x, v):
    return [substep]


def _as_it_turns(substep, settings, cloth, x, v):
    # what else keeps cloth from cloth goes by how a whole substep would go straight on
    steps = settings.small_steps if settings.cloth_contact == "PAIRS" else 0.0
    return small_steps.part(substep, steps, cloth, x, v)


def _on_arcs(substep, settings, cloth, x, v):
    steps = settings.small_steps if settings.cloth_contact == "PAIRS" else 0.0  # as above
    return small_steps.part_on_arcs(substep, steps, settings.theta, cloth, x, v)


def _whole(substep, settings):
    return substep


def _to_theta(substep, settings):
    theta = settings.theta
    return substep._replace(t1=substep.t0 + theta * (substep.t1 - substep.t0), dt=theta * substep.dt)


def _predict(mechanics, motion, part):
    predict(motion, mechanics.cloth.inv_mass, mechanics.acceleration, mechanics.pins, part)
    if mechanics.attached is not None:
        pull_along(mechanics.attached, motion, part)


def _march(mechanics, motion, substep):
    """By an explicit method, in as many inner steps as it needs; contacts come afterwards."""
    cloth, pulls, first = mechanics.cloth, mechanics.pulls, len(mechanics.pins.particles)
    last = len(pulls.particles) - (0 if mechanics.attached is None else len(mechanics.attached.particles))
    pulled = pulls.particles[first:last]
    everywhere = np.broadcast_to(mechanics.acceleration, motion.x.shape).copy()
    everywhere[pulled] += cloth.inv_mass[pulled, None] * pulls.pull[first:last]
    explicit.move(mechanics.settings.dynamics, mechanics.explicit, motion, everywhere, substep)


def _solve_once(mechanics, motion, constraints, substep):
    """One Newton step (`pcg`), without what edges are too long by for it."""
    cloth, settings, system, x = mechanics.cloth, mechanics.settings, mechanics.system, motion.x
    guess = _fall(mechanics, substep.dt)
    loss = 0.0 if constraints.is_tangled else 1.0  # what is crumpled comes out of itself as fast as it can
    target = Target(guess, substep.dt, DAMPED_SHARE, settings.iterations, settings.tolerance, loss)
    about = constraints.support, constraints.stack, mechanics.pulls
    pcg.solve(system, x, motion.x_prev, *about, target)
    edges = cloth.edges, cloth.rest_length, cloth.is_mesh_edge, cloth.inv_mass
    shorten(*edges, constraints.support.kind, x, system.solution.correction)
    about = constraints.support, 1.0 / substep.dt**2, system.free, system.held_by
    slide_as_wholes(system.solution.correction, cloth.mass, *about)
    pcg.correct(system, x, motion.x_prev)
    _end(mechanics, motion, substep)
    return motion.x_prev


def _solve_fully(mechanics, motion, constraints, substep):
    """Newton steps until the forces balance (`implicit`)."""
    about = constraints.support, constraints.stack, mechanics.pulls, _fall(mechanics, substep.dt)
    implicit.solve_fully(mechanics.system, motion.x, motion.x_prev, *about, mechanics.settings, substep.dt)
    _end(mechanics, motion, substep)
    return motion.x_prev


def _solve_to_theta(mechanics, motion, constraints, substep):
    """Solve for the point at theta of the substep, and go on straight from there to its end."""
    theta, dt, pins = mechanics.settings.theta, substep.dt, mechanics.pins
    _solve_fully(mechanics, motion, constraints, _to_theta(substep, mechanics.settings))
    there, before = (motion.x - motion.x_prev) / (theta * dt), motion.v_start.copy()
    is_kinematic = np.isinf(pins.stiffness)
    kinematic = pins.particles[is_kinematic]
    before[kinematic] = there[kinematic]
    motion.x[:] = motion.x_prev + dt * there
    motion.x[kinematic] = points(pins, substep.t1)[is_kinematic]
    x_from = motion.x - dt * (before + (there - before) / theta)
    keep_near_pose(motion.x, mechanics.cloth.inv_mass, pins, substep.t1)
    return x_from


def _end_march(mechanics, motion, constraints, substep):
    """Nothing is left to be solved for."""
    x_from = motion.x - substep.dt * motion.v
    _end(mechanics, motion, substep)
    return x_from


def _fall(mechanics, dt):
    """[m] what gravity predicts in a substep, taken back."""
    return tuple(-dt * dt * a for a in mechanics.acceleration)


def _end(mechanics, motion, substep):
    """What is solved for is known; pins have a say in where particles may be at most."""
    mechanics.system.solution.x[:] = motion.x
    keep_near_pose(motion.x, mechanics.cloth.inv_mass, mechanics.pins, substep.t1)


DYNAMICS_BY_NAME = {
    "XPBD": Dynamics(_as_it_turns, _nothing_more, _whole, _predict, True, _solve_once),
    "IMPLICIT_EULER": Dynamics(_as_one, _nothing_more, _whole, _predict, True, _solve_fully),
    "IMPLICIT_THETA": Dynamics(_on_arcs, _nothing_more, _to_theta, _predict, True, _solve_to_theta),
} | dict.fromkeys(explicit.METHODS, Dynamics(_as_one, _prepare_explicit, _whole, _march, False, _end_march))
