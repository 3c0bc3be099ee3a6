# SPDX-License-Identifier: GPL-3.0-or-later
"""Impact zones in parts, which slide on each other (Huh, Metaxas and Badler 2001, 2.2 to 3.5). A rung of `impact_zones`.

A zone that moves as one piece sticks together. So one that has lost half its inner motion and still meets something is
parted into clusters: particles that hang together by edges of the mesh. A cluster that meets itself is folded; it is
split at the edges where the sheet turns by more than a right angle (3.1). Clusters within two edges of each other that
do not meet are made one, unless the sheet is folded between them (3.2). Their motions come from `cluster_impulses`:
approach ends, what they do across it stays. What particles do against their cluster counts as the zone's share says.

While a zone still meets something it has another try, with a smaller share and all that it has met so far. A zone that
has no try left moves as one piece. So does, in that try, one with a cluster that meets itself unfolded, or that is
squeezed by what cannot give way. One that meets a body is not parted: it is advected with that (3.5, see
`impact_zones`).
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from ...geometry.ccd import closest_pair, corners_of
from ...kernel.jit import njit
from ...model import Cloth
from ..cloth.pair_list import PairList
from .cluster_impulses import Clusters, apply_impulses
from .impact_zones import Impacts, Zones, roots

LEAST_WHOLE_SHARE = 0.5  # below which a zone is parted
TRY_SHARES = np.array([1.0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0])  # of a zone; in its last try it is one piece
PARTED_TRIES = len(TRY_SHARES) - 1  # in which it is in parts


class Meetings(NamedTuple):
    """Pairs that met in this substep."""

    rows: np.ndarray  # (k, 4) int32 as in stencils
    weights: np.ndarray  # (k, 4) of the closest points at the start; the first side's are positive
    between: np.ndarray  # (k, 3) unit vector then from the second side to the first


@njit
def weights_kernel(pairs, hits, start, weights):
    """Those of the closest points of pairs that meet. 150 flops a pair.
    # outputs: weights (h, 4)
    """
    for k in range(len(hits)):
        a, b, c, d = corners_of(pairs.stencils, hits[k])
        weights[k, 0], weights[k, 1], weights[k, 2], weights[k, 3] = closest_pair(
            pairs.is_edge_pair[hits[k]], start, a, b, c, d
        )


def record(pairs: PairList, impacts: Impacts, start: np.ndarray) -> Meetings:
    """What is known of pairs that meet; start : (n, 3) [m]."""
    weights = np.empty((len(impacts.hits), 4))
    weights_kernel(pairs, impacts.hits, start, weights)
    return Meetings(pairs.stencils[impacts.hits], weights, impacts.between)


def try_again(zones: Zones, found: list[Impacts], tries: np.ndarray) -> bool:
    """Give zones that still meet something the share of their next try; returns whether anything changed. What meets a
    body is advected with it instead.

    found : of each sort
    tries : (n,) int, at a zone's first: how many it has had; changed in place
    """
    root = roots(zones.parent)
    np.maximum.at(tries, root, tries)
    rows = np.concatenate([impacts.stencils[impacts.hits].ravel() for impacts in found])
    hit = np.unique(root[rows[rows < len(root)]])
    led = hit[(zones.leader[hit] >= 0) & (tries[hit] <= PARTED_TRIES)]
    ends = tries[led].any()
    tries[led] = PARTED_TRIES + 1
    again = hit[((tries[hit] > 0) | (zones.share[hit] < LEAST_WHOLE_SHARE)) & (tries[hit] <= PARTED_TRIES)]
    tries[again] += 1
    zones.share[again] = TRY_SHARES[tries[again] - 1]
    return bool(ends) or len(again) > 0


def move_parts(zones: Zones, tries, met: list[Meetings], cloth: Cloth, start, x, fresh) -> None:
    """Move in parts what has tries left.

    Parameters
    ----------
    met : of all rounds
    x : (n, 3) [m] changed in place, where `apply_zones` has moved zones as one piece
    fresh : (n,) bool: what is in a zone
    """
    root = roots(zones.parent)
    parted = fresh & ((tries > 0) & (tries <= PARTED_TRIES))[root]
    if not parted.any():
        return
    meetings = Meetings(*(np.concatenate(arrays) for arrays in zip(*met, strict=True)))
    label, vectors = part(root, parted, meetings, cloth.triangles, start)
    clusters = gather(label, vectors, root, meetings, cloth, zones.displacement)
    after, stuck = apply_impulses(clusters, zones.share)
    ours = np.flatnonzero(parted & (cloth.inv_mass > 0.0) & ~np.isin(root, stuck))
    own = label[ours]
    inner = zones.share[root[ours], None] * (zones.displacement[ours] - clusters.displacement[own])
    x[ours] = start[ours] + after[own] + inner
    zones.advected[ours] = False


def part(root, parted, meetings: Meetings, triangles, start) -> tuple[np.ndarray, np.ndarray]:
    """Number (n,) of the cluster that a particle is in, -1 if it is not `parted` (n,); and the sum of the area vectors of
    a particle's triangles (n, 3) [m2], where it is.
    """
    near = triangles[parted[triangles].any(axis=1)]
    area = 0.5 * np.cross(start[near[:, 1]] - start[near[:, 0]], start[near[:, 2]] - start[near[:, 0]])
    sides = np.sort(near[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    inside = parted[sides].all(axis=1) & (root[sides[:, 0]] == root[sides[:, 1]])
    label = _pieces(parted, sides[inside])
    folded = _meet_themselves(meetings, label)
    if folded.any():
        label = _split(label, folded, parted, sides, inside, area)
    vectors = np.zeros((len(parted), 3))
    for corner in range(3):
        np.add.at(vectors, near[:, corner], area)
    return _merge(label, root, sides, meetings, vectors), vectors


def _pieces(parted, edges) -> np.ndarray:
    """(n,) number of the piece that a parted particle is in, pieces being joined by edges (e, 2); -1 elsewhere."""
    label, ours = np.full(len(parted), -1), np.flatnonzero(parted)
    label[ours] = np.arange(len(ours))
    ends = label[edges[:, 0]], label[edges[:, 1]]
    graph = coo_array((np.ones(len(edges)), ends), shape=(len(ours), len(ours)))
    _, label[ours] = connected_components(graph, directed=False)
    return label


def _sides(meetings: Meetings, label) -> np.ndarray:
    """(k, 2) clusters of both sides of meetings, by the particle nearest to the other side; -1 for what is in none."""
    row = np.arange(len(meetings.rows))
    nearest = np.stack([meetings.weights.argmax(axis=1), meetings.weights.argmin(axis=1)], axis=1)
    return label[meetings.rows[row[:, None], nearest]]


def _meet_themselves(meetings: Meetings, label) -> np.ndarray:
    """Which clusters (c,) meet themselves."""
    sides, folded = _sides(meetings, label), np.zeros(label.max() + 1, np.bool_)
    folded[sides[(sides[:, 0] == sides[:, 1]) & (sides[:, 0] >= 0), 0]] = True
    return folded


def _split(label, folded, parted, sides, inside, area) -> np.ndarray:
    """Labels with folded clusters split at the particles of sharp edges; these go with the first of their neighbours."""
    keys = sides[:, 0] * np.int64(len(label)) + sides[:, 1]
    order = np.argsort(keys, kind="stable")
    twin = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    one, other = order[twin], order[twin + 1]
    sharp = (area[one // 3] * area[other // 3]).sum(axis=1) < 0.0
    border = np.zeros(len(label), np.bool_)
    border[sides[one[sharp]]] = True
    border &= parted & folded[label]
    split = _pieces(parted, sides[inside & ~border[sides].any(axis=1)])
    beside = sides[inside & (border[sides].sum(axis=1) == 1)]
    beside = np.where(border[beside[:, :1]], beside, beside[:, ::-1])
    split[beside[::-1, 0]] = split[beside[::-1, 1]]
    _, split[parted] = np.unique(split[parted], return_inverse=True)
    return split


def _merge(label, root, sides, meetings: Meetings, vectors) -> np.ndarray:
    """Labels with those clusters made one that are two edges apart, lie alike and do not meet."""
    count = label.max() + 1
    near, foes = _two_edges_apart(label, sides, count), [set() for _ in range(count)]
    for i, j in _sides(meetings, label).tolist():
        if i >= 0 and j >= 0:
            foes[i].add(j)
            foes[j].add(i)
    ours, zone, normal = np.flatnonzero(label >= 0), np.empty(count, np.int64), np.zeros((count, 3))
    zone[label[ours]] = root[ours]
    np.add.at(normal, label[ours], vectors[ours])
    one = np.arange(count)
    for i, j in near.tolist():
        i, j = one[i], one[j]
        meet = j in {one[k] for k in foes[i]}
        if i == j or zone[i] != zone[j] or meet or (normal[i] * normal[j]).sum() < 0.0:
            continue
        one[one == j] = i
        normal[i] += normal[j]
        foes[i] |= foes[j]
    merged = np.full(len(label), -1)
    _, number = np.unique(one, return_inverse=True)
    merged[ours] = number[label[ours]]
    return merged


def _two_edges_apart(label, sides, count: int) -> np.ndarray:
    """Pairs of clusters (p, 2), in order, that have a neighbour in common which is in none."""
    both = np.concatenate([sides, sides[:, ::-1]])
    both = both[(label[both[:, 0]] >= 0) & (label[both[:, 1]] < 0)]
    touch = csr_array((np.ones(len(both)), (both[:, 1], label[both[:, 0]])), shape=(len(label), count))
    pairs = np.stack((touch.T @ touch).nonzero(), axis=1)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def gather(label, vectors, root, meetings: Meetings, cloth: Cloth, displacement) -> Clusters:
    """What is known of the clusters of particles; pinned ones decide for theirs alone."""
    ours, count = np.flatnonzero(label >= 0), label.max() + 1
    own, is_pinned = label[ours], cloth.inv_mass[ours] == 0.0
    zone, pinned = np.empty(count, np.int64), np.zeros(count, np.bool_)
    zone[own], pinned[own[is_pinned]] = root[ours], True
    weight = np.where(pinned[own], is_pinned, cloth.mass[ours])
    mass, mean, normal = np.zeros(count), *np.zeros((2, count, 3))
    np.add.at(mass, own, weight)
    np.add.at(mean, own, weight[:, None] * displacement[ours])
    np.add.at(normal, own, vectors[ours])
    mean /= mass[:, None]

    sides = _sides(meetings, label)
    whole = np.flatnonzero((sides >= 0).all(axis=1))
    points = (meetings.weights[whole, :, None] * displacement[meetings.rows[whole]]).sum(axis=1)
    within = points - mean[sides[whole, 0]] + mean[sides[whole, 1]]
    inv_mass = np.where(pinned, 0.0, 1.0 / mass)
    return Clusters(zone, inv_mass, mean, normal, sides[whole], meetings.between[whole], within)
