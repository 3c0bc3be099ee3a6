# SPDX-License-Identifier: GPL-3.0-or-later
"""The membrane: stress of uniform strain on every kind of mesh, against C e and against plain finite elements."""

import naive
import numpy as np
import pytest
from linearised import linearised
from scipy.spatial import Delaunay
from taffeta.solver.build import build
from taffeta.solver.elastic.internal import elastic_forces, elastic_of
from taffeta.solver.integrate.stiffness_matrix import lay_out
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

KW, KF, G, NU = 2000.0, 700.0, 60.0, 0.3
FABRIC = {
    "model": "MEMBRANE",
    "stretch_stiffness": KW,
    "weft_stretch": KF / KW,
    "shear_stiffness": G,
    "poisson": NU,
    "bending_stiffness": 0.0,
}
TINY = 1e-7  # strain of the first order
STRAINS = {"warp": (1, 0, 0), "weft": (0, 1, 0), "shear": (0, 0, 1), "all": (0.7, -0.4, 0.9)}


def sheet(kind, degrees=0.0, **changes):
    """A rectangle of 0.5 x 0.4 m, its warp turned by `degrees` from x."""
    rng = np.random.default_rng(7)
    numbers = FABRIC | changes
    if kind == "triangles":
        place = np.stack(np.meshgrid(np.linspace(0, 1, 7), np.linspace(0, 1, 6), indexing="ij"), axis=-1).reshape(-1, 2)
        inside = ((place > 0) & (place < 1)).all(axis=1)
        place[inside] += rng.uniform(-0.04, 0.04, (inside.sum(), 2))
        x = np.column_stack([place * [0.5, 0.4], np.zeros(len(place))])
        triangles = Delaunay(x[:, :2]).simplices
        side = x[triangles[:, 1:]] - x[triangles[:, :1]]
        triangles = triangles[np.abs(np.cross(side[:, 0], side[:, 1])[:, 2]) > 1e-6]  # along the border lie slivers
        garment = naive.garment(x, triangles, uv=x[triangles][..., :2], **numbers)
    else:
        garment = naive.sheet(7, 6, 0.5, 0.4, "alternating" if kind == "alternating" else "same", **numbers)
        if kind == "crooked":
            x = garment.x.copy()
            inside = (x[:, :2] > 0.001).all(axis=1) & (x[:, 0] < 0.499) & (x[:, 1] < 0.399)
            x[inside, :2] += rng.uniform(-0.012, 0.012, (inside.sum(), 2))
            garment = garment._replace(x=x, x_start=x.copy(), uv=x[garment.triangles][..., :2])
    return garment._replace(uv=garment.uv @ turn(degrees))


