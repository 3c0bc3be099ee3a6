# SPDX-License-Identifier: GPL-3.0-or-later
"""Which patches of cloth and bodies may meet, for some substeps: each has a room to stay in, and rooms that overlap make a
pair. Of a pair it is remembered how far its patches are apart.
"""

from typing import NamedTuple

import numpy as np

from ...broad_phase.patches import OVERLAPS
from .scene import PatchedMesh, Scene
from .trajectories import Trajectories

ROOM_SUBSTEPS = 3.0  # for which pairs of patches are looked for, if they go on as they do
DISPLACEMENT_SPARE = 0.3  # of what they go then, on every side, and
SIZE_SPARE = 0.2  # of a patch's size, by which patches may leave that


class PatchPairs(NamedTuple):
    """Pairs of patches that may meet while patches stay in their rooms."""

    rooms: np.ndarray  # (p, 6) [m] boxes
    spare: float  # [m] by which these are larger than patches at least, and how far apart two need to be known
    keys: np.ndarray  # (k,) a number for each pair, in order
    rows: np.ndarray  # (k, 2) int32, cloth first, in order
    apart: np.ndarray  # (k,) [m] how far they are apart at least at the start of the substep; 0: unknown
    apart_end: np.ndarray  # (k,) [m] the same at its end


def no_patch_pairs(patch_count: int) -> PatchPairs:
    """Nothing is known of so many patches, which are in no rooms."""
    rooms, keys, rows = np.full((patch_count, 6), np.nan), np.empty(0, np.int64), np.empty((0, 2), np.int32)
    return PatchPairs(rooms, 0.0, keys, rows, np.empty(0), np.empty(0))


def make_rooms(mesh: PatchedMesh, trajectories: Trajectories, boxes: np.ndarray) -> tuple[np.ndarray, float]:
    """Boxes (p, 6) [m] for patches that are larger than theirs of this substep, so that what is found in them holds for
    some more; and by how much [m] at least.
    """
    first = mesh.triangles[mesh.patches.triangles[mesh.patches.start[:-1]], 0]
    ahead = ROOM_SUBSTEPS * (trajectories.end[first] - trajectories.start[first])
    least = SIZE_SPARE * _mean_size(boxes)
    spare = DISPLACEMENT_SPARE * np.abs(ahead).max(axis=1, keepdims=True) + least
    low, high = boxes[:, :3] + np.minimum(ahead, 0.0) - spare, boxes[:, 3:] + np.maximum(ahead, 0.0) + spare
    return np.concatenate([low, high], axis=1), least


def _mean_size(boxes: np.ndarray) -> float:
    """Mean of the longest sides [m] of boxes (p, 6) that are somewhere."""
    size = (boxes[:, 3:] - boxes[:, :3]).max(axis=1)
    return float(size[size > 0.0].mean()) if (size > 0.0).any() else 0.0


def pair_up(broad_phase: str, scene: Scene, rooms: np.ndarray, spare: float, before: PatchPairs) -> PatchPairs:
    """Pair patches whose rooms overlap, in order; what was known of a pair is kept."""
    found = OVERLAPS[broad_phase](rooms, scene.mesh.patches.garment, scene.meets)
    first, second = np.sort(found, axis=1).T
    keys = np.sort(first * np.int64(len(rooms)) + second)
    apart = np.zeros(len(keys))
    if len(before.keys):
        at = np.minimum(np.searchsorted(before.keys, keys), len(before.keys) - 1)
        apart = np.where(before.keys[at] == keys, before.apart[at], 0.0)
    rows = np.stack(np.divmod(keys, len(rooms)), axis=1).astype(np.int32)
    return PatchPairs(rooms, spare, keys, rows, apart, np.zeros(len(keys)))
