# SPDX-License-Identifier: GPL-3.0-or-later
"""Sewing: edges without a face that join two faces' corners pull shut, until they are welded (`join`).

A seam is a spring without length, with a damping of tau times its stiffness k: alone it closes as exp(-t / tau),
however far it is open, and light panels cannot be torn along faster than that. It is at least as stiff as `SEAM_STIFFNESS`,
however soft the cloth is: what limits it is its speed s and not its force, tau k g <= tau k s. Contact keeps its sides a
distance h apart, and must not be torn at: a seam has all of its stiffness K for the part of its gap beyond h, and little for
the rest, so that a gap g is pulled at with K (g - h) + 0.02 K h. A largest force F bounds k by F over the gap, so that a seam
pulls with F at most; the damping is bound with it.

Panels have no weight as far as their seams close: in the half second that these take, a shirt would fall by a metre, its shoulders under the arms.
What holds a seam open gives the cloth its weight back.
"""

import numpy as np

from ..geometry.topology import within_rings

SEAM_STIFFNESS = 5000.0  # [N/m] at least: 5 N open it by 1 mm; as much as the solve takes in its usual iterations
LEAST_SPEED = (
    0.25  # [m/s] of an open seam: bodies push its sides back and forth by a tenth of that, which is to win nothing
)
GENTLE_SEAM = 0.02  # of the stiffness, where contact keeps the sides apart
SHORTEST_GAP = 1e-9  # [m] that is told from none
DRAWN_RINGS = 3  # edges from an open seam up to which cloth is drawn along by the sewing, and
DRAWN_FRICTION = 0.3  # the part of its friction that is left there
LIFTED_SPEED = 0.25  # [m/s] of seams that close, from which on the cloth has no weight
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


def closing_speeds(pairs, state):
    """[m/s] at which seams between `pairs` (s, 2) close, (s,), in a state; 0 where they are closed."""
    across, v = (values[pairs[:, 1]] - values[pairs[:, 0]] for values in state[:2])
    return -np.einsum("ij,ij->i", across, v) / np.maximum(gaps(pairs, state.x), SHORTEST_GAP)


def held_apart(garment, pairs):
    """Distance [m] (s,) that contact keeps the vertices of `pairs` (s, 2) apart; 0 where cloth passes through itself."""
    if not garment.self_collision:
        return np.zeros(len(pairs))
    return 0.5 * np.einsum("sk->s", np.asarray(garment.thickness, np.float64)[pairs])


def seam_numbers(garment, pairs, seam):
    """Fields of `Cloth` about its seams, as if each of the springs between `pairs` (e, 2) were one; 0 where it is no `seam`."""
    force, speed = (np.where(seam, value, 0.0) for value in (garment.sewing_force, garment.sewing_speed))
    distance = np.where(seam, held_apart(garment, pairs), 0.0)
    opens = np.where(seam, zip_opens(garment, pairs), 0.0)
    return {"seam_force": force, "seam_distance": distance, "seam_speed": speed, "seam_opens": opens}


def friction_while_sewn(cloth):
    """(n,) friction with none where a seam, but no zip, is still open, and little beside it: whoever sews draws the cloth there over
    what it lies on, and bodies would hold it for ever.
    """
    if not len(cloth.seams):
        return cloth.friction
    ends = np.zeros(len(cloth.mass), bool)
    ends[cloth.edges[cloth.seams[np.isinf(cloth.seam_opens)]]] = True
    part = np.where(within_rings(ends, cloth.edges, DRAWN_RINGS), DRAWN_FRICTION, 1.0)
    return np.where(ends, 0.0, part * cloth.friction)


def lift_while_sewn(cloth, state):
    """(g,) part of its weight that each garment does not feel, because its seams, zips apart, are closing; None: all feel all of it.

    That is the part of them that is open, as far as these close at `LIFTED_SPEED` in the mean, or nothing moves yet.
    """
    sewn = cloth.edges[cloth.seams[np.isinf(cloth.seam_opens)]]
    is_open = gaps(sewn, state.x) > 0.0
    if not is_open.any():
        return None
    own, garments = cloth.garment[sewn[:, 0]], len(cloth.meets)
    seams, speed = np.bincount(own, minlength=garments), np.bincount(own, closing_speeds(sewn, state), garments)
    are_open = np.bincount(own, is_open, garments)
    is_still = np.bincount(cloth.garment, state.v.any(axis=1), garments) == 0.0
    speed[is_still] = np.inf
    going = np.divide(speed, are_open * LIFTED_SPEED, out=np.zeros(garments), where=are_open > 0.0).clip(0.0, 1.0)
    return going * are_open / np.maximum(seams, 1)


def zip_opens(garment, pairs):
    """How far the garment's zips are open, above 0 up to 1, when a seam between each of `pairs` (s, 2) opens; inf: it is no zip.

    Raises
    ------
    ValueError
        A zip opens nowhere: names the garment and the remedy.
    """
    found = np.full(len(pairs), np.inf)
    if garment.zip_edges is not None and len(garment.zip_edges):
        bad = ~(np.asarray(garment.zip_opens) > 0.0)
        if bad.any():
            raise ValueError(f"'{garment.name}': a zip opens at {garment.zip_opens[bad.argmax()]:g}; mark it again.")
        keys, known = (
            np.sort(np.asarray(ends, np.int64), axis=1) @ (len(garment.x), 1) for ends in (pairs, garment.zip_edges)
        )
        order = np.argsort(known, kind="stable")
        at = order[np.searchsorted(known, keys, sorter=order).clip(max=len(known) - 1)]
        found = np.where(known[at] == keys, np.asarray(garment.zip_opens)[at], np.inf)
    return found


def seam_damping(garment, pairs, stiffness, inv_mass):
    """Damping [1/s] of seams between `pairs` (s, 2) of `stiffness` [N/m], as a rate for their reduced mass."""
    return garment.sewing_time / CLOSING_TIMES * stiffness * np.einsum("sk->s", inv_mass[pairs])


def limit_seams(cloth, spring, x):
    """Set stiffness and damping of seams in `spring` (`springs.Springs`) by how far they are open at x; they have no
    couples."""
    seams = cloth.seams
    across = x[cloth.edges[seams, 1]] - x[cloth.edges[seams, 0]]
    gap = np.maximum(np.sqrt(np.einsum("ij,ij->i", across, across)), SHORTEST_GAP)
    beyond = np.maximum(1.0 - cloth.seam_distance / gap, 0.0)
    k = cloth.edge_stiffness[seams] * (GENTLE_SEAM + (1.0 - GENTLE_SEAM) * beyond)
    k = np.minimum(k, cloth.seam_force / gap)
    damping = cloth.matrix.spring.damping[seams] * k / cloth.edge_stiffness[seams]
    damping = np.minimum(damping, k * gap / LEAST_SPEED)
    spring.damping[seams] = damping
    spring.stiffness[seams] = spring.bound[seams] = np.minimum(k, damping * cloth.seam_speed / gap)
