# SPDX-License-Identifier: GPL-3.0-or-later
"""Hinges in meshes of triangles, fitted so that each face bends as a plate in whatever direction.

Where cloth has the curvatures k = (kxx, kyy, sqrt2 kxy) all over, the bend vector of any four particles (`bending`) is as
long as c . k: with its edge of length l along x, and the feet f0, f1 and heights h0, h1 of the other two above it,

    c = (l^2 / 2 (f0 (f0 - 1) / h0 + f1 (f1 - 1) / h1),   (h0 + h1) / 2,   l (f0 - f1) / sqrt2).

So a hinge sees more than the curvature across its edge, and hinges alone cannot make a plate: those of a grid that is
cut along one diagonal are three times stiffer about that one than about the other. Lines are taken in, too: a particle,
two neighbours opposite each other, and a third one beside. Every face asks of the hinges on its sides and of the lines
that go on along them, of the stiffness s each,

    sum of s c c^T = A B I,

A its area, B the rigidity: then it stores A B/2 (kxx^2 + kyy^2 + 2 kxy^2), as a plate without Poisson effect does. With
warp and weft I becomes diag(1, r, (1 + r) / 2) in their frame (Cooper 1960; see `bending`), r the weft's rigidity in the
warp's. The s >= 0 of a face are those of the least squares (Lawson and Hanson 1974, chapter 23), drawn a little towards
equal ones: uneven ones make cloth softer, which chooses how it bends. What a face cannot have in each direction it has
in the mean; at a border it has half across, as quads do, because there is no moment on the last half of a cell. What
hardly counts in any face is left out, and the rest is fitted again.
"""

from typing import NamedTuple

import numpy as np

from ..geometry.seams import same_places
from ..geometry.topology import Hinges, border_edges, edge_keys
from ..kernel.functions import symmetric_axes
from .membrane import warp_of_pattern

MOST_SPOKES = 24  # neighbours of a particle that still has lines; the middle of a wide fan has none
LEAST_OPPOSED = 0.5  # cosine by which the ends of a line point away from each other, at least
LEAST_BESIDE = 0.6  # sine of the angle between a line and its third particle, at least
LEAST_SEEN = 0.3  # part of an edge's length that lies in a face which takes it in, at least
EVENNESS = 0.05  # what equal shares count in the least squares
SWEEPS = 15  # over the shares of a face, twice: enough for 1 % of the rigidity
LEAST_SHARE = 0.2  # mean share below which a hinge or line is left out
MOST_RAISED = 2.0  # times that the shares of a face with too few hinges are raised, to have the rigidity in the mean
SAME_DIGITS = 6  # of mean shares, and of cosines, that are told apart
FACES_AT_ONCE = 1024  # fitted together; more would not stay in a processor's cache
PLACES = (0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)  # of what a symmetric matrix of three rows is made


class _Lines(NamedTuple):
    """Lines through vertices, each as a hinge whose edge ends beside it."""

    stencils: np.ndarray  # (l, 4) the vertex, the one beside, and both ends
    spoke: np.ndarray  # (s,) vertex and neighbour as one number, sorted
    line: np.ndarray  # (s,) the line from that neighbour on, or -1


class _Patches(NamedTuple):
    """Faces, each with up to m stencils."""

    stencil: np.ndarray  # (m, f); 0 where unused
    is_used: np.ndarray  # (m, f) bool
    outer: np.ndarray  # (m, 6, f) c c^T / |c|^2 in the face's frame, what is off its diagonal times sqrt2
    square: np.ndarray  # (m, f) [m2] |c|^2
    target: np.ndarray  # (6, f) what the stencils have to be together, as outer
    area: np.ndarray  # (f,) [m2]


