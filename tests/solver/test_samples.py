# SPDX-License-Identifier: GPL-3.0-or-later
"""Coarse cloth on bodies: what its particles alone would let through, counted by ipctk."""

import crossings
import naive
import numpy as np
import pytest
import solids
from scipy.spatial import cKDTree
from taffeta.solver.build import build
from taffeta.solver.contact import ridges
from taffeta.solver.contact.body_topology import solid_islands, topology
from taffeta.solver.contact.samples import LIMB, limb, samples_of
from taffeta.solver.model import Collider, FrameInput, Settings
from taffeta.solver.step import advance

FRAME = 1 / 24
GRAVITY = np.array([0.0, 0.0, -9.81])
AURA = 0.003


def drop(garment, mesh, frames, path=None):
    """Bake a garment over a body that stands still or goes by `path` (3,) [m] a frame; returns crossings a frame."""
    cloth, state = build([garment], Settings())
    x, triangles = mesh
    path, counts = np.zeros(3) if path is None else np.asarray(path), []
    for frame in range(2, frames + 2):
        way = np.stack([x + (frame - 2) * path, x + (frame - 1) * path])
        bodies = (Collider("Body", way, triangles, 0.3, 0.0, AURA),)
        targets = (state.x + cloth.origin)[None].repeat(2, axis=0) if garment.pin.max() == 0 else TARGETS(garment)
        advance(cloth, state, FrameInput(FRAME, targets, bodies, GRAVITY, np.zeros(3)), frame, Settings())
        counts.append(crossings.count_in(cloth, state.x, bodies).cloth_body)
    return np.array(counts), state.x + cloth.origin


def TARGETS(garment):
    return garment.x_start[None].repeat(2, axis=0)


def finger(length, radius, around=12):
    """A closed rod along x with round ends, its tip in the origin; returns (x, triangles), faces outward."""
    turn, cap = np.arange(around) * 2 * np.pi / around, np.linspace(0, np.pi / 2, 6)[1:]
    along = np.concatenate([radius * (1 - np.cos(cap)), np.linspace(radius, length - radius, 12)[1:-1]])
    along = np.concatenate([along, length - radius * (1 - np.cos(cap[::-1]))])
    wide = np.concatenate([radius * np.sin(cap), np.full(10, radius), radius * np.sin(cap[::-1])])
    rings = len(along)
    ring = np.stack(
        [-np.repeat(along, around), np.outer(wide, np.cos(turn)).ravel(), np.outer(wide, np.sin(turn)).ravel()], 1
    )
    x = np.concatenate([[[0, 0, 0]], ring, [[-length, 0, 0]]])
    at = lambda i, j: 1 + i * around + j % around  # noqa: E731
    faces = [(0, at(0, j), at(0, j + 1)) for j in range(around)]
    for i in range(rings - 1):
        for j in range(around):
            faces += [(at(i, j), at(i + 1, j), at(i + 1, j + 1)), (at(i, j), at(i + 1, j + 1), at(i, j + 1))]
    faces += [(len(x) - 1, at(rings - 1, j + 1), at(rings - 1, j)) for j in range(around)]
    return x, np.array(faces, np.int32)


def found(mesh, aura=AURA, longest=0.1):
    """Tips (vertices) and ridges (pairs of them) of a mesh."""
    x, triangles = mesh
    joined = topology(triangles, len(x))
    solid = np.where(solid_islands(joined, x, triangles)[joined.island], joined.island + 1, 0).astype(np.int32)
    is_in = np.ones(len(x), bool)
    ends = ridges.find_ridges(x, triangles, joined.neighbour, solid, is_in, aura, longest).ends
    is_tip = ends[:, 0] == ends[:, 1]
    return ends[is_tip, 0], ends[~is_tip]


def test_a_coarse_sheet_keeps_off_a_torus():
    """The bench's smallest scene: cells of 10 cm, an aura of 3 mm."""
    sheet = naive.sheet(21, 21, 2.0, 2.0, thickness=0.003, damping=1.0)
    x = sheet.x - [1.0, 1.0, -0.275]
    counts, _ = drop(sheet._replace(x=x, x_start=x, self_collision=False), solids.torus(), 20)
    assert counts.sum() == 0, counts


