# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that is modelled with sharp folds: held at its angles by its rigidity, on its own side, and calm."""

import naive
import numpy as np
import pytest
from linearised import linearised
from taffeta.solver.build import build
from taffeta.solver.elastic.bending import SHARP_FOLD, angles_of, are_folded
from taffeta.solver.model import Settings
from taffeta.solver.step import advance

FIVE = np.radians(5.0)


def folded_by(garment, angle):
    """Its positions with all beyond x = 0.1 turned about that line."""
    x = garment.x.copy()
    beyond = np.maximum(x[:, 0] - 0.1, 0.0)
    x[:, 0] += beyond * (np.cos(angle) - 1.0)
    x[:, 2] += beyond * np.sin(angle)
    return x


def flap(rest, start=None, **changes):
    """A strip of three columns, built with the middle one folded by an angle [rad], and started at another."""
    garment = naive.sheet(3, 4, 0.2, 0.3, bending_stiffness=1e-3, **changes)
    x = folded_by(garment, rest)
    started = x if start is None else folded_by(garment, start)
    cloth, _ = build([garment._replace(x=x, x_start=started)], Settings())
    return garment, cloth


def moment(garment, cloth, angle):
    """[N m] by which bending turns the flap back at an angle."""
    x = folded_by(garment, angle) - cloth.origin
    force, arm = linearised(cloth, x)[1], x - [0.1 - cloth.origin[0], 0.0, -cloth.origin[2]]
    turning = arm[:, 2] * force[:, 0] - arm[:, 0] * force[:, 2]  # about -y, as the angle
    return turning[garment.x[:, 0] > 0.15].sum()


@pytest.mark.parametrize("rest", [160.0, 176.0, -170.0])
def test_a_fold_resists_as_flat_cloth_does(rest):
    rest = np.radians(rest)
    flat, fold = flap(0.0), flap(rest)
    assert are_folded(fold[1].bend_weight).any() and not are_folded(flat[1].bend_weight).any()
    for away in (-FIVE, -0.2 * FIVE, 0.2 * FIVE, FIVE):
        assert moment(*fold, rest + away) == pytest.approx(moment(*flat, away), rel=0.04)
    assert np.allclose(angles_of(fold[1].x_rest, fold[1].bend_stencils, fold[1].bend_weight), fold[1].rest_angle)


def test_it_resists_evenly_through_the_full_fold_and_not_by_how_it_lies():
    garment, cloth = flap(np.radians(170.0))
    angles = np.radians(np.arange(150.0, 210.0, 5.0))
    steps = -np.diff([moment(garment, cloth, angle) for angle in angles]) / -moment(garment, cloth, np.radians(175.0))
    assert np.allclose(steps, 1.0, atol=0.12)


@pytest.mark.parametrize(("rest", "start"), [(130.0, 130.0), (170.0, 0.0), (170.0, -170.0)])
def test_what_is_not_folded_from_the_start_folds_as_other_cloth(rest, start):
    assert np.degrees(SHARP_FOLD) == pytest.approx(135.0)
    _, cloth = flap(*np.radians([rest, start]))
    assert not are_folded(cloth.bend_weight).any()


def pleated(pleats=4, rows=9, pitch=0.04):
    """A strip of knife pleats of three layers, millimetres apart, that hangs from its first row."""
    along = np.array([0.0, 0.5, 1.0, 1.5, 0.75, 0.6]) * pitch
    off = np.array([0.0, 2.0, 4.0, 6.0, 1.0, -4.0]) * 1e-3
    sheet = naive.sheet(rows, 6 * pleats, mass=0.2, bending_stiffness=1e-5, damping=2.0)
    number, row = np.meshgrid(np.arange(6 * pleats), np.arange(rows), indexing="xy")
    x = np.stack([pitch * (number // 6) + along[number % 6], off[number % 6], -0.02 * row], axis=-1).reshape(-1, 3)
    assert len(x) == len(sheet.x)
    return sheet._replace(x=x, x_start=x.copy(), uv=None, pin=(row.ravel() == 0).astype(float), self_collision=False)


def test_modelled_pleats_do_not_shake_when_they_are_moved():
    garment, settings, steps = pleated(), Settings(), []
    cloth, state = build([garment], settings)
    for frame in range(1, 17):
        shift = [0.05 * np.sin(2.0 * np.pi * min(when, 12) / 12.0) for when in (frame - 1, frame)]
        poses = np.stack([garment.x + [way, 0.0, 0.0] for way in shift])
        report = advance(cloth, state, naive.still(garment.x)._replace(targets=poses), frame, settings)
        steps.append(report.steps)
    assert np.mean(steps) < 20  # as springs that turn ask for; 60 with bend vectors alone
    assert report.worst_stretch < 0.01
