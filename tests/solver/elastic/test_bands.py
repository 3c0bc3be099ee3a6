# SPDX-License-Identifier: GPL-3.0-or-later
"""Elastic bands on edges of cloth: their tension against paper, cloth that gathers on them, and what is told of bad ones."""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.crossings import find_crossings
from taffeta.solver.model import Bands, Settings
from taffeta.solver.refit import refit
from taffeta.solver.step import advance

VACUUM = Settings(air_drag=0.0)
G = 9.81


def bands_on(garment, chosen, length=0.6, tension=1.0):
    """Elastic on the edges of a garment both of whose ends are `chosen` (n,) bool."""
    edges = garment.edges[chosen[garment.edges].all(axis=1)]
    return Bands(edges, np.full(len(edges), length), np.full(len(edges), tension))


def settled(garment, frames, gravity=(0, 0, 0), kept=0.8):
    """Cloth, state and last report of a garment that comes to rest; velocities are cut in each frame."""
    cloth, state = build([garment], VACUUM)
    for frame in range(1, frames + 1):
        before = state.x.copy()
        report = advance(cloth, state, naive.still(garment.x, gravity=gravity), frame, VACUUM)
        state.v[:] *= kept
        if np.abs(state.x - before).max() < 1e-7:
            break
    return cloth, state, report


def ladder():
    """Two bands that hang from y = 0 down to z = -0.5, with rungs of cloth that bear nothing along them; a load at the end."""
    garment = naive.sheet(2, 11, 0.05, 0.5, "same", shear_stiffness=0.0, bending_stiffness=0.0, damping=20.0, mass=1e-3)
    x = garment.x[:, [0, 2, 1]] * [1, 1, -1]
    side = np.isclose(garment.x[garment.edges][:, :, 0], garment.x[garment.edges][:, :1, 0]).all(axis=1)
    edges = garment.edges[side]
    return garment._replace(
        x=x, x_start=x.copy(), uv=None, pin=np.isclose(x[:, 2], 0.0).astype(float),
        bands=Bands(edges, np.full(len(edges), 0.6), np.full(len(edges), 2.0)),
    )  # fmt: skip


@pytest.mark.parametrize(("load", "length"), [(0.0, 0.6), (1.0, 0.8), (1.5, 0.9)])
def test_a_band_that_bears_a_load_is_as_long_as_hooke_says(load, length):
    """Two bands of 2 N at their full 0.5 m: of that length each has 0.6 + 0.4 F / T, F what it bears."""
    garment = ladder()
    foot = np.isclose(garment.x[:, 2], -0.5)
    garment = garment._replace(added_mass=np.where(foot, load / G, 0.0))
    _, state, _ = settled(garment, 300, (0, 0, -G))
    own = garment.mass[0] * 0.05 * 0.5 * G / 2.0  # [N] of cloth that each band bears, half of it in the mean
    assert np.ptp(state.x[:, 2]) / 0.5 == pytest.approx(length + 0.4 * 0.5 * own / 2.0, abs=2e-3)


def test_a_band_that_is_drawn_flat_stretches_no_farther_than_its_cloth():
    """10 N on each band of 2 N: beyond its full length the cloth bears what is more, each side half a strip of 2 kN/m."""
    garment = ladder()
    foot = np.isclose(garment.x[:, 2], -0.5)
    garment = garment._replace(added_mass=np.where(foot, 10.0 / G, 0.0))
    cloth, state, _ = settled(garment, 300, (0, 0, -G))
    bands = ~cloth.is_mesh_edge & np.isfinite(cloth.taut[:, 0])
    both = cloth.edge_stiffness[bands] + cloth.taut[bands, 1]
    assert np.allclose(cloth.taut[bands, 1], 2000.0 * 0.025 / 0.05, rtol=0.2)
    assert np.ptp(state.x[:, 2]) == pytest.approx(0.5 + 10 * np.mean(8.0 / both), rel=2e-3)


