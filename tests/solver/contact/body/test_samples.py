# SPDX-License-Identifier: GPL-3.0-or-later
"""Coarse cloth on bodies: what its particles alone would let through, counted by ipctk."""

import crossings
import naive
import numpy as np
import pytest
import solids
from taffeta.solver.build import build
from taffeta.solver.contact.body import collide
from taffeta.solver.contact.body.samples import LEAST_LIMB, limb, samples_of
from taffeta.solver.geometry.adjacency import solid_islands, topology
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
    rod, triangles = solids.finger(0.4, 0.008)
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
    rod, triangles = solids.finger(0.4, 0.008)
    counts, _ = drop(sheet, (rod + [0.2, place, -0.33], triangles), 8, (0.0, 0.0, speed))
    assert counts.sum() == 0, counts


@pytest.mark.parametrize("is_through", [False, True])
def test_what_crosses_bodies_that_pinch_it_is_not_pushed_at_its_middle(is_through):
    """A finger ends 1 mm under a cell of 10 cm, a third along its diagonal, so that its corners are far from it."""
    sheet = naive.sheet(2, 2, 0.1, 0.1, thickness=0.003)
    cloth, state = build([sheet], Settings())
    rod, triangles = solids.finger(0.4, 0.008)
    rod = rod[:, [2, 1, 0]]
    place = state.x[[1, 2, 2]].mean(axis=0) + cloth.origin - [0.0, 0.0, 1e-3]
    rod = rod - rod[rod[:, 2].argmax()] + place
    body = Collider("Body", rod[None].repeat(2, axis=0), triangles[:, ::-1], 0.3, 0.0, AURA)
    frame = FrameInput(FRAME, sheet.x_start[None].repeat(2, axis=0), (body,), np.zeros(3), np.zeros(3))
    bodies, x = collide.prepare(cloth, state, frame, Settings()), state.x.copy()
    through = np.ones(len(x), np.bool_) if is_through else None
    collide.respond(bodies, cloth, x, state.x.copy(), state.v, state.x, 0.1, FRAME / 10, through)
    assert (x[:, 2] > state.x[:, 2]).any() != is_through


def bridged(mesh, scale=1.0):
    """Over which radius [m] cloth is taken to bridge on a mesh."""
    x, triangles = scale * mesh[0], mesh[1]
    joined = topology(triangles, len(x))
    solid = np.where(solid_islands(joined, x, triangles)[joined.island], joined.island + 1, 0).astype(np.int32)
    return limb(x, triangles, joined.neighbour, solid)


def test_samples_go_by_how_round_bodies_are():
    """A torus with a tube of 25 cm, small and large; a wrist is the least; corners and rims are none."""
    torus = solids.torus()
    assert bridged(torus) == 4 * LEAST_LIMB and bridged(torus, 4.0) == 16 * LEAST_LIMB
    assert bridged(torus, 0.1) == LEAST_LIMB, "a ring of 25 mm"
    assert bridged(solids.box((9.0, 9.0, 9.0))) == LEAST_LIMB
    assert bridged((torus[0], torus[1][1:])) == LEAST_LIMB, "a hole in it"
    cloth, _ = build([naive.sheet(21, 21, 0.6, 0.6)], Settings())
    few, many = (len(samples_of(cloth, AURA, radius).parents) for radius in (4 * LEAST_LIMB, LEAST_LIMB))
    assert few == 0 < many


def hose(around, turn, tight):
    """A hose over a rod with 12 sides, 10 mm thick: so many vertices around, turned by a part of the way between two, its rest shape
    that much narrower than a polygon whose corners are 4.5 mm off the rod; its last ring is held."""
    turns, along = (np.arange(around) + turn) * 2 * np.pi / around, -np.linspace(0.01, 0.07, 14)
    x = np.stack([np.repeat(along, around), *(0.0145 * np.tile(wave(turns), 14) for wave in (np.cos, np.sin))], axis=1)
    at = np.arange(13 * around).reshape(13, around)
    beside = np.roll(at, -1, axis=1)
    faces = [
        np.stack(corners, -1).reshape(-1, 3)
        for corners in ((at, at + around, beside + around), (at, beside + around, beside))
    ]
    pin = np.repeat([0.0, 1.0], [13 * around, around])
    garment = naive.garment(x, np.concatenate(faces), thickness=5e-4, pin=pin)
    return garment._replace(x=x * [1.0, tight, tight], x_start=x)


@pytest.mark.parametrize(("around", "turn", "tight"), [(12, 0.5, 1.0), (12, 0.2, 0.9), (9, 0.3, 0.95), (6, 0.25, 0.9)])
def test_a_hose_lies_still_on_the_edges_of_a_rod(around, turn, tight):
    """Its corners keep the aura of 5 mm, and lie between the edges of the rod, which are nearer to the middles of its triangles.
    Where these had to keep all of the aura, too, it trembled by up to 45 cm/s for ever."""
    garment = hose(around, turn, tight)
    cloth, state = build([garment], Settings())
    rod = solids.collider(solids.finger(0.12, 0.01), aura=0.005)
    speeds = []
    for frame in range(2, 12):
        frame_input = naive.still(TARGETS(garment), colliders=(rod,))
        assert advance(cloth, state, frame_input, frame, Settings()).steps <= 10, frame
        speeds.append(np.linalg.norm(state.v, axis=1).max())
    assert max(speeds[-3:]) < 0.01, speeds
    assert crossings.count_in(cloth, state.x, (rod,)).cloth_body == 0


@pytest.mark.parametrize(("size", "radius", "turn"), [(0.4, 0.08, 0.3), (0.48, 0.1, 0.2)])
def test_coarse_cloth_that_is_drawn_over_a_ball_keeps_off_between_its_samples(size, radius, turn):
    """16 cells of 10 and 12 cm, 5 % too short, whose rim is drawn down by 6 cm past the middle of a ball of 8 and 10 cm. With samples
    6 cm apart it lay half a millimetre off, where the guard alone keeps it, and tights of such cells showed skin."""
    sheet, (c, s), frames = naive.sheet(5, 5, size, size, thickness=5e-4), (np.cos(turn), np.sin(turn)), 14
    flat = sheet.x - sheet.x.mean(axis=0)
    rim = (np.abs(flat).max(axis=1) > 0.499 * size).astype(float)
    x = flat @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    garment = sheet._replace(x=0.95 * x, x_start=x + [0.0, 0.0, radius + 0.008], pin=rim)
    cloth, state = build([garment], Settings())
    ball = solids.collider(solids.ball(radius, 24), aura=0.005)
    share = np.array([(i, j, 12 - i - j) for i in range(13) for j in range(13 - i)]) / 12
    gaps = []
    for frame in range(2, frames + 2):
        way = np.array([frame - 2, frame - 1])[:, None, None] / frames * [0.0, 0.0, 0.06]
        frame_input = naive.still(garment.x_start - way, colliders=(ball,))
        advance(cloth, state, frame_input, frame, Settings())
        points = np.einsum("wc,tcx->twx", share, (state.x + cloth.origin)[garment.triangles])
        gaps.append(np.linalg.norm(points, axis=2).min() - radius)
    assert min(gaps[-5:]) > 1e-3, gaps
