# SPDX-License-Identifier: GPL-3.0-or-later
"""What a solve works on: the matrix (`stiffness_matrix`), memory for its vectors, and what it leaves."""

from typing import NamedTuple

import numpy as np

from ..elastic.bending import Bending
from ..elastic.springs import Springs
from ..kernel import phases
from ..kernel.memory import empty_together
from .pieces import Pieces
from .stack_rows import NO_ROWS, Rows

# columns of what hinges add to an entry: b [N/m] and that of their damping [N s/m]
BEND, BEND_DAMPING = 0, 1
NEIGHBOUR_SLOT, NEIGHBOUR_SPRING = 0, 1  # columns of `StiffnessMatrix.near`
ALONG = 3  # place of a + b in `Scratch.link`, behind h
HINGE_BITS, CORNER_BITS = np.uintp(2), np.uintp(3)  # of `StiffnessMatrix.turn`


class StiffnessMatrix(NamedTuple):
    """What of the matrix is the same in every substep; every index but `order` itself is of the new numbers, called slots."""

    order: np.ndarray  # (n,) particle of each slot
    slot: np.ndarray  # (n,) slot of each particle
    edges: np.ndarray  # (e, 2) springs, as in `Cloth.edges`
    spring: Springs
    spring_bend: np.ndarray  # (e, 2) what hinges add to a spring: b [N/m] and of damping [N s/m]
    taut: np.ndarray  # (e, 2) `springs.tautening`, or (0, 2)
    couple_start: np.ndarray  # (e + 1,), or (1,) where there are none
    couple: np.ndarray  # (2 c,) springs that a spring is coupled with
    coupling: np.ndarray  # (2 c,) [N/m]
    near_start: np.ndarray  # (n + 1,)
    near: np.ndarray  # (m, 2) slot at the other end of a spring, and which spring
    far_start: np.ndarray  # (n + 1,)
    far: np.ndarray  # (q,) in a hinge with it, but not at the end of a spring
    far_bend: np.ndarray  # (q, 2) b [N/m] and of damping [N s/m]
    stencils: np.ndarray  # (h, 4) hinges whose force has a part that is not linear
    weight: np.ndarray  # (h, 4) [1/m]
    hinge: Bending
    turn_start: np.ndarray  # (n + 1,)
    turn: np.ndarray  # (4 h,) hinges of a slot: 4 times the hinge, and which end of it
    node_first: np.ndarray  # (m + 1,) first slot of each node of the `tree`; of leaves also their end
    node_start: np.ndarray  # (m + 1, 2) first of each node's springs, and of its far pairs
    node_springs: np.ndarray  # (e,) springs of a node: it is the smallest that holds both ends
    node_far: np.ndarray  # (q / 2, 3) far pairs of a node: both slots, and the entry
    answers: np.ndarray  # (m,) bool: nodes that answer (`tree.answering`)
    piece: np.ndarray  # (n,) of each slot, ascending where the tree was grown for these springs (`tree.hosted`)
    coupled: np.ndarray  # (p,) the first of the pieces that hinges join with each


class Groups(NamedTuple):
    """Pieces that a solve has to find together, as they touch. A group goes by the name of its first piece."""

    group: np.ndarray  # (p,) of each piece
    order: np.ndarray  # (q,) segments, those of a group one after the other
    starts: np.ndarray  # (p + 1,) first place of each there; that of a name that no group has is the next one's


class Scratch(NamedTuple):
    """Memory of the solve, by slot; nothing in it lives from one substep to the next.

    What the rows of the matrix are made of (displacement, secant, turns) is where the preconditioner comes to be after that (z,
    node_block, sums).
    """

    x: np.ndarray  # (n, 4) [m], as all vectors here: where the forces are linearised
    displacement: np.ndarray  # [m] from the substep's start to there
    d: np.ndarray  # [m] correction of the prediction
    r: np.ndarray  # [N] residual
    z: np.ndarray  # [m] what the preconditioner makes of it
    p: np.ndarray  # [m] direction
    q: np.ndarray  # [N] A p
    normal: np.ndarray  # of what is HELD, and the free way of what is CREASED
    mass: np.ndarray  # (n,) [N/m] inertia, friction and soft pins
    kind: np.ndarray  # (n,) int8, as in `contact.body.constraints.Support`
    is_odd: np.ndarray  # (n,) bool: something beside gravity is expected of it
    across: np.ndarray  # (n,) [N/m] sum of a + b of a row, on the diagonal
    block: np.ndarray  # (3 n, 4) [N/m] the diagonal blocks without that: of mass and h h^T; later with it, then inverse
    lengthening: np.ndarray  # (e,) [m], none without coupled springs
    link: np.ndarray  # (e, 4) [sqrt(N/m)] h (see `springs.linearise`), and ALONG, [N/m], a + b with b of hinges
    secant: np.ndarray  # (e,) [N/m] all of the force over the distance of the ends
    far_row: np.ndarray  # (q,) [N/m]
    turns: np.ndarray  # (h, 4) [J/m] see `stiffness_matrix.turn_hinges`
    node_block: np.ndarray  # (12 m, 4) blocks of the preconditioner's nodes (`kernel.mat6`)
    sums: np.ndarray  # (2 m, 4) force and moment on its nodes
    crown: np.ndarray  # (2 parts, 4) force and moment on its branches
    slot_starts: np.ndarray  # (parts + 1,) first slot of each part, and their end
    spring_starts: np.ndarray  # (parts + 1,) first spring
    hinge_starts: np.ndarray  # (parts + 1,) first hinge
    segments: np.ndarray  # (q, 3) what a part has of a piece: first slot, their end, and the piece
    segment_starts: np.ndarray  # (parts + 1,) first segment of each part
    groups: Groups  # of pieces that nothing but hinges join; a solve in which cloth lies on cloth has its own
    rows: Rows  # none; the same
    falls: np.ndarray  # (n,) bool, by particle: nothing holds its piece


