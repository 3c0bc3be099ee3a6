# SPDX-License-Identifier: GPL-3.0-or-later
"""The spatial hash finds the pairs that comparing every box with every other finds."""

import numpy as np
import pytest
from taffeta.solver.contact.hash import overlaps

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
    pairs = overlaps(boxes, group, meets)
    found = {(min(a, b), max(a, b)) for a, b in pairs.tolist()}
    assert len(found) == len(pairs)  # each once
    assert found == every_pair(boxes, group, meets)
    return len(found)


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
    assert np.array_equal(overlaps(boxes, group, EVERYONE), overlaps(boxes.copy(), group, EVERYONE))
    assert len(overlaps(np.empty((0, 6)), np.empty(0, np.int32), EVERYONE)) == 0
