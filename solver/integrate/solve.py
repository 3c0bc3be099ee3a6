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
from ..blocks import add_product, invert, keep_free
from ..elastic.springs import lengthen
from ..jit import fused, fused_inner
from ..quads import load, quad, spread, store, total
from .overshoot import shorten
from .rows import linearise_rows, measure_springs, multiply_rows, turn_hinges
from .spin import balance, keep_spin, spin
from .tree import fill_branch, fill_crown, gather_up, hand_down

PHASES = 10  # of a solve without iterations, at most
PHASES_EACH = 5  # of an iteration
HELD, TOUCHING, ALONE = 0, 1, 2  # what is with a garment that no pin holds


class Scratch(NamedTuple):
    """Memory of the solve, by slot; nothing in it lives from one substep to the next."""

    x: np.ndarray  # (n, 4), as all vectors here
    gone: np.ndarray
    d: np.ndarray
    r: np.ndarray
    z: np.ndarray
    p: np.ndarray
    q: np.ndarray
    normal: np.ndarray  # of kind 1
    mass: np.ndarray  # (n,) [N/m] inertia, friction and soft pins
    kind: np.ndarray  # (n,) int8
    odd: np.ndarray  # (n,) bool: something beside gravity is expected of it
    bend: np.ndarray  # (n,)
    block: np.ndarray  # (3 n, 4)
    longer: np.ndarray  # (e,), none without coupled springs
    link: np.ndarray  # (e, 4)
    side: np.ndarray  # (e, 2)
    far_row: np.ndarray  # (q,)
    turns: np.ndarray  # (h, 4)
    node_block: np.ndarray  # (3 nodes, 4)
    sums: np.ndarray  # (nodes, 4)
    crown: np.ndarray  # (parts, 4)
    fence: np.ndarray  # (parts + 1,) first slot of each part, and their end
    spring_fence: np.ndarray  # (parts + 1,)
    hinge_fence: np.ndarray  # (parts + 1,)


class Answer(NamedTuple):
    """What a solve leaves, by particle."""

    d: np.ndarray  # (n, 3) [m] correction
    r: np.ndarray  # (n, 3) [N] force left over: where something is held, the opposite of what it bears


