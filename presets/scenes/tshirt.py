# SPDX-License-Identifier: GPL-3.0-or-later
"""A T-shirt: two panels with sleeves cut on, sewn along shoulders, sleeves and sides; about 6,000 triangles."""

import numpy as np
from scipy.spatial import Delaunay

from . import sheet

EDGE = 0.0165  # [m] between vertices
#: the right half of the cut from the neck to the hem: (x, y) [m], and whether the line to the next corner is sewn
CORNERS = (
    ((0.088, 0.000), True),  # neck
    ((0.215, -0.040), True),  # shoulder
    ((0.395, -0.135), False),  # sleeve
    ((0.345, -0.285), True),
    ((0.248, -0.235), True),  # underarm
    ((0.232, -0.420), True),  # waist
    ((0.245, -0.690), False),  # hem
)
NECKS = 0.095, 0.022  # [m] depth of the neckline in front and at the back
DEPTH, EASE = 0.035, 0.09  # [m] half of the shirt's depth, and how far from a seam it is reached
BACK = 0.85  # [m] of the pattern between the middles of the panels


def make():
    """Return points (n, 3) [m] of a shirt that lies on its back in the plane z = 0, its neck along +y; triangles (t, 3);
    and the pattern per triangle corner (t, 3, 2) [m]: u runs up the shirt, as the wales of its jersey do.
    """
    panels = [_panel(depth) for depth in NECKS]
    points, triangles, pattern = [], [], []
    (front, sewn, _, seam), (back, back_sewn, _, _) = panels
    number = [np.arange(len(front)), np.empty(len(back), np.int64)]
    # The sewn vertices come first in both panels, in the same order: these are one.
    joined = np.count_nonzero(sewn)
    number[1][:joined] = np.arange(joined)
    number[1][joined:] = len(front) + np.arange(len(back) - joined)
    assert np.count_nonzero(back_sewn) == joined
    for side, (flat, _, faces, _) in enumerate(panels):
        height = DEPTH * np.sqrt(1.0 - (1.0 - np.minimum(_distance(flat, seam) / EASE, 1.0)) ** 2)
        shape = np.column_stack([flat, height if side == 0 else -height])
        points.append(shape if side == 0 else shape[joined:])
        triangles.append(number[side][faces if side == 0 else faces[:, ::-1]])
        across = flat[:, 0] if side == 0 else BACK - flat[:, 0]
        laid = np.column_stack([flat[:, 1], across])
        pattern.append(laid[faces if side == 0 else faces[:, ::-1]])
    return np.concatenate(points), np.concatenate(triangles), np.concatenate(pattern)


def add(collection, name, material, place=None):
    """Add a T-shirt of thin jersey; `place` is a 4 x 4 matrix from where `make` lays it. Return the object."""
    points, triangles, pattern = make()
    if place is not None:
        place = np.asarray(place)
        points = points @ place[:3, :3].T + place[:3, 3]
    obj = sheet.add(collection, name, points, triangles, pattern, material)
    sheet.make_of(obj, mass=0.16, thickness=0.0015, stretch_stiffness=600.0, shear_stiffness=60.0, damping=1.0)
    sheet.make_of(obj, bending_stiffness=6e-6, friction=0.3)
    return obj


def _panel(neck):
    """Points (n, 2) of a flat panel, the sewn ones first; which are sewn; its triangles; and the seams (s, 2, 2)."""
    outline, sewn, seam = _outline(neck)
    low, high = outline.min(axis=0), outline.max(axis=0)
    rows = np.arange(low[1], high[1], EDGE * np.sqrt(0.75))
    columns = np.arange(0.0, high[0] + EDGE, EDGE)
    columns = np.concatenate([-columns[:0:-1], columns])
    grid = np.array([(x + 0.5 * EDGE * (k % 2), y) for k, y in enumerate(rows) for x in columns])
    edges = np.stack([outline, np.roll(outline, -1, axis=0)], axis=1)
    grid = grid[_inside(grid, outline) & (_distance(grid, edges) > 0.6 * EDGE)]
    order = np.argsort(~sewn, kind="stable")
    points = np.concatenate([outline[order], grid])
    faces = Delaunay(points).simplices
    faces = faces[_inside(points[faces].mean(axis=1), outline)]
    a, b, c = (points[faces[:, k]] for k in range(3))
    area = np.linalg.det(np.stack([b - a, c - a], axis=1))
    faces = np.where(area[:, None] > 0.0, faces, faces[:, ::-1])[np.abs(area) > 1e-3 * EDGE**2]
    return points, np.concatenate([sewn[order], np.zeros(len(grid), bool)]), faces, seam


def _outline(neck):
    """The cut, counter-clockwise, a point per `EDGE`: points (n, 2), which of them are sewn, and the seams (s, 2, 2)."""
    corners, sewn = np.array([c for c, _ in CORNERS]), [s for _, s in CORNERS]
    turn = np.linspace(0.0, 0.5 * np.pi, max(2, round(1.2 * (corners[0, 0] + neck) / EDGE)) + 1)[1:]
    half = [(corners[0, 0] * np.cos(t), -neck * np.sin(t), False) for t in turn[::-1]]
    ends = [*corners[1:], np.array([0.0, corners[-1, 1]])]
    for k, (start, end) in enumerate(zip(corners, ends, strict=True)):
        count = max(1, round(float(np.linalg.norm(end - start)) / EDGE))
        for step in range(count):
            on_seam = sewn[k] or (step == 0 and k > 0 and sewn[k - 1])
            half.append((*(start + (end - start) * step / count), on_seam))
    half.append((*ends[-1], False))
    left = [(-x, y, on) for x, y, on in half[1:-1]]
    whole = half + left[::-1]  # from the middle of the neck round the right side, and back round the left one
    points, on_seam = np.array([p[:2] for p in whole])[::-1], np.array([p[2] for p in whole])[::-1]
    seams = [np.stack([a, b]) for a, b, s in zip(corners, ends, sewn, strict=True) if s]
    return points, on_seam, np.array(seams + [s * [-1.0, 1.0] for s in seams])


def _inside(points, outline):
    """Which points lie inside a closed line: those from which a ray crosses it an odd number of times."""
    inside = np.zeros(len(points), bool)
    for (ax, ay), (bx, by) in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        if ay != by:
            crosses = (ay > points[:, 1]) != (by > points[:, 1])
            inside ^= crosses & (points[:, 0] < (bx - ax) * (points[:, 1] - ay) / (by - ay) + ax)
    return inside


def _distance(points, segments):
    """Distance (n,) of points from the nearest of some segments (s, 2, 2)."""
    nearest = np.full(len(points), np.inf)
    for a, b in segments:
        along = b - a
        part = np.clip((points - a) @ along / (along @ along), 0.0, 1.0)
        nearest = np.minimum(nearest, np.linalg.norm(points - a - part[:, None] * along, axis=1))
    return nearest
