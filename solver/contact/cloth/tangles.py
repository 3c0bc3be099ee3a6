# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that passes through cloth when a frame begins: real garments are often made so, and layers put on each other.

Pairs that push such cloth apart lock it: the edge that goes through a triangle is pushed away from all its sides, to its
middle. So corners of an edge and of the triangle that it goes through are let through each other as long as they cross: no
pair with one of each is looked at. All else, also of these triangles, is kept apart as ever. Which way leads out `easing`
knows, and goes it. What crosses is found anew with the pairs, every few substeps: what has come out is kept out, and what is
next behind it may follow. A frame that begins without tangles looks for none.
"""

from typing import NamedTuple

import numpy as np

from ...geometry.piercing import area_normal, pierces
from ...geometry.topology import within_rings
from ...kernel.jit import inner, njit
from ...kernel.lookup import is_among
from ...kernel.threads import cut, joined, on_threads

SMALLEST_TANGLE_PART = 4096  # pairs of triangles: fewer are done before another thread wakes up
FIRST_TANGLE_COUNT = 4096  # edges that there is room for at first
STIRRED_RINGS = 2  # edges from tangles up to which cloth is stirred as they are eased apart


class Tangles(NamedTuple):
    """Particles that are let through each other."""

    couples: np.ndarray  # (k,) int64, ascending: i n + j of each two of n particles, both ways
    is_tangled: np.ndarray  # (n,) bool: is one of a couple
    near: np.ndarray  # (k, 2) int32 pairs of triangles that have one each and are near each other; changes
    count: int  # pairs of triangles that cross


def beside_tangles(tangles: Tangles, edges: np.ndarray) -> np.ndarray:
    """(n,) bool: what is tangled, and up to `STIRRED_RINGS` edges (e, 2) from there."""
    return within_rings(tangles.is_tangled, edges, STIRRED_RINGS)


def near_tangles(pairs: np.ndarray, triangles: np.ndarray, is_tangled: np.ndarray) -> np.ndarray:
    """Those pairs (p, 2) of triangles (t, 3) that have a tangled particle (n,) each."""
    if len(pairs) < len(triangles) // 4:
        a, b, c = is_tangled[triangles[pairs]].transpose(2, 0, 1)
        return pairs[(a | b | c).all(axis=1)]
    a, b, c = is_tangled[triangles.T]
    has = a | b | c
    return pairs[has[pairs[:, 0]] & has[pairs[:, 1]]]


def crossings(pairs: np.ndarray, triangles: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Rows (k, 4) int64 of `crossing_kernel` for pairs (p, 2) of triangles (t, 3), with particles at x (n, 3) [m]."""

    def part(_, first, last):
        room = FIRST_TANGLE_COUNT
        while True:
            found = np.empty((room, 4), np.int32)
            count = crossing_kernel(first, last, pairs, triangles, x, found)
            if count <= room:
                return found[:count]
            room = count

    return joined(on_threads(part, cut(len(pairs), SMALLEST_TANGLE_PART))).astype(np.int64)


def find_tangles(pairs: np.ndarray, triangles: np.ndarray, x: np.ndarray) -> Tangles:
    """What crosses in the pairs (p, 2) of triangles (t, 3) that are near each other, with particles at x (n, 3) [m]."""
    found = crossings(pairs, triangles, x)
    corners = triangles[found[:, 3]].astype(np.int64)
    edge, corner = np.repeat(found[:, :2], 3, axis=1).ravel(), np.tile(corners, (1, 2)).ravel()
    couples = np.unique(np.concatenate([edge * len(x) + corner, corner * len(x) + edge]))
    is_tangled = np.zeros(len(x), np.bool_)
    is_tangled[edge], is_tangled[corner] = True, True
    count = len(np.unique(np.sort(found[:, 2:], axis=1), axis=0))
    return Tangles(couples, is_tangled, near_tangles(pairs, triangles, is_tangled), count)


@inner
def _is_beside(x, p, q, r, a, nx, ny, nz):
    """Are three points on one side of a plane through point a, square to n?"""
    ax, ay, az = x[a, 0], x[a, 1], x[a, 2]
    one = nx * (x[p, 0] - ax) + ny * (x[p, 1] - ay) + nz * (x[p, 2] - az)
    two = nx * (x[q, 0] - ax) + ny * (x[q, 1] - ay) + nz * (x[q, 2] - az)
    three = nx * (x[r, 0] - ax) + ny * (x[r, 1] - ay) + nz * (x[r, 2] - az)
    return (one > 0.0 and two > 0.0 and three > 0.0) or (one < 0.0 and two < 0.0 and three < 0.0)


@njit
def crossing_kernel(start, end, pairs, triangles, x, found):
    """Edges of one triangle that go through the other one, without a corner in common, out of the pairs start..end;
    returns their number. Counting goes on when there is no room left. 150 bytes and 50 flops a pair, which settle nearly
    all; 400 flops of others.
    # outputs: found (k, 4): the ends of an edge, the triangle that has it and the one that it goes through
    """
    count = 0
    for pair in range(start, end):
        first, second = pairs[pair, 0], pairs[pair, 1]
        for _ in range(2):
            a, b, c = triangles[second, 0], triangles[second, 1], triangles[second, 2]
            nx, ny, nz = area_normal(x, a, b, c)
            if _is_beside(x, triangles[first, 0], triangles[first, 1], triangles[first, 2], a, nx, ny, nz):
                break
            for corner in range(3):
                p, q = triangles[first, corner], triangles[first, (corner + 1) % 3]
                if p == a or p == b or p == c or q == a or q == b or q == c or not pierces(x, p, q, a, b, c):
                    continue
                if count < len(found):
                    found[count, 0], found[count, 1] = p, q
                    found[count, 2], found[count, 3] = first, second
                count += 1
            first, second = second, first
    return count


@inner
def are_let_through(is_edge_pair, stencil, couples, is_tangled):
    """Whether the sides of four particles have a couple with one on each side. couples, is_tangled : as in `Tangles`"""
    count, second = np.int64(len(is_tangled)), 2 if is_edge_pair else 1  # where the second side begins
    for i in range(second):
        one = stencil[i]
        for j in range(second, 4 if is_tangled[one] else second):
            other = stencil[j]
            if is_tangled[other] and is_among(couples, np.int64(one) * count + np.int64(other)):
                return True
    return False
