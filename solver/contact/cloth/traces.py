# SPDX-License-Identifier: GPL-3.0-or-later
"""A garment that goes through itself: which way each of its contours leads out.

A contour is seen twice on the sheet: where its edges go through faces, and along these faces. These are its traces, each a line
on the sheet; at a loop vertex, where the contour ends within the sheet, the one goes over into the other (Baraff, Witkin and Kass
2003). A trace parts the sheet, and what has less mass is to go back: of a fold through itself what lies in the loop. A trace also
ends within the sheet where the border of its other side is: a skirt's two hems seldom cross at one height. It is closed on the
shortest way to the border then, if that is no longer than the trace (boundaries: Wicke, Lanker and Gross 2006). Each trace
counts for itself: pieces that all of them cut out together would be slivers.

Two fronts of a cape may lie in the wrong order below a line from the border of the one to that of the other, which parts neither. It
is freed at the hem and never at the clasp, so such a line goes away from what pins hold.

By the normals of the faces that are pierced, as their corners go round, all of a trace's edges go one way. An edge of one side whose
normal is m has the crossing move inwards on both where it goes along

    s n - t m

against the face, with its normal n, and s and t the ways, 1 or -1, of the two traces: pushed through the face, and where both
sides lie nearly flat on each other drawn out along them. That is the same for a whole contour, in which an edge alone would not know.
What is too small to part anything goes the way that makes its contour shorter (Volino and Magnenat-Thalmann 2006), as a whole.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, dijkstra

from ...geometry.topology import border_edges, edge_keys
from ...kernel.jit import njit
from ...kernel.lookup import first_of, is_among
from ...kernel.memo import remembered

FEWEST_POINTS = 4  # edges of a trace that may part a sheet, or of a contour that may go away from pins
MOST_TRACES = 16  # the longest ones, that are asked what they part; the others go the way that makes them shorter
KNOWN_PART = 0.25  # of a trace's edges that have a piece on each side, at least
CLEAR_PART = (
    0.02  # of all that its edges go towards pins or away, by which a contour goes one way: the long ones are slanted
)
LEAST_WAY = 1e-9  # [m] along an edge of no length, as of a closed seam: no edge at all for `dijkstra`
SHORTEST_DETOUR = 4  # particles on the way from a trace's end to the border that there may always be
LEAST_SPREAD = 0.3  # length of s n - t m from which on it is made a unit vector
AGAINST = 0.1  # mean cosine between the ways of two traces beyond which they are against each other


class Hits(NamedTuple):
    """Each time that an edge of a triangle goes through another one, two of which may be of one edge."""

    name: np.ndarray  # (h,) which piercing that is, of k
    one: np.ndarray  # (h,) the triangle that has the edge
    face: np.ndarray  # (h,) the one that it goes through
    first: np.ndarray  # (l,) hits of a pair of triangles, and
    second: np.ndarray  # (l,) the next one of each


class Borders(NamedTuple):
    """Where a mesh ends."""

    keys: np.ndarray  # edges (i n + j, i < j) that one triangle alone has, ascending
    toward: np.ndarray  # (n,) int64 next particle on the shortest way to the border; itself on it, -1 if there is none


def find_traces(hits: Hits, triangles: np.ndarray, count: int) -> np.ndarray:
    """(k, 2) numbers of the traces that each of `count` piercings is on: as an edge, and in the face."""
    i, j = hits.name[hits.first], hits.name[hits.second]
    of_one = hits.one[hits.first] == hits.one[hits.second]  # else an edge of each
    is_alone = np.ones(len(hits.name), np.bool_)
    is_alone[hits.first], is_alone[hits.second] = False, False
    a, b = triangles[hits.one], triangles[hits.face]
    turn = hits.name[is_alone & (a[:, :, None] == b[:, None, :]).any(axis=(1, 2))]
    start = np.concatenate([i, i + count, turn])
    end = np.concatenate([np.where(of_one, j, j + count), np.where(of_one, j + count, j), turn + count])
    _, trace = connected_components(
        coo_array((np.ones(len(start)), (start, end)), shape=(2 * count,) * 2), directed=False
    )
    return trace.reshape(2, -1).T


def unit(vectors: np.ndarray, least: float = np.finfo(float).tiny) -> np.ndarray:
    """Vectors (k, 3) as unit vectors, those shorter than `least` as part of one."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1), least)[:, None]


