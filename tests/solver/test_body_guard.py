# SPDX-License-Identifier: GPL-3.0-or-later
"""The guard against bodies: what it looks at by the IPC toolkit's judgement, and sheets thrown at bodies without sense."""

import ipctk
import naive
import numpy as np
import pytest
import solids
from crossings import count_in
from taffeta.solver.build import build
from taffeta.solver.contact import body, body_guard, guard, sift
from taffeta.solver.contact import cloth as contact
from taffeta.solver.model import Collider, FrameInput, Settings

DT = 1 / 240
PAIR = np.array([[0, 1, 2], [3, 4, 5]], np.int32)


def sifted(start, end, distance=0.0):
    """What is said of the first triangle and the second, of many (k, 6, 3)."""
    count = len(start)
    triangles = (PAIR[None] + 6 * np.arange(count, dtype=np.int32)[:, None, None]).reshape(-1, 3)
    start, end = start.reshape(-1, 3), end.reshape(-1, 3)
    pairs, state = np.arange(2 * count, dtype=np.int32).reshape(-1, 2), np.empty(count, np.int8)
    sift.sift_kernel(pairs, triangles, start, end, distance, np.empty(7), state)
    return state


def crosses(x):
    """Whether an edge of one triangle passes through the other (6, 3)."""
    sides = [(x[3 * s + k], x[3 * s + (k + 1) % 3], *x[3 - 3 * s : 6 - 3 * s]) for s in range(2) for k in range(3)]
    return any(ipctk.is_edge_intersecting_triangle(*side) for side in sides)


def meets(start, end):
    """Whether two triangles (6, 3) touch on their straight ways."""
    ccd = ipctk.TightInclusionCCD()
    for k in range(3):
        for m in range(3):
            rows = [k, (k + 1) % 3, 3 + m, 3 + (m + 1) % 3]
            if ccd.edge_edge_ccd(*start[rows], *end[rows])[0]:
                return True
        for rows in ([k, 3, 4, 5], [3 + k, 0, 1, 2]):
            if ccd.point_triangle_ccd(*start[rows], *end[rows])[0]:
                return True
    return False


@pytest.mark.parametrize("size", [0.0, 0.3, 3.0])
def test_no_pair_that_meets_is_let_go_and_most_that_do_not_are(size):
    rng = np.random.default_rng(3)
    start = rng.uniform(-1.0, 1.0, (600, 6, 3)) + 0.2 * rng.normal(size=(600, 1, 3)) * np.repeat([1, -1], 3)[:, None]
    end = start + size * rng.normal(size=(600, 1, 3)) + 0.3 * size * rng.normal(size=(600, 6, 3))
    state = sifted(start, end)
    across = np.array([crosses(x) for x in start])
    assert np.array_equal(state == sift.ACROSS, across) and 50 < across.sum() < 500
    met = np.array([meets(*ways) for ways in zip(start[~across], end[~across], strict=True)])
    assert (state[~across][met] == sift.MEETING).all()
    assert size > 1.0 or (state[~across][~met] == sift.MEETING).sum() <= 0.15 * len(start)


def placed(mesh, times, turn, way):
    """A mesh that turns about z and flies, at some times (s, m, 3)."""
    cosine, sine = np.cos(turn * times), np.sin(turn * times)
    spin = np.zeros((len(times), 3, 3))
    spin[:, 0, 0], spin[:, 0, 1], spin[:, 1, 0], spin[:, 1, 1], spin[:, 2, 2] = cosine, -sine, sine, cosine, 1.0
    return np.einsum("sij,mj->smi", spin, mesh[0]) + times[:, None, None] * np.asarray(way)


def scene(mesh, turn=0.0, way=(0.0, 0.0, 0.0), height=0.08, cells=6, frame=10 * DT):
    """A sheet above a body: cloth, state, collider over a frame, the body as contact knows it."""
    sheet = naive.sheet(cells, cells, 0.3, 0.3, thickness=2e-3)
    x = sheet.x - [0.15, 0.15, -height]
    cloth, state = build([sheet._replace(x=x, x_start=x, self_collision=True)], Settings())
    collider = Collider("Body", placed(mesh, np.linspace(0.0, 1.0, 11), turn, way), mesh[1], 0.3, 0.0, 3e-3)
    poses = np.stack(2 * [state.x + cloth.origin])
    shot = FrameInput(frame, poses, (collider,), np.array([0.0, 0.0, -9.81]), np.zeros(3))
    bodies = body.prepare(cloth, state, shot, Settings())
    body.detect(bodies, cloth, state.x, state.v, 0.0, 1.0, Settings())
    return cloth, state, collider, bodies


