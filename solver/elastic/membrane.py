# SPDX-License-Identifier: GPL-3.0-or-later
"""Stretch and shear of woven cloth: an orthotropic membrane on triangles, as springs that know of each other.

A triangle's strain is uniform, and the strains e = (e_warp, e_weft, shear angle) of its threads follow from those of its
three sides: side k, of rest length L_k and with the rest vector (u_k, v_k) along warp and weft, is longer by s_k when

    e = sum B_k s_k,   B_k = L_k / 4 A^2 (-v_i v_j, -u_i u_j, u_i v_j + v_i u_j),   i and j the other two sides

(Delingette 2008; Volino, Magnenat-Thalmann and Faure 2009 for what threads feel). So the energy of the triangle is

    A/2 e^T C e = 1/2 s^T M s,   M_kl = A B_k^T C B_l,
    C = 1 / (1 - nu^2) [[Kw, nu sqrt(Kw Kf), 0], [., Kf, 0], [0, 0, (1 - nu^2) G]]

with Kw, Kf [N/m] the tension per width and strain of a strip cut along the warp or the weft, G [N/m] the shear
stiffness and nu, the geometric mean of both Poisson's ratios, by what part of its lengthening such a strip narrows
(Reddy 2004, section 1.3: plane stress). All forces act along sides: each side is a spring of constant M_kk, and M_kl
says how hard a triangle pulls on side k for the lengthening of side l. Both are summed over triangles.

Lengthening takes the place of Green's (l^2 - L^2) / 2 L. To first order that is the same; but under compression
Green's tension, (l^2 - L^2) l, is weakest at l = 0 and softens from 0.58 L on: triangles would collapse for good. And M
does not change with x, so what bounds it (`springs.spring_numbers`) holds at any shape.

A quad is taken twice, cut along either diagonal, with half the weight each: neither diagonal is preferred. Where there
is no pattern, a quad's sides are the threads, and which is the warp nobody knows: both get sqrt(Kw Kf). Triangles
without a pattern have no threads: they are isotropic with this modulus, and G = K / 2 (1 + nu).
"""

from typing import NamedTuple

import numpy as np

from ..geometry.topology import edge_keys

SOUND_SHARE = 0.1  # least part of a quad's area that each triangle of its other cut must have
STIFFEST_SIDE = 20.0  # most M_kk, in the fabric's largest stiffness: slivers are softened, not locked
NEGLIGIBLE_SIDE = 1e-9  # constant of a side over that of a thread up to which it is the angle's rounding
LOOSE_STIFFNESS = 1.0  # stiffness of an edge without faces, in that of its thread: a ribbon as wide as the edge is long


class Membrane(NamedTuple):
    """Springs between `topology.Springs.pairs`, and what they have to do with each other."""

    rest_length: np.ndarray  # (s,) [m]
    stiffness: np.ndarray  # (s,) [N/m]; 0 where no triangle needs the spring
    couples: np.ndarray  # (c, 2) springs of one triangle, each pair once
    coupling: np.ndarray  # (c,) [N/m] pull on either for the lengthening of the other


class _Elements(NamedTuple):
    """Triangles, those of both cuts of every quad included."""

    triangles: np.ndarray  # (m, 3)
    uv: np.ndarray | None  # (m, 3, 2)
    weight: np.ndarray  # (m,)


