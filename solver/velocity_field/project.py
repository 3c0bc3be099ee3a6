# SPDX-License-Identifier: GPL-3.0-or-later
"""The velocity at the nodes that is nearest to the cloth's own and closes no gap (Buffet 2021, 3.3.2).

Asked for is the change u of the nodes' velocity v that makes

    1/2 sum of m u^2  +  1/2 sum of w max(0, s - D (v + u))^2  +  1/2 sum of drag m_c h^2 |grad (v + u)|^2

least: the anchor at each node (eq. 3.5), the rate D of each crowded cell against the least it may have, s (eq. 3.6), and
in cells beside a body its friction, whose stationary points are those of the thesis' null Laplacian (eq. 3.7). Unlike
in the thesis, nodes count by their mass m (m_c is the harmonic mean of a cell's), so that no momentum is made, and a
cell only pushes: where cloth parts anyway nothing holds it. Its weight w is such that alone it would leave a part
1 / (1 + GAP_WEIGHT) of what is wrong. That makes the sum quadratic in pieces; each round solves for those cells that push
now, by a few steps of conjugate gradients without a matrix, preconditioned by the masses, so that every step, too,
keeps momentum. What is left of a cell's closing after a round, times w, is added to its push in the next (the method of
multipliers; Hestenes 1969), so that each round leaves that part of what the one before has left. A single one let a heap
sink into itself at 16 mm/s, and a greater weight asks for more steps than that.

In the first round every step lessens the sum, the first of them along the change of the substep before. So with s at most
zero that change takes energy away, however few steps there are; later rounds change little.
"""

from typing import NamedTuple

import numpy as np

from ..kernel.jit import fused, fused_inner
from ..kernel.vec4 import broadcast, load, store, sum_xyz, vec4

GAP_WEIGHT = 8.0  # weight of a cell's rate against the anchor of its nodes
LIGHTEST_NODE = 0.1  # part of a cell's mean mass below which nodes do not weaken it
ENOUGH_RESIDUAL = 1e-3  # part of the first residual, squared, at which a round ends
LAST_CORNER = 7  # of a cell; corner 7 - k is opposite corner k


class System(NamedTuple):
    """What the change of velocity is solved from. Vectors are those of `kernel.vec4`."""

    nodes: np.ndarray  # (c, 8) uint32 corners of cells
    rows: np.ndarray  # (4 c, 4) [1/m] see `crowded_cells.Cells`
    least: np.ndarray  # (c,) [1/s] the least rate each cell may have
    drag: np.ndarray  # (c,) weight of friction with bodies
    mass: np.ndarray  # (k,) [kg] of nodes
    v: np.ndarray  # (k, 4) [m/s] of nodes


class Scratch(NamedTuple):
    """Arrays of the solution."""

    weight: np.ndarray  # (c,) [kg m2] w of cells that push, 0 of others
    pushed: np.ndarray  # (c,) [kg m2/s] what they push with beforehand, from what lacked in the rounds before
    pull: np.ndarray  # (c,) [kg] of friction
    lightness: np.ndarray  # (k,) [1/kg]
    residual: np.ndarray  # (k, 4)
    direction: np.ndarray  # (k, 4) along which a step goes
    image: np.ndarray  # (k, 4) of it


def make_scratch(cell_count: int, node_count: int) -> Scratch:
    """Arrays for so many cells and nodes."""
    cells, nodes = (np.zeros(cell_count) for _ in range(3)), (np.zeros((node_count, 4)) for _ in range(3))
    return Scratch(*cells, np.zeros(node_count), *nodes)


@fused_inner
def _across(nodes, cell, pair, v):
    """What two opposite corners of a cell differ by."""
    return load(v, nodes[cell, LAST_CORNER - pair]) - load(v, nodes[cell, pair])


@fused_inner
def rate_of(nodes, rows, cell, v):
    """The rate of a cell, or what a direction would add to it."""
    rate = vec4(0.0, 0.0, 0.0, 0.0)
    for pair in range(4):
        rate = rate + load(rows, 4 * cell + pair) * _across(nodes, cell, pair, v)
    return sum_xyz(rate)


@fused_inner
def _add(nodes, rows, cell, amount, out):
    """Add a multiple of a cell's row at its corners.
    # outputs: out
    """
    for pair in range(4):
        a, b, change = (
            nodes[cell, LAST_CORNER - pair],
            nodes[cell, pair],
            broadcast(amount) * load(rows, 4 * cell + pair),
        )
        store(out, a, load(out, a) + change)
        store(out, b, load(out, b) - change)


@fused_inner
def _add_drag(nodes, cell, amount, v, out):
    """Add a multiple of the gradient of a cell's |grad v|^2 (h/4)^2 / 2; returns it times v.
    # outputs: out
    """
    a, b = _across(nodes, cell, 0, v), _across(nodes, cell, 1, v)
    c, d = _across(nodes, cell, 2, v), _across(nodes, cell, 3, v)
    gx, gy, gz = a + b + c + d, a + b - c - d, a - b + c - d
    for pair, change in enumerate((gx + gy + gz, gx + gy - gz, gx - gy + gz, gx - gy - gz)):
        a, b = nodes[cell, LAST_CORNER - pair], nodes[cell, pair]
        store(out, a, load(out, a) + broadcast(amount) * change)
        store(out, b, load(out, b) - broadcast(amount) * change)
    return amount * sum_xyz(gx * gx + gy * gy + gz * gz)


