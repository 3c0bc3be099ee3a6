# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabric: springs along threads and diagonals, which are quick to solve for.

A spring of length l at angle t to the warp, between triangles of areas A0 and A1, has the constant

    k = (A0 + A1) / l^2 (K' cos^2 2t + c G sin^2 2t),      energy 1/2 k (|x1 - x0| - l)^2

with K the stretch stiffness [N/m], Kw cos^2 t + Kf sin^2 t for warp and weft, and G the shear stiffness [N/m]. On a
grid this gives shear stress G per unit angle at any resolution: c = 2 where a quad has both its diagonals, 4 where a
single one carries the shear. An equilateral mesh without a pattern gets Young's modulus K in every direction. The
diagonals of a quad carry shear as far as its sides lie along the threads: cos^2 2t of a diagonal is what that of the
sides leaves of 1, and c = l^4 / 2 (A0 + A1)^2, which is 2 on a square.

Springs aslant bear part of a pull, too. Those of a quad's diagonals that give the shear stiffness G add to the stress per
strain along warp and weft G r^2 and G / r^2, r being how long a cell is along the warp in its width, and between both G.
A strip with free sides has, along one thread of K and across another of K2, the tension per width and strain
P - G^2 / Q = K and Q - G^2 / P = K2 if the stresses per own strain are

    P = (K + sqrt(K^2 + 4 G^2 K / K2)) / 2,   Q = P K2 / K,

of which the threads have K' = P - G r^2 (not less than `LEAST_THREAD` K, which cells longer than that leave too stiff). Single
slanting springs in triangles give way to a pull, and bear none of it: K' = K. Springs for triangle meshes after Selle,
Su, Irving and Fedkiw 2009; `membrane` is exact on any mesh, but slower to get there.
"""

from typing import NamedTuple

import numpy as np

from .membrane import warp_of_pattern

SLIVER_SHAPE = 0.05  # least (A0 + A1) / l^2: an edge between slivers still holds together
LONGEST_DIAGONAL = 50.0  # most l^2 / 2 (A0 + A1) of a diagonal: a quad without area has no shear
LEAST_THREAD = 0.05  # least K' in K
ANGLE_ROUNDING = 1e-9  # constant over that of a thread up to which it is the angle's rounding
LOOSE_SHAPE = 1.0  # (A0 + A1) / l^2 of an edge without faces: a ribbon as wide as the edge is long


class _Shares(NamedTuple):
    """What springs have of the fabric's numbers: the constant is shape (carried + slanted shear)."""

    rest_length: np.ndarray  # (s,) [m]
    shape: np.ndarray  # (s,) (A0 + A1) / l^2
    aligned: np.ndarray  # (s,) cos^2 2t
    thread: np.ndarray  # (s,) [N/m] K
    carried: np.ndarray  # (s,) [N/m] K' cos^2 2t
    slanted: np.ndarray  # (s,) c sin^2 2t


def spring_rest(x, faces, springs, uv, stretch, weft, shear):
    """Rest lengths and stiffness.

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
    stiffness : (s,) [N/m]
    """
    first, second = springs.pairs.T
    shear = 0.5 * (shear[first] + shear[second])
    shares = _shares(x, faces, springs, uv, stretch, weft, shear)
    k = shares.carried + shares.slanted * shear
    useful = k > ANGLE_ROUNDING * shares.thread
    return shares.rest_length, np.where(useful, shares.shape * k, 0.0)


def thread_stiffness(x, faces, springs, uv, stretch, weft):
    """(s,) [N/m] what warp and weft alone would make of springs' constants; the parameters are those of `spring_rest`."""
    shares = _shares(x, faces, springs, uv, stretch, weft, np.zeros(len(springs.pairs)))
    return shares.shape * shares.aligned * shares.thread


def _shares(x, faces, springs, uv, stretch, weft, shear):
    """`_Shares`; shear (s,) [N/m] of each spring."""
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

    shape = np.maximum(
        np.divide(area, rest_length**2, out=np.full(count, SLIVER_SHAPE), where=rest_length > 0), SLIVER_SHAPE
    )
    carriers = np.where(in_quad[triangle], 2.0, 4.0)
    carriers[is_diagonal] = (np.minimum(0.5 / shape, LONGEST_DIAGONAL) / shape)[beside[is_diagonal]]
    aligned, shear_share = mean(along), mean(carriers)
    loose = area == 0
    aligned[loose], shear_share[loose], shape[loose] = 1.0, 0.0, LOOSE_SHAPE
    warp = np.where(loose, 0.5, mean(warp))
    stretch = 0.5 * (stretch[first] + stretch[second])
    thread, across = stretch * (warp + weft * (1.0 - warp)), stretch * (weft * warp + 1.0 - warp)
    # r of a side; as threads, a square's diagonals have square cells, and those of other quads nearly so
    oblong = np.divide(
        rest_length[beside] ** 2, 2.0 * faces.area[triangle], out=np.ones(len(beside)), where=~is_diagonal
    )
    own = thread[beside]
    left = np.where(in_quad[triangle], _left(own, across[beside], shear[beside], oblong), own)
    carried = np.where(loose, thread, mean(along * left))
    return _Shares(rest_length, shape, aligned, thread, carried, shear_share * (1.0 - aligned))


def _left(thread, across, shear, oblong):
    """K' [N/m] of threads, what a quad's diagonals leave of K; across is K2, oblong r."""
    stress = 0.5 * (thread + np.sqrt(thread**2 + 4.0 * shear**2 * thread / across))
    return np.maximum(stress - shear * oblong**2, LEAST_THREAD * thread)


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
    warp, told = warp_of_pattern(corner[:, [2, 0, 1]] - corner[:, [1, 2, 0]], uv)
    direction = x[springs.pairs[spring, 1]] - x[springs.pairs[spring, 0]]
    cosine, size = np.einsum("ij,ij->i", direction, warp[triangle]), np.linalg.norm(direction, axis=1)
    known = told[triangle] & (size > 0)
    cosine = np.divide(cosine, size, out=np.zeros_like(cosine), where=known)
    return np.where(known, (2.0 * cosine**2 - 1.0) ** 2, along), np.where(known, cosine**2, 0.5)
