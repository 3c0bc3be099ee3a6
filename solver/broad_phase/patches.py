# SPDX-License-Identifier: GPL-3.0-or-later
"""Broad phase: pairs of triangles that may meet, found by way of patches: flat regions of a sheet are skipped as a whole.

Triangles are grown into patches of `PATCH_SIZE` neighbours, once a bake. A detection finds the patches whose boxes overlap
(`bvh` or `spatial_hash`) and looks at the triangles of these alone. A connected patch whose normals all lie within a narrow cone
is a graph over a plane: it cannot meet itself, and neither can it and a neighbour of much the same direction (Volino and
Magnenat-Thalmann 1994); but at the border, which can close on itself within the plane, and where more than one sheet meets, as
along the seam of a pocket. On a hanging sheet that leaves next to nothing to compare.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from ..geometry.topology import edge_keys
from ..kernel.jit import folded, inner, njit
from ..kernel.memo import remembered
from ..kernel.shared import shared
from ..kernel.threads import cut, joined, on_threads
from ..model import Cloth, Settings
from .boxes import HIGH, SWEPT_BOX, SweptBoxes, empty_boxes, may_touch, span, swept
from .bvh import bvh_overlaps
from .spatial_hash import bucket_of, hash_overlaps

OVERLAPS = {"TREE": bvh_overlaps, "HASH": hash_overlaps}  # by `Settings.broad_phase`
PATCH_SIZE = 8  # triangles
SMALLEST_AROUND_PART = 32  # patches that another thread is asked for
SMALLEST_PATCH_PART = 1536  # pairs of patches: fewer are done before another thread wakes up
PAIRS_ROOM, LEAST_PAIRS_ROOM = (
    8,
    1024,
)  # pairs that there is room for at first: of a triangle that is asked for, and besides
NEVER_ALIGNED = 2.0  # a cosine that no two directions have
FIRST_EDGE_BIT = 3  # of `Patches.owned`


class Patches(NamedTuple):
    """What of a cloth's triangles never changes."""

    triangles: np.ndarray  # (t,) int32 triangle indices, patch after patch
    start: np.ndarray  # (p + 1,) int32 first of each patch in `triangles`
    garment: np.ndarray  # (p,) int32
    neighbours: np.ndarray  # (k,) int64 sorted: a * p + b for patches a < b that share a vertex
    owned: np.ndarray  # (t,) uint8 vertices (bits 0-2) and edges (bits 3-5) that a triangle is the first to have
    no_sheet: np.ndarray  # (b,) int32 vertices round which cloth can meet itself and stay flat (`_no_sheet`)


class Ahead(NamedTuple):
    """Triangles in the time looked ahead."""

    boxes: SweptBoxes  # (t, 6) where they are when detected, and when that time is over
    normals: np.ndarray  # (t, k, 3) unit normals of the start, and then those that tell how they turn
    is_flat: np.ndarray  # (n,) bool: the sheet is too flat round the vertex to meet itself there


class Bounds(NamedTuple):
    """Patches as they are in one detection."""

    boxes: SweptBoxes  # (p, 6) round those of their triangles
    normals: np.ndarray  # (p, 3) mean directions at the start
    aligned: np.ndarray  # (p,) least cosine to a neighbour's mean direction up to which the two cannot meet, or
    # `NEVER_ALIGNED`


class Scratch(NamedTuple):
    """Room for one thread that looks at pairs of patches."""

    near: np.ndarray  # (PATCH_SIZE,) int32 triangles of the second patch that touch the first's box
    both: np.ndarray  # (2, SWEPT_BOX) swept boxes of the two
    own: np.ndarray  # (1, SWEPT_BOX) of a triangle of the first
    others: np.ndarray  # (PATCH_SIZE, SWEPT_BOX) of those of the second


@remembered(4, lambda cloth: (cloth.triangles, cloth.garment))
def patches_of(cloth: Cloth) -> Patches:
    """Patches of `cloth.triangles`, made once for a cloth."""
    return make_patches(cloth.triangles, cloth.garment)


def _side_keys(triangles: np.ndarray) -> np.ndarray:
    """(3 t,) a number for the edge that each side of each triangle is."""
    sides = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2)
    return edge_keys(sides, int(triangles.max(initial=0)) + 1)


def find_owners(triangles: np.ndarray) -> np.ndarray:
    """`Patches.owned` of triangles (t, 3)."""
    triangles = np.ascontiguousarray(triangles, np.int32)
    seen, owned = np.zeros(int(triangles.max(initial=-1)) + 1, np.bool_), np.zeros(len(triangles), np.uint8)
    _owners_kernel(triangles, seen, np.full(1 << (2 * triangles.size).bit_length(), -1, np.int32), owned)
    return owned


