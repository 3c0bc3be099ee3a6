# SPDX-License-Identifier: GPL-3.0-or-later
"""Garments of baked frames out of bodies, each other and themselves, frame by frame (Buffet 2021, 2.5.5), and not by jumps.

    u  <-  untangle(x) - x               in each frame that counts and in which something crosses
    v  <-  mean of u over frames         what is moved comes and goes
    w  <-  untangle(x + v) - x           for where less than all of u, or that of other frames, leaves something crossing
    of w, u and nothing the first that lets nothing more cross than was baked

The thesis projects each frame for itself onto the layers' fields, and tells of the sudden moves that follow (its conclusion).
Here what crosses is eased apart by its contours alone: fields would put layers at their distance wherever they lie, in one
frame and not in the next.
"""

from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from ..untangle import DEFAULT_DEPTH
from ..untangle.apart import Untangled, crossing_kinds, rounds
from ..untangle.nest import Shape, Worn
from .smooth import TAIL, in_time


class Cast(NamedTuple):
    """Garments, and the bodies that they meet, in the same frames."""

    worn: list[Worn]  # where they are does not count
    x: list[np.ndarray]  # (f, n, 3) [m] of each garment
    shapes: list[Shape]  # bodies; where they are does not count
    body_x: list[np.ndarray]  # (f, m, 3) [m] of each body
    meets: np.ndarray  # (g, g + b) bool, as in `untangle.apart`
    counts: np.ndarray  # (f,) bool: frames to work on; the others are moved along
    triangles: list[list[np.ndarray]] | None = (
        None  # (t, 3) of each garment in each frame, if they are not those of `worn` in all
    )


class Apart(NamedTuple):
    """What came out."""

    moved: list[np.ndarray]  # (f, n, 3) [m] displacements of each garment, 0 where nothing goes
    before: np.ndarray  # (f,) pairs of triangles that crossed, 0 in frames that do not count
    after: np.ndarray  # (f,) that still do


class _Frame(NamedTuple):
    """Displacements of all garments in a frame, one after the other, and what crosses with them, by kinds."""

    moved: np.ndarray  # (n, 3) [m]
    crossing: dict[tuple[int, int], int]


def take_apart(cast: Cast, stretch: float, width: float, opens: bool, ends: bool) -> Generator[float, None, Apart]:
    """Displacements that take garments apart; yields what part of the work is done.

    Parameters
    ----------
    stretch : part of its length that an edge may get longer or shorter by, each of the two times that a frame is worked on
    width : [frames] standard deviation of the mean over frames
    opens, ends : whether the frame before the first, and that behind the last, is not to be moved
    """
    count, before, first = len(cast.counts), [], []
    for frame in range(count):
        yield 0.5 * frame / count
        none = np.zeros_like(_places(cast, frame))
        if not cast.counts[frame]:
            before.append(_crossing(cast, frame, none))
            first.append(_Frame(none, before[-1]))
            continue
        found = yield from _untangled(cast, frame, none, stretch, 0.5 * frame / count)
        first.append(found[0])
        before.append(found[1])
    eased = _mean(np.stack([frame.moved for frame in first]), width, opens, ends)
    moved, after = [], np.zeros(count, int)
    for frame in range(count):
        share = 0.5 + 0.5 * frame / count
        yield share
        chosen = yield from _chosen(cast, frame, eased[frame], first[frame], before[frame], stretch, share)
        moved.append(chosen.moved)
        after[frame] = sum(chosen.crossing.values()) if cast.counts[frame] else 0
    own = np.split(np.stack(moved), np.cumsum([x.shape[1] for x in cast.x])[:-1], axis=1)
    crossed = np.array(
        [sum(kinds.values()) if counts else 0 for kinds, counts in zip(before, cast.counts, strict=True)]
    )
    return Apart(own, crossed, after)


def _chosen(cast, frame, eased, first: _Frame, before, stretch, share):
    """Steps: of what can be done with a frame the first that lets nothing more cross than before."""
    if not eased.any():
        return first
    if cast.counts[frame]:
        second, _ = yield from _untangled(cast, frame, eased, stretch, share)
    else:
        second = _Frame(eased, _crossing(cast, frame, eased))
    fits = all(number <= before.get(kind, 0) for kind, number in second.crossing.items())
    if fits and sum(second.crossing.values()) <= sum(first.crossing.values()):
        return second
    return first


def _mean(moved: np.ndarray, width: float, opens: bool, ends: bool) -> np.ndarray:
    """Displacements (f, n, 3) as means over frames, with none in frames that are not to be moved."""
    pad = int(TAIL * width + 0.5)
    about = (pad if opens else 0, pad if ends else 0), (0, 0), (0, 0)
    found = in_time(np.pad(moved, about), width)
    return found[about[0][0] : len(found) - about[0][1]]


def _places(cast: Cast, frame: int) -> np.ndarray:
    return np.concatenate([x[frame] for x in cast.x])


def _posed(cast: Cast, frame: int, moved: np.ndarray):
    """Garments, moved, and bodies in a frame."""
    own = np.split(moved, np.cumsum([x.shape[1] for x in cast.x])[:-1])
    every = cast.triangles or [[w.triangles] * len(cast.counts) for w in cast.worn]
    each = zip(cast.worn, cast.x, own, every, strict=True)
    worn = [w._replace(x=x[frame] + part, triangles=triangles[frame]) for w, x, part, triangles in each]
    return worn, [s._replace(x=x[frame]) for s, x in zip(cast.shapes, cast.body_x, strict=True)]


def _crossing(cast: Cast, frame: int, moved) -> dict[tuple[int, int], int]:
    return crossing_kinds(*_posed(cast, frame, moved), cast.meets)


def _untangled(cast: Cast, frame: int, moved, stretch: float, share: float):
    """Steps: a frame whose garments are moved so and then taken apart; and what crossed before that, by kinds."""
    worn, shapes = _posed(cast, frame, moved)
    found: Untangled = yield from _shares(rounds(worn, shapes, DEFAULT_DEPTH, cast.meets, stretch, nested=False), share)
    return _Frame(np.concatenate(found.x) - _places(cast, frame), found.after), found.before


def _shares(steps, share: float):
    """These steps, each of which yields the same share of the work."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
        yield share
