# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters of an impact zone that collide, all at once (Huh, Metaxas and Badler 2001, 3.3 to 3.5).

Two clusters collide along the mean of their normals, turned so that these face each other, where that agrees with what
connects them; else along the latter. Unknown is how hard each pair is pushed apart along its direction: whatever comes
out, pushes change no sum of momenta, and leave what clusters do across their directions. Without a cycle there is one
linear equation for each pair: its approach ends (eq. 1 without bounce: cloth's collisions are inelastic). Where pairs
form a cycle, or one would be pulled, equations become inequalities (eq. 3), and of all that fulfil them those pushes are
taken that part the pairs least in sum (eq. 4): a linear programme. It has an answer unless clusters that nothing moves,
because they are pinned, close on something.

The seed takes the approach of the clusters' means. A cluster of ours is small, and turns: what counts is the fastest
approach of two points of it that met, or its corners meet again in the next round.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

NORMALS_COSINE = (
    0.5  # of the angle between the mean of normals and what connects clusters, below which the latter counts
)
NO_APPROACH = 1e-9  # part of the greatest approach that counts as none
ALONE_ROUNDING = 1e-12  # part of how a pair parts alone that may be left by what others take of it


class Clusters(NamedTuple):
    """Pieces of cloth of some zones that move as one; see `clusters`."""

    zone: np.ndarray  # (c,) the zone's first particle
    inv_mass: np.ndarray  # (c,) [1/kg]; 0: nothing moves it
    displacement: np.ndarray  # (c, 3) [m] mean of what the response wanted
    normal: np.ndarray  # (c, 3) [m2] sum of the area vectors round its particles; zeros: it has none
    pairs: np.ndarray  # (m, 2) both clusters of each meeting; the first side's first
    between: np.ndarray  # (m, 3) unit vector from the second side to the first at the start of the substep
    within: np.ndarray  # (m, 3) [m] how the points that met move against each other, more than their clusters do


def apply_impulses(clusters: Clusters, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Displacements (c, 3) [m] of clusters after their impulses, and zones (z,) for which there is no answer, since a
    cluster meets itself or what cannot give way.

    share : (n,) at a zone's first: part that is left of what particles do against their cluster
    """
    after = clusters.displacement.copy()
    meets_itself = clusters.pairs[:, 0] == clusters.pairs[:, 1]
    stuck = set(clusters.zone[clusters.pairs[meets_itself, 0]].tolist())
    pairs, direction, within = directions(clusters)
    within *= share[clusters.zone[pairs[:, 0]]]
    for zone in np.unique(clusters.zone[pairs[:, 0]]).tolist():
        if zone in stuck:
            continue
        ours, members = clusters.zone[pairs[:, 0]] == zone, np.flatnonzero(clusters.zone == zone)
        own = np.searchsorted(members, pairs[ours])
        given = own, direction[ours], within[ours]
        moved = displace(clusters.inv_mass[members], clusters.displacement[members], *given)
        if moved is None:
            stuck.add(zone)
        else:
            after[members] = moved
    return after, np.array(sorted(stuck), np.int64)


def directions(clusters: Clusters) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of clusters (p, 2) that meet, once each; unit vectors (p, 3) along which, from the second to the first; and
    the least motion (p,) [m] along these of points that met, more than their clusters', or 0.
    """
    turn = np.where(clusters.pairs[:, :1] > clusters.pairs[:, 1:], -1.0, 1.0)
    pairs, which = np.unique(np.sort(clusters.pairs, axis=1), axis=0, return_inverse=True)
    which = which.ravel()
    apart = np.zeros((len(pairs), 3))
    np.add.at(apart, which, turn * clusters.between)
    apart = _unit(apart)
    first, second = (_facing(_unit(clusters.normal[pairs[:, side]]), apart) for side in (0, 1))
    mean = _unit(first + second)
    direction = np.where((mean * apart).sum(axis=1, keepdims=True) < NORMALS_COSINE, apart, mean)
    within = np.zeros(len(pairs))
    np.minimum.at(within, which, (turn * direction[which] * clusters.within).sum(axis=1))
    return pairs, direction, within


def _facing(vectors: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Vectors (p, 3) or their opposites, whichever agree with a direction."""
    return np.where((vectors * direction).sum(axis=1, keepdims=True) < 0.0, -vectors, vectors)


def _unit(vectors: np.ndarray) -> np.ndarray:
    size = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(size > 0.0, size, 1.0)


def displace(inv_mass, displacement, pairs, direction, within) -> np.ndarray | None:
    """(c, 3) [m] displacements of the clusters of a zone after all their impulses, None if there is no answer.

    Parameters
    ----------
    inv_mass, displacement : (c,) [1/kg], (c, 3) [m] before
    pairs : (p, 2) int, each once
    direction : (p, 3) unit vectors from the second to the first; zeros where what connects them points everywhere
    within : (p,) [m] what is added to how they part
    """
    can_part = inv_mass[pairs].any(axis=1) & direction.any(axis=1)
    pairs, direction, within = pairs[can_part], direction[can_part], within[can_part]
    row = np.arange(len(pairs))
    parting = np.zeros((len(pairs), len(displacement), 3))
    parting[row, pairs[:, 0]] += direction
    parting[row, pairs[:, 1]] -= direction
    parting = parting.reshape(len(pairs), 3 * len(displacement))
    speed = np.einsum("pm,m->p", parting, displacement.ravel()) + within
    if not np.isfinite(speed).all():  # the step will tell of it
        return None
    if not (speed < 0.0).any():
        return displacement
    yielding = parting * np.repeat(inv_mass, 3)
    matrix = (csr_array(yielding) @ csr_array(parting).T).toarray()  # no BLAS: `kernel.functions` tells why
    push = None if has_cycle(pairs, len(displacement)) else equal_impulses(matrix, speed)
    push = least_impulses(matrix, speed) if push is None else push
    return None if push is None else displacement + np.einsum("p,pm->m", push, yielding).reshape(-1, 3)


def has_cycle(pairs: np.ndarray, count: int) -> bool:
    """Whether pairs (p, 2) of `count` clusters form a cycle."""
    piece = np.arange(count)
    for i, j in pairs.tolist():
        if piece[i] == piece[j]:
            return True
        piece[piece == piece[j]] = piece[i]
    return False


def equal_impulses(matrix: np.ndarray, speed: np.ndarray) -> np.ndarray | None:
    """Pushes (p,) that end the approach of all pairs that approach, or come to do so by others' pushes; None if one
    would pull. matrix : (p, p) how much each pair parts per push of each; speed : (p,) how they part before.
    """
    parting, push, ours = speed, np.zeros(len(speed)), np.zeros(len(speed), np.bool_)
    none = -NO_APPROACH * np.abs(speed).max()
    while (parting < none).any():
        ours |= parting < none
        found = _solved(matrix[np.ix_(ours, ours)], -speed[ours])
        if found is None:
            return None
        push[ours] = found
        parting = np.where(ours, 0.0, speed + np.einsum("pq,q->p", matrix, push))
    return push if (push >= 0.0).all() else None


def _solved(matrix: np.ndarray, right: np.ndarray) -> np.ndarray | None:
    """(p,) what a symmetric matrix without negative eigenvalues (p, p) takes to (p,); None where rounding decides (Gauss)."""
    rows, least = np.column_stack([matrix, right]), ALONE_ROUNDING * matrix.diagonal()
    for k in range(len(rows)):
        if not rows[k, k] > least[k]:
            return None
        rows[k, k:] /= rows[k, k]
        rows[k + 1 :, k:] -= np.multiply.outer(rows[k + 1 :, k].copy(), rows[k, k:])
    result = rows[:, -1]
    for k in range(len(rows) - 2, -1, -1):
        result[k] -= (rows[k, k + 1 : -1] * result[k + 1 :]).sum()
    return result


def least_impulses(matrix: np.ndarray, speed: np.ndarray) -> np.ndarray | None:
    """Pushes (p,) after which no pair approaches, and that part them least in sum; None if there are none."""
    from scipy.optimize import linprog  # here, because it takes its time to load and few shots need it

    size, unit = np.sqrt(matrix.diagonal()), np.abs(speed).max()  # by which no number is far from 1
    scaled, largest = matrix / np.outer(size, size), size.max()
    answer = linprog(
        np.einsum("p,pq->q", size, scaled) / largest, A_ub=-scaled, b_ub=speed * largest / (unit * size), method="highs"
    )
    return answer.x * unit / (size * largest) if answer.success else None
