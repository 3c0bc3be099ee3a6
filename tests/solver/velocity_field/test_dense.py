# SPDX-License-Identifier: GPL-3.0-or-later
"""What is too dense moves apart, by positions alone: what stands for the term s of eq. 3.6 (Buffet 2021, figure 3.8)."""

import numpy as np
import pytest
from sheets import sheet
from taffeta.solver.build import build
from taffeta.solver.model import FrameInput, Settings
from taffeta.solver.velocity_field import avoid, density
from taffeta.solver.velocity_field.sparse_grid import make_grid

EDGE, COUNT, LAYERS, GAP, SUBSTEPS = 0.02, 16, 16, 0.006, 10
FIELD = Settings(cloth_contact="VELOCITY_FIELD", air_drag=0.0)
FRAME = FrameInput(1 / 24, np.zeros((2, 0, 3)), (), np.zeros(3), np.zeros(3))


def packed():
    """Sheets that lie as one block, a fifth of a cell from each other: cloth and state."""
    place = lambda x, k: x + [0.003 * (k % 3), 0.004 * (k % 2), GAP * k]  # noqa: E731
    return build([sheet(str(k), COUNT, COUNT, EDGE, place=lambda x, k=k: place(x, k)) for k in range(LAYERS)], FIELD)


def crowd(cloth, x, step=1.5 * EDGE):
    """Layers in a cell, in the mean of all that are there."""
    facing = density.measure(cloth, x)
    layers = density.rasterise(make_grid(x, facing[:, 3], step), facing)[:, 0]
    return (layers**2).sum() / layers.sum()


def a_frame(v):
    """A frame of the field's responses alone to the block, of which all goes on at v (n, 3) [m/s]: layers in a cell before and
    after, and velocities (SUBSTEPS, n, 3) [m/s] after each substep.
    """
    cloth, state = packed()
    fields, dt = avoid.prepare(cloth, FRAME, FIELD), FRAME.duration / SUBSTEPS
    x, went = state.x.copy(), []
    for substep in range(1, SUBSTEPS + 1):
        x, x_from = x + dt * v, x.copy()
        assert fields.respond(cloth, x, x_from, substep / SUBSTEPS, dt) > 0
        v = (x - x_from) / dt
        went.append(v)
    return crowd(cloth, state.x), crowd(cloth, x), np.array(went)


@pytest.mark.parametrize("speed", [0.0, 1.5])
def test_what_is_too_dense_moves_apart_and_gets_no_speed_by_it(speed, monkeypatch):
    """Within a frame the block gets less dense, and without s it does not; all goes on as it went, at rest or not."""
    v = np.tile(speed * np.array([0.6, -0.5, 0.3]), (LAYERS * COUNT**2, 1))
    before, after, went = a_frame(v)
    monkeypatch.setattr(avoid, "EASED_STRAIN", 0.0)
    _, dense, _ = a_frame(v)
    print(f"layers in a cell: {before:.3f}, after a frame {after:.3f}, without s {dense:.3f}")
    assert after < 0.96 * dense and (speed > 0.0 or dense == before)
    assert np.abs(went - v).max() < 1e-12
