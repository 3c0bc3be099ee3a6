# SPDX-License-Identifier: GPL-3.0-or-later
"""Bounding volume hierarchy and spatial hash find the pairs that comparing every box with every other finds, in the same order."""

import numpy as np
import pytest
from taffeta.solver import model
from taffeta.solver.broad_phase import bvh
from taffeta.solver.broad_phase.patches import OVERLAPS
from taffeta.solver.kernel import threads

EVERYONE = np.ones((1, 1), np.bool_)


def every_pair(boxes, group, meets):
    """All overlapping pairs by comparing each with each."""
    with np.errstate(invalid="ignore"):
        meet = (boxes[:, None, :3] <= boxes[None, :, 3:]).all(axis=2)
    meet &= meet.T
    meet &= meets[group[:, None], group[None, :]]
    finite = np.isfinite(boxes).all(axis=1)
    meet &= finite[:, None] & finite[None, :]
    return {(a, b) for a, b in np.argwhere(np.triu(meet, 1)).tolist()}


def check(boxes, group=None, meets=EVERYONE):
    group = np.zeros(len(boxes), np.int32) if group is None else group
    wanted = sorted(every_pair(boxes, group, meets))
    for name, overlaps in OVERLAPS.items():
        assert [tuple(pair) for pair in overlaps(boxes, group, meets).tolist()] == wanted, name
    return len(wanted)


def boxes_of(centres, halves):
    return np.concatenate((centres - halves, centres + halves), axis=1)


@pytest.mark.parametrize("seed", range(20))
def test_random_boxes_of_any_size_and_shape(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(30, 400))
    halves = 10.0 ** rng.uniform(-2, 0, (count, 3))
    centres = rng.normal(size=(count, 3)) * rng.uniform(0.2, 2.0, 3) + rng.normal(size=3) * 100.0
    assert check(boxes_of(centres, halves)) > 0


def test_boxes_that_share_a_face_touch():
    boxes = np.array([[0.0, 0, 0, 1, 1, 1], [1.0, 0, 0, 2, 1, 1], [2.0 + 1e-9, 0, 0, 3, 1, 1]])
    assert check(boxes) == 1


def test_points_flat_boxes_and_all_in_one_place():
    assert check(np.zeros((40, 6))) == 40 * 39 // 2
    rng = np.random.default_rng(5)
    centres = rng.integers(0, 4, (200, 3)).astype(float)
    assert check(boxes_of(centres, np.zeros(3))) > 0
    assert check(boxes_of(rng.normal(size=(300, 3)) * [1, 1, 0], np.array([0.1, 0.1, 0.0]))) > 0


def test_one_huge_box_among_small_ones_and_one_far_away():
    rng = np.random.default_rng(6)
    boxes = boxes_of(rng.normal(size=(300, 3)), np.full(3, 0.02))
    boxes[17] = [-50, -50, -50, 50, 50, 50]
    assert check(boxes) >= 299
    boxes[18] = [1e8, 1e8, 1e8, 1e8 + 1, 1e8 + 1, 1e8 + 1]
    assert check(boxes) >= 298


def test_boxes_that_are_not_finite_meet_nothing():
    rng = np.random.default_rng(7)
    boxes = boxes_of(rng.normal(size=(100, 3)) * 0.1, np.full(3, 0.05))
    boxes[3, 1] = np.nan
    boxes[50, 5] = np.inf
    boxes[51, :] = [-np.inf] * 3 + [np.inf] * 3
    assert check(boxes) > 0
    assert check(np.full((5, 6), np.nan)) == 0


def test_groups_meet_those_that_they_are_to_meet():
    rng = np.random.default_rng(8)
    boxes = boxes_of(rng.normal(size=(300, 3)) * 0.3, np.full(3, 0.05))
    group = rng.integers(0, 3, 300).astype(np.int32)
    meets = [np.ones((3, 3), bool), np.ones((3, 3), bool), ~np.eye(3, dtype=bool), np.zeros((3, 3), bool)]
    meets[1][0, 0] = meets[1][1, 2] = meets[1][2, 1] = False
    counts = [check(boxes, group, of) for of in meets]
    assert counts[0] > counts[1] > 0 and counts[0] > counts[2] > counts[3] == 0


def test_the_order_is_the_same_each_time_and_no_boxes_is_fine():
    rng = np.random.default_rng(9)
    boxes = boxes_of(rng.normal(size=(500, 3)), np.full(3, 0.2))
    group = np.zeros(500, np.int32)
    for overlaps in OVERLAPS.values():
        assert np.array_equal(overlaps(boxes, group, EVERYONE), overlaps(boxes.copy(), group.copy(), EVERYONE))
        for count in (0, 1):
            none = overlaps(boxes[:count], group[:count], EVERYONE)
            assert none.shape == (0, 2) and none.dtype == np.int32


def test_as_far_away_as_numbers_go():
    boxes = boxes_of(np.array([[-1e300, 0, 0], [1e300, 0, 0], [-1e300, 0, 0], [0, 1e300, 0]]), np.ones(3))
    assert check(boxes) == 1


def test_a_hierarchy_is_made_once_and_finds_all_wherever_its_boxes_go():
    rng = np.random.default_rng(10)
    group = np.sort(rng.integers(0, 3, 500)).astype(np.int32)
    meets = np.ones((3, 3), bool)
    meets[1, 1] = meets[0, 2] = meets[2, 0] = False
    made = None
    for spread in (0.5, 0.1, 1.0):
        boxes = boxes_of(rng.normal(size=(500, 3)) * spread, np.full(3, 0.05))
        assert check(boxes, group, meets) > 0
        made = made or bvh.bvh_of(boxes, group)
        assert bvh.bvh_of(boxes, group) is made


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_threads_share_the_hierarchy_and_change_nothing(count, monkeypatch):
    rng = np.random.default_rng(11)
    boxes, group = boxes_of(rng.normal(size=(3000, 3)), np.full(3, 0.1)), np.zeros(3000, np.int32)
    wanted = bvh.bvh_overlaps(boxes, group, EVERYONE)
    shares = []
    monkeypatch.setattr(threads, "thread_count", lambda: count)
    monkeypatch.setattr(bvh, "on_threads", lambda part, cuts: shares.extend(cuts) or [part(0, *c) for c in cuts])
    assert np.array_equal(bvh.bvh_overlaps(boxes, group, EVERYONE), wanted) and len(wanted) > 5000
    assert len(shares) == count


def test_broad_phases_are_those_of_the_settings():
    assert tuple(OVERLAPS) == model.BROAD_PHASES and model.Settings().broad_phase == model.BROAD_PHASES[0]