def normals(x: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(k, 3) unit normals of triangles with these corners (k, 3), as they go round, with particles at x (n, 3) [m]."""
    a, b, c = x[corners].transpose(1, 0, 2)
    return unit(np.cross(b - a, c - a))


def drawn_out(piercings, cloth, x: np.ndarray, shortening: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(k, 3) where edges of garments that go through themselves are to go, unit vectors or shorter; and (k,) for which that is
    known.

    piercings : `easing.Piercings`; shortening : (k, 3) where they were to go for their contours to become shorter
    """
    own = piercings.garment[:, 0] == piercings.garment[:, 1]
    trace, contour = piercings.trace, piercings.contour
    edge, face = trace.T
    face_normal, edge_normal = normals(x, piercings.corners[:, 2:]), piercings.edge_normal
    is_loop, turn = own & (edge == face), _dot(face_normal, piercings.normal)
    cosine, count = _dot(face_normal, edge_normal), contour.max() + 1
    facing = np.sign(np.bincount(contour, cosine, count))[contour]
    sign, mass = _signs(piercings, cloth, own, turn, _away_from_pins(piercings, cloth, own & ~is_loop, turn, facing))
    spread = unit(face_normal - edge_normal, LEAST_SPREAD)
    gain = np.bincount(edge, is_loop * _dot(spread, shortening), len(sign))
    sign = np.where(sign == 0.0, np.sign(gain), sign)
    s, t = sign[edge], sign[face]
    cosine, count = _dot(face_normal, edge_normal), contour.max() + 1
    facing = np.sign(np.bincount(contour, cosine, count))[contour]
    both = s * t != 0.0
    against = np.bincount(contour, s * t * cosine, count) > AGAINST * np.maximum(np.bincount(contour, both, count), 1)
    is_given, is_less = against[contour] & ~is_loop, mass[edge] <= mass[face]
    s, t = (
        np.where(is_loop | ((s != 0.0) & (~is_given | is_less)), s, -t * facing),
        np.where(is_loop | ((t != 0.0) & ~(is_given & is_less)), t, -s * facing),
    )
    way = unit(s[:, None] * face_normal - t[:, None] * edge_normal, LEAST_SPREAD)
    return way, own & ((s != 0.0) | (t != 0.0))


def _signs(piercings, cloth, own, turn, away: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each trace 1 or -1 if its edges are to go with or against the normals of the faces that they pierce, 0 where that is not
    known; and the mass [kg] of what goes back. own, turn : (k,); away : as from `_away_from_pins`
    """
    edge, face = piercings.trace.T
    number = piercings.trace.max() + 1
    sign, mass, size = np.zeros(number), np.zeros(number), np.bincount(edge[own], minlength=number)
    asked = np.argsort(-size, kind="stable")[:MOST_TRACES]
    asked = asked[size[asked] >= FEWEST_POINTS]
    if not len(asked):
        return away, mass
    borders, count = borders_of(cloth.triangles, len(cloth.mass)), len(cloth.mass)
    is_end = np.isin(edge_keys(piercings.corners[:, :2], count), borders.keys)
    for trace in asked:
        on = np.flatnonzero(edge == trace)
        ends = piercings.corners[(face == trace) & is_end, 2:]
        if len(ends) and away[trace]:
            continue  # where it would be closed is less sure
        within = piercings.corners[(edge == trace) | (face == trace)]
        aside = _set_aside(ends, piercings.turns[np.isin(piercings.turns, within)], borders, len(on))
        side, weight = parted(cloth.triangles, cloth.mass, piercings.corners[on, :2], aside)
        votes = side * turn[on]
        if np.count_nonzero(votes) >= KNOWN_PART * len(on):
            sign[trace], mass[trace] = np.sign(votes.sum()), np.median(weight[votes != 0.0])
    return np.where(sign == 0.0, away, sign), mass


def _away_from_pins(piercings, cloth, asked, turn, facing) -> np.ndarray:
    """The signs of traces, as from `_signs`, by which contours go away from what pins hold: on both sides, what is farther from
    there goes back. 0 for a contour of which that is not known, as of one that goes towards pins, or that they hold somewhere.
    asked, turn, facing : (k,)
    """
    number, (edge, face) = piercings.trace.max() + 1, piercings.trace.T
    if cloth.inv_mass.all():
        return np.zeros(number)
    first, second = pin_distance(cloth.edges, cloth.rest_length, cloth.inv_mass)[piercings.corners[:, :2].T]
    # The ways of both traces of a contour, where the one that is named first goes with the normals.
    side = np.where(edge < face, 1.0, -facing)
    farther = np.where(asked, first - second, 0.0) * turn * side
    contour, count = piercings.contour, piercings.contour.max() + 1
    vote, most = np.bincount(contour, farther, count), np.bincount(contour, np.abs(farther), count)
    is_held = np.bincount(contour, (cloth.inv_mass[piercings.corners] == 0.0).any(axis=1)) > 0
    is_known = ~is_held & (np.bincount(contour) >= FEWEST_POINTS) & (np.abs(vote) > CLEAR_PART * most)
    sign = np.zeros(number)
    sign[edge] = side * np.where(is_known, np.sign(vote), 0.0)[contour]
    return sign


@remembered(2, lambda edges, length, inv_mass: (edges, length, inv_mass))
def pin_distance(edges: np.ndarray, length: np.ndarray, inv_mass: np.ndarray) -> np.ndarray:
    """(n,) [m] along edges (e, 2) of these lengths (e,) [m] to the nearest particle that pins hold; 0 where there is none."""
    graph = coo_array((np.maximum(length, LEAST_WAY), edges.T), shape=(len(inv_mass),) * 2).tocsr()
    distance = dijkstra(graph, False, np.flatnonzero(inv_mass == 0.0), min_only=True)
    return np.where(np.isfinite(distance), distance, 0.0)


def _set_aside(ends: np.ndarray, turns: np.ndarray, borders: Borders, longest: int) -> np.ndarray:
    """(n,) bool: what is of no piece: loop vertices, and what is on the way from where a trace ends within the sheet, in faces with
    these corners (k, 3), to the border, as far as that is no longer than the trace.
    """
    aside = np.zeros(len(borders.toward), np.bool_)
    aside[turns] = True
    for corners in ends:
        on_border = borders.toward[corners] == corners
        here = int(corners[on_border.argmax()])
        way = [here]
        while borders.toward[here] not in (here, -1) and len(way) <= max(longest, SHORTEST_DETOUR):
            here = int(borders.toward[here])
            way.append(here)
        if borders.toward[here] == here:
            aside[way] = True
    return aside


@remembered(2, lambda triangles, count: (triangles, count))
def borders_of(triangles: np.ndarray, count: int) -> Borders:
    """The borders of a mesh of `count` particles."""
    edges = border_edges(triangles)
    toward = np.full(count, -1)
    if len(edges):
        at = np.unique(edges)
        a, b, c = triangles.T
        sides = np.concatenate([a, b, c]), np.concatenate([b, c, a])
        graph = coo_array((np.ones(len(sides[0])), sides), shape=(count, count)).tocsr()
        *_, toward, _ = dijkstra(graph, False, at, True, unweighted=True, min_only=True)
        toward = np.where(toward < 0, -1, toward).astype(np.int64)
        toward[at] = at
    return Borders(np.unique(edge_keys(edges, count)), toward)


def parted(triangles, mass, edges, aside) -> tuple[np.ndarray, np.ndarray]:
    """What edges (k, 2) part triangles (t, 3) into, where they are cut: 1 where the first end is in the piece of less mass
    [kg], -1 where the second is, 0 where that is one piece or an end is set `aside` (n,), of no piece; and the mass of that
    piece (k,). An edge that is cut an even number of times is whole.
    """
    count, (first, second) = len(mass), edges.T
    keys, times = np.unique(edge_keys(edges, count), return_counts=True)
    keys, is_cut = keys[times % 2 == 1], np.zeros(count, np.bool_)
    is_cut[keys // count], is_cut[keys % count] = True, True
    piece, total = np.empty(count, np.int32), np.empty(count)
    pieces_kernel(triangles, keys, is_cut, aside, mass, piece, total)
    one, other = piece[first], piece[second]
    is_less = (total[one] < total[other]) | ((total[one] == total[other]) & (one < other))
    side = np.where(one == other, 0.0, np.where(is_less, 1.0, -1.0))
    side[aside[first] | aside[second]] = 0.0
    return side, np.minimum(total[one], total[other])


def _dot(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.einsum("kx,kx->k", u, v)


@njit
def pieces_kernel(triangles, keys, is_cut, is_turn, mass, piece, total):
    """Pieces into which the edges with these keys (i n + j, i < j, ascending) part triangles (t, 3) of n particles, of which those
    that contours go through (n,) are alone. 60 bytes a corner.
    # outputs: piece (n,) the first particle of each one's; total (n,) [kg] there
    """
    count = np.int64(len(piece))
    for i in range(count):
        piece[i], total[i] = i, 0.0
    for t in range(len(triangles)):
        for corner in range(3):
            p, q = np.int64(triangles[t, corner]), np.int64(triangles[t, (corner + 1) % 3])
            low, high = min(p, q), max(p, q)
            if is_turn[p] or is_turn[q]:
                continue
            if is_cut[p] and is_cut[q] and is_among(keys, low * count + high):
                continue
            one, other = first_of(piece, p), first_of(piece, q)
            piece[max(one, other)] = min(one, other)
    for i in range(count):
        piece[i] = first_of(piece, i)
        total[piece[i]] += mass[i]
