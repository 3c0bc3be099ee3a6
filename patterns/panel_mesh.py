# SPDX-License-Identifier: GPL-3.0-or-later
"""Panels as one mesh of even triangles, with a vertex to a vertex along each seam.

Lines are cut into even parts; lines that are sewn to each other into as many, however long each is, so that the longer one
gathers. Inside lie the points of an equilateral grid along the warp, and Blender's constrained Delaunay triangulation
joins them.
"""

from typing import NamedTuple

import numpy as np
from mathutils.geometry import delaunay_2d_cdt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from .panel import Panel, Pattern, along, area, length, outline

MOST_VERTICES = 400_000  # of a garment
RIM = 0.6  # of an edge: no point of the grid is nearer to the outline
CLOSER = 4  # times as close as its vertices, points of the outline that keep the grid away
ROW = np.sqrt(0.75)  # height of an equilateral triangle
GAP = 0.05  # [m] between panels that are laid out flat
TOLERANCE = 1e-7  # [m] within which the triangulation takes points for one


class PatternMesh(NamedTuple):
    """A garment's panels as a mesh."""

    x: np.ndarray  # (n, 3) [m] where the panels stand
    flat: np.ndarray  # (n, 2) [m] laid out beside each other, seen from outside, warp along u
    triangles: np.ndarray  # (t, 3) counter-clockwise seen from outside
    seams: np.ndarray  # (s, 2) vertices that are sewn together
    panel: np.ndarray  # (n,) number of each vertex's panel


def mesh(pattern: Pattern, edge: float) -> PatternMesh:
    """The mesh of a pattern, with edges about `edge` [m] long.

    Raises
    ------
    ValueError
        It would be too large, or an outline crosses itself: a sentence with panel and edges.
    """
    counts = _counts(pattern, edge)
    _refuse_large(pattern, counts, edge)
    rims, parts, first = [], [], 0
    for panel, own in zip(pattern.panels, counts, strict=True):
        points, triangles, starts = _panel(panel, own, edge)
        parts.append((panel, points, triangles + first))
        rims.append(
            [first + (start + np.arange(count + 1)) % sum(own) for start, count in zip(starts, own, strict=True)]
        )
        first += len(points)
    triangles = np.concatenate([triangles for _, _, triangles in parts])
    return PatternMesh(
        x=np.concatenate([_placed(panel, points) for panel, points, _ in parts]),
        flat=_laid_out([_turned(panel, points) for panel, points, _ in parts]),
        triangles=triangles,
        seams=_seams(pattern, rims, triangles),
        panel=np.repeat(np.arange(len(parts)), [len(points) for _, points, _ in parts]),
    )


def _counts(pattern: Pattern, edge: float) -> list[list[int]]:
    """Into how many parts each line of each panel is cut: all that are sewn to each other into as many."""
    starts = np.cumsum([0, *(len(panel.lines) for panel in pattern.panels)])
    lengths = np.array([length(line) for panel in pattern.panels for line in panel.lines])
    count = np.maximum(np.rint(lengths / edge), 1.0)
    ends = np.array([[starts[side.panel] + side.line for side in stitch[:2]] for stitch in pattern.stitches], int)
    ends = ends.reshape(-1, 2)
    graph = coo_array((np.ones(len(ends)), tuple(ends.T)), shape=(len(count), len(count)))
    _, group = connected_components(graph, directed=False)
    most = np.zeros(group.max() + 1)
    np.maximum.at(most, group, count)
    even = most[group]
    return [even[a:b].astype(np.int64).tolist() for a, b in zip(starts[:-1], starts[1:], strict=True)]


def _refuse_large(pattern, counts, edge) -> None:
    """Before anything large is made."""
    inside = sum(abs(area(outline(panel))) for panel in pattern.panels) / (ROW * edge**2)
    count = inside + sum(map(sum, counts))
    if count > MOST_VERTICES:
        fitting = 1.1 * edge * np.sqrt(count / MOST_VERTICES)
        raise ValueError(
            f"with edges of {1e3 * edge:g} mm the garment would have about {count:,.0f} vertices, more than "
            f"{MOST_VERTICES:,}; use an Edge Length of {1e3 * fitting:.2g} mm or more"
        )


def _panel(panel: Panel, counts: list[int], edge: float):
    """Points (n, 2) of a panel, the outline first; triangles that go round as its outline does; and where lines begin."""
    lines = [along(line, count)[:-1] for line, count in zip(panel.lines, counts, strict=True)]
    ring, starts = np.concatenate(lines), np.cumsum([0, *counts[:-1]])
    if len(ring) < 3:
        raise ValueError(f"panel '{panel.name}' has fewer than three corners at this Edge Length; use a shorter one")
    _refuse_crossing(panel.name, ring, np.repeat(np.arange(len(counts)), counts))
    points = np.concatenate([ring, _grid(panel, ring, edge)])
    return points, _triangulated(panel, points, ring), starts


