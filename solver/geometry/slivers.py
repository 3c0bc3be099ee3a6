# SPDX-License-Identifier: GPL-3.0-or-later
"""Faces cut into triangles without slivers, where another cut of the same face has none.

Blender cuts faces of more than four corners by ears, without a look at what shape these have: where corners lie on a line, as where
an edge between two quads was dissolved, an ear may be a line. Cloth has no place for that: its corner lies on the edge of
the triangle beside, neither may pass through the other, and so the sheet cannot bend or shear there: it crumples
like paper. In a face that has slivers each diagonal is flipped where the worse of the two triangles beside it gets better by
that (Lawson 1977), until none is. Other faces stay as they are.
"""

import math

import numpy as np

SLIVER = 0.05  # height over the longest side below which a triangle is a sliver
BETTER = 1.01  # times that the worse of two triangles has to be better shaped after a flip in a face of many corners
MUCH_BETTER = 2.0  # the same in a quad: long ones are as they are
MOST_PASSES = 16  # over a face; each flips what got free by the one before


def cut_anew(points: np.ndarray, cuts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Cuts of faces, with diagonals flipped where slivers are.

    Parameters
    ----------
    points : (c, 3) [m] place of each corner of each face
    cuts : (t, 3) corners of the triangles, face after face, of each two less than it has corners
    counts : (f,) corners of each face

    Returns
    -------
    (t, 3), of the type of `cuts`; that itself if nothing is better otherwise
    """
    if not len(counts) or counts.max() < 4:
        return cuts
    points = np.asarray(points, np.float64)
    known = np.isfinite(points).all(axis=1)
    if not known.all():  # whoever reads the mesh refuses it by name; nothing is to be counted with such numbers before
        points = np.where(known[:, None], points, 0.0)
    start = np.cumsum(np.maximum(counts - 2, 0)) - np.maximum(counts - 2, 0)
    quads = start[counts == 4]
    slivers = np.flatnonzero(~(shapes(points[cuts]) >= SLIVER))
    face = np.searchsorted(start, slivers, side="right") - 1
    many = np.unique(face[counts[face] > 4])
    halves = quads[np.isin(quads, start[face])]
    if not len(many) and not len(halves):
        return cuts
    cuts = cuts.copy()
    _flip_quads(points, cuts, halves)
    for first, count in zip(start[many].tolist(), counts[many].tolist(), strict=True):
        own = slice(first, first + count - 2)
        cuts[own] = _flip(points, cuts[own])
    return cuts


def shapes(corners: np.ndarray) -> np.ndarray:
    """(...,) height over the longest side of triangles (..., 3, 3); NaN where they are points."""
    sides = corners - np.roll(corners, -1, axis=-2)
    longest = np.einsum("...ki,...ki->...k", sides, sides).max(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        return np.linalg.norm(np.cross(sides[..., 0, :], sides[..., 1, :]), axis=-1) / longest


def _flip_quads(points, cuts, halves):
    """Cut quads along their other diagonal where that is better; halves (q,) the first triangle of each. # outputs: cuts"""
    drawn = np.stack([cuts[halves], cuts[halves + 1]], axis=1)  # (q, 2, 3)
    alone = ~(drawn[:, 0, :, None] == drawn[:, 1, None, :]).any(axis=2)  # (q, 3): the corner that the second has not
    first = np.take_along_axis(drawn[:, 0], (alone.argmax(axis=1)[:, None] + np.arange(3)) % 3, axis=1)
    far = ~(drawn[:, 1, :, None] == drawn[:, 0, None, :]).any(axis=2)
    a, (b, c), d = first[:, 0], first[:, 1:].T, drawn[:, 1][far]
    other = np.stack([np.stack([a, b, d], axis=1), np.stack([a, d, c], axis=1)], axis=1)
    at = points[other]
    normal = np.cross(at[:, :, 1] - at[:, :, 0], at[:, :, 2] - at[:, :, 0])
    is_convex = np.einsum("qi,qi->q", normal[:, 0], normal[:, 1]) > 0.0
    new, old = shapes(at).min(axis=1), np.nan_to_num(shapes(points[drawn])).min(axis=1)
    better = is_convex & (new > MUCH_BETTER * old)
    cuts[halves[better]], cuts[halves[better] + 1] = other[better, 0], other[better, 1]


def _flip(points, cuts):
    """Cuts (t, 3) of one face, flipped where slivers are."""
    corners = np.unique(cuts)
    at = dict(zip(corners.tolist(), points[corners].tolist(), strict=True))
    ends = points[cuts[:, 1:]] - points[cuts[:, :1]]
    normal = np.cross(ends[:, 0], ends[:, 1]).sum(axis=0).tolist()
    triangles = [tuple(cut) for cut in cuts.tolist()]
    beside = {(t[k - 1], t[k]): number for number, t in enumerate(triangles) for k in range(3)}
    for _ in range(MOST_PASSES):
        flipped = [_flip_beside(at, normal, triangles, beside, number) for number in range(len(triangles))]
        if not any(flipped):
            break
    return np.array(triangles, cuts.dtype)


def _flip_beside(at, normal, triangles, beside, number):
    """Flip that side of a triangle that makes the best of it; whether one was flipped. # outputs: triangles, beside"""
    best, chosen = 0.0, None
    for k in range(3):
        c, a, b = (triangles[number][(k + turn) % 3] for turn in range(3))
        other = beside.get((b, a))
        if other is None:
            continue
        d = next(corner for corner in triangles[other] if corner not in (a, b))
        before = min(abs(_shape(at, normal, triangles[n])) for n in (number, other))
        after = min(_shape(at, normal, new) for new in ((a, d, c), (d, b, c)))
        if after > max(best, BETTER * before):
            best, chosen = after, (a, b, c, d, other)
    if chosen is None:
        return False
    a, b, c, d, other = chosen
    del beside[a, b], beside[b, a]
    triangles[number], triangles[other] = (a, d, c), (d, b, c)
    for n in (number, other):
        beside.update({(triangles[n][k - 1], triangles[n][k]): n for k in range(3)})
    return True


def _shape(at, normal, triangle):
    """Height over the longest side of a triangle, negative where it lies with its back to the face's normal."""
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = (at[corner] for corner in triangle)
    ux, uy, uz, vx, vy, vz = bx - ax, by - ay, bz - az, cx - ax, cy - ay, cz - az
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    third = (vx - ux) ** 2 + (vy - uy) ** 2 + (vz - uz) ** 2
    longest = max(ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz, third)
    if longest == 0.0:
        return 0.0
    side = nx * normal[0] + ny * normal[1] + nz * normal[2]
    return math.copysign(math.sqrt(nx * nx + ny * ny + nz * nz) / longest, side)