@pytest.mark.parametrize("place", [(0.0, 0.0), (0.033, 0.021), (0.05, 0.0)])
def test_a_finger_does_not_poke_through_a_coarse_cell(place):
    """A sheet that hangs by its upper border, a finger of 8 mm radius that comes through its plane at 0.5 m/s, where a
    cell of 10 cm has its middle, a side or nothing special."""
    sheet = naive.sheet(7, 7, 0.6, 0.6, thickness=0.003, damping=1.0)
    x = np.stack([np.zeros(49), sheet.x[:, 0] - 0.3, sheet.x[:, 1] - 0.3], axis=1)
    top = (sheet.x[:, 1] > 0.59).astype(float)
    sheet = sheet._replace(x=x, x_start=x, pin=top, self_collision=False)
    rod, triangles = finger(0.4, 0.008)
    counts, end = drop(sheet, (rod + [-0.03, *place], triangles), 14, (0.02, 0.0, 0.0))
    assert counts.sum() == 0, counts
    assert end[:, 0].max() > 0.1, "it is carried along"


@pytest.mark.parametrize(("place", "speed"), [(0.02, 0.01), (0.025, 0.02), (0.033, 0.02), (0.025, 0.06), (0.07, 0.06)])
def test_a_rod_does_not_pass_sideways_through_the_rim(place, speed):
    """The same sheet, and a rod across its plane that comes up under its lower rim, between two particles that are
    10 cm apart: no particle, no sample and no tip meets it. 0.24 to 1.44 m/s."""
    sheet = naive.sheet(7, 7, 0.6, 0.6, thickness=0.003, damping=1.0)
    x = np.stack([np.zeros(49), sheet.x[:, 0] - 0.3, sheet.x[:, 1] - 0.3], axis=1)
    sheet = sheet._replace(x=x, x_start=x, pin=(sheet.x[:, 1] > 0.59).astype(float), self_collision=False)
    rod, triangles = finger(0.4, 0.008)
    counts, _ = drop(sheet, (rod + [0.2, place, -0.33], triangles), 8, (0.0, 0.0, speed))
    assert counts.sum() == 0, counts


def test_tips_are_ends_of_limbs():
    x, triangles = finger(0.3, 0.012)
    on, along = found((x, triangles))
    assert {0, len(x) - 1} <= set(on.tolist())
    assert np.minimum(-x[on, 0], 0.3 + x[on, 0]).max() < 0.012, "only its two ends"
    assert len(found((5 * x, triangles))[0]) == 0, "a limb of 12 cm has none"
    assert len(found((x, triangles[:, [0, 2, 1]]))[0]) == 0, "the inside of a room has none"
    assert len(found((x, triangles[1:]))[0]) < len(on), "nor has what is open"
    assert 2 <= len(found((x, triangles), 0.1)[0]) <= 12, "one per aura at most"


def bridged(mesh, scale=1.0):
    """Over which radius [m] cloth is taken to bridge on a mesh."""
    x, triangles = scale * mesh[0], mesh[1]
    joined = topology(triangles, len(x))
    solid = np.where(solid_islands(joined, x, triangles)[joined.island], joined.island + 1, 0).astype(np.int32)
    return limb(x, triangles, joined.neighbour, solid)


def test_samples_go_by_how_round_bodies_are():
    """A torus with a tube of 25 cm, small and large; a wrist is the least; corners and rims are none."""
    torus = solids.torus()
    assert bridged(torus) == 4 * LIMB and bridged(torus, 4.0) == 16 * LIMB
    assert bridged(torus, 0.1) == LIMB, "a ring of 25 mm"
    assert bridged(solids.box((9.0, 9.0, 9.0))) == LIMB
    assert bridged((torus[0], torus[1][1:])) == LIMB, "a hole in it"
    cloth, _ = build([naive.sheet(21, 21, 0.6, 0.6)], Settings())
    few, many = (len(samples_of(cloth, AURA, radius).parents) for radius in (4 * LIMB, LIMB))
    assert few == 0 < many


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