def _refuse_crossing(name: str, ring: np.ndarray, line: np.ndarray) -> None:
    """ValueError that names two lines of an outline (k, 2) that cross or touch each other; `line` (k,) each part's."""
    a, b = ring, np.roll(ring, -1, axis=0)
    middle, half = 0.5 * (a + b), 0.5 * np.hypot(*(b - a).T)
    tree = cKDTree(middle)
    pairs = tree.query_pairs(2.0 * half.max() + TOLERANCE, output_type="ndarray")
    apart = (pairs[:, 1] - pairs[:, 0]) % len(ring)
    pairs = pairs[(apart > 1) & (apart < len(ring) - 1)]
    one, other = pairs.T
    sides = [
        _side(a[one], b[one], a[other]), _side(a[one], b[one], b[other]),
        _side(a[other], b[other], a[one]), _side(a[other], b[other], b[one]),
    ]  # fmt: skip
    crossing = (sides[0] * sides[1] <= 0.0) & (sides[2] * sides[3] <= 0.0) & ~np.all(np.array(sides) == 0.0, axis=0)
    near = np.hypot(*(a[one] - a[other]).T) <= TOLERANCE
    if (crossing | near).any():
        first = np.flatnonzero(crossing | near)[0]
        raise ValueError(
            f"panel '{name}': its outline crosses itself where edges {line[one[first]]} and {line[other[first]]} meet; "
            "move their vertices apart, or use a shorter Edge Length"
        )


def _side(a, b, p):
    return (b[:, 0] - a[:, 0]) * (p[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (p[:, 0] - a[:, 0])


def _grid(panel: Panel, ring: np.ndarray, edge: float) -> np.ndarray:
    """(k, 2) points inside an outline, in rows across the warp."""
    along_warp = panel.grain
    across = np.array([along_warp[1], -along_warp[0]])
    frame = np.column_stack([across, along_warp])
    turned = ring @ frame
    low, high = turned.min(axis=0), turned.max(axis=0)
    rows = np.arange(low[1], high[1], edge * ROW)
    columns = np.arange(low[0], high[0] + edge, edge)
    u = columns[None, :] + 0.5 * edge * (np.arange(len(rows)) % 2)[:, None]
    grid = np.column_stack([u.ravel(), np.repeat(rows, len(columns))])
    grid = grid[_inside(grid, turned)]
    ends = np.roll(turned, -1, axis=0)
    rim = np.concatenate([turned + (ends - turned) * (k / CLOSER) for k in range(CLOSER)])
    if len(grid):
        grid = grid[cKDTree(rim).query(grid)[0] > RIM * edge]
    return grid @ frame.T


def _inside(points: np.ndarray, ring: np.ndarray) -> np.ndarray:
    """Which points lie inside a ring: those from which a ray crosses it an odd number of times."""
    inside = np.zeros(len(points), bool)
    x, y = points.T
    for (ax, ay), (bx, by) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        if ay != by:
            rows = np.flatnonzero((ay > y) != (by > y))
            inside[rows] ^= x[rows] < (bx - ax) * (y[rows] - ay) / (by - ay) + ax
    return inside


def _triangulated(panel: Panel, points: np.ndarray, ring: np.ndarray) -> np.ndarray:
    """(t, 3) triangles of the points (n, 2) inside the ring that the first of them make, in its direction."""
    is_left = area(ring) > 0.0
    face = list(range(len(ring)))
    middle = points.mean(axis=0)  # single precision, which the triangulation has, is finer there
    found, _, faces, origins, *_ = delaunay_2d_cdt(
        (points - middle).tolist(), [], [face if is_left else face[::-1]], 1, TOLERANCE
    )
    number = np.array([own[0] if own else -1 for own in origins])
    if len(found) != len(points) or (number < 0).any():
        raise ValueError(
            f"panel '{panel.name}': its outline touches itself; move its vertices apart, or use a shorter Edge Length"
        )
    triangles = number[np.array(faces, np.int64).reshape(-1, 3)]
    a, b, c = (points[triangles[:, k]] for k in range(3))
    turned = (_side(a, b, c) > 0.0) != is_left
    triangles[turned] = triangles[turned][:, ::-1]
    return triangles


def _placed(panel: Panel, points: np.ndarray) -> np.ndarray:
    """(n, 3) [m] where a panel's points (n, 2) stand."""
    return points @ panel.place[:3, :2].T + panel.place[:3, 3]


def _turned(panel: Panel, points: np.ndarray) -> np.ndarray:
    """(n, 2) points seen from the panel's outside, its warp along u."""
    seen = 1.0 if area(outline(panel)) > 0.0 else -1.0
    across = np.array([-panel.grain[1], panel.grain[0]])
    return np.column_stack([points @ panel.grain, seen * (points @ across)])


def _laid_out(flats: list[np.ndarray]) -> np.ndarray:
    """(n, 2) all panels, in rows beside each other, none over another one."""
    sizes = np.array([np.ptp(flat, axis=0) for flat in flats])
    width = max(sizes[:, 0].max(), np.sqrt(1.5 * ((sizes + GAP).prod(axis=1)).sum()))
    laid, corner, highest = [], np.zeros(2), 0.0
    for flat, size in zip(flats, sizes, strict=True):
        if corner[0] > 0.0 and corner[0] + size[0] > width:
            corner, highest = np.array([0.0, corner[1] + highest + GAP]), 0.0
        laid.append(flat - flat.min(axis=0) + corner)
        corner = corner + [size[0] + GAP, 0.0]
        highest = max(highest, size[1])
    return np.concatenate(laid)


def _seams(pattern: Pattern, rims, triangles: np.ndarray) -> np.ndarray:
    """(s, 2) vertices that stitches join, each pair once, without those that a triangle joins already."""
    pairs = [np.zeros((0, 2), np.int64)]
    for stitch in pattern.stitches:
        one, other = (rims[side.panel][side.line] for side in stitch[:2])
        pairs.append(np.column_stack([one, other if stitch.is_turned else other[::-1]]))
    pairs = np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    sides = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    count = triangles.max() + 1
    return pairs[~np.isin(pairs @ (count, 1), sides @ (count, 1))]
