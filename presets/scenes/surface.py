# SPDX-License-Identifier: GPL-3.0-or-later
"""From an implicit shape to a closed, evenly triangulated mesh. Numpy and scipy only; nothing random.

A shape is a list of `Part`s joined by a polynomial smooth minimum. `polygonise` samples it on a grid and draws
a dual surface ("surface nets": S. Gibson, Constrained Elastic Surface Nets, 1998, section 2); `remesh` lets
the dense vertices gather round fewer seeds and takes the dual of these clusters (S. Valette and J.-M. Chassery,
Approximated Centroidal Voronoi Diagrams for Uniform Polygonal Mesh Coarsening, 2004, section 4).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree


class Part(NamedTuple):
    """One piece of flesh: a distance function that matters inside a box only."""

    low: np.ndarray  # (3,) [m] box outside of which the part is farther than `blend` from every point
    high: np.ndarray  # (3,) [m]
    blend: float  # [m] width of the fillet between this part and those before it
    carve: bool  # taken away instead of added
    distance: Callable  # (n, 3) points [m] -> (n,) signed distance [m], negative inside


def loft(start, end, front, profile, blend=0.02):
    """Return a limb: elliptic sections along a straight axis, closed by rounded ends.

    `profile` is rows of (position along the axis 0..1, half width [m], half depth [m], shift to the front [m]);
    `front` (3,) is the direction of the depth, made perpendicular to the axis here.
    """
    start, end, front = (np.asarray(v, float) for v in (start, end, front))
    axis = end - start
    length = np.linalg.norm(axis)
    axis = axis / length
    front = front - axis * (front @ axis)
    front /= np.linalg.norm(front)
    side = np.cross(axis, front)
    table = _smooth_rows(np.asarray(profile, float))
    widest = table[:, 1:3].max() + np.abs(table[:, 3]).max()

    def distance(points):
        local = points - start
        along = local @ axis
        at = np.clip(along / length, 0.0, 1.0)
        width, depth, shift = (np.interp(at, table[:, 0], table[:, c]) for c in (1, 2, 3))
        over = (along - at * length) / np.minimum(width, depth)
        u = (local @ side) / width
        v = (local @ front - shift) / depth
        rho = np.sqrt(u * u + v * v + over * over)
        steep = np.sqrt((u / width) ** 2 + (v / depth) ** 2 + (over / np.minimum(width, depth)) ** 2)
        return rho * (rho - 1.0) / np.maximum(steep, 1e-9)

    reach = widest + 2.0 * blend + 0.02
    return Part(np.minimum(start, end) - reach, np.maximum(start, end) + reach, blend, False, distance)


def _smooth_rows(rows):
    """Return the rows of a profile resampled along Catmull-Rom curves, so that sections flow into each other."""
    at = rows[:, 0]
    slope = np.gradient(rows, at, axis=0, edge_order=1)
    fine = np.linspace(at[0], at[-1], 65)
    span = np.clip(np.searchsorted(at, fine, side="right") - 1, 0, len(at) - 2)
    step = (at[span + 1] - at[span])[:, None]
    t = (fine - at[span])[:, None] / step
    a, b = rows[span], rows[span + 1]
    ta, tb = slope[span] * step, slope[span + 1] * step
    out = (2 * t**3 - 3 * t**2 + 1) * a + (t**3 - 2 * t**2 + t) * ta + (3 * t**2 - 2 * t**3) * b + (t**3 - t**2) * tb
    out[:, 0] = fine
    return out


def capsule(start, end, radius_start, radius_end, blend=0.02):
    """Return a straight tube with round ends whose radius changes evenly from one end to the other."""
    front = (0.0, 1.0, 0.0) if abs(end[1] - start[1]) < 0.9 * np.linalg.norm(np.subtract(end, start)) else (0, 0, 1.0)
    rows = [(0.0, radius_start, radius_start, 0.0), (1.0, radius_end, radius_end, 0.0)]
    return loft(start, end, front, rows, blend)


def ellipsoid(centre, radii, blend=0.02, axes=None, carve=False):
    """Return an ellipsoid; `axes` (3, 3) holds the directions of its radii as rows (the world's by default)."""
    centre, radii = np.asarray(centre, float), np.asarray(radii, float)
    axes = np.eye(3) if axes is None else np.asarray(axes, float)

    def distance(points):
        local = (points - centre) @ axes.T
        rho = np.sqrt(((local / radii) ** 2).sum(1))
        steep = np.sqrt(((local / radii**2) ** 2).sum(1))
        return rho * (rho - 1.0) / np.maximum(steep, 1e-9)

    reach = radii.max() + 2.0 * blend + 0.02
    return Part(centre - reach, centre + reach, blend, carve, distance)


def ground(height, low, high, blend):
    """Return a carving half space below `height` [m], so that soles are flat; `low`, `high` bound its effect."""
    return Part(np.asarray(low, float), np.asarray(high, float), blend, True, lambda points: points[:, 2] - height)


def mirrored(part):
    """Return the part on the other side of the plane x = 0."""
    flip = np.array([-1.0, 1.0, 1.0])
    low, high = part.low * flip, part.high * flip
    return part._replace(
        low=np.minimum(low, high),
        high=np.maximum(low, high),
        distance=lambda points: part.distance(points * flip),
    )


def _joined(before, distance, part):
    sign = -1.0 if part.carve else 1.0
    a, b = sign * before, distance if not part.carve else distance
    near = np.maximum(part.blend - np.abs(a - b), 0.0) / part.blend
    return sign * (np.minimum(a, b) - near * near * part.blend * 0.25)


def distances(parts: Sequence[Part], points):
    """Return the signed distance (n,) [m] of points (n, 3) to the joined shape; far away it only is large."""
    result = np.full(len(points), 0.2)
    for part in parts:
        inside = np.flatnonzero(((points > part.low) & (points < part.high)).all(1))
        result[inside] = _joined(result[inside], part.distance(points[inside]), part)
    return result


def project(parts, points, rounds=2):
    """Return the points (n, 3) moved onto the surface by Newton steps along the gradient of the distance."""
    for _ in range(rounds):
        value = distances(parts, points)
        slope = np.stack([distances(parts, points + step) - value for step in np.eye(3) * 2e-4], 1) / 2e-4
        points = points - slope * (value / np.maximum((slope**2).sum(1), 0.05))[:, None]
    return points


def polygonise(parts, spacing):
    """Return vertices (n, 3) [m] and quads (m, 4), wound outwards, of the surface on a grid of this spacing [m]."""
    low = np.min([p.low for p in parts if not p.carve], 0)
    high = np.max([p.high for p in parts if not p.carve], 0)
    first = np.floor(low / spacing).astype(int)
    shape = np.ceil(high / spacing).astype(int) - first + 1
    grid = np.full(shape, 0.2, np.float32)
    ticks = [(np.arange(n) + f) * spacing for n, f in zip(shape, first, strict=True)]
    for part in parts:
        box = [slice(*np.searchsorted(t, (a, b))) for t, a, b in zip(ticks, part.low, part.high, strict=True)]
        points = np.stack(np.meshgrid(*(t[s] for t, s in zip(ticks, box, strict=True)), indexing="ij"), -1)
        if points.size:
            block = grid[tuple(box)]
            near = part.distance(points.reshape(-1, 3)).reshape(block.shape)
            grid[tuple(box)] = _joined(block, near, part)
    cells, quads = _nets(grid)
    return (cells + first) * spacing, quads


def _nets(grid):
    """Return the dual vertices (n, 3), in grid units, and quads (m, 4) of the zero surface of a grid."""
    inside = grid < 0.0
    corners = [np.s_[a : a - 1 or None, b : b - 1 or None, c : c - 1 or None] for a, b, c in np.ndindex(2, 2, 2)]
    filled = sum(inside[c].astype(np.int8) for c in corners)
    active = np.flatnonzero((filled > 0) & (filled < 8))
    cell = np.stack(np.unravel_index(active, filled.shape), 1)
    number = np.full(filled.size, -1, np.int64)
    number[active] = np.arange(len(active))
    total, count = np.zeros((len(cell), 3)), np.zeros(len(cell))
    for axis in range(3):
        others = [a for a in range(3) if a != axis]
        for i, j in np.ndindex(2, 2):
            at = cell.copy()
            at[:, others[0]] += i
            at[:, others[1]] += j
            step = np.eye(3, dtype=int)[axis]
            a, b = grid[tuple(at.T)], grid[tuple((at + step).T)]
            crossing = (a < 0.0) != (b < 0.0)
            t = np.where(crossing, a / np.where(crossing, a - b, 1.0), 0.0)
            total += crossing[:, None] * (at + t[:, None] * step)
            count += crossing
    return total / count[:, None], np.concatenate([_faces(inside, number, filled.shape, axis) for axis in range(3)])


def _faces(inside, number, cells, axis):
    """Return one quad (m, 4) for each grid edge along the axis that crosses the surface."""
    u, v = (axis + 1) % 3, (axis + 2) % 3
    a = np.moveaxis(inside, (axis, u, v), (0, 1, 2))
    crossing = a[:-1, 1:-1, 1:-1] != a[1:, 1:-1, 1:-1]
    at = np.stack(np.nonzero(crossing), 1)
    starts_inside = a[at[:, 0], at[:, 1] + 1, at[:, 2] + 1]
    loop = []
    for du, dv in ((0, 0), (1, 0), (1, 1), (0, 1)):
        index = [None, None, None]
        index[axis], index[u], index[v] = at[:, 0], at[:, 1] + du, at[:, 2] + dv
        loop.append(number[np.ravel_multi_index(tuple(index), cells)])
    quads = np.stack(loop, 1)
    return np.where(starts_inside[:, None], quads, quads[:, ::-1])


def triangulated(points, quads):
    """Return triangles (2 m, 3) of the quads, each cut along its shorter diagonal."""
    a, b, c, d = (points[quads[:, k]] for k in range(4))
    first = ((a - c) ** 2).sum(1) <= ((b - d) ** 2).sum(1)
    split = np.where(first[:, None], quads[:, [0, 1, 2, 0, 2, 3]], quads[:, [0, 1, 3, 1, 2, 3]])
    return split.reshape(-1, 3)


def remesh(points, triangles, size, rounds=12):
    """Return coarser vertices (k, 3) and triangles (l, 3) of a closed dense mesh.

    `size` (n,) [m] is the wanted edge length at each dense vertex; where it is 0 the mesh is kept as it is.
    """
    area = _vertex_areas(points, triangles)
    keep = np.flatnonzero(size <= 0.0)
    rest = np.flatnonzero(size > 0.0)
    share = area[rest] / (0.866 * size[rest] ** 2)
    order = np.argsort(_morton(points[rest]), kind="stable")
    total = np.cumsum(share[order])
    seeds = points[rest[order[np.searchsorted(total, np.arange(0.5, total[-1]))]]]
    weight = area[rest] / size[rest] ** 4
    for _ in range(rounds):
        label = cKDTree(seeds).query(points[rest])[1]
        mass = np.bincount(label, weight, len(seeds))
        used = mass > 0.0
        seeds = np.stack([np.bincount(label, weight * points[rest, c], len(seeds)) for c in range(3)], 1)[used]
        seeds /= mass[used, None]
    cluster = np.empty(len(points), np.int64)
    cluster[rest] = cKDTree(seeds).query(points[rest])[1]
    cluster[keep] = len(seeds) + np.arange(len(keep))
    dual = cluster[triangles]
    dual = dual[(dual[:, 0] != dual[:, 1]) & (dual[:, 1] != dual[:, 2]) & (dual[:, 2] != dual[:, 0])]
    used, dual = np.unique(dual, return_inverse=True)
    return np.concatenate([seeds, points[keep]])[used], dual.reshape(-1, 3)


def _vertex_areas(points, triangles):
    a, b, c = (points[triangles[:, k]] for k in range(3))
    third = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 6.0
    return np.bincount(triangles.ravel(), np.repeat(third, 3), len(points))


def _morton(points, bits=10):
    """Return keys that sort points along a space-filling curve (G. M. Morton, 1966): near in order, near in space."""
    low = points.min(0)
    cell = ((points - low) / (np.ptp(points, axis=0).max() + 1e-12) * (2**bits - 1)).astype(np.int64)
    key = np.zeros(len(points), np.int64)
    for bit in range(bits):
        for axis in range(3):
            key |= ((cell[:, axis] >> bit) & 1) << (3 * bit + axis)
    return key


def relax(parts, points, triangles, rounds=4, strength=0.5):
    """Return the points evened out along the surface: towards their neighbours' mean, then back onto the shape."""
    edges = np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), 1), axis=0)
    count = np.bincount(edges.ravel(), minlength=len(points)).astype(float)
    for _ in range(rounds):
        mean = np.zeros_like(points)
        for a, b in ((0, 1), (1, 0)):
            for c in range(3):
                mean[:, c] += np.bincount(edges[:, a], points[edges[:, b], c], len(points))
        points = project(parts, points + strength * (mean / count[:, None] - points))
    return points


def open_edges(triangles):
    """Return how many edges do not lie between exactly two triangles: 0 for a closed manifold mesh."""
    edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), 1)
    return int((np.unique(edges, axis=0, return_counts=True)[1] != 2).sum())
