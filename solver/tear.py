# SPDX-License-Identifier: GPL-3.0-or-later
"""Tearing along lines where the mesh was cut beforehand (`geometry.tear_lines`): what holds is one particle, as a welded seam
is (`join`), and opens between two substeps (`step.advance`).

Both sides of a joint pull at it with what the springs about them bear. In balance these forces are opposite; a joint of two
vertices of masses m and forces f passes on

    t = (m_2 f_1 - m_1 f_2) / (m_1 + m_2),

which is what remains of them once both go the same way. Its mean over a frame's substeps, so that nothing begins to tear of
what rings in one, over the length of line that it holds is a tension [N/m]. Beyond the strength it opens, if it pulls the sides
apart, of all those of a garment the worst first. A frame in which one does is taken again with each substep as a frame of its
own, at whose end so many open, for what the first lets go of pulls at the next. Beside what is torn a line is weaker, so a tear runs on
(after the notch of Griffith 1921: what ends at a tear bears more than what lies along it, too).

A joint that opens leaves its sides a hair apart, each moved to its own cloth: so neither crosses the other, and contact has a
side to keep each on. In the pattern they are cut out by as much as cloth is thick, or they would push each other. What
would let cloth pass through cloth stays whole for another substep, and so does what would let a small piece fall.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from .build import HINGE_FIELDS
from .crossings import crossing_triangles
from .elastic.springs import TAUT_LENGTH, TAUT_STIFFNESS
from .geometry.seams import same_places
from .geometry.topology import edge_keys
from .model import Cloth, State

CUT_THICKNESS = 0.56  # of the cloth's thickness, that the pattern is cut out by on each side; contact takes 0.9 of both
CUT_EDGE = 0.1  # of the shortest edge about it, at most
PARTED_SHARE = 0.05  # of that cut, by which a side is moved where it opens
OPENING_ROUNDS = 3  # in which what would cross is left out, before nothing opens


class Watch(NamedTuple):
    """What pulls at the joints of a frame."""

    cloth: Cloth  # of all vertices
    near: np.ndarray  # (s,) springs that end at a joint
    pull: np.ndarray  # (j, 3) [N] what each joint passes on, summed over `looks`
    looks: list[int]  # one number, how often it was looked


def are_open(tears, broken):
    """(j,) bool: which joints are torn; broken : (n,) uint8 of `State`."""
    return (broken[tears.joints[:, 0]] & tears.bit) > 0


def held_pairs(cloth, state):
    """(k, 2) particles that joints hold together."""
    if cloth.tears is None:
        return np.zeros((0, 2), np.int32)
    return cloth.tears.joints[~are_open(cloth.tears, state.broken)]


def as_torn(cloth, broken):
    """The cloth with the hinges and the damping of seams of what holds, and cut out in the pattern where it is torn."""
    tears, count = cloth.tears, len(cloth.mass)
    first, own = same_places(*tears.joints.T, count)
    is_open, place = are_open(tears, broken), first[own]
    at_tear = np.zeros(count, bool)
    at_tear[place[tears.joints[is_open].ravel()]] = True
    whole = ~at_tear[tears.bend_stencils].any(axis=1)
    on_line = np.zeros(count, bool)
    on_line[tears.joints.ravel()] = True
    # beside a line the pieces' own hinges, which know of one side alone, count where it is torn
    pieces = at_tear[place[cloth.bend_stencils]].any(axis=1) | ~on_line[cloth.bend_stencils].any(axis=1)
    hinges = {
        name: np.concatenate([getattr(cloth, name)[pieces], getattr(tears, name)[whole]]) for name in HINGE_FIELDS
    }
    hinges["edge_damping"] = _seam_damping(cloth, same_places(*tears.joints[~is_open].T, count))
    if is_open.any():
        groups = same_places(*tears.joints[~is_open].T, count)
        rest = cloth.x_rest + inward(cloth, groups, at_tear[place], cloth.x_rest)
        hinges |= {"x_rest": rest, "pattern": cloth.pattern._replace(x=rest)}
    return cloth._replace(**hinges)


def _seam_damping(cloth, groups):
    """(e,) [1/s] the cloth's `edge_damping`, with that of seams for the masses of what holds together, `groups` of `same_places`: a rate
    for their pieces' masses would be more damping, and close them later."""
    ends, (_, own) = cloth.edges[cloth.seams], groups
    held = np.bincount(own, cloth.inv_mass == 0.0) > 0
    inv_mass = np.where(held, 0.0, 1.0 / np.bincount(own, cloth.mass))[own]
    before, now = (np.einsum("sk->s", values[ends]) for values in (cloth.inv_mass, inv_mass))
    rate = cloth.edge_damping.copy()
    rate[cloth.seams] *= np.divide(now, before, out=np.ones(len(now)), where=before > 0.0)
    return rate


