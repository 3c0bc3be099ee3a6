# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bounce keeps, through the whole step with default settings but for the air: cloth on bodies against e^2 h."""

import naive
import numpy as np
import pytest
from solids import AURA, ball, collider, plate
from taffeta.solver.build import build
from taffeta.solver.model import FrameInput, Settings
from taffeta.solver.step import advance

G, FRAME = 9.81, 1 / 24
VACUUM = Settings(air_drag=0.0)


def falling(height, cells=6, size=0.1, **changes):
    """A small flat sheet above the origin: cloth and state."""
    sheet = naive.sheet(cells, cells, size, size, **changes)
    x = sheet.x + [-0.45 * size, -0.55 * size, height]
    return build([sheet._replace(x=x, x_start=x, self_collision=True)], VACUUM)


def run(cloth, state, body, frames, gravity=G):
    """Frames with a body, or a function of the frame's number that says which; mean heights [m] and speeds [m/s] upwards."""
    heights, speeds = [], []
    for frame in range(1, frames + 1):
        bodies = (body(frame) if callable(body) else body,)
        poses = np.stack(2 * [state.x + cloth.origin])
        advance(cloth, state, FrameInput(FRAME, poses, bodies, np.array([0, 0, -gravity]), np.zeros(3)), frame, VACUUM)
        heights.append((state.x + cloth.origin)[:, 2].mean())
        speeds.append(state.v[:, 2].mean())
    return np.array(heights), np.array(speeds)


@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.6, 0.9])
def test_a_sheet_that_falls_flat_comes_back_to_its_part_of_the_height(restitution):
    """Dropped from h it comes back to e^2 h; without restitution it stays where it fell."""
    height = 0.4
    cloth, state = falling(height + AURA)
    heights, speeds = run(cloth, state, collider(plate(), restitution=restitution), 17)
    if restitution == 0.0:
        assert heights[8:].max() < AURA + 1e-4
        return
    first = int((speeds > 0.05).argmax())
    assert heights[:first].max() > 0.0 and speeds[first] > 0.05
    top = heights[first] + speeds[first] ** 2 / (2 * G) - AURA
    assert top == pytest.approx(restitution**2 * height, rel=0.1)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.8])
def test_speed_against_a_body_that_moves_counts(restitution):
    """A plate that rises at w meets a sheet that comes down at v: it leaves with w + e (v + w)."""
    rising, coming = 1.0, 1.5
    cloth, state = falling(0.2)
    state.v[:, 2] = -coming

    def body(frame):
        at = rising * FRAME * np.array([frame - 1, frame])
        return collider(plate(), [(0, 0, at[0]), (0, 0, at[1])], restitution=restitution)

    _, speeds = run(cloth, state, body, 5, gravity=0.0)
    assert speeds[-1] == pytest.approx(rising + restitution * (coming + rising), rel=0.02)


def test_a_sheet_that_lies_on_a_body_lies_still():
    """On a ball with e = 0.9, over which it hangs, a sheet dropped from 5 cm comes to rest."""
    cloth, state = falling(0.15 + AURA, cells=12, size=0.25)
    run(cloth, state, collider(ball(0.1), restitution=0.9, friction=1.0), 120)
    speeds = np.linalg.norm(state.v, axis=1)
    assert np.median(speeds) < 1e-3 and speeds.max() < 1e-2