def make_scratch(rows):
    """Memory for a frame: about 600 bytes a particle, 24 a spring's end."""
    count, nodes, edge_count = len(rows.order), len(rows.node_bending), len(rows.edges)
    parts = together.part_count(count)
    slots = (np.empty((count, 4)) for _ in range(8))
    single = np.empty(count), np.empty(count, np.int8), np.empty(count, np.bool_), np.empty(count)
    springs = (edge_count if len(rows.couple) else 0,), (edge_count, 4), (edge_count, 2)
    shapes = (3 * count, 4), *springs, (len(rows.far),), (len(rows.hinge), 4)
    shapes += (3 * nodes, 4), (nodes, 4), (parts, 4)
    fence = np.searchsorted(rows.leaf, nodes // 2 + np.arange(parts + 1) * (nodes // 2 // parts))
    springs, hinges = (len(numbers) * np.arange(parts + 1) // parts for numbers in (rows.spring, rows.hinge))
    return Scratch(*slots, *single, *(np.empty(shape) for shape in shapes), fence, springs, hinges)


def make_answer(rows):
    """Memory of what solves leave."""
    count = len(rows.order)
    return Answer(np.zeros((count, 3)), np.zeros((count, 3)))


class Lengths(NamedTuple):
    """What is known of edges that the solve may take too far; see `overshoot`."""

    edges: np.ndarray  # (e, 2)
    rest_length: np.ndarray  # (e,) [m]
    is_mesh_edge: np.ndarray  # (e,) bool
    inv_mass: np.ndarray  # (n,) [1/kg]


def solve(
    x, x_prev, mass, rows, scratch, answer, support, stack, pulls, free, guess, dt, calm, iterations, tolerance,
    lengths=None,
):  # fmt: skip
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
    lengths : `Lengths` of the edges that are not to be longer than the solve means; None where it is done again anyhow
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
    if lengths is not None:
        shorten(*lengths, support.kind, x, answer.d)
    _add(x, x_prev, mass, answer.d, free, state)
    return taken


@fused
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
        measure_springs(s.spring_fence[part], s.spring_fence[part + 1], rows, s.x, s.gone, rate, calm, s.longer, s.link,
                s.side,
            )  # fmt: skip
        turn_hinges(s.hinge_fence[part], s.hinge_fence[part + 1], rows, s.x, s.gone, rate, s.turns)
        if part == 0:
            _pull(rows, s, pins, pin_pull, pin_rate)
        part = together.done(board, phase)
    together.meet(board, phase, parts)
    phase = _fill(board, phase, rows, s, x, x_prev, stack, stack_weight, stack_row, stack_room, rate)
    phase, taken = _descend(board, log, phase, rows, s, stack, stack_weight, stack_row, iterations, tolerance)
    phase += 1
    part = together.take(board, phase)
    while part < parts:
        _leave(fence[part], fence[part + 1], rows.order, s, answer.d, answer.r)
        part = together.done(board, phase)
    together.meet(board, phase, parts)
    return taken


@fused_inner
def _fill(board, phase, rows, s, x, x_prev, stack, stack_weight, stack_row, stack_room, rate):
    """The matrix, what it makes of the first guess and the first direction, and the blocks of the preconditioner."""
    parts, fence = s.crown.shape[0], s.fence
    phase += 1
    part = together.take(board, phase)
    while part < parts:
        linearise_rows(
            fence[part], fence[part + 1], rows, s.x, s.link, s.side, s.turns, s.p, s.odd, s.mass, rate, s.far_row, s.r,
            s.q, s.block, s.bend,
        )  # fmt: skip
        part = together.done(board, phase)
    together.meet(board, phase, parts)
    phase += 1
    part = together.take(board, phase)
    while part < parts:
        fill_branch(
            fence[part], fence[part + 1], part, parts, rows, rate, s.link, s.side, s.block, s.kind, s.normal,
            s.node_block,
        )  # fmt: skip
        part = together.done(board, phase)
    together.meet(board, phase, parts)
    phase += 1
    part = together.take(board, phase)
    while part < 1:
        fill_crown(parts, rows, rate, s.link, s.side, s.kind, s.normal, s.node_block)
        _lay(rows, s, x, x_prev, stack, stack_weight, stack_row, stack_room)
        part = together.done(board, phase)
    together.meet(board, phase, 1)
    return phase


@fused_inner
def _descend(board, log, phase, rows, s, stack, stack_weight, stack_row, iterations, tolerance):
    """Conjugate gradients; returns the last phase and the iterations taken."""
    parts, fence = s.crown.shape[0], s.fence
    phase += 1
    part = together.take(board, phase)
    while part < parts:
        for i in range(np.uintp(fence[part]), np.uintp(fence[part + 1])):
            invert(s.block, i, s.bend[i])
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
            gather_up(fence[part], fence[part + 1], part, parts, rows, s.kind, s.normal, s.r, s.sums, s.crown)
            part = together.done(board, phase)
        together.meet(board, phase, parts)
        if taken == iterations:
            return phase, taken
        phase += 1
        part = together.take(board, phase)
        while part < parts:
            log[phase, part, 0] = hand_down(
                fence[part], fence[part + 1], part, parts, rows, s.block, s.node_block, s.kind, s.normal, s.r, s.z,
                s.sums, s.crown,
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
        log[phase, part, 0] = multiply_rows(fence[part], fence[part + 1], rows, s.mass, s.link, s.far_row, s.p, s.q)
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
    fall = quad(gx, gy, gz, 0.0)
    for i in range(np.uintp(first), np.uintp(last)):
        k = np.uintp(rows.order[i])
        s.kind[i] = kind[k]
        inertia, c = rate * rate * mass[k], drag[k]
        m = inertia + c
        s.mass[i] = m
        share = 1.0 if falls[k] else c / m
        s.odd[i] = kind[k] != 0 or c > 0.0
        store(s.normal, i, _three(normal, k))
        ahead = spread(1.0 - share) * keep_free(kind[k], s.normal, i, fall)
        led, drawn = _three(want, k), _three(way, k)
        d = led + spread(share) * drawn + ahead
        there = _three(x, k) + d
        store(s.p, i, ahead)
        store(s.d, i, d)
        store(s.x, i, there)
        store(s.gone, i, there - _three(x_prev, k))
        store(s.r, i, spread(c) * (drawn + led) - spread(m) * d)  # friction acts across the normal, not along it


@fused_inner
def _three(vectors, k):
    """Row k of (n, 3)."""
    return quad(vectors[k, 0], vectors[k, 1], vectors[k, 2], 0.0)


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
        h, along, led, on = _three(row, k), room[k], 0.0, 0.0
        for end in range(4):
            n, w = np.uintp(stack[k, end]), weight[k, end]
            i = np.uintp(rows.slot[n])
            along += w * total(h * (_three(x, n) - _three(x_prev, n)))
            led += w * total(h * load(s.d, i))
            on += w * total(h * load(s.p, i))
        along += led
        for end in range(4):
            i, w = np.uintp(rows.slot[stack[k, end]]), weight[k, end]
            store(s.r, i, load(s.r, i) - spread(w * along) * h)
            store(s.q, i, load(s.q, i) + spread(w * on) * h)
            add_product(s.block, i, 0.0, spread(0.5 * w * w) * h, h)


@fused_inner
def _multiply_stack(slot, p, stack, weight, row, q):
    """q += H p of cloth on cloth; returns p . H p. 40 flops and 250 bytes a row."""
    product = 0.0
    for k in range(np.uintp(stack.shape[0])):
        h, on = _three(row, k), 0.0
        for end in range(4):
            on += weight[k, end] * total(h * load(p, np.uintp(slot[stack[k, end]])))
        product += on * on
        for end in range(4):
            i = np.uintp(slot[stack[k, end]])
            store(q, i, load(q, i) + spread(weight[k, end] * on) * h)
    return product


@fused_inner
def _slopes(first, last, p, q, r):
    """p . r and p . q of a part."""
    slope = curvature = quad(0.0, 0.0, 0.0, 0.0)
    for i in range(np.uintp(first), np.uintp(last)):
        along = load(p, i)
        slope, curvature = slope + along * load(r, i), curvature + along * load(q, i)
    return total(slope), total(curvature)


@fused_inner
def _advance(first, last, step, p, q, d, r):
    far = spread(step)
    for i in range(np.uintp(first), np.uintp(last)):
        store(d, i, load(d, i) + far * load(p, i))
        store(r, i, load(r, i) - far * load(q, i))


@fused_inner
def _turn(first, last, turn, z, p):
    """The next direction; the first, of a turn of 0, whatever p is."""
    share = spread(turn)
    for i in range(np.uintp(first), np.uintp(last)):
        store(p, i, load(z, i) + share * load(p, i))


@fused_inner
def _leave(first, last, order, s, d, r):
    for i in range(np.uintp(first), np.uintp(last)):
        k = np.uintp(order[i])
        for axis in range(3):
            d[k, axis], r[k, axis] = s.d[i, axis], s.r[i, axis]


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
