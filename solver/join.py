# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams that have closed are welded: what they join is one particle from the next frame on, of both sides' mass.

A frame ends with each seam that is nearly closed at one place and with one velocity, that of its centre of mass: so a
`State` says itself what is welded, to the bit, and a bake goes on from any frame as if it had run through. What of that
would fold a triangle away, or make cloth pass through cloth, is left open for another frame. A frame works with the
particles that are left (`join`) and hands back the state of all.

What is welded has springs and hinges of both sides, and those over the seam (`elastic.seam_bending`), and contact takes the
sheet as one.
"""

from typing import NamedTuple

import numpy as np

from .build import HINGE_FIELDS, SEAM_FIELDS, bends, in_tree_order, kept_parts, matters
from .crossings import crossing_triangles
from .elastic.sewing import LEAST_SPEED, closing_speeds
from .geometry.seams import same_places
from .geometry.topology import starts
from .integrate.stiffness_matrix import lay_out
from .kernel.memo import remembered
from .model import ATTACHMENT, TACK, Cloth, Pattern, State
from .tear import as_torn, held_pairs, springs_as_one

WELDING_GAP = 2e-3  # [m] up to which a seam is welded: a stitch of a seam is 2 to 3 mm long;
WELDING_PART = 0.25  # or, in fine cloth, this part of the edges about it;
WELDING_DISTANCES = 1.5  # or so many times what contact holds it apart by
STUCK_SPEED = 0.5 * LEAST_SPEED  # [m/s] a seam beside a welded one that closes more slowly is held open
TIES = np.uint8(ATTACHMENT | TACK)  # bits of what is broken that all at one place share
WELDING_ROUNDS = 3  # in which what would cross is left out, before nothing is welded in this frame


class Joined(NamedTuple):
    """A cloth of which each welded place is one particle."""

    cloth: Cloth
    kept: np.ndarray  # (m,) which of all particles has the pose of each, the firmest pinned
    place: np.ndarray  # (n,) which of those that are left is at the place of each


def join(cloth, state, frame_input):
    """`Joined` of what is welded in a state, the state of its particles and the frame's input for them; None in the place
    of the first where nothing is.
    """
    pairs = cloth.edges[cloth.seams]
    pairs = pairs[is_welded(pairs, state) & (cloth.inv_mass[pairs] > 0.0).any(axis=1)]
    if cloth.tears is not None:
        pairs = np.concatenate([pairs, held_pairs(cloth, state)])
        cloth = as_torn(cloth, state.broken)
    if not len(pairs):
        if cloth.tears is None:
            return None, state, frame_input
        every = np.arange(len(cloth.mass), dtype=np.int32)
        return Joined(cloth, every, every), State(*(array.copy() for array in state[:3])), frame_input
    joined = _join(cloth, pairs)
    kept, place, broken = joined.kept, joined.place, None
    if state.broken is not None:
        broken = np.zeros(len(kept), np.uint8)
        np.bitwise_or.at(broken, place, state.broken & TIES)
    return joined, State(state.x[kept], state.v[kept], broken), _given_to(frame_input, kept, place)


def _given_to(frame_input, kept, place):
    """A frame's input for the particles that are left."""
    of_each = {name: getattr(frame_input, name) for name in ("blend", "pin_distance")}
    changed = {name: values[kept] for name, values in of_each.items() if values is not None}
    changed["targets"] = np.ascontiguousarray(frame_input.targets[:, kept])
    if frame_input.attachments is not None:
        ends = place[frame_input.attachments.particles]
        changed["attachments"] = frame_input.attachments._replace(particles=ends)
    if frame_input.tacks is not None:
        changed["tacks"] = frame_input.tacks._replace(stencils=place[frame_input.tacks.stencils])
    return frame_input._replace(**changed)


def hand_back(joined, inner, state):
    """Hand the state of the particles that are left to all. # output: state"""
    if joined is not None:
        state.x[:], state.v[:] = inner.x[joined.place], inner.v[joined.place]
        if inner.broken is not None:
            state.broken[:] |= inner.broken[joined.place] & TIES


def is_welded(pairs, state):
    """(s,) bool: which `pairs` (s, 2) are one, as a state says."""
    one, other = pairs.T
    return (state.x[one] == state.x[other]).all(axis=1) & (state.v[one] == state.v[other]).all(axis=1)


def _made_of(cloth, pairs):
    return (*(array for array in cloth if isinstance(array, np.ndarray)), *(cloth.seam_hinges or ()), pairs)