def turn(degrees):
    """(2, 2): world to pattern is x @ turn."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, -s], [s, c]])


def forces(cloth, x):
    force = np.empty_like(x)
    return elastic_forces(x, 0 * x, elastic_of(cloth), force), force


def strained(x, strain, degrees, size):
    """x (n, 3) after the uniform strain (warp, weft, shear angle) of cloth whose warp is turned by `degrees`."""
    warp, weft, shear = np.array(strain) * size
    r = turn(degrees)
    across = r @ np.array([[warp, shear / 2], [shear / 2, weft]]) @ r.T
    return x + np.column_stack([x[:, :2] @ across, np.zeros(len(x))])


@pytest.mark.parametrize("strain", STRAINS)
@pytest.mark.parametrize("degrees", [0, 30, 45])
@pytest.mark.parametrize("kind", ["grid", "alternating", "crooked", "triangles"])
def test_uniform_strain_gives_the_stress_of_hookes_law(kind, degrees, strain):
    """Patch test: forces are zero inside, and on each border they add up to the stress C e times its length."""
    garment = sheet(kind, degrees)
    cloth, state = build([garment], Settings())
    x = state.x + cloth.origin
    force = forces(cloth, strained(state.x, STRAINS[strain], degrees, TINY))[1][:, :2]
    s = naive.elasticity(KW, KF, G, NU) @ STRAINS[strain] * TINY
    r = turn(degrees)
    stress = r @ np.array([[s[0], s[2]], [s[2], s[1]]]) @ r.T
    tolerance = 1e-5 * np.abs(stress).max()
    inside = ((x[:, :2] > 1e-6) & (x[:, :2] < np.array([0.5, 0.4]) - 1e-6)).all(axis=1)
    assert np.abs(force[inside]).max() < tolerance
    for axis, length in ((0, 0.4), (1, 0.5)):
        # what corners bear for the two other borders cancels
        total = force[x[:, axis] < 1e-6].sum(axis=0)
        assert np.allclose(total, stress[:, axis] * length, atol=tolerance)


@pytest.mark.parametrize(("kind", "pattern"), [("crooked", True), ("triangles", True), ("triangles", False)])
def test_small_forces_are_those_of_plain_finite_elements(kind, pattern):
    """Bent and turned against its pattern, with fabric that differs from vertex to vertex."""
    rng = np.random.default_rng(2)
    garment = sheet(kind, 25.0)
    count = len(garment.x)
    x = garment.x + rng.normal(size=garment.x.shape) * [0, 0, 0.01]
    garment = garment._replace(
        x=x, x_start=x.copy(), uv=garment.uv if pattern else None, stretch_stiffness=rng.uniform(500, 3000, count),
        shear_stiffness=rng.uniform(10, 200, count),
    )  # fmt: skip
    cloth, state = build([garment], Settings())
    for seed in range(3):
        p = np.random.default_rng(seed).normal(size=x.shape) * 1e-6
        expected = naive.membrane_energy(garment, x + p)
        assert naive.spring_energy(cloth, state.x + p) == pytest.approx(expected, rel=1e-3)
        assert forces(cloth, state.x + p)[0] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("degrees", [0, 37])
def test_quads_without_a_pattern_have_their_sides_for_threads(degrees):
    """On a grid the forces are those of the pattern along it; warp and weft, which nobody can tell, share their mean."""
    garment = sheet("grid", weft_stretch=1.0)._replace(uv=None)
    r = np.eye(3)
    r[:2, :2] = turn(degrees)
    turned = garment._replace(x=garment.x @ r, x_start=garment.x @ r)
    for one in (garment._replace(weft_stretch=0.25), turned._replace(weft_stretch=0.25)):
        cloth, state = build([one], Settings())
        y = one.x @ (r.T if one.x is turned.x else np.eye(3))
        for strain in STRAINS.values():
            moved = strained(y, strain, 0, TINY) @ (r if one.x is turned.x else np.eye(3))
            e = np.array(strain) * TINY
            expected = 0.5 * 0.2 * e @ naive.elasticity(KW / 2, KW / 2, G, NU) @ e
            assert forces(cloth, moved - cloth.origin)[0] == pytest.approx(expected, rel=1e-4)


def test_no_diagonal_is_preferred():
    """Shear to one side and to the other: the same energy, however large, and however the quads are cut."""
    energies = []
    for diagonals in ("same", "alternating"):
        garment = naive.sheet(4, 4, diagonals=diagonals, **FABRIC)
        cloth, state = build([garment], Settings())
        for side in (1, -1):
            energies.append(forces(cloth, state.x @ np.array([[1, side * 0.3, 0], [0, 1, 0], [0, 0, 1]]))[0])
    assert energies == pytest.approx([energies[0]] * 4, rel=1e-12)


@pytest.mark.parametrize("kind", ["crooked", "triangles"])
def test_a_rigid_motion_meets_no_force(kind):
    garment = sheet(kind, 20.0)
    cloth, state = build([garment], Settings())
    r = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    _, moved = forces(cloth, strained(state.x, (1, 0, 0), 0, 1e-3))
    assert np.abs(forces(cloth, state.x @ r + [1, 2, 3])[1]).max() < 1e-9 * np.abs(moved).max()


@pytest.mark.parametrize("degrees", [0, 30])
@pytest.mark.parametrize("kind", ["grid", "crooked", "triangles"])
def test_the_matrix_of_the_solve_bounds_the_true_one(kind, degrees):
    """p^T (K of the solve - slope of the forces) p >= 0 at rest, and stretched unevenly; and it is not far off."""
    garment = sheet(kind, degrees, damping=0.0)
    cloth, state = build([garment], Settings())
    rng = np.random.default_rng(0)
    for x in (state.x, 1.05 * state.x + rng.normal(size=state.x.shape) * [0.002, 0.002, 0.01]):
        ends = [x.copy().ravel() for _ in range(2)]
        size = x.size
        true, solved = np.empty((size, size)), np.empty((size, size))
        times = linearised(cloth, x)[2]
        for at in range(size):
            for end, side in zip(ends, (1, -1), strict=True):
                end[:] = x.ravel()
                end[at] += side * 1e-7
            before, after = (forces(cloth, end.reshape(-1, 3))[1].ravel() for end in ends)
            true[at] = (after - before) / 2e-7
            solved[at] = times(np.eye(size)[at].reshape(-1, 3)).ravel()
        largest = np.linalg.eigvalsh(solved).max()
        assert np.linalg.eigvalsh(solved - 0.5 * (true + true.T)).min() > -1e-6 * largest
        assert np.linalg.eigvalsh(true).max() > 0.3 * largest


@pytest.mark.parametrize("squeeze", [0.6, 0.3, 0.02])
def test_squeezed_cloth_pushes_back_ever_harder(squeeze):
    """Green's strain would give way below 0.58 of the length; here the push grows with what is missing."""
    garment = sheet("grid")
    cloth, state = build([garment], Settings())
    x = state.x + cloth.origin
    low = x[:, 0] < 1e-6
    push = [-forces(cloth, x * [part, 1, 1] - cloth.origin)[1][low, 0].sum() for part in (squeeze + 0.05, squeeze)]
    assert push[1] > push[0] > 0.5 * KW * 0.4 * (1 - squeeze - 0.05)


