# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth against bodies: the calls that `step.advance` makes.

    body = prepare(cloth, state, frame_input, settings)             once a frame
    detect(body, cloth, x, v, t0, t1, settings)                     body.detections times a frame, or more
    count = respond(body, cloth, x, x_prev, v, x_from, t, dt)               each substep, after all constraints
    respond_velocity(body, cloth, v, dt)                            each substep, after v = (x - x_from) / dt
    particles = pinched(body)                                       once, at the frame's end

What `respond` leaves in `body.contacts` holds up the cloth in the next substep's solve (`constraints`).

Times t, t0, t1 are fractions of the frame in [0, 1]. In `respond`, t is the END of the substep (x_prev belongs to
t - dt / duration), v the velocity at the START of the substep (it decides how high a particle bounces).

A body's positions go one way: all colliders are merged (`mesh`), their trajectories through an interval are looked at
and drawn (`view`, `motion`), each substep moves the vertices near the cloth (`Bodies.motions`). The layered depth image
finds, exact triangles decide: a point near a body asks the image which triangles it can meet (`association`), and again
only after it has strayed from the way it expected to go; `respond` tests those triangles at the time of the substep
(`response`). A point that leaves what is drawn has the image drawn again, with twice the room round the cloth.
"""

import math

import numpy as np

from ...kernel.shared import BOARD, MOST_PARTS
from ...kernel.threads import cut, on_threads
from ...ldi.rasterise import render_motion
from ...model import BODY_SEARCHES, Cloth, FrameInput, Settings, State
from .association import NOT_ASKED, make_candidates, make_scratches
from .contacts import OUTSIDE, PINCHED, go_on, no_contacts, settle
from .feature_samples import (
    FEATURE_REACH,
    NOWHERE,
    find_wishes,
    gather_feature_samples,
    place_feature_samples,
    with_feature_samples,
)
from .features import NO_FEATURES, find_features
from .impact import Times
from .mesh import find_places, make_bodies, merge, patches_of_bodies, way_out
from .pinch_start import find_grips
from .response import Points, respond_kernel
from .rims import keep_off_rims
from .samples import gather, limb, samples_of
from .view import BodyContact, detections, draw, look, look_farther, move_bodies, near_features

MOST_REDRAWS = 8  # of one substep: each doubles the room round the cloth
SMALLEST_FEATURES_PART = 1200  # ridges
SAME_MOMENT = 1e-9  # of the frame
SLOWEST_BOUNCE = 0.2  # [m/s] against a body, slower than which nothing bounces: what lies there lies still
STOPPED_IN_SOLVE = "XPBD", "IMPLICIT_EULER"  # dynamics whose solve stops what comes upon a body as a frame begins
FALLS = 2.0  # speeds that gravity gives in a substep, for which the same holds


def prepare(
    cloth: Cloth, state: State, frame_input: FrameInput, settings: Settings, render=render_motion
) -> BodyContact:
    """Merge the frame's colliders, look which particles start inside.

    render : draws the bodies' images, here or on a graphics card; what comes of the bake is the same with each

    Raises
    ------
    ValueError
        A collider's vertices are not finite or its triangles name vertices that it does not have.
    """
    count = len(cloth.inv_mass)
    mesh = merge(frame_input.colliders if count else (), len(cloth.garment_start) - 1)
    least = min((c.aura for c in mesh.colliders), default=0.0)
    samples = samples_of(cloth, least, limb(mesh.start, mesh.triangles, mesh.topology.neighbour, mesh.solid))
    gravity, memory = (
        tuple(float(g) for g in frame_input.gravity),
        (make_candidates(0), no_contacts(count, len(samples.parents))),
    )
    if settings.body_search != BODY_SEARCHES[0]:
        from ...ldi.search import drawer  # here, because few shots want another

        render = drawer(settings.body_search, frame_input.gravity, mesh.largest_aura)
    about = mesh, NO_FEATURES, samples, *memory, settings, make_bodies(mesh), render
    body = BodyContact(1, frame_input.duration, gravity, *about)
    if mesh.colliders:
        body.contacts.place[:count] = find_places(mesh, cloth, state.x, settings.ldi_resolution)
        if (body.contacts.place > OUTSIDE).any():
            body.way_out = way_out(mesh)
        if mesh.solid.any():
            own = body.contacts.place[:count], body.contacts.grip
            about = patches_of_bodies(mesh), mesh.start - cloth.origin, cloth.garment
            find_grips(body.bodies, *about, state.x, *own)
        body.view = look(body, cloth, state.x, state.v, 0.0, 1.0)
        _add_features(body, cloth, state)
        body.detections = detections(body)
    return body


def _add_features(body: BodyContact, cloth: Cloth, state: State) -> None:
    """Find the ridges that may meet the cloth in this frame; they and all points get room for what they know."""
    mesh, count = body.mesh, len(cloth.inv_mass)
    about = mesh.triangles, mesh.topology.neighbour, mesh.solid, body.view.is_used
    body.features = find_features(mesh.start, *about, mesh.largest_aura, body.samples.longest)
    body.samples = with_feature_samples(body.samples, len(body.features.ends))
    before = body.contacts
    body.contacts = no_contacts(count, len(body.samples.parents))._replace(grip=before.grip)
    body.contacts.place[:count] = before.place[:count]
    body.candidates = make_candidates(len(body.contacts.place))
    body.view = body.view._replace(near_features=near_features(body, cloth, body.view, state.x, state.v, 0.0))


def pinched(body: BodyContact) -> np.ndarray | None:
    """Particles (k,) to which bodies left no room between them when last looked at; None if there were none."""
    place = body.contacts.place[: len(body.contacts.place) - len(body.samples.parents)]
    found = np.flatnonzero(place == PINCHED)
    return found if len(found) else None


def pinched_garments(body: BodyContact, garment: np.ndarray) -> np.ndarray:
    """Garments to a point of which, a particle or a sample between them, bodies leave no room. garment : (n,) of particles"""
    is_pinched = body.contacts.place == PINCHED
    between = body.samples.parents[is_pinched[len(garment) :]].ravel()
    return np.unique(garment[np.concatenate([np.flatnonzero(is_pinched[: len(garment)]), between])])


def detect(body: BodyContact, cloth: Cloth, x, v, t0: float, t1: float, settings: Settings) -> None:
    """Draw the bodies' layered depth image for the time from t0 to t1 of the frame; x and v are those at t0."""
    body.candidates.count[:] = NOT_ASKED
    if not body.mesh.colliders:
        return
    if body.image is not None or (t0, t1) != (body.view.t0, body.view.t1):  # `prepare` has looked at the whole frame
        body.view = look(body, cloth, x, v, t0, t1)
        body.bodies.motions[:], body.moved = np.nan, None  # of what is not looked at; `pinch` may come there
    draw(body, settings)


