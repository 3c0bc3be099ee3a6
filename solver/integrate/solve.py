# SPDX-License-Identifier: GPL-3.0-or-later
"""The compliant constraints of a substep, all at once: one Newton step by preconditioned conjugate gradients.

XPBD looks for the positions x = x* + d nearest to the predicted x* that the springs allow,

    minimise  1/2 d^T (M / dt^2) d + sum of the springs' and hinges' energies at x* + d,

and usually takes one constraint after the other (Macklin, Müller and Chentanez 2016). Where many particles hang on
few, that never gets there in one sweep: a load passes one spring a sweep. Here the linear system of that very step,
(M / dt^2 + K) d = f, is solved for all of them at once (Baraff and Witkin 1998 for the filtered conjugate gradients;
`tree` for the preconditioner), a few iterations each as dear as a sweep.

A particle that a body holds up is held in the solve, too (`contact.support`): kind 1 fixes its motion along the body's
normal, kind 2 all of it, as for kinematic particles. Friction drags it along. What the body has to push with comes
back in r.
"""

from typing import NamedTuple

import numpy as np

from ..blocks import add_row, invert, keep_free
from ..elastic.bending import linearise_hinges, multiply_hinges
from ..elastic.springs import linearise_springs, multiply_springs
from ..jit import fused, fused_inner
from .spin import balance, keep_spin, spin
from .tree import fill_nodes, precondition


class Rows(NamedTuple):
    """Springs and hinges with what depends on the substep's length, computed once a frame."""

    edges: np.ndarray  # (e, 2)
    spring: np.ndarray  # (e, 3) rest length [m], stiffness [N/m], damping / dt [N/m]
    stencils: np.ndarray  # (b, 4)
    weight: np.ndarray  # (b, 4) [1/m]
    hinge: np.ndarray  # (b, 3) 2 sin(rest angle / 2), stiffness [J], damping / dt [J]
    leaf: np.ndarray  # (n,)
    meet: np.ndarray  # (e,) the smallest node that holds both ends of a spring
    node_rate: np.ndarray  # (m,) [N/m] resistance of the hinges to a node
    bend_rate: np.ndarray  # (n,) [N/m] resistance of the hinges to a particle
    mass_rate: np.ndarray  # (n,) [N/m] mass / dt^2


class Scratch(NamedTuple):
    """Memory of the solve; nothing in it lives from one substep to the next."""

    spring_row: np.ndarray
    hinge_row: np.ndarray
    block: np.ndarray
    node_block: np.ndarray
    sums: np.ndarray
    d: np.ndarray
    r: np.ndarray
    z: np.ndarray
    p: np.ndarray
    q: np.ndarray


def prepare_rows(cloth, dt):
    """`Rows` for substeps of dt [s].

    Damping is a rate [1/s] at which two ends lose their relative velocity: c = rate x their reduced mass.
    """
    w, stencils = cloth.inv_mass, cloth.bend_stencils
    reduced = 1.0 / (w[cloth.edges[:, 0]] + w[cloth.edges[:, 1]])
    bend_reduced = 1.0 / np.einsum("bk,bk,bk->b", w[stencils], cloth.bend_weight, cloth.bend_weight)
    first, second = cloth.leaf[cloth.edges].T
    resistance = cloth.bend_weight**2 * (1.0 / cloth.bend_compliance)[:, None]
    spring = [cloth.rest_length, 1.0 / cloth.edge_compliance, cloth.edge_damping * reduced / dt]
    hinge = [2.0 * np.sin(0.5 * cloth.rest_angle), 1.0 / cloth.bend_compliance, cloth.bend_damping * bend_reduced / dt]
    return Rows(
        cloth.edges,
        np.stack(spring, axis=1),
        stencils,
        cloth.bend_weight,
        np.stack(hinge, axis=1),
        cloth.leaf,
        first >> np.frexp(first ^ second)[1],
        cloth.node_bending,
        np.bincount(stencils.ravel(), resistance.ravel(), minlength=len(cloth.mass)),
        cloth.mass / dt**2,
    )


def make_scratch(rows):
    """Memory for a frame: about 330 bytes a particle, 32 a spring or hinge."""
    count, nodes = len(rows.mass_rate), len(rows.node_rate)
    shapes = (len(rows.edges), 4), (len(rows.stencils), 4), (count, 6), (nodes, 6), (nodes, 3)
    return Scratch(*(np.empty(shape) for shape in shapes), *(np.empty((count, 3)) for _ in range(5)))


