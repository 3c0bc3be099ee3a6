# SPDX-License-Identifier: GPL-3.0-or-later
"""Tangles are eased apart: where an edge goes through a triangle, both are moved until it does no more.

Which way? What crosses parts each of two sheets along the same lines, their contours (Baraff, Witkin and Kass 2003, global
intersection analysis). Of a fold that goes through its own sheet the lines end in the same two particles, their loop
vertices, and part what is between from the rest. Where two garments lie on each other there, `layers` knows which side of the
other one cloth is to be on. Elsewhere, where that leaves two pieces of a sheet, the smaller one is on the wrong side of the
other sheet: the edges between the two go along the normal of the triangle that they pierce, to the side of the larger piece.
Where a sheet is still in one piece, as one with a slit is through which a flap hangs, the other sheet's edges know. Where
both are, because a contour goes from the border of the one to the border of the other, it is made shorter (Volino and
Magnenat-Thalmann 2006): an edge goes along R - 2 (E . R) / (E . N) N, with its direction E, the triangle's normal N and the sum
R of the directions in which the contour leaves the point where they meet; of a garment that goes through itself alone evened
out along it. Of that `traces` know more, and tell it for a whole contour. Pieces are those that one other garment makes, so that
an edge through two layers counts for each alone. Where two sheets want a contour to go opposite ways, the smaller piece has its way.

How? Twice a substep, at the same speed. In the solve each is a row as those of what touches (`constraints`), so that what is
taut does not snap back. After it all is moved by places and not by speeds (x and x_from alike): an edge against a triangle
by the inverse masses of their corners, at the point where they meet, which keeps momentum and angular momentum. Then the
edges around get their lengths back (`edge_lengths`), so that what is behind comes along. All that does not cross (`tangles`)
is kept apart after that as ever. Where nothing crosses nothing is done, nor where pins hold what crosses: what comes out beside
them comes out, and the rest hangs still.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ...kernel.jit import njit
from ...model import Cloth
from . import traces
from .constraints import Stack
from .edge_lengths import restore_lengths
from .layers import wanted_sides
from .response import left, shift
from .tangles import Tangles, crossings

EASE_SPEED = 0.3  # [m/s] at which an edge leaves a triangle
EASE_ROUNDS = 2  # of sweeps, and of lengths brought back
EASE_LEVER = 4.0  # times a way that a particle goes which is alone between others that are held fast: what crosses has to come out
EASE_SWEEPS = 4
EASE_FIRMNESS = 30.0  # stiffness of a row over its reduced mass / dt^2
CONTOUR_ROUNDS = 4  # in which what each point of a contour wants is evened out with those beside it
HASTE_POINTS = 40  # points of a contour below which it is eased apart faster, and
MOST_HASTE = 4.0  # times as fast, at most
FLATTEST = 1e-12  # sine at least between an edge and the triangle that it goes through, which may lie in each other
OPPOSED = 0.1  # mean cosine between the ways that two sheets want a contour to go, below minus which they are opposed


class Piercings(NamedTuple):
    """Edges that go through triangles."""

    corners: np.ndarray  # (k, 5) int64 ends of the edge, corners of the triangle
    weight: np.ndarray  # (k, 5) those of the point where they meet: 0 to 1, below 0 for the triangle's
    normal: np.ndarray  # (k, 3) unit normal of the triangle, on the side of the edge's second end
    garment: np.ndarray  # (k, 2) that of the edge, that of the triangle
    links: np.ndarray  # (l, 2) which are next to each other on a contour
    contour: np.ndarray  # (k,) number of the contour
    turns: np.ndarray  # (l,) int64 particles in which a contour turns back: loop vertices
    edge_normal: np.ndarray  # (k, 3) unit normal of the cloth at the edge, as the corners of its triangles go round
    trace: np.ndarray  # (k, 2) numbers of the traces that it is on: that of the edge, that in the triangle


class Eased(NamedTuple):
    """What was eased apart at the end of a substep."""

    piercings: Piercings
    way: np.ndarray  # (k, 3) as from `ways`, longer where it is faster


def ease(tangles: Tangles, cloth: Cloth, x, x_from, dt: float, brace: np.ndarray, wanted: np.ndarray) -> Eased | None:
    """Move what crosses at x on in a substep dt [s]; None if nothing does. x, x_from : (n, 3) [m] change; brace : as in
    `response.Substep`; wanted : (n, g) as from `sides_in`
    """
    if not len(tangles.near):
        return None
    piercings = find_piercings(tangles.near, cloth, x)
    if not len(piercings.corners):
        return None
    way, before = _hastened(piercings, cloth, ways(piercings, cloth, x, wanted)), x.copy()
    for _ in range(EASE_ROUNDS):
        part_kernel(piercings.corners, piercings.weight, way, EASE_SPEED * dt, before, x, cloth.inv_mass, brace)
        restore_lengths(cloth.edges, cloth.is_mesh_edge, cloth.inv_mass, before, x)
    x_from += x - before
    return Eased(piercings, way)


def sides_in(tangles: Tangles, cloth: Cloth, x: np.ndarray) -> np.ndarray:
    """The sides that cloth is to be on, as from `wanted_sides`, of garments that have tangles."""
    return wanted_sides(cloth, x, cloth.garment[cloth.triangles[tangles.near, 0]])


def with_eased(stack: Stack, eased: Eased | None, inv_mass: np.ndarray, dt: float) -> Stack:
    """The rows of what touches, and after them those of tangles, as they were at the start of the step dt [s]: of the end of
    an edge that is on the wrong side, and the triangle. They are of no pair.
    """
    if eased is None:
        return stack
    piercings, way = eased
    size = np.linalg.norm(way, axis=1)
    toward = _dot(way, piercings.normal)
    end = np.where(np.abs(toward) > 0.5 * size, toward < 0.0, piercings.weight[:, 1] > 0.5).astype(np.int64)
    corners = np.concatenate([np.take_along_axis(piercings.corners, end[:, None], 1), piercings.corners[:, 2:]], axis=1)
    weight = np.concatenate([np.ones((len(end), 1)), piercings.weight[:, 2:]], axis=1)
    give = np.einsum("kc,kc->k", weight**2, inv_mass[corners])
    used = np.flatnonzero((size > 0.0) & (give > 0.0))
    h = np.sqrt(EASE_FIRMNESS / give[used]) / dt
    largest = np.abs(weight * inv_mass[corners]).max(axis=1)[used]
    speed = EASE_SPEED * np.minimum(1.0, EASE_LEVER * give[used] / largest)  # as in `part_kernel`
    row = np.zeros((len(used), 4))
    row[:, :3] = (h / size[used])[:, None] * way[used]
    return stack._replace(
        stencils=np.concatenate([stack.stencils, corners[used].astype(np.int32)]),
        weight=np.concatenate([stack.weight, weight[used]]),
        row=np.concatenate([stack.row, row]),
        room=np.concatenate([stack.room, -speed * dt * size[used] * h]),
    )


def find_piercings(near: np.ndarray, cloth: Cloth, x: np.ndarray) -> Piercings:
    """What crosses in pairs (p, 2) of triangles, as far as it is kept apart elsewhere."""
    found = crossings(near, cloth.triangles, x)
    owner = cloth.garment[cloth.triangles[:, 0]]
    masked = ~cloth.meets_itself[cloth.triangles].all(axis=1)
    one, other = found[:, 2], found[:, 3]
    found = found[(owner[one] != owner[other]) | ~(masked[one] | masked[other])]
    one, face = found[:, 2], found[:, 3]
    low, high, count = found[:, :2].min(axis=1), found[:, :2].max(axis=1), len(x)
    # an edge is found once for each triangle that has it
    _, at, name = np.unique((low * count + high) * len(owner) + face, return_index=True, return_inverse=True)
    pair = np.minimum(one, face) * len(owner) + np.maximum(one, face)
    order = np.argsort(pair, kind="stable")
    is_same = pair[order[1:]] == pair[order[:-1]]
    hits = traces.Hits(name, one, face, order[:-1][is_same], order[1:][is_same])
    links = np.stack([name[hits.first], name[hits.second]], axis=1)
    corners = np.concatenate([low[at, None], high[at, None], cloth.triangles[face[at]]], axis=1)
    weight, normal = _meeting(x[corners])
    graph = coo_array((np.ones(len(links)), links.T), shape=(len(at), len(at)))
    _, contour = connected_components(graph, directed=False)
    beside, facing = traces.normals(x, cloth.triangles[one]), np.zeros_like(normal)
    np.add.at(facing, name, beside)
    about = cloth.garment[corners[:, [0, 2]]], links, contour, _turns(cloth.triangles, one, face)
    return Piercings(
        corners, weight, normal, *about, traces.unit(facing), traces.find_traces(hits, cloth.triangles, len(at))
    )


def _turns(triangles: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The particles that triangles which cross (k,) have in common: a sheet that goes through itself turns round there."""
    a, b = triangles[one], triangles[other]
    return np.unique(a[(a[:, :, None] == b[:, None, :]).any(axis=2)]).astype(np.int64)


