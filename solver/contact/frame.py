# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact in a frame: what the cloth may touch, and the calls by which a substep enters this room and leaves it.

    detect(contact, motion, t0, t1)                      a few times in a frame: the bodies' images
    constraints = constrain(contact, motion, ...)        each small step: what touches, as conditions of the solve; at a
                                                         substep's start also what of cloth may meet in it
    respond_to_bodies(contact, motion, ...)              after that: particles are kept off bodies
    try_bodies(...), weigh_on_bodies(...)                the same where a step is tried out, once a frame; and how hard they press
    respond_to_cloth(contact, motion, x_from, ...)       each substep: cloth is kept off cloth; nothing passes through anything
    bounce_off_bodies(contact, motion, substep)          each small step: restitution of bodies, on velocities
    look_again(contact, motion, dt)                      where a substep is taken again
    looks_for_bounces(contact, v, dt)                    each substep: how many parts of it cloth that bounces wants
    bounce_off_cloth(contact, motion, before, dt)        each of these: restitution of cloth on cloth, on velocities

Each response first learns from the solve what its constraints had to bear, for those of the next substep. Bodies come
before cloth, so that no push goes unseen by cloth.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np

from ..geometry.topology import within_rings
from ..kernel.stopwatch import Stopwatch, timed
from ..model import LDI, Cloth, FrameInput, Settings, State, Trouble
from . import passing, resolve
from .body import collide
from .body.calm import Calm, find_calm, hold_calm, make_calm
from .body.collide import BodyContact
from .body.constraints import Support, find_support, make_support, weigh
from .body.contacts import OUTSIDE, is_pinching, lead_as_before
from .body.flattening import is_flattened
from .body.give_way import give_way, let_through
from .body.slip import Hold, find_slip, make_hold
from .brace import brace_of
from .cloth import pairs as cloth_pairs
from .cloth import restitution
from .cloth.constraints import NO_BODY, NO_BOUNCE, NO_STACK, Stack, find_stack, let_go
from .cloth.easing import Eased, ease, sides_in, with_eased
from .cloth.pairs import Pairs
from .cloth.response import NO_BRACE, NONE_CALM, braced
from .cloth.tangles import Tangles, beside_tangles
from .guard import body_pairs, poked
from .guard.body_pairs import BodyPairs
from .guard.impact_zones import ALONE

BODY_TIME, CLOTH_TIME, IMAGE_TIME = "volume collision", "self-collision", "LDI generation"
MANY_TANGLES = 0.01  # crossings a particle from which on what is held back is not held in each step, and bends ring
HELD_RINGS = 6  # edges from a pinch and from what is in a body, up to which something always is kept from passing
MOST_STIRRED = 0.125  # part of all springs that may be beside tangles for the others to tell how fast cloth turns


class Constraints(NamedTuple):
    """What touches, as conditions of a solve."""

    support: Support  # what bodies hold
    stack: Stack  # cloth that lies on cloth
    dt: float  # [s] that is solved for
    is_tangled: bool = False  # whether much of the cloth is through cloth


@dataclass
class Contact:
    """What the cloth may touch in a frame, and what of it goes on from substep to substep."""

    cloth: Cloth
    settings: Settings
    stopwatch: Stopwatch
    body: BodyContact | None  # all bodies
    guarded: BodyPairs | None  # what of them lies between the particles
    pairs: Pairs | None  # cloth on cloth; None if nothing has been looked for yet, or nothing can meet
    alternative: object | None  # what keeps cloth from cloth besides pairs, or instead of them
    support: Support
    hold: Hold  # how firmly what is pinched is held
    restitution: np.ndarray  # (n,) of cloth on cloth, or `NO_BOUNCE`
    calm: Calm | None = None  # None while nothing has been pinched
    eased: Eased | None = None  # the tangles of the last substep
    wanted: np.ndarray | None = None  # (n, g) sides that cloth is to be on, once there are tangles in the frame
    was_pinching: bool = False  # when it was last looked at what is calm
    is_holding: bool = False  # something was kept from passing in the last substep, and
    always_holds: bool = False  # that only where something always is
    is_flattening: bool = False  # bodies have taken folds out of cloth in this substep
    let_pass: bool = False  # the guard has had to let cloth pass through cloth in this frame


