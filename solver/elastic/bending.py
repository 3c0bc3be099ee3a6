# SPDX-License-Identifier: GPL-3.0-or-later
"""Bending: a spring on the bend vector of each hinge, with the rigidity of a plate and no trigonometry.

For a hinge with edge (e0, e1), opposite vertices (o0, o1) and heights h0, h1 the bend vector is

    L = sum_i K_i x_i,   K_o0 = 1/h0, K_o1 = 1/h1, K_e0, K_e1 so that L = 0 for every flat hinge.

While the triangles keep their shape, |L| = 2 sin(theta / 2) and L points along the hinge's normal: L is a linear
stand-in for the dihedral angle theta (Bergou, Wardetzky, Harmon, Zorin and Grinspun 2006, section 3, with the factor
chosen anew). The energy 1/2 k (|L| - 2 sin(theta0 / 2))^2 with k = B l^2 / (A0 + A1) bends a grid along its lines with
the plate rigidity B [N m]. L is a spring with four ends: its force on particle i is K_i times one vector along L, so
the forces sum to zero (the K_i do) and so do the moments (L x L = 0): momentum and angular momentum are kept exactly.

That tells an angle well while the cloth is not folded: at a full fold |L| does not change with theta at all. So a hinge that is folded
by more than `SHARP_FOLD` at rest has the other one of its two triangles counted against, K_o1 = -1/h1 and K_e0, K_e1 so that L = 0 for every
full fold: |L| = 2 cos(theta / 2), and L is a stand-in for what is left to the full fold, as linear there as the other is about flat cloth. By
bend vectors alone, sharp pleats that are modelled had up to 20 times the stiffness, along directions that turn fast, for a seventh of
the rigidity or less near a full fold, and shook the whole skirt.

Woven cloth bends harder along one of its threads. A hinge that curves the cloth at the angle t to the warp has

    B(t) = Bw cos^2 t + Bf sin^2 t,

the orthotropic sheet Bw cos^4 t + 2 H cos^2 t sin^2 t + Bf sin^4 t (Cooper 1960) whose rigidity against twist, H, is the
mean of both: the only one that single hinges can have, and equal in all directions where Bw = Bf.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..geometry.topology import edge_keys
from ..kernel.functions import arcsin, sin
from ..kernel.jit import fused_inner
from .membrane import warp_of_pattern

SHORTEST_BEND = 1e-9  # length of a bend vector that has no direction
NEGLIGIBLE_WEIGHT = 1e-3  # of a hinge's second vertex over the first's, below which it hardly counts
SHARP_FOLD = np.radians(135.0)  # rest angle from which on a hinge counts as folded; d|L|/dtheta is 0.38 there
SOFTEST_CREASE = 0.05  # least cos^2 of half a rest angle by which stiffness is divided
FLAT_ANGLE = 1e-4  # [rad] rest angles below this count as flat: they have no side to be told
LOWEST = 0.05  # height over the hinge's length that a triangle counts as having: beside slivers hinges are softened, not locked


class Bending(NamedTuple):
    """The numbers of hinges."""

    rest: np.ndarray  # (h,) 2 sin(rest angle / 2); of what is folded 2 cos
    stiffness: np.ndarray  # (h,) [J]
    damping: np.ndarray  # (h,) [J s]


def hinge_weights(x, stencils, other=1.0):
    """K of each hinge: (h, 4) [1/m], rows sum to zero. x (n, 3) [m], stencils (h, 4); other : 1, or -1 of what is folded."""
    e0, e1, o0, o1 = (x[column] for column in stencils.T)
    edge = e1 - e0
    square = np.einsum("ij,ij->i", edge, edge)
    foot, height = [], []
    for opposite in (o0, o1):
        share = np.einsum("ij,ij->i", opposite - e0, edge) / square
        foot.append(share)
        height.append(np.linalg.norm(opposite - e0 - share[:, None] * edge, axis=1))
    k0, k1 = 1.0 / height[0], other / height[1]
    return np.stack([-(1 - foot[0]) * k0 - (1 - foot[1]) * k1, -foot[0] * k0 - foot[1] * k1, k0, k1], axis=1)


def are_folded(weight):
    """(h,) bool: which hinges tell what is left to a full fold, by their K (h, 4)."""
    return weight[:, 2] * weight[:, 3] < 0.0


def angles_of(x, stencils, weight):
    """(h,) [rad] dihedral angles of hinges at x (n, 3) [m], as their bend vectors tell them; the sign tells the side, against
    edge x (o1 - o0).
    """
    edge, folded = x[stencils[:, 1]] - x[stencils[:, 0]], are_folded(weight)
    first, last = x[stencils[:, 2]], x[stencils[:, 3]]
    normal = np.cross(edge, np.where(folded[:, None], last + first - 2.0 * x[stencils[:, 0]], last - first))
    bend = np.einsum("hk,hkj->hj", weight, x[stencils])
    side = np.sign(np.einsum("ij,ij->i", bend, normal))
    half = arcsin(np.minimum(0.5 * np.linalg.norm(bend, axis=1), 1.0))
    angle = 2.0 * side * np.where(folded, 0.5 * np.pi - half, half)
    angle[np.abs(angle) < FLAT_ANGLE] = 0.0
    return angle


def bending_rest(x, hinges, stiffness, fold=None, start=None):
    """Weights, rest angles and stiffness of the hinges that bend.

    Parameters
    ----------
    x : (n, 3) [m] rest positions
    hinges : from `topology.bend_hinges`
    stiffness : (n,) [N m] plate rigidity
    fold : (h,) [rad] rest angles that take the place of those at x, NaN where none does; None: nowhere
    start : (n, 3) [m] positions that a shot starts with: what is folded there, too, counts as that; None: nothing does

    Returns
    -------
    stencils : (h, 4) those with any stiffness; the two hinges of a straight line through a vertex are one
    weight : (h, 4) [1/m]
    rest_angle : (h,) [rad]; the sign tells the side, against edge x (o1 - o0)
    stiffness : (h,) [J/rad2]
    is_damped : (h,) bool
    """
    stencils = hinges.stencils
    rigidity = 0.5 * (stiffness[stencils[:, 0]] + stiffness[stencils[:, 1]]) * hinges.share
    edge = x[stencils[:, 1]] - x[stencils[:, 0]]
    square = np.einsum("ij,ij->i", edge, edge)
    across = x[stencils[:, 3]] - x[stencils[:, 2]]
    normal = np.cross(edge, across)
    # Opposite vertices that lie behind each other (a quad folded onto its neighbour) span no hinge.
    size = np.einsum("ij,ij->i", normal, normal) + square * np.einsum("ij,ij->i", across, across)
    useful = (rigidity > 0) & (square > 0) & (size > 0)
    weight = np.zeros((len(stencils), 4))
    weight[useful] = hinge_weights(x, stencils[useful])
    useful &= np.isfinite(weight).all(axis=1)
    k = rigidity * square / hinges.area * _softened(weight, square)
    fold = np.full(len(k), np.nan) if fold is None else fold
    stencils, weight, k, fold, is_damped = (array[useful] for array in (stencils, weight, k, fold, hinges.is_damped))
    k, kept = _merge_lines(stencils, weight, k, fold)
    stencils, weight, k, fold, is_damped = (array[kept] for array in (stencils, weight, k, fold, is_damped))
    rest_angle = np.where(np.isnan(fold), angles_of(x, stencils, weight), fold)
    # d|L|/dtheta = cos(theta/2): a crease at rest would be too soft by its square. A full fold that is marked stays finite.
    sine = sin(0.5 * rest_angle)
    softer = np.maximum(1.0 - sine**2, SOFTEST_CREASE)
    if start is not None:
        folded = np.isnan(fold) & (np.abs(rest_angle) > SHARP_FOLD)
        folded[folded] = np.sign(rest_angle[folded]) * angles_of(start, stencils[folded], weight[folded]) > 0.5 * np.pi
        weight[folded], softer[folded] = hinge_weights(x, stencils[folded], -1.0), sine[folded] ** 2
    return stencils, weight, rest_angle, k / softer, is_damped


def _softened(weight, square):
    """(h,) part of its stiffness that each hinge keeps: 1 where both triangles are higher than `LOWEST` of the hinge's length, whose
    square is given [m2]; else so much that it holds the lower one's corner no firmer than if it were so high.

    A corner 10 um off a hinge of 1 cm is held ten thousand times as firmly as one 1 mm off, beside which a few iterations solve
    nothing else: one such edge in a pair of trousers threw its neighbours metres away.
    """
    return np.minimum(1.0, 1.0 / np.maximum(LOWEST**2 * square * np.square(weight[:, 2:]).max(axis=1), 1.0))


def turn_rigidity(x, faces, uv, hinges, ratio):
    """Hinges with the rigidity of their direction, Bf being `ratio` times Bw.

    A hinge's threads are those of the faces around its edge's ends, by area. Where no pattern tells them, it has the
    geometric mean.
    """
    if ratio == 1.0:
        return hinges
    if uv is None:
        return hinges._replace(share=hinges.share * np.sqrt(ratio))
    corner = x[faces.triangles]
    warp, told = warp_of_pattern(corner[:, [2, 0, 1]] - corner[:, [1, 2, 0]], uv)
    tensor = (np.where(told, faces.area, 0.0)[:, None, None] * warp[:, :, None] * warp[:, None]).reshape(-1, 9)
    at = np.stack([np.bincount(faces.triangles.ravel(), np.repeat(column, 3), minlength=len(x)) for column in tensor.T])
    around = (at.T[hinges.stencils[:, 0]] + at.T[hinges.stencils[:, 1]]).reshape(-1, 3, 3)
    edge, across = (x[hinges.stencils[:, b]] - x[hinges.stencils[:, a]] for a, b in ((0, 1), (2, 3)))
    square = np.einsum("hi,hi->h", edge, edge)
    skew = np.divide(np.einsum("hi,hi->h", edge, across), square, out=np.zeros(len(edge)), where=square > 0.0)
    across = across - skew[:, None] * edge
    along, beside = (np.einsum("hi,hij,hj->h", way, around, way) for way in (across, edge))
    along, beside = along * square, beside * np.einsum("hi,hi->h", across, across)
    total = along + beside
    share = np.divide(along, total, out=np.zeros(len(total)), where=total > 0.0)
    turned = np.where(total > 0.0, share + (1.0 - share) * ratio, np.sqrt(ratio))
    return hinges._replace(share=hinges.share * turned)


def _merge_lines(stencils, weight, k, fold):
    """Stiffness (h,) and which to keep, (h,) bool: of hinges with the same opposite vertices and first vertex, whose second
    vertex hardly counts, one stands for all. What is folded, at an angle that is no NaN, stays as it is.

    In a mesh of rectangles this halves the hinges between quads.
    """
    straight = np.abs(weight[:, 1]) < NEGLIGIBLE_WEIGHT * np.abs(weight[:, 0])
    straight = np.flatnonzero(straight & np.isnan(fold))
    key = edge_keys(stencils[straight, 2:], int(stencils.max(initial=0)) + 1)
    order = np.argsort(key, kind="stable")
    key, straight = key[order], straight[order]
    again = np.flatnonzero((key[1:] == key[:-1]) & (stencils[straight[1:], 0] == stencils[straight[:-1], 0]))
    # A line goes through a vertex twice at most where edges have two faces; a third hinge stays one of its own.
    again = again[np.diff(again, prepend=-2) > 1]
    k = k.copy()
    k[straight[again + 1]] += k[straight[again]]
    kept = np.ones(len(k), dtype=bool)
    kept[straight[again]] = False
    return k, kept


def slowed(time, stiffness, stencils, weight, inv_mass):
    """Damping rates (h,) [1/s] by which each hinge alone goes to its angle as exp(-t / time), however stiff it is: Kelvin and
    Voigt's solid, of the retardation time [s].

    Threads slide on each other in a bend, and their friction keeps part of what it took: the moment of hysteresis, 2HB, which
    is measured beside the rigidity B (Kawabata 1980; Lahey and Heppler 2004; Miguel et al. 2013). That is the same however fast
    cloth bends. This is viscosity, which stands for it where folds swing a few times a second.
    """
    return time * stiffness * np.einsum("hk,hk,hk->h", inv_mass[stencils], weight, weight)


def hinge_numbers(cloth):
    """`Bending` of a cloth's hinges, damping as that of springs; what they have in common with it they share."""
    apart = np.einsum("bk,bk,bk->b", cloth.inv_mass[cloth.bend_stencils], cloth.bend_weight, cloth.bend_weight)
    c = np.divide(cloth.bend_damping, apart, out=np.zeros(len(apart)), where=apart > 0)
    rest = cloth.rest_angle
    if rest.any():
        left = np.where(are_folded(cloth.bend_weight), np.where(rest < 0.0, -np.pi, np.pi) - rest, rest)
        rest = 2.0 * sin(0.5 * left)
    return Bending(rest, cloth.bend_stiffness, c)


