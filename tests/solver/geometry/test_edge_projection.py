# SPDX-License-Identifier: GPL-3.0-or-later
"""An edge that is brought to a length: along itself, and its ends by their inverse masses."""

import numba
import numpy as np
import pytest
from taffeta.solver.geometry.edge_projection import project_edge


@numba.njit
def project(x, wi, wj, wanted):
    dx, dy, dz = x[1, 0] - x[0, 0], x[1, 1] - x[0, 1], x[1, 2] - x[0, 2]
    project_edge(x, 0, 1, wi, wj, dx, dy, dz, np.sqrt(dx * dx + dy * dy + dz * dz), wanted)


@pytest.mark.parametrize("wi, wj", [(1.0, 1.0), (2.0, 0.5), (0.0, 3.0)])
@pytest.mark.parametrize("wanted", [0.2, 1.0, 5.0])
def test_an_edge_gets_its_length_and_momentum_stays(wi, wj, wanted):
    x = np.random.default_rng(4).normal(size=(2, 3))
    before, direction = x.copy(), (x[1] - x[0]) / np.linalg.norm(x[1] - x[0])
    project(x, wi, wj, wanted)
    assert x[1] - x[0] == pytest.approx(wanted * direction, abs=1e-12)
    moved = x - before
    assert moved[0] * wj == pytest.approx(-moved[1] * wi, abs=1e-12)
