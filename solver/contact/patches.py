# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of triangles that may meet, found by way of patches: flat regions of a sheet are skipped as a whole.

Triangles are grown into patches of `PATCH` neighbours, once a bake. A detection finds the patches whose boxes overlap
(`tree` or `hash`) and looks at the triangles of these alone. A connected patch whose normals all lie within a narrow cone
is a graph over a plane: it cannot meet itself, and neither can it and a neighbour of much the same direction (Volino and
Magnenat-Thalmann 1994). On a hanging sheet that leaves next to nothing to compare.
"""

import math
import weakref
from typing import NamedTuple

import numpy as np

from ..jit import inner, njit
from ..model import Cloth, Settings
from ..threads import cut, joined, on_threads
from ..topology import edge_keys
from .hash import bucket_of, span, touch_on_way
from .hash import overlaps as overlaps_by_hash
from .tree import overlaps as overlaps_by_tree

BROAD_PHASES = {"TREE": overlaps_by_tree, "HASH": overlaps_by_hash}  # by `Settings.broad_phase`
PATCH = 8  # triangles
FEW = 512  # pairs of patches that are not worth another thread
NEVER = 2.0  # a cosine that no two directions have


class Patches(NamedTuple):
    """What of a cloth's triangles never changes."""

    triangles: np.ndarray  # (t,) int32 triangle indices, patch after patch
    start: np.ndarray  # (p + 1,) int32 first of each patch in `triangles`
    garment: np.ndarray  # (p,) int32
    neighbours: np.ndarray  # (k,) int64 sorted: a * p + b for patches a < b that share a vertex
    owned: (
        np.ndarray
    )  # (t,) uint8 vertices (bits 0-2) and edges (bits 3-5) of which a triangle is the first to have them


class Bounds(NamedTuple):
    """Patches as they are in one detection."""

    boxes: np.ndarray  # (p, 6) [m] at the start, lowest corner first
    ends: np.ndarray  # (p, 6) [m] at the end
    normals: np.ndarray  # (p, 3) mean directions at the start
    aligned: np.ndarray  # (p,) least cosine to a neighbour's mean direction up to which the two cannot meet, or `NEVER`


_kept: dict[int, tuple[weakref.ref, Patches]] = {}


def patches_of(cloth: Cloth) -> Patches:
    """Patches of `cloth.triangles`, made once and kept as long as that array lives."""
    key = id(cloth.triangles)
    kept = _kept.get(key)
    if kept is None or kept[0]() is not cloth.triangles:
        patches = make_patches(cloth.triangles, cloth.garment)
        kept = weakref.ref(cloth.triangles, lambda _: _kept.pop(key, None)), patches
        _kept[key] = kept
    return kept[1]


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
    patch_count = _grow_kernel(row_start, target, PATCH, np.zeros(count, np.bool_), grown, start)
    start = start[: patch_count + 1].copy()
    patch = np.empty(count, np.int64)
    patch[grown] = np.repeat(np.arange(patch_count), np.diff(start))
    garment = garment[triangles[grown[start[:-1]], 0]].astype(np.int32)
    return Patches(grown, start, garment, _neighbours(triangles, patch, patch_count), find_owners(triangles))


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
                owned[t] |= 8 << corner


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
    for axis in range(3):
        patch_boxes[patch, axis], patch_boxes[patch, axis + 3] = np.inf, -np.inf
    for slot in range(patches.start[patch], patches.start[patch + 1]):
        triangle = patches.triangles[slot]
        for axis in range(3):
            low, high = boxes[triangle, axis], boxes[triangle, axis + 3]
            if not low >= patch_boxes[patch, axis]:
                patch_boxes[patch, axis] = low
            if not high <= patch_boxes[patch, axis + 3]:
                patch_boxes[patch, axis + 3] = high


