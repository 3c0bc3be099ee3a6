# SPDX-License-Identifier: GPL-3.0-or-later
"""What an impact of cloth on cloth gives back: a pass over velocities, after positions have the last word.

Contact ends an approach and no more (`pairs`), which is an impact without restitution. So where restitution is asked for,
those pairs that came fast and were stopped in a substep get the relative speed that they are to leave with, along their
normals, as Newton's law of impact says: v' = -e v. As in Bridson, Fedkiw and Anderson 2002, section 7.3, what comes slowly
does not bounce, or cloth would never lie still. Pairs share particles, so they are asked one after the other, a few times
over, and a push that the next ones made too large is taken back (Guendelman, Bridson and Fedkiw 2003, section 7, in the form
of projected Gauss-Seidel). Pushes go by inverse masses: no momentum is made.

Each garment has a restitution of its own. Two that differ part with the root of both ones' product, as they rub with that of
their frictions: what does not bounce at all stops what would.

Positions tell the normals. Cloth that has been taken out of other cloth by more than its edges are long is crumpled, and
would bounce every way; so fast cloth is looked at more often (`BOUNCING_TRAVEL`).
"""

import math
from typing import NamedTuple

import numpy as np

from ...geometry.ccd import corners_of, weighted_sum
from ...kernel.jit import njit
from ...model import Cloth, Settings
from .constraints import TOUCHING_GAP, look_at
from .pairs import Pairs
from .response import shift, yielding

SLOWEST_CLOTH_BOUNCE = 0.2  # [m/s] of cloth against cloth, slower than which nothing bounces
BOUNCE_SWEEPS = 10
BOUNCING_TRAVEL = 1.0  # mean springs that cloth may go against cloth from one look at what meets to the next
MOST_LOOKS = 1000.0  # in a substep; steps have a shortest length, which says how many there are at most


def restitution_of(cloth: Cloth, settings: Settings) -> np.ndarray:
    """(n,) of each particle: its garment's, or what the settings give all cloth, where that is more; the same all through a frame."""
    own = np.full(len(cloth.meets), settings.cloth_restitution)
    if cloth.restitution is not None:
        own = np.maximum(own, cloth.restitution)
    return own[cloth.garment]


class Bounces(NamedTuple):
    """Pairs that bounce."""

    pair: np.ndarray  # (k,) int32
    weight: np.ndarray  # (k, 4) of the closest points, as in `response`
    normal: np.ndarray  # (k, 3)
    speed: np.ndarray  # (k,) [m/s] at which they are to part
    push: np.ndarray  # (k,) [N s] so far


def make_bounces(room: int) -> Bounces:
    """`Bounces` with room for so many, to be filled."""
    wide = np.empty((room, 4)), np.empty((room, 3)), np.empty(room), np.empty(room)
    return Bounces(np.empty(room, np.int32), *wide)


def first_bounces(bounces: Bounces, count: int) -> Bounces:
    """So many of them, from the first on."""
    return Bounces(*(array[:count] for array in bounces))


def bounce(pairs: Pairs, cloth: Cloth, brace: np.ndarray, restitution: np.ndarray, x, before, v, dt: float) -> None:
    """Let the pairs that have met part with their restitution; x, before, v : (n, 3) [m], [m/s] positions at the end of the
    substep dt [s], velocities at its start, and at its end, which change. cloth, brace : as in `response.Substep`;
    restitution : (n,) from `restitution_of`
    """
    bounces = make_bounces(len(pairs.pair_list.gap))
    count = meet_kernel(pairs.pair_list, x, before, v, dt, restitution, bounces)
    if count:
        part_kernel(pairs.pair_list.stencils, first_bounces(bounces, count), cloth.inv_mass, brace, v)


@njit
def meet_kernel(pairs, x, before, v, dt, restitution, bounces):
    """List the pairs that came fast, by the velocities `before`, and that would have met in the substep dt had contact not
    slowed them down, or did; returns how many. 150 flops and 280 bytes a pair.

    restitution : (n,) of each particle
    # outputs: bounces
    """
    count = 0
    for pair in range(len(pairs.gap)):
        is_edge_pair, distance = pairs.is_edge_pair[pair], pairs.distance[pair]
        a, b, c, d = corners = corners_of(pairs.stencils, pair)
        (wa, wb, wc, wd), (nx, ny, nz), gap = look_at(is_edge_pair, x, corners)
        own = restitution[a] * restitution[c]  # one corner of each side
        if gap == 0.0 or own == 0.0:
            continue
        ux, uy, uz = weighted_sum(before, a, b, c, d, wa, wb, wc, wd)
        approach = -(nx * ux + ny * uy + nz * uz)
        if approach <= SLOWEST_CLOTH_BOUNCE:
            continue
        ux, uy, uz = weighted_sum(v, a, b, c, d, wa, wb, wc, wd)
        slowed = approach + nx * ux + ny * uy + nz * uz
        if gap > TOUCHING_GAP * distance and gap - dt * slowed > distance:
            continue
        bounces.pair[count], bounces.speed[count], bounces.push[count] = pair, math.sqrt(own) * approach, 0.0
        weight, normal = bounces.weight, bounces.normal
        weight[count, 0], weight[count, 1], weight[count, 2], weight[count, 3] = wa, wb, wc, wd
        normal[count, 0], normal[count, 1], normal[count, 2] = nx, ny, nz
        count += 1
    return count


@njit
def part_kernel(stencils, bounces, inv_mass, brace, v):
    """Push pairs until they part at their speeds, none of them together. 120 flops and 200 bytes a pair and sweep.

    Serial: each push sees those before.
    # outputs: v; bounces.push
    """
    for _ in range(BOUNCE_SWEEPS):
        for k in range(len(bounces.pair)):
            a, b, c, d = corners = corners_of(stencils, bounces.pair[k])
            weight, normal = bounces.weight, bounces.normal
            wa, wb, wc, wd = weights = weight[k, 0], weight[k, 1], weight[k, 2], weight[k, 3]
            nx, ny, nz = normal[k, 0], normal[k, 1], normal[k, 2]
            ma, mb, mc, md = shares = wa * inv_mass[a], wb * inv_mass[b], wc * inv_mass[c], wd * inv_mass[d]
            give = yielding(brace, corners, weights, shares, nx, ny, nz)
            if give == 0.0:
                continue
            ux, uy, uz = weighted_sum(v, a, b, c, d, wa, wb, wc, wd)
            lack = bounces.speed[k] - (nx * ux + ny * uy + nz * uz)
            push = max(bounces.push[k] + lack / give, 0.0)
            more = push - bounces.push[k]
            bounces.push[k] = push
            shift(v, brace, a, ma, more * nx, more * ny, more * nz)
            shift(v, brace, b, mb, more * nx, more * ny, more * nz)
            shift(v, brace, c, mc, more * nx, more * ny, more * nz)
            shift(v, brace, d, md, more * nx, more * ny, more * nz)
