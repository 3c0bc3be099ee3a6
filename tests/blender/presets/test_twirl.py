# SPDX-License-Identifier: GPL-3.0-or-later
"""The twirl: how its skirts are cut, how it turns, and that they begin clean and stay so while they fall."""

import bpy
import numpy as np
import pytest
from crossings import count_crossings
from taffeta.operators import scenes
from taffeta.operators.checks import problem_list
from taffeta.presets.scenes import twirl


def test_a_ring_has_even_triangles_and_the_area_of_an_annulus():
    x, triangles = twirl.ring(0.128, 0.50, 0.03)
    a, b, c = (x[triangles[:, k]] for k in range(3))
    area = 0.5 * ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
    assert (area > 0.0).all(), "all are wound one way"
    assert area.sum() == pytest.approx(np.pi * (0.628**2 - 0.128**2), rel=3e-3)
    edges = np.unique(
        np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])), axis=0
    )
    lengths = np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1)
    assert lengths.std() / lengths.mean() < 0.12 and lengths.mean() == pytest.approx(0.03, rel=0.05)
    assert len(x) - len(edges) + len(triangles) == 0, "a ring, in one piece"


def test_it_turns_from_rest_to_rest():
    angle = np.array([twirl.turned(frame) for frame in range(1, 109)])
    speed = np.diff(angle) * twirl.RATE
    assert speed[:16] == pytest.approx(0.0) and speed[-30:] == pytest.approx(0.0)
    assert speed.max() == pytest.approx(twirl.SPEED) and (speed >= 0.0).all()
    assert np.abs(np.diff(speed)).max() < 0.1 * twirl.SPEED, "no jerk"
    assert angle[-1] == pytest.approx(twirl.SPEED / twirl.RATE * (twirl.SLOWER - twirl.FALLEN), rel=1e-9)


def test_skirts_fall_clean_and_the_balls_of_the_feet_stay(saved, monkeypatch):
    for cut in (twirl.SKIRT, twirl.PETTICOAT):  # coarse, for a test
        monkeypatch.setitem(cut, "edge", 0.035)
    example = scenes.add(bpy.context, "twirl")
    told = problem_list.check(saved, bpy.context.evaluated_depsgraph_get())
    assert all("is too coarse for its fabric" in problem.sentence for problem in told), (
        "of its own edges it says nothing"
    )
    saved.frame_end = 6
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    saved.frame_set(6)
    x, triangles, garment = [], [], []
    for number, obj in enumerate((*example.cloths, example.colliders[0])):
        shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        shown.data.calc_loop_triangles()
        matrix = np.array(shown.matrix_world)
        triangles.append(np.array([t.vertices for t in shown.data.loop_triangles]))
        x.append(np.array([v.co for v in shown.data.vertices]) @ matrix[:3, :3].T + matrix[:3, 3])
        garment.append(np.full(len(x[-1]), number))
    count = len(x[0])
    cloth = np.concatenate([triangles[0], triangles[1] + count])
    found = count_crossings(np.concatenate(x[:2]), cloth, np.concatenate(garment[:2]), [(x[2], triangles[2])])
    assert tuple(found) == (0, 0, 0)
    rig = example.cloths[0].parent
    heights = []
    for frame in (1, 45):
        saved.frame_set(frame)
        heights.append([(rig.matrix_world @ rig.pose.bones[f"toes.{side}"].head).z for side in "LR"])
    assert heights[1] == pytest.approx(heights[0], abs=1e-4)
    assert (rig.matrix_world @ rig.pose.bones["foot.L"].head).z > 0.1, "on the toes"
