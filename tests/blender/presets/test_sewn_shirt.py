# SPDX-License-Identifier: GPL-3.0-or-later
"""The example of a shirt from its pattern: the mannequin wears it once it is sewn."""

import json

import bpy
import numpy as np
from taffeta.operators.read.arrays import seams

FRAMES = 40


def test_the_mannequin_wears_the_shirt_once_it_is_sewn(saved, make):
    """Both sleeves lie about their arms, with nothing through the body in any frame and no cloth pulled long; with weight while it was sewn
    the left one closed under its arm, which it was dragged through: 75 pairs, 121 % too long.
    """
    assert bpy.ops.taffeta.scene_add(name="sewn_shirt") == {"FINISHED"}
    scene, shirt = bpy.context.scene, bpy.context.view_layer.objects.active
    scene.frame_end = FRAMES
    pairs, start = seams(shirt.data), make.world(shirt)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    report = json.loads(shirt.taffeta_cloth.report_json)
    assert report["crossings"] == 0 and "most_crossings" not in report and report["worst_stretch"] < 0.3
    scene.frame_set(FRAMES)
    x = make.world(shirt)
    gaps = np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1)
    assert (gaps > 2e-3).sum() <= 5 and gaps.max() < 0.02
    above = pairs[:, 0][start[pairs[:, 0], 2] > 1.32]
    out = above[np.abs(start[above, 0]) > 0.25]
    for side in (-1.0, 1.0):
        fallen = (start[out, 2] - x[out, 2])[side * start[out, 0] > 0.0]
        assert len(fallen) > 5 and fallen.max() < 0.08, "the upper seam of a sleeve lies on its arm"