def prepare(
    cloth: Cloth,
    state: State,
    frame_input: FrameInput,
    settings: Settings,
    alternative: object | None,
    stopwatch: Stopwatch,
    render: Callable[..., LDI],
) -> Contact:
    """`Contact` at the start of a frame.

    alternative : something that can `respond` to cloth on cloth, or None; render : draws the bodies' images
    """
    with stopwatch.during(BODY_TIME):
        body = collide.prepare(cloth, state, frame_input, settings, render) if frame_input.colliders else None
    guarded = body_pairs.prepare(cloth, body, settings.broad_phase) if settings.guard_bodies else None
    given = restitution.restitution_of(cloth, settings) if cloth_pairs.can_meet(cloth) else NO_BOUNCE
    beside = make_support(cloth), make_hold(cloth), given if given.any() else NO_BOUNCE
    return Contact(cloth, settings, stopwatch, body, guarded, None, alternative, *beside)


@timed(IMAGE_TIME)
def detect(contact: Contact, motion, t0: float, t1: float) -> None:
    """Draw the bodies from t0 to t1 of the frame, as the cloth sees them at t0."""
    if contact.body is not None:
        collide.detect(contact.body, contact.cloth, motion.x, motion.v, t0, t1, contact.settings)


@timed(CLOTH_TIME)
def constrain(contact: Contact, motion, is_held: bool, step, ahead: float) -> Constraints:
    """What touches, as conditions of a solve over a step, an `Interval`; those of no contact where nothing `is_held` in it.

    ahead : [s] the substep that begins, for which cloth is looked for; 0 within it
    """
    cloth, dt, start = contact.cloth, step.dt, (motion.start, motion.v_start)
    if ahead:
        _look_for_cloth(contact, *start, ahead)
    if not is_held:
        return unheld(contact, motion, dt)
    stack = NO_STACK
    if contact.pairs is not None:
        stack = find_stack(contact.pairs, *start, cloth.inv_mass, dt, _on_bodies(contact), _leaving(contact))
        stack = with_eased(stack, contact.eased, cloth.inv_mass, dt)
    if contact.body is not None:
        collide.carry_on(contact.body, cloth, step.t0, step.t1, dt)
        find_support(len(motion.x), motion.x, motion.x_prev, cloth.inv_mass, contact.body.contacts, contact.support, dt)
        _hold_calm(contact, motion, contact.support, dt)
    tangles = _tangles(contact)
    is_tangled = tangles is not None and tangles.count > MANY_TANGLES * len(contact.cloth.mass)
    return Constraints(contact.support, stack, dt, is_tangled)


def _hold_calm(contact: Contact, motion, support: Support, dt: float) -> None:
    """Hold what is beside a pinch."""
    contacts, is_pinching = contact.body.contacts, pinches(contact)
    if is_pinching or contact.was_pinching:
        contact.was_pinching, contact.calm = is_pinching, contact.calm or make_calm(contact.cloth)
        find_calm(contact.cloth.edges, contacts, contact.calm)
        hold_calm(contact.calm, contacts.calm, contact.hold.most, motion.x, motion.x_prev, dt, support)


def _look_for_cloth(contact: Contact, x: np.ndarray, v: np.ndarray, dt: float) -> None:
    """Look for candidates of cloth on cloth anew where those of the substep before do not last for this one of dt [s], which begins
    at x (n, 3) [m] with v (n, 3) [m/s].
    """
    cloth, settings = contact.cloth, contact.settings
    if cloth.meets.any() and settings.cloth_contact in ("PAIRS", "BOTH"):
        if contact.pairs is None or not cloth_pairs.is_current(contact.pairs, cloth, dt):
            tangles, contact.pairs = _tangles(contact), None  # not twice in memory
            contact.pairs = cloth_pairs.detect(cloth, x, v, dt, settings, tangles)


