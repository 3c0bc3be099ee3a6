# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces and the stiffness matrix as plain functions, for tests that compare them."""

import naive
import numba
import numpy as np
from taffeta.solver.build import HINGE_FIELDS, SPRING_FIELDS
from taffeta.solver.elastic.springs import lengthen
from taffeta.solver.integrate.stiffness_matrix import (
    lay_out,
    linearise_rows,
    measure_springs,
    multiply_rows,
    turn_hinges,
)
from taffeta.solver.integrate.system import make_scratch

DT = 1 / 720


@numba.njit
def _fill(matrix, s, rate):
    lengthen(0, len(matrix.edges), s.x, matrix.edges, matrix.spring.rest, s.lengthening)
    measure_springs(0, len(matrix.edges), matrix, s, rate, rate, 0.0)
    turn_hinges(0, len(matrix.stencils), matrix, s, rate)
    linearise_rows(0, len(s.x), matrix, s, rate)


@numba.njit
def _times(matrix, s):
    multiply_rows(0, len(s.p), matrix, s)


def by_slot(matrix, vectors):
    """(n, 3) vectors of particles as the solve has them, (n, 4) of slots."""
    return np.pad(vectors[matrix.order], ((0, 0), (0, 1)))


def only(cloth, fields):
    """The cloth with springs alone or with hinges alone."""
    others = HINGE_FIELDS if fields is SPRING_FIELDS else SPRING_FIELDS
    cloth = cloth._replace(**{field: getattr(cloth, field)[:0] for field in others})
    if others is SPRING_FIELDS:
        return naive.uncoupled(cloth)
    return cloth._replace(matrix=lay_out(cloth))


def linearised(cloth, x, x_prev=None):
    """Forces of springs and of hinges, (n, 3) [N] each, and the function p -> K p."""
    x_prev = x if x_prev is None else x_prev
    pull, turn = (_filled(only(cloth, fields), x, x_prev)[0] for fields in (SPRING_FIELDS, HINGE_FIELDS))
    return pull, turn, _filled(cloth, x, x_prev)[1]


def _filled(cloth, x, x_prev):
    matrix = lay_out(cloth)
    s = make_scratch(matrix)._replace(lengthening=np.empty(len(matrix.edges)))
    for array in (s.p, s.r, s.mass, s.is_odd):
        array[:] = 0
    s.x[:], s.displacement[:] = by_slot(matrix, x), by_slot(matrix, x - x_prev)
    _fill(matrix, s, 1 / DT)
    force = s.r[matrix.slot, :3]

    def times(p):
        s.p[:] = by_slot(matrix, p)
        _times(matrix, s)
        return s.q[matrix.slot, :3]

    return force, times


def slope(energy, x, direction, step=1e-7):
    return (energy(x + step * direction) - energy(x - step * direction)) / (2 * step)
