# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs along threads, diagonals and sides of triangles, each of which may feel how much others have lengthened.

A spring of length l, rest length L and constant k pulls with k (l - L) + sum of c_j (l_j - L_j) over the springs j that
it is coupled with (`membrane`; in the older network of springs there are none). The energy is that of all pairs,
1/2 sum (l_i - L_i) M_ij (l_j - L_j): k on the diagonal of M, c beside it.

A thread is crimped by those that it crosses: it gives way until it is straight, and then hardly any more (Peirce 1937).
So a spring may have a length T from which on it pulls with g (l - T) on top of that, and stores 1/2 g (l - T)^2: two
straight lines, the simplest curve from soft to stiff, and convex (`taut_rest`).

The matrix of the solve knows each spring alone, with a constant above k that bounds them all: for any springs,

    s^T M s <= sum d_i s_i^2,   d_i = k_i + sum_j |c_ij| sqrt(k_i / k_j)

because 2 |c s_i s_j| <= |c| (s_i^2 sqrt(k_i / k_j) + s_j^2 sqrt(k_j / k_i)) (Gershgorin's circles, scaled: Golub and
Van Loan 2013, section 7.2.1). So the solve goes by the true forces, but never too far.

One solve a substep is then not all of implicit Euler: what a spring's bound has more than it needs, d - k, holds it to
the guess, as if it had more mass. Held to where the substep began, it would be a damping instead. Mass alone lets cloth
on crooked meshes shake itself to pieces, damping alone makes shear slow: `DAMPED_SHARE` is the part that is damping.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..geometry.topology import both_ways
from ..kernel.jit import fused_inner
from ..kernel.vec4 import broadcast, dot, lane

NEAR_TAUT = 0.3  # part of the way from L to T at the end of which a spring counts as near T; less lets cloth shake
DAMPED_SHARE = 0.4  # part of what a spring's bound has more than it needs that is damping;  measured: steady on crooked quads and on triangles in any direction, and near implicit Euler

TAUT_LENGTH, TAUT_STIFFNESS = 0, 1  # columns of `Cloth.taut`


class Springs(NamedTuple):
    """The numbers of springs."""

    rest: np.ndarray  # (e,) [m] length
    stiffness: np.ndarray  # (e,) [N/m] k
    damping: np.ndarray  # (e,) [N s/m]
    bound: np.ndarray  # (e,) [N/m] d; what is not coupled has k here


def copied(springs):
    """`Springs` that may change."""
    return Springs(*(array.copy() for array in springs))


def spring_numbers(cloth):
    """`Springs` of a cloth; what they have in common with it they share.

    d bounds k and couplings together. Damping is a rate [1/s] at which two ends lose their relative velocity: c = rate x
    their reduced mass.
    """
    apart = np.einsum("ek->e", cloth.inv_mass[cloth.edges])
    c = np.divide(cloth.edge_damping, apart, out=np.zeros(len(apart)), where=apart > 0)
    k, shared = cloth.edge_stiffness, np.abs(cloth.coupling)
    if not len(shared):
        return Springs(cloth.rest_length, k, c, k)
    bound = k.copy()
    for one, other in (cloth.couples.T, cloth.couples.T[::-1]):
        bound += np.bincount(one, shared * np.sqrt(k[one] / k[other]), minlength=len(k))
    return Springs(cloth.rest_length, k, c, bound)


def taut_rest(garment, rest_length, threads):
    """(e, 2) length [m] beyond which springs of a garment are stiffer, inf where they never are, and by how much [N/m].

    threads : (e,) [N/m] what of the springs' stiffness is that of threads; shear has no limit
    """
    is_limited = (threads > 0.0) & (garment.strain_limit > 0.0)
    length = np.where(is_limited, (1.0 + garment.strain_limit) * rest_length, np.inf)
    return np.stack([length, np.where(is_limited, (garment.stiffening - 1.0) * threads, 0.0)], axis=1)


def tautening(cloth):
    """`Cloth.taut`, or nothing (0, 2) where no spring ever gets stiffer: then it costs nothing."""
    return cloth.taut if np.isfinite(cloth.taut[:, TAUT_LENGTH]).any() else np.zeros((0, 2))


def couplings(cloth):
    """Springs that each spring is coupled with: start (e + 1,), or (1,) where none is, which (2 c,), and how hard (2 c,) [N/m]."""
    start, other, which = both_ways(*cloth.couples.T.astype(np.int64), len(cloth.edges) if len(cloth.couples) else 0)
    return start, other, cloth.coupling[which]


@fused_inner
def lengthen(first, last, x, edges, rest, lengthening):
    """How much longer than at rest springs first to last are at x. # output: lengthening (e,) [m]"""
    for e in range(np.uintp(first), np.uintp(last)):
        i, j = np.uintp(edges[e, 0]), np.uintp(edges[e, 1])
        dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        lengthening[e] = sqrt(dx * dx + dy * dy + dz * dz) - rest[e]


