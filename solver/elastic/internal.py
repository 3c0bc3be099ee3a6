# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs and hinges as forces of positions and velocities, for integrators that take them as they are."""

from typing import NamedTuple

import numpy as np

from ..jit import counted_fused
from .bending import hinge_forces, hinge_numbers
from .springs import couplings, spring_forces, spring_numbers, tautening


class Elastic(NamedTuple):
    """Springs and hinges of a cloth."""

    edges: np.ndarray  # (e, 2)
    spring: np.ndarray  # (e, 4) rest length [m], stiffness [N/m], damping [N s/m], bound of the stiffness [N/m]
    taut: np.ndarray  # (e, 2) length [m] beyond which a spring is stiffer, and by how much [N/m]; or (0, 2)
    couple_start: np.ndarray  # (e + 1,)
    couple: np.ndarray  # (2 c,)
    coupling: np.ndarray  # (2 c,) [N/m]
    stencils: np.ndarray  # (b, 4)
    weight: np.ndarray  # (b, 4) [1/m]
    hinge: np.ndarray  # (b, 3) 2 sin(rest angle / 2), stiffness [J], damping [J s]


def elastic_of(cloth):
    """`Elastic` of a cloth, of arrays of its own."""
    springs = cloth.edges, spring_numbers(cloth), tautening(cloth), *couplings(cloth)
    return Elastic(*springs, cloth.bend_stencils, cloth.bend_weight, hinge_numbers(cloth))


@counted_fused
def elastic_forces(x, v, edges, spring, taut, couple_start, couple, coupling, stencils, weight, hinge, force):
    """Fill force (n, 3) [N] at x, v; returns the elastic energy [J]. the rest as in `Elastic`."""
    for i in range(np.uintp(x.shape[0])):
        force[i, 0], force[i, 1], force[i, 2] = 0.0, 0.0, 0.0
    longer = np.empty(len(edges))
    energy = spring_forces(x, v, edges, spring, taut, couple_start, couple, coupling, longer, force)
    return energy + hinge_forces(x, v, stencils, weight, hinge, force)


def fastest(inv_mass, edges, spring, taut, couple_start, couple, coupling, stencils, weight, hinge):
    """Upper bounds on the angular frequency [1/s] and on the decay of velocities [1/s] of any mode, at any shape.

    By Gershgorin's circles of M^-1 K (Golub and Van Loan 2013, section 7.2.1): particle i feels no more than
    sum 2 d / m_i over its springs and sum k |K_i| sum |K_j| / m_i over its hinges. A spring is nowhere stiffer than its
    bound d, and what it is stiffer by when taut, along itself, and across only if it is shorter than half its rest length.
    """
    count, size = len(inv_mass), np.abs(weight)
    reach = size * np.einsum("bk->b", size)[:, None]
    bounds, stiffest = [], spring[:, 3] + taut[:, 1] if len(taut) else spring[:, 3]
    for column, of_spring in ((1, stiffest), (2, spring[:, 2])):
        felt = np.bincount(edges.ravel(), np.repeat(2.0 * of_spring, 2), minlength=count)
        felt += np.bincount(stencils.ravel(), (reach * hinge[:, column : column + 1]).ravel(), minlength=count)
        bounds.append(float((inv_mass * felt).max(initial=0.0)))
    return np.sqrt(bounds[0]), bounds[1]