def springs_as_one(cloth, place):
    """The cloth with one spring in place of those between the same two of `place` (n,): both sides of a line that holds are one. Two of
    half the stiffness would be damped twice, and held back twice where cloth gets long."""
    keys = edge_keys(place[cloth.edges], len(place)).astype(np.int64)
    keys[cloth.seams] = -1 - np.arange(len(cloth.seams))
    _, first, own = np.unique(keys, return_index=True, return_inverse=True)
    own, count = own.ravel(), len(first)
    if count == len(keys):
        return cloth
    sums = {name: np.bincount(own, getattr(cloth, name), count) for name in ("edge_stiffness", "edge_damping")}
    taut = np.stack([cloth.taut[first, 0], np.bincount(own, cloth.taut[:, 1], count)], axis=1)
    is_mesh_edge = np.bincount(own, cloth.is_mesh_edge, count) > 0
    return cloth._replace(
        edges=cloth.edges[first],
        rest_length=cloth.rest_length[first],
        edge_stiffness=sums["edge_stiffness"],
        edge_damping=sums["edge_damping"] / np.bincount(own),
        is_mesh_edge=is_mesh_edge,
        taut=taut,
        seams=own[cloth.seams].astype(np.int32),
        couples=own[cloth.couples].astype(np.int32),
    )


def inward(cloth, groups, moved, x):
    """(n, 3) [m] by which what is `moved` (n,) is cut out at x (n, 3), towards the middle of its own faces; `groups` : of what
    holds together, from `same_places`.
    """
    _, own = groups
    corners = x[cloth.triangles]
    to_middle = corners.mean(axis=1)[:, None] - corners
    group = own[cloth.triangles].ravel()
    way = np.stack([np.bincount(group, part.ravel(), own.max() + 1) for part in np.moveaxis(to_middle, 2, 0)], axis=1)
    size = np.sqrt(np.einsum("ij,ij->i", way, way))
    side = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    shortest, thin = np.full(len(way), np.inf), np.full(len(way), np.inf)
    for column in (side, np.roll(side, -1, axis=1)):
        np.minimum.at(shortest, group, column.ravel())
    np.minimum.at(thin, own, cloth.thickness)
    cut = np.minimum(CUT_THICKNESS * thin, CUT_EDGE * shortest)
    cut = np.where(size > 0.0, cut / np.maximum(size, 1e-30), 0.0)
    return np.where(moved[:, None], (way * cut[:, None])[own], 0.0)


def watch(cloth):
    """`Watch` of a frame; None where nothing can tear. cloth : of all vertices"""
    if cloth.tears is None:
        return None
    at_joint = np.zeros(len(cloth.mass), bool)
    at_joint[cloth.tears.joints.ravel()] = True
    near = at_joint[cloth.edges].any(axis=1)
    near[cloth.seams] = False
    return Watch(cloth, np.flatnonzero(near), np.zeros((len(cloth.tears.joints), 3)), [0])


def look(watched, joined, x):
    """Look what pulls at joints at x (m, 3) [m] of the particles that are left. # outputs: watched.pull, .looks"""
    cloth, near = watched.cloth, watched.near
    ends = x[joined.place][cloth.edges]
    way = ends[:, 1] - ends[:, 0]
    length = np.sqrt(np.einsum("ij,ij->i", way, way))
    longer = length - cloth.rest_length
    tension = cloth.edge_stiffness * longer
    for one, other in (cloth.couples.T, cloth.couples.T[::-1]):
        tension += np.bincount(one, cloth.coupling * longer[other], len(tension))
    tension += cloth.taut[:, TAUT_STIFFNESS] * np.maximum(length - cloth.taut[:, TAUT_LENGTH], 0.0)
    force = (tension[near] / np.maximum(length[near], 1e-12))[:, None] * way[near]
    at, count = cloth.edges[near], len(cloth.mass)
    of_each = [np.bincount(at[:, 0], f, count) - np.bincount(at[:, 1], f, count) for f in force.T]
    f, (a, b) = np.stack(of_each, axis=1), cloth.tears.joints.T
    own, others = (cloth.inv_mass[end] / np.maximum(cloth.inv_mass[a] + cloth.inv_mass[b], 1e-30) for end in (a, b))
    watched.pull[:] += own[:, None] * f[a] - others[:, None] * f[b]
    watched.looks[0] += 1