def carry_on(body: BodyContact, cloth: Cloth, t0: float, t1: float, dt: float) -> None:
    """Let what particles touch go as it will in the step of dt [s] from t0 to t1 of the frame, which begins."""
    if body.mesh.colliders and body.image is not None and t1 <= body.view.t1 + SAME_MOMENT:
        move_bodies(body, cloth, t0, t1)
        go_on(len(cloth.inv_mass), body.contacts, body.bodies, dt)


def respond(body: BodyContact, cloth: Cloth, x, x_prev, v, x_from, t: float, dt: float, through=None) -> int:
    """Keep x out of the bodies at time t; returns how many points touch. x changes in place; velocities count from `x_from`.

    through : (n,) bool, particles of triangles that cross bodies, between which no place is right; None: samples of all count
    """
    if not body.mesh.colliders:
        return 0
    before = t - dt / body.duration
    if body.image is None or t > body.view.t1 + SAME_MOMENT:
        detect(body, cloth, x_prev, v, before, min(max(t, before + 1.0 / body.detections), 1.0), body.settings)
    move_bodies(body, cloth, before, t)
    count = len(cloth.inv_mass)
    touching = _points(body, cloth, 0, count, x, x_prev, v, x_from, t, dt)
    if len(body.samples.parents):
        touching += _respond_samples(body, cloth, x, x_prev, v, x_from, t, dt, through)
    return touching