@fused_inner
def others_pull(e, springs, lengthening):
    """Tension [N] of spring e for the lengthening of those that it is coupled with; 2 flops and 20 bytes each.

    springs : `internal.Elastic` or `integrate.system.StiffnessMatrix`
    """
    tension = 0.0
    if springs.couple.shape[0] == 0:
        return tension
    for at in range(np.uintp(springs.couple_start[e]), np.uintp(springs.couple_start[e + 1])):
        tension += springs.coupling[at] * lengthening[np.uintp(springs.couple[at])]
    return tension


@fused_inner
def tauten(d, w, rest, k, bound, others, damped, e, taut):
    """k, bound and others of spring e, which is d long and went w [m] (see `linearise`), with what it is taut for.

    k (l - L) + g (l - T) = (k + g) (l - L) - g (T - L). Near T, now or when the substep began, by the slope below T alone
    a load would throw it far beyond, and back the next time: so there, too, the slope has g. That is a damping, held to
    the length that it had, where `damped` says that there is one solve alone. taut (e, 2) : T [m] and g [N/m], or empty
    """
    if taut.shape[0] > 0:
        limit, more, earlier = taut[e, TAUT_LENGTH], taut[e, TAUT_STIFFNESS], d - w
        near, square, before = limit - NEAR_TAUT * (limit - rest), lane(dot(d, d), 0), lane(dot(earlier, earlier), 0)
        if max(square, before) > near * near:
            from_there = limit
            if square < limit * limit:
                from_there = min(sqrt(before), limit) if damped > 0.0 else sqrt(square)
            k, bound, others = k + more, bound + more, others - more * (from_there - rest)
    return k, bound, others


@fused_inner
def linearise(d, w, rest, k, c, bound, others, damped):
    """Force and matrix of one spring across d = x_j - x_i [m] that went w [m] in the substep, c its damping over dt.

    others [N] is the tension for the lengthening of other springs; damped (see above) is 0 where the solve is repeated
    until its forces balance. The matrix along the unit vector u is
    a I + (bound - a + c) u u^T for the difference of the ends: a, the tension over the length, is what tension resists
    across (Choi and Ko 2002: none for compression, so that the matrix stays positive). About 50 flops.

    Returns
    -------
    pull [N/m] : the force on i is pull d
    h : Vec4, sqrt(bound - a + c) u
    a [N/m]
    """
    length = sqrt(lane(dot(d, d), 0))
    scale = 1.0 / length if length > 0.0 else 0.0
    tension = k * (length - rest) + others
    pull = tension + c * scale * lane(dot(d, w), 0)
    if bound > k:
        before = d - w  # at the substep's start
        pull += damped * (bound - k) * (length - sqrt(lane(dot(before, before), 0)))
    a = scale * max(tension, 0.0)
    return scale * pull, broadcast(scale * sqrt(max(bound - a, 0.0) + c)) * d, a


@fused_inner
def spring_forces(x, v, elastic, lengthening, force):
    """Forces of springs at x and v, elastic and the damping of what their ends move along them; returns their energy [J].

    elastic : `internal.Elastic`. About 50 flops and 250 bytes a spring. # outputs: lengthening (e,) [m]; added to: force
    (n, 3) [N]
    """
    energy, edges, spring, taut = 0.0, elastic.edges, elastic.spring, elastic.taut
    lengthen(0, edges.shape[0], x, edges, spring.rest, lengthening)
    for e in range(np.uintp(edges.shape[0])):
        i, j = np.uintp(edges[e, 0]), np.uintp(edges[e, 1])
        dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        length = sqrt(dx * dx + dy * dy + dz * dz)
        scale = 1.0 / length if length > 0.0 else 0.0
        rate = (v[j, 0] - v[i, 0]) * dx + (v[j, 1] - v[i, 1]) * dy + (v[j, 2] - v[i, 2]) * dz
        tension = spring.stiffness[e] * lengthening[e] + others_pull(e, elastic, lengthening)
        energy += 0.5 * tension * lengthening[e]
        if taut.shape[0] > 0 and length > taut[e, TAUT_LENGTH]:
            beyond = length - taut[e, TAUT_LENGTH]
            tension += taut[e, TAUT_STIFFNESS] * beyond
            energy += 0.5 * taut[e, TAUT_STIFFNESS] * beyond * beyond
        pull = scale * (tension + spring.damping[e] * scale * rate)
        fx, fy, fz = pull * dx, pull * dy, pull * dz
        force[i, 0], force[i, 1], force[i, 2] = force[i, 0] + fx, force[i, 1] + fy, force[i, 2] + fz
        force[j, 0], force[j, 1], force[j, 2] = force[j, 0] - fx, force[j, 1] - fy, force[j, 2] - fz
    return energy