@pytest.mark.parametrize(("degrees", "stiffness"), [(0, KW), (90, KF)])
@pytest.mark.parametrize("kind", ["grid", "triangles"])
def test_a_pulled_strip_is_as_stiff_as_its_threads_and_narrows(kind, degrees, stiffness):
    """Pulled by t per width along a thread of stiffness K it lengthens by t / K; across, by nu sqrt(K / K') of that less."""
    garment = sheet(kind, degrees)
    cloth, state = build([garment], Settings(air_drag=0.0))
    x = state.x + cloth.origin
    strain = 1e-3
    other = KW * KF / stiffness
    free = np.column_stack([x[:, 0] * (1 + strain), x[:, 1] * (1 - strain * NU * np.sqrt(stiffness / other)), x[:, 2]])
    _, force = forces(cloth, free - cloth.origin)
    assert force[x[:, 0] < 1e-6, 0].sum() == pytest.approx(stiffness * strain * 0.4, rel=5e-3)
    assert np.abs(force[:, 1]).max() < 5e-3 * np.abs(force[:, 0]).max()


@pytest.mark.parametrize("kind", ["grid", "triangles"])
def test_a_hanging_strip_lengthens_and_narrows(kind):
    """At rest under its weight: the strain half way up is sigma g h / 2 K, and it is narrower there by nu of that."""
    garment = sheet(kind, 90.0, weft_stretch=1.0, mass=4.0, damping=20.0)
    garment = garment._replace(pin=(garment.x[:, 1] > 0.4 - 1e-6).astype(float))
    cloth, state = build([garment], Settings(air_drag=0.0, substeps=20))
    for frame in range(120):
        advance(cloth, state, naive.still(garment.x, gravity=(0, -9.81, 0)), frame, Settings(air_drag=0.0, substeps=20))
        state.v[:] *= 0.7
    x = state.x + cloth.origin
    low = garment.x[:, 1] < 1e-6
    extension = 4.0 * 9.81 * 0.4**2 / (2 * KW)
    assert -x[low, 1].mean() == pytest.approx(extension, rel=0.05)
    rows = (garment.x[:, 1] > 0.05) & (garment.x[:, 1] < 0.3)
    across = np.polyfit(garment.x[rows, 0], (x - garment.x)[rows, 0], 1)[0]
    strain = np.mean(4.0 * 9.81 * garment.x[rows, 1] / KW)
    assert across == pytest.approx(-NU * strain, rel=0.2)


def test_a_spring_that_is_held_still_pulls_on_its_triangles():
    """Both ends of a border are held apart: the strip between narrows, though no particle of the border is free."""
    garment = sheet("grid", weft_stretch=1.0)
    held = np.abs(garment.x[:, 0] - 0.25) > 0.25 - 1e-6
    free, _ = build([garment], Settings())
    cloth, _ = build([garment._replace(pin=held.astype(float))], Settings())
    x = strained(cloth.x_rest, (1, 1, 0), 0, 1e-3)
    assert np.allclose(forces(cloth, x)[1][~held], forces(free, x)[1][~held], atol=1e-9)


def test_slivers_are_softened():
    """No spring is stiffer than the fabric by far, and rest stays rest."""
    x = np.array([[0, 0, 0], [1, 0, 0], [0.5, 1e-4, 0], [0.5, 0.5, 0]])
    triangles = [[0, 1, 2], [0, 2, 3], [2, 1, 3]]
    garment = naive.garment(x, triangles, uv=x[triangles][..., :2] @ turn(20), model="MEMBRANE")
    cloth, state = build([garment], Settings())
    assert cloth.edge_stiffness.max() < 100 * 2000.0
    assert np.isfinite(lay_out(cloth).spring.bound).all()
    assert np.abs(forces(cloth, state.x)[1]).max() < 1e-6


@pytest.mark.parametrize(
    ("changes", "words"), [({"weft_stretch": 0.0}, "weft"), ({"weft_stretch": np.nan}, "weft"), ({"poisson": 1.0}, "Poisson"),
                           ({"poisson": -0.1}, "Poisson")],
)  # fmt: skip
def test_impossible_fabric_is_refused(changes, words):
    with pytest.raises(ValueError, match=f"'Sheet'.*{words}"):
        build([sheet("grid", **changes)], Settings())


@pytest.mark.parametrize("seed", [0, 1])
def test_cloth_of_crooked_quads_hangs_in_peace(seed):
    """One solve a substep with a matrix that only bounds the true one must not shake a mesh far from a grid."""
    count = 16
    garment = naive.sheet(count, count, model="MEMBRANE")
    x = garment.x + np.random.default_rng(seed).normal(size=garment.x.shape) * [0.3, 0.3, 0.1] / count
    pin = np.isin(np.arange(count * count), [count - 1, count * count - 1])
    garment = garment._replace(x=x, x_start=x.copy(), pin=pin.astype(float))
    cloth, state = build([garment], Settings())
    worst = [advance(cloth, state, naive.still(x), frame, Settings()).worst_stretch for frame in range(48)]
    print(f"worst stretch {max(worst):.3f}, at the end {worst[-1]:.3f}")
    assert max(worst) < 0.1 and worst[-1] < 0.05
