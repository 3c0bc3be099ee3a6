# SPDX-License-Identifier: GPL-3.0-or-later
"""Boxes on their way: what touches at any time is never told apart, and much that does not is."""

import numba
import numpy as np
from taffeta.solver.broad_phase.boxes import SWEPT_BOX, SweptBoxes, may_touch, span


@numba.njit
def trajectories_touch(boxes, ends):
    """Which pairs of boxes (2, b, 6) may touch on their trajectories."""
    told, spans = np.empty(boxes.shape[1], np.bool_), np.empty((2, SWEPT_BOX))
    for k in range(boxes.shape[1]):
        for side in range(2):
            span(SweptBoxes(boxes[side], ends[side]), k, k, side, spans)
        told[k] = may_touch(spans, 0, spans, 1)
    return told


def test_boxes_that_touch_at_any_time_on_their_way_are_not_told_apart():
    rng = np.random.default_rng(3)
    low = rng.normal(size=(2, 4000, 1, 3)) * 0.5
    ends = low + rng.normal(size=low.shape)
    boxes = np.concatenate(
        [np.concatenate([low, low + 0.3], axis=-1), np.concatenate([ends, ends + 0.3], axis=-1)], axis=2
    )
    told = trajectories_touch(*(np.ascontiguousarray(boxes[:, :, k]) for k in range(2)))
    time = np.linspace(0.0, 1.0, 201)[:, None, None]
    first, second = ((1.0 - time) * side[:, 0] + time * side[:, 1] for side in boxes)
    touched = ((first[..., :3] <= second[..., 3:]) & (second[..., :3] <= first[..., 3:])).all(axis=2).any(axis=0)
    assert told[touched].all() and touched.sum() > 300
    swept = boxes[:, :, :, :3].min(axis=2), boxes[:, :, :, 3:].max(axis=2)
    overlap = (swept[0][0] <= swept[1][1]).all(axis=1) & (swept[0][1] <= swept[1][0]).all(axis=1)
    assert told.sum() < 0.8 * overlap.sum()
