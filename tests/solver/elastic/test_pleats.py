# SPDX-License-Identifier: GPL-3.0-or-later
"""Pleats: hinges with rest angles of their own, on quads and triangles, to both sides."""

import naive
import numpy as np
import pytest
from taffeta.solver.build import build
from taffeta.solver.model import Pleats, Settings
from taffeta.solver.step import advance

VACUUM = Settings(air_drag=0.0)


def pleats_at(garment, columns, angle, stiffness=1.0):
    """Along the lines of a sheet where x is one of `columns` [m], which may be given angles [rad] of their own."""
    edges = garment.edges
    found, angles = [], []
    for place, turn in zip(columns, np.broadcast_to(angle, len(columns)), strict=True):
        on_line = np.isclose(garment.x[edges][:, :, 0], place).all(axis=1)
        found.append(edges[on_line])
        angles.append(np.full(on_line.sum(), turn))
    found, angles = np.concatenate(found), np.concatenate(angles)
    return Pleats(found, angles, np.full(len(found), stiffness))


def at_rest(garment, gravity, frames, kept=0.8):
    """Where particles of a garment come to rest (n, 3) [m]; velocities are cut in each frame."""
    cloth, state = build([garment], VACUUM)
    for frame in range(1, frames + 1):
        before = state.x.copy()
        advance(cloth, state, naive.still(garment.x, gravity=gravity), frame, VACUUM)
        state.v[:] *= kept
        if np.abs(state.x - before).max() < 1e-7:
            break
    return state.x + cloth.origin


def turned(x, rows):
    """Signed angle [rad] about y between what is before and behind the middle column of three; above 0 with the middle up."""
    left, middle, right = x.reshape(-1, rows, 3).mean(axis=1)
    one, other = middle - left, right - middle
    return np.arctan2(one[2], one[0]) - np.arctan2(other[2], other[0])


@pytest.mark.parametrize("diagonals", ["same", "none"])
@pytest.mark.parametrize("angle", [60.0, -150.0])
def test_one_hinge_without_weight_comes_to_its_angle(diagonals, angle):
    garment = naive.sheet(3, 4, 0.2, 0.3, diagonals, bending_stiffness=1e-3, pin=np.arange(12) < 8, damping=10.0)
    garment = garment._replace(pleats=pleats_at(garment, [0.1], np.radians(angle)))
    x = at_rest(garment, (0, 0, 0), 200)
    assert np.degrees(turned(x, 4)) == pytest.approx(angle, abs=0.5)


def accordion(diagonals="same", **changes):
    """A strip that hangs down from y = 0.6, folded to both sides in turns, and its rows."""
    garment = naive.sheet(3, 25, 0.05, 0.6, diagonals, bending_stiffness=2e-4, damping=10.0, **changes)
    x = garment.x[:, [0, 2, 1]]
    garment = garment._replace(x=x, x_start=x.copy(), pin=(x[:, 2] > 0.5999).astype(float))
    lines = np.arange(1, 24)
    found = [garment.edges[np.isclose(x[garment.edges][:, :, 2], 0.025 * k).all(axis=1)] for k in lines]
    angle = np.concatenate(
        [np.full(len(edges), np.radians(100.0) * (-1) ** k) for k, edges in zip(lines, found, strict=True)]
    )
    edges = np.concatenate(found)
    return garment._replace(pleats=Pleats(edges, angle, np.full(len(edges), 10.0)))


def test_a_pleated_strip_hangs_shorter_and_its_weight_draws_it_out():
    garment = accordion()
    hanging, weightless, flat = (
        np.ptp(at_rest(one, gravity, 40, 0.9)[:, 2])
        for one, gravity in (
            (garment, (0, 0, -9.81)), (garment, (0, 0, 0)), (garment._replace(pleats=None), (0, 0, -9.81)),
        )
    )  # fmt: skip
    print(f"{hanging:.4f} m hanging, {weightless:.4f} m without weight, {flat:.4f} m without pleats")
    assert flat == pytest.approx(0.6, abs=0.002)
    assert weightless == pytest.approx(0.6 * np.cos(np.radians(50.0)), rel=0.02)
    assert weightless + 0.005 < hanging < flat - 0.1


def test_a_pleat_that_ends_inside_leaves_the_rest_flat_and_normals_tell_the_side():
    garment = naive.sheet(5, 5, 1.0, 1.0, bending_stiffness=1e-4)
    half = pleats_at(garment, [0.5], 1.0)
    inner = np.isclose(garment.x[half.edges][:, :, 1].max(axis=1), [0.25, 0.5][1]) | (
        garment.x[half.edges][:, :, 1].max(axis=1) < 0.5
    )
    half = Pleats(*(array[inner] for array in half))
    cloth, _ = build([garment._replace(pleats=half)], VACUUM)
    keys = {tuple(sorted(edge)) for edge in half.edges.tolist()}
    is_pleat = np.array([tuple(sorted(ends)) in keys for ends in cloth.bend_stencils[:, :2].tolist()])
    assert is_pleat.any() and (np.abs(cloth.rest_angle[is_pleat]) == 1.0).all()
    assert (cloth.rest_angle[~is_pleat] == 0.0).all()
    turned_over, _ = build([garment._replace(pleats=half, triangles=garment.triangles[:, ::-1].copy())], VACUUM)
    x = garment.x
    for each, sign in ((cloth, -1.0), (turned_over, 1.0)):
        ends = each.bend_stencils[each.rest_angle != 0.0]
        up = np.cross(x[ends[:, 1]] - x[ends[:, 0]], x[ends[:, 3]] - x[ends[:, 2]])[:, 2]
        assert (np.sign(each.rest_angle[each.rest_angle != 0.0]) == sign * np.sign(up)).all()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"edges": [[0, 99]]}, "do not exist|does not exist"),
        ({"angle": [4.0]}, "between vertices 0 and 1 has an angle that is not within 180 degrees"),
        ({"stiffness": [np.nan]}, "between vertices 0 and 1 has a stiffness that is not 0 or more"),
    ],
)
def test_what_cannot_be_is_told(changes, words):
    told = Pleats(np.array([[0, 1]]), np.array([1.0]), np.array([1.0]))
    told = told._replace(**{name: np.array(value) for name, value in changes.items()})
    with pytest.raises(ValueError, match=words):
        build([naive.sheet(3, 3, pleats=told)], VACUUM)
    with pytest.raises(ValueError, match="the model Springs has none"):
        build([naive.sheet(3, 3, pleats=told, model="SPRINGS")], VACUUM)
