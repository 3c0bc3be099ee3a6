# SPDX-License-Identifier: GPL-3.0-or-later
"""Implicit Euler and the theta method: the equations of a step solved until they hold.

Implicit Euler asks for v1 = v0 + dt a(x1, v1) and x1 = x0 + dt v1. The theta method takes the slope at the point that
lies theta of the way between start and end (the one-leg form: Dahlquist 1975; Hairer and Wanner 1996, V.6),

    v1 = v0 + dt a(xt, vt),   x1 = x0 + dt vt,   (xt, vt) = (1 - theta) (x0, v0) + theta (x1, v1),

which is implicit Euler over theta dt, gone on with straight to dt. With theta = 1/2 that is the midpoint rule, of order
2, which keeps angular momentum and damps nothing; above, it damps what it cannot follow. The trapezoidal form would
begin with the stiff slopes at x0, and every contact that moves a particle would kick the cloth.

The implicit part is solved in rounds of Newton's kind on the springs, hinges and pins: each is the linear solve of
`solve`, conjugate gradients filtered by what is held (Baraff and Witkin 1998) and preconditioned by the tree. Its
matrix is that of tension only (Choi and Ko 2002) and knows no couplings of springs but as a bound, which keeps every
round well posed; at the solution the forces, not the matrix, decide. Rounds with such a matrix get nearer by the same
part each time, so the next one starts where the last few, taken as linear, would have had no way left to go (Anderson
1965; Walker and Ni 2011, section 2).
"""

import numpy as np

from ..elastic.rare import Pulls
from .solve import solve

ROUNDS = 15  # at most
MEMORY = 3  # rounds before, from which the next start is told
CLOSE = 2e-4  # last round's motion over the longest one's at which they end
CARE = 10  # times the iterations of XPBD that a round may take, for an error as much smaller


def solve_fully(x, x_prev, guess, cloth, rows, scratch, answer, support, stack, pulls, free, settings, dt):
    """Rounds from the prediction x (n, 3) [m] on, until the forces at x, the inertia and what is held balance.

    guess : three floats [m], as in `solve`; pulls : what soft pins and pressure pull with (`elastic.rare.Pulls`). Leaves in `answer` what `contact.support.weigh` asks for: the whole
    correction and the last forces.
    """
    everyone, rate = np.arange(len(x), dtype=np.int32), np.zeros(len(x))
    np.add.at(rate, pulls.particles, pulls.rate)
    start, furthest = x.copy(), 0.0
    is_held, starts, ways = (support.kind == 1)[:, None], [], []
    for _ in range(ROUNDS):
        gone = x - start
        pull = -(cloth.mass / dt**2 + rate)[:, None] * gone  # of inertia and soft pins, at x
        np.add.at(pull, pulls.particles, pulls.pull)
        along = np.einsum("ij,ij->i", gone, support.normal)[:, None] * support.normal * is_held
        want, way = support.want - along, support.way - (gone - along)
        held, everything = support._replace(want=want, way=way), Pulls(everyone, pull, rate)
        limits = CARE * settings.iterations, settings.tolerance / CARE
        starts.append(x.copy())
        solve(x, x_prev, cloth.mass, rows, scratch, answer, held, stack, everything, free, guess, dt, 0.0, *limits)
        guess, went = (0.0, 0.0, 0.0), farthest(answer.d)
        furthest = max(furthest, went)
        if went <= CLOSE * furthest:
            break
        ways.append(answer.d.copy())
        _look_ahead(x, starts, ways)
    answer.d[:] = x - start


def _look_ahead(x, starts, ways):
    """Move x, which lies at the end of the last of the `ways` (n, 3) [m] from `starts`, to where they tend."""
    del starts[: -MEMORY - 1], ways[: -MEMORY - 1]
    if len(ways) > 1:
        went = np.stack([b - a for a, b in zip(starts, starts[1:], strict=False)]).reshape(len(ways) - 1, -1)
        less = np.stack([b - a for a, b in zip(ways, ways[1:], strict=False)]).reshape(len(ways) - 1, -1)
        share = np.linalg.lstsq(less.T, ways[-1].ravel(), rcond=1e-6)[0]
        x -= (share @ (went + less)).reshape(x.shape)


def farthest(d):
    """Length of the longest of the vectors d (n, 3)."""
    return float(np.sqrt(np.einsum("ij,ij->i", d, d).max(initial=0.0)))