@remembered(2, _made_of)
def _join(cloth, pairs):
    count = len(cloth.mass)
    first, own = same_places(*pairs.T, count)
    order = np.argsort(first, kind="stable")
    place = np.argsort(order, kind="stable")[own].astype(np.int32)
    if cloth.seam_hinges is not None:
        cloth = _bent_at_seams(cloth, place)
    firmness = np.where(cloth.inv_mass == 0.0, 2.0, cloth.pin) - np.isinf(cloth.pin_distance)
    firm = np.lexsort((np.arange(count), -firmness, place))
    kept = firm[np.diff(place[firm], prepend=-1) > 0]
    total, mass = np.bincount(place), np.bincount(place, cloth.mass)
    held = np.bincount(place, cloth.inv_mass == 0.0) > 0
    inv_mass = np.where(held, 0.0, 1.0 / mass)
    means = {name: np.bincount(place, getattr(cloth, name)) / total for name in ("thickness", "friction", "damping")}
    masks = {name: np.bincount(place, ~getattr(cloth, name)) == 0 for name in ("meets_bodies", "meets_itself")}
    firsts = {name: getattr(cloth, name)[kept] for name in ("garment", "x_rest", "pin", "pin_distance", "layer")}
    if cloth.tears is not None:
        cloth = springs_as_one(cloth, place)
    edges, stencils = place[cloth.edges], place[cloth.bend_stencils]
    spring = (edges[:, 0] != edges[:, 1]) & matters(inv_mass, edges, cloth.couples)
    hinge = bends(mass, inv_mass, stencils, cloth.bend_weight) & (np.diff(np.sort(stencils, axis=1), axis=1) > 0).all(
        axis=1
    )
    parts = kept_parts(cloth, spring, hinge)
    parts["edges"], parts["bend_stencils"] = place[parts["edges"]], place[parts["bend_stencils"]]
    for name in SEAM_FIELDS:
        every = np.zeros(len(parts["edges"]))
        every[parts["seams"]] = parts[name]
        parts[name] = every
    parts |= in_tree_order(parts | {"inv_mass": inv_mass})
    triangles, rest = place[cloth.triangles], cloth.triangles
    whole = (np.diff(np.sort(triangles, axis=1), axis=1) > 0).all(axis=1)
    welded = cloth._replace(
        garment_start=np.searchsorted(first[order], cloth.garment_start).astype(np.int32),
        triangles=np.ascontiguousarray(triangles[whole]),
        mass=mass,
        inv_mass=inv_mass,
        twins=place[cloth.twins],
        pattern=Pattern(cloth.x_rest, np.ascontiguousarray(rest[whole]), place, *_partners(place)),
        **means,
        **masks,
        **firsts,
        **parts,
    )
    return Joined(welded._replace(matrix=lay_out(welded)), kept, place)


def _bent_at_seams(cloth, place):
    """The cloth with its hinges over seams whose ends are at one `place` (n,)."""
    more = cloth.seam_hinges
    whole = (place[more.bend_stencils[:, :2]] == place[more.others]).all(axis=1)
    return cloth._replace(
        **{name: np.concatenate([getattr(cloth, name), getattr(more, name)[whole]]) for name in HINGE_FIELDS}
    )


def _partners(place):
    """Of each vertex those at the same `place` (n,): where they start (n + 1,), and which (k,)."""
    order = np.argsort(place, kind="stable")
    ends = np.flatnonzero(np.diff(place[order], append=-1)) + 1
    one, other = [], []
    for start, end in zip(np.append(0, ends[:-1]), ends, strict=True):
        if end - start > 1:
            members = order[start:end]
            a, b = np.meshgrid(members, members, indexing="ij")
            one.append(a[a != b])
            other.append(b[a != b])
    one, other = (np.concatenate(lists) for lists in (one, other))
    by = np.argsort(one, kind="stable")
    return starts(one, len(place)), other[by].astype(np.int32)


