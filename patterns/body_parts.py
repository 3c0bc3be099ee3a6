# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a body, as panels are laid about them: trunk, arms, legs; where it is narrow, and which way it faces.

A body is read by its Reeb graph: the level sets of the distance along its surface from its top, and how they hang together (Hilaga,
Shinagawa, Kohmura and Kunii 2001, sections 3 and 4). The branches that leave it are its limbs, whatever pose they are in.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, dijkstra

LEVELS = 90  # bands of distance that a body is read by
LIMB = 0.16  # of the greatest distance: a branch that is shorter is a finger, an ear, a bow
FOOT = 0.04  # of the height: what is lower is a foot
SHIN = 0.1, 0.2  # of the height: what lies between is above it
LOWEST_ARM = 0.5  # of the height: limbs that begin higher are arms
WRIST = 0.8  # of a limb's length: what is beyond is a hand or a foot
SECTIONS = 120  # of the trunk
WIDER = 1.2, 1.5  # times as wide as its neck a body is below that, and where its shoulders begin


class Part(NamedTuple):
    """A trunk or a limb. About its axis panels are laid; zero of the angle is where the first one has its middle."""

    x: np.ndarray  # (k, 3) [m] its points
    start: np.ndarray  # (3,) [m] on the axis, where it begins at the trunk; of the trunk its foot
    up: np.ndarray  # (3,) unit, along the axis, to where panels' upper ends are
    out: np.ndarray  # (3,) unit, across the axis, from it to the middle of what is laid first


class Figure(NamedTuple):
    """What is dressed."""

    trunk: Part  # with the head
    arms: tuple[Part, ...]  # its left one, its right one; none where it has not two
    legs: tuple[Part, ...]
    front: np.ndarray  # (3,) unit, to where it faces
    neck: float  # [m] height above which it is about as narrow as anywhere
    shoulder: float  # [m] height at which neck and shoulders meet
    chest: float  # [m] at which arms begin
    waist: float  # [m] at which it is narrowest between arms and legs


def read(x: np.ndarray, triangles: np.ndarray) -> Figure:
    """The parts of a body that stands upright, z up.

    Parameters
    ----------
    x : (n, 3) [m] its points
    triangles : (t, 3) its surface, of which the largest piece counts

    Raises
    ------
    ValueError
        It has no surface.
    """
    x, sides = _largest_piece(x, triangles)
    limbs, trunk = _limbs(x, sides)
    if len(limbs) % 2:  # a body without legs: what goes on below the arms is its trunk
        widest = max(range(len(limbs)), key=lambda k: np.mean([np.ptp(x[ring], axis=0).max() for ring in limbs[k]]))
        trunk = np.union1d(trunk, np.concatenate(limbs.pop(widest)))
    low, high = x[:, 2].min(), x[:, 2].max()
    starts = [x[limb[0], 2].mean() for limb in limbs]
    arms = [limb for limb, start in zip(limbs, starts, strict=True) if start > low + LOWEST_ARM * (high - low)]
    legs = [limb for limb, start in zip(limbs, starts, strict=True) if start <= low + LOWEST_ARM * (high - low)]
    pairs = {name: found if len(found) == 2 else [] for name, found in (("arms", arms), ("legs", legs))}
    front = _front(x, pairs["arms"] or pairs["legs"])
    left = np.array([-front[1], front[0], 0.0])
    arms, legs = (sorted(pairs[name], key=lambda limb: -(x[limb[-1]] @ left).mean()) for name in ("arms", "legs"))
    axis = np.array([*(0.5 * (x[trunk, :2].min(axis=0) + x[trunk, :2].max(axis=0))), x[trunk, 2].min()])
    body = Part(x[trunk], axis, np.array([0.0, 0.0, 1.0]), front)
    return Figure(
        body,
        tuple(_limb(x, limb, side * left) for limb, side in zip(arms, (1.0, -1.0), strict=False)),
        tuple(_limb(x, limb, side * left) for limb, side in zip(legs, (1.0, -1.0), strict=False)),
        front,
        *_heights(x, trunk, arms, legs),
    )


