# SPDX-License-Identifier: GPL-3.0-or-later
"""A move that does no harm: made smooth where it would, and taken back where it still does.

Whoever proposes a move looks at single vertices and triangles (`nest`, `ease`), and would tear pockets, buttons and
folds apart: sheets of a garment that lie on each other belong together, and have to go together. So where a move makes edges
longer or shorter than is allowed, or makes something cross that did not, it is replaced by its mean over what of the
garment is near in space, whether by the mesh or not, over ever larger balls. What that leaves of edges is brought to the
limit one by one. Where that still makes something cross, the move is taken back, in ever larger patches, in the end in whole
connected parts: where nothing moves nothing gets worse.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ..geometry.edge_projection import project_edge
from ..kernel.jit import counted_fused
from .whole import Crossing, Whole, count_kinds, find_crossing, kinds_of, names_of

NEIGHBOURS = 32  # vertices of a garment that a mean is over
SMOOTHINGS = 10  # at most, each over larger balls
FIRST_BALL, LAST_BALL, BALL_GROWTH = 0.75, 2.5, 1.3  # edges: standard deviation of the mean's weight
PATCH_RINGS = 2  # of vertices round what is hurt, that a move is smoothed in
RETREATS = 0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32  # rings of vertices round what is hurt, in which a move is taken back
CONTOUR_RINGS = 2  # of vertices round what crosses itself, among which other triangles may come to cross
FOLD_RINGS = 8  # of vertices round what crosses itself, that go with what they hang on by the mesh alone,
SHEET_RINGS = 4  # by so many edges
LIMIT_SHARE = 0.8  # part of the allowed stretch that edges are brought to
LIMIT_SWEEPS = 40


class Bounds(NamedTuple):
    """What no state may go beyond."""

    stretch: float  # part of its length at first that an edge may be longer or shorter by
    counts: np.ndarray  # (2, o * o) pairs that cross of each kind, as from `count_kinds`


class Cloud(NamedTuple):
    """What is near each vertex of garments in space, itself included."""

    beside: np.ndarray  # (m, k) vertices of the same garment
    square: np.ndarray  # (m, k) square of the distance, in edges of the garment
    part: np.ndarray  # (m,) number of the connected part of a mesh


def make_cloud(whole: Whole, start: Crossing) -> Cloud:
    """What is near at the start. Where a garment crosses itself then, what hangs together by its mesh alone: sheets that
    are to go through each other do not go together.
    """
    x, owner, beside, square = start.x, whole.garment[whole.edges[:, 0]], [], []
    for garment in range(whole.garment_count):
        first, end = whole.garment_start[garment : garment + 2]
        count = min(NEIGHBOURS, end - first)
        lengths = whole.rest_length[owner == garment]
        edge = float(np.median(lengths)) if len(lengths) else 0.0
        distance, near = cKDTree(x[first:end]).query(x[first:end], k=[*range(1, count + 1)])
        lacking = (0, 0), (0, NEIGHBOURS - count)
        beside.append(np.pad(near + first, lacking, "edge"))
        square.append(np.pad((distance / max(edge, 1e-12)) ** 2, lacking, constant_values=np.inf))
    beside, square, count = np.concatenate(beside), np.concatenate(square), whole.garment_start[whole.garment_count]
    both = np.concatenate((whole.edges, whole.edges[:, ::-1]))
    links = coo_array((np.ones(len(both), np.int8), both.T), shape=(count, count)).tocsr()
    in_folds = np.flatnonzero(spread(whole, fold_corners(whole, start)[:count], FOLD_RINGS))
    if len(in_folds):
        reached = links[in_folds].astype(bool)
        for _ in range(SHEET_RINGS - 1):
            reached = (reached + reached @ links.astype(bool)).astype(bool)
        near = reached[np.repeat(np.arange(len(in_folds)), NEIGHBOURS), beside[in_folds].ravel()]
        apart = ~near.reshape(-1, NEIGHBOURS) & (beside[in_folds] != in_folds[:, None])
        square[in_folds] = np.where(apart, np.inf, square[in_folds])
    return Cloud(beside, square, connected_components(links, directed=False)[1])


def fold_corners(whole: Whole, crossing: Crossing) -> np.ndarray:
    """(n,) bool: corners of triangles that cross others of their garment."""
    found, pairs = np.zeros(len(whole.garment), bool), crossing.pairs
    found[whole.triangles[pairs[whole.owner[pairs[:, 0]] == whole.owner[pairs[:, 1]]]]] = True
    return found


def smooth(
    cloud: Cloud, values: np.ndarray, ball: float, rows=slice(None), counts: np.ndarray | None = None
) -> np.ndarray:
    """Means of values (m, c) round the vertices `rows`, over balls [edges] large.

    counts : (m,) bool, vertices that count; the mean fades where they are less than a sixth of what is near
    """
    weight = np.exp(-0.5 * cloud.square[rows] / ball**2)
    if counts is None:
        return np.einsum("mk,mkc->mc", weight / weight.sum(axis=1)[:, None], values[cloud.beside[rows]])
    total = weight.sum(axis=1)
    weight *= counts[cloud.beside[rows]]
    weight /= np.maximum(weight.sum(axis=1), total / 6.0)[:, None]
    return np.einsum("mk,mkc->mc", weight, values[cloud.beside[rows]])


def free_of(whole: Whole, move: np.ndarray) -> np.ndarray:
    """A move (m, 3) [m] of what can move: what has no inverse mass stays."""
    return np.where(whole.inv_mass[: len(move), None] > 0.0, move, 0.0)


def spread(whole: Whole, chosen: np.ndarray, rings: int) -> np.ndarray:
    """(m,) bool: the chosen vertices and those that so many edges lead to."""
    chosen = chosen.copy()
    for _ in range(rings):
        chosen[whole.edges[chosen[whole.edges].any(axis=1)]] = True
    return chosen


@counted_fused
def limit_kernel(edges, length, low, high, give, x):
    """Bring edges (e, 2) to no less than `low` and no more than `high` of their lengths (e,) [m], one after the other.
    40 bytes and 30 flops an edge and sweep. # outputs: x (n, 3) [m]
    """
    for _ in range(LIMIT_SWEEPS):
        moved = False
        for e in range(np.uintp(edges.shape[0])):
            i, j = np.uintp(edges[e, 0]), np.uintp(edges[e, 1])
            ux, uy, uz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            now = np.sqrt(ux * ux + uy * uy + uz * uz)
            wanted = min(max(now, low * length[e]), high * length[e])
            if now != wanted and now > 0.0:
                project_edge(x, i, j, give[i], give[j], ux, uy, uz, now, wanted)
                moved = True
        if not moved:
            break


class _Judge:
    """Says what a state hurts, against the one before."""

    def __init__(self, whole: Whole, bounds: Bounds, last: Crossing):
        self.whole, self.bounds, self.last, now = whole, bounds, last, last.pairs
        self._known = names_of(whole, now)
        self._beside_folds = spread(whole, fold_corners(whole, last), CONTOUR_RINGS)

    def hurt(self, x: np.ndarray) -> np.ndarray:
        """(n,) bool: ends of edges that are too long or too short, corners of what crosses and may not."""
        whole, found = self.whole, np.zeros(len(x), bool)
        if self.bounds.stretch < np.inf:
            length = np.linalg.norm(x[whole.edges[:, 0]] - x[whole.edges[:, 1]], axis=1)
            wrong = np.abs(length - whole.rest_length) > self.bounds.stretch * whole.rest_length
            found[whole.edges[wrong]] = True
        self.last = find_crossing(whole, x, self.last)
        pairs = self.last.pairs
        new = pairs[~np.isin(names_of(whole, pairs), self._known)]
        more = (count_kinds(whole, pairs) > self.bounds.counts).any(axis=0)
        is_fold = whole.owner[new[:, 0]] == whole.owner[new[:, 1]]
        beside = self._beside_folds[whole.triangles[new]].any(axis=2).all(axis=1)
        found[whole.triangles[new[more[kinds_of(whole, new)] | (is_fold & ~beside)]]] = True
        return found


def mend(whole: Whole, cloud: Cloud, move: np.ndarray, bounds: Bounds, last: Crossing) -> Crossing:
    """Where vertices are after as much of a move as does no harm.

    Parameters
    ----------
    move : (m, 3) [m] of garments
    last : where all is before it: a state without harm
    """
    count, judge, move, x = len(move), _Judge(whole, bounds, last), move.copy(), last.x
    for turn in range(SMOOTHINGS):
        after, move = x.copy(), free_of(whole, move)
        after[:count] += move
        _limit(whole, bounds, after)
        hurt = judge.hurt(after)[:count]
        if not hurt.any():
            return judge.last
        patch = spread(whole, hurt, PATCH_RINGS)
        share = smooth(cloud, patch[:, None].astype(float), FIRST_BALL)
        rows = np.flatnonzero(share[:, 0] > 0.0)
        ball = min(FIRST_BALL * BALL_GROWTH**turn, LAST_BALL)
        move[rows] += np.minimum(1.0, 2.0 * share[rows]) * (smooth(cloud, move, ball, rows) - move[rows])
    return _taken_back(whole, cloud, bounds, last, after, judge)


def _limit(whole, bounds, x) -> None:
    if bounds.stretch < np.inf:
        part = LIMIT_SHARE * bounds.stretch
        limit_kernel(whole.edges, whole.rest_length, 1.0 - part, 1.0 + part, whole.inv_mass, x)


def _taken_back(whole, cloud, bounds, last, after, judge) -> Crossing:
    """`after` where it does no harm."""
    count, x = len(cloud.part), last.x
    for rings in RETREATS:
        hurt = judge.hurt(after)[:count]
        if not hurt.any():
            return judge.last
        patch = spread(whole, hurt, rings)
        share = np.minimum(1.0, 2.0 * smooth(cloud, patch[:, None].astype(float), FIRST_BALL + min(rings, LAST_BALL)))
        after[:count] += share * (x[:count] - after[:count])
        _limit(whole, bounds, after)
    while (hurt := judge.hurt(after)[:count]).any():
        back = np.isin(cloud.part, cloud.part[hurt])
        if (after[:count][back] == x[:count][back]).all():  # the harm was there before
            return last
        after[:count][back] = x[:count][back]
    return judge.last