@fused_inner
def _linearise(x, x_prev, edges, spring, stencils, weight, hinge, leaf, meet, node_rate, bend_rate, mass_rate, spring_row, hinge_row, block, node_block, force, kind, normal, way, drag, stack, stack_weight, stack_row, stack_room, pins, pin_pull, pin_rate):  # fmt: skip
    """Fill rows, force and the blocks of the preconditioner at x."""
    for i in range(np.uintp(x.shape[0])):
        force[i, 0], force[i, 1], force[i, 2] = drag[i] * way[i, 0], drag[i] * way[i, 1], drag[i] * way[i, 2]
        m = mass_rate[i] + drag[i]
        block[i, 0], block[i, 1], block[i, 2], block[i, 3], block[i, 4], block[i, 5] = m, 0.0, 0.0, m, 0.0, m
    for m in range(pins.shape[0]):
        i = np.uintp(pins[m])
        for axis in range(3):
            force[i, axis] += pin_pull[m, axis]
        add_row(block, i, pin_rate[m], 0.0, 0.0, 0.0)
    for k in range(np.uintp(node_block.shape[0])):
        for axis in range(6):
            node_block[k, axis] = 0.0
    linearise_springs(x, x_prev, edges, spring, meet, kind, normal, spring_row, force, block, node_block)
    fill_nodes(block, node_block, node_rate, leaf, kind, normal)
    linearise_hinges(x, x_prev, stencils, weight, hinge, hinge_row, force)
    for k in range(np.uintp(stack.shape[0])):
        hx, hy, hz, along = stack_row[k, 0], stack_row[k, 1], stack_row[k, 2], stack_room[k]
        for end in range(4):
            i, w = stack[k, end], stack_weight[k, end]
            along += w * (hx * (x[i, 0] - x_prev[i, 0]) + hy * (x[i, 1] - x_prev[i, 1]) + hz * (x[i, 2] - x_prev[i, 2]))
        for end in range(4):
            i, w = stack[k, end], stack_weight[k, end]
            force[i, 0], force[i, 1] = force[i, 0] - w * along * hx, force[i, 1] - w * along * hy
            force[i, 2] -= w * along * hz
            add_row(block, i, 0.0, w * hx, w * hy, w * hz)
    for i in range(np.uintp(x.shape[0])):
        m = bend_rate[i]
        block[i, 0], block[i, 3], block[i, 5] = block[i, 0] + m, block[i, 3] + m, block[i, 5] + m
    invert(block)


@fused_inner
def _multiply(p, q, mass_rate, drag, edges, spring_row, stencils, weight, hinge_row, stack, stack_weight, stack_row, pins, pin_rate):  # fmt: skip
    """q = (M / dt^2 + drag + K) p."""
    for i in range(np.uintp(p.shape[0])):
        m = mass_rate[i] + drag[i]
        q[i, 0], q[i, 1], q[i, 2] = m * p[i, 0], m * p[i, 1], m * p[i, 2]
    multiply_springs(p, edges, spring_row, q)
    multiply_hinges(p, stencils, weight, hinge_row, q)
    multiply_hinges(p, stack, stack_weight, stack_row, q)
    for m in range(pins.shape[0]):
        i = np.uintp(pins[m])
        for axis in range(3):
            q[i, axis] += pin_rate[m] * p[i, axis]


@fused_inner
def _dot(a, b):
    product = 0.0
    for i in range(np.uintp(a.shape[0])):
        product += a[i, 0] * b[i, 0] + a[i, 1] * b[i, 1] + a[i, 2] * b[i, 2]
    return product


@fused_inner
def _step(p, q, d, r, slope):
    """Go along p, with q = A p, as far as the energy falls: its slope there is `slope` = p . r."""
    curvature = _dot(p, q)
    if curvature > 0.0:
        step = slope / curvature
        for i in range(np.uintp(p.shape[0])):
            d[i, 0], d[i, 1], d[i, 2] = d[i, 0] + step * p[i, 0], d[i, 1] + step * p[i, 1], d[i, 2] + step * p[i, 2]
            r[i, 0], r[i, 1], r[i, 2] = r[i, 0] - step * q[i, 0], r[i, 1] - step * q[i, 1], r[i, 2] - step * q[i, 2]


