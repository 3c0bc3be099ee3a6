# SPDX-License-Identifier: GPL-3.0-or-later
"""The compliant constraints of a substep, all at once: one Newton step by preconditioned conjugate gradients.

XPBD looks for the positions x = x* + d nearest to the predicted x* that the springs allow,

    minimise  1/2 d^T (M / dt^2) d + sum of the springs' and hinges' energies at x* + d,

and usually takes one constraint after the other (Macklin, Müller and Chentanez 2016). Where many particles hang on
few, that never gets there in one sweep: a load passes one spring a sweep. Here the linear system of that very step,
(M / dt^2 + K) d = f, is solved for all of them at once (Baraff and Witkin 1998 for the filtered conjugate gradients;
`tree` for the preconditioner), a few iterations each as dear as a sweep.

Forces are the true ones at a first guess, K bounds their slope (`elastic.springs`). The guess is the prediction but for
gravity, or what a body wants: cloth at rest is guessed to stay there, so that its forces alone decide how far it hangs.

A particle that a body holds up is held in the solve, too (`contact.support`): kind 1 fixes its motion along the body's
normal, kind 2 all of it, as for kinematic particles. Friction drags it along. What the body has to push with comes
back in r.

All threads run `_solve` from start to end and share each phase's parts (`together`): branches of the tree, and the
rows of their particles (`rows`).
"""

from typing import NamedTuple

import numpy as np

from .. import together
from ..blocks import add_row, invert, keep_free
from ..elastic.springs import lengthen
from ..jit import fused, fused_inner, uncounted_fused
from .rows import linearise_rows, measure_springs, multiply_rows, turn_hinges
from .spin import balance, keep_spin, spin
from .tree import fill_branch, fill_crown, gather_up, hand_down

PHASES = 10  # of a solve without iterations, at most
PHASES_EACH = 5  # of an iteration
HELD, TOUCHING, ALONE = 0, 1, 2  # what is with a garment that no pin holds


class Scratch(NamedTuple):
    """Memory of the solve, by slot; nothing in it lives from one substep to the next."""

    x: np.ndarray  # (n, 3)
    gone: np.ndarray  # (n, 3)
    d: np.ndarray  # (n, 3)
    r: np.ndarray  # (n, 3)
    z: np.ndarray  # (n, 3)
    p: np.ndarray  # (n, 3)
    q: np.ndarray  # (n, 3)
    mass: np.ndarray  # (n,) [N/m] inertia, friction and soft pins
    kind: np.ndarray  # (n,) int8
    odd: np.ndarray  # (n,) bool: something beside gravity is expected of it
    bend: np.ndarray  # (n,)
    block: np.ndarray  # (n, 6)
    row: np.ndarray  # (m, 4)
    longer: np.ndarray  # (e,), none without coupled springs
    link: np.ndarray  # (e, 6)
    far_row: np.ndarray  # (q,)
    turns: np.ndarray  # (h, 3)
    node_block: np.ndarray  # (nodes, 6)
    sums: np.ndarray  # (nodes, 3)
    crown: np.ndarray  # (parts, 3)
    crown_block: np.ndarray  # (parts, parts, 6)
    fence: np.ndarray  # (parts + 1,) first slot of each part, and their end
    spring_fence: np.ndarray  # (parts + 1,)
    hinge_fence: np.ndarray  # (parts + 1,)


class Answer(NamedTuple):
    """What a solve leaves, by particle."""

    d: np.ndarray  # (n, 3) [m] correction
    r: np.ndarray  # (n, 3) [N] force left over: where something is held, the opposite of what it bears
    block: np.ndarray  # (n, 6) [m/N] inverse of the particle's own stiffness


