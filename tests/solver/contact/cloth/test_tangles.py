# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that passes through cloth when it starts: what of it is found, and that it is not locked there."""

import tracemalloc

import numpy as np
import pytest
from crossings import count_in, edges_of, may_cross
from ipctk import is_edge_intersecting_triangle
from sheets import GRAVITY, sheet
from taffeta.solver.broad_phase.patches import triangle_pairs
from taffeta.solver.build import build
from taffeta.solver.contact.cloth import look_ahead, pairs, proximity
from taffeta.solver.contact.cloth.proximity import MOST_OF_TWO, pair_up
from taffeta.solver.contact.cloth.tangles import Tangles
from taffeta.solver.model import FrameInput, Settings
from taffeta.solver.step import advance


@pytest.mark.parametrize("seed", range(3))
def test_corners_of_all_that_crosses_are_let_through_each_other(seed):
    """As ipctk finds it, and nothing else is."""
    rng = np.random.default_rng(seed)
    cloth, state = build([sheet("A", 12, 12, 0.02), sheet("B", 10, 10, 0.03)], Settings())
    x = state.x + rng.normal(size=state.x.shape) * 0.02
    found = pairs.detect(cloth, x, np.zeros_like(x), 1 / 240, Settings())
    edge, face = _all(edges_of(cloth.triangles), cloth.triangles)
    doubtful = may_cross(x[edge], x[face]) & ~(edge[:, :, None] == face[:, None, :]).any(axis=(1, 2))
    expected = set()
    for one, other in zip(edge[doubtful], face[doubtful], strict=True):
        if is_edge_intersecting_triangle(*x[one], *x[other]):
            expected |= {(i, j) for i in one for j in other} | {(j, i) for i in one for j in other}
    assert len(expected) > 100
    assert {divmod(key, len(x)) for key in found.tangles.couples.tolist()} == expected
    for stencil, is_edge_pair in zip(found.pair_list.stencils, found.pair_list.is_edge_pair, strict=True):
        first = 2 if is_edge_pair else 1
        assert not {(i, j) for i in stencil[:first] for j in stencil[first:]} & expected


def _all(edges, triangles):
    """Every edge with every triangle."""
    edge, face = np.meshgrid(np.arange(len(edges)), np.arange(len(triangles)), indexing="ij")
    return edges[edge.ravel()], triangles[face.ravel()].astype(np.int64)


def test_a_sheet_that_starts_in_another_one_is_pulled_out():
    """A sheet is pulled up by its upper side, out of one that lies fast across it, without being stretched."""
    tilted = lambda x: np.stack([x[:, 0], np.zeros(len(x)), 0.085 + x[:, 1]], axis=1)  # noqa: E731
    flat = lambda x: x + [0.003, 0.007, 0.0]  # noqa: E731
    below, pulled = sheet("A", 16, 17, 0.02, flat), sheet("B", 15, 15, 0.02, tilted)
    rim = np.abs(below.x_start[:, :2]).max(axis=1) > 0.13
    garments = [
        below._replace(pin=rim.astype(float)),
        pulled._replace(pin=(pulled.x_start[:, 2] > pulled.x_start[:, 2].max() - 1e-9).astype(float)),
    ]
    cloth, state = build(garments, Settings())
    owner, at = cloth.garment == 1, state.x + cloth.origin
    started, stretch, pose = count_in(cloth, state.x).cloth_cloth, [], [at, at]
    for frame in range(1, 33):
        pose = [pose[1], at + owner[:, None] * [0.0, 0.0, 0.01 * min(frame, 24)]]
        given = FrameInput(1 / 24, np.stack(pose), (), GRAVITY, np.zeros(3))
        stretch.append(advance(cloth, state, given, frame, Settings()).worst_stretch)
    print(started, max(stretch), count_in(cloth, state.x))
    assert started > 20
    assert max(stretch) < 0.05
    assert not any(count_in(cloth, state.x))


