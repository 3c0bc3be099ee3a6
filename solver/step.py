# SPDX-License-Identifier: GPL-3.0-or-later
"""One frame of cloth: the loop over substeps, and a substep.

Nothing but `State` lives from frame to frame: a bake that resumes from a stored state continues with the same bits.
"""

from itertools import pairwise

import numpy as np

from . import sleep
from .besides_pairs import prepare_alternative, untangle
from .build import repin
from .contact import frame as contact_frame
from .contact.frame import (
    bounce_off_bodies,
    bounce_off_cloth,
    bounces,
    constrain,
    detect,
    gave_up,
    pinches,
    respond_to_bodies,
    respond_to_cloth,
    unheld,
    weigh_on_bodies,
)  # fmt: skip
from .contact.guard.impact_zones import ALONE, LED
from .elastic.rigid import without_rigid
from .elastic.sewing import friction_while_sewn, lift_while_sewn, limit_seams
from .filed import as_filed, grain
from .flat import breathe
from .forces import optional
from .forces.air import blow
from .geometry.roughness import roughness
from .integrate.dynamics import break_ties, in_steps, prepare_mechanics, tie
from .integrate.edge_clamp import blown_up, longest, measure
from .integrate.predict import Motion, find_velocities
from .integrate.rides import arrive, leave, set_out
from .integrate.small_steps import finer
from .integrate.substeps import runs, substep_count, substeps_of
from .join import hand_back, join, weld
from .kernel.phases import crew_of, part_count
from .kernel.stopwatch import Stopwatch
from .kernel.threads import muster
from .ldi.rasterise import render_motion
from .model import Report, Trouble
from .parts import copied, part_of, put_back, together
from .refit import cloth_of
from .rest import at_rest, flow
from .tear import look, open_joints, torn_count, watch
from .untangle import untangles
from .zips import unzip

LATE_STRETCH = 0.25  # strain that contact may add in a substep: for more it is taken again, with contact in each step
LOOKS_IF_LATE = 4  # small steps at least then
STEPS_IF_FLAT = 8  # the same where bodies have taken the folds out of cloth


class Stopped(Exception):
    """Somebody asked to stop in the middle of a frame, whose `state` is worthless then."""


def advance(cloth, state, frame_input, frame, settings, render=render_motion, go_on=lambda: True):
    """Simulate one frame; `state` changes in place.

    Parameters
    ----------
    cloth : Cloth
    state : State at the frame before
    frame_input : FrameInput, what moves between the two frames
    frame : int, the number of the frame that is computed
    settings : Settings
    render : draws the bodies' images: the CPU, or a graphics card (`gpu_ldi.motion`); the result is the same
    go_on : asked before each substep whether to go on

    Returns
    -------
    Report

    Raises
    ------
    Stopped
        `go_on` said no.
    FloatingPointError
        The result is not finite; the message names the garment and the frame, and `state` is worthless.

    A frame in which something tears is taken again, substep by substep: a tear runs on within it.
    """
    about = frame, settings, render, go_on
    if cloth.tears is None:
        return _advance(cloth, state, frame_input, *about)
    before = copied(state)
    report = _advance(cloth, state, frame_input, *about)
    if report.torn == torn_count(cloth, before):
        return report
    put_back(state, before)
    count = substep_count(frame_input.duration, settings._replace(**dict(frame_input.changed)))
    parts = (part_of(frame_input, k, count) for k in range(count))
    return together([_advance(cloth, state, part, *about, first=k) for k, part in enumerate(parts)])


