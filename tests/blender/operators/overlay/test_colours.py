# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers to colours and words; no Blender needed."""

import numpy as np
import pytest
from taffeta.operators.overlay import colours

# Linear-RGB matrices of full protanopia and deuteranopia (Machado, Oliveira, Fernandes 2009, table 1, severity 1.0).
BLINDNESS = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
}


def linear(srgb):
    """Light of sRGB colours (IEC 61966-2-1)."""
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def lightness(srgb):
    """CIE L* of sRGB colours (k, 3)."""
    y = linear(srgb) @ (0.2126, 0.7152, 0.0722)
    return np.where(y > 0.008856, 116 * np.cbrt(y) - 16, 903.3 * y)


def test_values_grow_steadily_brighter():
    steps = colours.ramp(colours.SEQUENTIAL, np.linspace(0, 1, 65))
    assert (np.diff(lightness(steps[:, :3])) > 0.2).all()


@pytest.mark.parametrize("kind", BLINDNESS)
def test_both_ramps_can_be_read_by_the_colour_blind(kind):
    for stations in (colours.SEQUENTIAL, colours.DIVERGING):
        light = linear(colours.ramp(stations, np.linspace(0, 1, 9))[:, :3]) @ np.array(BLINDNESS[kind]).T
        seen = np.clip(light, 0, 1) ** (1 / 2.2)
        apart = np.linalg.norm(seen[:, None] - seen[None], axis=2)
        np.fill_diagonal(apart, 1.0)
        assert apart.min() > 0.05, "two of nine steps look alike"


def test_colours_run_from_low_to_high_and_stop_there():
    found = colours.colours(np.array([-1.0, 2.0, 3.0, 4.0, 9.0]), 2.0, 4.0, colours.SEQUENTIAL)
    assert found[0] == pytest.approx([*colours.SEQUENTIAL[0], 1])
    assert found[1] == pytest.approx(found[0])
    assert found[2] == pytest.approx([*colours.SEQUENTIAL[2], 1])
    assert found[4] == pytest.approx([*colours.SEQUENTIAL[-1], 1])
    assert found.dtype == np.float32


def test_equal_values_have_the_middle_colour():
    found = colours.colours(np.full(3, 7.0), 7.0, 7.0, colours.SEQUENTIAL)
    assert found[1] == pytest.approx([*colours.SEQUENTIAL[2], 1])


def turned(flat, rng):
    """Points of a plane (n, 2) somewhere in space (n, 3)."""
    frame, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return flat @ frame[:2] + rng.normal(size=3)


def test_principal_strains_are_the_singular_values_of_what_deforms():
    rng = np.random.default_rng(3)
    for _ in range(50):
        flat, deform = rng.normal(size=(3, 2)), rng.normal(size=(2, 2))
        found = colours.principal_strains(turned(flat @ deform, rng), turned(flat, rng), np.array([[0, 1, 2]]))
        assert found[0] == pytest.approx(np.linalg.svd(deform)[1][::-1] - 1.0, abs=1e-6)


def square(warp, weft, shear=0.0):
    """A square of two triangles, stretched along both threads and sheared: strain of its points."""
    rest = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], float)
    x = rest * (1 + warp, 1 + weft, 1) + rest[:, [1, 0, 2]] * (shear, 0, 0)
    return colours.vertex_strain(x, rest, np.array([(0, 1, 2), (0, 2, 3)]))


def test_the_strain_of_largest_size_is_shown_with_its_sign():
    """Of warp + 10 % and weft - 10 %, a mean would be nothing."""
    assert square(0.1, -0.1) == pytest.approx(np.full(4, 0.1))
    assert square(0.05, -0.1) == pytest.approx(np.full(4, -0.1))
    assert square(-0.02, -0.04) == pytest.approx(np.full(4, -0.04))
    assert square(0.0, 0.0, shear=0.1) == pytest.approx(np.full(4, np.hypot(1, 0.05) + 0.05 - 1.0))


def test_triangles_of_no_area_and_points_without_any_say_nothing():
    rest = np.array([(0, 0, 0), (1, 0, 0), (2.0, 0, 0), (9, 9, 9)])
    assert colours.vertex_strain(2 * rest, rest, np.array([(0, 1, 2), (0, 0, 0)])) == pytest.approx(np.zeros(4))
    assert len(colours.vertex_strain(rest, rest, np.empty((0, 3), int))) == 4


@pytest.mark.parametrize(
    ("value", "symbol", "text"),
    [
        (0.002, "m", "2 mm"),
        (0.0009999, "m", "1 mm"),
        (0.9999, "m", "1 m"),
        (0.000318, "m", "318 µm"),
        (1e-5, "N m", "10 µN m"),
        (3650.4, "N/m", "3650 N/m"),
        (0.15, "kg/m²", "0.15 kg/m²"),
        (-0.1, "%", "-10 %"),
        (0.35, "", "0.35"),
        (0.0, "m", "0 m"),
    ],
)
def test_quantities_are_short_and_have_their_unit(value, symbol, text):
    assert colours.quantity(value, symbol) == text
