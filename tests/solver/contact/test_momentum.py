# SPDX-License-Identifier: GPL-3.0-or-later
"""Momentum of cloth that slides on cloth that lies on a smooth floor, through the whole step."""

import numpy as np
import pytest
from sheets import GRAVITY, floor, sheet
from taffeta.solver.build import build
from taffeta.solver.model import FrameInput, Settings
from taffeta.solver.step import advance


def slide(friction, mode, frames=6, thickness=2e-3, count=16):
    """A sheet that slides at 1 m/s on one of `count` vertices a side, which lies on a floor without friction;
    what is left of the momentum along that, and the mean velocities of both after it (2, 3) [m/s].
    """
    settings, turn = Settings(air_drag=0.0, cloth_contact=mode), np.array([[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]])
    numbers = {"friction": friction, "thickness": thickness}
    over = lambda x: x @ turn + [0.0, 0.0, 0.003 + thickness]  # noqa: E731
    garments = [
        sheet("A", count, count, 0.025, lambda x: x + [0, 0, 0.003], **numbers),
        sheet("B", 12, 12, 0.02, over, **numbers),
    ]
    cloth, state = build(garments, settings)
    state.v[cloth.garment == 1, 0] = 1.0
    given = FrameInput(1 / 24, (state.x + cloth.origin)[None].repeat(2, 0), (floor(0.0),), GRAVITY, np.zeros(3))
    before = cloth.mass @ state.v[:, 0]
    for frame in range(1, frames + 1):
        advance(cloth, state, given, frame, settings)
    assert (state.x + cloth.origin)[:, 2].min() > 0.002
    means = np.array(
        [np.average(state.v[cloth.garment == k], axis=0, weights=cloth.mass[cloth.garment == k]) for k in (0, 1)]
    )
    return cloth.mass @ state.v[:, 0] / before, means


def test_cloth_that_slides_on_cloth_on_a_smooth_floor_keeps_its_momentum():
    """Without friction neither of both is driven; with it, what the one loses the other has, until they go together."""
    kept, (below, above) = slide(0.0, "PAIRS")
    assert kept == pytest.approx(1.0, abs=1e-9) and abs(below[0]) < 0.01 and above[0] == pytest.approx(1.0, abs=0.01)
    kept, (below, above) = slide(0.5, "PAIRS", count=33)  # all the upper one's way lies on it
    together = 0.22**2 / (0.22**2 + 0.8**2)
    assert kept == pytest.approx(1.0, abs=1e-9) and below[0] == pytest.approx(together, rel=0.1)
    assert above[0] == pytest.approx(together, rel=0.2)


@pytest.mark.parametrize("mode", ["VELOCITY_FIELD", "BOTH"])
def test_it_keeps_it_by_the_velocity_field_too(mode):
    kept, (below, above) = slide(0.5, mode)
    assert kept == pytest.approx(1.0, abs=1e-4) and below[0] > 0.2 and above[0] < 0.4