def _advance(cloth, state, frame_input, frame, settings, render, go_on, first=0):
    """Simulate a frame, or a part of one whose substeps count from `first` on; at its end something may tear."""
    stopwatch = Stopwatch("integration", contact_frame.BODY_TIME, contact_frame.CLOTH_TIME, contact_frame.IMAGE_TIME)
    settings = settings._replace(**dict(frame_input.changed))
    cloth = cloth_of(cloth, frame_input, settings, frame)
    built, given, resting, frame_end = cloth, frame_input, at_rest(cloth, state, frame_input), state
    whole = resting if frame_input.pin is None else repin(resting, frame_input.pin)
    if frame_input.pin_distance is not None:
        whole = whole._replace(pin_distance=frame_input.pin_distance)
    whole = unzip(whole, state, frame_input.zip_open)
    lift, start, share = lift_while_sewn(whole, state), state.x.copy(), sleep.begin(whole, state, given, settings)
    joined, state, frame_input = join(whole, state, frame_input)
    cloth = whole if joined is None else joined.cloth
    cloth = cloth._replace(grain=grain(cloth, state.x, frame_input.to_object), friction=friction_while_sewn(cloth))
    breathe(cloth, state, frame_input.gravity)
    motion = Motion(state.x, state.x.copy(), state.v, state.x.copy(), state.v.copy())
    substeps = substeps_of(frame_input.duration, settings, first)
    mechanics = prepare_mechanics(cloth, state, frame_input, frame, settings, lift)
    alternative = prepare_alternative(cloth, state, frame_input, settings)
    about = without_rigid(cloth), state, frame_input, settings
    contact = contact_frame.prepare(*about, alternative, stopwatch, render)
    done, watched = [], watch(whole)
    own_time = None if share is None else share[cloth.garment]
    if own_time is not None and not own_time.any():
        del substeps[1:]  # what rests needs none; one tells what touches and crosses
    for begin, end in pairwise(runs(len(substeps), contact_frame.detections(contact))):
        detect(contact, motion, substeps[begin].t0, end / len(substeps))
        for substep in substeps[begin:end]:
            if not go_on():
                raise Stopped
            before = None if own_time is None else (motion.x.copy(), motion.v.copy())
            done.append(advance_substep(mechanics, contact, motion, substep))
            if before is not None:
                sleep.slow_down(own_time, motion.x, motion.v, before)
            if watched is not None:
                look(watched, joined, state.x)
    twin, place = cloth.twins.T
    state.x[twin], state.v[twin] = state.x[place], state.v[place]
    _check_finite(cloth, state.x, state.v, frame)
    if untangles(settings):
        untangle(cloth, state, frame_input, stopwatch)
    report = _report(cloth, state.x, contact, frame, frame_input.to_object, stopwatch, done)
    hand_back(joined, state, frame_end)
    if len(whole.seams):
        weld(whole, frame_end)
    flow(built, resting, frame_end, given)
    sleep.end(whole, frame_end, start, share, given, settings)
    if watched is not None:
        open_joints(watched, frame_end, frame_input.tear_strength)
        report = report._replace(torn=torn_count(whole, frame_end))
    if joined is not None and report.pinched is not None:
        report = report._replace(pinched=joined.kept[report.pinched])
    return report


def _report(cloth, x, contact, frame, to_object, stopwatch, done):
    """`Report` of a frame that ends at x (n, 3) [m]; to_object : as of `FrameInput`; done : what `advance_substep` has returned of
    each substep.
    """
    *counts, troubles = zip(*done, strict=True)
    on_bodies, on_cloth, steps = map(sum, counts)
    taken_again, let_in = (tuple(dict.fromkeys(filter(None, found))) for found in zip(*troubles, strict=True))
    rough, folded = roughness(x, cloth.triangles)
    return Report(
        frame,
        stopwatch.read(),
        *stretch(cloth, x),
        on_bodies,
        on_cloth,
        pinched=contact_frame.pinched(contact),
        steps=steps,
        roughness=rough,
        folded_share=folded,
        crossings=contact_frame.crossing_count(contact, x, as_filed(cloth, x, to_object)),
        taken_again=taken_again,
        let_in=let_in,
    )


