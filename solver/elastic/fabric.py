# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabric: springs along threads and diagonals, which are quick to solve for.

A spring of length l at angle t to the warp, between triangles of areas A0 and A1, has the constant

    k = (A0 + A1) / l^2 (K cos^2 2t + c G sin^2 2t),      energy 1/2 k (|x1 - x0| - l)^2

with K the stretch stiffness [N/m], Kw cos^2 t + Kf sin^2 t for warp and weft, and G the shear stiffness [N/m]. On a
grid along the threads this gives tension K per width and strain (and what the diagonals bear of it: docs/fabric.md),
and shear stress G per unit angle, at any resolution: c = 2 where a quad has both its diagonals, 4 where a single one
carries the shear. An equilateral mesh without a pattern gets Young's modulus K in every direction. The diagonals of a
quad carry shear as far as its sides lie along the threads: cos^2 2t of a diagonal is what that of the sides leaves of 1,
and c = l^4 / 2 (A0 + A1)^2, which is 2 on a square. Springs for triangle meshes after Selle, Su, Irving and Fedkiw 2009;
`membrane` is exact on any mesh, but slower to get there.
"""

from typing import NamedTuple

import numpy as np

SLIVER = 0.05  # least (A0 + A1) / l^2: an edge between slivers still holds together
LONGEST = 50.0  # most l^2 / 2 (A0 + A1) of a diagonal: a quad without area has no shear
LOOSE = 1.0  # (A0 + A1) / l^2 of an edge without faces: a ribbon as wide as the edge is long


class _Shares(NamedTuple):
    """What springs have of the fabric's numbers: the constant is shape (aligned thread + slanted shear)."""

    rest_length: np.ndarray  # (s,) [m]
    shape: np.ndarray  # (s,) (A0 + A1) / l^2
    aligned: np.ndarray  # (s,) cos^2 2t
    thread: np.ndarray  # (s,) [N/m] K
    slanted: np.ndarray  # (s,) c sin^2 2t


def spring_rest(x, faces, springs, uv, stretch, weft, shear):
    """Rest lengths and compliances.

    Parameters
    ----------
    x : (n, 3) [m] rest positions
    faces, springs : from `topology`
    uv : (t, 3, 2) pattern coordinates of the triangles in `faces`, u along the warp, or None
    stretch, shear : (n,) [N/m], stretch along the warp
    weft : stretch stiffness along the weft, in that along the warp

    Returns
    -------
    rest_length : (s,) [m]
    compliance : (s,) [m/N]; inf where the stiffness is zero
    """
    first, second = springs.pairs.T
    rest_length, shape, aligned, thread, slanted = _shares(x, faces, springs, uv, stretch, weft)
    k = aligned * thread + slanted * 0.5 * (shear[first] + shear[second])
    # Rounding of the angle alone makes no spring.
    return rest_length, np.divide(1.0, shape * k, out=np.full(len(k), np.inf), where=k > 1e-9 * thread)


def thread_stiffness(x, faces, springs, uv, stretch, weft):
    """(s,) [N/m] what springs' constants have of warp and weft; the parameters are those of `spring_rest`."""
    shares = _shares(x, faces, springs, uv, stretch, weft)
    return shares.shape * shares.aligned * shares.thread


def _shares(x, faces, springs, uv, stretch, weft):
    first, second = springs.pairs.T
    rest_length = np.linalg.norm(x[second] - x[first], axis=1)
    beside, triangle, count = springs.beside_spring, springs.beside_triangle, len(springs.pairs)
    area = np.bincount(beside, faces.area[triangle], minlength=count)
    in_quad = np.zeros(len(faces.triangles), dtype=bool)
    in_quad[springs.halves.ravel()] = True
    is_diagonal = in_quad[triangle] & ~springs.is_mesh_edge[beside]
    along, warp = _alignment(x, faces, springs, uv)
    along = _of_quads(along, triangle, is_diagonal)

    def mean(value):
        total = np.bincount(beside, faces.area[triangle] * value, minlength=count)
        return np.divide(total, area, out=np.full(count, np.nan), where=area > 0)

    shape = np.maximum(np.divide(area, rest_length**2, out=np.full(count, SLIVER), where=rest_length > 0), SLIVER)
    carriers = np.where(in_quad[triangle], 2.0, 4.0)
    carriers[is_diagonal] = (np.minimum(0.5 / shape, LONGEST) / shape)[beside[is_diagonal]]
    aligned, shear_share = mean(along), mean(carriers)
    loose = area == 0
    aligned[loose], shear_share[loose], shape[loose] = 1.0, 0.0, LOOSE
    warp = np.where(loose, 0.5, mean(warp))
    thread = 0.5 * (stretch[first] + stretch[second]) * (warp + weft * (1.0 - warp))
    return _Shares(rest_length, shape, aligned, thread, shear_share * (1.0 - aligned))


def _of_quads(along, triangle, is_diagonal):
    """Alignment with that of each quad's diagonal set to what its sides leave."""
    sides = np.bincount(triangle[~is_diagonal], along[~is_diagonal], minlength=int(triangle.max()) + 1)
    return np.where(is_diagonal, 1.0 - 0.5 * sides[triangle], along)  # two sides in either half of a quad


def _alignment(x, faces, springs, uv):
    """cos^2 2t for each spring and triangle beside it: 1 along warp or weft, 0 on the bias; and cos^2 t: 1 along the
    warp, 1/2 where nobody knows."""
    spring, triangle = springs.beside_spring, springs.beside_triangle
    # Without a pattern the mesh's own edges are threads, and what triangulation added lies on the bias.
    along = springs.is_mesh_edge[spring].astype(np.float64)
    if uv is None:
        return along, np.full(len(along), 0.5)
    corner = x[faces.triangles]
    side1, side2 = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    du, dv = (uv[:, 1:] - uv[:, :1]).transpose(2, 0, 1)
    warp = side1 * dv[:, 1:] - side2 * dv[:, :1]  # along dx/du up to a factor, whose sign 2t does not see
    length = np.linalg.norm(warp, axis=1)
    determinant = np.abs(du[:, 0] * dv[:, 1] - du[:, 1] * dv[:, 0])
    flat = determinant <= 1e-9 * (du**2 + dv**2).sum(axis=1)  # a triangle without area in the pattern
    direction = x[springs.pairs[spring, 1]] - x[springs.pairs[spring, 0]]
    cosine = np.einsum("ij,ij->i", direction, warp[triangle])
    size = np.linalg.norm(direction, axis=1) * length[triangle]
    known = ~flat[triangle] & (size > 0)
    cosine = np.divide(cosine, size, out=np.zeros_like(cosine), where=known)
    return np.where(known, (2.0 * cosine**2 - 1.0) ** 2, along), np.where(known, cosine**2, 0.5)
