# SPDX-License-Identifier: GPL-3.0-or-later
"""The nouns of a pattern, and what no garment is made of."""

from typing import NamedTuple

import numpy as np

FARTHEST = 100.0  # [m] from the origin that anything of a pattern may lie
SHORTEST_LINE = 1e-5  # [m]
MOST_PANELS, MOST_LINES = 1000, 2000  # of a pattern, of a panel


class Panel(NamedTuple):
    """A piece of cloth as it is cut. Seen from its outside, its outline goes round counter-clockwise."""

    name: str
    lines: tuple[
        np.ndarray, ...
    ]  # each (k, 2) [m] closely spaced, from corner to corner; the next begins where it ends
    place: np.ndarray  # (4, 4): from the panel's plane, z = 0, to the world [m], z up
    grain: np.ndarray  # (2,) direction of its warp, of length 1
    folds: tuple[np.ndarray, ...] = ()  # each (k, 2) [m], lines within it along which it may be folded
    holes: tuple[
        tuple[np.ndarray, ...], ...
    ] = ()  # of each cut-out its lines, as those of the outline, either way round


class Side(NamedTuple):
    """One line of a panel."""

    panel: int
    line: int


class Stitch(NamedTuple):
    """Two lines sewn to each other: the end of one to the beginning of the other, as the outsides of panels meet."""

    one: Side
    other: Side
    is_turned: bool = (
        False  # the end of one to the end of the other, the inside of one panel to the outside of the other
    )


class Pattern(NamedTuple):
    """What a garment is sewn from."""

    panels: tuple[Panel, ...]
    stitches: tuple[Stitch, ...]


def check(panel: Panel) -> Panel:
    """The panel, if it can be cut.

    Raises
    ------
    ValueError
        A line has no length or lies too far away, the outline encloses nothing, or a cut-out lies outside it or in another one: a
        sentence with panel and line.
    """
    for number, line in enumerate(panel.lines):
        where = f"panel '{panel.name}', edge {number}"
        if not (np.isfinite(line).all() and np.abs(line).max() <= FARTHEST):
            raise ValueError(f"{where} reaches farther than {FARTHEST:g} m; check its numbers, and the file's units")
        if length(line) < SHORTEST_LINE:
            raise ValueError(f"{where} has no length; leave it out")
    if not (np.isfinite(panel.place).all() and np.abs(panel.place[:3, 3]).max() <= FARTHEST):
        raise ValueError(f"panel '{panel.name}' stands farther away than {FARTHEST:g} m; check its translation")
    ring = outline(panel)
    if abs(area(ring)) < SHORTEST_LINE * np.ptp(ring, axis=0).max():
        raise ValueError(f"panel '{panel.name}' encloses no area; check its vertices")
    holes = [ring_of(lines) for lines in panel.holes]
    for number, hole in enumerate(holes, 1):
        if not is_inside(hole, ring, after(ring)).all():
            raise ValueError(
                f"panel '{panel.name}': its cut-out {number} reaches outside the outline; move it inside, or leave it out"
            )
        for other, around in enumerate(holes, 1):
            if other != number and is_inside(hole, around, after(around)).any():
                raise ValueError(f"panel '{panel.name}': its cut-outs {number} and {other} overlap; make one of both")
    return panel


def outline(panel: Panel) -> np.ndarray:
    """(k, 2) the closed line about a panel, without its first point again."""
    return ring_of(panel.lines)


def ring_of(lines) -> np.ndarray:
    """(k, 2) the closed line that lines make from corner to corner, without its first point again."""
    return np.concatenate([line[:-1] for line in lines])


def after(ring: np.ndarray) -> np.ndarray:
    """The point that follows each of a ring's (k, 2)."""
    return np.roll(ring, -1, axis=0)


def is_inside(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Which points lie inside rings whose sides go from `start` to `end` (k, 2), and in no ring within these: those from which a
    ray crosses sides an odd number of times.
    """
    inside = np.zeros(len(points), bool)
    x, y = points.T
    for (ax, ay), (bx, by) in zip(start, end, strict=True):
        if ay != by:
            rows = np.flatnonzero((ay > y) != (by > y))
            inside[rows] ^= x[rows] < (bx - ax) * (y[rows] - ay) / (by - ay) + ax
    return inside


def area(ring: np.ndarray) -> float:
    """Area [m2] of a ring (k, 2), below 0 where it goes round clockwise (the shoelace formula)."""
    x, y = (ring - ring[0]).T
    return 0.5 * float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum())


def length(line: np.ndarray) -> float:
    """Length [m] of a line (k, 2)."""
    return float(np.hypot(*np.diff(line, axis=0).T).sum())


def along(line: np.ndarray, count: int) -> np.ndarray:
    """`count` + 1 points of a line (k, 2) at even parts of its length, the first and last those of the line."""
    way = np.append(0.0, np.hypot(*np.diff(line, axis=0).T).cumsum())
    at = np.linspace(0.0, way[-1], count + 1)
    points = np.column_stack([np.interp(at, way, coordinate) for coordinate in line.T])
    points[0], points[-1] = line[0], line[-1]
    return points
