# SPDX-License-Identifier: GPL-3.0-or-later
"""Which patches of cloth and bodies may meet, for some substeps: each has a room to stay in, and rooms that overlap make a
pair. Of a pair it is remembered how far its patches are apart.
"""

from typing import NamedTuple

import numpy as np

from ...broad_phase.patches import OVERLAPS
from ...kernel.jit import njit
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
    rooms, least = np.empty_like(boxes), SIZE_SPARE * _mean_size(boxes)
    rooms_kernel(mesh, trajectories, boxes, least, rooms)
    return rooms, least


@njit
def rooms_kernel(mesh, trajectories, boxes, least, rooms):
    """The loop of `make_rooms`: a patch goes on as one of its vertices does. 200 bytes and 30 flops a patch.
    # outputs: rooms (p, 6)
    """
    start, end, patches = trajectories.start, trajectories.end, mesh.patches
    for patch in range(len(boxes)):
        k, farthest = mesh.triangles[patches.triangles[patches.start[patch]], 0], 0.0
        for axis in range(3):
            farthest = max(farthest, abs(ROOM_SUBSTEPS * (end[k, axis] - start[k, axis])))
        spare = DISPLACEMENT_SPARE * farthest + least
        for axis in range(3):
            ahead = ROOM_SUBSTEPS * (end[k, axis] - start[k, axis])
            rooms[patch, axis] = boxes[patch, axis] + min(ahead, 0.0) - spare
            rooms[patch, axis + 3] = boxes[patch, axis + 3] + max(ahead, 0.0) + spare


def _mean_size(boxes: np.ndarray) -> float:
    """Mean of the longest sides [m] of boxes (p, 6) that are somewhere."""
    x, y, z = (boxes[:, 3:] - boxes[:, :3]).T
    size = np.maximum(np.maximum(x, y), z)
    size = size[size > 0.0]
    return float(size.mean()) if len(size) else 0.0


def pair_up(broad_phase: str, scene: Scene, rooms: np.ndarray, spare: float, before: PatchPairs) -> PatchPairs:
    """Pair patches whose rooms overlap, in order; what was known of a pair is kept."""
    rows = OVERLAPS[broad_phase](rooms, scene.mesh.patches.garment, scene.meets)  # in order
    keys, apart = rows[:, 0] * np.int64(len(rooms)) + rows[:, 1], np.zeros(len(rows))
    if len(before.keys):
        at = np.minimum(np.searchsorted(before.keys, keys), len(before.keys) - 1)
        apart = np.where(before.keys[at] == keys, before.apart[at], 0.0)
    return PatchPairs(rooms, spare, keys, rows, apart, np.zeros(len(keys)))