def look_again(contact: Contact, motion, dt: float) -> None:
    """Forget what was found of cloth in a substep of dt [s] that is taken back to where it began."""
    if contact.guarded is not None:
        body_pairs.hold_again(contact.guarded)
    if contact.pairs is not None:
        tangles, contact.pairs, contact.eased = contact.pairs.tangles, None, None
        contact.pairs = cloth_pairs.detect(contact.cloth, motion.x, motion.v, dt, contact.settings, tangles)


def begin_substep(contact: Contact, x: np.ndarray) -> None:
    """Nothing has been given up or flattened in the substep that begins at x (n, 3) [m]; what bodies would tear, they let through."""
    contact.is_flattening = False
    if contact.guarded is not None:
        contact.guarded.given_up = ()
        let_through(contact.cloth, contact.body.contacts, contact.guarded.frame.tangled, x)


def gave_up(contact: Contact) -> Trouble | None:
    """What the guard has let into bodies in this substep, None if nothing. While bodies pinch a garment it has to."""
    met = [each for each in contact.guarded.given_up if len(each.particles)] if contact.guarded else []
    if met and pinches(contact):
        garment, pinched_ones = contact.cloth.garment, collide.pinched_garments(contact.body, contact.cloth.garment)
        free = [each.particles[~np.isin(garment[each.particles], pinched_ones)] for each in met]
        met = [each._replace(particles=left) for each, left in zip(met, free, strict=True) if len(left)]
    if not met:
        return None
    garments = np.unique(contact.cloth.garment[np.concatenate([each.particles for each in met])])
    bodies, colliders = np.unique(np.concatenate([each.bodies for each in met])), contact.body.mesh.colliders
    return Trouble(tuple(garments.tolist()), tuple(colliders[body].name for body in bodies))


def lost_folds(contact: Contact) -> bool:
    """Whether bodies have taken folds out of cloth in this substep. Beside tangles they seem to all the time: what is eased out of
    cloth is pushed into bodies and out again.
    """
    tangles = _tangles(contact)
    return contact.is_flattening and not (tangles is not None and tangles.count > 0)


def unheld(contact: Contact, motion, dt: float) -> Constraints:
    """The conditions of a solve over dt [s] in which nothing touches, but what is pinched is calm."""
    support = make_support(contact.cloth)
    if contact.body is not None:
        _hold_calm(contact, motion, support, dt)
    return Constraints(support, NO_STACK, dt)


@timed(BODY_TIME)
def respond_to_bodies(contact: Contact, motion, constraints: Constraints, solution, x_from, substep) -> int:
    """Keep particles off bodies; returns how many points touch.

    solution : `integrate.system.Solution`; x_from : (n, 3) [m] where velocities count from
    """
    if contact.body is None:
        return 0
    cloth, contacts = contact.cloth, contact.body.contacts
    if constraints.dt != substep.dt:  # the theta method goes on straight to the end, also into the aura
        contacts.sunk[:] *= substep.dt / constraints.dt
    weigh_on_bodies(contact, constraints, solution)
    if substep.t0 == 0.0 or pinches(contact) or contact.alternative is not None:
        contacts.pressed[:] = 0.0  # nothing was held where a frame begins; the others move what is held, too
    if pinches(contact):
        find_slip(solution.residual, contact.hold, constraints.support.kind, contacts)
    about, before = (motion.x, motion.x_prev, motion.v, x_from), motion.x.copy()
    touched = contacts.count[: len(motion.x)] > 0
    touching = collide.respond(contact.body, cloth, *about, substep.t1, substep.dt, _through_bodies(contact))
    contact.is_flattening |= is_flattened(cloth, touched, before, motion.x, motion.v_start, contacts, substep.dt)
    return touching


def weigh_on_bodies(contact: Contact, constraints: Constraints, solution) -> None:
    """Learn from a solution with these constraints how hard bodies press, and whether cloth sticks to them."""
    about = solution.correction, solution.residual, contact.cloth.inv_mass
    weigh(len(contact.cloth.mass), *about, contact.body.contacts, constraints.support, constraints.dt)


