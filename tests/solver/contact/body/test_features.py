# SPDX-License-Identifier: GPL-3.0-or-later
"""Ridges and tips of bodies, and the samples of cloth that look out for them."""

import naive
import numpy as np
from scipy.spatial import cKDTree
from solids import finger
from taffeta.solver.build import build
from taffeta.solver.contact.body.contacts import no_contacts
from taffeta.solver.contact.body.feature_samples import (
    FEATURE_REACH,
    NOWHERE,
    find_near_features,
    gather_feature_samples,
    place_feature_samples,
    with_feature_samples,
)
from taffeta.solver.contact.body.features import Features, find_features
from taffeta.solver.contact.body.samples import Samples, samples_of
from taffeta.solver.geometry.adjacency import solid_islands, topology
from taffeta.solver.ldi.rasterise import resting
from taffeta.solver.model import Settings

AURA = 0.003


def found(mesh, aura=AURA, longest=0.1):
    """Tips (vertices) and ridges (pairs of them) of a mesh."""
    x, triangles = mesh
    joined = topology(triangles, len(x))
    solid = np.where(solid_islands(joined, x, triangles)[joined.island], joined.island + 1, 0).astype(np.int32)
    is_in = np.ones(len(x), bool)
    ends = find_features(x, triangles, joined.neighbour, solid, is_in, aura, longest).ends
    is_tip = ends[:, 0] == ends[:, 1]
    return ends[is_tip, 0], ends[~is_tip]


def test_tips_are_ends_of_limbs():
    x, triangles = finger(0.3, 0.012)
    on, along = found((x, triangles))
    assert {0, len(x) - 1} <= set(on.tolist())
    assert np.minimum(-x[on, 0], 0.3 + x[on, 0]).max() < 0.012, "only its two ends"
    assert len(found((5 * x, triangles))[0]) == 0, "a limb of 12 cm has none"
    assert len(found((x, triangles[:, [0, 2, 1]]))[0]) == 0, "the inside of a room has none"
    assert len(found((x, triangles[1:]))[0]) < len(on), "nor has what is open"
    assert 2 <= len(found((x, triangles), 0.1)[0]) <= 12, "one per half an aura at most"


def test_ridges_are_edges_along_what_is_thin_or_sharp():
    x, triangles = finger(0.3, 0.012)
    along = found((x, triangles))[1]
    way = np.abs(x[along[:, 1]] - x[along[:, 0]])
    shaft = (x[along][:, :, 0].max(axis=1) < -0.02) & (x[along][:, :, 0].min(axis=1) > -0.28)
    assert shaft.sum() > 20 and (way[shaft, 0] > 0.9 * np.linalg.norm(way[shaft], axis=1)).all(), "not round it"
    assert len(found((5 * x, triangles))[1]) == 0, "a limb of 12 cm has none"
    assert len(found((x, triangles), longest=0.004)[1]) == 0, "fine cloth needs none"
    cube = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], float)
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = np.array([t for a, b, c, d in faces for t in ((a, b, c), (a, c, d))], np.int32)
    corners, pieces = found((cube, faces))
    assert sorted(corners.tolist()) == list(range(8)), "corners are tips"
    assert len(np.unique(np.sort(pieces, axis=1), axis=0)) == 12 and len(pieces) >= 12 * 9, "in pieces of 10 cm"


def test_a_ridge_meets_the_triangles_whose_boxes_are_near_its_own():
    """Of cloth of any size, as numpy has it, in order: boxes are asked in runs, and ridges by several threads."""
    rng = np.random.default_rng(2)
    places = rng.uniform(0.0, 1.0, (40, 3))
    ends = rng.integers(0, 40, (200, 2)).astype(np.int32)
    pieces = Features(ends, ends, np.tile([0.0, 1.0], (200, 1)))
    corners = places[ends]
    low, high = corners.min(axis=1) - FEATURE_REACH * 0.01, corners.max(axis=1) + FEATURE_REACH * 0.01
    for count in (1, 7, 8, 9, 64, 65, 600):
        x = (rng.uniform(0.0, 1.0, (count, 1, 3)) + rng.uniform(0.0, 0.05, (count, 3, 3))).reshape(-1, 3)
        triangles = np.arange(3 * count, dtype=np.int32).reshape(-1, 3)
        about = triangles, x, np.zeros_like(x), 0.0, 0.01, np.zeros(3), 0.01
        near = find_near_features(pieces, np.ones(40, bool), resting(places), *about)
        boxes = x.reshape(-1, 3, 3)
        is_near = (low[:, None] <= boxes.max(axis=1)).all(axis=2) & (boxes.min(axis=1) <= high[:, None]).all(axis=2)
        assert near.triangles.tolist() == np.nonzero(is_near)[1].tolist()
        assert np.diff(near.start).tolist() == is_near.sum(axis=1).tolist()


