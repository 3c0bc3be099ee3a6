# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that is pressed on a body which slows down stays on it."""

import naive
import numpy as np
import pytest
from solids import AURA, collider, finger
from taffeta.solver.build import build
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

RADIUS, HALF = 0.05, 0.3  # [m] of the rod, of the cloth
SWING, CYCLE = 0.02, 6  # [m] up and down, [frames]
SETTLES, SHAKES = 24, 24  # frames
PULLED = 0.015  # [m] down, that its ends are


def over_the_rod(columns):
    """A sheet over a rod along y, its sides straight down, and where its ends are held."""
    garment = naive.sheet(columns, 13, 2.0 * HALF, 0.3)
    along = garment.x[:, 0] - HALF
    radius = RADIUS + AURA + 2e-4
    turn = np.clip(along / radius, -0.5 * np.pi, 0.5 * np.pi)
    sides = np.abs(along - turn * radius)
    x = np.stack([radius * np.sin(turn), garment.x[:, 1] - 0.15, radius * np.cos(turn) - sides], axis=1)
    ends = np.isclose(np.abs(along), HALF)
    return garment._replace(x_start=x, pin=ends.astype(float)), x - PULLED * ends[:, None] * [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("columns", "most", "steps"),
    [(25, 2e-3, 10.0), (97, 1.5e-4, 27.0)],
    ids=["by points between its particles", "by its particles"],
)
def test_taut_cloth_goes_along_with_a_rod_that_shakes(columns, most, steps):
    """With its ends it goes up and down with the rod, 4 times a second. Let go wherever the rod slows down, it fell back on it by 3 mm in
    a substep, and out again: what lies on the rod shook by 3.5 mm/s against itself, 0.2 if the sheet is fine, in 13.5 and 34 small steps
    a frame.
    """
    garment, held = over_the_rod(columns)
    rod, faces = finger(2.0 * HALF, RADIUS)
    rod = rod[:, [1, 0, 2]] + [0.0, HALF, 0.0]
    cloth, state = build([garment], Settings())
    up = np.array([0.0, 0.0, 1.0])
    heights = SWING * np.sin(2.0 * np.pi * np.maximum(np.arange(-SETTLES, SHAKES + 1), 0) / CYCLE)
    on, apart, taken = np.abs(garment.x_start[:, 0]) < 0.02, [], []
    for frame, way in enumerate(zip(heights[:-1], heights[1:], strict=True)):
        places = np.stack([held + height * up for height in way])
        shaken = collider((rod, faces[:, ::-1]), [height * up for height in way], name="Rod")
        taken.append(advance(cloth, state, naive.still(places, colliders=(shaken,)), frame, Settings()).steps)
        apart.append(state.v[on, 2].std())
    assert np.mean(apart[SETTLES:]) < most
    assert np.mean(taken[SETTLES:]) <= steps