def advance_substep(mechanics, contact, motion, substep):
    """Go one substep on, without crossings at its end if there were none at its start.

    Cloth is kept off cloth once a substep, and nothing passes through anything from its start to its end. Until then it is
    moved in as many small steps as it turns fast (`integrate.small_steps`); by default these are 1 to 8.

        x  <-  x moved                              in small steps
        x  <-  x off other cloth                    cloth        (`contact.cloth`)
        x  <-  x_0 + part of (x - x_0)              guard        where something would pass through something
        v  <-  (x - o) / dt                         velocities   and restitution, of bodies and of cloth

    Notations are those of `move`; o is `x_from`: where the step began, but what was too close before or is pinned has no
    speed for that.

    Returns
    -------
    how many points touched bodies, and pairs of cloth each other; the small steps; two of `Trouble` or None: why the substep was
    taken again, and what went into bodies at last
    """
    muster(crew_of(part_count(len(motion.x))))
    steps = mechanics.dynamics.steps(substep, mechanics.settings, contact_frame.turning(contact), motion.x, motion.v)
    looks = contact_frame.looks_for_bounces(contact, motion.v, substep.dt)
    steps, start = finer(substep, steps, looks), (motion.x.copy(), motion.v.copy(), mechanics.broken.copy())
    parts = _parts(contact, steps, looks)
    contact_frame.begin_substep(contact, motion.x)
    touched, is_late = _advance_parts(mechanics, contact, motion, substep, parts)
    again, let_in = None, gave_up(contact)
    nearer = finer(substep, steps, LOOKS_IF_LATE) if is_late or let_in else []
    flatter = finer(substep, nearer or steps, STEPS_IF_FLAT) if contact_frame.lost_folds(contact) else steps
    if is_late or len(parts) < len(nearer):
        again = let_in or Trouble((longest(mechanics.cloth, motion.x)[1],), ())
    if again or len(steps) < len(flatter):
        motion.x[:], motion.v[:], mechanics.broken[:] = start
        contact_frame.look_again(contact, motion, substep.dt)
        steps = max(nearer, flatter, key=len)
        touched, _ = _advance_parts(mechanics, contact, motion, substep, [[step] for step in steps])
        let_in = gave_up(contact)
    return *touched, len(steps), (again, let_in)


