# SPDX-License-Identifier: GPL-3.0-or-later
"""Strain limiting: threads on two straight lines, tension K e up to the limit e0 and K (e0 + r (e - e0)) beyond.

A strip that hangs under its own weight s g has the tension t = s g (L - y) at y below its upper end, so the strain t / K
where t < K e0 and e0 + (t / K - e0) / r above; its extension is the integral of that.
"""

import naive
import numpy as np
import pytest
from linearised import linearised, slope
from taffeta.solver.build import build
from taffeta.solver.elastic.internal import elastic_forces, elastic_of, fastest
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

K, LIMIT, TIMES = 200.0, 0.02, 20.0
LIMITED = {"stretch_stiffness": K, "strain_limit": LIMIT, "stiffening": TIMES, "bending_stiffness": 0.0}
VACUUM = Settings(air_drag=0.0)


def tension(strain, stiffness=K):
    return stiffness * (strain if strain < LIMIT else LIMIT + TIMES * (strain - LIMIT))


def forces(cloth, x):
    force = np.empty_like(x)
    return elastic_forces(x, 0 * x, elastic_of(cloth), force), force


def crumpled(model, **changes):
    """Springs on both sides of their limit."""
    garment = naive.sheet(8, 7, 0.4, 0.3, model=model, weft_stretch=1.7, poisson=0.3, **(LIMITED | changes))
    cloth, state = build([garment], Settings())
    x = 1.03 * state.x + np.random.default_rng(3).normal(size=state.x.shape) * 0.004
    length = np.linalg.norm(x[cloth.edges[:, 1]] - x[cloth.edges[:, 0]], axis=1)
    beyond = length > cloth.taut[:, 0]
    assert 0.2 < beyond.mean() < 0.8 and (length < cloth.rest_length).any()
    return cloth, x


@pytest.mark.parametrize("strain", [0.01, 0.03, 0.1])
@pytest.mark.parametrize(("axis", "weft"), [(0, 1.0), (1, 0.4), (1, 2.0)])
@pytest.mark.parametrize("model", ["FABRIC", "MEMBRANE"])
def test_a_strip_follows_the_curve_along_both_threads_on_every_mesh(model, axis, weft, strain):
    for count in (4, 7, 13):
        garment = naive.sheet(
            count, count + 2, 0.5, 0.4, model=model, shear_stiffness=0.0, weft_stretch=weft, **LIMITED
        )
        cloth, state = build([garment], Settings())
        factor = np.ones(3)
        factor[axis] += strain
        force = forces(cloth, state.x * factor)[1]
        edge = garment.x[:, axis] < 1e-9
        width = (0.4, 0.5)[axis]
        # with shear at 0 no spring stands aslant, and one along the threads has half a cell beside it on a border
        assert force[edge, axis].sum() / width == pytest.approx(tension(strain, K * (weft if axis else 1.0)), rel=1e-6)


@pytest.mark.parametrize("model", ["FABRIC", "MEMBRANE", "SPRINGS"])
def test_forces_are_the_slopes_of_the_energy_on_both_sides(model):
    cloth, x = crumpled(model)
    force = forces(cloth, x)[1]
    for seed in range(3):
        direction = np.random.default_rng(seed).normal(size=x.shape)
        expected = slope(lambda y: naive.spring_energy(cloth, y), x, direction)
        assert -(force * direction).sum() == pytest.approx(expected, rel=1e-5)
        assert slope(lambda y: forces(cloth, y)[0], x, direction) == pytest.approx(expected, rel=1e-5)
    # the solve goes by the same forces
    assert np.abs(linearised(cloth, x)[0] - force).max() < 1e-9 * np.abs(force).max()


@pytest.mark.parametrize("model", ["FABRIC", "MEMBRANE"])
def test_the_matrix_of_the_solve_bounds_the_true_one(model):
    cloth, x = crumpled(model, damping=0.0)
    times, size = linearised(cloth, x)[2], x.size
    true, solved = np.empty((size, size)), np.empty((size, size))
    for at, unit in enumerate(np.eye(size).reshape(-1, *x.shape)):
        after, before = (forces(cloth, x + side * 1e-8 * unit)[1].ravel() for side in (1, -1))
        true[at], solved[at] = (before - after) / 2e-8, times(unit).ravel()
    largest = np.linalg.eigvalsh(solved).max()
    assert np.linalg.eigvalsh(solved - 0.5 * (true + true.T)).min() > -1e-5 * largest
    # explicit steps are chosen by a bound on the stiffest that it may become
    m = np.repeat(cloth.mass, 3) ** -0.5
    frequency = np.sqrt(np.linalg.eigvalsh(m[:, None] * true * m).max())
    assert frequency < fastest(cloth.inv_mass, elastic_of(cloth))[0] < 4 * frequency