@njit
def _sum_up_kernel(
    patches, asked, cloth_triangles, boxes, box_ends, normals, calm, cone, patch_boxes, patch_ends, patch_normals, aligned
):  # fmt: skip
    """Boxes, mean normals and flatness of the patches that are `asked` for (p,), out of those of their triangles.

    Triangles whose normals all lie within a cone round one direction are a graph over the plane across it. For two
    patches that direction lies between their mean normals: each leans by half the angle between these.
    # outputs: patch_boxes, patch_ends (p, 6), patch_normals (p, 3), aligned (p,)
    """
    widest = math.acos(cone)
    for patch in range(len(aligned)):
        if not asked[patch]:
            continue
        _bound(patches, patch, boxes, patch_boxes)
        _bound(patches, patch, box_ends, patch_ends)
        for axis in range(3):
            patch_normals[patch, axis] = 0.0
        flat, least = True, 1.0
        for slot in range(patches.start[patch], patches.start[patch + 1]):
            triangle = patches.triangles[slot]
            for axis in range(3):
                patch_normals[patch, axis] += normals[triangle, axis]
                flat &= calm[cloth_triangles[triangle, axis]]
        size = 0.0
        for axis in range(3):
            size += patch_normals[patch, axis] ** 2
        scale = 1.0 / np.sqrt(size) if size > 0.0 else 0.0
        for axis in range(3):
            patch_normals[patch, axis] *= scale
        for slot in range(patches.start[patch], patches.start[patch + 1]):
            for k in range(0, normals.shape[1], 3):
                along = 0.0
                for axis in range(3):
                    along += patch_normals[patch, axis] * normals[patches.triangles[slot], k + axis]
                least = min(least, along)
        flat &= least > cone
        aligned[patch] = math.cos(2.0 * (widest - math.acos(max(least, -1.0)))) if flat else NEVER


@njit
def _expand_kernel(
    start, end, patch_pairs, patches, boxes, box_ends, asked, around, patch_boxes, patch_ends, patch_normals, aligned, meets, near,
    both, own, others, pairs,
):  # fmt: skip
    """Pairs of triangles that may touch on their ways, one of which is `asked` for (t,), out of the pairs of patches, and
    then the patches that have such a triangle (`around`, (p,)) with themselves, of the numbers start..end; returns how
    many there are, also beyond the room in `pairs`. About 24 comparisons and 192 bytes a pair that is looked at.
    # outputs: pairs (c, 2); near (PATCH,) scratch: of the second patch what touches the first's box; both (2, 12),
    # own (1, 12), others (PATCH, 12) scratch, too
    """
    count, patch_count = 0, len(aligned)
    for pair in range(start, end):
        if pair < len(patch_pairs):
            p = min(patch_pairs[pair, 0], patch_pairs[pair, 1])
            q = max(patch_pairs[pair, 0], patch_pairs[pair, 1])
            span(patch_boxes, patch_ends, p, p, 0, both)
            span(patch_boxes, patch_ends, q, q, 1, both)
            if not touch_on_way(both, 0, both, 1):
                continue
            if max(aligned[p], aligned[q]) < 1.0:
                along = 0.0
                for axis in range(3):
                    along += patch_normals[p, axis] * patch_normals[q, axis]
                if along > max(0.0, max(aligned[p], aligned[q])):
                    key = np.int64(p) * patch_count + q
                    place = np.searchsorted(patches.neighbours, key)
                    if place < len(patches.neighbours) and patches.neighbours[place] == key:
                        continue
        else:
            p = q = pair - len(patch_pairs)
            if not around[p] or aligned[p] <= 1.0 or not meets[patches.garment[p], patches.garment[p]]:
                continue
            span(patch_boxes, patch_ends, p, p, 0, both)
            span(patch_boxes, patch_ends, p, p, 1, both)
        near_count = 0
        for second in range(patches.start[q], patches.start[q + 1]):
            near[near_count] = second
            span(boxes, box_ends, patches.triangles[second], patches.triangles[second], near_count, others)
            near_count += touch_on_way(others, near_count, both, 0)
        for first in range(patches.start[p], patches.start[p + 1] if near_count else 0):
            a = patches.triangles[first]
            span(boxes, box_ends, a, a, 0, own)
            if not touch_on_way(own, 0, both, 1):
                continue
            for k in range(near_count):
                b = patches.triangles[near[k]]
                here = touch_on_way(own, 0, others, k) & (asked[a] | asked[b])
                if here & ((p != q) | (near[k] > first)):
                    if count < len(pairs):
                        pairs[count, 0] = a
                        pairs[count, 1] = b
                    count += 1
    return count