@pytest.mark.parametrize("is_tangled", [True, False])
def test_lengths_brought_back_beside_tangles_call_for_no_new_pairs(is_tangled, monkeypatch):
    """They would each time, for a few particles at the cost of all; elsewhere they may."""
    upright = lambda x: np.stack([x[:, 0] + 0.003, np.full(len(x), 0.004), x[:, 1] + 0.04], axis=1)  # noqa: E731
    lying = sheet("A", 16, 16, 0.01), sheet("B", 12, 12, 0.01, lambda x: x + [0.003, 0.004, 0.002])
    garments = [*lying, sheet("C", 12, 12, 0.01, upright)]
    cloth, state = build(garments if is_tangled else lying, Settings())
    x, dt, asked = state.x.copy(), 1 / 240, []
    found = pairs.detect(cloth, x, state.v, dt, Settings())
    assert (len(found.tangles.couples) > 0) == is_tangled
    follow = pairs.follow
    monkeypatch.setattr(pairs, "follow", lambda *about: asked.append(1) or follow(*about))
    rng = np.random.default_rng(1)
    end = x + 5e-4 * rng.normal(size=x.shape)
    pairs.go_on(found, dt)
    assert pairs.respond(found, cloth, x, end, x.copy(), dt) > 0
    assert (len(asked) <= pairs.MOST_RESPONSES) == is_tangled


@pytest.mark.parametrize("tangled", [True, False])
def test_what_is_let_through_is_left_out_and_what_is_fixed_comes_last(tangled):
    """As by a look at each pair alone, in the order in which they came."""
    rng = np.random.default_rng(4)
    cloth, state = build([sheet("A", 12, 12, 0.02), sheet("B", 10, 10, 0.03)], Settings())
    x, count = state.x + rng.normal(size=state.x.shape) * 0.02, len(state.x)
    still, reach = np.zeros_like(x), np.full(count, 0.01)
    search = look_ahead.look_ahead(cloth, x, still, reach, 1 / 240)
    near, _ = triangle_pairs(cloth, search.ahead, look_ahead.STEEP_COSINE)
    fixed, asked = np.arange(count) % 5 == 0, np.arange(count) < 150
    cloth = cloth._replace(inv_mass=np.where(fixed, 0.0, cloth.inv_mass))
    couples = [one * count + other for one in range(0, count, 2) for other in range(1, count, 3)] if tangled else []
    nothing, known = np.zeros((0, 2), np.int32), set(couples)

    def find(couples, asked):
        tangles = Tangles(np.array(couples, np.int64), np.ones(count, np.bool_), nothing, 0)
        sought = pairs._sought(cloth, search, tangles, asked, reach, 1 / 240)
        return pair_up(near, sought, pairs._skin(cloth), x, still, pairs.JUST_MEASURED)

    def stays(stencil, is_edge):
        first = 2 if is_edge else 1
        return asked[stencil].any() and not any(
            i * count + j in known for i in stencil[:first] for j in stencil[first:]
        )

    every, found = find([], np.ones(count, np.bool_)), find(couples, asked)
    is_fixed = fixed[every.stencils].any(axis=1)
    assert 100 < is_fixed.sum() < len(is_fixed) - 100 and not is_fixed[:100].any() and is_fixed[-100:].all()
    kept = [stays(*pair) for pair in zip(every.stencils.tolist(), every.is_edge_pair, strict=True)]
    assert 100 < sum(kept) < len(kept) - 100
    for array, expected in zip(found, every, strict=True):
        assert np.array_equal(array, expected[kept])


