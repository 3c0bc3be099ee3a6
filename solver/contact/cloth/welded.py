# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth beside seams that are welded: it may be nearer to what is on the seam's other side than it is thick, as beside any
vertex; how near it lies when flat, the pattern does not say at once.
"""

import math

from ...geometry.ccd import closest_pair, weighted_sum
from ...kernel.jit import folded


@folded
def across_seams(skin, is_edge_pair, a, b, c, d):
    """How far [m] the sides of a pair are from each other by the way over the nearest corner that is welded; 100 flops and
    some for each of a corner's partners.
    """
    nearest, rest = math.inf, skin.x_rest
    for k in range(4):
        i = (a, b, c, d)[k]
        # the side that the corner does not belong to, as a triangle
        if is_edge_pair:
            e, f, g = (c, d, d) if k < 2 else (a, b, b)
        else:
            e, f, g = (b, c, d) if k < 1 else (a, a, a)
        for at in range(skin.partner_start[i], skin.partner_start[i + 1]):
            p = skin.partner[at]
            wp, we, wf, wg = closest_pair(False, rest, p, e, f, g)
            dx, dy, dz = weighted_sum(rest, p, e, f, g, wp, we, wf, wg)
            nearest = min(nearest, math.sqrt(dx * dx + dy * dy + dz * dz))
    return nearest
