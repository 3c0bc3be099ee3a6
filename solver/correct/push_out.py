# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth of baked frames out of bodies: what is inside, or too near, goes to where it is nearest outside, and takes what is
beside it along, on the cloth and in time (`ease`).

    held, target  <-  what is inside or too near where x + u is, of those that count
    u             <-  ease(held, target)            again, until nothing is, or `ROUNDS` are over

A triangle of cloth that crosses one of a body goes where its deepest point comes out nearest. Where a tip or an edge of a
body reaches through it, which shows in the normals of what it crosses, that would be to all sides: it goes along its own
normal, the shorter way.
"""

from collections.abc import Generator, Sequence
from typing import NamedTuple

import numpy as np

from ..broad_phase.bvh import bvh_overlaps
from ..crossings import cross
from ..ldi.inside import find_inside, find_near
from .ease import Easing, eased, make_net

ROUNDS = 12
FAR_ENOUGH = 0.9  # part of the distance from which on a vertex counts as far enough: a bake leaves some a little nearer
SIDE_PARTS = 4  # into which the sides of a triangle that crosses a body are cut, to find how deep it is
THROUGH = 0.8  # length of the mean of the normals of what a triangle crosses, under which that reaches through it
WAY_STEPS = 40  # in which the way out along a normal is looked for
BESIDE = 0.5  # of the distance that a triangle goes that crosses a body without any point of it being inside
FLAT = 1e-12  # [m] up to which a point is on a surface


class Obstacle(NamedTuple):
    """What cloth is kept out of."""

    name: str
    x: np.ndarray  # (f, m, 3) [m]
    triangles: np.ndarray  # (t, 3), outwards if it is closed; what is open has no inside
    distance: float  # [m] at which cloth is to be


class Worn(NamedTuple):
    """Cloth in the same frames."""

    x: np.ndarray  # (f, n, 3) [m]
    edges: np.ndarray  # (e, 2)
    triangles: np.ndarray  # (t, 3)
    counts: np.ndarray  # (f, n) bool: which are to be outside
    depth: float  # [m] deeper ones are left alone


class Needs(NamedTuple):
    """How cloth has to move in a frame."""

    move: np.ndarray  # (n, 3) [m], 0 where it need not
    crossing: np.ndarray  # (t,) bool: triangles of cloth that cross a body
    deep: np.ndarray  # (n,) bool: vertices inside that are too deep


class Pushed(NamedTuple):
    """What came out."""

    moved: np.ndarray  # (f, n, 3) [m] displacements, 0 where nothing goes
    before: np.ndarray  # (f, n) bool: what was inside or too near, or of a triangle that crossed
    after: np.ndarray  # (f, n) bool: what still is
    crossing_count: int  # triangles that still cross, in all frames
    deep_count: int  # vertices inside that are too deep, in all frames


def push_out(worn: Worn, bodies: Sequence[Obstacle], easing: Easing) -> Generator[float, None, Pushed]:
    """Displacements that bring cloth out of bodies; yields what part of the work is done.

    Notes
    -----
    Frames in which nothing counts are moved along as `easing` says, and not looked at.
    """
    looked_at = np.flatnonzero(worn.counts.any(axis=1))
    net = make_net(worn.x[0], worn.edges)
    moved, held = np.zeros_like(worn.x), np.zeros(worn.counts.shape, bool)
    target, before, deep_count = np.zeros_like(worn.x), None, 0
    for round_ in range(ROUNDS + 1):
        wrong, crossing_count = np.zeros_like(held), 0
        for done, frame in enumerate(looked_at):
            yield (round_ + done / len(looked_at)) / (ROUNDS + 1)
            found = needs(worn, bodies, frame, worn.x[frame] + moved[frame])
            wrong[frame] = found.move.any(axis=1)
            target[frame][wrong[frame]] = (moved[frame] + found.move)[wrong[frame]]
            crossing_count += int(found.crossing.sum())
            deep_count += int(found.deep.sum()) if before is None else 0
        before = wrong if before is None else before
        if not wrong.any() or round_ == ROUNDS:
            break
        held |= wrong
        moved = eased(target, held, net, easing)
        np.copyto(target, moved, where=held[:, :, None])
    return Pushed(moved, before, wrong, crossing_count, deep_count)


def needs(worn: Worn, bodies: Sequence[Obstacle], frame: int, x: np.ndarray) -> Needs:
    """How cloth at x (n, 3) [m] has to move in a frame to be outside of bodies."""
    move, deep = np.zeros_like(x), np.zeros(len(x), bool)
    counts, crossing = worn.counts[frame], np.zeros(len(worn.triangles), bool)
    for body in bodies:
        there = body.x[frame]
        own, too_deep = _moves(there, body, x[counts], worn.depth)
        deep[counts] |= too_deep
        whole = np.zeros_like(x)
        whole[counts] = own
        pairs = _crossing(x, worn.triangles, counts, there, body.triangles)
        pairs = pairs[~deep[worn.triangles[pairs[:, 0]]].any(axis=1)]
        crossing[pairs[:, 0]] = True
        _add_longer(whole, *_of_triangles(x, worn, there, body, pairs))
        _add_longer(move, np.arange(len(x)), whole)
    return Needs(move, crossing, deep)


def _moves(there, body: Obstacle, points, depth: float) -> tuple[np.ndarray, np.ndarray]:
    """(p, 3) [m] how points have to move to be outside of a body at `there`, and (p,) bool which are too deep for that."""
    move, deep = np.zeros_like(points), np.zeros(len(points), bool)
    inside = find_inside(there, body.triangles, points)
    deep[inside.point[inside.depth > depth]] = True
    is_in = np.zeros(len(points), bool)
    is_in[inside.point] = True
    near = find_near(there, body.triangles, points, FAR_ENOUGH * body.distance)
    for found, sign in ((inside, -1.0), (near, 1.0)):
        kept = ~deep[found.point] if sign < 0.0 else ~is_in[found.point]
        at, away = found.point[kept], found.depth[kept]
        outwards = sign * (points[at] - found.place[kept])
        flat = away < FLAT
        outwards[flat] = _normals(there, body.triangles[found.triangle[kept][flat]])
        outwards[~flat] /= away[~flat, None]
        move[at] = outwards * (body.distance - sign * away)[:, None]
    return move, deep


def _crossing(x, triangles, counts, there, body_triangles) -> np.ndarray:
    """(k, 2) triangles of cloth whose corners all count, and of the body, that cross."""
    own = np.flatnonzero(counts[triangles].all(axis=1))
    points = np.concatenate((x, there))
    faces = np.concatenate((triangles[own], body_triangles + len(x))).astype(np.int32)
    corners = points[faces]
    boxes = np.concatenate((corners.min(axis=1), corners.max(axis=1)), axis=1)
    group = np.repeat(np.arange(2, dtype=np.int32), (len(own), len(body_triangles)))
    pairs = bvh_overlaps(boxes, group, ~np.eye(2, dtype=bool))
    pairs = pairs[cross(points, faces[pairs[:, 0]], faces[pairs[:, 1]])]
    return np.column_stack((own[pairs[:, 0]], pairs[:, 1] - len(own)))


def _of_triangles(x, worn: Worn, there, body: Obstacle, pairs) -> tuple[np.ndarray, np.ndarray]:
    """Corners of triangles of cloth that cross a body, and how each has to move for these to be outside."""
    if not len(pairs):
        return np.empty(0, int), np.empty((0, 3))
    own, of_pair = np.unique(pairs[:, 0], return_inverse=True)
    normals = _normals(there, body.triangles[pairs[:, 1]])
    mean = np.stack([np.bincount(of_pair, normal, len(own)) for normal in normals.T], axis=1)
    mean /= np.bincount(of_pair)[:, None]
    steep = np.sqrt((mean * mean).sum(axis=1))
    grid = [(i, j, SIDE_PARTS - i - j) for i in range(SIDE_PARTS + 1) for j in range(SIDE_PARTS + 1 - i)]
    points = np.einsum("gc,tcd->tgd", np.array(grid) / SIDE_PARTS, x[worn.triangles[own]])
    moves, _ = _moves(there, body, points.reshape(-1, 3), worn.depth)
    moves = moves.reshape(len(own), len(grid), 3)
    longest = (moves * moves).sum(axis=2).argmax(axis=1)
    move = moves[np.arange(len(own)), longest]
    is_corner = [grid.index(corner) for corner in ((SIDE_PARTS, 0, 0), (0, SIDE_PARTS, 0), (0, 0, SIDE_PARTS))]
    through = (steep < THROUGH) & ~moves[:, is_corner].any(axis=(1, 2))
    deepest = points[np.arange(len(own)), longest][through]
    move[through] = _along_normals(there, body, deepest, _normals(x, worn.triangles[own[through]]), worn.depth)
    none = ~move.any(axis=1) & ~through
    move[none] = BESIDE * body.distance * mean[none] / np.maximum(steep[none, None], FLAT)
    return worn.triangles[own].ravel(), np.repeat(move, 3, axis=0)


def _along_normals(there, body: Obstacle, points, normals, depth: float) -> np.ndarray:
    """(p, 3) [m] the shorter way out of a body along a normal, to the one side or the other; 0 where it is too deep."""
    ways = np.linspace(0.0, depth, WAY_STEPS + 1)[1:]
    reached = points[:, None, None] + normals[:, None, None] * np.array((1.0, -1.0))[:, None, None] * ways[:, None]
    inside = np.zeros(reached.shape[:3], bool)
    inside.ravel()[find_inside(there, body.triangles, reached.reshape(-1, 3)).point] = True
    out = np.where(inside.all(axis=2), WAY_STEPS, inside.argmin(axis=2))  # first step that is outside
    side = out.argmin(axis=1)
    first = out[np.arange(len(out)), side]
    way = np.where(first < WAY_STEPS, ways[np.minimum(first, WAY_STEPS - 1)] + body.distance, 0.0)
    return normals * (np.where(side == 0, 1.0, -1.0) * way)[:, None]


def _add_longer(move: np.ndarray, at: np.ndarray, other: np.ndarray) -> None:
    """Put the moves `other` (k, 3) to vertices `at` (k,) into `move` (n, 3) where they are longer than what is there."""
    size = (other * other).sum(axis=1)
    order = np.argsort(size, kind="stable")  # of several to one vertex, the longest is put there last
    at, other, size = at[order], other[order], size[order]
    longer = size > (move[at] * move[at]).sum(axis=1)
    move[at[longer]] = other[longer]


def _normals(x, triangles) -> np.ndarray:
    """(t, 3) of length 1, outwards."""
    a, b, c = x[triangles].transpose(1, 0, 2)
    normal = np.cross(b - a, c - a)
    return normal / np.maximum(np.sqrt((normal * normal).sum(axis=1)), 1e-300)[:, None]
