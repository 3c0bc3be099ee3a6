# SPDX-License-Identifier: GPL-3.0-or-later
"""Distance: closest points between a point and a triangle and between two segments, as scalar formulas for kernels.

Both follow Ericson, Real-Time Collision Detection (2005), 5.1.5 and 5.1.9: the plane is cut into the regions of
the triangle's corners, edges and inside (Voronoi regions), and the region decides the answer without a square root.

            . 2 .
         .    c    .
      6    /    \\    5         features: 0 the face, 1 2 3 the corners a b c (drawn as their regions),
     .   /   0    \\   .        4 5 6 the edges ab, bc, ca
      a ------------ b
    1         4         2
"""

from ..kernel.jit import inner

FACE, CORNER_A, CORNER_B, CORNER_C, EDGE_AB, EDGE_BC, EDGE_CA = range(7)
PARALLEL = 1e-14  # square of the sine between segments up to which they are taken to be parallel: rounding


@inner
def closest_on_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """The point of triangle abc that is closest to p.

    Returns
    -------
    (wa, wb, wc, feature) : barycentric weights >= 0 with sum 1, and the feature code of this module.

    Notes
    -----
    Slivers are safe down to a height of 1e-9 of their length. A triangle without any area answers with one of its
    points, not always the closest: callers leave such triangles out.
    """
    abx, aby, abz = bx - ax, by - ay, bz - az
    acx, acy, acz = cx - ax, cy - ay, cz - az
    apx, apy, apz = px - ax, py - ay, pz - az
    d1 = abx * apx + aby * apy + abz * apz
    d2 = acx * apx + acy * apy + acz * apz
    if d1 <= 0.0 and d2 <= 0.0:
        return 1.0, 0.0, 0.0, CORNER_A
    bpx, bpy, bpz = px - bx, py - by, pz - bz
    d3 = abx * bpx + aby * bpy + abz * bpz
    d4 = acx * bpx + acy * bpy + acz * bpz
    if d3 >= 0.0 and d4 <= d3:
        return 0.0, 1.0, 0.0, CORNER_B
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0 and d1 > d3:
        v = d1 / (d1 - d3)
        return 1.0 - v, v, 0.0, EDGE_AB
    cpx, cpy, cpz = px - cx, py - cy, pz - cz
    d5 = abx * cpx + aby * cpy + abz * cpz
    d6 = acx * cpx + acy * cpy + acz * cpz
    if d6 >= 0.0 and d5 <= d6:
        return 0.0, 0.0, 1.0, CORNER_C
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0 and d2 > d6:
        w = d2 / (d2 - d6)
        return 1.0 - w, 0.0, w, EDGE_CA
    va = d3 * d6 - d5 * d4
    along, against = d4 - d3, d5 - d6
    if va <= 0.0 and along >= 0.0 and against >= 0.0 and along + against > 0.0:
        w = along / (along + against)
        return 0.0, 1.0 - w, w, EDGE_BC
    total = va + vb + vc
    if total <= 0.0:  # rounding left no region for a triangle without area
        return 1.0, 0.0, 0.0, CORNER_A
    v, w = vb / total, vc / total
    return 1.0 - v - w, v, w, FACE


@inner
def closest_on_segments(px, py, pz, qx, qy, qz, rx, ry, rz, sx, sy, sz):
    """The closest points p + a (q - p) and r + b (s - r) of two segments: returns (a, b), both in [0, 1].

    Parallel segments have many closest pairs: the one nearest to p is taken. Segments of no length are points.
    """
    ux, uy, uz = qx - px, qy - py, qz - pz
    vx, vy, vz = sx - rx, sy - ry, sz - rz
    wx, wy, wz = px - rx, py - ry, pz - rz
    uu = ux * ux + uy * uy + uz * uz
    vv = vx * vx + vy * vy + vz * vz
    vw = vx * wx + vy * wy + vz * wz
    if uu == 0.0:
        if vv == 0.0:
            return 0.0, 0.0
        return 0.0, min(max(vw / vv, 0.0), 1.0)
    uw = ux * wx + uy * wy + uz * wz
    if vv == 0.0:
        return min(max(-uw / uu, 0.0), 1.0), 0.0
    uv = ux * vx + uy * vy + uz * vz
    denominator = uu * vv - uv * uv
    a = 0.0
    if denominator > PARALLEL * uu * vv:
        a = min(max((uv * vw - uw * vv) / denominator, 0.0), 1.0)
    b = (uv * a + vw) / vv
    if b < 0.0:
        b = 0.0
        a = min(max(-uw / uu, 0.0), 1.0)
    elif b > 1.0:
        b = 1.0
        a = min(max((uv - uw) / uu, 0.0), 1.0)
    return a, b
