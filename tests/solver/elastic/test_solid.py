# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets of a solid do what a solid of that modulus and thickness does."""

import naive
import numpy as np
import pytest
import strips
from taffeta.solver.build import build
from taffeta.solver.elastic.solid import sheet_of, solid_of
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

G = 9.81
VACUUM = Settings(air_density=0.0)


@pytest.mark.parametrize("model", ["FABRIC", "MEMBRANE"])
def test_a_strip_lengthens_by_its_weight(model):
    """rho g L^2 / 2 E, whatever its thickness: both the weight and the stiffness go by that."""
    modulus, density, length = 4e5, 1200.0, 1.0
    lengthened = []
    for thickness in (2e-4, 5e-4):
        numbers = sheet_of(modulus, thickness)._replace(shear_stiffness=0.0)._asdict()
        pin = np.arange(39) % 13 == 12
        garment = naive.sheet(3, 13, 0.1, length, pin=pin, mass=density * thickness, model=model, **numbers)
        cloth, state = build([garment], VACUUM)
        for frame in range(150):
            advance(cloth, state, naive.still(garment.x, gravity=(0, -G, 0)), frame, VACUUM)
            state.v[:] *= 0.8
        lengthened.append(-(state.x + cloth.origin)[[0, 13, 26], 1].mean())
    assert lengthened == pytest.approx(2 * [density * G * length**2 / (2 * modulus)], rel=5e-3)


def test_a_cantilever_sags_by_the_third_power_of_its_thickness():
    """A clamped strip of the weight q per area sags by q L^4 / 8 B, B = E h^3 / 12 (1 - nu^2), where it sags little."""
    modulus, poisson = 1e8, 0.4
    for thickness, share in ((5e-4, 1.0), (1e-3, 0.125)):
        rigidity = sheet_of(modulus, thickness, poisson).bending_stiffness
        assert rigidity == pytest.approx(modulus * thickness**3 / 12 / 0.84)
        sigma = 0.008 * modulus * (5e-4) ** 3 / 12 / 0.84 / G * 10  # [kg/m2] that the thin one sags by a hundredth of
        found, _ = strips.cantilever(strips.SIGMA * G / (rigidity * strips.SIGMA / sigma), 12)
        assert found == pytest.approx(0.01 * share, rel=0.03)


def test_shear_is_that_of_an_isotropic_sheet():
    numbers = sheet_of(3e6, 1e-3, 0.5)
    assert (numbers.stretch_stiffness, numbers.shear_stiffness) == (pytest.approx(3000.0), pytest.approx(1000.0))


def test_a_sheet_tells_what_solid_it_is_of():
    for poisson in (0.0, 0.3, 0.5):
        sheet = sheet_of(2e6, 3e-4, poisson)
        assert solid_of(sheet.stretch_stiffness, sheet.bending_stiffness, poisson) == pytest.approx((2e6, 3e-4))
    assert solid_of(0.0, 1e-5) == solid_of(100.0, 0.0) == (0.0, 0.0)
