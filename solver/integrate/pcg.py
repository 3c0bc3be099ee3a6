# SPDX-License-Identifier: GPL-3.0-or-later
"""One Newton step of linearly implicit Euler a substep, by preconditioned conjugate gradients.

Implicit Euler looks for the positions x = x* + d nearest to the predicted x* that the springs allow,

    minimise  1/2 d^T (M / dt^2) d + sum of the springs' and hinges' energies at x* + d.

One Newton step towards that from a first guess is the linear system

    A d = f,   A = M / dt^2 + K,

which is solved for all springs, hinges, pins and supports at once (Baraff and Witkin 1998). Extended position based
dynamics goes the same step one constraint after the other (Macklin, Müller and Chentanez 2016): where many particles
hang on few, that never gets there in one sweep, for a load passes one spring a sweep. Here it takes a few iterations of
conjugate gradients, filtered by what is held (Baraff and Witkin 1998) and preconditioned (`preconditioner`), each as dear
as a sweep.

Forces are the true ones at the first guess, K bounds their slope (`elastic.springs`). The guess is the prediction but for
gravity, or what a body wants: cloth at rest is guessed to stay there, so that its forces alone decide how far it hangs.

A particle that a body holds up is held in the solve, too (`contact.body.constraints`): HELD fixes its motion along the
body's normal, KINEMATIC all of it. Friction drags it along. What the body has to push with comes back in r.

Notations
---------
    d   correction of the prediction        Scratch.d, Solution.correction   [m]    (n, 4), (n, 3)
    r   residual f - A d                    Scratch.r, Solution.residual     [N]    (n, 4), (n, 3)
    S   filter: what is free of a vector    Scratch.kind, Scratch.normal; `mat3.keep_free`
    P   preconditioner                      Scratch.block, Scratch.node_block
    z   S P S r                             Scratch.z                        [m]    (n, 4)
    p   direction                           Scratch.p                        [m]    (n, 4)
    q   A p                                 Scratch.q                        [N]    (n, 4)
    M   inertia, friction and soft pins     Scratch.mass, M / dt^2           [N/m]  (n,)
    K   stiffness of springs and hinges     Scratch.link, Scratch.far_row    [N/m]

All threads run `_solve` from start to end and share each phase's parts (`kernel.phases`): branches of the
preconditioner's tree, the rows of their particles (`stiffness_matrix`), and cloth that lies on cloth (`stack_rows`). What a part has of a piece of cloth is a segment; pieces that
do not touch go by steps of their own (`groups`). In what follows `s` is `system.Scratch`.
"""

import numpy as np

from ..elastic.springs import lengthen
from ..kernel import phases
from ..kernel.jit import fused, fused_inner
from ..kernel.mat3 import FREE, invert, keep_free, times
from ..kernel.shared import share_among
from ..kernel.vec4 import broadcast, load, store, sum_xyz, vec4
from .groups import (
    FALL,
    OTHER,
    SHARE,
    WAY,
    find_groups,
    find_steps,
    is_any_open,
    is_open,
    judge,
    make_ledger,
)
from .momentum import add_correction, find_what_holds
from .preconditioner import fill_branch, fill_crown, gather_up, hand_down
from .stack_rows import chain, lay, make_rows, press, push_back, resist
from .stiffness_matrix import linearise_rows, measure_springs, multiply_rows, turn_hinges

SOLVE_PHASES = 10  # of a solve without iterations, at most
ITERATION_PHASES = 5


