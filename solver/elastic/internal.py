# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs and hinges as forces of positions and velocities, for integrators that take them as they are."""

from typing import NamedTuple

import numpy as np

from ..kernel.jit import counted_fused
from .bending import Bending, hinge_forces, hinge_numbers
from .springs import (
    TAUT_STIFFNESS,
    Springs,
    copied,
    couplings,
    spring_forces,
    spring_numbers,
    tautening,
)


class Elastic(NamedTuple):
    """Springs and hinges of a cloth."""

    edges: np.ndarray  # (e, 2)
    spring: Springs
    taut: np.ndarray  # (e, 2) length [m] beyond which a spring is stiffer, and by how much [N/m]; or (0, 2)
    couple_start: np.ndarray  # (e + 1,), or (1,) where there are none
    couple: np.ndarray  # (2 c,)
    coupling: np.ndarray  # (2 c,) [N/m]
    stencils: np.ndarray  # (b, 4)
    weight: np.ndarray  # (b, 4) [1/m]
    hinge: Bending


def elastic_of(cloth):
    """`Elastic` of a cloth, with springs and damping of its own."""
    springs = cloth.edges, copied(spring_numbers(cloth)), tautening(cloth), *couplings(cloth)
    return Elastic(*springs, cloth.bend_stencils, cloth.bend_weight, hinge_numbers(cloth))


@counted_fused
def elastic_forces(x, v, elastic, force):
    """Fill force (n, 3) [N] at x (n, 3) [m], v (n, 3) [m/s]; returns the elastic energy [J]."""
    for i in range(np.uintp(x.shape[0])):
        force[i, 0], force[i, 1], force[i, 2] = 0.0, 0.0, 0.0
    lengthening = np.empty(len(elastic.edges))
    energy = spring_forces(x, v, elastic, lengthening, force)
    return energy + hinge_forces(x, v, elastic, force)


def fastest(inv_mass, elastic):
    """Upper bounds on the angular frequency [1/s] and on the decay of velocities [1/s] of any mode, at any shape.

    By Gershgorin's circles of M^-1 K (Golub and Van Loan 2013, section 7.2.1): particle i feels no more than
    sum 2 d / m_i over its springs and sum k |K_i| sum |K_j| / m_i over its hinges. A spring is nowhere stiffer than its
    bound d, and what it is stiffer by when taut, along itself, and across only if it is shorter than half its rest length.
    """
    size, stiffest = np.abs(elastic.weight), elastic.spring.bound
    if len(elastic.taut):
        stiffest = stiffest + elastic.taut[:, TAUT_STIFFNESS]
    product = size * np.einsum("bk->b", size)[:, None]

    def most(of_spring, of_hinge):
        felt = np.bincount(elastic.edges.ravel(), np.repeat(2.0 * of_spring, 2), minlength=len(inv_mass))
        of_ends = (product * of_hinge[:, None]).ravel()
        felt += np.bincount(elastic.stencils.ravel(), of_ends, minlength=len(inv_mass))
        return float((inv_mass * felt).max(initial=0.0))

    damping = most(elastic.spring.damping, elastic.hinge.damping)
    return np.sqrt(most(stiffest, elastic.hinge.stiffness)), damping
