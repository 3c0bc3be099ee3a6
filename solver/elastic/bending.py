# SPDX-License-Identifier: GPL-3.0-or-later
"""Bending: a spring on the bend vector of each hinge, with the rigidity of a plate and no trigonometry.

For a hinge with edge (e0, e1), opposite vertices (o0, o1) and heights h0, h1 the bend vector is

    L = sum_i K_i x_i,   K_o0 = 1/h0, K_o1 = 1/h1, K_e0, K_e1 so that L = 0 for every flat hinge.

While the triangles keep their shape, |L| = 2 sin(theta / 2) and L points along the hinge's normal: L is a linear
stand-in for the dihedral angle theta (Bergou, Wardetzky, Harmon, Zorin and Grinspun 2006, section 3, with the factor
chosen anew). The energy 1/2 k (|L| - 2 sin(theta0 / 2))^2 with k = B l^2 / (A0 + A1) bends a grid along its lines with
the plate rigidity B [N m]. L is a spring with four ends: its force on particle i is K_i times one vector along L, so
the forces sum to zero (the K_i do) and so do the moments (L x L = 0): momentum and angular momentum are kept exactly.
"""

from math import sqrt

import numpy as np

from ..jit import fused_inner
from ..topology import edge_keys

FLAT = 1e-4  # [rad] rest angles below this count as flat: they have no side to be told


def hinge_weights(x, stencils):
    """K of each hinge: (h, 4) [1/m], rows sum to zero. x (n, 3) [m], stencils (h, 4)."""
    e0, e1, o0, o1 = (x[column] for column in stencils.T)
    edge = e1 - e0
    square = np.einsum("ij,ij->i", edge, edge)
    foot, height = [], []
    for opposite in (o0, o1):
        share = np.einsum("ij,ij->i", opposite - e0, edge) / square
        foot.append(share)
        height.append(np.linalg.norm(opposite - e0 - share[:, None] * edge, axis=1))
    k0, k1 = 1.0 / height[0], 1.0 / height[1]
    return np.stack([-(1 - foot[0]) * k0 - (1 - foot[1]) * k1, -foot[0] * k0 - foot[1] * k1, k0, k1], axis=1)