@fused_inner
def opening(x, a, b, c, d, lx, ly, lz, rest, scale, turn):
    """A bent hinge's rest, with the sign of the side that its bend vector l is on, and l's direction.

    The side is that of the normal, edge x (o1 - o0), whose direction l takes where it is `SHORTEST_BEND`; of what is folded that of edge x
    (o1 + o0 - 2 e0). scale [1] is 1 / |l|; turn is 1, or -1 of what is folded.
    """
    back = 1.0 - turn
    ex, ey, ez = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    ox, oy = x[d, 0] - turn * x[c, 0] - back * x[a, 0], x[d, 1] - turn * x[c, 1] - back * x[a, 1]
    oz = x[d, 2] - turn * x[c, 2] - back * x[a, 2]
    nx, ny, nz = ey * oz - ez * oy, ez * ox - ex * oz, ex * oy - ey * ox
    size = sqrt(nx * nx + ny * ny + nz * nz)
    if scale * SHORTEST_BEND > 0.9 and size > 0.0:
        return rest, nx / size, ny / size, nz / size
    if lx * nx + ly * ny + lz * nz < 0.0:
        rest = -rest
    return rest, scale * lx, scale * ly, scale * lz


@fused_inner
def hinge_forces(x, v, elastic, force):
    """Forces of hinges at x and v, as `spring_forces` with the bend vector for x_j - x_i; returns their energy [J].

    elastic : `internal.Elastic`. About 110 flops and 500 bytes a hinge. # added to: force (n, 3) [N]
    """
    energy, stencils, weight, hinge = 0.0, elastic.stencils, elastic.weight, elastic.hinge
    for h in range(np.uintp(stencils.shape[0])):
        a, b = np.uintp(stencils[h, 0]), np.uintp(stencils[h, 1])
        c, d = np.uintp(stencils[h, 2]), np.uintp(stencils[h, 3])
        ka, kb, kc, kd = weight[h, 0], weight[h, 1], weight[h, 2], weight[h, 3]
        lx = ka * x[a, 0] + kb * x[b, 0] + kc * x[c, 0] + kd * x[d, 0]
        ly = ka * x[a, 1] + kb * x[b, 1] + kc * x[c, 1] + kd * x[d, 1]
        lz = ka * x[a, 2] + kb * x[b, 2] + kc * x[c, 2] + kd * x[d, 2]
        length, rest = sqrt(lx * lx + ly * ly + lz * lz), hinge.rest[h]
        scale = 1.0 / max(length, SHORTEST_BEND)
        ux, uy, uz = scale * lx, scale * ly, scale * lz
        if rest != 0.0:
            rest, ux, uy, uz = opening(x, a, b, c, d, lx, ly, lz, rest, scale, 1.0 if kc * kd > 0.0 else -1.0)
        more = length - rest
        energy += 0.5 * hinge.stiffness[h] * more * more
        pull = hinge.stiffness[h] * more
        pull += hinge.damping[h] * ux * (ka * v[a, 0] + kb * v[b, 0] + kc * v[c, 0] + kd * v[d, 0])
        pull += hinge.damping[h] * uy * (ka * v[a, 1] + kb * v[b, 1] + kc * v[c, 1] + kd * v[d, 1])
        pull += hinge.damping[h] * uz * (ka * v[a, 2] + kb * v[b, 2] + kc * v[c, 2] + kd * v[d, 2])
        px, py, pz = pull * ux, pull * uy, pull * uz
        force[a, 0], force[a, 1], force[a, 2] = force[a, 0] - ka * px, force[a, 1] - ka * py, force[a, 2] - ka * pz
        force[b, 0], force[b, 1], force[b, 2] = force[b, 0] - kb * px, force[b, 1] - kb * py, force[b, 2] - kb * pz
        force[c, 0], force[c, 1], force[c, 2] = force[c, 0] - kc * px, force[c, 1] - kc * py, force[c, 2] - kc * pz
        force[d, 0], force[d, 1], force[d, 2] = force[d, 0] - kd * px, force[d, 1] - kd * py, force[d, 2] - kd * pz
    return energy
