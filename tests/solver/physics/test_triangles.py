# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth of nothing but triangles bends and twists as cloth of quads does, however it is cut (`triangulated`).

A plate of the rigidity B without Poisson effect stores B/2 (kxx^2 + kyy^2 + 2 kxy^2) per area: B/2 k^2 for a cylinder
of the curvature k in whatever direction, B k^2 for a saddle. Strips are those of Romero et al. 2021 (`strips`).
"""

import naive
import numpy as np
import pytest
import strips
import triangulated
from taffeta.solver.build import build
from taffeta.solver.model import Settings

pytestmark = pytest.mark.once

CANTILEVER = {1: (0.1246, 0.9912), 10: (1.0668, 0.6564)}  # H / W and W / L of the heavy elastica
LATERAL = 18.18
CELLS = 20
SMALL = 1e-3  # [1/m] curvature, so that triangles keep their shape


def stored(cloth, along, across, twist, ratio=1.0):
    """Energy [J] over area of a sheet that is bent alike all over, over that of a plate."""
    x, y = cloth.x_rest[:, 0], cloth.x_rest[:, 1]
    bent = cloth.x_rest.copy()
    bent[:, 2] += SMALL * (0.5 * along * x**2 + 0.5 * across * y**2 + twist * x * y)
    area = cloth.mass.sum() / 0.15
    plate = 0.5 * SMALL**2 * (along**2 + ratio * across**2 + (1.0 + ratio) * twist**2)
    return naive.bending_energy(cloth, bent) / (plate * area)


@pytest.mark.parametrize("way", triangulated.WAYS)
def test_a_sheet_of_triangles_is_as_stiff_in_every_direction(way):
    """Cylinders in eight directions, a twist and a saddle within 8 %: half a cell at the border cannot bend across it."""
    cloth, _ = build([triangulated.sheet(CELLS + 1, CELLS + 1, way=way, bending_stiffness=1.0)], Settings())
    found = []
    for angle in np.arange(8) * np.pi / 8:
        c, s = np.cos(angle), np.sin(angle)
        found.append(stored(cloth, c * c, s * s, c * s))
    found += [stored(cloth, 0.0, 0.0, 1.0), stored(cloth, 1.0, -1.0, 0.0)]
    print(way, np.round(found, 3))
    assert np.allclose(found, 0.97, atol=0.05)


@pytest.mark.parametrize("way", ["rising", "irregular"])
def test_warp_and_weft_bend_as_they_are_told(way):
    """Weft of 0.3 of the warp: cylinders in eight directions have cos^2 + 0.3 sin^2 of the rigidity."""
    garment = triangulated.sheet(CELLS + 1, CELLS + 1, way=way, bending_stiffness=1.0, weft_bending=0.3)
    cloth, _ = build([garment], Settings())
    found = []
    for angle in np.arange(8) * np.pi / 8:
        c, s = np.cos(angle), np.sin(angle)
        found.append(stored(cloth, c * c, s * s, c * s, 0.3))
    print(way, np.round(found, 3))
    assert np.allclose(found, 0.97, atol=0.06)


@pytest.mark.parametrize("gamma", CANTILEVER)
def test_a_strip_of_triangles_bends_as_a_beam_and_has_no_grain(gamma):
    """Within 5 % of the heavy elastica's drop over reach, however the strip is cut, and within 5 % of each other."""
    ratio, reach = CANTILEVER[gamma]
    found = {way: strips.cantilever(gamma, 24, way) for way in triangulated.WAYS}
    for way, (drop, reached) in found.items():
        print(f"Gamma {gamma} {way}: H/W {drop:.4f} ({ratio}), W/L {reached:.4f} ({reach})")
        assert drop == pytest.approx(ratio, rel=0.05), way
        assert reached == pytest.approx(reach, rel=0.03), way
    drops = [drop for drop, _ in found.values()]
    assert max(drops) < 1.05 * min(drops)


@pytest.mark.parametrize("way", ["rising", "alternating", "irregular"])
def test_the_critical_weight_of_a_strip_of_triangles_is_that_of_a_beam(way):
    """As `test_strips` has it of quads, within 10 %."""
    wide, narrow = (strips.critical_weight(width=w, cells=c, rows=5, diagonals=way) for w, c in ((0.2, 20), (0.1, 40)))
    limit = (2.0 * narrow ** (-1 / 3) - wide ** (-1 / 3)) ** -3
    print(f"{way}: {wide:.2f} at a width of 0.2 L, {narrow:.2f} at 0.1 L, {limit:.2f} at none")
    assert limit == pytest.approx(LATERAL, rel=0.1)


@pytest.mark.parametrize("way", ["rising", "irregular"])
def test_a_strip_of_triangles_on_its_edge_falls_over_above_its_critical_weight(way):
    """Stands again at 0.8 of it, lies far aside at 1.3; on a grid it stood at twice the weight before."""
    assert strips.fallen(0.8 * LATERAL, diagonals=way) < 1e-3
    assert strips.fallen(1.3 * LATERAL, diagonals=way) > 0.3
