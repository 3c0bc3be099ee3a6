# SPDX-License-Identifier: GPL-3.0-or-later
"""Hinges and lines of triangles: which there are, and that no mesh is too odd. How they bend: `physics/test_triangles`."""

import naive
import numpy as np
import pytest
import triangulated
from linearised import linearised
from scipy.spatial import ConvexHull, Delaunay
from taffeta.solver.build import build
from taffeta.solver.elastic.bending import bending_rest
from taffeta.solver.elastic.plate import fit_hinges
from taffeta.solver.geometry.topology import bend_hinges, clean_faces, find_hinges, find_springs
from taffeta.solver.model import Settings


def fitted(garment, ratio=1.0):
    """Hinges before and after the fit."""
    x, count = garment.x, len(garment.x)
    faces = clean_faces(x, garment.triangles)
    springs = find_springs(faces.triangles, garment.quads, garment.edges, count)
    hinges = bend_hinges(faces, find_hinges(faces, count), springs, count)
    return hinges, fit_hinges(x, faces, hinges, springs.halves, garment.uv, ratio)


def built(garment):
    return build([garment._replace(bending_stiffness=np.ones(len(garment.x)))], Settings())[0]


def test_quads_keep_their_hinges():
    hinges, found = fitted(naive.sheet(5, 4))
    assert found is hinges


def test_quads_beside_triangles_keep_theirs_to_the_bit():
    """The left half of a sheet of quads becomes triangles; hinges of the right half, away from the middle, stay."""
    garment = naive.sheet(9, 5)
    mixed = garment._replace(quads=garment.quads[garment.x[garment.quads].mean(axis=1)[:, 0] > 0.5])
    (_, before), (_, after) = fitted(garment), fitted(mixed)
    right = {
        tuple(ends): share
        for ends, share in zip(after.stencils.tolist(), after.share / after.area, strict=True)
        if garment.x[ends][:, 0].min() > 0.5
    }
    for ends, share in zip(before.stencils.tolist(), before.share / before.area, strict=True):
        if garment.x[ends][:, 0].min() > 0.5:
            assert right[tuple(ends)] == share, ends


def test_a_grid_of_triangles_has_the_hinges_of_quads():
    """Two lines through each vertex and one hinge in each cell, as many as of quads, as stiff within 5 %."""
    found = []
    for diagonals in ("same", "none"):
        cloth, _ = build([naive.sheet(8, 8, diagonals=diagonals, bending_stiffness=1.0)], Settings())
        is_line = np.abs(cloth.bend_weight[:, 1]) < 1e-9
        ends = np.sort(np.where(is_line[:, None], cloth.bend_stencils[:, 2:], cloth.bend_stencils[:, :2]))
        found.append(dict(zip(map(tuple, ends.tolist()), cloth.bend_stiffness, strict=True)))
    quads, triangles = found
    assert quads.keys() == triangles.keys()
    for ends, stiffness in quads.items():
        assert triangles[ends] == pytest.approx(stiffness, rel=0.05), ends


def test_faces_that_touch_at_a_vertex_alone_hang_as_on_a_joint():
    x = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [-1, 0, 0], [-1, -1, 0], [0, -1, 0]]
    cloth = built(naive.garment(x, [[0, 1, 2], [0, 2, 3], [0, 4, 5], [0, 5, 6]]))
    assert [set(ends) <= {0, 1, 2, 3} or set(ends) <= {0, 4, 5, 6} for ends in cloth.bend_stencils.tolist()] == [
        True
    ] * 2