def bending_rest(x, hinges, stiffness):
    """Weights, rest angles and compliances of the hinges that bend.

    Parameters
    ----------
    x : (n, 3) [m] rest positions
    hinges : from `topology.bend_hinges`
    stiffness : (n,) [N m] plate rigidity

    Returns
    -------
    stencils : (h, 4) those with any stiffness; the two hinges of a straight line through a vertex are one
    weight : (h, 4) [1/m]
    rest_angle : (h,) [rad]; the sign tells the side, against edge x (o1 - o0)
    compliance : (h,) [rad2/J]
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
    k = rigidity * square / hinges.area
    stencils, weight, k, normal = _merge_lines(stencils[useful], weight[useful], k[useful], normal[useful])
    bend = np.einsum("hk,hkj->hj", weight, x[stencils])
    side = np.sign(np.einsum("ij,ij->i", bend, normal))
    rest_angle = 2.0 * side * np.arcsin(np.minimum(0.5 * np.linalg.norm(bend, axis=1), 1.0))
    rest_angle[np.abs(rest_angle) < FLAT] = 0.0
    # d|L|/dtheta = cos(theta/2): a crease at rest would be too soft by its square. A full fold stays finite.
    return stencils, weight, rest_angle, np.maximum(np.cos(0.5 * rest_angle) ** 2, 0.05) / k


def _merge_lines(stencils, weight, k, normal):
    """One hinge for those with the same opposite vertices and first vertex whose second vertex hardly counts.

    In a mesh of rectangles this halves the hinges between quads.
    """
    straight = np.flatnonzero(np.abs(weight[:, 1]) < 1e-3 * np.abs(weight[:, 0]))
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
    return stencils[kept], weight[kept], k[kept], normal[kept]


@fused_inner
def _side(x, a, b, c, d, lx, ly, lz, rest, scale, ux, uy, uz):
    """A bent hinge's rest with the sign of the side that the bend vector l is on: along the normal, edge x (o1 - o0).

    Flat, where l has no direction u, it takes the normal's.
    """
    ex, ey, ez = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    ox, oy, oz = x[d, 0] - x[c, 0], x[d, 1] - x[c, 1], x[d, 2] - x[c, 2]
    nx, ny, nz = ey * oz - ez * oy, ez * ox - ex * oz, ex * oy - ey * ox
    size = sqrt(nx * nx + ny * ny + nz * nz)
    if lx * nx + ly * ny + lz * nz < 0.0:
        rest = -rest
    if scale == 0.0 and size > 0.0:
        ux, uy, uz = nx / size, ny / size, nz / size
    return rest, ux, uy, uz


@fused_inner
def _opening(x, a, b, c, d, ka, kb, kc, kd, rest):
    """The bend vector L of a hinge, its length and the inverse of that; its rest length with the sign, and the direction
    that counts as open.
    """
    lx = ka * x[a, 0] + kb * x[b, 0] + kc * x[c, 0] + kd * x[d, 0]
    ly = ka * x[a, 1] + kb * x[b, 1] + kc * x[c, 1] + kd * x[d, 1]
    lz = ka * x[a, 2] + kb * x[b, 2] + kc * x[c, 2] + kd * x[d, 2]
    length = sqrt(lx * lx + ly * ly + lz * lz)
    scale = 1.0 / length if length > 1e-9 else 0.0
    ux, uy, uz = scale * lx, scale * ly, scale * lz
    if rest != 0.0:
        rest, ux, uy, uz = _side(x, a, b, c, d, lx, ly, lz, rest, scale, ux, uy, uz)
    return lx, ly, lz, length, scale, rest, ux, uy, uz


@fused_inner
def linearise_hinges(x, x_prev, stencils, weight, hinge, row, force):
    """Forces of hinges at x, and rows of their stiffness matrix, as for springs: L takes the place of x_j - x_i.

    hinge (b, 3): 2 sin(rest angle / 2), k [J], damping over dt [J]. About 120 flops and 600 bytes a hinge.
    # outputs: row (b, 4); added to: force (n, 3)
    """
    for h in range(np.uintp(stencils.shape[0])):
        a, b = np.uintp(stencils[h, 0]), np.uintp(stencils[h, 1])
        c, d = np.uintp(stencils[h, 2]), np.uintp(stencils[h, 3])
        ka, kb, kc, kd = weight[h, 0], weight[h, 1], weight[h, 2], weight[h, 3]
        lx, ly, lz, length, scale, rest, ux, uy, uz = _opening(x, a, b, c, d, ka, kb, kc, kd, hinge[h, 0])
        k, damping = hinge[h, 1], hinge[h, 2]
        went = 0.0
        if damping > 0.0:
            went = ux * (lx - ka * x_prev[a, 0] - kb * x_prev[b, 0] - kc * x_prev[c, 0] - kd * x_prev[d, 0])
            went += uy * (ly - ka * x_prev[a, 1] - kb * x_prev[b, 1] - kc * x_prev[c, 1] - kd * x_prev[d, 1])
            went += uz * (lz - ka * x_prev[a, 2] - kb * x_prev[b, 2] - kc * x_prev[c, 2] - kd * x_prev[d, 2])
        pull = k * (length - rest) + damping * went
        even = k * min(max(1.0 - rest * scale, 0.0), 1.0) if rest != 0.0 else k
        stiff = sqrt(k - even + damping)
        hx, hy, hz = stiff * ux, stiff * uy, stiff * uz
        row[h, 0], row[h, 1], row[h, 2], row[h, 3] = hx, hy, hz, even
        px, py, pz = pull * ux, pull * uy, pull * uz
        force[a, 0], force[a, 1], force[a, 2] = force[a, 0] - ka * px, force[a, 1] - ka * py, force[a, 2] - ka * pz
        force[b, 0], force[b, 1], force[b, 2] = force[b, 0] - kb * px, force[b, 1] - kb * py, force[b, 2] - kb * pz
        force[c, 0], force[c, 1], force[c, 2] = force[c, 0] - kc * px, force[c, 1] - kc * py, force[c, 2] - kc * pz
        force[d, 0], force[d, 1], force[d, 2] = force[d, 0] - kd * px, force[d, 1] - kd * py, force[d, 2] - kd * pz


@fused_inner
def multiply_hinges(p, stencils, weight, row, q):
    """q += K p for the hinges' matrix K. 60 flops and 400 bytes a hinge."""
    for h in range(np.uintp(stencils.shape[0])):
        a, b = np.uintp(stencils[h, 0]), np.uintp(stencils[h, 1])
        c, d = np.uintp(stencils[h, 2]), np.uintp(stencils[h, 3])
        ka, kb, kc, kd = weight[h, 0], weight[h, 1], weight[h, 2], weight[h, 3]
        hx, hy, hz, even = row[h, 0], row[h, 1], row[h, 2], row[h, 3]
        lx = ka * p[a, 0] + kb * p[b, 0] + kc * p[c, 0] + kd * p[d, 0]
        ly = ka * p[a, 1] + kb * p[b, 1] + kc * p[c, 1] + kd * p[d, 1]
        lz = ka * p[a, 2] + kb * p[b, 2] + kc * p[c, 2] + kd * p[d, 2]
        along = hx * lx + hy * ly + hz * lz
        fx, fy, fz = even * lx + along * hx, even * ly + along * hy, even * lz + along * hz
        q[a, 0], q[a, 1], q[a, 2] = q[a, 0] + ka * fx, q[a, 1] + ka * fy, q[a, 2] + ka * fz
        q[b, 0], q[b, 1], q[b, 2] = q[b, 0] + kb * fx, q[b, 1] + kb * fy, q[b, 2] + kb * fz
        q[c, 0], q[c, 1], q[c, 2] = q[c, 0] + kc * fx, q[c, 1] + kc * fy, q[c, 2] + kc * fz
        q[d, 0], q[d, 1], q[d, 2] = q[d, 0] + kd * fx, q[d, 1] + kd * fy, q[d, 2] + kd * fz


