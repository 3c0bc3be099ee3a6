# SPDX-License-Identifier: GPL-3.0-or-later
"""All garments and, behind them, all bodies as one mesh, and what of it crosses what: counted exactly, by kinds.

A kind is what crosses: a garment and a body, two garments, a garment and itself.
"""

from typing import NamedTuple

import numpy as np

from ..broad_phase.bvh import bvh_overlaps
from ..contact.cloth.tangles import crossings


class Whole(NamedTuple):
    """Owners are garments and bodies. The names are those of `model.Cloth`, in whose place this is eased (`ease`)."""

    triangles: np.ndarray  # (t, 3) int32, normals outwards
    owner: np.ndarray  # (t,) int32 of a triangle
    garment: np.ndarray  # (n,) int32 owner of a vertex
    garment_start: np.ndarray  # (o + 1,) first vertex of each owner
    garment_count: int  # owners before the bodies
    meets: np.ndarray  # (o, o) bool: which are to be apart; on the diagonal, whether from themselves
    meets_itself: np.ndarray  # (n,) bool
    edges: np.ndarray  # (e, 2) of garments
    is_mesh_edge: np.ndarray  # (e,) bool
    rest_length: np.ndarray  # (e,) [m] before anything is moved
    mass: np.ndarray  # (n,) [m2] area about a vertex, or [kg]: how much its vote counts
    inv_mass: np.ndarray  # (n,) how easily it gives way; 0 for bodies, and what else stays


def make_whole(surfaces, garment_count: int, softness, meets: np.ndarray) -> Whole:
    """Surfaces (`surface.Surface`) of garments, and then of bodies, as one.

    softness : of each garment; meets : (o, o) bool
    """
    counts = [len(surface.x) for surface in surfaces]
    start = np.cumsum([0, *counts])
    triangles = np.concatenate([s.triangles + first for s, first in zip(surfaces, start, strict=False)])
    x = np.concatenate([surface.x for surface in surfaces])
    own = surfaces[:garment_count]
    edges = np.concatenate([s.edges + first for s, first in zip(own, start, strict=False)])
    sides = x[triangles[:, 1:]] - x[triangles[:, :1]]
    area = 0.5 * np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    mass = np.bincount(triangles.ravel(), np.repeat(area / 3.0, 3), len(x))
    return Whole(
        triangles=np.ascontiguousarray(triangles, np.int32),
        owner=np.repeat(np.arange(len(surfaces), dtype=np.int32), [len(s.triangles) for s in surfaces]),
        garment=np.repeat(np.arange(len(surfaces), dtype=np.int32), counts),
        garment_start=start,
        garment_count=garment_count,
        meets=meets,
        meets_itself=np.ones(len(x), bool),
        edges=edges,
        is_mesh_edge=np.ones(len(edges), bool),
        rest_length=np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1),
        mass=mass,
        inv_mass=np.repeat([*softness, *np.zeros(len(surfaces) - garment_count)], counts),
    )


class Crossing(NamedTuple):
    """What crosses where vertices are."""

    x: np.ndarray  # (n, 3) [m]
    boxes: np.ndarray  # (t, 6) [m] of triangles
    pairs: np.ndarray  # (k, 2) int32 triangles, ascending


def find_crossing(whole: Whole, x: np.ndarray, last: Crossing | None = None) -> Crossing:
    """What crosses where vertices are at x (n, 3) [m]; quicker where few of them have moved since `last`."""
    moved = np.ones(len(x), bool) if last is None else (x != last.x).any(axis=1)
    changed = moved[whole.triangles].any(axis=1)
    kept = np.empty((0, 2), np.int64) if last is None else last.pairs[~changed[last.pairs].any(axis=1)]
    boxes = np.empty((len(changed), 6)) if last is None else last.boxes.copy()
    boxes[changed] = _boxes(x, whole.triangles[changed])
    found = crossings(bvh_overlaps(boxes, whole.owner, whole.meets, changed), whole.triangles, x)[:, 2:]
    keys = np.unique(names_of(whole, np.sort(np.concatenate([kept, found]), axis=1)))
    return Crossing(x.copy(), boxes, np.stack(np.divmod(keys, len(changed)), axis=1).astype(np.int32))


def _boxes(x, triangles):
    a, b, c = x[triangles[:, 0]], x[triangles[:, 1]], x[triangles[:, 2]]
    return np.concatenate([np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)], axis=1)


def names_of(whole: Whole, pairs: np.ndarray) -> np.ndarray:
    """(k,) int64, ascending: a number for each pair (k, 2) of triangles."""
    return pairs @ np.array([len(whole.triangles), 1])


def kinds_of(whole: Whole, pairs: np.ndarray) -> np.ndarray:
    """(k,) the kinds of pairs (k, 2) of triangles: the number of the lower owner times that of owners, and the other's."""
    owner = np.sort(whole.owner[pairs].astype(np.int64), axis=1)
    return owner[:, 0] * len(whole.meets) + owner[:, 1]


def count_kinds(whole: Whole, pairs: np.ndarray) -> np.ndarray:
    """(2, o * o) how many of the pairs (k, 2) are of each kind: of all, and of those without a corner in common, which is what
    others count.
    """
    kinds, (one, other) = kinds_of(whole, pairs), whole.triangles[pairs.T]
    apart = (one[:, :, None] != other[:, None, :]).all(axis=(1, 2))
    return np.stack([np.bincount(own, minlength=len(whole.meets) ** 2) for own in (kinds, kinds[apart])])
