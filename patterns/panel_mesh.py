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

from .panel import Panel, Pattern, along, area, is_inside, length, outline

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
    folds: np.ndarray  # (k, 2) edges that lie along internal lines


def mesh(pattern: Pattern, edge: float) -> PatternMesh:
    """The mesh of a pattern, with edges about `edge` [m] long.

    Raises
    ------
    ValueError
        It would be too large, or an outline crosses itself: a sentence with panel and edges.
    """
    counts = _counts(pattern, edge)
    _refuse_large(pattern, counts, edge)
    rims, parts, folds, first = [], [], [], 0
    for panel, own in zip(pattern.panels, counts, strict=True):
        points, triangles, starts, folded = _panel(panel, own, edge)
        folds.append(folded + first)
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
        folds=np.concatenate(folds),
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
    within = [(*panel.folds, *(line for hole in panel.holes for line in hole)) for panel in pattern.panels]
    count += sum(length(line) for lines in within for line in lines) / edge
    if count > MOST_VERTICES:
        fitting = 1.1 * edge * np.sqrt(count / MOST_VERTICES)
        raise ValueError(
            f"with edges of {1e3 * edge:g} mm the garment would have about {count:,.0f} vertices, more than "
            f"{MOST_VERTICES:,}; use an Edge Length of {1e3 * fitting:.2g} mm or more"
        )


def _panel(panel: Panel, counts: list[int], edge: float):
    """Points (n, 2) of a panel, the outline and then cut-outs first; triangles that go round as its outline does; where lines begin; edges
    that lie along internal lines, (k, 2).
    """
    lines = [along(line, count)[:-1] for line, count in zip(panel.lines, counts, strict=True)]
    ring, starts = np.concatenate(lines), np.cumsum([0, *counts[:-1]])
    if len(ring) < 3:
        raise ValueError(f"panel '{panel.name}' has fewer than three corners at this Edge Length; use a shorter one")
    holes = [_rim_of_hole(hole, edge) for hole in panel.holes]
    rim, walls = np.concatenate([ring, *holes]), _walls([len(ring), *map(len, holes)])
    numbers = [*range(len(counts)), *range(-1, -len(holes) - 1, -1)]
    _refuse_crossing(panel.name, rim, walls, np.repeat(numbers, [*counts, *map(len, holes)]))
    rim[: len(ring)] = _at_ends_of_folds(panel, ring, starts, edge)
    fixed, folds = _folded(panel, rim, walls, edge)
    grid = _grid(panel, rim, walls, edge)
    if len(fixed) > len(rim) and len(grid):
        grid = grid[cKDTree(fixed[len(rim) :]).query(grid)[0] > RIM * edge]
    points = np.concatenate([fixed, grid])
    triangles = _triangulated(panel, points, len(ring), walls, folds)
    sides = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1) @ (len(points), 1)
    return points, triangles, starts, folds[np.isin(folds @ (len(points), 1), sides)]


def _rim_of_hole(lines, edge: float) -> np.ndarray:
    """(k, 2) points about a cut-out, of which three make the smallest."""
    least = 3 if len(lines) == 1 else 2 if len(lines) == 2 else 1
    return np.concatenate([along(line, max(round(length(line) / edge), least))[:-1] for line in lines])


def _walls(counts: list[int]) -> np.ndarray:
    """(n, 2) sides of rings of so many points each, one behind the other."""
    firsts = np.cumsum([0, *counts[:-1]])
    return np.concatenate(
        [
            first + np.column_stack([np.arange(n), (np.arange(n) + 1) % n])
            for first, n in zip(firsts, counts, strict=True)
        ]
    )


def _at_ends_of_folds(panel: Panel, ring: np.ndarray, starts: np.ndarray, edge: float) -> np.ndarray:
    """The outline (k, 2) with a vertex moved along it, by up to half an edge, to where an internal line ends at it; corners stay."""
    ring, is_free = ring.copy(), np.ones(len(ring), bool)
    is_free[starts] = False
    for end in [line[k] for line in panel.folds for k in (0, -1)]:
        k = int(np.hypot(*(ring - end).T).argmin())
        beside = ring[[k - 1, (k + 1) % len(ring)]] - ring[k]
        part = np.clip(((end - ring[k]) * beside).sum(axis=1) / (beside**2).sum(axis=1), 0.0, RIM)
        foot = ring[k] + part[:, None] * beside
        away = np.hypot(*(foot - end).T)
        if is_free[k] and away.min() <= RIM * edge:
            ring[k], is_free[k] = foot[away.argmin()], False
    return ring


def _folded(panel: Panel, rim: np.ndarray, walls: np.ndarray, edge: float):
    """The rim's points and those of internal lines behind them, and the edges (k, 2) between these, the lower number first.

    A line ends at the rim's nearest point. What would cross an edge is left out: of two lines that cross each other one has a gap.
    """
    points, pairs = rim, [np.zeros((0, 2), np.int64)]
    for line in panel.folds:
        new = along(line, max(round(length(line) / edge), 1))
        away, number = cKDTree(points).query(new)
        own = (away > RIM * edge) & is_inside(new, *rim[walls.T])
        number = np.where(own, len(points) + np.cumsum(own) - 1, np.where(away <= RIM * edge, number, -1))
        points = np.concatenate([points, new[own]])
        pairs.append(np.sort(np.column_stack([number[:-1], number[1:]]), axis=1))
    pairs = np.concatenate(pairs)
    pairs = pairs[(pairs[:, 0] >= 0) & (pairs[:, 0] < pairs[:, 1])]
    known = np.concatenate([np.sort(walls, axis=1), pairs]) @ (len(points), 1)
    _, first = np.unique(known, return_index=True)
    pairs = pairs[np.sort(first[first >= len(walls)]) - len(walls)]
    pairs = pairs[is_inside(points[pairs].mean(axis=1), *rim[walls.T])]
    return points, pairs[_apart(points, walls, pairs)]