@pytest.mark.parametrize("model", ["FABRIC", "MEMBRANE"])
def test_cloth_gathers_on_a_band(model):
    """A strip with elastic along one rim: the rim is nearly as short as the band, the other rim is not; nothing crosses, and what is
    told of stretch leaves the band out."""
    garment = naive.sheet(
        25, 9, 0.48, 0.16, "alternating", model=model, self_collision=True, thickness=0.001, damping=10.0
    )
    top = np.isclose(garment.x[:, 1], 0.16)
    noise = 1e-4 * np.random.default_rng(1).standard_normal(garment.x.shape)
    garment = garment._replace(x_start=garment.x + noise, bands=bands_on(garment, top, 0.6, 2.0))
    cloth, state, report = settled(garment, 48, kept=0.9)

    def along(row):
        x = state.x[np.isclose(garment.x[:, 1], row)]
        return np.linalg.norm(np.diff(x, axis=0), axis=1).sum()

    assert along(0.16) == pytest.approx(0.6 * 0.48, rel=0.1) and along(0.0) == pytest.approx(0.48, rel=0.02)
    assert not len(find_crossings(cloth, state.x)[0]) and report.worst_stretch < 0.1


def test_what_has_no_band_is_as_before():
    garment = naive.sheet(5, 5, model="MEMBRANE", poisson=0.2)
    none = Bands(np.zeros((0, 2), int), np.zeros(0), np.zeros(0))
    for one, other in zip(build([garment], VACUUM)[0], build([garment._replace(bands=none)], VACUUM)[0], strict=True):
        if isinstance(one, np.ndarray):
            assert one.tobytes() == other.tobytes()


def test_a_keyed_pull_builds_the_band_anew():
    garment = naive.sheet(5, 5)
    garment = garment._replace(bands=bands_on(garment, garment.x[:, 1] == 1.0))
    cloth, _ = build([garment], VACUUM)
    bands = np.isfinite(cloth.taut[:, 0])
    assert bands.sum() == 4
    for pull in (0.5, 0.0):
        now = refit((garment._replace(band_pull=pull),), VACUUM, 3)
        assert len(now.edges) == len(cloth.edges)
        assert now.edge_stiffness[bands] == pytest.approx(max(pull, 1e-6) * cloth.edge_stiffness[bands])
    with pytest.raises(ValueError, match="In frame 3, 'Sheet': its elastic bands pull with -1 of their tension"):
        refit((garment._replace(band_pull=-1.0),), VACUUM, 3)


def test_rubber_neither_stays_longer_nor_loses_its_share_in_a_second_shape():
    garment = naive.sheet(5, 5)
    garment = garment._replace(bands=bands_on(garment, garment.x[:, 1] == 1.0), yields=True, x_second=2.0 * garment.x)
    cloth, _ = build([garment], VACUUM)
    bands, known = np.isfinite(cloth.taut[:, 0]), cloth.plastic.place - len(cloth.bend_stencils)
    assert not np.isin(np.flatnonzero(bands), known).any() and np.isin(np.flatnonzero(~bands), known).all()
    assert cloth.second.rest_length == pytest.approx(2.0 * cloth.rest_length)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"length": 1.0},
            "between vertices 4 and 9 has a length that is not between 0 and 1 of its edge \\(1\\); mark it anew",
        ),
        ({"tension": 0.0}, "has a tension that is not above 0 N \\(0\\)"),
        ({"tension": np.nan}, "has a tension that is not above 0 N"),
    ],
)
def test_bad_bands_are_told(changes, words):
    garment = naive.sheet(5, 5)
    with pytest.raises(ValueError, match=f"'Sheet': the elastic band .*{words}"):
        build([garment._replace(bands=bands_on(garment, garment.x[:, 1] == 1.0, **changes))], VACUUM)
    far = Bands(np.array([[0, 99]]), np.array([0.5]), np.array([1.0]))
    with pytest.raises(ValueError, match="elastic bands refer to a vertex that does not exist"):
        build([garment._replace(bands=far)], VACUUM)
