# SPDX-License-Identifier: GPL-3.0-or-later
"""What garments of different restitution give back where a velocity field stops their impact."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ..kernel.functions import exp, log
from .crowded_cells import Nodes

LEAST_RESTITUTION = 1e-12  # in place of 0, of which there is no logarithm
LEAST_IMPULSE = 1e-300  # [kg m]


def in_zones(nodes: Nodes, restitution: np.ndarray, mass: np.ndarray, change: np.ndarray) -> np.ndarray:
    """(n,) restitution with which particles give back a `change` (n, 3) [m] of their way, that stops an impact.

    Particles that nodes join, however far, are a zone, within which the change makes no momentum. So all of a zone has one
    restitution, or giving it back would make some: the geometric mean of those of its particles, weighed by their impulses. Of
    two garments that meet, whose impulses are equal, that is the root of both ones' product, whatever they weigh.

    restitution, mass [kg] : (n,); the first is given back as it is where all of it is the same
    """
    if np.ptp(restitution) == 0.0:
        return restitution
    own, corners, count = nodes.particles, nodes.corners, len(nodes.slots)
    first = np.repeat(corners[:, 0], corners.shape[1])
    joined = csr_array((np.ones(len(first), np.bool_), (first, corners.ravel())), shape=(count, count))
    zone = connected_components(joined, directed=False)[1][corners[:, 0]]
    impulse = mass[own] * np.sqrt(np.einsum("pi,pi->p", change[own], change[own]))
    logs = log(np.maximum(restitution[own], LEAST_RESTITUTION))
    total, sums = (np.bincount(zone, given) for given in (impulse, impulse * logs))
    mean = restitution.copy()
    mean[own] = exp(sums / np.maximum(total, LEAST_IMPULSE))[zone]
    return mean