def solve(system, x, x_prev, support, stack, pulls, target):
    """Find the substep's correction d of x, in `system.solution`; returns the iterations taken. `correct` applies it.

    Parameters
    ----------
    system : `system.System`
    x, x_prev : (n, 3) [m] predicted, and at the substep's start
    support : `contact.body.constraints.Support`, what bodies hold
    stack : `contact.cloth.constraints.Stack`, cloth that lies on cloth
    pulls : `forces.optional.Pulls`, particles that soft pins (or anything) pull, and how hard
    target : `system.Target`
    """
    scratch = system.scratch
    parts = len(scratch.slot_starts) - 1
    phase_count = SOLVE_PHASES + ITERATION_PHASES * target.iterations
    board, log = phases.make_board(phase_count), np.zeros((phase_count + 1, len(scratch.segments), 2))
    ledger = make_ledger(target.iterations, len(system.matrix.coupled))
    if len(stack.room):
        groups = find_groups(system.matrix, stack.stencils, scratch.segments)
        rows = make_rows(len(stack.room), len(scratch.mass))
        system = system._replace(scratch=scratch._replace(groups=groups, rows=rows))
    find_what_holds(system.free, support.kind, stack.stencils, system.held_by, scratch.falls)
    taken = np.zeros(1, np.int64)
    notes = taken, board, log, ledger
    phases.run(solve_kernel, parts, notes, system, x, x_prev, support, stack, pulls, target)
    return int(taken[0])


def correct(system, x, x_prev):
    """Move x by the correction that `solve` has found."""
    add_correction(x, x_prev, system.mass, system.solution.correction, system.free, system.held_by)


@fused
def solve_kernel(threads, crew, notes, system, x, x_prev, support, stack, pulls, target):
    """`_solve` by a crew of threads. notes : how many iterations it took (1,), and what parts tell each other"""
    share_among(threads, _solve, crew, (notes, system, x, x_prev, support, stack, pulls, target))


@fused_inner
def _solve(_first, _last, notes, system, x, x_prev, support, stack, pulls, target):
    """What every thread runs. See `solve`."""
    taken, board, log, ledger = notes
    matrix, s, rate, bend_rate = system.matrix, system.scratch, 1.0 / target.dt, target.loss / target.dt
    parts, starts, phase = s.slot_starts.shape[0] - 1, s.slot_starts, 0
    crew = phases.arrive(board, parts)
    part = phases.take(crew, phase)
    while part < parts:
        _enter(starts[part], starts[part + 1], system, x, x_prev, support, target)
        part = phases.done(crew, phase)
    phases.barrier(crew, phase)
    if matrix.couple.shape[0] > 0:
        phase += 1
        part = phases.take(crew, phase)
        while part < parts:
            first, last = s.spring_starts[part], s.spring_starts[part + 1]
            lengthen(first, last, s.x, matrix.edges, matrix.spring.rest, s.lengthening)
            part = phases.done(crew, phase)
        phases.barrier(crew, phase)
    phase += 1
    part = phases.take(crew, phase)
    while part < parts:
        measure_springs(s.spring_starts[part], s.spring_starts[part + 1], matrix, s, rate, bend_rate, target.damped)
        turn_hinges(s.hinge_starts[part], s.hinge_starts[part + 1], matrix, s, bend_rate)
        if part == 0:
            _pull(matrix, s, pulls)
        if part == parts - 1:
            chain(matrix.slot, stack, s)
        part = phases.done(crew, phase)
    phases.barrier(crew, phase)
    phase = _fill(crew, phase, matrix, s, stack, bend_rate)
    phase, taken[0] = _descend(crew, log, ledger, phase, matrix, s, stack, target)
    phase += 1
    part = phases.take(crew, phase)
    while part < parts:
        _leave(starts[part], starts[part + 1], matrix.order, s, system.solution)
        part = phases.done(crew, phase)
    phases.barrier(crew, phase)


