# SPDX-License-Identifier: GPL-3.0-or-later
"""A tunic of two panels, sewn over a body with the settings that a new garment has: seams close, and the report says how far."""

import json

import bpy
import numpy as np
import pytest

COUNT, FRAMES = 24, 60


def tunic(make, **settings):
    """Two panels before and behind an egg, joined by edges at their sides and shoulders; returns object and seams."""
    line = np.linspace(-0.47, 0.47, COUNT)
    u, v = np.meshgrid(line, line)
    panels = [np.column_stack((u.ravel(), np.full(u.size, y), v.ravel() + 0.1)) for y in (-0.32, 0.32)]
    corner = (np.arange(COUNT - 1)[:, None] * COUNT + np.arange(COUNT - 1)).ravel()
    faces = np.column_stack((corner, corner + 1, corner + COUNT + 1, corner + COUNT))
    places = np.arange(COUNT * COUNT).reshape(COUNT, COUNT)
    third = COUNT // 3
    sewn = np.unique(np.concatenate((places[:, 0], places[:, -1], places[-1, :third], places[-1, -third:])))
    seams = np.column_stack((sewn, sewn + COUNT * COUNT))
    obj = make.mesh("Tunic", np.concatenate(panels), np.concatenate((faces, faces[:, ::-1] + COUNT * COUNT)), seams)
    body = make.ball(radius=0.27)
    body.scale = 1.0, 0.8, 1.3
    make.collider(body)
    return make.cloth(obj, sewing=True, **settings), seams


def baked(make, capfd, **settings):
    """Gaps [m] of all seams at the end, the report's figure, and what was told."""
    obj, seams = tunic(make, **settings)
    bpy.context.scene.frame_end = FRAMES
    capfd.readouterr()
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    bpy.context.scene.frame_set(FRAMES)
    x = make.world(obj)
    gaps = np.linalg.norm(x[seams[:, 0]] - x[seams[:, 1]], axis=1)
    return gaps, json.loads(obj.taffeta_cloth.report_json)["seam_gap"], capfd.readouterr().out


def test_seams_of_a_new_garment_close(saved, make, capfd):
    gaps, told, _ = baked(make, capfd)
    assert told == pytest.approx(gaps.max(), abs=1e-4)
    assert gaps.max() < 0.002 + thickness(), (
        "a fiftieth of the pull left it 64 mm open beside the neck, which the body holds"
    )


def thickness():
    return bpy.data.objects["Tunic"].taffeta_cloth.thickness.value


def test_a_seam_that_gapes_is_told(saved, make, capfd):
    gaps, told, words = baked(make, capfd, sewing_force=0.01)
    assert gaps.max() > 0.1 and told == pytest.approx(gaps.max(), abs=1e-4)
    assert f"Tunic has a seam that is {1000 * told:.0f} mm open in frame {FRAMES}" in words
