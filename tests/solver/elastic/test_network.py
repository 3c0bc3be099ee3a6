# SPDX-License-Identifier: GPL-3.0-or-later
"""The particle network of plain springs: who is joined to whom, and by how much."""

from collections import Counter
from itertools import combinations

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

K, G, B = 200.0, 30.0, 1e-4


def built(columns=7, rows=6, cell=0.1, **changes):
    sizes = (columns - 1) * cell, (rows - 1) * cell
    numbers = {"stretch_stiffness": K, "shear_stiffness": G, "bending_stiffness": B} | changes
    garment = naive.sheet(columns, rows, *sizes, model="SPRINGS", **numbers)
    return build([garment], Settings())


def constants(cloth):
    return {tuple(sorted(pair)): k for pair, k in zip(cloth.edges.tolist(), cloth.edge_stiffness, strict=True)}


def test_a_particle_has_twelve_springs_inside_eight_on_the_border_five_in_a_corner():
    """Structural, shear and flex; one row inside the border a flex spring is missing."""
    cloth, _ = built()
    count = np.bincount(cloth.edges.ravel()).reshape(7, 6)
    assert (count[2:-2, 2:-2] == 12).all() and (count[2:-2, 1] == 11).all() and count[1, 1] == 10
    assert (count[2:-2, 0] == 8).all() and count[1, 0] == 7
    assert count[0, 0] == count[-1, 0] == count[0, -1] == count[-1, -1] == 5
    assert len(cloth.bend_stencils) == 0 and len(constants(cloth)) == len(cloth.edges)


def test_constants_count_more_on_the_border():
    """The mean of both ends' factors: 1 inside, 1.5 on the border, 2.4 in a corner."""
    k = constants(built()[0])
    at = lambda i, j: 6 * i + j  # noqa: E731
    assert k[at(2, 2), at(2, 3)] == pytest.approx(K) and k[at(2, 2), at(3, 3)] == pytest.approx(G)
    assert k[at(2, 0), at(3, 0)] == pytest.approx(1.5 * K) and k[at(2, 0), at(2, 1)] == pytest.approx(1.25 * K)
    assert k[at(0, 0), at(1, 0)] == pytest.approx(0.5 * (2.4 + 1.5) * K)
    assert k[at(0, 0), at(1, 1)] == pytest.approx(0.5 * (2.4 + 1.0) * G)
    assert k[at(2, 2), at(4, 2)] == pytest.approx(16 * B / 0.1**2), "64 B / (two cells)^2"
    assert k[at(0, 0), at(2, 0)] == pytest.approx(0.5 * (2.4 + 1.5) * 16 * B / 0.1**2)


def test_a_fold_of_one_radian_stores_what_a_plate_does():
    """1/2 B a^2 per square cell at a = 1, within what the cosine's next term leaves (a^2 / 48)."""
    cloth, state = built(3, 5, shear_stiffness=0.0)
    x = state.x - state.x[6]
    side = np.array([np.cos(0.5), 0, np.sin(0.5)])
    folded = np.abs(x[:, :1]) * np.where(x[:, :1] < 0, side * [-1, 1, 1], side) + x * [0, 1, 0]
    middle = [e for e, pair in enumerate(cloth.edges.tolist()) if sorted(pair) == [2, 12]]
    assert len(middle) == 1
    length = np.linalg.norm(folded[12] - folded[2])
    factor = 1.5  # both ends lie on the border
    energy = 0.5 * cloth.edge_stiffness[middle[0]] * (length - 0.2) ** 2 / factor
    assert energy == pytest.approx(0.5 * B, rel=0.05)


def test_triangles_have_edge_and_bend_springs():
    """Every edge of a triangle, and the vertices opposite each shared edge; no factors."""
    cloth, _ = built(5, 5, diagonals="none")
    garment = naive.sheet(5, 5, diagonals="none")
    opposite = {}
    for face in garment.triangles.tolist():
        for pair in combinations(sorted(face), 2):
            opposite.setdefault(pair, []).append(next(v for v in face if v not in pair))
    bend = {tuple(sorted(others)) for others in opposite.values() if len(others) == 2}
    k = constants(cloth)
    assert set(k) == set(opposite) | bend
    assert Counter(np.round([k[pair] for pair in opposite], 9)) == {K: len(opposite)}
    assert set(np.round([k[pair] for pair in bend - set(opposite)], 9)) <= set(
        np.round([64 * B / ((garment.x[a] - garment.x[b]) ** 2).sum() / 0.16 for a, b in bend], 9)
    )


def test_quads_beside_triangles_are_no_border():
    """A row of quads that goes on in triangles: the seam is inside the cloth."""
    garment = naive.sheet(5, 4, 0.4, 0.3, model="SPRINGS", stretch_stiffness=K)
    half = garment._replace(quads=garment.quads[: len(garment.quads) // 2])
    k = constants(build([half], Settings())[0])
    assert k[9, 10] == pytest.approx(K) and k[5, 6] == pytest.approx(K) and k[0, 1] > 1.5 * K


def test_a_model_that_does_not_exist_is_refused():
    with pytest.raises(
        ValueError, match="'Sheet': the model 'GLUE' does not exist; choose one of FABRIC, MEMBRANE, SPRINGS"
    ):
        build([naive.sheet(3, 3, model="GLUE")], Settings())


@pytest.mark.parametrize("dynamics", ["XPBD", "VERLET"])
def test_a_network_swings_beside_a_fabric(dynamics):
    """One garment of each model in a bake: pinned they hang, keep together, and the free one keeps its momentum."""
    settings = Settings(air_drag=0.0, dynamics=dynamics)
    soft = {"stretch_stiffness": 50.0, "shear_stiffness": 10.0, "bending_stiffness": 1e-4, "damping": 5.0}
    pinned = naive.sheet(6, 6, pin=np.arange(36) < 6, model="SPRINGS", **soft)
    free = naive.sheet(6, 6, **soft)
    cloth, state = build([pinned, free._replace(x_start=free.x + [0, 0, 3.0])], settings)
    target = state.x + cloth.origin
    for frame in range(12):
        report = advance(cloth, state, naive.still(target), frame, settings)
    assert report.worst_stretch < 0.3 and np.allclose(state.v[36:, 2], -9.81 / 2, rtol=2e-4)
    assert np.average(state.v[36:, 2], weights=cloth.mass[36:]) == pytest.approx(-9.81 / 2, rel=1e-9)
    assert (target - state.x - cloth.origin)[30:36, 2].min() > 0.05, "the far edge swings down"