def at(collider, t):
    return collider._replace(x=collider.x[[round(10 * t)]])


SPIKY = solids.random_closed(np.random.default_rng(1), 0)


@pytest.mark.parametrize(("turn", "way"), [(0.0, (0.0, 0.0, 0.0)), (3.0, (0.0, 0.0, 0.3)), (1.0, (0.5, 0.0, 1.0))])
@pytest.mark.parametrize("size", [1e-2, 1e-1])
def test_nothing_crosses_whatever_the_dynamics_did(turn, way, size):
    """Every particle is thrown anywhere, substep after substep, while a body flies and turns with up to 72 rad/s and 27
    m/s; the contact with bodies does nothing about it. All that it may touch is away from where it was expected.
    """
    mesh = SPIKY[0] * (0.06 / np.abs(SPIKY[0]).max()), SPIKY[1]
    cloth, state, collider, bodies = scene(mesh, turn, way)
    watch, x = body_guard.watch(cloth, bodies), state.x
    rng = np.random.default_rng(0)
    pairs = contact.detect(cloth, x, state.v, DT, Settings())
    for number in range(10):
        start, x_prev, watch.times = x.copy(), x.copy(), (number / 10, (number + 1) / 10)
        if not contact.is_current(pairs, cloth, x, state.v, DT):
            pairs = contact.detect(cloth, x, state.v, DT, Settings())
        x += size * rng.normal(size=x.shape) * rng.uniform(size=(len(x), 1)) ** 4 - [0, 0, 0.01]
        body._move(bodies, cloth, *watch.times)
        contact.respond(pairs, watch, cloth, start, x, x_prev, DT)
        assert np.isfinite(x).all() and not watch.tangled.any()
        assert count_in(cloth, x, (at(collider, (number + 1) / 10),)) == (0, 0, 0)


def least_distance(x, one, others):
    """Least distance [m] between a triangle and others (k, 3)."""
    pairs = [(s, e) for s in range(3) for e in range(3)]
    return min(
        min(
            *(ipctk.point_triangle_distance(x[a], *x[b]) for t, u in ((one, two), (two, one)) for a in t for b in [u]),
            *(
                ipctk.edge_edge_distance(x[one[s]], x[one[s - 1]], x[two[e]], x[two[e - 1]]) for s, e in pairs
            ),
        )
        for two in others
    ) ** 0.5  # fmt: skip


@pytest.mark.parametrize("sinks", [True, False])
def test_patches_are_never_nearer_than_is_known(sinks):
    """What is remembered from substep to substep, while a sheet sinks onto a turning body, or hangs there and the body
    comes; the IPC toolkit measures."""
    cloth, state, _, bodies = scene(
        (0.06 * SPIKY[0] / np.abs(SPIKY[0]).max(), SPIKY[1]), 0.5, (0.0, 0.0, 0.05 if sinks else 0.2), cells=8
    )
    watch, x = body_guard.watch(cloth, bodies), state.x
    rng, remembered = np.random.default_rng(0), 0
    for number in range(8):
        start, watch.times = x.copy(), (number / 10, (number + 1) / 10)
        x += sinks * (5e-4 * rng.normal(size=x.shape) - [0.0, 0.0, 2e-3])
        body._move(bodies, cloth, *watch.times)
        body_guard._renew(watch, start, x)
        known = watch.apart[0].copy() if watch.apart is not None else np.zeros(1)
        body_guard.find(watch, start, x)
        if len(known) == len(watch.apart[0]):
            remembered += (known > 0).sum()
        patches, corners = watch.scene.patches, watch.scene.triangles
        for pair in rng.permutation(len(watch.apart[0]))[:12]:
            p, q = (patches.triangles[patches.start[k] : patches.start[k + 1]] for k in watch.patch_pairs[pair])
            for where, apart in zip((watch.start, watch.end), watch.apart[:, pair], strict=True):
                assert apart <= min(least_distance(where, corners[t], corners[q]) for t in p) + 1e-12
    assert remembered > 20