def make_scratch(rows):
    """Memory for a frame: about 500 bytes a particle, 40 a spring's end."""
    count, nodes = len(rows.order), len(rows.node_bending)
    parts = together.part_count(count)
    slots = (np.empty((count, 3)) for _ in range(7))
    single = np.empty(count), np.empty(count, np.int8), np.empty(count, np.bool_), np.empty(count)
    edge_count = len(rows.edges)
    shapes = (
        (count, 6),
        (len(rows.near), 4),
        (edge_count if len(rows.couple) else 0,),
        (edge_count, 6),
        (len(rows.far),),
    )
    shapes += (len(rows.hinge), 3), (nodes, 6), (nodes, 3), (parts, 3), (parts, parts, 6)
    fence = np.searchsorted(rows.leaf, nodes // 2 + np.arange(parts + 1) * (nodes // 2 // parts))
    springs, hinges = (len(numbers) * np.arange(parts + 1) // parts for numbers in (rows.spring, rows.hinge))
    return Scratch(*slots, *single, *(np.empty(shape) for shape in shapes), fence, springs, hinges)


def make_answer(rows):
    """Memory of what solves leave."""
    count = len(rows.order)
    return Answer(np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((count, 6)))


def solve(x, x_prev, mass, rows, scratch, answer, support, stack, pulls, free, guess, dt, calm, iterations, tolerance):
    """Move x by the substep's correction d; returns the iterations taken.

    Parameters
    ----------
    x, x_prev : (n, 3) [m] predicted, and at the substep's start
    mass : (n,) [kg]
    support : `contact.support.Support`, what bodies hold
    stack : `contact.stacks.Stack`, cloth that lies on cloth
    pulls : `elastic.rare.Pulls`, particles that soft pins (or anything) pull, and how hard
    free : (f, 2) first particle and end of each garment that no pin holds
    guess : three floats [m], the first guess of every free particle's d: what gravity has predicted, taken back
    dt : float [s]
    calm : see `elastic.springs`
    iterations, tolerance : stop after so many, or when the residual's norm has fallen by that factor
    """
    parts = len(scratch.crown)
    phases = PHASES + PHASES_EACH * iterations
    board, log = together.make_board(phases), np.zeros((phases + 1, parts, 2))
    state, falls = np.empty(len(free), np.int8), np.zeros(len(x), np.bool_)
    _look_what_holds(free, support.kind, stack[0], state, falls)
    taken = together.run(
        _solve, parts, board, log, rows, scratch, answer, x, x_prev, mass, *support[:5], *stack[:4], *pulls, falls, *guess,
        1.0 / dt, calm, iterations, tolerance,
    )  # fmt: skip
    _add(x, x_prev, mass, answer.d, free, state)
    return taken


@uncounted_fused
def _solve(
    board, log, rows, s, answer, x, x_prev, mass, kind, normal, want, way, drag, stack, stack_weight, stack_row,
    stack_room, pins, pin_pull, pin_rate, falls, gx, gy, gz, rate, calm, iterations, tolerance,
):  # fmt: skip
    """What every thread runs; rate [1/s] is 1 / dt. See `solve`."""
    parts, fence, phase = s.crown.shape[0], s.fence, 0
    part = together.take(board, phase)
    while part < parts:
        first, last = fence[part], fence[part + 1]
        _enter(first, last, rows, s, x, x_prev, mass, kind, normal, want, way, drag, falls, gx, gy, gz, rate)
        part = together.done(board, phase)
    together.meet(board, phase, parts)
    if rows.couple.shape[0] > 0:
        phase += 1
        part = together.take(board, phase)
        while part < parts:
            lengthen(s.spring_fence[part], s.spring_fence[part + 1], s.x, rows.edges, rows.spring, s.longer)
            part = together.done(board, phase)
        together.meet(board, phase, parts)
    phase += 1
    part = together.take(board, phase)
    while part < parts:
        measure_springs(s.spring_fence[part], s.spring_fence[part + 1], rows, s.x, s.gone, rate, calm, s.longer, s.link)
        turn_hinges(s.hinge_fence[part], s.hinge_fence[part + 1], rows, s.x, s.gone, rate, s.turns)
        if part == 0:
            _pull(rows, s, pins, pin_pull, pin_rate)
        part = together.done(board, phase)
    together.meet(board, phase, parts)
    phase = _fill(board, phase, rows, s, x, x_prev, normal, stack, stack_weight, stack_row, stack_room, rate)
    phase, taken = _descend(board, log, phase, rows, s, normal, stack, stack_weight, stack_row, iterations, tolerance)
    phase += 1
    part = together.take(board, phase)
    while part < parts:
        _leave(fence[part], fence[part + 1], rows.order, s, answer.d, answer.r, answer.block)
        part = together.done(board, phase)
    together.meet(board, phase, parts)
    return taken


@fused_inner
def _fill(board, phase, rows, s, x, x_prev, normal, stack, stack_weight, stack_row, stack_room, rate):
    """The matrix, what it makes of the first guess and the first direction, and the blocks of the preconditioner."""
    parts, fence = s.crown.shape[0], s.fence
    phase += 1
    part = together.take(board, phase)
    while part < parts:
        linearise_rows(
            fence[part], fence[part + 1], rows, s.x, s.link, s.turns, s.p, s.odd, s.mass, rate, s.row, s.far_row, s.r,
            s.q, s.block, s.bend,
        )  # fmt: skip
        part = together.done(board, phase)
    together.meet(board, phase, parts)
    phase += 1
    part = together.take(board, phase)
    while part < parts:
        fill_branch(
            fence[part], fence[part + 1], part, parts, rows, rate, s.link, s.block, s.kind, normal, s.node_block,
            s.crown_block,
        )  # fmt: skip
        part = together.done(board, phase)
    together.meet(board, phase, parts)
    phase += 1
    part = together.take(board, phase)
    while part < 1:
        fill_crown(parts, rows, rate, s.crown_block, s.node_block)
        _lay(rows, s, x, x_prev, stack, stack_weight, stack_row, stack_room)
        part = together.done(board, phase)
    together.meet(board, phase, 1)
    return phase


@fused_inner
def _descend(board, log, phase, rows, s, normal, stack, stack_weight, stack_row, iterations, tolerance):
    """Conjugate gradients; returns the last phase and the iterations taken."""
    parts, fence = s.crown.shape[0], s.fence
    phase += 1
    part = together.take(board, phase)
    while part < parts:
        _invert(fence[part], fence[part + 1], s.block, s.bend)
        log[phase, part, 0], log[phase, part, 1] = _slopes(fence[part], fence[part + 1], s.p, s.q, s.r)
        part = together.done(board, phase)
    together.meet(board, phase, parts)
    slope, curvature = _total(log, phase, 0), _total(log, phase, 1)
    taken, product, enough = 0, 0.0, 0.0
    while True:
        # Go along p, with q = A p, as far as the energy falls: its slope there is p . r.
        step = slope / curvature if curvature > 0.0 else 0.0
        phase += 1
        part = together.take(board, phase)
        while part < parts:
            _advance(fence[part], fence[part + 1], step, s.p, s.q, s.d, s.r)
            gather_up(fence[part], fence[part + 1], part, parts, rows, s.kind, normal, s.r, s.sums, s.crown)
            part = together.done(board, phase)
        together.meet(board, phase, parts)
        if taken == iterations:
            return phase, taken
        phase += 1
        part = together.take(board, phase)
        while part < parts:
            log[phase, part, 0] = hand_down(
                fence[part], fence[part + 1], part, parts, rows, s.block, s.node_block, s.kind, normal, s.r, s.z, s.sums,
                s.crown,
            )  # fmt: skip
            part = together.done(board, phase)
        together.meet(board, phase, parts)
        before, product = product, _total(log, phase, 0)
        if taken == 0:
            enough = tolerance * tolerance * product
        if not product > enough:  # nor where it is not a number
            return phase, taken
        turn = product / before if taken > 0 else 0.0
        phase, curvature = _multiply(board, log, phase, rows, s, turn, stack, stack_weight, stack_row)
        slope = product
        taken += 1


@fused_inner
def _multiply(board, log, phase, rows, s, turn, stack, stack_weight, stack_row):
    """The next direction p = z + turn p, and q = A p; returns the last phase and p . q."""
    parts, fence = s.crown.shape[0], s.fence
    phase += 1
    part = together.take(board, phase)
    while part < parts:
        _turn(fence[part], fence[part + 1], turn, s.z, s.p)
        part = together.done(board, phase)
    together.meet(board, phase, parts)
    phase += 1
    part = together.take(board, phase)
    while part < parts:
        log[phase, part, 0] = multiply_rows(fence[part], fence[part + 1], rows, s.mass, s.row, s.far_row, s.p, s.q)
        part = together.done(board, phase)
    together.meet(board, phase, parts)
    curvature = _total(log, phase, 0)
    if stack.shape[0] > 0:
        phase += 1
        part = together.take(board, phase)
        while part < 1:
            log[phase, 0, 0] = _multiply_stack(rows.slot, s.p, stack, stack_weight, stack_row, s.q)
            part = together.done(board, phase)
        together.meet(board, phase, 1)
        curvature += log[phase, 0, 0]
    return phase, curvature


@fused_inner
def _total(log, phase, which):
    """Sum over the parts of a phase, always in the same order."""
    total = 0.0
    for part in range(log.shape[1]):
        total += log[phase, part, which]
    return total


@fused_inner
def _enter(first, last, rows, s, x, x_prev, mass, kind, normal, want, way, drag, falls, gx, gy, gz, rate):
    """Slots first to last from their particles: positions, first guess d, first direction p, and r without springs.

    What is held goes with the body as far as friction takes it. Else the residual would be all friction's, and the
    solve would stop as soon as that is small. What keeps cloth at rest takes back what gravity predicts: the guess does,
    and the first step goes back along it as far as serves. What nothing holds `falls`.
    """
    for i in range(np.uintp(first), np.uintp(last)):
        k = np.uintp(rows.order[i])
        s.kind[i] = kind[k]
        inertia, c = rate * rate * mass[k], drag[k]
        m = inertia + c
        s.mass[i] = m
        share = c / m
        if falls[k]:
            share = 1.0
        s.odd[i] = kind[k] != 0 or c > 0.0
        px, py, pz = keep_free(kind[k], normal, k, gx, gy, gz)
        s.p[i, 0], s.p[i, 1], s.p[i, 2] = (1.0 - share) * px, (1.0 - share) * py, (1.0 - share) * pz
        for axis in range(3):
            d = want[k, axis] + share * way[k, axis] + s.p[i, axis]
            s.d[i, axis] = d
            s.x[i, axis] = x[k, axis] + d
            s.gone[i, axis] = s.x[i, axis] - x_prev[k, axis]
            s.r[i, axis] = c * (way[k, axis] + want[k, axis]) - m * d  # friction acts across the normal, not along it


@fused_inner
def _pull(rows, s, pins, pull, pin_rate):
    """What soft pins and pressure pull."""
    for m in range(pins.shape[0]):
        i = np.uintp(rows.slot[pins[m]])
        s.mass[i] += pin_rate[m]
        for axis in range(3):
            s.r[i, axis] += pull[m, axis] - pin_rate[m] * s.d[i, axis]


@fused_inner
def _lay(rows, s, x, x_prev, stack, weight, row, room):
    """What cloth on cloth adds to forces and matrix."""
    for k in range(np.uintp(stack.shape[0])):
        hx, hy, hz, along, led, on = row[k, 0], row[k, 1], row[k, 2], room[k], 0.0, 0.0
        for end in range(4):
            n, w = np.uintp(stack[k, end]), weight[k, end]
            i = np.uintp(rows.slot[n])
            along += w * (hx * (x[n, 0] - x_prev[n, 0]) + hy * (x[n, 1] - x_prev[n, 1]) + hz * (x[n, 2] - x_prev[n, 2]))
            led += w * (hx * s.d[i, 0] + hy * s.d[i, 1] + hz * s.d[i, 2])
            on += w * (hx * s.p[i, 0] + hy * s.p[i, 1] + hz * s.p[i, 2])
        along += led
        for end in range(4):
            i, w = np.uintp(rows.slot[stack[k, end]]), weight[k, end]
            s.r[i, 0], s.r[i, 1] = s.r[i, 0] - w * along * hx, s.r[i, 1] - w * along * hy
            s.r[i, 2] -= w * along * hz
            s.q[i, 0], s.q[i, 1], s.q[i, 2] = s.q[i, 0] + w * on * hx, s.q[i, 1] + w * on * hy, s.q[i, 2] + w * on * hz
            add_row(s.block, i, 0.0, w * hx, w * hy, w * hz)


@fused_inner
def _multiply_stack(slot, p, stack, weight, row, q):
    """q += H p of cloth on cloth; returns p . H p. 40 flops and 250 bytes a row."""
    product = 0.0
    for k in range(np.uintp(stack.shape[0])):
        hx, hy, hz, on = row[k, 0], row[k, 1], row[k, 2], 0.0
        for end in range(4):
            i, w = np.uintp(slot[stack[k, end]]), weight[k, end]
            on += w * (hx * p[i, 0] + hy * p[i, 1] + hz * p[i, 2])
        product += on * on
        for end in range(4):
            i, w = np.uintp(slot[stack[k, end]]), weight[k, end]
            q[i, 0], q[i, 1], q[i, 2] = q[i, 0] + w * on * hx, q[i, 1] + w * on * hy, q[i, 2] + w * on * hz
    return product


@fused_inner
def _invert(first, last, block, bend):
    """Finish the particles' own blocks with what hinges resist, and invert them."""
    for i in range(np.uintp(first), np.uintp(last)):
        b = bend[i]
        block[i, 0], block[i, 3], block[i, 5] = block[i, 0] + b, block[i, 3] + b, block[i, 5] + b
    invert(first, last, block)


@fused_inner
def _slopes(first, last, p, q, r):
    """p . r and p . q of a part."""
    slope, curvature = 0.0, 0.0
    for i in range(np.uintp(first), np.uintp(last)):
        slope += p[i, 0] * r[i, 0] + p[i, 1] * r[i, 1] + p[i, 2] * r[i, 2]
        curvature += p[i, 0] * q[i, 0] + p[i, 1] * q[i, 1] + p[i, 2] * q[i, 2]
    return slope, curvature


@fused_inner
def _advance(first, last, step, p, q, d, r):
    for i in range(np.uintp(first), np.uintp(last)):
        d[i, 0], d[i, 1], d[i, 2] = d[i, 0] + step * p[i, 0], d[i, 1] + step * p[i, 1], d[i, 2] + step * p[i, 2]
        r[i, 0], r[i, 1], r[i, 2] = r[i, 0] - step * q[i, 0], r[i, 1] - step * q[i, 1], r[i, 2] - step * q[i, 2]


@fused_inner
def _turn(first, last, turn, z, p):
    """The next direction; the first, of a turn of 0, whatever p is."""
    for i in range(np.uintp(first), np.uintp(last)):
        p[i, 0], p[i, 1], p[i, 2] = z[i, 0] + turn * p[i, 0], z[i, 1] + turn * p[i, 1], z[i, 2] + turn * p[i, 2]


@fused_inner
def _leave(first, last, order, s, d, r, block):
    for i in range(np.uintp(first), np.uintp(last)):
        k = np.uintp(order[i])
        for axis in range(3):
            d[k, axis], r[k, axis] = s.d[i, axis], s.r[i, axis]
        for axis in range(6):
            block[k, axis] = s.block[i, axis]


@fused
def _look_what_holds(free, kind, stack, state, falls):
    """What acts on garments that no pin holds: a body, other cloth or nothing. # outputs: state (f,), falls (n,)"""
    for g in range(free.shape[0]):
        start, stop = np.uintp(free[g, 0]), np.uintp(free[g, 1])
        held = touching = False
        for i in range(start, stop):
            held |= kind[i] != 0
        for k in range(np.uintp(stack.shape[0])):
            touching |= (start <= stack[k, 0] < stop) != (start <= stack[k, 3] < stop)
        state[g] = HELD if held else TOUCHING if touching else ALONE
        for i in range(start, stop):
            falls[i] = not held and not touching


@fused
def _add(x, x_prev, mass, d, free, state):
    """x += d; garments on which nothing acts from outside keep momentum and angular momentum to rounding.

    One that touches other cloth keeps its place as a whole, too: what holds it up there is left to the response, whose
    friction goes by what it pushes with. But it may turn.
    """
    for g in range(free.shape[0]):
        start, stop = np.uintp(free[g, 0]), np.uintp(free[g, 1])
        if state[g] == HELD:
            continue
        lx, ly, lz = spin(x, x_prev, mass, start, stop)
        balance(d, mass, start, stop)
        if state[g] == ALONE:
            keep_spin(x, d, x_prev, mass, start, stop, lx, ly, lz)
    for i in range(np.uintp(x.shape[0])):
        x[i, 0], x[i, 1], x[i, 2] = x[i, 0] + d[i, 0], x[i, 1] + d[i, 1], x[i, 2] + d[i, 2]
