# SPDX-License-Identifier: GPL-3.0-or-later
"""The untangling operator: how far the fields' values at a point are from those that nested layers may have there.

At a point, the fields of m layers, innermost first, are a vector f of R^m. Layer i may be where f lies on its zero set
Z_i (Buffet 2021, section 2.3): the union over b and c of

    H(b, c) = {f : the sum of w f over the layers i - b ... i + c is 0, and the inequalities M f >= 0 of (2.4)}

which says that those layers lie on each other there, and the others do not reach them. Written with running sums,
with B_b = sum of w f over i - b ... i - 1 and C_c = sum of w f over i + 1 ... i + c, the inequalities say that b makes
B_b least and c makes C_c greatest, so that Z_i is the zero set of

    w_i f_i + min B_b + max C_c

Along a line that crosses all layers at speed 1 this is the min-max formula of isotonic regression: layers that overlap
go to their weighted mean, and that is the thesis' construction for any number of layers.

The operator is the signed distance of f to Z_i (2.10). The nearest point of H(b, c) takes no basis and no
orthogonalisation (algorithms 1 to 3, which cost m^3 and assume that signs of coordinates tell the face): by Moreau
(1962) it is f less its projection on the polar cone, and the rows of M make that cone the vectors w_k m_k whose m rise
with k (below i - b also m >= 0, above i + c also m <= 0). So it is an isotonic regression with weights w^2, solved
exactly by pooling adjacent violators (Barlow et al. 1972) in m steps.
"""

import math

from ..kernel.jit import inner


@inner
def _pool(f, w, first, last, low, high, m, start, up, down):
    """Isotonic regression of -f / w over first ... last - 1 with weights w^2, then clipped; returns its square norm.

    # outputs: m[first:last]; start, up, down scratch, a pool a row
    """
    pools = 0
    for k in range(first, last):
        start[pools], up[pools], down[pools] = k, -f[k] * w[k], w[k] * w[k]
        pools += 1
        while pools > 1 and up[pools - 2] * down[pools - 1] >= up[pools - 1] * down[pools - 2]:
            up[pools - 2] += up[pools - 1]
            down[pools - 2] += down[pools - 1]
            pools -= 1
    square, end = 0.0, last
    for pool in range(pools - 1, -1, -1):
        mean = min(max(up[pool] / down[pool], low), high)
        square += mean * mean * down[pool]
        for k in range(start[pool], end):
            m[k] = mean
        end = start[pool]
    return square


@inner
def signed_value(f, w, count, i):
    """(w_i f_i + min B_b + max C_c, b, c): 0 on Z_i, positive outside of it."""
    least, most, total = 0.0, 0.0, 0.0
    b, c = 0, 0
    for k in range(i - 1, -1, -1):
        total += w[k] * f[k]
        if total < least:
            least, b = total, i - k
    total = 0.0
    for k in range(i + 1, count):
        total += w[k] * f[k]
        if total > most:
            most, c = total, k - i
    return w[i] * f[i] + least + most, b, c


@inner
def signed_distance(f, w, count, i, gradient, m, start, up, down):
    """The distance of f to Z_i, positive outside, and its gradient by f.

    Reads f, w [:count], w > 0. On Z_i itself the gradient is the normal of the part that f lies on.
    # outputs: gradient [:count]; m, start, up, down scratch of that length
    """
    value, b0, c0 = signed_value(f, w, count, i)
    best = math.inf
    for b in range(i + 1):
        below = _pool(f, w, 0, i - b, 0.0, math.inf, m, start, up, down)
        if below >= best:
            continue
        for c in range(count - i):
            square = below + _pool(f, w, i + c + 1, count, -math.inf, 0.0, m, start, up, down)
            if square >= best:
                continue
            square += _pool(f, w, i - b, i + c + 1, -math.inf, math.inf, m, start, up, down)
            if square < best:
                best = square
                for k in range(count):
                    gradient[k] = m[k] * w[k]
    distance = math.sqrt(best)
    if distance > 1e-12:
        sign = -1.0 if value > 0.0 else 1.0
        for k in range(count):
            gradient[k] *= sign / distance
        return -sign * distance
    square = 0.0
    for k in range(i - b0, i + c0 + 1):
        square += w[k] * w[k]
    for k in range(count):
        gradient[k] = w[k] / math.sqrt(square) if i - b0 <= k <= i + c0 else 0.0
    return -distance if value < 0.0 else distance