def try_bodies(contact: Contact, motion, constraints: Constraints, solution, x_from, substep) -> int:
    """`respond_to_bodies` of a step that is tried out, to learn what touches in it."""
    touching = respond_to_bodies(contact, motion, constraints, solution, x_from, substep)
    lead_as_before(contact.body.contacts, motion.v_start)
    return touching


def _through_bodies(contact: Contact) -> np.ndarray | None:
    """(n,) bool: particles of triangles that cross bodies which overlap and pinch cloth, which no push would lead out; or None."""
    guarded = contact.guarded
    return guarded.frame.tangled if guarded is not None and poked.overlap_pinches(guarded) else None


@timed(CLOTH_TIME)
def respond_to_cloth(contact: Contact, motion, x_from, constraints: Constraints, solution, substep, steps: int):
    """Keep cloth off cloth, and let nothing pass through cloth or a body; returns how many pairs touch, and what is held
    back from passing (n,), as in `guard.impact_zones.holders`.

    x_from : (n, 3) [m] where velocities of the substep count from; changes in place where cloth was too close before
    steps : small steps of the substep, of which the solution is the last
    """
    if steps > 1 and contact.guarded is not None:  # it looks at the whole substep
        collide.move_bodies(contact.body, contact.cloth, substep.t0, substep.t1)
    count, held, (cloth, brace) = 0, np.full(len(motion.x), ALONE, np.int32), _brace(contact)
    if contact.pairs is not None:
        let_go(contact.pairs.pair_list, constraints.stack, solution.x, motion.x_prev)
    if contact.alternative is not None:
        count += contact.alternative.respond(braced(cloth, brace), motion.x, x_from, substep.t1, substep.dt)
    if contact.pairs is not None and contact.pairs.tangles is not None:
        _ease(contact, motion, x_from, substep.dt, cloth, brace)
    if contact.guarded is not None:
        poked.ease_off(contact.guarded, cloth, motion.start, motion.x, x_from, substep.dt, brace)
        _give_way(contact, motion, x_from)
    if contact.pairs is not None or contact.guarded is not None:
        about = cloth, (substep.t0, substep.t1), motion.start, motion.x, x_from, substep.dt
        calm = contact.body.contacts.calm if contact.body is not None else NONE_CALM
        found = resolve.resolve(contact.pairs, contact.guarded, *about, brace, calm)
        touched, held, is_moved, is_contended = found
        _note_held(contact, is_moved & ~calm if len(calm) else is_moved, is_contended)
        count += touched
        contact.let_pass |= contact.pairs is not None and contact.pairs.let_pass
    return count, held


def _note_held(contact: Contact, is_held: np.ndarray, is_contended: np.ndarray) -> None:
    """Note whether something `is_held` (n,), where no pinch is calm, and whether something always is where all of that is: cloth and
    bodies contend for it (n,), or it is beside a pinch or what is in a body.

    Beside many tangles something always is, too: all would be looked at in each step, for twice the time and nothing.
    """
    many = contact.eased is not None and len(contact.eased.way) > MANY_TANGLES * len(is_held)
    contact.is_holding = not many and bool(is_held.any())
    alone = is_held & ~is_contended
    if contact.is_holding and alone.any() and contact.guarded is not None:
        contacts, count = contact.body.contacts, len(is_held)
        stuck = contact.guarded.frame.tangled | (contacts.place[:count] > OUTSIDE)
        stuck |= contacts.calm[:count] if len(contacts.calm) else False
        if stuck.any():
            alone &= ~within_rings(stuck, contact.cloth.edges, HELD_RINGS)
    contact.always_holds = contact.is_holding and not alone.any()


def _give_way(contact: Contact, motion, x_from) -> None:
    """Let bodies lose where they would tear cloth out of its length."""
    tangled = contact.guarded.frame.tangled
    if tangled.any() or pinches(contact):
        give_way(contact.cloth, contact.body.contacts, tangled, motion.x, x_from)


def _ease(contact: Contact, motion, x_from, dt: float, cloth: Cloth, brace: np.ndarray) -> None:
    """Ease tangles apart. Which side cloth is to be on is settled once in a frame."""
    tangles = contact.pairs.tangles
    if contact.wanted is None and len(tangles.near):
        contact.wanted = sides_in(tangles, cloth, motion.start)
    contact.eased = ease(tangles, cloth, motion.x, x_from, dt, brace, contact.wanted)