def membrane(x, faces, springs, uv, fabric):
    """`Membrane` of a garment.

    Parameters
    ----------
    x : (n, 3) [m] rest positions
    faces, springs : from `topology`
    uv : (t, 3, 2) pattern coordinates of the triangles in `faces`, u along the warp, or None
    fabric : four (n,) arrays: warp, weft and shear stiffness [N/m], Poisson's ratio
    """
    elements = _elements(x, faces, springs, uv)
    corners = elements.triangles
    count, pairs = len(springs.pairs), springs.pairs
    sides = np.stack([corners[:, [1, 2, 0]], corners[:, [2, 0, 1]]], axis=2)  # side k lies opposite corner k
    place = np.searchsorted(edge_keys(pairs, len(x)), edge_keys(sides.reshape(-1, 2), len(x))).reshape(-1, 3)
    is_thread = springs.is_mesh_edge[place]
    stiffness = _stiffness(x, elements, sides, is_thread, fabric)
    rest_length = np.linalg.norm(x[pairs[:, 1]] - x[pairs[:, 0]], axis=1)
    k = np.bincount(place.ravel(), stiffness[:, [0, 1, 2], [0, 1, 2]].ravel(), minlength=count)
    in_face = np.bincount(springs.beside_spring, minlength=count) > 0
    thread = 0.5 * np.einsum("sk->s", fabric[0][pairs])
    k = np.where(in_face, k, LOOSE_STIFFNESS * thread)
    useful = k > NEGLIGIBLE_SIDE * thread
    couples, coupling = _couple(place, stiffness, count)
    kept = useful[couples].all(axis=1)
    return Membrane(rest_length, np.where(useful, k, 0.0), couples[kept], coupling[kept])


def _elements(x, faces, springs, uv):
    """Triangles, and those of the quads' other cuts where these are sound."""
    quads, halves = springs.quads, springs.halves
    drawn = faces.triangles[halves]  # (q, 2, 3)
    # a quad (a, b, c, d) that is cut along b, d has a in one half alone: it is turned, so that all are cut along a, c
    turned = (drawn == quads[:, None, None, 0]).any(axis=2).sum(axis=1) == 1
    quads = np.where(turned[:, None], np.roll(quads, -1, axis=1), quads)
    other = quads[:, [[0, 1, 3], [1, 2, 3]]]  # (q, 2, 3)
    normal = np.cross(x[other[..., 1]] - x[other[..., 0]], x[other[..., 2]] - x[other[..., 0]])
    total = normal.sum(axis=1)
    least = (np.einsum("qhi,qi->qh", normal, total) / np.einsum("qi,qi->q", total, total)[:, None]).min(
        axis=1, initial=1
    )
    sound = least > SOUND_SHARE
    weight = np.ones(len(faces.triangles))
    weight[halves[sound]] = 0.5
    other = other[sound].reshape(-1, 3)
    triangles = np.concatenate([faces.triangles, other])
    weight = np.concatenate([weight, np.full(len(other), 0.5)])
    if uv is not None:
        match = (drawn[:, None] == quads[:, :, None, None]).reshape(len(quads), 4, 6).argmax(axis=2)
        corner_uv = uv[halves].reshape(len(quads), 6, 2)[np.arange(len(quads))[:, None], match]
        uv = np.concatenate([uv, corner_uv[sound][:, [[0, 1, 3], [1, 2, 3]]].reshape(-1, 3, 2)])
    return _Elements(triangles, uv, weight)


