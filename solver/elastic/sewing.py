# SPDX-License-Identifier: GPL-3.0-or-later
"""Sewing: edges without a face that join two faces' corners pull shut.

A seam is a spring without length, with a damping of tau times its stiffness k: alone it closes as exp(-t / tau),
however far it is open, and light panels cannot be torn along faster than that. A largest force F bounds k by F over
the gap that is left, so that a seam pulls with F at most.
"""

import numpy as np

from .springs import SPRING_BOUND, SPRING_DAMPING, SPRING_STIFFNESS

GENTLE_SEAM = 0.02  # of the stiffness where contact keeps the sides a thickness apart: it must not be torn at
CLOSING_TIMES = 3.0  # time constants in the time that a seam takes to close: a twentieth of the gap is left


def find_seams(garment, springs, count):
    """Which of `count` springs are seams, (count,) bool: those of `topology` come first, and no others are."""
    seams = np.zeros(count, dtype=bool)
    if not garment.sewing:
        return seams
    in_face = np.zeros(len(garment.x), dtype=bool)
    in_face[np.asarray(garment.triangles).ravel()] = True
    beside = np.bincount(springs.beside_spring, minlength=len(springs.pairs))
    seams[: len(springs.pairs)] = springs.is_mesh_edge & (beside == 0) & in_face[springs.pairs].all(axis=1)
    return seams


def sewn_pairs(garment):
    """The vertices that a garment's seams join, (s, 2) int64: edges of its mesh without a face between corners of faces."""
    edges = np.sort(np.asarray(garment.edges, np.int64).reshape(-1, 2), axis=1)
    if not garment.sewing or not len(edges):
        return np.empty((0, 2), np.int64)
    triangles, count = np.asarray(garment.triangles, np.int64), len(garment.x)
    sides = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    loose = ~np.isin(edges @ (count, 1), sides @ (count, 1))
    in_face = np.zeros(count, dtype=bool)
    in_face[triangles.ravel()] = True
    return edges[loose & in_face[edges].all(axis=1)]


def gaps(pairs, x):
    """How far seams between `pairs` (s, 2) are open, (s,) [m], in the frame x (n, 3) [m]."""
    across = x[pairs[:, 1]] - x[pairs[:, 0]]
    return np.sqrt(np.einsum("ij,ij->i", across, across))


def seam_rest(garment, pairs, stiffness, inv_mass):
    """Stiffness [N/m] and damping [1/s] of seams between `pairs` (s, 2) that as mere springs have `stiffness`.

    Damping is a rate for their reduced mass.
    """
    stiffness = stiffness * (GENTLE_SEAM if garment.self_collision else 1.0)
    return stiffness, garment.sewing_time / CLOSING_TIMES * stiffness * np.einsum("sk->s", inv_mass[pairs])


def limit(cloth, spring, x):
    """Bound the stiffness and damping of seams in `spring` (`springs.spring_numbers`) by force at x; they have no couples."""
    seams = cloth.seams
    across = x[cloth.edges[seams, 1]] - x[cloth.edges[seams, 0]]
    gap = np.sqrt(np.einsum("ij,ij->i", across, across))
    most = np.divide(cloth.seam_force, gap, out=np.full(len(gap), np.inf), where=gap > 0.0)
    k = np.minimum(cloth.edge_stiffness[seams], most)
    spring[seams, SPRING_DAMPING] *= k / spring[seams, SPRING_STIFFNESS]
    spring[seams, SPRING_STIFFNESS] = spring[seams, SPRING_BOUND] = k
