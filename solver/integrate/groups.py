# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pieces of cloth a solve finds together, and how far each of these groups is.

Conjugate gradients go one step for all that they solve for. A ribbon beside a dress would get steps that serve the dress, and
the end of the solve when the dress is done; what is left of a garment would go by what else is baked. So pieces that nothing
joins have steps, directions and an end of their own, as if each were solved for alone: the matrix has nothing between them, nor
has the preconditioner. Cloth that lies on cloth, hinges and threads join pieces to a group.

All threads find a group's numbers from the same sums, made in the same order, and write the same bits. One that comes late in a
solve finds them, too.
"""

import numpy as np

from ..kernel.jit import fused, fused_inner
from ..kernel.lookup import first_of
from .system import in_groups

WAY, SHARE, PRODUCT, IS_OPEN, ENOUGH, ENOUGH_ALONE = range(6)  # columns of a ledger, by iteration and group
# Columns of a phase's log: z . r, at first p . r; and p . q, or of z . r what is the particles' own answer.
FALL, OTHER = 0, 1


def make_ledger(iterations, pieces):
    """(iterations + 2, p, 6) of a solve that begins: all groups are open."""
    ledger = np.zeros((iterations + 2, pieces, ENOUGH_ALONE + 1))
    ledger[0, :, IS_OPEN] = 1.0
    return ledger


def find_groups(matrix, stencils, segments):
    """`Groups` of a solve in which rows of `Stack` lie between pieces, stencils (k, 4) of particles."""
    group = matrix.coupled.copy()
    if len(group) > 1:
        _join_kernel(matrix, stencils, group)
    return in_groups(group, segments)


@fused
def _join_kernel(matrix, stencils, group):
    """Join the groups of pieces (p,) that stencils (k, 4) have corners in: one side may be of several, too, as a triangle
    without stiffness along its edges. # outputs: group
    """
    for k in range(np.uintp(stencils.shape[0])):
        one = first_of(group, matrix.piece[matrix.slot[stencils[k, 0]]])
        for end in range(1, 4):
            other = first_of(group, matrix.piece[matrix.slot[stencils[k, end]]])
            one, other = min(one, other), max(one, other)
            group[other] = one
    for p in range(group.shape[0]):
        group[p] = group[group[p]]  # of lower ones it is known


@fused_inner
def is_open(segment, taken, s, ledger):
    """Whether the group of a segment is not solved well enough after so many iterations."""
    return ledger[taken, s.groups.group[s.segments[segment, 2]], IS_OPEN] > 0.0


@fused_inner
def is_any_open(part, taken, s, ledger):
    """The same of any segment of a part."""
    found = False
    for k in range(s.segment_starts[part], s.segment_starts[part + 1]):
        found |= is_open(k, taken, s, ledger)
    return found


@fused_inner
def _total(log, phase, name, s, which):
    """Sum over the segments of a group, always in the same order."""
    total = 0.0
    for place in range(s.groups.starts[name], s.groups.starts[name + 1]):
        total += log[phase, s.groups.order[place], which]
    return total


@fused_inner
def find_steps(log, phase, taken, s, ledger):
    """How far each group goes along its direction p: as far as its energy falls, whose slope is p . r. # outputs: ledger"""
    for name in range(ledger.shape[1]):
        if s.groups.group[name] == name and ledger[taken, name, IS_OPEN] > 0.0:
            slope = _total(log, phase, name, s, FALL) if taken == 0 else ledger[taken - 1, name, PRODUCT]
            curvature = _total(log, phase, name, s, OTHER)
            ledger[taken, name, WAY] = slope / curvature if curvature > 0.0 else 0.0


@fused_inner
def judge(log, phase, taken, tolerance, s, ledger):
    """How much of the last direction goes into the next one of each group, and which are still open, as none is whose residual is no
    number; returns whether any is. # outputs: ledger
    """
    any_open = False
    for name in range(ledger.shape[1]):
        if s.groups.group[name] != name or not ledger[taken, name, IS_OPEN] > 0.0:
            continue
        product, alone = _total(log, phase, name, s, FALL), _total(log, phase, name, s, OTHER)
        if taken == 0:
            ledger[0, name, ENOUGH], ledger[0, name, ENOUGH_ALONE] = tolerance**2 * product, tolerance**2 * alone
        goes_on = product > -np.inf and (product > ledger[0, name, ENOUGH] or alone > ledger[0, name, ENOUGH_ALONE])
        ledger[taken, name, PRODUCT] = product
        ledger[taken, name, SHARE] = product / ledger[taken - 1, name, PRODUCT] if taken > 0 else 0.0
        ledger[taken + 1, name, IS_OPEN] = 1.0 if goes_on else 0.0
        any_open |= goes_on
    return any_open
