# SPDX-License-Identifier: GPL-3.0-or-later
"""Thin parts of a body in a coarse depth image: a sheet that is dragged over the mannequin's spread fingers."""

import numpy as np
import pytest
from crossings import count_in
from scipy.spatial import cKDTree
from sheets import GRAVITY, sheet
from taffeta.presets.scenes import figure
from taffeta.solver.build import build
from taffeta.solver.model import Collider, FrameInput, Settings
from taffeta.solver.step import advance

EDGE, AURA = 0.008, 0.002  # [m]
FALL, DRAG = 6, 14  # frames


def hand():
    """The mannequin from its left wrist, arm along x, palm down: points, triangles, the vertices of each finger."""
    points, triangles = figure.mesh()
    turn = np.stack([figure.ARM, -figure.THUMB, -figure.PALM])
    points, fingers = (points - figure.WRIST) @ turn.T, {}
    for name in figure.FINGERS:
        _, start, _, end = (figure.finger_joints(name) - figure.WRIST) @ turn.T
        along = np.clip((points - start) @ (end - start) / ((end - start) @ (end - start)), 0.0, 1.0)
        fingers[name] = np.linalg.norm(points - start - along[:, None] * (end - start), axis=1) < 0.0105
    return points, np.ascontiguousarray(triangles, np.int32), fingers


@pytest.mark.once
def test_every_finger_catches_a_dragged_sheet_and_none_goes_through():
    """With pixels of 21 mm, wider than fingers, and without the guard that Final quality has besides."""
    points, triangles, fingers = hand()
    assert all(80 < own.sum() < 300 for own in fingers.values())
    garment = sheet("Sheet", 18, 32, EDGE, place=lambda x: x + [0.12, 0.03, 0.04], thickness=0.001)
    held = garment.x[:, 1] < garment.x[:, 1].min() + 1e-9
    settings = Settings(ldi_resolution=12, guard_bodies=False)
    cloth, state = build([garment._replace(pin=held.astype(float))], settings)

    def pose(frame):
        return garment.x_start - [0.0, 0.09 * max(frame - FALL, 0) / DRAG, 0.03 * min(frame / FALL, 1.0)]

    body, caught = Collider("Hand", points[None].repeat(2, axis=0), triangles, 0.3, 0.0, AURA), []
    near_hand = body._replace(triangles=triangles[(np.linalg.norm(points, axis=1) < 0.25)[triangles].all(axis=1)])
    for frame in range(1, FALL + DRAG + 1):
        given = FrameInput(1 / 24, np.stack([pose(frame - 1), pose(frame)]), (body,), GRAVITY, np.zeros(3))
        advance(cloth, state, given, frame, settings)
        assert count_in(cloth, state.x, (near_hand,)).cloth_body == 0, f"frame {frame}"
        near = cKDTree(state.x + cloth.origin)
        caught.append([near.query(points[own])[0].min() < EDGE for own in fingers.values()])
    share = np.array(caught)[FALL + 1 :].mean(axis=0)
    assert (share > 0.9).all(), "a finger does not touch the sheet"  # which may hop off one for a frame
    slid = (state.x + cloth.origin - garment.x_start)[:, 1].mean()
    assert slid < -0.06, "the sheet hangs on the fingers instead of sliding over them"
