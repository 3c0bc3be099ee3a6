# SPDX-License-Identifier: GPL-3.0-or-later
"""Seam Allowance: what lies beside a seam is as heavy, thick and stiff as its layers, and hangs as on paper."""

import json

import bpy
import naive
import numpy as np
import pytest
import strips
from quads import read
from taffeta.operators.checks import fingerprint
from taffeta.operators.read import allowance, animated
from taffeta.solver.build import build
from taffeta.solver.step import advance

COLUMNS, ROWS, CELL = 37, 3, 0.01
LENGTH, BREADTH = (COLUMNS - 1) * CELL, (ROWS - 1) * CELL
MASS, RIGIDITY, WIDTH = 0.15, 0.1, 0.085


def strip(make, seam=0, **settings):
    """A strip along x, with a line of edges across it that is marked as a seam; seam "ALONG": the line along its middle."""
    i, j = np.meshgrid(np.arange(COLUMNS), np.arange(ROWS), indexing="ij")
    x = np.column_stack((CELL * i.ravel(), CELL * j.ravel(), np.zeros(COLUMNS * ROWS)))
    index = np.arange(COLUMNS * ROWS).reshape(COLUMNS, ROWS)
    faces = np.stack([index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]], axis=-1).reshape(-1, 4)
    fabric = {"mass": MASS, "bending_stiffness": RIGIDITY, "stretch_stiffness": 2e4, "shear_stiffness": 5e3}
    obj = make.cloth(make.mesh("Strip", x, faces), damping=20.0, **(fabric | settings))
    for edge in obj.data.edges:
        (i, j), (k, m) = (divmod(vertex, ROWS) for vertex in edge.vertices)
        edge.use_seam = j == m == ROWS // 2 if seam == "ALONG" else i == k == seam
    return obj


def drop(garment):
    """How far the end of a strip that is held by its first two lines hangs down at rest [m]."""
    garment = garment._replace(pin=(garment.x[:, 0] < 1.5 * CELL).astype(float))
    cloth, state = build([garment], strips.VACUUM)
    for frame in range(200):
        before = state.x.copy()
        advance(cloth, state, naive.still(garment.x), frame, strips.VACUUM)
        state.v[:] *= 0.8
        if frame > 20 and np.abs(state.x - before).max() < 1e-7:
            break
    return -float((state.x + cloth.origin)[garment.x[:, 0] > LENGTH - 1e-6, 2].mean())


def drop_on_paper(layers):
    """The same of a beam, clamped half a cell before its first hinge that bends (`strips`): the integral of moment times lever over rigidity."""
    at = np.linspace(0.5 * CELL, LENGTH, 20001)
    step = at[1] - at[0]
    times = np.where(at <= WIDTH, layers, 1.0)
    weight = MASS * strips.G * times
    beyond = np.cumsum((weight * step)[::-1])[::-1]  # of what hangs beyond each place
    moment = np.cumsum((beyond * step)[::-1])[::-1]
    return float((moment * (LENGTH - at) / (RIGIDITY * times)).sum() * step)


@pytest.mark.parametrize("layers", [2, 3])
def test_a_strip_with_a_seam_sags_less_as_a_beam_of_stepped_stiffness_does(make, layers):
    plain = drop(read(strip(make, seam_layers=layers)))
    sewn = drop(read(strip(make, seam_allowance=WIDTH, seam_layers=layers)))
    paper = drop_on_paper(layers) / drop_on_paper(1)
    print(f"{1e3 * plain:.3f} mm, with {layers} layers {1e3 * sewn:.3f}: {sewn / plain:.4f}, on paper {paper:.4f}")
    assert plain == pytest.approx(drop_on_paper(1), rel=0.03)
    assert sewn / plain == pytest.approx(paper, rel=0.02) and paper < 0.8