@fused_inner
def hinge_forces(x, v, stencils, weight, hinge, force):
    """Forces of hinges at x and v, as `spring_forces` with the bend vector for x_j - x_i; returns their energy [J].

    hinge (b, 3): 2 sin(rest angle / 2), k [J], damping [J s]. About 110 flops and 500 bytes a hinge.
    # added to: force (n, 3) [N]
    """
    energy = 0.0
    for h in range(np.uintp(stencils.shape[0])):
        a, b = np.uintp(stencils[h, 0]), np.uintp(stencils[h, 1])
        c, d = np.uintp(stencils[h, 2]), np.uintp(stencils[h, 3])
        ka, kb, kc, kd = weight[h, 0], weight[h, 1], weight[h, 2], weight[h, 3]
        _, _, _, length, _, rest, ux, uy, uz = _opening(x, a, b, c, d, ka, kb, kc, kd, hinge[h, 0])
        more = length - rest
        energy += 0.5 * hinge[h, 1] * more * more
        pull = hinge[h, 1] * more
        pull += hinge[h, 2] * ux * (ka * v[a, 0] + kb * v[b, 0] + kc * v[c, 0] + kd * v[d, 0])
        pull += hinge[h, 2] * uy * (ka * v[a, 1] + kb * v[b, 1] + kc * v[c, 1] + kd * v[d, 1])
        pull += hinge[h, 2] * uz * (ka * v[a, 2] + kb * v[b, 2] + kc * v[c, 2] + kd * v[d, 2])
        px, py, pz = pull * ux, pull * uy, pull * uz
        force[a, 0], force[a, 1], force[a, 2] = force[a, 0] - ka * px, force[a, 1] - ka * py, force[a, 2] - ka * pz
        force[b, 0], force[b, 1], force[b, 2] = force[b, 0] - kb * px, force[b, 1] - kb * py, force[b, 2] - kb * pz
        force[c, 0], force[c, 1], force[c, 2] = force[c, 0] - kc * px, force[c, 1] - kc * py, force[c, 2] - kc * pz
        force[d, 0], force[d, 1], force[d, 2] = force[d, 0] - kd * px, force[d, 1] - kd * py, force[d, 2] - kd * pz
    return energy