def test_what_is_found_after_a_part_has_moved_is_what_is_found_at_once():
    """A substep is looked at again where particles have moved meanwhile, and only there."""
    mesh = 0.06 * SPIKY[0] / np.abs(SPIKY[0]).max(), SPIKY[1]
    cloth, state, _, bodies = scene(mesh, cells=8)
    body._move(bodies, cloth, 0.0, 0.1)
    start, rng, stencils = state.x, np.random.default_rng(0), 0
    for _ in range(10):
        watch, other = (body_guard.watch(cloth, bodies) for _ in range(2))
        watch.times = other.times = 0.0, 0.1
        x = start - [0.0, 0.0, 0.07] + 2e-3 * rng.normal(size=start.shape)
        for _ in range(3):
            again = body_guard.find(watch, start, x)
            moved = rng.permutation(len(x))[:5]
            x[moved] += 0.01 * rng.normal(size=(5, 3))
        again, once = body_guard.find(watch, start, x), body_guard.find(other, start, x)
        assert not watch.bounds[3].all()  # some patches were left alone
        assert np.array_equal(again.stencils, once.stencils) and np.array_equal(again.friction, once.friction)
        stencils += len(again.stencils)
    assert stencils > 200


def test_what_comes_near_no_body_is_left_alone():
    cloth, state, _, bodies = scene(SPIKY, height=1.5)
    watch, x = body_guard.watch(cloth, bodies), state.x
    watch.times = 0.0, 0.1
    start, x_prev = x.copy(), x - 1e-3
    x += 1e-3
    wanted, before = x.copy(), x_prev.copy()
    contact.respond(None, watch, cloth, start, x, x_prev, DT)
    assert np.array_equal(x, wanted) and np.array_equal(x_prev, before)


def test_cloth_that_starts_across_a_body_is_not_locked_in():
    """It is lifted off the torus that it starts across, in one go and with nobody in its way."""
    mesh = solids.torus(20, 12, 0.1, 0.06)
    cloth, state, collider, bodies = scene(mesh, height=0.05, cells=10)
    watch, x = body_guard.watch(cloth, bodies), state.x
    watch.times = 0.0, 0.1
    assert count_in(cloth, x, (collider,)).cloth_body > 0
    start, x_prev = x.copy(), x.copy()
    x[:, 2] += 0.2
    wanted = x.copy()
    contact.respond(None, watch, cloth, start, x, x_prev, DT)
    assert np.array_equal(x, wanted)


def test_a_zone_that_meets_a_body_rides_along_with_it():
    """A zone of two particles beside a triangle that turns by 0.4 rad: all distances are as before."""
    start = np.array([[0.0, 0, 1], [1, 0, 0.5], [0, 0, 0], [1, 0, 0], [0, 2, 0]])
    turn = np.array([[np.cos(0.4), -np.sin(0.4), 0.0], [np.sin(0.4), np.cos(0.4), 0.0], [0.0, 0.0, 1.0]])
    end = start @ np.roll(turn, 1, axis=(0, 1)).T + [0.3, 0.2, 0.1]
    x, x_prev = np.zeros((2, 3)), np.full((2, 3), 7.0)
    zones, fresh = guard.single_zones(start[:2], x), np.zeros(2, np.bool_)
    triangles = np.array([[2, 3, 4]], np.int32)
    motions = np.concatenate([start, end - start], axis=1)
    bodies = guard.Bodies(triangles, motions, np.zeros(3, np.int32))
    stencils = np.array([[0, 1, 2, 3]], np.int32)
    given = np.zeros(1, np.int32), np.array([0.5]), False, bodies.owner, zones.parent, zones.share, zones.lead
    assert guard.join(stencils, *given) and not guard.join(stencils, *given)
    guard.hold(zones, bodies, np.ones(2), start, x, x_prev, fresh)
    assert np.allclose(x, end[:2], atol=1e-12) and np.array_equal(x_prev, start[:2])
    assert fresh.all() and zones.rides.all()
