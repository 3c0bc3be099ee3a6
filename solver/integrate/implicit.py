# SPDX-License-Identifier: GPL-3.0-or-later
"""Implicit Euler and the theta method: the equations of a step solved until they hold.

Implicit Euler asks for v1 = v0 + dt a(x1, v1) and x1 = x0 + dt v1. The theta method takes the slope at the point that
lies theta of the way between start and end (the one-leg form: Dahlquist 1975; Hairer and Wanner 1996, V.6),

    v1 = v0 + dt a(xt, vt),   x1 = x0 + dt vt,   (xt, vt) = (1 - theta) (x0, v0) + theta (x1, v1),

which is implicit Euler over theta dt, gone on with straight to dt. With theta = 1/2 that is the midpoint rule, of order
2, which keeps angular momentum and damps nothing; above, it damps what it cannot follow. The trapezoidal form would
begin with the stiff slopes at x0, and every contact that moves a particle would kick the cloth.

The implicit part is solved in rounds of Newton's kind on the springs, hinges and pins: each is the linear solve of
`pcg`, conjugate gradients filtered by what is held (Baraff and Witkin 1998) and preconditioned. Its
matrix is that of tension only (Choi and Ko 2002) and knows no couplings of springs but as a bound, which keeps every
round well posed; at the solution the forces, not the matrix, decide. Rounds with such a matrix get nearer by the same
part each time, so the next one starts where the last few, taken as linear, would have had no way left to go (Anderson
1965; Walker and Ni 2011, section 2).
"""

import numpy as np

from ..forces.optional import Pulls
from ..kernel.mat3 import CREASED, HELD
from .pcg import correct, solve
from .system import Target

NEWTON_ROUNDS = 15  # at most
REMEMBERED_ROUNDS = 3  # before, from which the next start is told
CLOSE_ENOUGH = 2e-4  # last round's motion over the longest one's at which they end
LEAST_MOTION = 1e-12  # [m] of a round; less is rounding, and what rounding tends to is nonsense
ROUND_ITERATIONS = 10  # times the iterations of XPBD that a round may take, for an error as much smaller
SMALLEST_PART = 1e-6  # of rounds' differences, in the largest, that the others do not have: less is rounding


def solve_fully(system, x, x_prev, support, stack, pulls, guess, settings, dt):
    """Rounds from the prediction x (n, 3) [m] on, until the forces at x, the inertia and what is held balance.

    The other parameters are those of `pcg.solve`, guess and dt those of `system.Target`. Leaves in `system.solution` what
    `contact.body.constraints.weigh` asks for: the whole correction and the last forces.
    """
    everyone, rate = np.arange(len(x), dtype=np.int32), np.zeros(len(x))
    np.add.at(rate, pulls.particles, pulls.rate)
    start, furthest, correction = x.copy(), 0.0, system.solution.correction
    (is_held, is_creased), starts, steps = ((support.kind == kind)[:, None] for kind in (HELD, CREASED)), [], []
    target = Target(guess, dt, 0.0, ROUND_ITERATIONS * settings.iterations, settings.tolerance / ROUND_ITERATIONS)
    for _ in range(NEWTON_ROUNDS):
        displacement = x - start
        pull = -(system.mass / dt**2 + rate)[:, None] * displacement  # of inertia and soft pins, at x
        np.add.at(pull, pulls.particles, pulls.pull)
        along = np.einsum("ij,ij->i", displacement, support.normal)[:, None] * support.normal
        along = np.where(is_creased, displacement - along, along * is_held)
        want, tangential = support.want - along, support.tangential - (displacement - along)
        held, everything = support._replace(want=want, tangential=tangential), Pulls(everyone, pull, rate)
        starts.append(x.copy())
        solve(system, x, x_prev, held, stack, everything, target)
        correct(system, x, x_prev)
        target, moved = target._replace(guess=(0.0, 0.0, 0.0)), farthest(correction)
        furthest = max(furthest, moved)
        if moved <= max(CLOSE_ENOUGH * furthest, LEAST_MOTION):
            break
        steps.append(correction.copy())
        _extrapolate(x, starts, steps)
    correction[:] = x - start


def _extrapolate(x, starts, steps):
    """Move x, which lies at the end of the last of the `steps` (n, 3) [m] from `starts`, to where they tend."""
    del starts[: -REMEMBERED_ROUNDS - 1], steps[: -REMEMBERED_ROUNDS - 1]
    if len(steps) > 1:
        went = np.stack([b - a for a, b in zip(starts, starts[1:], strict=False)]).reshape(len(steps) - 1, -1)
        less = np.stack([b - a for a, b in zip(steps, steps[1:], strict=False)]).reshape(len(steps) - 1, -1)
        share = _shares(less, steps[-1].ravel())
        x -= np.einsum("k,km->m", share, went + less).reshape(x.shape)


def _shares(vectors, wanted):
    """(k,) how much of each of the vectors (k, m) comes nearest to `wanted` (m,) in all: least squares (Gram and Schmidt).

    Newest first, and of what is left of one within rounding none; without LAPACK (`kernel.functions` tells why).
    """
    vectors, rest, count = vectors[::-1].copy(), wanted.copy(), len(vectors)
    upper, square, share = np.eye(count), np.zeros(count), np.zeros(count)
    least = SMALLEST_PART**2 * np.einsum("km,km->k", vectors, vectors).max()
    for k in range(count):
        for j in np.flatnonzero(square[:k]):
            upper[j, k] = np.einsum("m,m->", vectors[j], vectors[k]) / square[j]
            vectors[k] -= upper[j, k] * vectors[j]
        size = np.einsum("m,m->", vectors[k], vectors[k])
        if size > least:
            square[k], share[k] = size, np.einsum("m,m->", vectors[k], rest) / size
            rest -= share[k] * vectors[k]
    for k in range(count - 1, -1, -1):
        share[k] -= (upper[k, k + 1 :] * share[k + 1 :]).sum()
    return share[::-1]


def farthest(d):
    """Length of the longest of the vectors d (n, 3)."""
    return float(np.sqrt(np.einsum("ij,ij->i", d, d).max(initial=0.0)))
