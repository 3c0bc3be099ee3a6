# SPDX-License-Identifier: GPL-3.0-or-later
"""Untangle: garments out of bodies, out of each other in the order of their layers, and out of themselves.

    x  <-  mend(x, nest(x) - x)      the order of layers, all at once
    x  <-  mend(x, ease(x))          what still crosses, in small steps, as long as that helps

Each proposes a move, and `mend` lets happen what of it does no harm. Kept is the state in which least crosses, of those in
which no kind (two garments, a garment and itself, a garment and a body) crosses more than in the beginning.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from . import ALLOWED_STRETCH, DEFAULT_DEPTH
from .ease import ease, find_wanted
from .mend import Bounds, Cloud, make_cloud, mend
from .nest import Shape, Worn, nest
from .surface import make_surface
from .whole import Crossing, Whole, count_kinds, find_crossing, make_whole

EASINGS = 60  # steps at most
SLACK = (
    0.2  # part of what crosses of a kind that may come to it on the way: a contour that moves has now more, now less
)
PATIENCE = 4  # steps after which it is given up, if none of them has left
WORTH_EASING = 0.95  # part of the pairs that the best before had


class Untangled(NamedTuple):
    """What came out."""

    x: list[np.ndarray]  # (n, 3) [m] of each garment
    moved_count: int  # vertices
    farthest: float  # [m] that one of them went
    stretch_median: float  # length over length before, of edges of which an end moved, less 1, in size
    stretch_worst: float
    before: dict[tuple[int, int], int]  # pairs of triangles that crossed, by garments and, after them, bodies
    after: dict[tuple[int, int], int]  # that still do

    @property
    def crossing_count(self) -> int:
        """Pairs of triangles that still cross."""
        return sum(self.after.values())


def untangle(
    garments: list[Worn],
    bodies: list[Shape],
    depth: float = DEFAULT_DEPTH,
    meets: np.ndarray | None = None,
    stretch: float = ALLOWED_STRETCH,
) -> Untangled:
    """All of `rounds` at once."""
    found = rounds(garments, bodies, depth, meets, stretch)
    try:
        while True:
            next(found)
    except StopIteration as end:
        return end.value


def rounds(
    garments: list[Worn],
    bodies: list[Shape],
    depth: float = DEFAULT_DEPTH,
    meets: np.ndarray | None = None,
    stretch: float = ALLOWED_STRETCH,
    nested: bool = True,
) -> Iterator[int]:
    """Take garments apart; yields how many pairs of triangles cross now, some tenths of a second apart, and returns `Untangled`.

    Parameters
    ----------
    garments : in any order
    bodies : they stay where they are
    depth : [m] how deep layers may be in each other; what is deeper is taken to be apart, as a sleeve and a vest
    meets : (g, g + b) bool, which garments are to be outside of each other, themselves and bodies; None: all
    stretch : part of its length that an edge may get longer or shorter by; inf: any
    nested : whether layers are put in their order and at their distance first; otherwise only what crosses is eased apart

    Raises
    ------
    ValueError
        A garment has no outside: names it and what to do.
    """
    count = len(garments)
    meets = np.ones((count, count + len(bodies)), bool) if meets is None else meets
    origin = np.concatenate([garment.x for garment in garments]).mean(axis=0)
    whole, x = _gather(garments, bodies, meets, origin)
    now = start = kept = find_crossing(whole, x)
    cloud = make_cloud(whole, start)
    counts = count_kinds(whole, start.pairs)
    bounds = Bounds(stretch, counts)
    yield len(now.pairs)
    if nested:
        now = _nested(whole, cloud, now, bounds, (garments, bodies, depth, meets), origin)
        kept = _better(whole, now, kept, counts)
        yield len(now.pairs)
    kept = yield from eased(whole, cloud, now, kept, bounds)
    moved, parts = (kept.x != start.x).any(axis=1), _parts(whole)
    placed = [np.where(moved[p, None], kept.x[p] + origin, g.x) for p, g in zip(parts, garments, strict=True)]
    return _result(whole, start, kept, placed)


def eased(
    whole: Whole, cloud: Cloud, now: Crossing, kept: Crossing, bounds: Bounds, out_of_bodies: bool = True
) -> Iterator[int]:
    """Ease apart what crosses now, as long as that helps; yields how many pairs of triangles cross, and returns the better of what
    comes out and what was kept.

    Parameters
    ----------
    bounds : with the numbers of pairs of each kind that may cross in the end
    out_of_bodies : whether cloth is drawn out of bodies, too; otherwise it only gets no farther into them
    """
    most = bounds.counts
    bounds = bounds._replace(counts=np.ceil((1.0 + SLACK) * most))
    idle, least, wanted = 0, len(kept.pairs), find_wanted(whole, now) if len(now.pairs) else None
    for _ in range(EASINGS):
        wrong = now if out_of_bodies else between_garments(whole, now)
        if not len(wrong.pairs) or idle == PATIENCE:
            break
        now = mend(whole, cloud, ease(whole, cloud, wrong, wanted), bounds, now)
        kept = _better(whole, now, kept, most)
        is_worth = len(kept.pairs) < WORTH_EASING * least
        idle, least = (0, len(kept.pairs)) if is_worth else (idle + 1, least)
        yield len(now.pairs)
    return kept


def between_garments(whole: Whole, crossing: Crossing) -> Crossing:
    """What of it is of garments alone."""
    return crossing._replace(pairs=crossing.pairs[(whole.owner[crossing.pairs] < whole.garment_count).all(axis=1)])


def crossing_kinds(garments: list[Worn], bodies: list[Shape], meets: np.ndarray) -> dict[tuple[int, int], int]:
    """Pairs of triangles that cross, by garments and, after them, bodies; as `rounds` counts them."""
    whole, x = _gather(garments, bodies, meets, np.concatenate([garment.x for garment in garments]).mean(axis=0))
    return _by_kinds(whole, find_crossing(whole, x))


def _parts(whole: Whole) -> list[slice]:
    """The vertices of each garment."""
    ends = whole.garment_start[: whole.garment_count + 1]
    return [slice(*both) for both in zip(ends[:-1], ends[1:], strict=True)]


def _nested(whole: Whole, cloud: Cloud, now: Crossing, bounds: Bounds, about, origin) -> Crossing:
    """What is so once garments are nested: `about` is what `nest` is told, as of before anything was moved."""
    garments, bodies, depth, meets = about
    worn = [g._replace(x=now.x[part] + origin) for g, part in zip(garments, _parts(whole), strict=True)]
    move = np.concatenate([x - g.x for x, g in zip(nest(worn, bodies, depth, meets), worn, strict=True)])
    return mend(whole, cloud, move, bounds, now) if move.any() else now


def _better(whole: Whole, now: Crossing, kept: Crossing, most) -> Crossing:
    """What is so now, if less crosses and of no kind more than `most`, else what was kept."""
    is_better = len(now.pairs) <= len(kept.pairs) and (count_kinds(whole, now.pairs) <= most).all()
    return now if is_better else kept


def _gather(garments, bodies, meets, origin) -> tuple[Whole, np.ndarray]:
    """All as one, and where its vertices are."""
    count, everything = len(garments), [*garments, *bodies]
    surfaces = [make_surface(one.name, one.x - origin, one.triangles, None) for one in everything]
    meeting = np.zeros((count + len(bodies),) * 2, bool)
    meeting[:count], meeting[count:, :count] = meets, meets[:, count:].T
    whole = make_whole(surfaces, count, [1.0 / garment.rigidity for garment in garments], meeting)
    return whole, np.concatenate([surface.x for surface in surfaces])


def _result(whole, start, kept, placed) -> Untangled:
    edges, moved = whole.edges, (kept.x != start.x).any(axis=1)
    touched = moved[edges].any(axis=1)
    now = np.linalg.norm(kept.x[edges[touched, 0]] - kept.x[edges[touched, 1]], axis=1)
    changes = np.abs(now / whole.rest_length[touched] - 1.0) if touched.any() else np.zeros(1)
    went = float(np.linalg.norm(kept.x - start.x, axis=1).max())
    before, after = (_by_kinds(whole, crossing) for crossing in (start, kept))
    return Untangled(placed, int(moved.sum()), went, float(np.median(changes)), float(changes.max()), before, after)


def _by_kinds(whole, crossing) -> dict[tuple[int, int], int]:
    counts = count_kinds(whole, crossing.pairs)[0]
    return {tuple(map(int, divmod(kind, len(whole.meets)))): int(n) for kind, n in enumerate(counts) if n}