def fit_hinges(x, faces, hinges, halves, uv, ratio):
    """The `Hinges` with lines, and with shares that make plates of all triangles; those of quads as they are.

    Parameters
    ----------
    x : (n, 3) [m] rest positions
    faces : from `topology.clean_faces`
    hinges : from `topology.bend_hinges`, with the rigidity of their direction (`bending.turn_rigidity`)
    halves : (q, 2) triangles of the quads
    uv : (t, 3, 2) pattern coordinates of the triangles in `faces`, u along the warp, or None
    ratio : rigidity of the weft in that of the warp
    """
    is_single = np.ones(len(faces.triangles), dtype=bool)
    is_single[halves.ravel()] = False
    if not is_single.any() or not len(hinges.stencils):
        return hinges
    single, lines = np.flatnonzero(is_single), _lines(x, faces.triangles, is_single)
    stencils, known = np.concatenate([hinges.stencils, lines.stencils]), len(hinges.stencils)
    stencil = _stencils_of_faces(faces.triangles, single, hinges, lines, len(x))
    if not (stencil >= 0).any():
        return hinges
    stencil = np.where(stencil < 0, -1, _first_equal(stencils, len(x))[stencil])
    frame, root = _frames(x, faces, single, uv, ratio)
    target = _target(x, faces.triangles, single, frame)
    patches = _Patches(*_seen(x, stencils, stencil, frame, root), target, faces.area[single])
    has_several = patches.is_used.sum(axis=0) > 1
    patches, is_single[single] = _Patches(*(array[..., has_several] for array in patches)), has_several
    count, shares = len(stencils), _fit(patches, np.zeros(patches.stencil.shape))
    around = _sum(patches, patches.is_used, count)
    mean = np.divide(_sum(patches, shares, count), around, out=np.zeros(count), where=around > 0.0)
    counts = mean >= LEAST_SHARE
    patches = patches._replace(is_used=patches.is_used & counts[patches.stencil])
    stiffness = _sum(patches, _fit(patches, shares) / patches.square, count)  # over the rigidity
    edge = x[stencils[:, 1]] - x[stencils[:, 0]]
    square = np.einsum("hi,hi->h", edge, edge)
    is_fitted = (hinges.triangles >= 0) & is_single[hinges.triangles]
    others = np.where(is_fitted, 0.0, faces.area[hinges.triangles]).sum(axis=1) / hinges.area
    share = np.where(is_fitted.any(axis=1), others * hinges.share, hinges.share)
    area, share = np.append(hinges.area, square[known:]), np.append(share, np.zeros(count - known))
    share += np.divide(stiffness * area, square, out=np.zeros(count), where=square > 0.0)
    beside = np.concatenate([hinges.triangles, np.full((count - known, 2), -1)])
    piece = same_places(*faces.triangles[:, [0, 1, 1, 2]].reshape(-1, 2).T, len(x))[1][stencils[:, 0]]
    rank = np.where(counts, -np.round(mean, SAME_DIGITS), np.inf)
    return Hinges(stencils, beside, area, share, _damped(is_fitted.any(axis=1), rank, piece))


