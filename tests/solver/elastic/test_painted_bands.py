# SPDX-License-Identifier: GPL-3.0-or-later
"""Painted elastic: strips of it against Hooke on paper, on quads and on crooked triangles; what is and what is not a band."""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.elastic.painted_bands import BOTH, WARP, WEFT, painted_bands
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

VACUUM, G = Settings(air_drag=0.0), 9.81
WIDTH, LENGTH, TENSION, PART = 0.2, 0.5, 40.0, 0.6  # [m], [m], [N/m]


def hung(crooked=0.0, diagonals="alternating", **changes):
    """A strip that hangs from y = 0 down to z = -0.5, its weft upright; `crooked`: how far vertices are off their rows, in cells."""
    fabric = dict(damping=20.0, mass=1e-3) | changes
    garment = naive.sheet(5, 11, WIDTH, LENGTH, diagonals, **fabric)
    flat = garment.x.copy()
    within = (flat[:, :2] > 1e-9).all(axis=1) & (flat[:, 0] < WIDTH - 1e-9) & (flat[:, 1] < LENGTH - 1e-9)
    flat[within, :2] += crooked * 0.05 * np.random.default_rng(3).uniform(-1.0, 1.0, (within.sum(), 2))
    x = flat[:, [0, 2, 1]] * [1, 1, -1]
    pin = np.isclose(x[:, 2], 0.0).astype(float)
    return garment._replace(x=x, x_start=x.copy(), uv=flat[garment.triangles][..., :2], pin=pin)


def length_under(garment, along, load):
    """Of a strip that is painted all over, at rest with a load [N] at its foot; over its full length."""
    bands = painted_bands(garment, np.full(len(garment.x), TENSION), PART, along)
    foot = np.isclose(garment.x[:, 2], -LENGTH)
    share = foot * np.where(np.isclose(garment.x[:, 0] % WIDTH, 0.0) | np.isclose(garment.x[:, 0], WIDTH), 0.5, 1.0)
    garment = garment._replace(bands=bands, added_mass=load / G * share / share.sum())
    narrow = garment.x * [1.0 if along == WEFT else PART, 1.0, 1.0]  # its upper border lies as it draws itself in
    cloth, state = build([garment._replace(x_start=narrow)], VACUUM)
    for frame in range(1, 400):
        before = state.x.copy()
        advance(cloth, state, naive.still(narrow, gravity=(0, 0, -G)), frame, VACUUM)
        state.v[:] *= 0.8
        if np.abs(state.x - before).max() < 1e-7:
            break
    return -state.x[foot, 2].mean() / LENGTH


@pytest.mark.parametrize("model", ["FABRIC", "MEMBRANE"])
@pytest.mark.parametrize("along", [WEFT, BOTH])
@pytest.mark.parametrize("load", [2.0, 4.0, 6.0])
def test_a_painted_strip_is_as_long_as_hooke_says(model, along, load):
    """40 N/m over 0.2 m are 8 N at full length; the strip's own weight is 1 mN."""
    expected = PART + (1.0 - PART) * load / (TENSION * WIDTH)
    assert length_under(hung(model=model), along, load) == pytest.approx(expected, abs=4e-3)


@pytest.mark.parametrize("diagonals", ["none", "same"])
def test_so_is_one_of_crooked_faces(diagonals):
    for load in (3.0, 5.0):
        expected = PART + (1.0 - PART) * load / (TENSION * WIDTH)
        assert length_under(hung(0.2, diagonals), WEFT, load) == pytest.approx(expected, abs=0.02)


def test_elastic_along_the_other_thread_leaves_the_length_alone():
    assert length_under(hung(), WARP, 2.0) == pytest.approx(1.0 + 2.0 / (2000.0 * WIDTH), abs=3e-3)


def test_beyond_its_full_length_it_is_as_stiff_as_the_cloth():
    assert length_under(hung(), WEFT, 16.0) == pytest.approx(1.0 + 8.0 / (2000.0 * WIDTH), abs=3e-3)


def test_each_row_pulls_as_hard_as_it_is_wide():
    garment = hung()
    for along, drawn in ((BOTH, True), (WARP, True), (WEFT, False)):
        bands = painted_bands(garment, np.full(len(garment.x), TENSION), PART, along)
        way = garment.x[bands.edges[:, 1]] - garment.x[bands.edges[:, 0]]
        across = np.abs(way[:, 2]) < 1e-9
        assert across.any() == drawn
        inside = across & ~np.isclose(garment.x[bands.edges[:, 0], 2] % LENGTH, 0.0)
        # a row of quads stands for its own width, whatever triangles it is made of
        assert bands.tension[inside] == pytest.approx(TENSION * 0.05, rel=1e-9)
        assert bands.length[across] == pytest.approx(PART) and (bands.length < 1.0).all()


def test_one_line_of_painted_vertices_is_one_band():
    garment = hung()
    row = np.isclose(garment.x[:, 2], -0.25)
    bands = painted_bands(garment, np.where(row, TENSION, 0.0), PART, WARP)
    assert row[bands.edges].all() and len(bands.edges) == 4
    assert bands.tension == pytest.approx(TENSION * 0.05) and bands.length == pytest.approx(PART)
    assert painted_bands(garment, np.zeros(len(row)), PART, WARP) is None
    assert painted_bands(garment, np.where(np.arange(len(row)) == 7, TENSION, 0.0), PART, BOTH) is None


@pytest.mark.parametrize(
    ("changes", "tension", "words"),
    [
        (
            {"uv": None},
            1.0,
            "its elastic runs along weft, and it has no Pattern that tells the threads; choose its UV map",
        ),
        ({}, -2.0, "its elastic has -2 N/m at vertex 0; use 0 or more"),
        ({}, np.nan, "its elastic has nan N/m at vertex 0"),
    ],
)
def test_bad_paint_is_told(changes, tension, words):
    garment = hung()._replace(**changes)
    with pytest.raises(ValueError, match=f"'Sheet': {words}"):
        painted_bands(garment, np.full(len(garment.x), tension), PART, WEFT)
    flat = hung()
    with pytest.raises(ValueError, match="'Sheet': its Pattern has no area, so it has no threads; unwrap it again"):
        painted_bands(flat._replace(uv=np.zeros_like(flat.uv)), np.ones(len(flat.x)), PART, WEFT)
