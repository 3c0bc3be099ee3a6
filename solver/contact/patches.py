# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of triangles that may meet, found by way of patches: flat regions of a sheet are skipped as a whole.

Triangles are grown into patches of `PATCH` neighbours, once a bake. A detection finds the patches whose boxes overlap
(`tree` or `hash`) and looks at the triangles of these alone. A connected patch whose normals all lie within a narrow cone
is a graph over a plane: it cannot meet itself, and neither can it and a neighbour of much the same direction (Volino and
Magnenat-Thalmann 1994). On a hanging sheet that leaves next to nothing to compare.
"""

import weakref
from typing import NamedTuple

import numpy as np

from ..jit import njit
from ..model import Cloth, Settings
from ..threads import cut, joined, on_threads
from ..topology import edge_keys
from .hash import overlaps as overlaps_by_hash
from .hash import touch
from .tree import overlaps as overlaps_by_tree

BROAD_PHASES = {"TREE": overlaps_by_tree, "HASH": overlaps_by_hash}  # by `Settings.broad_phase`
PATCH = 8  # triangles
FEW = 512  # pairs of patches that are not worth another thread
ALIGNED = 0.7  # least cosine between the mean normals of two flat patches that count as one


class Patches(NamedTuple):
    """What of a cloth's triangles never changes."""

    triangles: np.ndarray  # (t,) int32 triangle indices, patch after patch
    start: np.ndarray  # (p + 1,) int32 first of each patch in `triangles`
    garment: np.ndarray  # (p,) int32
    neighbours: np.ndarray  # (k,) int64 sorted: a * p + b for patches a < b that share a vertex
    owned: (
        np.ndarray
    )  # (t,) uint8 vertices (bits 0-2) and edges (bits 3-5) of which a triangle is the first to have them


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
    owned = np.zeros((len(triangles), 6), np.uint8)
    for values, first in ((triangles, 0), (_side_keys(triangles), 3)):
        at = np.unique(values, return_index=True)[1]
        owned[at // 3, first + at % 3] = 1
    return np.packbits(owned, axis=1, bitorder="little")[:, 0]


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


@njit
def _sum_up_kernel(patches, cloth_triangles, boxes, normals, calm, cone, patch_boxes, patch_normals, flat):
    """Boxes, mean normals and flatness of patches out of those of their triangles.
    # outputs: patch_boxes (p, 6), patch_normals (p, 3), flat (p,) bool
    """
    for patch in range(len(flat)):
        for axis in range(3):
            patch_boxes[patch, axis], patch_boxes[patch, axis + 3] = np.inf, -np.inf
            patch_normals[patch, axis] = 0.0
        flat[patch] = True
        for slot in range(patches.start[patch], patches.start[patch + 1]):
            triangle = patches.triangles[slot]
            for axis in range(3):
                # Written so that a box that is not a number makes its patch's box not a number.
                low, high = boxes[triangle, axis], boxes[triangle, axis + 3]
                if not low >= patch_boxes[patch, axis]:
                    patch_boxes[patch, axis] = low
                if not high <= patch_boxes[patch, axis + 3]:
                    patch_boxes[patch, axis + 3] = high
                patch_normals[patch, axis] += normals[triangle, axis]
                flat[patch] &= calm[cloth_triangles[triangle, axis]]
        size = 0.0
        for axis in range(3):
            size += patch_normals[patch, axis] ** 2
        scale = 1.0 / np.sqrt(size) if size > 0.0 else 0.0
        for axis in range(3):
            patch_normals[patch, axis] *= scale
        for slot in range(patches.start[patch], patches.start[patch + 1]):
            along = 0.0
            for axis in range(3):
                along += patch_normals[patch, axis] * normals[patches.triangles[slot], axis]
            flat[patch] &= along > cone


@njit
def _expand_kernel(start, end, patch_pairs, patches, boxes, patch_boxes, patch_normals, flat, meets, near, pairs):
    """Pairs of triangles whose boxes overlap, out of those of pairs of patches, and then of patches with themselves,
    that have the numbers start..end; returns how many there are, also beyond the room in `pairs`. About 12 comparisons
    and 96 bytes a pair that is looked at.
    # outputs: pairs (c, 2); near (PATCH,) scratch: of the second patch what touches the first's box
    """
    count = 0
    patch_count = len(flat)
    for pair in range(start, end):
        if pair < len(patch_pairs):
            p = min(patch_pairs[pair, 0], patch_pairs[pair, 1])
            q = max(patch_pairs[pair, 0], patch_pairs[pair, 1])
            if not touch(patch_boxes, p, p, patch_boxes, q, q):
                continue
            if flat[p] and flat[q]:
                along = 0.0
                for axis in range(3):
                    along += patch_normals[p, axis] * patch_normals[q, axis]
                if along > ALIGNED:
                    key = np.int64(p) * patch_count + q
                    place = np.searchsorted(patches.neighbours, key)
                    if place < len(patches.neighbours) and patches.neighbours[place] == key:
                        continue
        else:
            p = q = pair - len(patch_pairs)
            if flat[p] or not meets[patches.garment[p], patches.garment[p]]:
                continue
        near_count = 0
        for second in range(patches.start[q], patches.start[q + 1]):
            b = patches.triangles[second]
            near[near_count] = second
            near_count += touch(boxes, b, b, patch_boxes, p, p)
        for first in range(patches.start[p], patches.start[p + 1] if near_count else 0):
            a = patches.triangles[first]
            if not touch(boxes, a, a, patch_boxes, q, q):
                continue
            for k in range(near_count):
                second = near[k]
                b = patches.triangles[second]
                if touch(boxes, a, a, boxes, b, b) and (p != q or second > first):
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
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of triangles that may meet.

    Parameters
    ----------
    boxes : (t, 6) where each triangle may be, lowest corner first
    normals : (t, 3) unit normals
    calm : (n,) bool, vertices around which the sheet is flat
    cone : least cosine between the normals of a flat patch and their mean
    broad_phase : one of BROAD_PHASES

    Returns
    -------
    (p, 2) int32 pairs, each once; `Patches.owned`
    """
    patches = patches_of(cloth)
    count = len(patches.garment)
    bounds = np.empty((count, 6)), np.empty((count, 3)), np.empty(count, np.bool_)
    _sum_up_kernel(patches, cloth.triangles, boxes, normals, calm, cone, *bounds)
    patch_pairs = BROAD_PHASES[broad_phase](bounds[0], patches.garment, cloth.meets)
    return expand(patch_pairs, patches, boxes, *bounds, cloth.meets), patches.owned


def expand(patch_pairs: np.ndarray, patches: Patches, boxes, patch_boxes, patch_normals, flat, meets) -> np.ndarray:
    """Pairs of triangles (p, 2) int32 out of those of patches that may meet, and of each patch with itself."""
    given = patch_pairs, patches, boxes, patch_boxes, patch_normals, flat, meets

    def part(_, first, last):
        near, room = np.empty(PATCH, np.int32), 16 * len(boxes) + 64
        while True:
            pairs = np.empty((room, 2), np.int32)
            count = _expand_kernel(first, last, *given, near, pairs)
            if count <= room:
                return pairs[:count]
            room = count

    return joined(on_threads(part, cut(len(patch_pairs) + len(flat), FEW)))


@njit
def _around_kernel(triangles, is_stray, ways, garment, meets, boxes, calm, pairs):
    """Grow the boxes of triangles that have a stray corner and pair these with all whose boxes they overlap; returns
    how many pairs there are, also beyond the room in `pairs`. 48 bytes a triangle and triangle with a stray corner.
    # outputs: boxes, calm, pairs (c, 2)
    """
    for triangle in range(len(triangles)):
        a, b, c = triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2]
        if is_stray[a] | is_stray[b] | is_stray[c]:
            calm[a], calm[b], calm[c] = False, False, False
            for axis in range(3):
                boxes[triangle, axis] = min(ways[a, axis], min(ways[b, axis], ways[c, axis]))
                boxes[triangle, axis + 3] = max(ways[a, axis + 3], max(ways[b, axis + 3], ways[c, axis + 3]))
    count = 0
    for first in range(len(triangles)):
        if not (is_stray[triangles[first, 0]] | is_stray[triangles[first, 1]] | is_stray[triangles[first, 2]]):
            continue
        of = garment[triangles[first, 0]]
        for second in range(len(triangles)):
            if not touch(boxes, first, first, boxes, second, second):
                continue
            a, b, c = triangles[second, 0], triangles[second, 1], triangles[second, 2]
            if second <= first and (second == first or is_stray[a] | is_stray[b] | is_stray[c]):
                continue  # two that have stray corners come once
            if not meets[of, garment[a]]:
                continue
            if count < len(pairs):
                pairs[count, 0] = first
                pairs[count, 1] = second
            count += 1
    return count


def pairs_around(
    cloth: Cloth, is_stray: np.ndarray, ways: np.ndarray, boxes: np.ndarray, calm: np.ndarray
) -> np.ndarray:
    """Pairs of triangles that may meet of which one has a stray corner.

    Parameters
    ----------
    is_stray : (n,) bool, a few particles whose ways have changed
    ways : (n, 6) where each particle may be, lowest corner first
    boxes : (t, 6), calm : (n,) as for `triangle_pairs`, changed in place where a corner is stray

    Returns
    -------
    (p, 2) int32 pairs, each once
    """
    room = 1024
    while True:
        pairs = np.empty((room, 2), np.int32)
        count = _around_kernel(cloth.triangles, is_stray, ways, cloth.garment, cloth.meets, boxes, calm, pairs)
        if count <= room:
            return pairs[:count]
        room = count