@fused
def solve(
    x, x_prev, mass, edges, spring, stencils, weight, hinge, leaf, meet, node_rate, bend_rate, mass_rate,
    spring_row, hinge_row, block, node_block, sums, d, r, z, p, q,
    kind, normal, want, way, drag, stack, stack_weight, stack_row, stack_room,
    pins, pin_pull, pin_rate, free, gx, gy, gz, iterations, tolerance,
):  # fmt: skip
    """Move x by the substep's correction d; returns the iterations taken.

    Parameters
    ----------
    kind, normal, want, way, drag : what bodies hold (`contact.support.Support`)
    stack, stack_weight, stack_row, stack_room : cloth that lies on cloth (`contact.stacks.Stack`)
    pins, pin_pull, pin_rate : (m,), (m, 3) [N], (m,) [N/m] particles that soft pins (or anything) pull, and how hard
    free : (f, 2) first particle and end of each garment that no pin holds
    gx, gy, gz : [m] the first guess of every particle's d: what gravity has predicted, taken back
    iterations, tolerance : stop after so many, or when the residual's norm has fallen by that factor

    On return r holds the reactions' opposite: the force [N] that is left over where a particle is held.
    """
    _linearise(
        x, x_prev, edges, spring, stencils, weight, hinge, leaf, meet, node_rate, bend_rate, mass_rate,
        spring_row, hinge_row, block, node_block, r, kind, normal, way, drag, stack, stack_weight, stack_row, stack_room,
        pins, pin_pull, pin_rate,
    )  # fmt: skip
    count = np.uintp(x.shape[0])
    for i in range(count):
        # What is held goes with the body as far as friction takes it. Else the residual would be all friction's, and
        # the solve would stop as soon as that is small.
        share = drag[i] / (drag[i] + mass_rate[i])
        px, py, pz = keep_free(kind[i], normal, i, gx, gy, gz)
        p[i, 0], p[i, 1], p[i, 2] = (1.0 - share) * px, (1.0 - share) * py, (1.0 - share) * pz
        d[i, 0], d[i, 1] = want[i, 0] + share * way[i, 0], want[i, 1] + share * way[i, 1]
        d[i, 2] = want[i, 2] + share * way[i, 2]
    _multiply(d, q, mass_rate, drag, edges, spring_row, stencils, weight, hinge_row, stack, stack_weight, stack_row, pins, pin_rate)  # fmt: skip
    for i in range(count):
        c = drag[i]  # it acts across the normal: not on what is wanted along it
        r[i, 0], r[i, 1] = r[i, 0] - q[i, 0] + c * want[i, 0], r[i, 1] - q[i, 1] + c * want[i, 1]
        r[i, 2] = r[i, 2] - q[i, 2] + c * want[i, 2]
    # What keeps cloth at rest takes back what gravity predicts: the first guess is as much of that as serves.
    _multiply(p, q, mass_rate, drag, edges, spring_row, stencils, weight, hinge_row, stack, stack_weight, stack_row, pins, pin_rate)  # fmt: skip
    _step(p, q, d, r, _dot(p, r))
    product = precondition(block, node_block, leaf, kind, normal, r, p, sums)
    enough = tolerance * tolerance * product
    taken = 0
    while taken < iterations and product > enough:
        _multiply(p, q, mass_rate, drag, edges, spring_row, stencils, weight, hinge_row, stack, stack_weight, stack_row, pins, pin_rate)  # fmt: skip
        _step(p, q, d, r, product)
        before = product
        product = precondition(block, node_block, leaf, kind, normal, r, z, sums)
        turn = product / before
        for i in range(count):
            p[i, 0], p[i, 1], p[i, 2] = z[i, 0] + turn * p[i, 0], z[i, 1] + turn * p[i, 1], z[i, 2] + turn * p[i, 2]
        taken += 1
    _add(x, x_prev, mass, d, kind, stack, free)
    return taken


@fused_inner
def _add(x, x_prev, mass, d, kind, stack, free):
    """x += d; garments on which nothing acts from outside keep momentum and angular momentum to rounding.

    One that touches other cloth keeps its place as a whole, too: what holds it up there is left to the response, whose
    friction goes by what it pushes with. But it may turn.
    """
    for g in range(free.shape[0]):
        start, stop = np.uintp(free[g, 0]), np.uintp(free[g, 1])
        held = touching = False
        for i in range(start, stop):
            held |= kind[i] != 0
        for k in range(np.uintp(stack.shape[0])):
            touching |= (start <= stack[k, 0] < stop) != (start <= stack[k, 3] < stop)
        if held:
            continue
        lx, ly, lz = spin(x, x_prev, mass, start, stop)
        balance(d, mass, start, stop)
        if not touching:
            keep_spin(x, d, x_prev, mass, start, stop, lx, ly, lz)
    for i in range(np.uintp(x.shape[0])):
        x[i, 0], x[i, 1], x[i, 2] = x[i, 0] + d[i, 0], x[i, 1] + d[i, 1], x[i, 2] + d[i, 2]