def odd_meshes():
    rng = np.random.default_rng(0)
    ball = rng.normal(size=(200, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    yield "not oriented", ball, ConvexHull(ball).simplices
    yield "tiny", 1e-5 * ball, ConvexHull(ball).simplices
    turn = np.arange(64) * np.pi / 32
    fan = np.concatenate([np.zeros((1, 3)), np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)])
    yield "fan", fan, [[0, 1 + k, 1 + (k + 1) % 64] for k in range(64)]
    flat = rng.uniform(size=(200, 2))
    faces, zero = Delaunay(flat).simplices, 0 * flat[:, 0]
    yield "slivers", np.stack([flat[:, 0], 1e-3 * flat[:, 1], zero], axis=1), faces
    yield "crease", np.stack([*flat.T, np.abs(flat[:, 0] - 0.5)], axis=1), faces
    yield "folded on itself", np.stack([np.abs(flat[:, 0] - 0.5), flat[:, 1], zero], axis=1), faces
    corners = rng.integers(200, size=(400, 3))
    yield "soup", rng.uniform(size=(200, 3)), corners[(corners != np.roll(corners, 1, axis=1)).all(axis=1)]
    yield "four wings", np.concatenate([np.eye(3), -np.eye(3)])[[2, 5, 0, 1, 3, 4]], [[0, 1, k] for k in range(2, 6)]


@pytest.mark.parametrize(
    ("x", "triangles"), [mesh[1:] for mesh in odd_meshes()], ids=[mesh[0] for mesh in odd_meshes()]
)
@pytest.mark.filterwarnings("error")
def test_no_mesh_is_too_odd(x, triangles):
    """Numbers are finite, and no particle is held harder than a few times what single hinges would hold it by."""
    garment = naive.garment(x, triangles)
    cloth, (hinges, found) = built(garment), fitted(garment)
    for array in (cloth.bend_weight, cloth.bend_stiffness, cloth.rest_angle, found.share, found.area):
        assert np.isfinite(array).all()
    assert (found.share >= 0.0).all()

    def hardest(stencils, weight, stiffness):
        return np.bincount(stencils.ravel(), (stiffness[:, None] * weight**2).ravel()).max()

    stencils, weight, _, stiffness, _ = bending_rest(garment.x, hinges, np.ones(len(x)))
    held = hardest(cloth.bend_stencils, cloth.bend_weight, cloth.bend_stiffness)
    assert held < 3.0 * hardest(stencils, weight, stiffness)


@pytest.mark.parametrize("way", ["rising", "irregular"])
def test_a_bent_rest_shape_of_triangles_is_at_rest(way):
    garment = triangulated.sheet(9, 8, 0.4, 0.3, way=way, bending_stiffness=1e-2)
    garment = garment._replace(x=garment.x + np.random.default_rng(3).normal(size=garment.x.shape) * 0.01)
    cloth, _ = build([garment], Settings())
    push = linearised(cloth, cloth.x_rest)[1]
    moved = linearised(cloth, cloth.x_rest + np.random.default_rng(0).normal(size=cloth.x_rest.shape) * 1e-3)[1]
    assert np.abs(push).max() < 1e-2 * np.abs(moved).max()


def test_painted_stiffness_counts_where_it_is():
    """A sheet that is ten times as stiff in its right half stores 1 + 10 halves of what it stores when it is even."""
    even = triangulated.sheet(17, 17, way="irregular", bending_stiffness=1.0)
    painted = even._replace(bending_stiffness=np.where(even.x[:, 0] > 0.5, 10.0, 1.0))
    energy = []
    for garment in (even, painted):
        cloth, state = build([garment], Settings())
        bent = state.x + np.outer(0.5e-3 * state.x[:, 1] ** 2, [0, 0, 1])
        energy.append(naive.bending_energy(cloth, bent))
    assert energy[1] / energy[0] == pytest.approx(5.5, rel=0.05)


def test_a_button_has_the_same_damped_hinges_whatever_else_is_of_its_garment():
    """A fan of six triangles, alone and beside a sheet: it was ranked among all of the garment's lines, six of nine, and none."""
    turn = np.arange(6) * np.pi / 3
    rim = 0.01 * np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], axis=1)
    x, fan = np.append([[0.0, 0.0, 0.0]], rim, axis=0), [[0, 1 + k, 1 + (k + 1) % 6] for k in range(6)]
    sheet = naive.sheet(20, 20, diagonals="none")
    both = naive.garment(np.append(x + [2, 0, 0], sheet.x, axis=0), np.append(fan, sheet.triangles + 7, axis=0))
    damped = []
    for garment in (naive.garment(x, fan), both):
        found = fitted(garment)[1]
        own = (found.stencils < 7).all(axis=1)
        damped.append({tuple(ends) for ends in found.stencils[own & found.is_damped].tolist()})
    assert damped[0] == damped[1] and len(damped[0]) == 6


@pytest.mark.parametrize("turn", [0.0, 0.3, 1.0])
def test_hinges_do_not_go_by_where_the_mesh_lies(turn):
    """Of equilateral triangles six ways are alike: rounding chose among them, and by that how stiff a hinge is, up to 39 %."""
    row, column = np.mgrid[0:9, 0:9].reshape(2, -1)
    x = 0.02 * np.stack([column + 0.5 * (row % 2), np.sqrt(0.75) * row, 0.0 * row], axis=1)
    corner = np.flatnonzero((row < 8) & (column < 8))
    a, b, c, d = corner, corner + 1, corner + 9, corner + 10
    even = (row[corner] % 2 == 0)[:, None]
    halves = np.where(even, np.stack([a, b, c], 1), np.stack([a, b, d], 1))
    others = np.where(even, np.stack([b, d, c], 1), np.stack([a, d, c], 1))
    along, across = np.cos(turn), np.sin(turn)
    turned = x @ [[along, across, 0], [-across, along, 0], [0, 0, 1]] + [5.0, 1.1, 0.3]
    here, there = (built(naive.garment(places, np.concatenate([halves, others]))) for places in (x, turned))
    np.testing.assert_array_equal(here.bend_stencils, there.bend_stencils)
    np.testing.assert_allclose(here.bend_stiffness, there.bend_stiffness, rtol=1e-9)