def _largest_piece(x, triangles):
    """Points and edges (k, 2) of the piece of a surface with the most points."""
    if not len(triangles):
        raise ValueError("it has no faces")
    sides = np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    # what a file keeps in pieces that share places, as at a seam of its UV map, is one
    _, number = np.unique(np.round(x, 5), axis=0, return_inverse=True)
    number = number.ravel()
    graph = coo_array((np.ones(len(sides)), tuple(number[sides].T)), shape=2 * (number.max() + 1,))
    _, piece = connected_components(graph, directed=False)
    most = np.bincount(piece[number[triangles[:, 0]]]).argmax()
    used = np.flatnonzero(np.bincount(number[triangles].ravel(), minlength=number.max() + 1) * (piece == most))
    place = np.full(number.max() + 1, -1)
    place[used] = np.arange(len(used))
    first = np.zeros((len(used), 3))
    own = place[number]
    first[own[own >= 0]] = x[own >= 0]
    sides = own[sides]
    sides = sides[(sides >= 0).all(axis=1) & (sides[:, 0] != sides[:, 1])]
    return first, np.unique(np.sort(sides, axis=1), axis=0)


def _limbs(x, sides):
    """Of each limb its points (k,) by level set, from where it leaves the trunk to its end; and those of the trunk, (k,)."""
    away = np.linalg.norm(x[sides[:, 0]] - x[sides[:, 1]], axis=1)
    graph = coo_array((away, tuple(sides.T)), shape=(len(x), len(x))).tocsr()
    distance = dijkstra(graph, directed=False, indices=int(x[:, 2].argmax()))
    level = np.minimum((LEVELS * distance / distance.max()).astype(int), LEVELS - 1)
    level = _filled(level, sides)
    inside = level[sides[:, 0]] == level[sides[:, 1]]
    count, node = connected_components(
        coo_array((np.ones(inside.sum()), tuple(sides[inside].T)), shape=graph.shape), directed=False
    )
    height = np.zeros(count, int)
    height[node] = level
    links = np.unique(node[sides[~inside]], axis=0)
    links = np.where((height[links[:, 0]] > height[links[:, 1]])[:, None], links[:, ::-1], links)
    above = np.full(count, -1)  # towards the top, the node with the most points
    size = np.bincount(node)
    for one, other in links[np.argsort(size[links[:, 0]], kind="stable")].tolist():
        above[other] = one
    branches = _branches(above, height)
    points = {k: np.flatnonzero(node == k) for chain in branches for k in chain}
    limbs = [[points[k] for k in chain] for chain in branches]
    taken = np.zeros(count, bool)
    taken[[k for chain in branches for k in _with_twigs(chain, above)]] = True
    return limbs, np.flatnonzero(~taken[node])


def _filled(level, sides):
    """Levels (n,) between whose neighbours no level is left out: long edges would tear a level set."""
    return level // max(int(np.percentile(np.abs(level[sides[:, 0]] - level[sides[:, 1]]), 99.0)), 1)


def _branches(above, height):
    """The limbs of a Reeb graph as chains of its nodes from the trunk out: `above` (c,) the node before each, `height` (c,) its level."""
    order = np.argsort(-height, kind="stable")
    deepest = height.copy()
    for k in order.tolist():
        if above[k] >= 0:
            deepest[above[k]] = max(deepest[above[k]], deepest[k])
    below = {}
    for k in order[::-1].tolist():
        if above[k] >= 0:
            below.setdefault(int(above[k]), []).append(k)
    least, found = LIMB * height.max(), []

    def follow(k, chain):
        """Down the graph: where two or more long branches part, each is a limb of its own, or the trunk that parts again."""
        while True:
            long = [other for other in below.get(k, ()) if deepest[other] - height[k] >= least]
            on = long or sorted(below.get(k, ()), key=lambda other: -deepest[other])[:1]
            if len(on) != 1:
                break
            k = on[0]
            chain.append(k)
        if not on:
            found.append(chain)
        for other in on:
            follow(other, [other])

    roots = np.flatnonzero(above < 0)
    root = int(roots[np.argmax(deepest[roots] - height[roots])])
    follow(root, [root])
    # what the top leads to without parting is a body without limbs
    return [chain for chain in found if above[chain[0]] >= 0]