def test_pairs_are_the_same_however_little_room_there_is_for_them(monkeypatch):
    """Where there is no room left it is gone on with more, in however short ranges."""
    cloth, state = build(
        [sheet("A", 12, 12, 0.02), sheet("B", 10, 10, 0.03)._replace(pin=np.arange(100) % 3 == 0)], Settings()
    )
    x = state.x + np.random.default_rng(4).normal(size=state.x.shape) * 0.02
    found = []
    for room, least, span in ((50, 256, 1024), (0, MOST_OF_TWO, 7), (0, MOST_OF_TWO, 10**6)):
        monkeypatch.setattr(proximity, "STENCILS_ROOM", room)
        monkeypatch.setattr(proximity, "PAIRS_RANGE", span)
        monkeypatch.setattr(proximity, "FEWEST_STENCILS", least)
        found.append(pairs.detect(cloth, x, np.zeros_like(x), 1 / 240, Settings()).pair_list)
    assert all(array.flags.c_contiguous for one in found for array in one)
    assert len(found[0].gap) > 150 and not cloth.inv_mass[found[0].stencils[-1]].all()
    for other in found[1:]:
        assert all(np.array_equal(one, array) for one, array in zip(found[0], other, strict=True))


def test_the_room_that_pairs_are_found_in_does_not_grow_with_them():
    """Of a million pairs of triangles that cannot meet it would be 60 MB."""
    cloth, state = build([sheet("A", 12, 12, 0.02)], Settings())
    x, still, reach = state.x, np.zeros_like(state.x), np.full(len(state.x), 1e-3)
    search = look_ahead.look_ahead(cloth, x, still, reach, 1 / 240)
    near = np.tile(np.array([[0, len(cloth.triangles) - 1]], np.int32), (10**6, 1))
    tangles = Tangles(np.zeros(0, np.int64), np.zeros(len(x), np.bool_), np.zeros((0, 2), np.int32), 0)
    sought = pairs._sought(cloth, search, tangles, np.ones(len(x), np.bool_), reach, 1 / 240)
    tracemalloc.start()
    try:
        assert not len(pair_up(near, sought, pairs._skin(cloth), x, still, pairs.JUST_MEASURED).gap)
        assert tracemalloc.get_traced_memory()[1] < 2e6
    finally:
        tracemalloc.stop()


def test_boxes_are_kept_in_half_the_room_and_hold_all_that_was_to_be_in_them():
    cloth, state = build([sheet("A", 12, 12, 0.02)], Settings())
    rng, reach, horizon = np.random.default_rng(6), np.full(len(state.x), 1e-3), 1 / 240
    x, v = state.x + [100.0, 0.0, 1e-7], rng.normal(size=state.x.shape)
    search = look_ahead.look_ahead(cloth, x, v, reach, horizon)
    for boxes, middle in (search.boxes.start, x), (search.boxes.end, x + horizon * (v - search.drift)):
        assert boxes.dtype == np.float32
        assert (boxes[:, :3].astype(float) <= middle - 1e-3).all() and (
            boxes[:, 3:].astype(float) >= middle + 1e-3
        ).all()
    for boxes, corners in zip(search.ahead.boxes, search.boxes, strict=True):
        assert boxes.dtype == np.float32
        assert np.array_equal(boxes[:, :3], corners[cloth.triangles, :3].min(axis=1))
        assert np.array_equal(boxes[:, 3:], corners[cloth.triangles, 3:].max(axis=1))


def test_pairs_that_all_have_something_that_does_not_move_come_in_rows_as_kernels_are_compiled_for():
    """Rows of another order would have them compiled anew, in the middle of a bake."""
    cloth, state = build([sheet("A", 4, 4, 0.02), sheet("B", 4, 4, 0.02)._replace(pin=np.ones(16))], Settings())
    x = state.x * [1.0, 1.0, 0.0] + (cloth.garment[:, None] == 1) * [0.003, 0.003, 0.004]
    found = pairs.detect(cloth, x, np.zeros_like(x), 1 / 240, Settings()).pair_list
    assert len(found.gap) > 20 and (cloth.inv_mass[found.stencils] == 0.0).any(axis=1).all()
    assert all(array.flags.c_contiguous for array in found)
