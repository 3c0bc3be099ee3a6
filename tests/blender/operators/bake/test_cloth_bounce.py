# SPDX-License-Identifier: GPL-3.0-or-later
"""*Bounce off Cloth*: each garment of a bake has its own, by the operators."""

import json

import bpy
import numpy as np
import pytest
from taffeta.operators.checks import fingerprint
from taffeta.standalone import run
from taffeta.standalone import scene as scene_file

HEIGHT, FALL = 0.02, 0.1  # [m] where the lower sheets are held, and how far the upper ones fall onto them
G, FPS = 9.81, 24
FRAMES = 9


@pytest.fixture
def pairs(make, saved):
    """Above each of three sheets that are held, each a bounce of its own, a stiff one; in a vacuum."""
    saved.frame_end = FRAMES
    saved.taffeta.air_density = 0.0
    uppers = []
    for at, (lower, upper) in enumerate(((0.8, 0.8), (0.36, 1.0), (0.0, 1.0))):
        held = make.cloth(make.grid(f"Held {at}", count=11, size=0.2, location=(at, 0.0, HEIGHT)), pin=1.0)
        held.taffeta_cloth.restitution = lower
        loose = make.grid(f"Loose {at}", count=8, size=0.14, location=(at + 0.003, 0.004, HEIGHT + FALL + 0.002))
        stiff = {"stretch_stiffness": 2e4, "shear_stiffness": 1e4, "bending_stiffness": 1e-2}
        make.cloth(loose, restitution=upper, **stiff)
        uppers.append(loose)
    bpy.context.view_layer.update()
    return uppers


def rebounds(make, uppers):
    """[m] how high each comes back over where it meets the sheet below: of three frames on the way up, by their parabola."""
    heights = []
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        heights.append([make.world(obj)[:, 2].mean() - HEIGHT - 0.002 for obj in uppers])
    heights = np.array(heights)
    speed = (heights[6] - heights[4]) * FPS / 2  # at the frame in the middle, 42 ms after the impact or more
    return heights[5] + np.maximum(speed, 0.0) ** 2 / (2 * G)


def test_garments_of_one_bake_bounce_each_by_its_own(make, pairs):
    """They come back to e^2 of the height, e the root of both sheets' product; what does not bounce stops what would."""
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    found = rebounds(make, pairs) / FALL
    print("rebound over fall:", found)
    assert found == pytest.approx([0.64, 0.36, 0.0], rel=0.12, abs=0.02)


def test_what_an_older_file_has_for_all_cloth_counts_as_before(make, saved, pairs):
    """A scene's *Cloth Bounce* is the least that each garment has: nothing of an older .blend has to be changed."""
    for obj in bpy.data.objects:
        obj.taffeta_cloth.restitution = 0.0
    saved.taffeta.cloth_restitution = 0.6
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert rebounds(make, pairs) / FALL == pytest.approx(3 * [0.36], rel=0.12)


def test_it_is_keyed_and_makes_a_bake_stale(make, saved, pairs):
    for obj in (*pairs, bpy.data.objects["Held 0"]):
        obj.taffeta_cloth.restitution = 0.8
        obj.taffeta_cloth.keyframe_insert("restitution", frame=1)
        obj.taffeta_cloth.restitution = 0.0
        obj.taffeta_cloth.keyframe_insert("restitution", frame=3)
    assert bpy.ops.taffeta.bake() == {"FINISHED"}
    assert rebounds(make, pairs)[0] / FALL == pytest.approx(0.0, abs=0.05), "the key is before the impact"
    held = bpy.data.objects["Held 1"]
    held.taffeta_cloth.fingerprint = json.dumps(fingerprint.take(held, saved, []))
    held.taffeta_cloth.restitution = 0.1
    assert fingerprint.changes(held, saved, []) == ["Bounce off Cloth"]


def test_a_scene_file_says_it_of_each_garment(saved, pairs, tmp_path):
    path = tmp_path / "shot.xml"
    assert bpy.ops.taffeta.scene_export(filepath=str(path)) == {"FINISHED"}
    read = scene_file.read(path, tmp_path)
    found = {garment.name: garment.restitution for garment in run.Garments(read.cloths).garments}
    assert found["Held 1.obj" if "Held 1.obj" in found else "Held 1"] == pytest.approx(0.36)
    assert sorted(found.values()) == pytest.approx([0.0, 0.36, 0.8, 0.8, 1.0, 1.0])
