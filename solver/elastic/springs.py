# SPDX-License-Identifier: GPL-3.0-or-later
"""Stretch and shear: springs along threads and diagonals.

A spring of length l at angle t to the warp, between triangles of areas A0 and A1, has the constant

    k = (A0 + A1) / l^2 (K cos^2 2t + c G sin^2 2t),      energy 1/2 k (|x1 - x0| - l)^2

with K the stretch stiffness [N/m] and G the shear stiffness [N/m]. On a grid along the threads this gives tension K
per width and strain, and shear stress G per unit angle, at any resolution: c = 2 where a quad has both its diagonals,
4 where a single one carries the shear. An equilateral mesh without a pattern gets Young's modulus K in every direction.
The diagonals of a quad carry shear as far as its sides lie along the threads: cos^2 2t of a diagonal is what that of
the sides leaves of 1, and c = l^4 / 2 (A0 + A1)^2, which is 2 on a square. So cells of any proportion keep K and G.
Springs for triangle meshes after Selle, Su, Irving and Fedkiw 2009; projection after Macklin, Müller and Chentanez 2016.
"""

from math import sqrt

import numpy as np

from ..jit import fused

SLIVER = 0.05  # least (A0 + A1) / l^2: an edge between slivers still holds together
LONGEST = 50.0  # most l^2 / 2 (A0 + A1) of a diagonal: a quad without area has no shear
LOOSE = 1.0  # (A0 + A1) / l^2 of an edge without faces: a ribbon as wide as the edge is long


def spring_rest(x, faces, springs, uv, stretch, shear):
    """Rest lengths and compliances.

    Parameters
    ----------
    x : (n, 3) [m] rest positions
    faces, springs : from `topology`
    uv : (t, 3, 2) pattern coordinates of the triangles in `faces`, u along the warp, or None
    stretch, shear : (n,) [N/m]

    Returns
    -------
    rest_length : (s,) [m]
    compliance : (s,) [m/N]; inf where the stiffness is zero
    """
    first, second = springs.pairs.T
    rest_length = np.linalg.norm(x[second] - x[first], axis=1)
    beside, triangle, count = springs.beside_spring, springs.beside_triangle, len(springs.pairs)
    area = np.bincount(beside, faces.area[triangle], minlength=count)
    in_quad = np.zeros(len(faces.triangles), dtype=bool)
    in_quad[springs.halves.ravel()] = True
    is_diagonal = in_quad[triangle] & ~springs.is_mesh_edge[beside]
    along = _of_quads(_alignment(x, faces, springs, uv), triangle, is_diagonal)

    def mean(value):
        total = np.bincount(beside, faces.area[triangle] * value, minlength=count)
        return np.divide(total, area, out=np.full(count, np.nan), where=area > 0)

    shape = np.maximum(np.divide(area, rest_length**2, out=np.full(count, SLIVER), where=rest_length > 0), SLIVER)
    carriers = np.where(in_quad[triangle], 2.0, 4.0)
    carriers[is_diagonal] = (np.minimum(0.5 / shape, LONGEST) / shape)[beside[is_diagonal]]
    aligned, shear_share = mean(along), mean(carriers)
    loose = area == 0
    aligned[loose], shear_share[loose], shape[loose] = 1.0, 0.0, LOOSE
    thread = 0.5 * (stretch[first] + stretch[second])
    k = aligned * thread + shear_share * (1.0 - aligned) * 0.5 * (shear[first] + shear[second])
    # Rounding of the angle alone makes no spring.
    return rest_length, np.divide(1.0, shape * k, out=np.full(count, np.inf), where=k > 1e-9 * thread)


def _of_quads(along, triangle, is_diagonal):
    """Alignment with that of each quad's diagonal set to what its sides leave."""
    sides = np.bincount(triangle[~is_diagonal], along[~is_diagonal], minlength=int(triangle.max()) + 1)
    return np.where(is_diagonal, 1.0 - 0.5 * sides[triangle], along)  # two sides in either half of a quad


def _alignment(x, faces, springs, uv):
    """cos^2 2t for each spring and triangle beside it: 1 along warp or weft, 0 on the bias."""
    spring, triangle = springs.beside_spring, springs.beside_triangle
    # Without a pattern the mesh's own edges are threads, and what triangulation added lies on the bias.
    along = springs.is_mesh_edge[spring].astype(np.float64)
    if uv is None:
        return along
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
    return np.where(known, (2.0 * cosine**2 - 1.0) ** 2, along)


@fused
def project_springs(x, inv_mass, edges, rest_length, scale, start, stop):
    """One sweep of springs `start` to `stop`: each moves its two particles towards its rest length.

    `scale` is 1 / (w0 + w1 + compliance / dt^2), computed once a frame. About 25 flops and 140 bytes a spring.
    """
    # Unsigned indices spare numba's test for negative ones; everything is read before anything is written, because
    # the compiler must assume that each write changes what it reads next.
    for e in range(np.uintp(start), np.uintp(stop)):
        i, j = np.uintp(edges[e, 0]), np.uintp(edges[e, 1])
        xi, yi, zi, xj, yj, zj = x[i, 0], x[i, 1], x[i, 2], x[j, 0], x[j, 1], x[j, 2]
        dx, dy, dz = xj - xi, yj - yi, zj - zi
        length = sqrt(dx * dx + dy * dy + dz * dz)
        if length > 0.0:
            pull = scale[e] * (length - rest_length[e]) / length
            wi, wj = pull * inv_mass[i], pull * inv_mass[j]
            x[i, 0], x[i, 1], x[i, 2] = xi + wi * dx, yi + wi * dy, zi + wi * dz
            x[j, 0], x[j, 1], x[j, 2] = xj - wj * dx, yj - wj * dy, zj - wj * dz


@fused
def damp_springs(x, v, inv_mass, edges, share, start, stop):
    """One sweep that takes `share` [kg] x the relative velocity along each spring from its two ends.

    `share` is (1 - exp(-rate dt)) / (w0 + w1), so that no time step is too long. Central impulses keep momentum and
    angular momentum. About 25 flops and 230 bytes a spring.
    """
    for e in range(np.uintp(start), np.uintp(stop)):
        i, j = np.uintp(edges[e, 0]), np.uintp(edges[e, 1])
        ui, vi, wi, uj, vj, wj = v[i, 0], v[i, 1], v[i, 2], v[j, 0], v[j, 1], v[j, 2]
        dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        square = dx * dx + dy * dy + dz * dz
        if square > 0.0:
            impulse = share[e] * ((uj - ui) * dx + (vj - vi) * dy + (wj - wi) * dz) / square
            pi, pj = impulse * inv_mass[i], impulse * inv_mass[j]
            v[i, 0], v[i, 1], v[i, 2] = ui + pi * dx, vi + pi * dy, wi + pi * dz
            v[j, 0], v[j, 1], v[j, 2] = uj - pj * dx, vj - pj * dy, wj - pj * dz