@fused_inner
def _begin(system, u, turn, scratch):
    """Decide which cells push after a change u; the residual from there. What they lacked in the round before is added.
    # outputs: scratch
    """
    nodes, rows, least, drag, mass, v = system
    weight, pull, lightness, residual = scratch.weight, scratch.pull, scratch.lightness, scratch.residual
    pushed = scratch.pushed
    for node in range(len(mass)):
        store(residual, node, broadcast(-mass[node]) * load(u, node))
    for cell in range(len(nodes)):
        gap = least[cell] - rate_of(nodes, rows, cell, v) - rate_of(nodes, rows, cell, u)
        weight[cell], pull[cell] = 0.0, 0.0
        before = pushed[cell] if turn > 0 else 0.0
        pushed[cell] = 0.0
        if gap > 0.0 or before > 0.0:
            give, light = 0.0, 0.0
            for corner in range(8):
                light += LIGHTEST_NODE / 8.0 * mass[nodes[cell, corner]]
            for pair in range(4):
                row = load(rows, 4 * cell + pair)
                heavy, other = max(mass[nodes[cell, pair]], light), max(mass[nodes[cell, LAST_CORNER - pair]], light)
                give += sum_xyz(row * row) * (1.0 / heavy + 1.0 / other)
            stiff = GAP_WEIGHT / give
            pushed[cell] = max(before + stiff * gap, 0.0) if turn > 0 else 0.0
            amount = stiff * gap + pushed[cell]
            if amount > 0.0:
                weight[cell] = stiff
                _add(nodes, rows, cell, amount, residual)
        if drag[cell] > 0.0:
            light = 0.0
            for corner in range(8):
                light += lightness[nodes[cell, corner]]
            pull[cell] = 0.5 * drag[cell] / light
            _add_drag(nodes, cell, -pull[cell], v, residual)
            _add_drag(nodes, cell, -pull[cell], u, residual)


@fused_inner
def _push(system, scratch):
    """Add to the image of a direction what the cells make of it; returns direction . what was added.
    # outputs: scratch.image
    """
    nodes, rows = system.nodes, system.rows
    weight, pull, direction, image = scratch.weight, scratch.pull, scratch.direction, scratch.image
    product = 0.0
    for cell in range(len(nodes)):
        if weight[cell] > 0.0:
            rate = rate_of(nodes, rows, cell, direction)
            product += weight[cell] * rate * rate
            _add(nodes, rows, cell, weight[cell] * rate, image)
        if pull[cell] > 0.0:
            product += _add_drag(nodes, cell, pull[cell], direction, image)
    return product


@fused
def project(system, u, rounds, iterations, scratch):
    """Solve for the change of velocity; u (k, 4) [m/s] comes as the first direction to look along and leaves as the answer.

    300 bytes and 60 flops of a cell in an iteration, 200 bytes of a node.
    # outputs: u, scratch
    """
    mass = system.mass
    lightness, residual, direction, image = scratch.lightness, scratch.residual, scratch.direction, scratch.image
    guessed, none = False, vec4(0.0, 0.0, 0.0, 0.0)
    for node in range(len(u)):
        lightness[node] = 1.0 / mass[node] if mass[node] > 0.0 else 0.0  # beside which nothing is: it stays
        store(direction, node, load(u, node))
        guessed |= sum_xyz(load(u, node) * load(u, node)) > 0.0
        store(u, node, none)
    for turn in range(rounds):
        _begin(system, u, turn, scratch)
        before, start, size = 0.0, 0.0, 0.0
        for node in range(len(u)):
            size += lightness[node] * sum_xyz(load(residual, node) * load(residual, node))
        for iteration in range(-1 if guessed and turn == 0 else 0, iterations):
            new, back = (0.0, 1.0) if iteration < 0 else (1.0, 0.0 if iteration == 0 else size / before)
            start = size if iteration == 0 else start
            if size <= ENOUGH_RESIDUAL * start:
                break
            before, products, lengths = size, none, none
            for node in range(len(u)):
                left = load(residual, node)
                step = broadcast(new * lightness[node]) * left + broadcast(back) * load(direction, node)
                store(direction, node, step)
                pulled = broadcast(mass[node]) * step
                store(image, node, pulled)
                products = products + pulled * step
                lengths = lengths + step * left
            product = sum_xyz(products) + _push(system, scratch)
            if product <= 0.0:
                continue
            along, sizes = broadcast(sum_xyz(lengths) / product), none
            for node in range(len(u)):
                store(u, node, load(u, node) + along * load(direction, node))
                left = load(residual, node) - along * load(image, node)
                store(residual, node, left)
                sizes = sizes + broadcast(lightness[node]) * left * left
            size = sum_xyz(sizes)


@fused
def find_pressed(system, u, scratch, per_volume, pressed):
    """How hard layers are pressed on each other at the nodes: the most that a cell beside them pushes with, as `project` has
    left it. A push over the volume of its cell is the impulse per area of layers that lie across its rate.

    per_volume : [1/m3] of a cell
    # outputs: pressed (k,) [kg/m/s]
    """
    nodes, rows, least, _, _, v = system
    pressed[:] = 0.0
    for cell in range(len(nodes)):
        if scratch.weight[cell] > 0.0:
            gap = least[cell] - rate_of(nodes, rows, cell, v) - rate_of(nodes, rows, cell, u)
            push = per_volume * (scratch.pushed[cell] + scratch.weight[cell] * gap)
            for corner in range(8):
                pressed[nodes[cell, corner]] = max(pressed[nodes[cell, corner]], push)
