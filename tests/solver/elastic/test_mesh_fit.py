# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a mesh is fine enough for a fabric: by its bending length, for any size of both."""

import naive
import numpy as np
import pytest
from taffeta.solver.elastic.mesh_fit import (
    SHORT_SHARE,
    THICKNESS_SHARE,
    bending_length,
    edge_quantile,
    fit,
    fitting_thickness,
    round_up,
)

G = 9.81
COTTON = {"mass": 0.15, "bending": 1e-5, "weft_bending": 1.0, "gravity": G}


def test_the_bending_length_is_half_the_overhang_of_a_cantilever():
    """ASTM D1388: a strip of length L whose chord hangs at 41.5 degrees has c = 0.4999 L, Gamma = w L^3 / B being 8.004."""
    length, weight = 0.04, 0.15 * G
    assert bending_length(weight * length**3 / 8.004, weight) == pytest.approx(0.4999 * length, rel=1e-3)


@pytest.mark.parametrize(("edge", "limp"), [(0.005, False), (0.013, False), (0.014, True), (0.025, True)])
def test_cotton_is_for_edges_up_to_13_mm(edge, limp):
    found = fit(edge, **COTTON)
    assert found.longest_edge == pytest.approx(0.0132, abs=1e-4)
    assert found.is_limp == limp


@pytest.mark.parametrize("edge", [1e-3, 0.014, 0.025, 0.1])
def test_the_fitting_bending_is_the_least_that_fits(edge):
    bending = fit(edge, **COTTON).fitting_bending
    assert not fit(edge, **(COTTON | {"bending": bending})).is_limp
    assert fit(edge, **(COTTON | {"bending": 0.9 * bending})).is_limp
    assert bending == float(f"{bending:.1e}"), "two digits"


def test_the_softer_thread_decides():
    whole, soft = fit(0.02, **COTTON), fit(0.02, **(COTTON | {"weft_bending": 0.5}))
    assert soft.longest_edge == pytest.approx(0.5 ** (1 / 3) * whole.longest_edge)
    assert fit(0.02, **(COTTON | {"weft_bending": 2.0})) == whole
    assert not fit(0.02, **(COTTON | {"weft_bending": 0.5, "bending": soft.fitting_bending})).is_limp


def test_without_weight_nothing_is_limp_and_without_bending_everything():
    assert not fit(10.0, **(COTTON | {"gravity": 0.0})).is_limp
    assert fit(1e-4, **(COTTON | {"bending": 0.0})).is_limp


def test_a_doll_and_a_giant_of_the_same_cloth_fit_alike():
    """Lengths times s and gravity over s^3 is the same drape."""
    for scale in (0.1, 100.0):
        small = fit(0.014 * scale, **(COTTON | {"gravity": G / scale**3}))
        assert small.longest_edge == pytest.approx(scale * fit(0.014, **COTTON).longest_edge)


def test_half_of_the_cloth_decides_not_half_of_the_edges():
    """A sheet of edges of 20 mm with a patch of 1 mm, which has most of the edges and little of the cloth."""
    coarse, dense = naive.sheet(11, 11, 0.2, 0.2), naive.sheet(41, 41, 0.04, 0.04)
    x = np.concatenate([coarse.x, dense.x + [0.0, 0.0, 1.0]])
    edges = np.concatenate([coarse.edges, dense.edges + len(coarse.x)])
    assert len(dense.edges) > 10 * len(coarse.edges)
    assert edge_quantile(x, edges) == pytest.approx(0.02)
    assert edge_quantile(x, edges, 0.01) == pytest.approx(0.001)


def test_edges_that_are_nowhere_or_nothing():
    x = np.array([[0.0, 0, 0], [0.01, 0, 0], [np.nan, 0, 0], [0.01, 0, 0]])
    assert edge_quantile(x, np.array([[0, 1], [1, 2]])) == pytest.approx(0.01)
    assert edge_quantile(x, np.array([[1, 3]])) == 0.0
    assert edge_quantile(x, np.zeros((0, 2), int)) == 0.0


@pytest.mark.parametrize(
    ("edge", "short", "expected"),
    [
        (0.014, 0.010, THICKNESS_SHARE * 0.014),
        (0.100, 0.100, 0.002),  # no blanket, however coarse the mesh
        (0.003, 0.002, 0.0003),  # a fine mesh has the fabric's own
        (0.001, 0.0006, SHORT_SHARE * 0.0006),  # a doll
    ],
)
def test_cloth_is_as_thick_as_its_mesh_bears(edge, short, expected):
    assert fitting_thickness(edge, short, 0.0003, 0.002) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("value", "rounded"), [(0.0, 0.0), (1e-5, 1e-5), (1.01e-5, 1.1e-5), (9.91e-4, 1e-3), (23.1, 24)]
)
def test_rounding_up(value, rounded):
    assert round_up(value) == pytest.approx(rounded, rel=1e-12) and round_up(value) >= value
