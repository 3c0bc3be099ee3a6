# SPDX-License-Identifier: GPL-3.0-or-later
"""Connected pieces of cloth that nothing holds for good: what falls and flies as one, and keeps its momentum (`momentum`).

A garment may be of many: a button, a badge or what has torn off flies as it would alone, whatever the rest of its garment does.
"""

from typing import NamedTuple

import numpy as np

from ..geometry.seams import same_places
from ..kernel.memo import remembered

NO_TIES = np.zeros((0, 4), np.int32)


class Pieces(NamedTuple):
    """Pieces of cloth."""

    members: np.ndarray  # (k,) int32 particles, one piece after the other
    starts: np.ndarray  # (f + 1,) int32 first member of each piece, and the end of the last
    piece: np.ndarray  # (n,) int32 of each particle; -1 where it is in none of these


def free_pieces(cloth, held: np.ndarray, ties: np.ndarray = NO_TIES) -> Pieces:
    """Those that none of the particles `held` (m,) belongs to; in the order of their first particles.

    ties : (k, 4) particles that threads join, however far apart; seams that pull, too, but not those of an open zip
    """
    idle = cloth.seams[cloth.seam_force <= 0.0]
    edges = np.delete(cloth.edges, idle, axis=0) if len(idle) else cloth.edges  # not twice in memory
    piece = _connected(edges, cloth.triangles, ties, len(cloth.mass))
    is_free = np.ones(piece.max(initial=-1) + 1, np.bool_)
    is_free[piece[held]] = False
    number = np.where(is_free, np.cumsum(is_free) - 1, -1).astype(np.int32)
    own = number[piece]
    members = np.argsort(piece, kind="stable").astype(np.int32)
    members = members[own[members] >= 0]
    starts = np.append(0, np.cumsum(np.bincount(own[members], minlength=int(is_free.sum()))))
    return Pieces(members, starts.astype(np.int32), own)


@remembered(8, lambda edges, triangles, ties, count: (edges, triangles, ties, count))
def _connected(edges: np.ndarray, triangles: np.ndarray, ties: np.ndarray, count: int) -> np.ndarray:
    """(n,) the piece of each of `count` particles, numbered by their first ones; rigid garments have no edges."""
    pairs = np.concatenate(
        [edges, *(mesh[:, k : k + 2] for mesh in (triangles, ties) for k in range(mesh.shape[1] - 1))]
    )
    first, piece = same_places(*pairs.T, count)
    return np.argsort(np.argsort(first))[piece]