@pytest.mark.parametrize("width", [0.002, 0.004, 0.01])
def test_a_seam_along_a_strip_that_is_wound_up_has_the_energy_of_its_layers(make, width):
    """However narrow it is: edges are 10 mm long."""

    def energy(**settings):
        garment = read(strip(make, "ALONG", seam_layers=3, **settings))
        cloth, state = build([garment], strips.VACUUM)
        x, turn = state.x.copy(), state.x[:, 0] / 0.2
        x[:, 0], x[:, 2] = 0.2 * np.sin(turn), 0.2 * np.cos(turn)
        return naive.bending_energy(cloth, x)

    assert energy(seam_allowance=width) / energy() == pytest.approx(1.0 + 2.0 * 2.0 * width / BREADTH, rel=0.01)


def test_mass_is_that_of_all_layers(make):
    def weight(**settings):
        return float(build([read(strip(make, 6, **settings))], strips.VACUUM)[0].mass.sum())

    assert weight() == pytest.approx(MASS * LENGTH * BREADTH)
    for layers in (2, 3):
        more = weight(seam_allowance=0.012, seam_layers=layers) - weight()
        assert more == pytest.approx((layers - 1) * MASS * 2.0 * 0.012 * BREADTH)


def test_without_width_or_layers_nothing_changes_to_the_bit(make):
    plain = read(strip(make, seam_layers=5))
    for settings in ({"seam_allowance": 0.02, "seam_layers": 1}, {"seam_allowance": 0.02, "seam": None}):
        other = read(strip(make, **settings))
        for name in allowance.LAYERED:
            assert getattr(other, name).tobytes() == getattr(plain, name).tobytes()
    thick = read(strip(make, 6, seam_allowance=0.025, seam_layers=3))
    for name in allowance.LAYERED:
        ratio = (getattr(thick, name) / getattr(plain, name)).reshape(COLUMNS, ROWS)
        assert ratio[5:8] == pytest.approx(3.0) and ratio[10:] == pytest.approx(1.0)
    assert np.array_equal(thick.friction, plain.friction)


def test_what_lies_on_a_seam_lies_higher_by_its_layers(make):
    """A strip comes to rest on one whose first part has three layers of 2 mm: there 4 mm above it, at the other end 2 mm."""
    under = read(strip(make, seam_allowance=WIDTH, seam_layers=3, bending_stiffness=1e-4))
    under = under._replace(pin=np.ones(len(under.x)), layer=0)
    over = read(strip(make, None, bending_stiffness=1e-4))
    over = over._replace(x_start=over.x + [0.0, 0.0, 0.006], name="Over", layer=1)
    cloth, state = build([under, over], strips.VACUUM)
    for frame in range(24):
        advance(cloth, state, naive.still(np.concatenate([under.x, over.x])), frame, strips.VACUUM)
    height = 1e3 * (state.x + cloth.origin)[len(under.x) :, 2].reshape(COLUMNS, ROWS)
    assert height[:7] == pytest.approx(4.0, abs=0.2) and height[-15:] == pytest.approx(2.0, abs=0.2)


def test_keyed_cloth_keeps_its_allowance_and_a_bake_tells_of_marks(make, scene):
    obj = strip(make, 6, seam_allowance=0.02)
    before = fingerprint.take(obj, scene, [])
    for frame, mass in ((1, MASS), (9, 2.0 * MASS)):
        obj.taffeta_cloth.mass.value = mass
        obj.keyframe_insert("taffeta_cloth.mass.value", frame=frame)
    scene.frame_set(1)
    known = read(obj)
    scene.frame_set(9)
    placed = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    now = animated.garment_now(known, animated.told_of(obj), obj, placed, 9)
    assert now.mass == pytest.approx(2.0 * known.mass) and now.mass.max() == pytest.approx(4.0 * MASS)
    marks = fingerprint.take(obj, scene, [])
    obj.data.edges[0].use_seam = True
    assert "what is marked as seams" in fingerprint.differing(json.dumps(before), fingerprint.take(obj, scene, []))
    assert "what is marked as seams" not in fingerprint.differing(json.dumps(before), marks)
