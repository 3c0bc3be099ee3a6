# SPDX-License-Identifier: GPL-3.0-or-later
"""What passes through what where a frame ends, counted for the report.

The guard lets nothing pass but what it cannot help, and knows that: what crossed when the frame began, what it could not hold back,
what is inside a body or was given up, and what pins hold whole. So these alone are looked at, and where two pieces of cloth are
nearer to each other than a file's rounding, all cloth. Counted is what the file shows, also where bodies that cross each other leave cloth no other place: what an
animator sees in a frame is to be told of that frame.
"""

import math

import numpy as np

from ..broad_phase.boxes import beside, boxes_round
from ..broad_phase.bvh import bvh_overlaps
from ..geometry.ccd import closest_pair, corners_of, weighted_sum
from ..kernel.jit import njit
from .body.contacts import OUTSIDE
from .cloth import pairs as cloth_pairs
from .cloth.reach import farther
from .cloth.tangles import crossings
from .guard.body_pairs import BodyPairs

LOOK_AHEAD = 1e-3  # [s] in which cloth that stands still is looked at: any would do


def crossing_count(contact, x, filed, let_pass):
    """Pairs of triangles that cross at the end of a frame; None if there are none.

    Parameters
    ----------
    contact : contact.frame.Contact
    x : (n, 3) [m] where cloth is
    filed : (n, 3) [m] the same as a file has it
    let_pass : whether cloth has passed through cloth in this frame
    """
    count = 0
    if contact.pairs is not None:
        count += _cloth_count(contact, x, filed, let_pass)
    if contact.guarded is not None:
        count += _body_count(contact.guarded, filed)
    return count or None


def _cloth_count(contact, x, filed, let_pass):
    """Pairs of triangles of cloth that cross."""
    pairs, cloth = contact.pairs, contact.cloth
    if let_pass or is_nearer(pairs, x, cloth.grain):
        pairs = cloth_pairs.detect(cloth, filed, np.zeros_like(filed), LOOK_AHEAD, contact.settings)
    near = [_held_pairs(cloth, filed)]
    if pairs.tangles is not None and len(pairs.tangles.couples):
        near.append(pairs.tangles.near)
    return _count(np.concatenate(near), cloth.triangles, filed)


def _is_held(cloth):
    """(t,) bool: triangles that pins hold whole."""
    return (cloth.inv_mass[cloth.triangles] == 0.0).all(axis=1)


def _held_pairs(cloth, x):
    """Pairs of triangles (p, 2) with boxes that overlap, of those that pins hold: of two that do not move nobody keeps account."""
    held = np.flatnonzero(_is_held(cloth))
    if len(held) < 2 or not cloth.meets.any():
        return np.empty((0, 2), np.int32)
    corners, owner = x[cloth.triangles[held]], cloth.garment[cloth.triangles[held, 0]].astype(np.int32)
    pairs = bvh_overlaps(boxes_round(corners), owner, cloth.meets)
    (one, other), is_own = pairs.T, cloth.meets_itself[cloth.triangles[held]].all(axis=1)
    return held[pairs[(owner[one] != owner[other]) | (is_own[one] & is_own[other])]].astype(np.int32)


def is_nearer(pairs, x, distance):
    """Whether a pair of cloth, of particles at x (n, 3) [m], is nearer than a distance [m]."""
    deviation = np.empty(len(x))
    cloth_pairs.find_deviation(pairs, x, pairs.elapsed, deviation)
    return nearer_kernel(pairs.pair_list, deviation, pairs.elapsed, x, distance)


def _body_count(guarded: BodyPairs, x):
    """Pairs of triangles of cloth at x (n, 3) [m] and of bodies that cross, out of those that are not guarded."""
    cloth, body, place = guarded.frame.cloth, guarded.frame.body, guarded.frame.body.contacts.place
    is_loose = (guarded.frame.tangled | (place[: len(x)] != OUTSIDE))[cloth.triangles].any(axis=1)
    is_loose |= _is_held(cloth)
    loose = cloth.triangles[is_loose & cloth.meets_bodies[cloth.triangles].all(axis=1)]
    if not len(loose):
        return 0
    mesh, garments, each = body.mesh, len(cloth.meets), np.diff(body.mesh.starts)
    bodies = np.concatenate([collider.x[-1] for collider in mesh.colliders]) - cloth.origin
    near = beside(boxes_round(bodies[mesh.triangles]), x[loose].min(axis=(0, 1)), x[loose].max(axis=(0, 1)))
    points, triangles = np.concatenate([x, bodies]), np.concatenate([loose, mesh.triangles[near] + np.int32(len(x))])
    meets = np.zeros((garments + len(each),) * 2, np.bool_)
    meets[garments:, :garments], meets[:garments, garments:] = mesh.meets, mesh.meets.T
    owner = np.concatenate([cloth.garment, np.repeat(garments + np.arange(len(each)), each)])[triangles[:, 0]]
    return _count(bvh_overlaps(boxes_round(points[triangles]), owner.astype(np.int32), meets), triangles, points)


def _count(pairs, triangles, x):
    """How many of the pairs (p, 2) of triangles (t, 3) cross, with corners at x (n, 3) [m]."""
    return len(np.unique(np.sort(crossings(pairs, triangles, x)[:, 2:], axis=1), axis=0))


@njit
def nearer_kernel(pairs, deviation, elapsed, x, distance):
    """Whether a pair of particles with a deviation (n,) [m], at x (n, 3) [m], is nearer than a distance [m]. 20 bytes of a pair
    that cannot be (and 32 of `deviation`), 100 flops of one that might.
    """
    for pair in range(len(pairs.stencils)):
        a, b, c, d = corners_of(pairs.stencils, pair)
        aside = farther(deviation, pairs.is_edge_pair[pair], a, b, c, d)
        if pairs.gap[pair] - elapsed * pairs.closing[pair] - aside >= distance:
            continue
        wa, wb, wc, wd = closest_pair(pairs.is_edge_pair[pair], x, a, b, c, d)
        nx, ny, nz = weighted_sum(x, a, b, c, d, wa, wb, wc, wd)
        if math.sqrt(nx * nx + ny * ny + nz * nz) < distance:
            return True
    return False
