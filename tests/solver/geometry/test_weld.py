# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices that are doubled along seams are simulated as one, and no others."""

import numpy as np
import pytest
from sheets import GRAVITY, sheet
from taffeta.solver.build import build, repin
from taffeta.solver.geometry.weld import find_twins, weld
from taffeta.solver.model import FrameInput, Settings
from taffeta.solver.step import advance

EDGE, ROWS = 0.02, 7
SAME = 1e-4  # [m]


def halves(gap=0.0, **values):
    """Two sheets in one garment, end to end with a seam of 7 doubled vertices, the left one held at its far end."""
    one = sheet("Halves", ROWS, ROWS, EDGE, **values)
    count, width = len(one.x), EDGE * (ROWS - 1)
    move = np.array([width + gap, 0.0, 0.0])
    twice = {name: np.concatenate([getattr(one, name)] * 2) for name in one._fields if is_per_vertex(one, name)}
    twice |= {
        name: np.concatenate([getattr(one, name), getattr(one, name) + count])
        for name in ("triangles", "quads", "edges")
    }
    x = np.concatenate([one.x, one.x + move])
    pin = np.where(x[:, 0] < x[:, 0].min() + 1e-6, 1.0, 0.0)
    return one._replace(**(twice | {"x": x, "x_start": x.copy(), "pin": pin, "uv": None}))


def is_per_vertex(garment, name):
    value = getattr(garment, name)
    return isinstance(value, np.ndarray) and name not in ("triangles", "quads", "edges", "uv")


def fallen(garment, frames=6):
    cloth, state = build([garment], Settings())
    still = np.stack([garment.x_start] * 2)
    for frame in range(frames):
        advance(cloth, state, FrameInput(1 / 24, still, (), GRAVITY, np.zeros(3)), frame, Settings())
    return state.x + cloth.origin


def test_halves_with_a_doubled_seam_hold_together_to_the_bit_and_fall_apart_without_it():
    garment = halves()
    one, other = find_twins(garment.triangles, garment.x, SAME).T
    assert len(one) == ROWS
    x = fallen(weld(garment, SAME))
    assert (x[one] == x[other]).all()
    assert x[:, 2].min() > -0.3, "it hangs"
    apart = fallen(garment)
    assert np.linalg.norm(apart[one] - apart[other], axis=1).min() > 0.1


def test_welded_it_is_the_sheet_of_one_piece():
    """The seam is as stiff and as heavy as any line of the mesh: masses, springs and hinges are those of one sheet."""
    whole = sheet("Whole", 2 * ROWS - 1, ROWS, EDGE)
    whole = whole._replace(uv=None, pin=np.where(whole.x[:, 0] < whole.x[:, 0].min() + 1e-6, 1.0, 0.0))
    (one, _), (other, _) = build([whole], Settings()), build([weld(halves(), SAME)], Settings())
    for name in ("rest_length", "edge_stiffness", "bend_stiffness", "rest_angle"):
        assert np.allclose(np.sort(getattr(one, name)), np.sort(getattr(other, name)), rtol=1e-6, atol=1e-9), name
    assert np.allclose(np.sort(one.mass), np.sort(np.delete(other.mass, other.twins[:, 0])))


@pytest.mark.parametrize(("gap", "found"), [(5e-5, ROWS), (5e-4, 0)])
def test_a_gap_below_a_tenth_of_a_millimetre_is_closed_half_way(gap, found):
    garment = halves(gap)
    welded = weld(garment, SAME)
    twins = [] if welded.twins is None else welded.twins
    assert len(twins) == found
    if found:
        one, other = welded.twins.T
        assert (
            np.allclose(welded.x[one], 0.5 * (garment.x[one] + garment.x[other]))
            and (welded.x[one] == welded.x[other]).all()
        )


def test_no_reach_makes_faces_collapse():
    """A metre is farther than anything here."""
    garment = halves()
    welded = weld(garment, 1.0)
    assert len(welded.twins) == ROWS
    corners = np.sort(welded.triangles, axis=1)
    assert (np.diff(corners, axis=1) > 0).all()


def test_what_is_no_border_is_not_welded():
    """Two sheets on each other, all of them at the same places: their rims are, their insides are not."""
    garment = halves()
    count = ROWS * ROWS
    x = garment.x.copy()
    x[count:] = x[:count]
    one, other = find_twins(garment.triangles, x, SAME).T
    assert len(one) == 4 * (ROWS - 1) and (one - other == count).all()


def test_maps_of_a_place():
    """The mean of what its vertices are, the firmest pin; it collides where all of them do."""
    garment = halves()
    one, other = find_twins(garment.triangles, garment.x, SAME).T
    values = {name: np.array(getattr(garment, name), float) for name in ("mass", "pin", "pin_distance")}
    values["mass"][one], values["pin"][one], values["pin_distance"][one] = 0.45, 0.5, 0.1
    masked = np.ones(len(garment.x), bool)
    masked[one[0]] = False
    welded = weld(garment._replace(meets_bodies=masked, **values), SAME)
    assert np.allclose(welded.mass[other], 0.3) and (welded.pin[other] == 0.5).all()
    assert (welded.pin_distance[other] == 0.1).all()
    assert welded.meets_bodies[other].tolist() == [False] + [True] * (ROWS - 1)


def test_pins_of_a_frame_count_for_the_place_whichever_vertex_has_them():
    cloth, _ = build([weld(halves()._replace(pin_moves=True), SAME)], Settings())
    one, other = cloth.twins.T
    pin = np.zeros(len(cloth.mass))
    pin[one] = 1.0
    assert (repin(cloth, pin).inv_mass[other] == 0.0).all() and pin[other].max() == 0.0


def test_a_zip_stays_two_rims():
    """They lie on each other on purpose, and one of them would take the zip away."""
    rims = halves()
    twins = weld(rims, SAME).twins
    zipped = rims._replace(zip_edges=twins, zip_opens=np.full(ROWS, 0.5))
    assert len(twins) == ROWS and weld(zipped, SAME).twins is None