def test_each_ridge_looks_at_the_closest_point_of_the_cloth():
    rng = np.random.default_rng(5)
    cloth, state = build([naive.sheet(6, 6, 0.5, 0.5)], Settings())
    x = state.x + rng.normal(0, 0.01, state.x.shape)
    used, ways = np.ones(40, np.int8), np.zeros((40, 8))
    ways[:, :3] = rng.uniform(-0.25, 0.25, (40, 3)) * [1, 1, 0.2]
    speed, bulk = np.full(x.shape, 0.1), np.zeros(3)
    ends = np.arange(40, dtype=np.int32)[:, None].repeat(2, axis=1)
    ends[20:, 1] = rng.permutation(20)  # the first half are tips
    pieces = ridges.Ridges(ends, ends, np.tile([0.0, 0.3], (40, 1)))
    near = ridges.ridges_near(pieces, used, ways, cloth.triangles, x, speed, 0.0, 0.01, bulk, 0.01)
    samples = ridges.with_ridges(samples_of(cloth, 0.0), 40)
    touched = np.zeros(40, np.int32)
    motions = np.concatenate([ways[:, :3], np.full((40, 3), 0.01)], axis=1)
    ridges.lead_samples(
        0, len(near.rows), near, motions, cloth.triangles, x, x, 0.03, samples.parents, samples.weight, touched
    )
    grid = np.array([(a, b, 40 - a - b) for a in range(41) for b in range(41 - a)]) / 40
    dense = np.einsum("gk,tkd->tgd", grid, x[cloth.triangles]).reshape(-1, 3)
    rim = np.einsum("gk,tkd->tgd", grid[(grid == 0.0).any(axis=1)], x[cloth.triangles]).reshape(-1, 3)
    everywhere, edges = cKDTree(dense), cKDTree(rim)
    reach = 0.03 + np.sqrt(3) * 0.01  # and how far the ridge comes in the substep
    at = np.einsum("sk,skd->sd", samples.weight, x[samples.parents])
    assert 5 < touched.sum() < 40 and (samples.weight[touched == 0, 0] == ridges.NOWHERE).all()
    for k in range(40):  # a tip sees faces, a ridge sees edges with all that it has and faces with its first end
        first, last = ways[ends[k, 0], :3], ways[ends[k, 1], :3]
        points = first + np.linspace(0, 0.3, 61)[:, None] * (last - first)
        closest = min(everywhere.query(first)[0], edges.query(points)[0].min())
        if touched[k]:
            assert np.linalg.norm(points - at[k], axis=1).min() < closest + 3e-3
        else:
            assert closest > reach - 1e-9


def test_corners_bring_a_sample_to_its_aim_and_not_beyond():
    """Two ridges that want the same point of the cloth elsewhere: together no farther than one alone."""
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    parents, weight = np.tile([0, 1, 2], (2, 1)).astype(np.int32), np.tile([0.5, 0.3, 0.2], (2, 1))
    aims = np.array([[0.3, 0.2, 0.1], [0.3, 0.2, 0.1]])
    touch, ridge_touch = np.zeros((3, 2, 8)), np.zeros((2, 2, 8))
    ridge_touch[:, 0, 2] = 1.0
    touched, inv_mass = np.zeros(3, np.int8), np.array([1.0, 1.0, 0.0])
    ridges.gather_ridges(
        np.arange(2),
        inv_mass,
        np.zeros(3),
        parents,
        weight,
        aims - weight @ x,
        aims,
        touched,
        np.ones(2, np.int8),
        touch,
        ridge_touch,
        x,
    )
    assert np.allclose(weight[0] @ x, [0.3, 0.2, 0.1]) and (x[2] == [0, 1, 0]).all()
    assert touched.tolist() == [1, 1, 0] and touch[0, 0, 2] == 1.0
