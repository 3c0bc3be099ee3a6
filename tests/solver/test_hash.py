# SPDX-License-Identifier: GPL-3.0-or-later
"""Tree and spatial hash find the pairs that comparing every box with every other finds, in the same order."""

import numba
import numpy as np
import pytest
from taffeta.solver import model, threads
from taffeta.solver.contact import tree
from taffeta.solver.contact.hash import span, touch_on_way
from taffeta.solver.contact.patches import BROAD_PHASES

EVERYONE = np.ones((1, 1), np.bool_)


@numba.njit
def ways_touch(boxes, ends):
    """Which pairs of boxes (2, b, 6) may touch on their ways."""
    told, spans = np.empty(boxes.shape[1], np.bool_), np.empty((2, 12))
    for k in range(boxes.shape[1]):
        for side in range(2):
            span(boxes[side], ends[side], k, k, side, spans)
        told[k] = touch_on_way(spans, 0, spans, 1)
    return told


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
    for name, overlaps in BROAD_PHASES.items():
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
    for overlaps in BROAD_PHASES.values():
        assert np.array_equal(overlaps(boxes, group, EVERYONE), overlaps(boxes.copy(), group.copy(), EVERYONE))
        for count in (0, 1):
            none = overlaps(np.empty((count, 6)), np.empty(count, np.int32), EVERYONE)
            assert none.shape == (0, 2) and none.dtype == np.int32


def test_as_far_away_as_numbers_go():
    boxes = boxes_of(np.array([[-1e300, 0, 0], [1e300, 0, 0], [-1e300, 0, 0], [0, 1e300, 0]]), np.ones(3))
    assert check(boxes) == 1


def test_a_tree_is_made_once_and_finds_all_wherever_its_boxes_go():
    rng = np.random.default_rng(10)
    group = np.sort(rng.integers(0, 3, 500)).astype(np.int32)
    meets = np.ones((3, 3), bool)
    meets[1, 1] = meets[0, 2] = meets[2, 0] = False
    made = None
    for spread in (0.5, 0.1, 1.0):
        boxes = boxes_of(rng.normal(size=(500, 3)) * spread, np.full(3, 0.05))
        assert check(boxes, group, meets) > 0
        made = made or tree.tree_of(boxes, group)
        assert tree.tree_of(boxes, group) is made
    key = id(group)
    del group
    assert key not in tree._kept


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_threads_share_the_tree_and_change_nothing(count, monkeypatch):
    rng = np.random.default_rng(11)
    boxes, group = boxes_of(rng.normal(size=(3000, 3)), np.full(3, 0.1)), np.zeros(3000, np.int32)
    wanted = tree.overlaps(boxes, group, EVERYONE)
    shares = []
    monkeypatch.setattr(threads, "thread_count", lambda: count)
    monkeypatch.setattr(tree, "on_threads", lambda part, cuts: shares.extend(cuts) or [part(0, *c) for c in cuts])
    assert np.array_equal(tree.overlaps(boxes, group, EVERYONE), wanted) and len(wanted) > 5000
    assert len(shares) == count


def test_broad_phases_are_those_of_the_settings():
    assert tuple(BROAD_PHASES) == model.BROAD_PHASES and model.Settings().broad_phase == model.BROAD_PHASES[0]


def test_boxes_that_touch_at_any_time_on_their_way_are_not_told_apart():
    rng = np.random.default_rng(3)
    low = rng.normal(size=(2, 4000, 1, 3)) * 0.5
    ends = low + rng.normal(size=low.shape)
    boxes = np.concatenate(
        [np.concatenate([low, low + 0.3], axis=-1), np.concatenate([ends, ends + 0.3], axis=-1)], axis=2
    )
    told = ways_touch(*(np.ascontiguousarray(boxes[:, :, k]) for k in range(2)))
    time = np.linspace(0.0, 1.0, 201)[:, None, None]
    first, second = ((1.0 - time) * side[:, 0] + time * side[:, 1] for side in boxes)
    touched = ((first[..., :3] <= second[..., 3:]) & (second[..., :3] <= first[..., 3:])).all(axis=2).any(axis=0)
    assert told[touched].all() and touched.sum() > 300
    swept = boxes[:, :, :, :3].min(axis=2), boxes[:, :, :, 3:].max(axis=2)
    overlap = (swept[0][0] <= swept[1][1]).all(axis=1) & (swept[0][1] <= swept[1][0]).all(axis=1)
    assert told.sum() < 0.8 * overlap.sum()