def _meeting(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`Piercings.weight`, `.normal` of corners at these places (k, 5, 3) [m]."""
    p, q, a, b, c = places.transpose(1, 0, 2)
    normal = np.cross(b - a, c - a)
    square = np.maximum(_dot(normal, normal), np.finfo(float).tiny)
    along = _dot(q - p, normal)
    t = np.clip(_dot(a - p, normal) / np.where(along == 0.0, 1.0, along), 0.0, 1.0)
    here = p + t[:, None] * (q - p) - a
    wb, wc = _dot(np.cross(here, c - a), normal) / square, _dot(np.cross(b - a, here), normal) / square
    weight = np.stack([1.0 - t, t, wb + wc - 1.0, -wb, -wc], axis=1)
    return weight, normal * (np.where(along < 0.0, -1.0, 1.0) / np.sqrt(square))[:, None]


def _dot(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.einsum("kx,kx->k", u, v)


def ways(piercings: Piercings, cloth: Cloth, x: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(k, 3) where each edge is to go against the triangle that it pierces: unit vectors, or shorter where it matters less.

    wanted : (n, g) as from `sides_in`
    """
    side, weight = _sides(piercings, cloth)
    side = _agreed(piercings, side, weight)
    voted = _voted(piercings, x, wanted)
    side = np.where((np.bincount(piercings.contour, voted != 0) > 0)[piercings.contour], voted, side)
    way = side[:, None] * piercings.normal
    known = np.bincount(piercings.contour, side != 0) > 0
    unknown = ~known[piercings.contour]
    if unknown.any():
        way[unknown] = _shortening(piercings, x)[unknown]
    if (piercings.garment[:, 0] == piercings.garment[:, 1]).any():
        drawn, is_known = traces.drawn_out(piercings, cloth, x, way)
        way[is_known] = drawn[is_known]
    way[_pinned_through(piercings, cloth)] = 0.0
    return way


def _hastened(piercings: Piercings, cloth: Cloth, way: np.ndarray) -> np.ndarray:
    """The ways (k, 3), longer on short contours: the last of a loop, a few edges long, is as stiff as these are and springs back as
    far as it is eased at the speed at which a long one slides out. Not where pins hold two corners or more: what is free would have
    to go all of that.
    """
    points = np.bincount(piercings.contour)[piercings.contour]
    may_haste = np.count_nonzero(cloth.inv_mass[piercings.corners] == 0.0, axis=1) < 2
    return way * np.where(may_haste, np.clip(HASTE_POINTS / points, 1.0, MOST_HASTE), 1.0)[:, None]


def _pinned_through(piercings: Piercings, cloth: Cloth) -> np.ndarray:
    """(k,) whether pins hold an edge in a triangle: both, and more than one corner of either. What is free there would be thrown
    about, between pins, and not come out.
    """
    is_held = cloth.inv_mass[piercings.corners] == 0.0
    edge, face = is_held[:, :2].sum(axis=1), is_held[:, 2:].sum(axis=1)
    return (edge > 0) & (face > 0) & (edge + face > 2)


def _sides(piercings: Piercings, cloth: Cloth) -> tuple[np.ndarray, np.ndarray]:
    """(k,) 1 where an edge is to go towards its second end, -1 towards its first, 0 where it does not part a sheet or goes through
    its own; the mass [kg] of the smaller piece.
    """
    owner, groups = cloth.garment[cloth.triangles[:, 0]], len(cloth.meets)
    side, weight = np.zeros(len(piercings.corners)), np.zeros(len(piercings.corners))
    one, other = piercings.garment.T
    by_whom, is_turn = one * groups + other, np.zeros(len(cloth.mass), np.bool_)
    is_turn[piercings.turns] = True
    for pair in np.unique(by_whom[one != other]):
        on = np.flatnonzero(by_whom == pair)
        about = cloth.triangles[owner == pair // groups], cloth.mass, piercings.corners[on, :2]
        side[on], weight[on] = traces.parted(*about, is_turn)
    return side, weight


def _voted(piercings: Piercings, x: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The sides (k,), as from `_sides`, that patches have voted for."""
    a, b, c = x[piercings.corners[:, 2:]].transpose(1, 0, 2)
    turn, other = np.sign(_dot(np.cross(b - a, c - a), piercings.normal)), piercings.garment[:, 1]
    first, second = wanted[piercings.corners[:, :2].T, other]
    return turn * np.where(first == 0, second, first)


def _agreed(piercings: Piercings, side: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The sides (k,), turned for one of two sheets that want a contour to go opposite ways."""
    contour, links, garment = piercings.contour, piercings.links, piercings.garment
    count = contour.max() + 1
    is_lower = garment[:, 0] < garment[:, 1]
    way = (np.where(is_lower, side, -side))[:, None] * piercings.normal  # of the lower garment against the other
    a, b = links[(is_lower[links[:, 0]] != is_lower[links[:, 1]]) & (side[links] != 0.0).all(axis=1)].T
    agree = np.bincount(contour[a], _dot(way[a], way[b]), count) / np.maximum(
        np.bincount(contour[a], minlength=count), 1
    )
    decided = side != 0.0
    sizes = [np.bincount(contour[own], weight[own], count) / np.maximum(np.bincount(contour[own], minlength=count), 1)
             for own in (decided & is_lower, decided & ~is_lower)]  # fmt: skip
    wrong = np.where(sizes[0] > sizes[1], 0, 1)  # whose piece is larger
    turns = (agree < -OPPOSED)[contour] & (wrong[contour] == np.where(is_lower, 0, 1))
    return np.where(turns, -side, side)


def _shortening(piercings: Piercings, x: np.ndarray) -> np.ndarray:
    """(k, 3) where edges are to go for contours to become shorter: unit vectors, or shorter where that does little."""
    places = x[piercings.corners]
    here = np.einsum("kc,kcx->kx", piercings.weight[:, :2], places[:, :2])
    one, other = piercings.garment.T
    in_others = piercings.garment[one != other]  # these hold each other
    own = (one == other) & ~np.isin(one, in_others)
    leaving = _leaving(piercings.links, here)
    if own.any():
        leaving[own] = _evened(piercings.links, here)[own]
    edge = places[:, 1] - places[:, 0]
    edge /= np.maximum(np.linalg.norm(edge, axis=1), np.finfo(float).tiny)[:, None]
    steep = np.maximum(_dot(edge, piercings.normal), FLATTEST)
    way = leaving - (2.0 * _dot(edge, leaving) / steep)[:, None] * piercings.normal
    return way / np.maximum(np.linalg.norm(way, axis=1), 1.0)[:, None]


def _leaving(links: np.ndarray, here: np.ndarray) -> np.ndarray:
    """(k, 3) sums of the directions in which a contour leaves its points (k, 3) [m]."""
    a, b = links.T
    along = here[b] - here[a]
    along /= np.maximum(np.linalg.norm(along, axis=1), np.finfo(float).tiny)[:, None]
    leaving = np.zeros_like(here)
    np.add.at(leaving, a, along)
    np.add.at(leaving, b, -along)
    return leaving


def _evened(links: np.ndarray, here: np.ndarray) -> np.ndarray:
    """The same of a sheet that goes through itself, evened out along the contour: it goes in zigzag from edge to edge, and each
    point would be drawn another way than the next. Where a contour is straight little is left, and most at its ends.
    """
    links = np.unique(np.sort(links[links[:, 0] != links[:, 1]], axis=1), axis=0)
    leaving, (a, b) = _leaving(links, here), links.T
    count = 1.0 + np.bincount(links.ravel(), minlength=len(here))
    for _ in range(CONTOUR_ROUNDS):
        mean = leaving.copy()
        np.add.at(mean, a, leaving[b])
        np.add.at(mean, b, leaving[a])
        leaving = mean / count[:, None]
    return leaving


@njit
def part_kernel(corners, weight, way, most, before, x, inv_mass, brace):
    """Move edges against the triangles that they pierce, as in `Piercings`, until each has gone its way (k, 3), `most` [m]
    at most, since `before` (n, 3) [m]. 400 bytes and 150 flops each and sweep.

    Serial: each sees those before.
    # outputs: x (n, 3) [m]
    """
    for _ in range(EASE_SWEEPS):
        for k in range(len(corners)):
            size = math.sqrt(way[k, 0] ** 2 + way[k, 1] ** 2 + way[k, 2] ** 2)
            if not size > 0.0:
                continue
            nx, ny, nz = way[k, 0] / size, way[k, 1] / size, way[k, 2] / size
            gone, give, largest = 0.0, 0.0, 0.0
            for corner in range(5):
                i, w = corners[k, corner], weight[k, corner]
                gone += w * (
                    nx * (x[i, 0] - before[i, 0]) + ny * (x[i, 1] - before[i, 1]) + nz * (x[i, 2] - before[i, 2])
                )
                part = left(brace, i, nx, ny, nz) if len(brace) > 0 else 1.0
                give += w * w * inv_mass[i] * part
                largest = max(largest, abs(w) * inv_mass[i] * part)
            # what is free alone among corners that are held fast may have little weight
            give = max(give, largest / EASE_LEVER)
            if gone >= most * size or give == 0.0:
                continue
            push = (most * size - gone) / give
            for corner in range(5):
                i = corners[k, corner]
                shift(x, brace, i, weight[k, corner] * inv_mass[i], push * nx, push * ny, push * nz)