def make_patches(triangles: np.ndarray, garment: np.ndarray) -> Patches:
    """Patches of triangles (t, 3); `garment` (n,) is that of each vertex."""
    triangles = triangles.astype(np.int64)
    count = len(triangles)
    keys = _side_keys(triangles)
    # Triangles on both sides of each edge, in both directions, as rows of a compressed matrix.
    order = np.argsort(keys, kind="stable")
    beside = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    pair = np.stack([order[beside], order[beside + 1]]) // 3
    source, target = np.concatenate([pair[0], pair[1]]), np.concatenate([pair[1], pair[0]])
    target = target[np.argsort(source, kind="stable")].astype(np.int32)
    row_start = np.concatenate(([0], np.cumsum(np.bincount(source, minlength=count)))).astype(np.int32)
    grown, start = np.empty(count, np.int32), np.empty(count + 1, np.int32)
    patch_count = _grow_kernel(row_start, target, PATCH_SIZE, np.zeros(count, np.bool_), grown, start)
    start = start[: patch_count + 1].copy()
    patch = np.empty(count, np.int64)
    patch[grown] = np.repeat(np.arange(patch_count), np.diff(start))
    garment = garment[triangles[grown[start[:-1]], 0]].astype(np.int32)
    neighbours, owned = _neighbours(triangles, patch, patch_count), find_owners(triangles)
    return Patches(grown, start, garment, neighbours, owned, _no_sheet(triangles, keys, order))