def _respond_samples(body: BodyContact, cloth: Cloth, x, x_prev, v, x_from, t: float, dt: float, through) -> int:
    """Take the particles where their samples want them; returns how many samples touch."""
    samples, contacts, count = body.samples, body.contacts, len(cloth.inv_mass)
    fixed, has_features = len(samples.parents) - len(body.features.ends), len(body.features.ends) > 0
    if has_features:  # the samples of ridges come after those that are fixed
        _place_feature_samples(body, cloth, x, x_prev, fixed)
        has_features = len(body.view.near_features.triangles) > 0  # far from all cloth they are nowhere
    about = body, cloth, count, count + len(samples.parents), x, x_prev, v, x_from, t, dt
    if through is None:
        touching = _points(*about)
    else:
        caught, kept = through[samples.parents].all(axis=1), samples.weight[:fixed, 0].copy()
        samples.weight[caught, 0], contacts.count[count:][caught] = NOWHERE, 0
        touching = _points(*about)
        samples.weight[:fixed, 0] = kept
    if has_features:
        rims = body.view.near_features, body.bodies, cloth.friction, cloth.garment, samples, contacts, fixed
        keep_off_rims(*rims, x_prev, x, dt)
    ridges, wishing = len(body.features.ends), 0
    rows, aims, wishes = np.empty(ridges, np.int64), np.empty((ridges, 3)), np.empty(ridges)
    if has_features:
        wishing = find_wishes(samples, contacts, fixed, x, rows, aims, wishes)
    gather(cloth.inv_mass, samples, contacts, x)
    if wishing:
        order = rows[np.argsort(-wishes[:wishing], kind="stable")]
        gather_feature_samples(order, cloth.inv_mass, samples, contacts, fixed, aims, x)
    return touching


def _place_feature_samples(body: BodyContact, cloth: Cloth, x, x_prev, fixed: int) -> None:
    """Put the samples from `fixed` on where ridges of the bodies meet the cloth."""
    samples, contacts, near = body.samples, body.contacts, body.view.near_features
    samples.weight[fixed:, 0], contacts.count[len(cloth.inv_mass) + fixed :] = NOWHERE, 0
    about = near, body.bodies.motions, cloth.triangles, x_prev, x, FEATURE_REACH * body.mesh.largest_aura
    about += samples, contacts, fixed
    if len(near.triangles):
        on_threads(lambda _, a, b: place_feature_samples(a, b, *about), cut(len(near.rows), SMALLEST_FEATURES_PART))


def _points(body: BodyContact, cloth: Cloth, first: int, last: int, x, x_prev, v, x_from, t: float, dt: float) -> int:
    """Respond for points first..last; draws the image again, larger, while some of them have left the domain."""
    touching, lost = _sweep(body, cloth, first, last, False, x, x_prev, x_from, t, dt)
    for _ in range(MOST_REDRAWS):
        if not lost:
            break
        before = t - dt / body.duration
        body.room *= 2.0
        body.view = look_farther(body, cloth, x_prev, v, before)
        draw(body, body.settings)
        move_bodies(body, cloth, before, t)
        again, lost = _sweep(body, cloth, first, last, True, x, x_prev, x_from, t, dt)
        touching += again
    return touching


def _sweep(
    body: BodyContact, cloth: Cloth, first: int, last: int, only_lost: bool, x, x_prev, x_from, t, dt
) -> tuple[int, int]:
    """How many points touch, and how many are lost."""
    t0, t1, samples = body.view.t0, body.view.t1, body.samples
    tau, seconds = (t - t0) / (t1 - t0), (t1 - t0) * body.duration
    before = tau - dt / seconds
    is_led = body.settings.dynamics in STOPPED_IN_SOLVE
    times = Times(before, tau, (tau - before) * seconds, slowest_bounce(body, dt), *body.gravity, is_led)
    kinds = cloth.inv_mass, cloth.friction, cloth.garment
    points = Points(x, x_prev, x_from, *kinds, samples.parents, samples.weight, samples.sag)
    if body.scratch is None:
        body.scratch = make_scratches(MOST_PARTS, len(body.mesh.triangles))
    counts = np.empty((MOST_PARTS, 2), np.int64)
    about = points, body.bodies, body.image, body.candidates, body.contacts, body.scratch, times, counts
    return respond_kernel(BOARD, first, last, only_lost, *about)


def slowest_bounce(body: BodyContact, dt: float) -> float:
    """[m/s] against a body, slower than which nothing bounces in a step of dt [s]."""
    return max(SLOWEST_BOUNCE, FALLS * math.hypot(*body.gravity) * dt)


def respond_velocity(body: BodyContact, cloth: Cloth, v, dt: float) -> None:
    """Set the velocity of touching particles after a step of dt [s], by restitution and viscous friction."""
    if body.mesh.colliders:
        settle(len(cloth.inv_mass), cloth.inv_mass, body.contacts, v, dt)