def _parts(contact, steps, looks):
    """Small steps in parts, after each of which cloth is kept off cloth.

    What is held back pulls at that; it is held in each step, or it would swing back from each substep anew. Where something always is,
    as beside a pinch, twice in a substep takes half the time and does as well.
    """
    if looks == 1 and contact.always_holds and len(steps) > 1:
        return [steps[: len(steps) // 2], steps[len(steps) // 2 :]]
    return [[step] for step in steps] if contact.is_holding or looks > 1 else [steps]


def _advance_parts(mechanics, contact, motion, substep, parts):
    """A substep in parts of small steps; how many points touch bodies, and pairs of cloth each other, and whether
    contact came too late for one in a single part: by keeping something from passing it has made cloth longer by over
    `LATE_STRETCH`.
    """
    on_bodies, on_cloth, is_late, is_single = 0, 0, False, len(parts) == 1
    for part in parts:
        whole = substep if is_single else part[0]._replace(t1=part[-1].t1, dt=len(part) * part[0].dt)
        bodies, cloth, pulled = advance_part(mechanics, contact, motion, whole, part, is_single)
        on_bodies, on_cloth, is_late = on_bodies + bodies, on_cloth + cloth, pulled > LATE_STRETCH
    return (on_bodies, on_cloth), is_late


def advance_part(mechanics, contact, motion, substep, steps, measures=False):
    """A substep in these small steps; returns how many points touch bodies, and pairs of cloth each other, and, if it
    `measures` that, by what strain cloth got longer where something was kept from passing.
    """
    solution = mechanics.system.solution
    start, on_bodies, begun = motion.x.copy(), 0, None
    in_steps(mechanics, steps[0].dt)
    arriving = motion.v.copy() if bounces(contact) else None
    for step in steps:
        ahead = substep.dt if step is steps[0] else 0.0
        constraints, x_from, touching = move(mechanics, contact, motion, step, ahead)
        begun, on_bodies = x_from.copy() if begun is None else begun, on_bodies + touching
        if step is not steps[-1]:
            end_step(mechanics, contact, motion, x_from, step)
    motion.start[:] = start
    before, eased = motion.x.copy(), begun.copy()
    on_cloth, held = respond_to_cloth(contact, motion, eased, constraints, solution, substep, len(steps))
    pulled = 0.0
    if measures and contact.is_holding:
        pulled = longest(mechanics.cloth, motion.x)[0] - longest(mechanics.cloth, before)[0]
    if len(steps) > 1:
        eased = _spread(motion.x, before, x_from, begun, eased, held, mechanics.cloth.mass, len(steps))
    end_step(mechanics, contact, motion, eased, steps[-1])
    if arriving is not None:
        bounce_off_cloth(contact, motion, arriving, substep.dt)
    return on_bodies, on_cloth, pulled


def _spread(x, before, x_from, begun, eased, held, mass, steps):
    """(n, 3) [m] where velocities count from at the end of the last small step.

    What cloth is moved by once in a substep, from `before` to x, is speed of a whole one. What is `held` (n,), as in
    `guard.impact_zones.holders`, goes on as it went in all of it: it does not come back with what it did in the last step,
    but the momentum of its zone is that of the last step.

    x_from, begun, eased : (n, 3) [m] where those of the last step count from, those of the substep, and these after contact
    """
    moved = x - before
    late = x_from + moved - (moved - (eased - begun)) / steps
    ours = held != ALONE
    if ours.any():
        zone, own = np.unique(held[ours], return_inverse=True)
        went = x[ours] - (x[ours] - eased[ours]) / steps
        weight, lack = np.bincount(own, mass[ours]), mass[ours, None] * (late[ours] - went)
        mean = np.stack([np.bincount(own, column) for column in lack.T], axis=1) / weight[:, None]
        mean[zone == LED] = 0.0
        late[ours] = went + mean[own]
    return late


def move(mechanics, contact, motion, step, ahead):
    """One small step of particles that bodies hold up and cloth lies on.

    Linearly implicit Euler (Baraff and Witkin 1998) from x_0 and v_0, with what touches as conditions of its linear system
    first, and then, where that leaves too little room, as corrections of positions:

        v  <-  v + dt a(x, v)                       act          air, fields, random force
        x* <-  x_0 + dt v + dt^2 g                  predict
        C  <-  what touches at x_0 or before        constraints     and tacks
        x  <-  x* + d,  (M / dt^2 + K) d = f + C    solve        (`integrate.pcg`)
        x  <-  x out of bodies                      bodies       (`contact.body`)

    Notations
    ---------
        x    positions                          Motion.x                [m]     (n, 3)
        x_0  positions at the start             Motion.start            [m]     (n, 3)
        v    velocities, v_0 at the start       Motion.v, v_start       [m/s]   (n, 3)
        g    gravity and constant force         Mechanics.acceleration  [m/s2]  3
        C    what bodies hold, cloth on cloth   Constraints.support, stack
        d    correction                         Solution.correction     [m]     (n, 3)
        M    masses                             Cloth.mass              [kg]    (n,)
        K    stiffness of springs and hinges    Cloth.matrix            [N/m]
        f    forces of springs, hinges, pins    Solution.residual       [N]     (n, 3)  at the end
        dt   time                               Interval.dt             [s]

    Other dynamics (`integrate.dynamics`) have a predict and a solve of their own. What touches when the frame begins is not
    known: the first step is tried out and taken back. `ahead` [s] is the substep that begins, 0 in its later steps.

    Returns
    -------
    what touched, as conditions; x_from (n, 3) [m], which velocities count from; how many points touch bodies
    """
    dynamics, solution = mechanics.dynamics, mechanics.system.solution
    part = dynamics.part(step, mechanics.settings)
    act(mechanics, motion, step)
    if step.t0 == 0.0 and contact.body is not None:
        try_out(mechanics, contact, motion, step, ahead)
    motion.start[:], motion.v_start[:] = motion.x, motion.v
    dynamics.predict(mechanics, motion, part)
    constraints = tie(mechanics, motion, constrain(contact, motion, dynamics.is_held, part, ahead))
    x_from = dynamics.solve(mechanics, motion, constraints, step)
    break_ties(mechanics, motion, step)
    return constraints, x_from, respond_to_bodies(contact, motion, constraints, solution, x_from, step)


def end_step(mechanics, contact, motion, x_from, step):
    """Velocities at the end of a small step from where they count from, and the restitution of bodies."""
    cloth, settings = mechanics.cloth, mechanics.settings
    find_velocities(len(motion.x), motion.x, x_from, motion.v, cloth.inv_mass, settings.max_speed, step.dt)
    if mechanics.rides is not None:
        arrive(mechanics.rides, cloth, motion, step)
    bounce_off_bodies(contact, motion, step)


def act(mechanics, motion, substep):
    """Change velocities by what does not go into the solve: air, fields, random force, lift. Seams and pressure are made ready."""
    cloth, settings, half = mechanics.cloth, mechanics.settings, 0.5 * mechanics.settings.air_density
    drag, lift = half * settings.air_drag, half * settings.air_lift
    if mechanics.rides is not None:
        leave(mechanics.rides, cloth, motion, substep)
    if substep.slow_dt and (drag or lift):
        blow(motion.x, motion.v, cloth.inv_mass, cloth.triangles, *mechanics.wind, drag, lift, substep.slow_dt)
    if len(cloth.seams):
        limit_seams(cloth, mechanics.spring, motion.x)
    if mechanics.lift is not None:
        motion.v[:] += substep.dt * mechanics.lift
    if mechanics.forces is not None:
        optional.act(mechanics.forces, cloth, motion.x, motion.v, settings.seed, mechanics.frame, substep)
    if mechanics.rides is not None:
        set_out(mechanics.rides, cloth, motion, substep)


def try_out(mechanics, contact, motion, substep, ahead):
    """Take a substep as if nothing were held up, to learn what touches bodies, and once more held by these, to learn how hard; x
    and v are as before afterwards.
    """
    dynamics, solution = mechanics.dynamics, mechanics.system.solution
    part = dynamics.part(substep, mechanics.settings)
    motion.start[:], motion.v_start[:] = motion.x, motion.v
    dynamics.predict(mechanics, motion, part)
    constraints = tie(mechanics, motion, unheld(contact, motion, part.dt))
    x_from = dynamics.solve(mechanics, motion, constraints, substep)
    touching = contact_frame.try_bodies(contact, motion, constraints, solution, x_from, substep)
    motion.x[:], motion.v[:] = motion.start, motion.v_start
    if touching and dynamics.is_held and not pinches(contact):
        dynamics.predict(mechanics, motion, part)
        constraints = tie(mechanics, motion, constrain(contact, motion, True, part, ahead))
        dynamics.solve(mechanics, motion, constraints, substep)
        weigh_on_bodies(contact, constraints, solution)
        motion.x[:], motion.v[:] = motion.start, motion.v_start


def stretch(cloth, x):
    """Worst and mean strain of the mesh's own edges: length over rest length, minus 1."""
    return measure(cloth.edges, cloth.rest_length, cloth.is_mesh_edge, x)


def _check_finite(cloth, x, v, frame):
    """Stop where a garment has blown up: it draws all others along, for they are solved together."""
    bad = blown_up(cloth, x, v)
    if bad.any():
        raise FloatingPointError(
            f"Garment {cloth.garment[bad.argmax()] + 1} of {len(cloth.meets)} blew up in frame {frame} at "
            f"{int((bad & (cloth.garment == cloth.garment[bad.argmax()])).sum())} particles: raise the substeps, or lower its stiffness or the speed of what drives it."
        )