def open_joints(watched, state, strength):
    """Open what was pulled at too hard in a frame that ends. # output: state; strength : `FrameInput.tear_strength`"""
    cloth = watched.cloth
    tears, owner = cloth.tears, cloth.garment[cloth.tears.joints[:, 0]]
    ratio = _loads(watched, state, np.ones(len(cloth.meets)) if strength is None else np.array(strength))
    wanted = np.flatnonzero(ratio >= 1.0)
    if not len(wanted):
        return
    wanted = wanted[np.lexsort((wanted, -ratio[wanted]))]
    wanted = np.concatenate([wanted[owner[wanted] == g][: tears.most[g]] for g in np.unique(owner[wanted])])
    wanted = _large_pieces(cloth, state.broken, wanted, owner)
    holds = np.flatnonzero(~are_open(tears, state.broken))
    x, opened = part(cloth, state.x, tears.joints[holds], np.searchsorted(holds, wanted))
    state.x[:], state.broken[:] = x, _with_torn(tears, state.broken, holds[opened])


def _loads(watched, state, strength):
    """(j,) tension over what each joint bears; 0 where it is open, held on both sides or pressed together."""
    cloth, tears = watched.cloth, watched.cloth.tears
    a, b = tears.joints.T
    is_open = are_open(tears, state.broken)
    beside, torn_near = tears.beside, np.zeros(len(a), bool)
    for one, other in (beside.T, beside.T[::-1]):
        torn_near[one[is_open[other]]] = True
    owner = cloth.garment[a]
    limit = tears.strength * tears.length * strength[owner] * np.where(torn_near, tears.run_on[owner], 1.0)
    pull = watched.pull / max(watched.looks[0], 1)
    at, count = cloth.edges[watched.near], len(cloth.mass)
    way = state.x[at[:, 1]] - state.x[at[:, 0]]
    middle = np.stack([np.bincount(at[:, 0], w, count) - np.bincount(at[:, 1], w, count) for w in way.T], axis=1)
    apart = np.einsum("ij,ij->i", pull, middle[a] - middle[b]) > 0.0
    size = np.sqrt(np.einsum("ij,ij->i", pull, pull))
    load = np.where(limit > 0.0, apart * size / np.maximum(limit, 1e-30), np.inf)
    never = is_open | (tears.bit == 0) | ((cloth.inv_mass[a] == 0.0) & (cloth.inv_mass[b] == 0.0))
    return np.where(never, 0.0, load)


def _with_torn(tears, broken, opened):
    """`State.broken` with some joints more `opened` (k,)."""
    broken = broken.copy()
    np.bitwise_or.at(broken, tears.joints[opened, 0], tears.bit[opened])
    return broken


def _large_pieces(cloth, broken, wanted, owner):
    """Those of the joints `wanted` (k,) after which no piece of cloth comes off that is smaller than it may be."""
    tears, count = cloth.tears, len(cloth.mass)
    first, own = same_places(*tears.joints.T, count)
    sides, kept = cloth.triangles[:, [0, 1, 1, 2]].reshape(-1, 2), []
    for joint in wanted.tolist():
        whole = tears.joints[~are_open(tears, _with_torn(tears, broken, [*kept, joint]))]
        one, other = np.concatenate([sides, whole]).T
        _, piece = connected_components(coo_array((np.ones(len(one), np.int8), (one, other)), (count, count)), False)
        at = piece[tears.joints[joint]]
        least = tears.piece[owner[joint]]
        if at[0] == at[1] or all(len(np.unique(own[piece == side])) >= least for side in at):
            kept.append(joint)
    return np.array(kept, np.int64)


def part(cloth, x, one, wanted):
    """Part pairs that are `one` (j, 2) and cross nothing by that: x (n, 3) [m] with their sides a hair apart, and of those that
    are `wanted` (k,) which are.
    """
    known = crossing_triangles(cloth, x).astype(np.int64) @ (len(cloth.triangles), 1)
    for _ in range(OPENING_ROUNDS):
        if not len(wanted):
            break
        parted = _parted(cloth, x, one, wanted)
        crossing = crossing_triangles(cloth, parted)
        more = crossing[~np.isin(crossing.astype(np.int64) @ (len(cloth.triangles), 1), known)]
        if not len(more):
            return parted, wanted
        guilty = np.isin(one[wanted], cloth.triangles[more.ravel()]).any(axis=1)
        wanted = wanted[~guilty] if guilty.any() else wanted[:0]
    return x, wanted[:0]


def _parted(cloth, x, one, opened):
    """(n, 3) [m] with the sides of the `opened` (k,) among pairs that are `one` (j, 2) a hair apart."""
    _, own = groups = same_places(*np.delete(one, opened, axis=0).T, len(x))
    a, b = one[opened].T
    split = own[a] != own[b]
    moved = np.isin(own, own[np.concatenate([a[split], b[split]])])
    held = np.isin(own, own[cloth.inv_mass == 0.0])
    return x + PARTED_SHARE * inward(cloth, groups, moved & ~held, x)


def torn_count(cloth, state: State) -> int:
    """How many joints are torn."""
    return 0 if cloth.tears is None else int(np.count_nonzero(are_open(cloth.tears, state.broken)))