def _no_sheet(triangles: np.ndarray, keys: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Vertices (b,) int32 round which triangles (t, 3) are not one sheet, turned one way, that goes all round: those of edges with
    one triangle, or with three, as where a pocket is sewn on, or with two that are turned against each other; and those in
    which fans of triangles meet. What folds over there lies flat on the rest.

    keys : (3 t,) of `_side_keys`, and their `order`
    """
    begins, after = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    count = np.diff(np.flatnonzero(np.diff(keys[order], prepend=-1, append=-1)))
    pairs = order[np.repeat(count == 2, count)].reshape(-1, 2)
    alike = begins[pairs[:, 0]] != begins[pairs[:, 1]]
    sides = np.concatenate([order[np.repeat(count != 2, count)], pairs[~alike, 0]])
    one, other = pairs[alike].T
    next_one, next_other = (side + 1 - 3 * (side % 3 == 2) for side in (one, other))  # corners at the other ends
    links = np.concatenate([one, next_one]), np.concatenate([next_other, other])
    fans = csr_matrix((np.ones(len(links[0]), np.bool_), links), shape=(len(begins), len(begins)))
    fan, of_vertex = connected_components(fans, directed=False)[1], np.empty(int(begins.max(initial=-1)) + 1, np.int32)
    of_vertex[begins] = fan
    return np.unique(np.concatenate([begins[sides], after[sides], begins[fan != of_vertex[begins]]])).astype(np.int32)


def _neighbours(triangles: np.ndarray, patch: np.ndarray, patch_count: int) -> np.ndarray:
    """Keys a * patch_count + b of patches a < b that share a vertex, sorted."""
    at = np.unique(triangles.reshape(-1) * patch_count + np.repeat(patch, 3))  # vertex, then patch
    vertex, patch_there = at // patch_count, at % patch_count
    found = [np.empty(0, np.int64)]
    for step in range(1, len(at)):
        same = vertex[step:] == vertex[:-step]
        if not same.any():
            break
        found.append((patch_there[:-step] * patch_count + patch_there[step:])[same])
    return np.unique(np.concatenate(found))


@njit
def _owners_kernel(triangles, seen, table, owned):
    """Which vertices and edges each triangle is the first to have. 40 bytes a corner.
    # outputs: owned (t,), all 0 before; seen (n,) scratch, all False; table scratch, all -1: a power of two, more than
    # twice the corners, in which each edge has the place of a hash of its vertices, or the next that is free
    """
    for t in range(len(triangles)):
        for corner in range(3):
            p, q = np.int64(triangles[t, corner]), np.int64(triangles[t, (corner + 1) % 3])
            if not seen[p]:
                seen[p] = True
                owned[t] |= 1 << corner
            low, high = min(p, q), max(p, q)
            place = bucket_of(low, high, 0, len(table) - 1)
            while table[place] >= 0:
                other, side = table[place] // 3, table[place] % 3
                r, s = np.int64(triangles[other, side]), np.int64(triangles[other, (side + 1) % 3])
                if min(r, s) == low and max(r, s) == high:
                    break
                place = (place + 1) & (len(table) - 1)
            if table[place] < 0:
                table[place] = 3 * t + corner
                owned[t] |= 1 << (corner + FIRST_EDGE_BIT)


@njit
def _grow_kernel(row_start, target, size, taken, grown, start):
    """Grow patches breadth first from the first triangle that is left; returns their number.
    # outputs: grown (t,) triangles, patch after patch; start (p + 1,); taken (t,) scratch, all False
    """
    patch_count, end = 0, 0
    for seed in range(len(taken)):
        if taken[seed]:
            continue
        begin = end
        start[patch_count] = begin
        taken[seed] = True
        grown[end] = seed
        end += 1
        at = begin
        while at < end and end - begin < size:
            triangle = grown[at]
            at += 1
            for slot in range(row_start[triangle], row_start[triangle + 1]):
                other = target[slot]
                if not taken[other] and end - begin < size:
                    taken[other] = True
                    grown[end] = other
                    end += 1
        patch_count += 1
    start[patch_count] = end
    return patch_count


@inner
def _bound(patches, patch, boxes, patch_boxes):
    """Put a box round those of a patch's triangles; one that is not a number makes the patch's not a number."""
    for low in range(3):
        patch_boxes[patch, low], patch_boxes[patch, low + HIGH] = np.inf, -np.inf
    for slot in range(patches.start[patch], patches.start[patch + 1]):
        triangle = patches.triangles[slot]
        for low in range(3):
            high = low + HIGH
            if not boxes[triangle, low] >= patch_boxes[patch, low]:
                patch_boxes[patch, low] = boxes[triangle, low]
            if not boxes[triangle, high] <= patch_boxes[patch, high]:
                patch_boxes[patch, high] = boxes[triangle, high]


@folded
def _cone_of(patches, patch, ahead, cloth_triangles, mean_normals):
    """The least cosine between a patch's mean normal and one of its triangles' normals, or -1 where the sheet is not flat.
    # outputs: mean_normals (p, 3)
    """
    normals, flat, least = ahead.normals, True, 1.0
    for axis in range(3):
        mean_normals[patch, axis] = 0.0
    for slot in range(patches.start[patch], patches.start[patch + 1]):
        triangle = patches.triangles[slot]
        for axis in range(3):
            mean_normals[patch, axis] += normals[triangle, 0, axis]
            flat &= ahead.is_flat[cloth_triangles[triangle, axis]]
    size = 0.0
    for axis in range(3):
        size += mean_normals[patch, axis] ** 2
    scale = 1.0 / np.sqrt(size) if size > 0.0 else 0.0
    for axis in range(3):
        mean_normals[patch, axis] *= scale
    for slot in range(patches.start[patch], patches.start[patch + 1]):
        for k in range(normals.shape[1]):
            along = 0.0
            for axis in range(3):
                along += mean_normals[patch, axis] * normals[patches.triangles[slot], k, axis]
            least = min(least, along)
    return least if flat else -1.0


@shared(SMALLEST_AROUND_PART)
def _sum_up_kernel(first, last, patches, asked, cloth_triangles, ahead, cone, bounds, around):
    """Boxes, mean normals and flatness of those of the patches first..last that have a triangle which is `asked` for (t,), out of
    those of their triangles.

    Triangles whose normals all lie within a cone round one direction are a graph over the plane across it. For two
    patches that direction lies between their mean normals: each leans by half the angle between these.
    # outputs: bounds; around (p,) which these are
    """
    widest = math.acos(cone)
    for patch in range(first, last):
        around[patch] = False
        for slot in range(patches.start[patch], patches.start[patch + 1]):
            around[patch] |= asked[patches.triangles[slot]]
        if around[patch]:
            _bound(patches, patch, ahead.boxes.start, bounds.boxes.start)
            _bound(patches, patch, ahead.boxes.end, bounds.boxes.end)
            least = _cone_of(patches, patch, ahead, cloth_triangles, bounds.normals)
            lean = widest - math.acos(max(least, -1.0))
            bounds.aligned[patch] = math.cos(2.0 * lean) if least > cone else NEVER_ALIGNED


@inner
def _are_flat(patches, bounds, p, q):
    """Whether patches p < q are neighbours of much the same direction, which cannot meet."""
    limit = max(bounds.aligned[p], bounds.aligned[q])
    if not limit < 1.0:
        return False
    along = 0.0
    for axis in range(3):
        along += bounds.normals[p, axis] * bounds.normals[q, axis]
    if not along > max(0.0, limit):
        return False
    key = np.int64(p) * len(bounds.aligned) + q
    place = np.searchsorted(patches.neighbours, key)
    return place < len(patches.neighbours) and patches.neighbours[place] == key


@njit
def _expand_kernel(start, end, patch_pairs, patches, boxes, asked, around, bounds, meets, scratch, pairs):
    """Pairs of triangles that may touch on their trajectories, one of which is `asked` for (t,), out of the pairs of
    patches, and then the patches that have such a triangle (`around`, (p,)) with themselves, of the numbers start..end;
    returns how many there are, also beyond the room in `pairs`. About 24 comparisons and 96 bytes a pair that is looked
    at.
    # outputs: pairs (c, 2); scratch
    """
    near, both, own, others = scratch
    count = 0
    for pair in range(start, end):
        if pair < len(patch_pairs):
            p = min(patch_pairs[pair, 0], patch_pairs[pair, 1])
            q = max(patch_pairs[pair, 0], patch_pairs[pair, 1])
            span(bounds.boxes, p, p, 0, both)
            span(bounds.boxes, q, q, 1, both)
            if not may_touch(both, 0, both, 1) or _are_flat(patches, bounds, p, q):
                continue
        else:
            p = q = pair - len(patch_pairs)
            if not around[p] or bounds.aligned[p] <= 1.0 or not meets[patches.garment[p], patches.garment[p]]:
                continue
            span(bounds.boxes, p, p, 0, both)
            span(bounds.boxes, p, p, 1, both)
        near_count = 0
        for second in range(patches.start[q], patches.start[q + 1]):
            near[near_count] = second
            span(boxes, patches.triangles[second], patches.triangles[second], near_count, others)
            near_count += may_touch(others, near_count, both, 0)
        for first in range(patches.start[p], patches.start[p + 1] if near_count else 0):
            a = patches.triangles[first]
            span(boxes, a, a, 0, own)
            if not may_touch(own, 0, both, 1):
                continue
            for k in range(near_count):
                b = patches.triangles[near[k]]
                here = may_touch(own, 0, others, k) & (asked[a] | asked[b])
                if here & ((p != q) | (near[k] > first)):
                    if count < len(pairs):
                        pairs[count, 0] = a
                        pairs[count, 1] = b
                    count += 1
    return count


def triangle_pairs(
    cloth: Cloth, ahead: Ahead, cone: float, broad_phase: str = Settings().broad_phase
) -> tuple[np.ndarray, Bounds]:
    """Pairs of triangles that may meet.

    Parameters
    ----------
    ahead : what triangles do
    cone : least cosine between the normals of a flat patch and their mean
    broad_phase : one of `OVERLAPS`

    Returns
    -------
    (p, 2) int32 pairs, each once; the patches as they are
    """
    patches = patches_of(cloth)
    count = len(patches.garment)
    bounds = Bounds(empty_boxes(count), np.empty((count, 3)), np.empty(count))
    asked, around = np.ones(len(cloth.triangles), np.bool_), np.empty(count, np.bool_)
    _sum_up_kernel(count, patches, asked, cloth.triangles, ahead, cone, bounds, around)
    patch_pairs = OVERLAPS[broad_phase](swept(bounds.boxes), patches.garment, cloth.meets)
    return _expand(patch_pairs, patches, ahead.boxes, asked, around, bounds, cloth.meets), bounds


def pairs_around(cloth: Cloth, changed: np.ndarray, ahead: Ahead, cone: float, bounds: Bounds) -> np.ndarray:
    """Pairs of triangles that may meet of which one has `changed` (t,) bool; see `triangle_pairs` for the rest.

    `bounds` change in place where a triangle has.

    Returns
    -------
    (p, 2) int32 pairs, each once
    """
    patches = patches_of(cloth)
    around = np.empty(len(patches.garment), np.bool_)
    _sum_up_kernel(len(around), patches, changed, cloth.triangles, ahead, cone, bounds, around)
    patch_pairs = bvh_overlaps(swept(bounds.boxes), patches.garment, cloth.meets, around)
    return _expand(patch_pairs, patches, ahead.boxes, changed, around, bounds, cloth.meets)


def _expand(patch_pairs: np.ndarray, patches: Patches, boxes: SweptBoxes, asked, around, bounds: Bounds, meets):
    """Pairs of triangles (p, 2) int32 out of those of patches that may meet, and of each patch with itself, of which one
    is `asked` (t,) for; `around` (p,) the patches that have one.
    """

    def part(_, first, last):
        room = PAIRS_ROOM * np.count_nonzero(asked) + LEAST_PAIRS_ROOM
        spans = (np.empty((rows, SWEPT_BOX)) for rows in (2, 1, PATCH_SIZE))
        scratch = Scratch(np.empty(PATCH_SIZE, np.int32), *spans)
        while True:
            pairs = np.empty((room, 2), np.int32)
            count = _expand_kernel(
                first, last, patch_pairs, patches, boxes, asked, around, bounds, meets, scratch, pairs
            )
            if count <= room:
                return pairs[:count].copy()  # of a room that is mostly empty
            room = count

    return joined(on_threads(part, cut(len(patch_pairs) + len(patches.garment), SMALLEST_PATCH_PART)))
