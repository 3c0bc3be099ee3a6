# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabric's springs on grids along the threads and on the bias: what a pull and a shear measure is what is set.

Uniform strains (warp, weft, shear angle) of 1e-6 give the stresses that make up C; its inverse has what a laboratory
measures on the diagonal, where the sides of a strip are free: 1 / S_11 is the tension per width and strain of a strip
along the warp, 1 / S_22 of one along the weft, 1 / S_33 the shear stress per angle.
"""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.elastic.internal import elastic_forces, elastic_of
from taffeta.solver.model import Settings

WIDTH, HEIGHT, TINY = 0.48, 0.36, 1e-6
FABRICS = {
    "cotton": (2800, 4501, 194),
    "denim": (223, 1048, 69),
    "canvas": (2844, 10496, 1065),
    "leather": (1e4, 1e4, 3800),
}


def measured(warp, weft, shear, degrees=0.0, cells=(8, 6), **changes):
    """1 / S_11, 1 / S_22 and 1 / S_33 [N/m] of a grid whose warp is turned by `degrees` from x."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    turn = np.array([[c, -s], [s, c]])  # world to pattern is x @ turn
    garment = naive.sheet(cells[0] + 1, cells[1] + 1, WIDTH, HEIGHT, stretch_stiffness=warp, weft_stretch=weft / warp,
                          shear_stiffness=shear, bending_stiffness=0.0, **changes)  # fmt: skip
    cloth, state = build([garment._replace(uv=garment.uv @ turn)], Settings())
    low = [state.x[:, axis] < state.x[:, axis].min() + 1e-9 for axis in (0, 1)]
    columns = []
    for e in np.eye(3) * TINY:
        strain = turn @ np.array([[e[0], e[2] / 2], [e[2] / 2, e[1]]]) @ turn.T
        x, force = state.x.copy(), np.empty_like(state.x)
        x[:, :2] += state.x[:, :2] @ strain
        elastic_forces(x, 0 * x, elastic_of(cloth), force)
        place = state.x[:, :2]
        inside = ((place > place.min(axis=0) + 1e-9) & (place < place.max(axis=0) - 1e-9)).all(axis=1)
        assert np.abs(force[inside]).max() < 1e-6 * np.abs(force).max()
        stress = np.stack([force[low[0], :2].sum(axis=0) / HEIGHT, force[low[1], :2].sum(axis=0) / WIDTH])
        stress = turn.T @ stress @ turn / TINY
        columns.append([stress[0, 0], stress[1, 1], 0.5 * (stress[0, 1] + stress[1, 0])])
    return 1 / np.diag(np.linalg.inv(np.array(columns).T))


@pytest.mark.parametrize("cells", [(8, 6), (16, 12), (8, 7), (12, 6)])
@pytest.mark.parametrize("diagonals", ["same", "alternating"])
@pytest.mark.parametrize("name", FABRICS)
def test_a_grid_along_the_threads_is_as_stiff_as_it_says(name, diagonals, cells):
    """On square cells and on oblong ones, at any resolution."""
    assert measured(*FABRICS[name], cells=cells, diagonals=diagonals) == pytest.approx(FABRICS[name], rel=0.01)


@pytest.mark.parametrize("name", FABRICS)
def test_a_grid_on_the_bias_is_as_stiff_as_it_says(name):
    """Its diagonals are the threads, and its sides bear the shear."""
    assert measured(*FABRICS[name], degrees=45.0) == pytest.approx(FABRICS[name], rel=0.01)


def test_threads_of_cells_whose_diagonals_are_too_stiff_keep_a_twentieth():
    """Cells 0.16 m long and 0.03 m wide: the slanting springs alone are stiffer than the warp."""
    garment = naive.sheet(4, 13, WIDTH, HEIGHT, stretch_stiffness=1000.0, shear_stiffness=500.0)
    cloth, _ = build([garment], Settings())
    across = np.abs(cloth.x_rest[cloth.edges[:, 1]] - cloth.x_rest[cloth.edges[:, 0]])
    warp = across[:, 1] < 1e-9
    assert warp.sum() == 3 * 13
    assert cloth.edge_stiffness[warp].max() == pytest.approx(0.05 * 1000.0 * 0.03 / 0.16)