@pytest.mark.parametrize("times", [TIMES, 100.0])
@pytest.mark.parametrize("model", ["FABRIC", "MEMBRANE"])
def test_a_heavy_sheet_hangs_still_on_the_curve(model, times):
    """Nothing chatters between the two lines, and the hem hangs where theory has it; at most a hundredth off."""
    count, mass = 12, 0.8
    garment = naive.sheet(
        count, count, model=model, **(LIMITED | {"mass": mass, "shear_stiffness": 2.0, "stiffening": times})
    )
    x = garment.x[:, [0, 2, 1]]
    pin = x[:, 2] > 1 - 1e-9
    cloth, state = build([garment._replace(x=x, x_start=x.copy(), pin=pin.astype(float))], VACUUM)
    worst = [advance(cloth, state, naive.still(x), frame, VACUUM).worst_stretch for frame in range(60)]
    t = mass * 9.81 * np.linspace(0, 1, 10001)
    strain = np.where(t < K * LIMIT, t / K, LIMIT + (t / K - LIMIT) / times)
    hem = -(state.x + cloth.origin)[x[:, 2] < 1e-9, 2].mean()
    print(f"hem {hem:.5f}, theory {strain.mean():.5f}; worst {worst[-1]:.5f}, theory {strain[-1]:.5f}; "
          f"speed {np.abs(state.v).max():.1e}")  # fmt: skip
    assert strain[-1] > LIMIT
    assert hem == pytest.approx(strain.mean(), abs=2e-4)
    assert max(worst[30:]) < strain[-1] + 1e-3
    assert np.abs(state.v).max() < 1e-3


def swung(model, limit):
    """Mean |strain| and the longest edge of stiff cloth whose upper corners are swung at up to 2.4 m/s."""
    count, found, settings = 17, [], Settings()
    pin = np.isin(np.arange(count**2), [count - 1, count**2 - 1])
    garment = naive.sheet(count, count, 0.6, 0.6, model=model, stretch_stiffness=3000.0, strain_limit=limit, pin=pin)
    x = garment.x[:, [0, 2, 1]]
    cloth, state = build([garment._replace(x=x, x_start=x.copy())], settings)
    pose = x
    for frame in range(36):
        turn = 2 * np.pi * (frame + 1) / 24
        to = x + 1.5 * np.array([0, 0.25 * np.sin(turn), 0.1 * np.sin(2 * turn)])
        worst = advance(cloth, state, naive.still(np.stack([pose, to])), frame, settings).worst_stretch
        length = np.linalg.norm(state.x[cloth.edges[:, 1]] - state.x[cloth.edges[:, 0]], axis=1)
        found.append((np.abs(length / cloth.rest_length - 1)[cloth.is_mesh_edge].mean(), worst))
        pose = to
    return np.mean([mean for mean, _ in found[6:]]), max(worst for _, worst in found[6:])


@pytest.mark.parametrize("model", ["FABRIC", "MEMBRANE"])
def test_stiff_cloth_that_is_swung_stays_below_its_limit_and_does_not_shake(model):
    """3000 N/m with a limit of 2 %, and the default stiffening: the longest edge is nearer to it, the others as calm."""
    (free, longest), (limited, held) = (swung(model, limit) for limit in (0.0, 0.02))
    print(f"longest {longest:.3f} and {held:.3f}, mean {free:.5f} and {limited:.5f}")
    assert longest > 0.03 > held
    assert limited < 1.2 * free


def test_cloth_that_never_reaches_its_limit_moves_as_if_there_were_none():
    """To the last bit; and without a limit there is nothing to look at."""
    places = []
    for limit in (0.0, 5.0):
        garment = naive.sheet(6, 6, strain_limit=limit, pin=np.arange(36) < 6)
        cloth, state = build([garment], VACUUM)
        assert len(cloth.matrix.taut) == (0 if limit == 0.0 else len(cloth.edges))
        for frame in range(4):
            advance(cloth, state, naive.still(garment.x), frame, VACUUM)
        places.append(state.x.copy())
    assert (places[0] == places[1]).all()


def test_threads_have_a_limit_and_the_bias_has_none():
    """What shear gives is not of the threads: along the pattern mesh edges are limited, at 45 degrees the diagonals."""
    garment = naive.sheet(5, 5, **LIMITED)
    turned = garment._replace(uv=garment.uv @ np.array([[1.0, 1.0], [-1.0, 1.0]]))
    for one, on_threads in ((garment, True), (turned, False)):
        cloth, _ = build([one], Settings())
        limited = np.isfinite(cloth.taut[:, 0]) & (cloth.taut[:, 1] > 1e-6 * K)
        assert (limited == (cloth.is_mesh_edge == on_threads)).all()


def test_what_is_smaller_has_a_shorter_limit_and_seams_have_none():
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]], float)
    garment = naive.garment(x, [[0, 1, 2], [3, 4, 5]], edges=[[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5], [0, 3]],
                            sewing=True, shrink=np.full(6, 0.1), **LIMITED)  # fmt: skip
    cloth, _ = build([garment], Settings())
    seam = cloth.rest_length == 0
    assert seam.sum() == 1 and np.isinf(cloth.taut[seam, 0]).all()
    assert np.allclose(cloth.taut[~seam, 0], (1 + LIMIT) * cloth.rest_length[~seam])
    assert np.allclose(cloth.taut[~seam, 1], (TIMES - 1) * cloth.edge_stiffness[~seam])


@pytest.mark.parametrize(
    ("changes", "words"), [({"strain_limit": -0.1}, "strain limit"), ({"strain_limit": np.nan}, "strain limit"),
                           ({"stiffening": 0.5}, "stiffens")],
)  # fmt: skip
def test_impossible_limits_are_refused(changes, words):
    with pytest.raises(ValueError, match=f"'Sheet'.*{words}"):
        build([naive.sheet(3, 3, **changes)], Settings())
