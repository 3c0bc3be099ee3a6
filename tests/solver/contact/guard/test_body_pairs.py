# SPDX-License-Identifier: GPL-3.0-or-later
"""The guard against bodies: what it knows of patches, what it finds again, and whom it leaves alone."""

import ipctk
import numpy as np
import pytest
import solids
from crossings import count_in
from guarded import DT, SPIKY, scene
from taffeta.solver.contact import resolve
from taffeta.solver.contact.body import view
from taffeta.solver.contact.guard import body_pairs


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
    guarded, x = body_pairs.prepare(cloth, bodies), state.x
    rng, remembered = np.random.default_rng(0), 0
    for number in range(8):
        start, times = x.copy(), (number / 10, (number + 1) / 10)
        x += sinks * (5e-4 * rng.normal(size=x.shape) - [0.0, 0.0, 2e-3])
        view.move_bodies(bodies, cloth, *times)
        known = guarded.patch_pairs.apart_end.copy() if number else np.zeros(1)  # the substep before ended here
        body_pairs.find(guarded, times, start, x)
        pairs, (before, after, _) = guarded.patch_pairs, guarded.substep.trajectories
        if len(known) == len(pairs.apart):
            remembered += (known > 0).sum()
        patches, corners = guarded.scene.mesh.patches, guarded.scene.mesh.triangles
        for pair in rng.permutation(len(pairs.apart))[:12]:
            p, q = (patches.triangles[patches.start[k] : patches.start[k + 1]] for k in pairs.rows[pair])
            for where, apart in ((before, pairs.apart[pair]), (after, pairs.apart_end[pair])):
                assert apart <= min(least_distance(where, corners[t], corners[q]) for t in p) + 1e-12
    assert remembered > 20


def test_vertices_of_patches_are_kept_without_the_room_that_they_were_found_in():
    cloth, state, _, bodies = scene((0.06 * SPIKY[0] / np.abs(SPIKY[0]).max(), SPIKY[1]), cells=8)
    guarded = body_pairs.prepare(cloth, bodies)
    view.move_bodies(bodies, cloth, 0.0, 0.1)
    body_pairs.find(guarded, (0.0, 0.1), state.x, state.x - [0.0, 0.0, 2e-3])
    members = guarded.scene.mesh.members
    assert len(members.vertices) == members.start[-1] > len(cloth.mass) and members.vertices.base is None


def test_what_is_found_after_a_part_has_moved_is_what_is_found_at_once():
    """A substep is looked at again where particles have moved meanwhile, and only there."""
    mesh = 0.06 * SPIKY[0] / np.abs(SPIKY[0]).max(), SPIKY[1]
    cloth, state, _, bodies = scene(mesh, cells=8)
    view.move_bodies(bodies, cloth, 0.0, 0.1)
    start, rng, stencils = state.x, np.random.default_rng(0), 0
    for _ in range(10):
        guarded, other = (body_pairs.prepare(cloth, bodies) for _ in range(2))
        x = start - [0.0, 0.0, 0.07] + 2e-3 * rng.normal(size=start.shape)
        for _ in range(3):
            again = body_pairs.find(guarded, (0.0, 0.1), start, x)
            moved = rng.permutation(len(x))[:5]
            x[moved] += 0.01 * rng.normal(size=(5, 3))
        again, once = body_pairs.find(guarded, (0.0, 0.1), start, x), body_pairs.find(other, (0.0, 0.1), start, x)
        assert not guarded.substep.bounds.fresh.all()  # some patches were left alone
        assert np.array_equal(again.stencils, once.stencils) and np.array_equal(again.friction, once.friction)
        stencils += len(again.stencils)
    assert stencils > 200


def test_what_comes_near_no_body_is_left_alone():
    cloth, state, _, bodies = scene(SPIKY, height=1.5)
    guarded, x = body_pairs.prepare(cloth, bodies), state.x
    start, x_from = x.copy(), x - 1e-3
    x += 1e-3
    wanted, before = x.copy(), x_from.copy()
    resolve.resolve(None, guarded, cloth, (0.0, 0.1), start, x, x_from, DT)
    assert np.array_equal(x, wanted) and np.array_equal(x_from, before)


def test_cloth_that_starts_across_a_body_is_not_locked_in():
    """It is lifted off the torus that it starts across, in one go and with nobody in its way."""
    mesh = solids.torus(20, 12, 0.1, 0.06)
    cloth, state, collider, bodies = scene(mesh, height=0.05, cells=10)
    guarded, x = body_pairs.prepare(cloth, bodies), state.x
    assert count_in(cloth, x, (collider,)).cloth_body > 0
    start, x_from = x.copy(), x.copy()
    x[:, 2] += 0.2
    wanted = x.copy()
    resolve.resolve(None, guarded, cloth, (0.0, 0.1), start, x, x_from, DT)
    assert np.array_equal(x, wanted)
