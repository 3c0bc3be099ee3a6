# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are split along seams: pieces whose borders lie on each other are joined, so that they have an inside.

Meshes out of games have their vertices doubled where normals or textures change, and are soups of open pieces then. Joined
are edges of borders that run along each other in opposite directions, one on one: so a seam is closed, and neither pieces
that face apart nor what only touches at a corner get joined.
"""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ..kernel.memo import remembered

SEAM_GAP = 1e-5  # [m] up to which two vertices of borders lie on each other


def sew_borders(triangles: np.ndarray, border: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Triangles (t, 3) with one vertex in the place of all that lie on each other along seams.

    Parameters
    ----------
    triangles : (t, 3) of one body
    border : (b, 2) edges of one triangle, in its direction
    x : (s, m, 3) [m] the vertices at times at which all that is joined must lie on each other
    """
    if not len(border):
        return triangles
    return _sewn(triangles, border, *_on_each_other(np.unique(border), x))


def _on_each_other(ends: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (k,) and others that lie on them at all times; the one part of it all that a body in motion has anew each frame."""
    tree = cKDTree(x[0, ends], balanced_tree=False, compact_nodes=False)  # built in a third of the time
    pairs = ends[tree.query_pairs(SEAM_GAP, output_type="ndarray")]
    one, other = pairs[np.lexsort(pairs.T)].T
    stay = (np.linalg.norm(x[:, one] - x[:, other], axis=2) <= SEAM_GAP).all(axis=0)
    return one[stay], other[stay]


@remembered(8, lambda triangles, border, one, other: (triangles, border, one, other))
def _sewn(triangles: np.ndarray, border: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """`sew_borders` where vertices `one` (k,) lie on the `other`."""
    vertex_count = int(triangles.max()) + 1
    _, place = same_places(one, other, vertex_count)
    start, end = place[border].T.astype(np.int64)
    edge, partner = _partners(start * vertex_count + end, end * vertex_count + start)
    ones = np.concatenate([border[edge, 0], border[edge, 1]])
    others = np.concatenate([border[partner, 1], border[partner, 0]])
    first, joined = same_places(ones, others, vertex_count)
    kept = first[joined]
    sewn = kept[triangles]
    # a needle that would lose a corner stays as it is
    needles = (sewn == np.roll(sewn, 1, axis=1)).any(axis=1)
    kept[triangles[needles]] = triangles[needles]
    return kept[triangles].astype(triangles.dtype)


def _partners(forth: np.ndarray, back: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges, and those that run back between the same places, where there is one of each."""
    order = np.argsort(forth, kind="stable")
    ordered = forth[order]
    first, after = (np.searchsorted(ordered, back, side) for side in ("left", "right"))
    alone = np.searchsorted(ordered, forth, "right") - np.searchsorted(ordered, forth, "left") == 1
    one = np.flatnonzero((after - first == 1) & alone & (forth != back))
    return one, order[first[one]]


def same_places(ones: np.ndarray, others: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Of `count` vertices, of which `ones` (k,) belong to the `others`: the first of each set, and (count,) each one's set."""
    graph = coo_array((np.ones(len(ones), np.int8), (ones, others)), shape=(count, count))
    _, own = connected_components(graph, directed=False)
    _, first, own = np.unique(own, return_index=True, return_inverse=True)
    return first, own