def _with_twigs(chain, above):
    """A chain's nodes, and all that hang on it."""
    inside = set(chain)
    for k in range(len(above)):
        way, at = [], k
        while at >= 0 and at not in inside:
            way.append(at)
            at = int(above[at])
        if at >= 0:
            inside.update(way)
    return inside


def _front(x, pair):
    """(3,) where a body faces: across the line between two limbs, to where the toes are; -y where nothing tells."""
    low, span = x[:, 2].min(), np.ptp(x[:, 2])
    if not pair:
        return np.array([0.0, -1.0, 0.0])
    one, other = (x[limb[0], :2].mean(axis=0) for limb in pair)
    across = one - other
    front = np.array([across[1], -across[0]]) / max(np.hypot(*across), 1e-9)
    z = (x[:, 2] - low) / span
    foot, shin = x[z < FOOT, :2], x[(z > SHIN[0]) & (z < SHIN[1]), :2]
    middle = [0.5 * (part.min(axis=0) + part.max(axis=0)) @ front for part in (foot, shin) if len(part)]
    ahead = middle[0] - middle[1] if len(middle) == 2 else 0.0
    if abs(ahead) < 0.01 * span:  # it stands on tiptoe, or has no feet
        ahead = -front[1]
    return np.append(front if ahead >= 0.0 else -front, 0.0)


def _limb(x, limb, left) -> Part:
    """An arm or a leg: from the middle of where it leaves the trunk straight to its wrist or ankle."""
    start, end = x[limb[0]].mean(axis=0), x[limb[int(WRIST * (len(limb) - 1))]].mean(axis=0)
    up = (start - end) / max(np.linalg.norm(start - end), 1e-9)
    out = left + np.array([0.0, 0.0, 1.0])  # up of an arm that is held out, outside of one that hangs
    out -= (out @ up) * up
    return Part(x[np.concatenate(limb)], start, up, out / np.linalg.norm(out))


def _heights(x, trunk, arms, legs) -> tuple[float, float, float, float]:
    """Neck, shoulder, chest and waist [m]."""
    z = x[trunk, 2]
    low, high = z.min(), z.max()
    at = np.linspace(low, high, SECTIONS)
    width = np.array([_width(x[trunk], height, (high - low) / SECTIONS) for height in at])
    top = low + 0.75 * (high - low)
    chest = max(x[arm[0], 2].min() for arm in arms) if arms else top
    hips = max(x[leg[0], 2].max() for leg in legs) if legs else low
    above, between = (
        (at > chest) & (at < chest + 0.8 * (high - chest)),
        (at > hips + 0.2 * (chest - hips)) & (at < chest),
    )
    narrowest = float(at[above][np.argmin(width[above])]) if above.any() else high
    waist = float(at[between][np.argmin(width[between])]) if between.any() else 0.5 * (low + high)
    narrow = np.interp(narrowest, at, width)
    below = at[(at > chest) & (at < narrowest)], width[(at > chest) & (at < narrowest)]
    neck, shoulder = (float(below[0][below[1] > times * narrow].max(initial=chest)) for times in WIDER)
    return neck, shoulder, float(chest), waist


def _width(x, height, thick) -> float:
    """Across x and y, of a slice of points; as wide as can be where there are none."""
    inside = np.abs(x[:, 2] - height) <= thick
    return float(np.ptp(x[inside, :2], axis=0).sum()) if inside.sum() > 2 else np.inf