class Solution(NamedTuple):
    """What a solve leaves, by particle, until the next one begins: where its directions were, and the correction by slot."""

    correction: np.ndarray  # (n, 3) [m] d
    residual: np.ndarray  # (n, 3) [N] r: of what is held, what it has to be pushed with
    x: np.ndarray  # (n, 3) [m] where it leaves particles, before pins and contacts have a say


class System(NamedTuple):
    """What the solves of a frame have in common."""

    matrix: StiffnessMatrix
    mass: np.ndarray  # (n,) [kg]
    free: Pieces  # that no pin holds
    held_by: np.ndarray  # (f,) int8, what acts on it: see `momentum`
    scratch: Scratch
    solution: Solution


class Target(NamedTuple):
    """Where a solve starts, how far it goes in time, and when it is good enough."""

    guess: tuple[float, float, float]  # [m] first d of every free particle: what gravity has predicted, taken back
    dt: float  # [s]
    damped: float  # part of what springs' bounds have too much that is damping (`elastic.springs`), or 0
    iterations: int  # after which it stops
    tolerance: float  # part of the residual's norm at which it stops before that
    loss: float = 1.0  # part of the damping of bending that acts


def make_system(matrix, mass, free):
    """`System` of a frame, nothing solved yet."""
    scratch = make_scratch(matrix)
    solution = Solution(
        *(each.reshape(-1)[: 3 * len(each)].reshape(-1, 3) for each in (scratch.p, scratch.q, scratch.d))
    )
    for each in solution:
        each[:] = 0.0
    return System(matrix, mass, free, np.zeros(len(free.starts) - 1, np.int8), scratch, solution)


def make_scratch(matrix):
    """Memory for a frame: 620 bytes a particle of plain cloth."""
    count, nodes = len(matrix.order), len(matrix.node_first) - 1
    springs, hinges = len(matrix.edges), len(matrix.stencils)
    parts = phases.part_count(count)
    first_leaves = nodes // 2 + np.arange(parts + 1) * (nodes // 2 // parts)
    slot_starts = matrix.node_first[first_leaves].astype(np.int64)
    segments, segment_starts = _segments(slot_starts, matrix.piece)
    long, number = np.float64, (count,)
    vector = (count, 4), long
    kinds = {
        **dict.fromkeys(("x", "d", "r", "p", "q", "normal"), vector),
        "mass": (number, long), "kind": (number, np.int8), "is_odd": (number, np.bool_), "across": (number, long),
        "block": ((3 * count, 4), long),
        "lengthening": ((springs if len(matrix.couple) else 0,), long),
        "link": ((springs, 4), long), "far_row": ((len(matrix.far),), long), "crown": ((2 * parts, 4), long),
    }  # fmt: skip
    before = {"displacement": vector, "secant": ((springs,), long), "turns": ((hinges, 4), long)}
    after = {"z": vector, "node_block": ((12 * nodes, 4), long), "sums": ((2 * nodes, 4), long)}
    arrays = empty_together(*(list(each.values()) for each in (kinds, before, after)))
    return Scratch(
        **dict(zip(kinds | before | after, arrays, strict=True)),
        slot_starts=slot_starts,
        spring_starts=springs * np.arange(parts + 1) // parts,
        hinge_starts=hinges * np.arange(parts + 1) // parts,
        segments=segments,
        segment_starts=segment_starts,
        groups=in_groups(matrix.coupled, segments),
        rows=NO_ROWS,
        falls=np.zeros(count, np.bool_),
    )


def _segments(slot_starts, piece):
    """`Scratch.segments` and their starts, of parts that begin at these slots."""
    begin = np.union1d(slot_starts[:-1], np.flatnonzero(np.diff(piece, prepend=-1)))
    segments = np.stack([begin, np.append(begin[1:], len(piece)), piece[begin]], axis=1)
    return segments.astype(np.int64), np.searchsorted(begin, slot_starts).astype(np.int64)


def in_groups(group, segments):
    """`Groups` of pieces that go by these names (p,), which are cut into segments as in `Scratch`."""
    names = group[segments[:, 2]]
    order = np.argsort(names, kind="stable")
    return Groups(group, order, np.searchsorted(names[order], np.arange(len(group) + 1)))
