# SPDX-License-Identifier: GPL-3.0-or-later
"""Bringing one edge to a length: the projection of a distance (Müller, Heidelberger, Hennix and Ratcliff 2007, 3.3).

Three sweeps over edges share it and differ in which edges they take, to which length, and what may not move: after the
solve (`integrate.edge_clamp`), after cloth on cloth (`contact.cloth.edge_lengths`) and after the velocity field
(`velocity_field.advected_lengths`).
"""

from ..kernel.jit import fused_inner


@fused_inner
def project_edge(x, i, j, wi, wj, dx, dy, dz, length, wanted):
    """Bring particles i and j of x (n, 3) [m], from each other by (dx, dy, dz), which is `length` [m], to be `wanted` [m]
    apart, each by its inverse mass wi, wj [1/kg], so that momentum stays as it is. 20 flops.
    # outputs: x
    """
    share = (length - wanted) / (length * (wi + wj))
    a, b = share * wi, share * wj
    x[i, 0], x[i, 1], x[i, 2] = x[i, 0] + a * dx, x[i, 1] + a * dy, x[i, 2] + a * dz
    x[j, 0], x[j, 1], x[j, 2] = x[j, 0] - b * dx, x[j, 1] - b * dy, x[j, 2] - b * dz
