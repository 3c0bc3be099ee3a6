# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth of which three faces share an edge, as of a pocket or a flap: it does not pass through what it is sewn to."""

import naive
import numpy as np
import pytest
from crossings import count_in
from naive import still
from taffeta.solver.build import build
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

COUNT, ROW, FRAMES = 11, 5, 8


def with_flap(angle, height, rows):
    """A held sheet of 1 m, and a flap on its middle line: steep, or leaning over; vertices of the sheet come first."""
    flat = naive.sheet(COUNT, COUNT)
    line = np.flatnonzero(np.isclose(flat.x[:, 0], ROW / (COUNT - 1)))
    way = height * np.array([np.cos(angle), 0.0, np.sin(angle)])
    x, triangles, last = [flat.x], [flat.triangles], line
    for row in range(1, rows + 1):
        new = len(flat.x) + (row - 1) * COUNT + np.arange(COUNT)
        x.append(flat.x[line] + row * way)
        low, high = np.stack([last[:-1], last[1:]]), np.stack([new[:-1], new[1:]])
        triangles += [np.stack([low[0], low[1], high[1]], axis=1), np.stack([low[0], high[1], high[0]], axis=1)]
        last = new
    x = np.concatenate(x)
    pin = (np.arange(len(x)) < len(flat.x)).astype(float)
    return naive.garment(x, np.concatenate(triangles), self_collision=True, mass=0.3, bending_stiffness=1e-6, pin=pin)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("angle, height, rows", [(60.0, 0.08, 1), (60.0, 0.09, 2), (80.0, 0.08, 1)])
def test_a_flap_that_falls_lies_on_its_sheet(angle, height, rows, turned):
    flap = with_flap(np.radians(angle), height, rows)
    if turned:
        flap = flap._replace(triangles=np.concatenate([flap.triangles[:200], flap.triangles[200:, ::-1]]))
    cloth, state = build([flap], Settings())
    targets = flap.x_start
    for frame in range(1, FRAMES + 1):
        report = advance(cloth, state, still(targets), frame, Settings())
        assert count_in(cloth, state.x).cloth_self == 0 and not report.crossings
    places = state.x[COUNT**2 :] + cloth.origin
    assert places[:, 2].min() > 0.0, "above the sheet"
    assert places[-COUNT:, 2].max() < 0.5 * height, "and it has fallen"