def weld(cloth, state):
    """Bring what seams join to one place, where these are nearly closed at the end of a frame. # output: state"""
    pairs = cloth.edges[cloth.seams]
    done = is_welded(pairs, state)
    across = state.x[pairs[:, 1]] - state.x[pairs[:, 0]]
    gap = np.sqrt(np.einsum("ij,ij->i", across, across))
    open_ = ~done & (cloth.inv_mass[pairs] > 0.0).any(axis=1) & (cloth.seam_force > 0.0)
    near = open_ & (gap <= _reach(cloth))
    # with a largest force it is its own doing that it closes slowly
    far = open_ & ~near & np.isinf(cloth.seam_force)
    near[far] = _is_stuck(cloth, state, pairs[far], pairs[done])
    if not near.any():
        return
    one = np.concatenate([pairs[done], held_pairs(cloth, state)])
    before = _crossing(cloth, one, state.x)
    wanted = pairs[near][np.argsort(gap[near], kind="stable")]
    for _ in range(WELDING_ROUNDS):
        wanted = _harmless(cloth, one, wanted)
        if not len(wanted):
            return
        together = np.concatenate([one, wanted])
        x, v = (_at_one(cloth, together, each) for each in state[:2])
        crossing = _crossing(cloth, together, x)
        more = crossing[~np.isin(crossing @ (len(x), 1), before @ (len(x), 1))]
        if not len(more):
            state.x[:], state.v[:] = x, v
            return
        guilty = np.isin(wanted, cloth.triangles[more.ravel()]).any(axis=1)
        wanted = wanted[~guilty] if guilty.any() else wanted[:0]


def _reach(cloth):
    """(s,) [m] gap up to which seams are welded."""
    real = cloth.is_mesh_edge & (cloth.rest_length > 0.0)
    shortest = np.full(len(cloth.mass), np.inf)
    for ends in cloth.edges[real].T:
        np.minimum.at(shortest, ends, cloth.rest_length[real])
    about = shortest[cloth.edges[cloth.seams]].min(axis=1)
    return np.maximum(np.minimum(WELDING_GAP, WELDING_PART * about), WELDING_DISTANCES * cloth.seam_distance)


def _is_stuck(cloth, state, pairs, done):
    """Whether `pairs` (s, 2) beside such as are `done` do not close any more: something lies between them."""
    first, own = same_places(*done.T, len(cloth.mass))
    place = first[own]
    found = np.zeros(len(pairs), bool)
    if not len(done):
        return found
    sides = cloth.edges[cloth.is_mesh_edge]
    ends = np.concatenate([sides, sides[:, ::-1]])
    start, beside = starts(ends[:, 0], len(place)), place[ends[np.argsort(ends[:, 0], kind="stable"), 1]]
    for k in np.flatnonzero(closing_speeds(pairs, state) < STUCK_SPEED):
        one, other = (set(beside[start[i] : start[i + 1]].tolist()) for i in pairs[k])
        found[k] = bool(one & other)
    return found


def _crossing(cloth, pairs, x):
    """(k, 2) triangles that cross where what `pairs` (s, 2) join is one, ascending."""
    first, own = same_places(*pairs.T, len(x))
    triangles = first[own][cloth.triangles].astype(np.int32)
    return np.sort(crossing_triangles(cloth._replace(triangles=triangles), x), axis=1).astype(np.int64)


def _at_one(cloth, pairs, values):
    """Values (n, 3) with the mean by mass in the place of those that `pairs` (s, 2) join; of what is held, its own."""
    _, own = same_places(*pairs.T, len(values))
    held = cloth.inv_mass == 0.0
    firm = np.bincount(own, held) > 0
    weight = np.where(firm[own], held, cloth.mass)
    total = np.bincount(own, weight)
    mean = np.stack([np.bincount(own, weight * column) / total for column in values.T], axis=1)
    alone = np.bincount(own)[own] == 1
    return np.where(alone[:, None], values, mean[own])


def _harmless(cloth, done, wanted):
    """Those of the pairs `wanted` (k, 2) that fold no triangle away and join no two that are held, one after the other."""
    count = len(cloth.mass)
    first, own = same_places(*done.T, count)
    root = first[own]
    sides = cloth.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    ends = np.concatenate([sides, sides[:, ::-1]])
    start, beside = starts(ends[:, 0], count), ends[np.argsort(ends[:, 0], kind="stable"), 1]
    members = {}
    for i in np.unique(np.concatenate([done.ravel(), wanted.ravel()])).tolist():
        members.setdefault(int(root[i]), []).append(i)
    kept = []
    for one, other in wanted.tolist():
        a, b = int(root[one]), int(root[other])
        if a != b:
            mine, theirs = members[a], set(members[b])
            if any(theirs.intersection(beside[start[i] : start[i + 1]].tolist()) for i in mine):
                continue
            if all((cloth.inv_mass[list(each)] == 0.0).any() for each in (mine, theirs)):
                continue
            members[a] = mine + members.pop(b)
            root[members[a]] = a
        kept.append((one, other))
    return np.array(kept, np.int64).reshape(-1, 2)
