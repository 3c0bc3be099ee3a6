# SPDX-License-Identifier: GPL-3.0-or-later
"""Tear lines: borders of a mesh that was cut beforehand, which lie on each other and hold together until they are torn.

A mesh keeps its vertices while it tears, and so do caches and exports: the cut is there from the start, and a joint holds two
vertices that lie at one place. Where lines cross, a place has more vertices, each joined to those beside it.
"""

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from ..model import TORN, TearLines
from .seams import same_places

SAME_PART = 1e-3  # of the shortest marked edge, up to which vertices are at one place


class Joints(NamedTuple):
    """Joints of one garment; the fields are those of `model.TearLines`, with indices into the garment."""

    joints: np.ndarray
    bit: np.ndarray
    length: np.ndarray
    strength: np.ndarray
    beside: np.ndarray
    place: np.ndarray  # (n,) first vertex at the place of each


def find_joints(x: np.ndarray, edges: np.ndarray, strength: np.ndarray) -> Joints:
    """Joints between marked edges that lie on each other.

    Parameters
    ----------
    x : (n, 3) [m] at rest
    edges : (k, 2) marked
    strength : (k,) [N/m] of each
    """
    edges = np.asarray(edges, np.int64).reshape(-1, 2)
    length = np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1)
    ends = np.unique(edges)
    reach = SAME_PART * length[length > 0.0].min(initial=np.inf)
    near = np.zeros((0, 2), np.int64)
    if len(ends) and np.isfinite(reach):
        near = ends[cKDTree(x[ends]).query_pairs(reach, output_type="ndarray")]
    first, own = same_places(*near.T, len(x))
    place = first[own]
    one, other = _on_each_other(place[edges])
    edges = np.where(place[edges[:, :1]] > place[edges[:, 1:]], edges[:, ::-1], edges)  # alike where they lie alike
    pairs = np.sort(np.stack([edges[one], edges[other]], axis=2), axis=2)  # (pair, end, side)
    keys = pairs[:, :, 0] * len(x) + pairs[:, :, 1]
    is_joint = pairs[:, :, 0] != pairs[:, :, 1]
    known, number = np.unique(keys[is_joint], return_inverse=True)
    joint_of = np.full(keys.shape, -1)
    joint_of[is_joint] = number
    share = np.repeat(0.5 * length[one], 2).reshape(-1, 2)[is_joint]
    held = np.bincount(number, share, minlength=len(known))
    mean = 0.5 * (strength[one] + strength[other])
    firm = np.bincount(number, share * np.repeat(mean, 2).reshape(-1, 2)[is_joint], minlength=len(known))
    joints = np.stack([known // len(x), known % len(x)], axis=1)
    rank = np.arange(len(known)) - np.searchsorted(joints[:, 0], joints[:, 0])  # `known` is ascending
    bits = np.array([*TORN, 0], np.uint8)  # beyond two, as where more than two faces share an edge, none ever opens
    beside = joint_of[is_joint.all(axis=1)]
    return Joints(
        joints.astype(np.int32), bits[np.minimum(rank, len(TORN))], held, firm / np.maximum(held, 1e-30),
        beside.astype(np.int32), place.astype(np.int32),
    )  # fmt: skip


def tear_lines(garments, start, build_part, fields) -> TearLines | None:
    """Tear lines of all garments, None where none has any.

    start : (g + 1,) first particle of each garment; build_part : makes the springs and hinges of a garment; fields : names of what
    hinges have, the stencils first
    """
    rows, counted = [], 0
    for index, garment in enumerate(garments):
        if garment.tear_edges is None or not len(garment.tear_edges):
            continue
        bad = ~(np.asarray(garment.tear_strength) > 0.0) | np.isinf(garment.tear_strength)
        if bad.any():
            value = garment.tear_strength[bad.argmax()]
            raise ValueError(f"'{garment.name}': the strength of a tear line is {value:g} N/m; mark it again, above 0.")
        found = find_joints(np.asarray(garment.x, np.float64), garment.tear_edges, garment.tear_strength)
        on_line = np.zeros(len(garment.x), bool)
        on_line[found.joints.ravel()] = on_line[found.place[found.joints.ravel()]] = True
        stencils, *numbers = _hinges_at(garment, found.place, on_line, build_part, fields)
        own = found.joints + start[index], *found[1:4], found.beside + counted, stencils + start[index], *numbers
        rows, counted = [*rows, own], counted + len(found.joints)
    if not counted:
        return None
    arrays = [np.concatenate(column) for column in zip(*rows, strict=True)]
    limits = (np.array([getattr(g, name) for g in garments]) for name in ("tear_most", "tear_piece", "tear_run_on"))
    return TearLines(*arrays, *limits)


def _hinges_at(garment, place, on_line, build_part, fields):
    """The fields about hinges, of those that a garment has at its tear lines while they hold: over them, and beside them, too, because
    what bends there bends with both sides."""
    one = garment._replace(**{name: place[getattr(garment, name)] for name in ("triangles", "quads", "edges")})
    if garment.pleats is not None:
        one = one._replace(pleats=garment.pleats._replace(edges=place[garment.pleats.edges]))
    whole = build_part(one)
    near = on_line[whole.bend_stencils].any(axis=1)
    return [getattr(whole, name)[near] for name in fields]


def _on_each_other(places):
    """Rows of marked edges between `places` (k, 2) that lie on each other, each with the next: two arrays."""
    places = np.sort(places, axis=1)
    order = np.lexsort((np.arange(len(places)), places[:, 1], places[:, 0]))
    same = (places[order[1:]] == places[order[:-1]]).all(axis=1) & (places[order[1:], 0] != places[order[1:], 1])
    return order[:-1][same], order[1:][same]