def _damped(is_fitted, rank, piece):
    """(h,) bool: damping acts on as many of each piece (h,) of cloth as before; of those that are fitted, which come first, on
    others of the lowest rank (h,)."""
    order = np.lexsort((rank, piece))
    sizes, quota = np.bincount(piece), np.bincount(piece[: len(is_fitted)][is_fitted], minlength=int(piece.max()) + 1)
    place = np.arange(len(piece)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    is_damped = np.append(~is_fitted, np.zeros(len(piece) - len(is_fitted), dtype=bool))
    is_damped[order[place < quota[piece[order]]]] = True
    return is_damped


def _lines(x, triangles, is_single):
    """`_Lines` through the vertices of the triangles that are single."""
    count, corners = len(x), triangles[:, [0, 1, 1, 2, 2, 0, 1, 0, 2, 1, 0, 2]].reshape(-1, 2)
    spoke = np.unique(corners[:, 0] * count + corners[:, 1])
    start = np.searchsorted(spoke, count * np.arange(count + 1))
    width = np.diff(start)
    # where faces touch at a vertex alone they hang as on a joint
    is_joint = np.bincount(triangles.ravel(), minlength=count) < width - 1
    wanted = np.unique(triangles[is_single])
    wanted = wanted[(width[wanted] <= MOST_SPOKES) & ~is_joint[wanted]]
    tip = spoke % count
    unit = x[tip] - x[spoke // count]
    size = np.sqrt(np.einsum("si,si->s", unit, unit))[:, None]
    unit = np.divide(unit, size, out=np.zeros_like(unit), where=size > 0.0)
    line, found = np.full(len(spoke), -1), [np.zeros((0, 4), np.int64)]
    for each in np.unique(width[wanted]):
        middle = wanted[width[wanted] == each]
        rows = start[middle][:, None] + np.arange(each)
        beside, opposite, is_line = _cross(unit[rows])
        beside, opposite = (tip[np.take_along_axis(rows, k, axis=1)] for k in (beside, opposite))
        stencils = np.stack([np.broadcast_to(middle[:, None], rows.shape), beside, tip[rows], opposite], axis=2)
        line[rows[is_line]] = sum(map(len, found)) + np.arange(np.count_nonzero(is_line))
        found.append(stencils[is_line])
    return _Lines(np.concatenate(found), spoke, line)


def _cross(unit):
    """What goes on from each spoke, of unit (v, k, 3): (v, k) which is most beside both, which is opposite, and whether
    they make a line. Of equal ones the first, wherever the mesh lies.
    """
    cosine = np.round(np.einsum("vai,vbi->vab", unit, unit), SAME_DIGITS)
    opposite = cosine.argmin(axis=2)
    way = unit - np.take_along_axis(unit, opposite[..., None], axis=1)
    size = np.sqrt(np.einsum("vai,vai->va", way, way))[..., None]
    along = np.abs(np.einsum("vai,vbi->vab", way, unit))
    along = np.round(np.divide(along, size, out=np.ones_like(along), where=size > 0.0), SAME_DIGITS)
    is_line = (cosine.min(axis=2) <= -LEAST_OPPOSED) & (along.min(axis=2) <= np.sqrt(1.0 - LEAST_BESIDE**2))
    return along.argmin(axis=2), opposite, is_line


def _stencils_of_faces(triangles, single, hinges, lines, count):
    """(m, f) hinges on the sides of each single face, and lines along these beyond either end; -1 where none is."""
    place = np.full(len(triangles), -1)
    place[single] = np.arange(len(single))
    hinge, side = np.nonzero((hinges.triangles >= 0) & (place[hinges.triangles] >= 0))
    face = place[hinges.triangles[hinge, side]]
    order = np.argsort(face, kind="stable")
    face, hinge = face[order], hinge[order]
    rank = np.arange(len(face)) - np.searchsorted(face, face)
    on_sides = np.full((rank.max(initial=-1) + 1, len(single)), -1)
    on_sides[rank, face] = hinge
    first, second = triangles[single][:, [[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]]].transpose(1, 2, 0)
    line = lines.line[np.searchsorted(lines.spoke, first * count + second)]
    return np.concatenate([on_sides, np.where(line < 0, -1, len(hinges.stencils) + line)])


def _first_equal(stencils, count):
    """(h,) the first stencil with the same edge and the same opposite vertices: lines are found from both their ends."""
    edge, ends = (np.unique(edge_keys(stencils[:, k : k + 2], count), return_inverse=True)[1].ravel() for k in (0, 2))
    _, first, row = np.unique(edge * len(edge) + ends, return_index=True, return_inverse=True)
    return first[row.ravel()]


def _frames(x, faces, single, uv, ratio):
    """Of the single faces: (f, 3, 3) the warp or any way, that across it and the normal; (f, 3) the root of what stands
    for I there."""
    corner = x[faces.triangles[single]]
    sides = corner[:, [2, 0, 1]] - corner[:, [1, 2, 0]]
    normal, way, told = np.cross(sides[:, 0], sides[:, 1]), sides[:, 0], np.zeros(len(single), dtype=bool)
    if uv is not None:
        warp, told = warp_of_pattern(sides, uv[single])
        way = np.where(told[:, None], warp, way)
    frame = np.stack([way, np.cross(normal, way), normal], axis=1)
    frame /= np.sqrt(np.einsum("fki,fki->fk", frame, frame))[..., None]
    return frame, np.where(told[:, None], np.sqrt([1.0, ratio, 0.5 + 0.5 * ratio]), ratio**0.25)


def _target(x, triangles, single, frame):
    """(6, f) as of `_Patches`: I, and half of it across a border: there half a cell has no moment to bend it."""
    border = border_edges(triangles)
    # each face with each edge of the border that ends at one of its corners
    order = np.argsort(border.ravel(), kind="stable")
    start = np.searchsorted(border.ravel()[order], np.arange(len(x) + 1))
    corners = triangles[single]
    count = np.diff(start)[corners].ravel()
    face, behind = np.repeat(np.arange(3 * len(single)), count), np.cumsum(count) - count
    edge = order[np.repeat(start[corners].ravel() - behind, count) + np.arange(len(face))] // 2
    face //= 3
    along = np.einsum("bi,bki->kb", x[border[edge, 1]] - x[border[edge, 0]], frame[face, :2])
    along /= np.maximum(np.sqrt(along[0] ** 2 + along[1] ** 2), np.finfo(float).tiny)
    across = np.stack([along[1] ** 2, along[0] ** 2, -np.sqrt(2.0) * along[0] * along[1]], axis=1)
    free = np.zeros((len(single), 3, 3))
    np.add.at(free, face, across[:, :, None] * across[:, None])
    ways, axes = symmetric_axes(free)
    whole = np.eye(3) - 0.5 * np.einsum("fik,fk,fjk->fij", axes, np.minimum(ways, 1.0), axes)
    return np.stack([whole[:, k, m] * (1.0 if k == m else np.sqrt(2.0)) for k, m in PLACES])


def _outer(c):
    """(..., 6, f) c c^T of c (..., 3, f), what is off its diagonal times sqrt2."""
    return np.stack([c[..., k, :] * c[..., m, :] * (1.0 if k == m else np.sqrt(2.0)) for k, m in PLACES], axis=-2)


def _seen(x, stencils, stencil, frame, root):
    """The first four of `_Patches`, of stencils (h, 4) those in stencil (m, f); frame and root as of `_frames`."""
    used, row = np.unique(np.where(stencil < 0, stencil.max(), stencil), return_inverse=True)
    row = row.reshape(stencil.shape)
    e0, e1, o0, o1 = (x[column] for column in stencils[used].T)
    edge, c, apart = e1 - e0, np.zeros((3, len(used))), np.zeros((len(used), 3))
    square = np.einsum("hi,hi->h", edge, edge)
    for opposite, side in ((o0, 1.0), (o1, -1.0)):
        foot = np.einsum("hi,hi->h", opposite - e0, edge) / square
        away = opposite - e0 - foot[:, None] * edge
        height = np.sqrt(np.einsum("hi,hi->h", away, away))
        c += 0.5 * square * foot * (foot - 1.0) / height, 0.5 * height, side * np.sqrt(0.5 * square) * foot
        apart += side * away / height[:, None]
    seen, apart = (np.einsum("mfi,fki->kmf", way[row], frame) for way in (edge, apart))
    size = np.sqrt(seen[0] ** 2 + seen[1] ** 2)
    is_used = (stencil >= 0) & (size > LEAST_SEEN * np.sqrt(square)[row])
    for k in range(1, len(stencil)):  # a line that is a hinge of the face, too
        is_used[k] &= ~(stencil[:k] == stencil[k]).any(axis=0)
    cosine, sine = (np.divide(part, size, out=np.zeros_like(size), where=is_used) for part in seen[:2])
    along, across, twist = c[:, row]
    twist = np.where(cosine * apart[1] > sine * apart[0], twist, -twist)
    turned = np.stack([
        along * cosine**2 + across * sine**2 - np.sqrt(2.0) * twist * sine * cosine,
        along * sine**2 + across * cosine**2 + np.sqrt(2.0) * twist * sine * cosine,
        np.sqrt(2.0) * (along - across) * sine * cosine + twist * (cosine**2 - sine**2),
    ], axis=1) / root.T  # fmt: skip
    length2 = np.where(is_used, np.einsum("mif,mif->mf", turned, turned), 1.0)
    turned /= np.sqrt(length2)[:, None]
    return np.maximum(stencil, 0), is_used, _outer(turned), length2


def _fit(patches, shares):
    """(m, f) shares of the stencils of each face, found from those given; 1 is that of one which is alone in its way."""
    shares = np.where(patches.is_used, shares, 0.0)
    for first in range(0, shares.shape[1], FACES_AT_ONCE):
        now = slice(first, first + FACES_AT_ONCE)
        outer = np.where(patches.is_used[:, None, now], patches.outer[:, :, now], 0.0)
        gram = np.einsum("mif,nif->mnf", outer, outer)
        gram[range(len(gram)), range(len(gram))] += EVENNESS
        share = shares[:, now]
        slope = np.einsum("mnf,nf->mf", gram, share) - np.einsum("mif,if->mf", outer, patches.target[:, now])
        for _ in range(SWEEPS):
            for own, row in enumerate(gram):
                more = np.maximum(-slope[own] / row[own], -share[own])
                share[own] += more
                slope += row * more
        whole = patches.target[:3, now].sum(axis=0)
        share *= whole / np.maximum(share.sum(axis=0), whole / MOST_RAISED)
    return shares


def _sum(patches, value, count):
    """(h,) of count stencils: sum of value (m, f) times the area over the faces that use them."""
    weight = np.where(patches.is_used, value, 0.0) * patches.area
    return np.bincount(patches.stencil.ravel(), weight.ravel(), minlength=count)