def triangle_pairs(
    cloth: Cloth,
    boxes: np.ndarray,
    normals: np.ndarray,
    calm: np.ndarray,
    cone: float,
    broad_phase: str = Settings().broad_phase,
    box_ends: np.ndarray | None = None,
) -> tuple[np.ndarray, Bounds]:
    """Pairs of triangles that may meet.

    Parameters
    ----------
    boxes : (t, 6) where each triangle is, lowest corner first, or may be if there are no `box_ends`
    normals : (t, 3 k) unit normals of the start, and then those that tell how they turn
    calm : (n,) bool, vertices around which the sheet stays flat
    cone : least cosine between the normals of a flat patch and their mean
    broad_phase : one of BROAD_PHASES
    box_ends : (t, 6) where each triangle gets to, evenly

    Returns
    -------
    (p, 2) int32 pairs, each once; the patches as they are
    """
    patches, box_ends = patches_of(cloth), boxes if box_ends is None else box_ends
    count = len(patches.garment)
    bounds = Bounds(*np.empty((2, count, 6)), np.empty((count, 3)), np.empty(count))
    asked, around = np.ones(len(boxes), np.bool_), np.ones(count, np.bool_)
    _sum_up_kernel(patches, around, cloth.triangles, boxes, box_ends, normals, calm, cone, *bounds)
    patch_pairs = BROAD_PHASES[broad_phase](_swept(bounds), patches.garment, cloth.meets)
    return expand(patch_pairs, patches, boxes, box_ends, asked, around, bounds, cloth.meets), bounds


def _swept(bounds: Bounds) -> np.ndarray:
    """Boxes (p, 6) [m] of where patches get all the time."""
    low, high = np.minimum(*bounds[:2]), np.maximum(*bounds[:2])
    return np.concatenate([low[:, :3], high[:, 3:]], axis=1)


def expand(patch_pairs: np.ndarray, patches: Patches, boxes, box_ends, asked, around, bounds: Bounds, meets):
    """Pairs of triangles (p, 2) int32 out of those of patches that may meet, and of each patch with itself, of which one
    is `asked` (t,) for; `around` (p,) the patches that have one.
    """
    given = patch_pairs, patches, boxes, box_ends, asked, around, *bounds, meets

    def part(_, first, last):
        room = 16 * len(boxes) + 64
        scratch = np.empty(PATCH, np.int32), np.empty((2, 12)), np.empty((1, 12)), np.empty((PATCH, 12))
        while True:
            pairs = np.empty((room, 2), np.int32)
            count = _expand_kernel(first, last, *given, *scratch, pairs)
            if count <= room:
                return pairs[:count]
            room = count

    return joined(on_threads(part, cut(len(patch_pairs) + len(patches.garment), FEW)))


def pairs_around(
    cloth: Cloth, changed: np.ndarray, boxes, box_ends, normals, calm, cone: float, bounds: Bounds
) -> np.ndarray:
    """Pairs of triangles that may meet of which one has `changed` (t,) bool; see `triangle_pairs` for the rest.

    `bounds` change in place where a triangle has.

    Returns
    -------
    (p, 2) int32 pairs, each once
    """
    patches = patches_of(cloth)
    around = np.logical_or.reduceat(changed[patches.triangles], patches.start[:-1])
    _sum_up_kernel(patches, around, cloth.triangles, boxes, box_ends, normals, calm, cone, *bounds)
    patch_pairs = overlaps_by_tree(_swept(bounds), patches.garment, cloth.meets, around)
    return expand(patch_pairs, patches, boxes, box_ends, changed, around, bounds, cloth.meets)