def test_each_ridge_looks_at_the_closest_point_of_the_cloth():
    rng = np.random.default_rng(5)
    cloth, state = build([naive.sheet(6, 6, 0.5, 0.5)], Settings())
    x = state.x + rng.normal(0, 0.01, state.x.shape)
    used, places = np.ones(40, bool), rng.uniform(-0.25, 0.25, (40, 3)) * [1, 1, 0.2]
    speed, bulk = np.full(x.shape, 0.1), np.zeros(3)
    ends = np.arange(40, dtype=np.int32)[:, None].repeat(2, axis=1)
    ends[20:, 1] = rng.permutation(20)  # the first half are tips
    pieces = Features(ends, ends, np.tile([0.0, 0.3], (40, 1)))
    near = find_near_features(pieces, used, resting(places), cloth.triangles, x, speed, 0.0, 0.01, bulk, 0.01)
    samples = with_feature_samples(samples_of(cloth, 0.0), 40)
    contacts = no_contacts(len(x), 40)
    motions = np.concatenate([places, np.full((40, 3), 0.01)], axis=1)
    place_feature_samples(0, len(near.rows), near, motions, cloth.triangles, x, x, 0.03, samples, contacts, 0)
    touched = contacts.count[len(x) :]
    grid = np.array([(a, b, 40 - a - b) for a in range(41) for b in range(41 - a)]) / 40
    dense = np.einsum("gk,tkd->tgd", grid, x[cloth.triangles]).reshape(-1, 3)
    rim = np.einsum("gk,tkd->tgd", grid[(grid == 0.0).any(axis=1)], x[cloth.triangles]).reshape(-1, 3)
    everywhere, edges = cKDTree(dense), cKDTree(rim)
    reach = 0.03 + np.sqrt(3) * 0.01  # and how far the ridge comes in the substep
    at = np.einsum("sk,skd->sd", samples.weight, x[samples.parents])
    assert 5 < touched.sum() < 40 and (samples.weight[touched == 0, 0] == NOWHERE).all()
    for k in range(40):  # a tip sees faces, a ridge sees edges with all that it has and faces with its first end
        first, last = places[ends[k, 0]], places[ends[k, 1]]
        points = first + np.linspace(0, 0.3, 61)[:, None] * (last - first)
        closest = min(everywhere.query(first)[0], edges.query(points)[0].min())
        if touched[k]:
            assert np.linalg.norm(points - at[k], axis=1).min() < closest + 3e-3
        else:
            assert closest > reach - 1e-9


def test_it_is_all_one_for_a_ridge_what_was_closest_last():
    """Of a sheet that lies flat many triangles are as near; the first of them counts, whichever is asked first."""
    rng = np.random.default_rng(6)
    cloth, state = build([naive.sheet(6, 6, 0.5, 0.5)], Settings())
    places = rng.uniform(-0.25, 0.25, (60, 3)) * [1, 1, 0.1]
    places[:30, :2] = cloth.pattern.x[rng.integers(0, len(state.x), 30), :2] + state.x[:, :2].mean(axis=0)
    places[:30, :2] -= cloth.pattern.x[:, :2].mean(axis=0)  # below or above a vertex
    ends = np.column_stack([np.arange(60), np.append(np.arange(30), rng.permutation(60)[:30])]).astype(np.int32)
    pieces, bulk = Features(ends, ends, np.tile([0.0, 0.3], (60, 1))), np.zeros(3)
    about = np.ones(60, bool), resting(places), cloth.triangles, state.x, np.zeros_like(state.x), 0.0, 0.01, bulk, 0.01
    near, found = find_near_features(pieces, *about), []
    motions = np.concatenate([places, np.full((60, 3), 0.01)], axis=1)
    for _ in range(8):
        samples, contacts = with_feature_samples(samples_of(cloth, 0.0), 60), no_contacts(len(state.x), 60)
        place_feature_samples(0, 60, near, motions, cloth.triangles, state.x, state.x, 0.03, samples, contacts, 0)
        found.append((samples.parents, samples.weight, contacts.count))
        assert (contacts.count[len(state.x) :] == 1).sum() > 20
        near.last[:] = rng.integers(near.start[:-1], np.maximum(near.start[1:], near.start[:-1] + 1))
        near.last[np.diff(near.start) == 0] = -1
    assert all(np.array_equal(a, b) for one in found for a, b in zip(one, found[0], strict=True))


def test_corners_bring_a_sample_to_its_aim_and_not_beyond():
    """Two ridges that want the same point of the cloth elsewhere: together no farther than one alone."""
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    parents, weight = np.tile([0, 1, 2], (2, 1)).astype(np.int32), np.tile([0.5, 0.3, 0.2], (2, 1))
    aims = np.array([[0.3, 0.2, 0.1], [0.3, 0.2, 0.1]])
    none, contacts = np.zeros(0, np.int32), no_contacts(3, 2)
    samples = Samples(parents, weight, np.zeros(4, np.int32), none, np.zeros(0), 0.0, 1.0)
    contacts.normal[3:, 0, 2], contacts.count[3:], contacts.push[:] = 1.0, 1, aims - weight @ x
    gather_feature_samples(np.arange(2), np.array([1.0, 1.0, 0.0]), samples, contacts, 0, aims, x)
    assert np.allclose(weight[0] @ x, [0.3, 0.2, 0.1]) and (x[2] == [0, 1, 0]).all()
    assert contacts.count.tolist() == [1, 1, 0, 1, 1] and contacts.normal[0, 0, 2] == 1.0


def test_a_free_corner_beside_a_pinned_edge_goes_four_times_what_a_ridge_wants_at_most():
    """A ridge that pokes through just beside a pinned edge: to bring the sample all the way the free corner would go 50 times as far."""
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    weight, none, contacts = np.array([[0.5, 0.48, 0.02]]), np.zeros(0, np.int32), no_contacts(3, 1)
    samples = Samples(np.array([[0, 1, 2]], np.int32), weight, np.zeros(4, np.int32), none, np.zeros(0), 0.0, 1.0)
    wanted = np.array([[0.0, 0.0, 0.01]])
    contacts.normal[3:, 0, 2], contacts.count[3:], contacts.push[:] = 1.0, 1, wanted
    gather_feature_samples(np.arange(1), np.array([0.0, 0.0, 1.0]), samples, contacts, 0, weight @ x + wanted, x)
    assert np.allclose(x, [[0, 0, 0], [1, 0, 0], [0, 1, 0.04]])