@timed(BODY_TIME)
def bounce_off_bodies(contact: Contact, motion, substep) -> None:
    """Give velocities the restitution of bodies: what touches leaves as it should, and else goes with the surface."""
    if contact.body is not None:
        collide.respond_velocity(contact.body, contact.cloth, motion.v, substep.dt)


def bounces(contact: Contact) -> bool:
    """Whether cloth bounces off cloth."""
    return len(contact.restitution) > 0


def looks_for_bounces(contact: Contact, v: np.ndarray, dt: float) -> int:
    """How many times in a substep dt [s] contact has to look at cloth with velocities v (n, 3) [m/s], 1 where nothing bounces:
    what gets far into other cloth before it bounces is crumpled by being taken out of it.
    """
    if not bounces(contact) or not len(contact.cloth.rest_length):
        return 1
    travel = dt * float(np.ptp(v, axis=0).max()) / float(contact.cloth.rest_length.mean())
    return ceil(min(max(1.0, travel / restitution.BOUNCING_TRAVEL), restitution.MOST_LOOKS))


@timed(CLOTH_TIME)
def bounce_off_cloth(contact: Contact, motion, before: np.ndarray, dt: float) -> None:
    """Give velocities the restitution of cloth on cloth; before : (n, 3) [m/s] those that the substep dt [s] began with."""
    if contact.pairs is not None:
        restitution.bounce(contact.pairs, *_brace(contact), contact.restitution, motion.x, before, motion.v, dt)


def _leaving(contact: Contact) -> np.ndarray:
    """(n,) [m/s] of pairs that part, above which they have bounced; `NO_BOUNCE` where none does."""
    return restitution.SLOWEST_CLOTH_BOUNCE * contact.restitution


def turning(contact: Contact) -> Cloth:
    """The cloth as `integrate.small_steps` looks at it: beside tangles, which are moved on as fast in however small steps, springs
    do not count, unless that is much of the cloth.
    """
    cloth, tangles = contact.cloth, _tangles(contact)
    if tangles is None or not tangles.count:
        return cloth
    is_beside, (a, b) = beside_tangles(tangles, cloth.edges), cloth.edges.T
    is_stirred = is_beside[a] | is_beside[b]
    if np.count_nonzero(is_stirred) > MOST_STIRRED * len(is_stirred):
        return cloth
    return cloth._replace(rest_length=np.where(is_stirred, 0.0, cloth.rest_length))


def crossing_count(contact: Contact, x: np.ndarray, filed: np.ndarray) -> int | None:
    """Pairs of triangles that cross where the frame ends, as in `passing`; None if there are none."""
    return passing.crossing_count(contact, x, filed, contact.let_pass)


def pinched(contact: Contact) -> np.ndarray | None:
    """Particles (k,) to which bodies leave no room between them; None if there are none."""
    return collide.pinched(contact.body) if contact.body is not None else None


def detections(contact: Contact) -> int:
    """How many equal parts of the frame want the bodies drawn anew."""
    return contact.body.detections if contact.body is not None else 1


def _tangles(contact: Contact) -> Tangles | None:
    """What is through each other, as last looked for."""
    return contact.pairs.tangles if contact.pairs is not None else None


def _brace(contact: Contact) -> tuple[Cloth, np.ndarray]:
    """The cloth as cloth on cloth sees it, and its brace (`brace`)."""
    if contact.body is None:
        return contact.cloth, NO_BRACE
    return brace_of(contact.cloth, contact.body.contacts, pinches(contact))


def pinches(contact: Contact) -> bool:
    """Whether bodies leave cloth no room between them."""
    return is_pinching(contact.body.contacts.place)


def _on_bodies(contact: Contact) -> np.ndarray:
    """(n,) bool: what touches a body, as `find_stack` wants it; `NO_BODY` while bodies pinch cloth."""
    if contact.body is None or pinches(contact):
        return NO_BODY
    return contact.body.contacts.count[: len(contact.cloth.mass)] > 0