@fused_inner
def _fill(crew, phase, matrix, s, stack, rate):
    """The matrix, what it makes of the first guess and the first direction, and the blocks of the preconditioner."""
    parts, starts, rows = s.slot_starts.shape[0] - 1, s.slot_starts, stack.stencils.shape[0]
    phase += 1
    part = phases.take(crew, phase)
    while part < parts:
        linearise_rows(starts[part], starts[part + 1], matrix, s, rate)
        resist(rows * part // parts, rows * (part + 1) // parts, stack, s)
        part = phases.done(crew, phase)
    phases.barrier(crew, phase)
    phase += 1
    part = phases.take(crew, phase)
    while part < parts:
        fill_branch(part, parts, matrix, s)
        part = phases.done(crew, phase)
    phases.barrier(crew, phase)
    phase += 1
    single = phases.single(crew)
    part = phases.take(single, phase)
    while part < 1:
        fill_crown(parts, matrix, s)
        part = phases.done(single, phase)
    phases.barrier(single, phase)
    return phase


@fused_inner
def _descend(crew, log, ledger, phase, matrix, s, stack, target):
    """Conjugate gradients; returns the last phase and the iterations taken."""
    parts, starts = s.slot_starts.shape[0] - 1, s.slot_starts
    has_rows = stack.stencils.shape[0] > 0
    phase += 1
    part = phases.take(crew, phase)
    while part < parts:
        if has_rows:
            lay(starts[part], starts[part + 1], stack, s)
        for i in range(np.uintp(starts[part]), np.uintp(starts[part + 1])):
            invert(s.block, i)
        for k in range(s.segment_starts[part], s.segment_starts[part + 1]):
            log[phase, k, FALL], log[phase, k, OTHER] = _slopes(s.segments[k, 0], s.segments[k, 1], s)
        part = phases.done(crew, phase)
    phases.barrier(crew, phase)
    find_steps(log, phase, 0, s, ledger)
    taken = 0
    while True:
        phase += 1
        part = phases.take(crew, phase)
        while part < parts:
            if is_any_open(part, taken, s, ledger):
                _advance(part, taken, s, ledger)
                gather_up(part, parts, matrix, s)
            part = phases.done(crew, phase)
        phases.barrier(crew, phase)
        if taken == target.iterations:
            return phase, taken
        phase += 1
        part = phases.take(crew, phase)
        while part < parts:
            if is_any_open(part, taken, s, ledger):
                _answer(part, parts, log, phase, matrix, s)
            part = phases.done(crew, phase)
        phases.barrier(crew, phase)
        if not judge(log, phase, taken, target.tolerance, s, ledger):
            return phase, taken
        phase = _multiply(crew, log, ledger, phase, matrix, s, taken, stack)
        taken += 1


@fused_inner
def _multiply(crew, log, ledger, phase, matrix, s, taken, stack):
    """The next direction p = z + turn p, q = A p, and how far each group goes along it; returns the last phase."""
    parts, rows = s.slot_starts.shape[0] - 1, stack.stencils.shape[0]
    phase += 1
    part = phases.take(crew, phase)
    while part < parts:
        for k in range(s.segment_starts[part], s.segment_starts[part + 1]):
            if is_open(k, taken + 1, s, ledger):
                turn = ledger[taken, s.groups.group[s.segments[k, 2]], SHARE]
                _turn(s.segments[k, 0], s.segments[k, 1], turn, s)
        part = phases.done(crew, phase)
    phases.barrier(crew, phase)
    phase += 1
    part = phases.take(crew, phase)
    while part < parts:
        for k in range(s.segment_starts[part], s.segment_starts[part + 1]):
            if is_open(k, taken + 1, s, ledger):
                log[phase, k, OTHER] = multiply_rows(s.segments[k, 0], s.segments[k, 1], matrix, s)
        press(rows * part // parts, rows * (part + 1) // parts, stack, s)
        part = phases.done(crew, phase)
    phases.barrier(crew, phase)
    if rows > 0:
        phase += 1
        part = phases.take(crew, phase)
        while part < parts:
            for k in range(s.segment_starts[part], s.segment_starts[part + 1]):
                if is_open(k, taken + 1, s, ledger):
                    pushed = push_back(s.segments[k, 0], s.segments[k, 1], stack, s)
                    log[phase, k, OTHER] = log[phase - 1, k, OTHER] + pushed
            part = phases.done(crew, phase)
        phases.barrier(crew, phase)
    find_steps(log, phase, taken + 1, s, ledger)
    return phase


@fused_inner
def _enter(first, last, system, x, x_prev, support, target):
    """Slots first to last from their particles: positions, first guess d, first direction p, and r without springs.

    What is held goes with the body as far as friction takes it. Else the residual would be all friction's, and the
    solve would stop as soon as that is small. What keeps cloth at rest takes back what gravity predicts: the guess does,
    and the first step goes back along it as far as serves. What nothing holds `falls`.
    """
    s, rate, (gx, gy, gz) = system.scratch, 1.0 / target.dt, target.guess
    fall = vec4(gx, gy, gz, 0.0)
    for i in range(np.uintp(first), np.uintp(last)):
        k = np.uintp(system.matrix.order[i])
        kind = support.kind[k]
        s.kind[i] = kind
        inertia, c = rate * rate * system.mass[k], support.drag[k]
        m = inertia + c
        s.mass[i] = m
        share = 1.0 if s.falls[k] else c / m
        s.is_odd[i] = kind != FREE or c > 0.0
        store(s.normal, i, _three(support.normal, k))
        ahead = broadcast(1.0 - share) * keep_free(kind, s.normal, i, fall)
        wanted, drawn = _three(support.want, k), _three(support.tangential, k)
        d = wanted + broadcast(share) * drawn + ahead
        there = _three(x, k) + d
        store(s.p, i, ahead)
        store(s.d, i, d)
        store(s.x, i, there)
        store(s.displacement, i, there - _three(x_prev, k))
        store(
            s.r, i, broadcast(c) * (drawn + wanted) - broadcast(m) * d
        )  # friction acts across the normal, not along it


@fused_inner
def _three(vectors, k):
    """Row k of (n, 3)."""
    return vec4(vectors[k, 0], vectors[k, 1], vectors[k, 2], 0.0)


@fused_inner
def _pull(matrix, s, pulls):
    """What soft pins and pressure pull."""
    for m in range(pulls.particles.shape[0]):
        i, rate = np.uintp(matrix.slot[pulls.particles[m]]), pulls.rate[m]
        s.mass[i] += rate
        for axis in range(3):
            s.r[i, axis] += pulls.pull[m, axis] - rate * s.d[i, axis]


@fused_inner
def _slopes(first, last, s):
    """p . r and p . q of a part."""
    slope = curvature = vec4(0.0, 0.0, 0.0, 0.0)
    for i in range(np.uintp(first), np.uintp(last)):
        along = load(s.p, i)
        slope, curvature = slope + along * load(s.r, i), curvature + along * load(s.q, i)
    return sum_xyz(slope), sum_xyz(curvature)


@fused_inner
def _advance(part, taken, s, ledger):
    """d += step p and r -= step q."""
    for k in range(s.segment_starts[part], s.segment_starts[part + 1]):
        if is_open(k, taken, s, ledger):
            far = broadcast(ledger[taken, s.groups.group[s.segments[k, 2]], WAY])
            for i in range(np.uintp(s.segments[k, 0]), np.uintp(s.segments[k, 1])):
                store(s.d, i, load(s.d, i) + far * load(s.p, i))
                store(s.r, i, load(s.r, i) - far * load(s.q, i))


@fused_inner
def _answer(part, parts, log, phase, matrix, s):
    """z of a part, and of each segment its z . r, and what of that is the particles' own answer."""
    first, last = s.segment_starts[part], s.segment_starts[part + 1]
    product, alone = hand_down(part, parts, matrix, s)
    if last - first == 1:
        log[phase, first, FALL], log[phase, first, OTHER] = product, alone
        return
    for k in range(first, last):
        log[phase, k, FALL], log[phase, k, OTHER] = _products(s.segments[k, 0], s.segments[k, 1], s)


@fused_inner
def _products(first, last, s):
    """z . r of what is free of r, and the same of the particles' own answer, as `hand_down` has them of a whole part."""
    product = alone = vec4(0.0, 0.0, 0.0, 0.0)
    for i in range(np.uintp(first), np.uintp(last)):
        left = keep_free(s.kind[i], s.normal, i, load(s.r, i))
        product, alone = product + load(s.z, i) * left, alone + times(s.block, i, left) * left
    return sum_xyz(product), sum_xyz(alone)


@fused_inner
def _turn(first, last, turn, s):
    """The next direction; the first, of a turn of 0, whatever p is."""
    share = broadcast(turn)
    for i in range(np.uintp(first), np.uintp(last)):
        store(s.p, i, load(s.z, i) + share * load(s.p, i))


@fused_inner
def _leave(first, last, order, s, solution):
    """Correction and residual by particle."""
    for i in range(np.uintp(first), np.uintp(last)):
        k = np.uintp(order[i])
        for axis in range(3):
            solution.correction[k, axis], solution.residual[k, axis] = s.d[i, axis], s.r[i, axis]
