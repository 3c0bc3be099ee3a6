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

from ..jit import fused_inner

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


def spring_numbers(cloth):
    """(e, 3) rest length [m], stiffness [N/m], damping [N s/m] of a cloth's springs.

    Damping is a rate [1/s] at which two ends lose their relative velocity: c = rate x their reduced mass.
    """
    apart = np.einsum("ek->e", cloth.inv_mass[cloth.edges])
    c = np.divide(cloth.edge_damping, apart, out=np.zeros(len(apart)), where=apart > 0)
    return np.stack([cloth.rest_length, 1.0 / cloth.edge_compliance, c], axis=1)


@fused_inner
def linearise(dx, dy, dz, wx, wy, wz, rest, k, c):
    """Force and matrix of one spring across d = x_j - x_i [m] that went w [m] in the substep, c its damping over dt.

    The matrix along the unit vector u is k (s I + (1 - s) u u^T) + c u u^T for the difference of the ends:
    s = max(0, 1 - rest length / length) is the stiffness of tension (Choi and Ko 2002: none for compression, so that
    the matrix stays positive). About 35 flops.

    Returns
    -------
    pull [N/m] : the force on i is pull d
    h : three floats, sqrt(k (1 - s) + c) u
    a : k s [N/m]
    """
    length = sqrt(dx * dx + dy * dy + dz * dz)
    scale = 1.0 / length if length > 0.0 else 0.0
    pull = k * (length - rest) + c * scale * (dx * wx + dy * wy + dz * wz)
    a = k * max(1.0 - rest * scale, 0.0)
    h = scale * sqrt(k - a + c)
    return scale * pull, h * dx, h * dy, h * dz, a


@fused_inner
def spring_forces(x, v, edges, spring, force):
    """Forces of springs at x and v, Hooke's and the damping of what their ends move along them; returns their energy [J].

    spring (e, 3): rest length [m], k [N/m], damping [N s/m]. About 50 flops and 250 bytes a spring.
    # added to: force (n, 3) [N]
    """
    energy = 0.0
    for e in range(np.uintp(edges.shape[0])):
        i, j = np.uintp(edges[e, 0]), np.uintp(edges[e, 1])
        dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        length = sqrt(dx * dx + dy * dy + dz * dz)
        scale = 1.0 / length if length > 0.0 else 0.0
        lengthening = (v[j, 0] - v[i, 0]) * dx + (v[j, 1] - v[i, 1]) * dy + (v[j, 2] - v[i, 2]) * dz
        longer = length - spring[e, 0]
        energy += 0.5 * spring[e, 1] * longer * longer
        pull = scale * (spring[e, 1] * longer + spring[e, 2] * scale * lengthening)
        fx, fy, fz = pull * dx, pull * dy, pull * dz
        force[i, 0], force[i, 1], force[i, 2] = force[i, 0] + fx, force[i, 1] + fy, force[i, 2] + fz
        force[j, 0], force[j, 1], force[j, 2] = force[j, 0] - fx, force[j, 1] - fy, force[j, 2] - fz
    return energy
