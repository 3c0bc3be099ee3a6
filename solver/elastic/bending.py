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

from ..jit import fused
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


@fused
def project_bending(x, stencils, weight, rest_bend, pull, start, stop):
    """One sweep of hinges `start` to `stop` towards their rest bend.

    `rest_bend` is 2 sin(theta0 / 2) and row i of `pull` w_i K_i / (sum w K^2 + compliance / dt^2), both computed once
    a frame. About 50 flops and 300 bytes a flat hinge.
    """
    for h in range(np.uintp(start), np.uintp(stop)):
        a, b = np.uintp(stencils[h, 0]), np.uintp(stencils[h, 1])
        c, d = np.uintp(stencils[h, 2]), np.uintp(stencils[h, 3])
        ka, kb, kc, kd = weight[h, 0], weight[h, 1], weight[h, 2], weight[h, 3]
        xa, ya, za, xb, yb, zb = x[a, 0], x[a, 1], x[a, 2], x[b, 0], x[b, 1], x[b, 2]
        xc, yc, zc, xd, yd, zd = x[c, 0], x[c, 1], x[c, 2], x[d, 0], x[d, 1], x[d, 2]
        lx = ka * xa + kb * xb + kc * xc + kd * xd
        ly = ka * ya + kb * yb + kc * yc + kd * yd
        lz = ka * za + kb * zb + kc * zc + kd * zd
        if rest_bend[h] != 0.0:
            # The side: the bend vector against the hinge's normal, edge x (o1 - o0).
            ex, ey, ez, ox, oy, oz = xb - xa, yb - ya, zb - za, xd - xc, yd - yc, zd - zc
            nx, ny, nz = ey * oz - ez * oy, ez * ox - ex * oz, ex * oy - ey * ox
            length = sqrt(lx * lx + ly * ly + lz * lz)
            if length > 1e-9:
                turn = rest_bend[h] if lx * nx + ly * ny + lz * nz >= 0.0 else -rest_bend[h]
                share = 1.0 - turn / length
                lx, ly, lz = share * lx, share * ly, share * lz
            else:
                size = sqrt(nx * nx + ny * ny + nz * nz)
                push = rest_bend[h] / size if size > 0.0 else 0.0
                lx, ly, lz = -push * nx, -push * ny, -push * nz
        wa, wb, wc, wd = pull[h, 0], pull[h, 1], pull[h, 2], pull[h, 3]
        x[a, 0], x[a, 1], x[a, 2] = xa - wa * lx, ya - wa * ly, za - wa * lz
        x[b, 0], x[b, 1], x[b, 2] = xb - wb * lx, yb - wb * ly, zb - wb * lz
        x[c, 0], x[c, 1], x[c, 2] = xc - wc * lx, yc - wc * ly, zc - wc * lz
        x[d, 0], x[d, 1], x[d, 2] = xd - wd * lx, yd - wd * ly, zd - wd * lz


@fused
def damp_bending(x, v, stencils, weight, pull, share, start, stop):
    """One sweep that slows the rate of |L| of each hinge, along L: angular momentum is kept.

    `share` is 1 - exp(-rate dt), times what makes `pull` (see `project_bending`) w_i K_i / sum w K^2.
    About 70 flops and 500 bytes a hinge.
    """
    for h in range(np.uintp(start), np.uintp(stop)):
        a, b = np.uintp(stencils[h, 0]), np.uintp(stencils[h, 1])
        c, d = np.uintp(stencils[h, 2]), np.uintp(stencils[h, 3])
        ka, kb, kc, kd = weight[h, 0], weight[h, 1], weight[h, 2], weight[h, 3]
        lx = ka * x[a, 0] + kb * x[b, 0] + kc * x[c, 0] + kd * x[d, 0]
        ly = ka * x[a, 1] + kb * x[b, 1] + kc * x[c, 1] + kd * x[d, 1]
        lz = ka * x[a, 2] + kb * x[b, 2] + kc * x[c, 2] + kd * x[d, 2]
        square = lx * lx + ly * ly + lz * lz
        if square > 1e-18:
            xa, ya, za, xb, yb, zb = v[a, 0], v[a, 1], v[a, 2], v[b, 0], v[b, 1], v[b, 2]
            xc, yc, zc, xd, yd, zd = v[c, 0], v[c, 1], v[c, 2], v[d, 0], v[d, 1], v[d, 2]
            rx = ka * xa + kb * xb + kc * xc + kd * xd
            ry = ka * ya + kb * yb + kc * yc + kd * yd
            rz = ka * za + kb * zb + kc * zc + kd * zd
            s = share[h] * (rx * lx + ry * ly + rz * lz) / square
            wa, wb, wc, wd = s * pull[h, 0], s * pull[h, 1], s * pull[h, 2], s * pull[h, 3]
            v[a, 0], v[a, 1], v[a, 2] = xa - wa * lx, ya - wa * ly, za - wa * lz
            v[b, 0], v[b, 1], v[b, 2] = xb - wb * lx, yb - wb * ly, zb - wb * lz
            v[c, 0], v[c, 1], v[c, 2] = xc - wc * lx, yc - wc * ly, zc - wc * lz
            v[d, 0], v[d, 1], v[d, 2] = xd - wd * lx, yd - wd * ly, zd - wd * lz