def _stiffness(x, elements, sides, is_thread, fabric):
    """M of each element, (m, 3, 3) [N/m]."""
    e = x[sides[..., 1]] - x[sides[..., 0]]
    normal = np.cross(e[:, 0], e[:, 1])
    double_area = np.sqrt(np.einsum("ij,ij->i", normal, normal))
    normal /= double_area[:, None]
    warp, known = _warp(e, elements.uv, is_thread)
    weft = np.cross(normal, warp)
    u, v = np.einsum("mki,mi->mk", e, warp), np.einsum("mki,mi->mk", e, weft)
    strain = np.stack([np.stack([-v[:, i] * v[:, j], -u[:, i] * u[:, j], u[:, i] * v[:, j] + v[:, i] * u[:, j]], axis=1)
                       for i, j in ((1, 2), (2, 0), (0, 1))], axis=1)  # fmt: skip
    strain *= (np.sqrt(u * u + v * v) / double_area[:, None] ** 2)[:, :, None]
    kw, kf, g, nu = (np.einsum("mk->m", value[elements.triangles]) / 3.0 for value in fabric)
    mean = np.sqrt(kw * kf)
    # threads that the pattern tells: both differ; those of a quad's sides: alike; none at all: the same in all directions
    kw, kf = np.where(known == BY_PATTERN, kw, mean), np.where(known == BY_PATTERN, kf, mean)
    g = np.where(known == UNKNOWN, mean / (2.0 + 2.0 * nu), g)
    c = np.zeros((len(kw), 3, 3))
    c[:, 0, 0], c[:, 1, 1], c[:, 2, 2] = kw / (1.0 - nu**2), kf / (1.0 - nu**2), g
    c[:, 0, 1] = c[:, 1, 0] = nu * mean / (1.0 - nu**2)
    stiffness = (0.5 * double_area * elements.weight)[:, None, None] * np.einsum("mij,mjk,mlk->mil", strain, c, strain)
    largest = stiffness[:, [0, 1, 2], [0, 1, 2]].max(axis=1)
    most = STIFFEST_SIDE * c[:, [0, 1, 2], [0, 1, 2]].max(axis=1)
    return stiffness * np.minimum(1.0, most / np.maximum(largest, 1e-300))[:, None, None]


BY_PATTERN, BY_SIDES, UNKNOWN = 0, 1, 2  # what tells where an element's threads run


def _warp(e, uv, is_thread):
    """Unit vector along the warp in each element, (m, 3), and what tells it, (m,)."""
    # Two sides along threads stand as much aslant to warp and weft: the bias halves their angle.
    unit = e / np.sqrt(np.einsum("mki,mki->mk", e, e))[:, :, None]
    odd = is_thread.argmin(axis=1)
    rows = np.arange(len(e))
    one, other = unit[rows, (odd + 1) % 3], -unit[rows, (odd + 2) % 3]  # away from or towards the corner between them
    # bias one + other and, across it, one - other: the warp is halfway between these
    bias, across = one + other, one - other
    bias /= np.sqrt(np.einsum("mi,mi->m", bias, bias))[:, None]
    across /= np.sqrt(np.einsum("mi,mi->m", across, across))[:, None]
    warp = (bias + across) / np.sqrt(2.0)
    known = np.where(is_thread.sum(axis=1) == 2, BY_SIDES, UNKNOWN)
    if uv is None:
        return warp, known
    along, told = warp_of_pattern(e, uv)
    return np.where(told[:, None], along, warp), np.where(told, BY_PATTERN, known)


def warp_of_pattern(e, uv):
    """Unit vector along the warp of triangles with sides e (m, 3, 3), side k opposite corner k, and where it is told.

    uv (m, 3, 2) : pattern coordinates of the corners. Nothing sees the vector's sign.
    """
    du, dv = (uv[:, [2, 0, 1]] - uv[:, [1, 2, 0]]).transpose(2, 0, 1)
    determinant = du[:, 0] * dv[:, 1] - du[:, 1] * dv[:, 0]
    flat = np.abs(determinant) <= 1e-9 * (du[:, :2] ** 2 + dv[:, :2] ** 2).sum(axis=1)  # without area in the pattern
    along = e[:, 0] * dv[:, 1:2] - e[:, 1] * dv[:, 0:1]  # along dx/du up to a factor
    length = np.sqrt(np.einsum("mi,mi->m", along, along))
    told = ~flat & (length > 0.0)
    return np.divide(along, length[:, None], out=np.zeros_like(along), where=told[:, None]), told


def _couple(place, stiffness, count):
    """Couples (c, 2) of the springs `place` (m, 3), each once, and what all elements together have between them."""
    one, other = np.array([0, 1, 2]), np.array([1, 2, 0])
    keys, row = np.unique(
        edge_keys(place[:, [one, other]].transpose(0, 2, 1).reshape(-1, 2), count), return_inverse=True
    )
    coupling = np.bincount(row.ravel(), stiffness[:, one, other].ravel(), minlength=len(keys))
    return np.stack([keys // count, keys % count], axis=1), coupling