def _apart(points: np.ndarray, walls: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """(k,) bool: edges (k, 2) between points that cross neither an edge of the `walls` (w, 2) nor one before that stays itself."""
    known = np.concatenate([walls, pairs])
    ends = points[known]
    half = 0.5 * np.hypot(*(ends[:, 1] - ends[:, 0]).T)
    near = cKDTree(ends.mean(axis=1)).query_pairs(2.0 * half.max() + TOLERANCE, output_type="ndarray")
    near = near[near[:, 1] >= len(walls)]
    one, other = near[(known[near[:, 0], :, None] != known[near[:, 1], None]).all(axis=(1, 2))].T
    (a, b), (c, d) = (ends[which].transpose(1, 0, 2) for which in (other, one))
    crosses = (_side(a, b, c) > 0) != (_side(a, b, d) > 0)
    crosses &= (_side(c, d, a) > 0) != (_side(c, d, b) > 0)
    is_out, order = np.zeros(len(known), bool), np.argsort(other[crosses], kind="stable")
    for before, after in zip(one[crosses][order].tolist(), other[crosses][order].tolist(), strict=True):
        is_out[after] |= not is_out[before]
    return ~is_out[len(walls) :]


def _refuse_crossing(name: str, rim: np.ndarray, walls: np.ndarray, line: np.ndarray) -> None:
    """ValueError that names two lines of a rim (k, 2) that cross or touch each other; `line` (k,) of each of the `walls` (k, 2), below 0
    that of a cut-out.
    """
    a, b = rim[walls.T]
    middle, half = 0.5 * (a + b), 0.5 * np.hypot(*(b - a).T)
    tree = cKDTree(middle)
    pairs = tree.query_pairs(2.0 * half.max() + TOLERANCE, output_type="ndarray")
    one, other = pairs[(walls[pairs[:, 0]] != walls[pairs[:, 1], ::-1]).all(axis=1)].T  # but for neighbours
    sides = [
        _side(a[one], b[one], a[other]), _side(a[one], b[one], b[other]),
        _side(a[other], b[other], a[one]), _side(a[other], b[other], b[one]),
    ]  # fmt: skip
    crossing = (sides[0] * sides[1] <= 0.0) & (sides[2] * sides[3] <= 0.0) & ~np.all(np.array(sides) == 0.0, axis=0)
    near = np.hypot(*(a[one] - a[other]).T) <= TOLERANCE
    if (crossing | near).any():
        first = np.flatnonzero(crossing | near)[0]
        both = line[one[first]], line[other[first]]
        where = f"its outline crosses itself where edges {both[0]} and {both[1]} meet"
        if min(both) < 0:
            words = (f"edge {number}" if number >= 0 else f"cut-out {-number}" for number in both)
            where = f"{' and '.join(words)} meet"
        raise ValueError(f"panel '{name}': {where}; move their vertices apart, or use a shorter Edge Length")


def _side(a, b, p):
    return (b[:, 0] - a[:, 0]) * (p[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (p[:, 0] - a[:, 0])


def _grid(panel: Panel, rim: np.ndarray, walls: np.ndarray, edge: float) -> np.ndarray:
    """(k, 2) points inside a rim, in rows across the warp."""
    along_warp = panel.grain
    across = np.array([along_warp[1], -along_warp[0]])
    frame = np.column_stack([across, along_warp])
    turned = rim @ frame
    low, high = turned.min(axis=0), turned.max(axis=0)
    rows = np.arange(low[1], high[1], edge * ROW)
    columns = np.arange(low[0], high[0] + edge, edge)
    u = columns[None, :] + 0.5 * edge * (np.arange(len(rows)) % 2)[:, None]
    grid = np.column_stack([u.ravel(), np.repeat(rows, len(columns))])
    start, end = turned[walls.T]
    grid = grid[is_inside(grid, start, end)]
    close = np.concatenate([start + (end - start) * (k / CLOSER) for k in range(CLOSER)])
    if len(grid):
        grid = grid[cKDTree(close).query(grid)[0] > RIM * edge]
    return grid @ frame.T


def _triangulated(panel: Panel, points: np.ndarray, count: int, walls: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """(t, 3) triangles of the points (n, 2) inside the ring that the first `count` of them make, in its direction, and outside those that
    the `walls` (k, 2) behind it do, with the edges `folds` (k, 2).
    """
    is_left = area(points[:count]) > 0.0
    face = list(range(count))
    edges = np.concatenate([folds, walls[count:]]).tolist()
    middle = points.mean(axis=0)  # single precision, which the triangulation has, is finer there
    found, _, faces, origins, *_ = delaunay_2d_cdt(
        (points - middle).tolist(), edges, [face if is_left else face[::-1]], 1, TOLERANCE
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
    if len(walls) > count:
        triangles = triangles[is_inside(points[triangles].mean(axis=1), *points[walls.T])]
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
